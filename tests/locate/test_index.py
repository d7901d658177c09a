"""The index: whatever came before, it answers like one made from nothing, and it stays inside its bounds."""

from __future__ import annotations

import os
import random
import resource
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from repocue.errors import CacheDamaged
from repocue.git.process import Git
from repocue.locate import commits, index, search
from repocue.store import locate_index as store
from tests.support.repos import RepoBuilder, git

WORDS = ("tide", "moon", "harbour", "barometer", "sounding", "keel", "anchor", "lantern", "compass", "sextant")
QUERIES = ("tide of the moon", "keel anchor", "test the lantern", "nothing known here zzz", "harbour sextant compass")


def tree(root: str, git_: Git) -> dict[str, str]:
    """The regular files of the git index, as git itself lists them."""
    files = {}
    for line in git_.run("ls-files", "-s", "-z").decode().split("\0")[:-1]:
        words, _, path = line.partition("\t")
        mode, oid, _ = words.split()
        if mode.startswith("100"):
            files[path] = oid
    return files


def bring(path: str, root: str, env: Mapping[str, str], *, since: tuple[str, dict[str, str]] | None = None) -> str:
    """Bring the index to the repository's present state; with `since`, by what changed from it alone."""
    git_ = Git(root, env)
    files = tree(root, git_)
    changes: dict[str, str | None] | None = None
    if since is not None:
        before = since[1]
        changes = {name: None for name in before if name not in files}
        changes.update((name, oid) for name, oid in files.items() if before.get(name) != oid)
    state = git_.run("write-tree").decode().strip()
    head = git_.run("rev-parse", "HEAD").decode().strip()
    target = index.Target(
        state=state,
        snapshot="",
        head=head,
        is_shallow=False,
        files=lambda: files,
        since=None if since is None else since[0],
        changes=changes,
    )
    index.update(path, git_, target)
    return state


def answers(path: str) -> list[search.Found]:
    with store.open_index(path, write=False) as database:
        return [search.find(database, query, [], explain=True) for query in QUERIES]


def text(chance: random.Random) -> str:
    return "".join(f"def {chance.choice(WORDS)}_{chance.choice(WORDS)}(): pass\n" for _ in range(chance.randint(0, 9)))


def step(root: str, chance: random.Random) -> None:
    """One thing that people do to a repository."""
    files = [name for name in os.listdir(root) if name != ".git"]
    deed = chance.randrange(7)
    if deed <= 2 or not files:
        for _ in range(chance.randint(1, 4)):
            name = f"{chance.choice(WORDS)}{chance.choice(['.py', '.md', '_test.go'])}"
            Path(root, name).write_text(text(chance))
    elif deed == 3:
        Path(root, chance.choice(files)).unlink()
    elif deed == 4:
        os.replace(Path(root, chance.choice(files)), Path(root, f"{chance.choice(WORDS)}.rs"))
    elif deed == 5:
        git(root, "commit", "-q", "--amend", "--allow-empty", "-m", f"Amend {chance.choice(WORDS)}")
    else:
        branches = git(root, "for-each-ref", "--format=%(refname:short)", "refs/heads").decode().split()
        target = chance.choice([*branches, "new"])
        if target == "new":
            git(root, "checkout", "-q", "-b", f"b{len(branches)}", chance.choice(["HEAD", "HEAD~1"]))
        else:
            git(root, "checkout", "-q", target)
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", f"{chance.choice(WORDS)} and {chance.choice(WORDS)}")


@pytest.mark.parametrize("seed", range(4))
def test_after_any_history_it_answers_like_a_fresh_one(
    seed: int, tmp_path: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"MAX_LOOSE": 3, "MAX_SEGMENTS": 2, "DEAD_ALLOWED": 6, "_BATCH": 2}.items():
        monkeypatch.setattr(commits, name, value)
    monkeypatch.setattr(index, "_BATCH_FILES", 2)
    chance = random.Random(seed)
    repo = RepoBuilder(tmp_path / "r")
    for number in range(3):
        repo.commit(f"Commit {WORDS[number]}", {f"{word}.py": text(chance) for word in WORDS[number : number + 4]})
    root = repo.build()
    old, state = str(tmp_path / "old.db"), bring(str(tmp_path / "old.db"), root, env)
    files = tree(root, Git(root, env))
    for number in range(9):
        step(root, chance)
        state = bring(old, root, env, since=(state, files) if chance.random() < 0.7 else None)
        files = tree(root, Git(root, env))
        fresh = str(tmp_path / f"{number}.db")
        bring(fresh, root, env)
        assert answers(old) == answers(fresh)


def test_only_what_was_not_seen_is_read_again(tmp_path: Path, env: dict[str, str]) -> None:
    root = RepoBuilder(tmp_path / "r").commit("One", {"a.py": "tide\n"}).commit("Two", {"b.py": "moon\n"}).build()
    path = str(tmp_path / "i.db")
    bring(path, root, env)
    os.rename(Path(root, "a.py"), Path(root, "c.py"))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Move")
    blobs = [name for name in (Path(root) / ".git" / "objects").rglob("*") if name.is_file()]
    git_ = Git(root, env)
    with store.open_index(path, write=True) as database:
        database.run("UPDATE contents SET length = 77 WHERE length = 1")  # a mark that reading again would wipe out
    bring(path, root, env)
    with store.open_index(path, write=False) as database:
        assert database.all("SELECT DISTINCT length FROM contents") == [(77,)]
        assert database.one("SELECT count(*) FROM commits") == (3,)
    assert blobs
    assert sorted(tree(root, git_)) == ["b.py", "c.py"]


def test_git_attributes_decide_first_and_a_change_of_them_counts(tmp_path: Path, env: dict[str, str]) -> None:
    files = {"made.py": "tide\n", "lent.py": "tide\n\n", "raw.py": "tide\n\n\n", "own.py": "tide\n\n\n\n"}
    attributes = "made.py linguist-generated\nlent.py linguist-vendored=true\nraw.py binary\n"
    root = RepoBuilder(tmp_path / "r").commit("One", {**files, ".gitattributes": attributes}).build()
    path = str(tmp_path / "i.db")
    bring(path, root, env)
    with store.open_index(path, write=False) as database:
        skipped = dict(database.all("SELECT path, skipped FROM files WHERE skipped IS NOT NULL"))
        assert skipped == {"made.py": "generated", "lent.py": "vendored", "raw.py": "binary"}
        assert search.find(database, "tide", []).paths[0] == "own.py"
    state = bring(path, root, env)
    before = tree(root, Git(root, env))
    Path(root, ".gitattributes").write_text("own.py binary\n")
    git(root, "commit", "-q", "-a", "-m", "Other attributes")
    bring(path, root, env, since=(state, before))
    with store.open_index(path, write=False) as database:
        assert database.all("SELECT path FROM files WHERE skipped IS NOT NULL") == [("own.py",)]
        assert set(search.find(database, "tide", []).paths[:3]) == {"made.py", "lent.py", "raw.py"}


def test_no_text_of_the_repository_is_kept(tmp_path: Path, env: dict[str, str]) -> None:
    root = RepoBuilder(tmp_path / "r").commit("Mention zephyrine", {"a.py": "quixotical = 1\n"}).build()
    path = tmp_path / "i.db"
    bring(str(path), root, env)
    data = path.read_bytes()
    assert b"zephyrin" not in data
    assert b"quixot" not in data


def test_hostile_contents_stay_inside_the_bounds(tmp_path: Path, env: dict[str, str]) -> None:
    """A huge blob, one endless line, very many words, broken UTF-8 and every Unicode category."""
    every = "\n".join(map(chr, [*range(0x20, 0xD800, 7), *range(0xE000, 0x20000, 11)])).encode()
    files = {
        "huge.py": b"x" * (40 << 20),
        "line.js": b"a;" * (200 << 10),
        "words.txt": b"\n".join(b"w%xq" % number for number in range(60_000)),
        "broken.py": b"def tide\xff\xfe(): \x80\n" * 1000,
        "unicode.py": every,
        "good.py": b"def tide(): pass\n",
    }
    root = RepoBuilder(tmp_path / "r").commit("One", files).build()
    path = str(tmp_path / "i.db")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    bring(path, root, env)
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 64 << 10
    with store.open_index(path, write=False) as database:
        skipped = dict(
            database.all(
                "SELECT f.path, c.skipped FROM files f JOIN contents c ON c.blob = f.blob WHERE c.skipped > ''"
            )
        )
        assert skipped == {"huge.py": "huge", "line.js": "minified"}
        assert search.find(database, "tide", []).paths[:2] == ["broken.py", "good.py"]  # it says so more often
    assert os.path.getsize(path) < 4 << 20


def test_a_contradiction_inside_is_found_and_the_next_update_starts_anew(tmp_path: Path, env: dict[str, str]) -> None:
    root = RepoBuilder(tmp_path / "r").commit("One", {"a.py": "tide\n"}).build()
    path = str(tmp_path / "i.db")
    bring(path, root, env)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE columns SET data = x'00' WHERE name = 'files-state'")
        connection.execute("UPDATE columns SET data = x'' WHERE name = 'files-lengths'")
        connection.execute("UPDATE meta SET value = 'other' WHERE name = 'state'")
    connection.close()
    with store.open_index(path, write=False) as database, pytest.raises(CacheDamaged):
        search.find(database, "tide", [])
    bring(path, root, env)
    assert answers(path)[0].paths == ["a.py"]


def test_merges_empty_and_sweeping_commits_say_nothing(tmp_path: Path, env: dict[str, str]) -> None:
    repo = RepoBuilder(tmp_path / "r").commit("Sweep tide", {f"f{number}.py": "x\n" for number in range(61)})
    root = repo.commit("Touch moon", {"f1.py": "y\n"}).build()
    git(root, "commit", "-q", "--allow-empty", "-m", "Empty tide")
    path = str(tmp_path / "i.db")
    bring(path, root, env)
    with store.open_index(path, write=False) as database:
        assert database.all("SELECT touched FROM commits") == [(1,)]
        assert search.find(database, "moon", []).paths[0] == "f1.py"


def test_a_blob_that_is_not_there_is_known_by_its_path_and_read_once_it_comes(
    tmp_path: Path, env: dict[str, str]
) -> None:
    root = RepoBuilder(tmp_path / "r").commit("One", {"a.py": "moon\n"}).build()
    Path(root, "gone.py").write_text("def quasar(): pass\n")
    git(root, "add", "gone.py")
    oid = git(root, "rev-parse", ":gone.py").decode().strip()
    git(root, "commit", "-q", "-m", "Two")
    loose = Path(root, ".git", "objects", oid[:2], oid[2:])
    data = loose.read_bytes()
    loose.chmod(0o600)
    loose.unlink()
    path = str(tmp_path / "i.db")
    bring(path, root, env)
    with store.open_index(path, write=False) as database:
        assert database.all("SELECT skipped FROM contents WHERE blob = ?", (oid,)) == [("absent",)]
        assert search.find(database, "gone", []).paths[0] == "gone.py"
        assert not search.find(database, "quasar", []).knows_a_word
    loose.write_bytes(data)
    git(root, "mv", "gone.py", "here.py")
    bring(path, root, env)
    with store.open_index(path, write=False) as database:
        assert search.find(database, "quasar", []).paths[0] == "here.py"
