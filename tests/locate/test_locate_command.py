"""`repocue cue --view locate` as it is run."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from repocue.contracts import reader
from tests.support.repos import Entry, RepoBuilder, git

Run = Callable[..., subprocess.CompletedProcess[bytes]]

FILES: dict[str, Entry] = {
    "README.md": "# The tide tables\n",
    "src/tide.py": (
        "class TideTable:\n    def predict_height(self, moon):\n        return moon\n\n\ndef unrelated():\n    pass\n"
    ),
    "src/moon.py": "def phase(day):\n    return day % 29\n",
    "src/sun.py": "def noon(day):\n    return 12\n",
    "tests/test_tide.py": "from tide import TideTable\n\n\ndef test_predict_height():\n    assert TideTable()\n",
    "docs/tide.md": "How the tide is predicted.\n",
    "data/table.bin": b"\0tide predict height",
}


@pytest.fixture
def root(tmp_path: Path, repocue: Run) -> str:
    repo = RepoBuilder(tmp_path / "r").commit("Start", FILES)
    repo.commit("Correct the barometer offset", {"src/sun.py": "def noon(day):\n    return 12.1\n"})
    path = repo.build()
    assert repocue("init", "--index", cwd=path).returncode == 0
    return path


def locate(repocue: Run, root: str, query: str, *arguments: str) -> dict[str, Any]:
    done = repocue("cue", "--view", "locate", "--query", query, *arguments, cwd=root)
    assert (done.returncode, done.stderr) == (0, b"")
    document: dict[str, Any] = reader.read_canonical(done.stdout, contract="repocue/locate-1")
    assert document["budget"][1] == -(-len(done.stdout) // 4) <= document["budget"][0]
    return document


def named(document: dict[str, Any]) -> list[str]:
    return [item if isinstance(item, str) else item["path"] for item in document["paths"]]


def test_the_file_that_a_question_is_about_comes_first_and_source_before_tests(root: str, repocue: Run) -> None:
    document = locate(repocue, root, "predict the tide's height")
    paths = named(document)
    assert paths[0] == "src/tide.py"
    assert paths.index("src/sun.py") < paths.index("tests/test_tide.py") < paths.index("docs/tide.md")
    head = git(root, "rev-parse", "HEAD").decode()
    assert document["basis"] == head[:8]
    assert document["query"] == sha256(b"predict the tide's height").hexdigest()[:8]
    assert (document["snapshot"], document["freshness"], document["warnings"]) == ("snapshot-000001", "current", [])


def test_tests_compete_where_the_question_speaks_of_tests(root: str, repocue: Run) -> None:
    assert named(locate(repocue, root, "test predict height of the tide"))[0] == "tests/test_tide.py"


def test_a_commit_message_leads_to_the_file_it_changed(root: str, repocue: Run) -> None:
    document = locate(repocue, root, "barometer offset", "--explain", "--max-tokens", "600")
    assert named(document)[0] == "src/sun.py"
    first = document["evidence"][0]
    assert (first["path"], first["words"]) == ("src/sun.py", [])
    assert first["commits"] == [git(root, "rev-parse", "HEAD").decode()[:8]]


def test_an_explanation_gives_words_lines_and_what_was_skipped(root: str, repocue: Run) -> None:
    document = locate(repocue, root, "TideTable predict height", "--explain", "--max-tokens", "900")
    first = document["evidence"][0]
    assert first["words"] == ["tid", "tabl", "tidetable", "predict", "height"]
    assert first["definitions"] == [{"name": "TideTable", "lines": [1, 5]}, {"name": "predict_height", "lines": [2, 5]}]
    assert document["index"] == {"source": "index", "history": "complete", "skipped": {"binary": 1}}


def test_without_a_known_word_what_was_worked_on_comes_first_and_that_is_said(root: str, repocue: Run) -> None:
    document = locate(repocue, root, "zzyzx qwxyz")
    assert document["warnings"] == [{"code": "query-words-unknown"}]
    assert named(document)[0] == "src/sun.py"  # two commits touched it, one each of the others


def test_changed_and_untracked_files_take_part_as_they_are_and_are_marked(root: str, repocue: Run) -> None:
    (Path(root) / "src/moon.py").write_text("def quasar():\n    pass\n")
    (Path(root) / "src/new.py").write_text("def quasar_flux():\n    pass\n")
    (Path(root) / "src/sun.py").unlink()
    document = locate(repocue, root, "quasar", "--max-tokens", "300")
    assert document["paths"][:2] in (
        [{"path": "src/new.py", "state": "untracked"}, {"path": "src/moon.py", "state": "modified"}],
        [{"path": "src/moon.py", "state": "modified"}, {"path": "src/new.py", "state": "untracked"}],
    )
    assert "src/sun.py" not in named(document)
    assert document["freshness"] == "refresh-needed"
    assert named(locate(repocue, root, "phase of the moon"))[0] == "src/moon.py"  # by its path alone now


def test_the_answer_is_the_same_bytes_under_any_hash_seed_and_time(
    root: str, repocue: Run, env: dict[str, str]
) -> None:
    answers = {
        repocue(
            "cue", "--view", "locate", "--query", "tide of the moon", cwd=root, env={**env, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2", "33")
    }
    assert len(answers) == 1


def test_a_smaller_budget_names_a_prefix(root: str, repocue: Run) -> None:
    whole = named(locate(repocue, root, "tide moon day", "--max-tokens", "500"))
    assert len(whole) >= 5
    for budget in (60, 70, 80, 100):
        shown = named(locate(repocue, root, "tide moon day", "--max-tokens", str(budget)))
        assert shown == whole[: len(shown)]


def test_the_smallest_budget_is_named_where_nothing_fits(root: str, repocue: Run) -> None:
    done = repocue("cue", "--view", "locate", "--query", "tide", "--max-tokens", "5", cwd=root)
    error = json.loads(done.stderr)
    assert (done.returncode, error["code"]) == (1, "budget.too-small")
    needed = error["hint"].rstrip(").").split()[-1]
    assert repocue("cue", "--view", "locate", "--query", "tide", "--max-tokens", needed, cwd=root).returncode == 0


def test_without_an_index_git_answers_and_the_next_refresh_builds_one(
    root: str, repocue: Run, env: dict[str, str]
) -> None:
    cache = os.path.join(root, os.pardir, "cache")
    options = ("--cache-dir", cache)
    assert repocue("init", *options, cwd=root).returncode == 0
    asked = ("cue", "--view", "locate", "--query", "predict the tide", "--explain", "--max-tokens", "900", *options)
    document = json.loads(repocue(*asked, cwd=root).stdout)
    assert document["warnings"] == [{"code": "index-missing"}]
    assert document["index"] == {"source": "git", "history": "complete", "left_out": ["definitions"]}
    assert named(document)[0] == "src/tide.py"
    assert repocue("refresh", *options, cwd=root).returncode == 0
    assert json.loads(repocue(*asked, cwd=root).stdout)["index"]["source"] == "index"


def test_a_refresh_makes_no_index_that_nobody_asked_for(tmp_path: Path, repocue: Run) -> None:
    root = RepoBuilder(tmp_path / "r").commit("Start", {"a.py": "x = 1\n"}).build()
    options = ("--cache-dir", str(tmp_path / "cache"))
    assert repocue("init", *options, cwd=root).returncode == 0
    assert repocue("refresh", *options, cwd=root).returncode == 0
    assert not list((tmp_path / "cache").rglob("locate.db*"))


@pytest.mark.parametrize("damage", [b"no database at all", b"", None])
def test_a_damaged_index_is_said_and_made_anew_by_a_refresh(
    root: str, repocue: Run, tmp_path: Path, damage: bytes | None
) -> None:
    options = ("--cache-dir", str(tmp_path / "cache"))
    assert repocue("init", "--index", *options, cwd=root).returncode == 0
    (path,) = (tmp_path / "cache").rglob("locate.db")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2 // 4096 * 4096] if damage is None else damage)
    asked = ("cue", "--view", "locate", "--query", "predict the tide", *options)
    done = repocue(*asked, cwd=root)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["warnings"] == [{"code": "index-damaged"}]
    assert repocue("refresh", *options, cwd=root).returncode == 0
    document = json.loads(repocue(*asked, cwd=root).stdout)
    assert (document["warnings"], named(document)[0]) == ([], "src/tide.py")


def test_the_question_of_a_task_file_is_the_query(root: str, repocue: Run, tmp_path: Path) -> None:
    from tests.contracts.documents import task

    document = {**task(), "question": "How is the height predicted?"}
    (tmp_path / "task.json").write_text(json.dumps(document))
    done = repocue("cue", "--view", "locate", "--task-file", str(tmp_path / "task.json"), cwd=root)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["query"] == sha256(b"How is the height predicted?").hexdigest()[:8]
    asked = repocue("cue", "--view", "locate", "--query", "-", cwd=root, stdin=b"How is the height predicted?")
    assert asked.stdout == done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["--view", "locate"],
        ["--view", "locate", "--query", "  "],
        ["--view", "locate", "--query", "a", "--tag", "b"],
        ["--view", "locate", "--query", "a", "--task-file", "b"],
        ["--query", "a"],
        ["--view", "ranked", "--explain"],
        ["--view", "locate", "--query", "a", "--since", "snapshot-000001"],
    ],
)
def test_what_cannot_be_meant_is_refused(root: str, repocue: Run, arguments: list[str]) -> None:
    done = repocue("cue", *arguments, cwd=root)
    assert (done.returncode, done.stdout) == (2, b"")


def test_a_query_that_is_not_text_or_too_long_is_refused(root: str, repocue: Run) -> None:
    for data in (b"\xff\xfe", b"a " * 40_000):
        assert repocue("cue", "--view", "locate", "--query", "-", cwd=root, stdin=data).returncode == 2


def test_the_view_starts_without_heavy_libraries(root: str, repocue: Run, env: dict[str, str]) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "repocue", "cue", "--view", "locate", "--query", "tide"]
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, timeout=60, check=True)
    imported = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
    assert "repocue.locate.search" in imported
    heavy = {"rich", "jinja2", "h11", "ssl", "jsonschema_rs", "json", "pathlib", "tempfile", "asyncio", "logging"}
    assert not heavy & imported


def test_an_unborn_head_and_an_empty_repository_are_answered(tmp_path: Path, repocue: Run) -> None:
    root = tmp_path / "empty"
    git(tmp_path, "init", "-q", str(root))
    assert repocue("init", "--index", cwd=root).returncode == 0
    document = locate(repocue, str(root), "anything")
    assert (document["paths"], document["basis"]) == ([], "unborn")
    (root / "later.py").write_text("def anything(): pass\n")
    assert named(locate(repocue, str(root), "anything")) == ["later.py"]


def test_refreshes_along_branches_amends_and_rebases_answer_like_a_fresh_index(
    root: str, repocue: Run, tmp_path: Path
) -> None:
    kept = ("--cache-dir", str(tmp_path / "kept"))
    assert repocue("init", "--index", *kept, cwd=root).returncode == 0
    forget = "git reflog expire --expire=now --all && git gc -q --prune=now"
    deeds = [
        "git checkout -q -b side && git mv src/moon.py src/luna.py && git commit -q -m 'Name the moon luna'",
        "git checkout -q main && echo 'def ebb(): pass' > src/ebb.py && git add . && git commit -q -m 'Ebb of tides'",
        "git checkout -q side && git rebase -q main",
        "git commit -q --amend -m 'Call the moon luna, for its phases'",
        f"git checkout -q --detach main && git branch -q -D side && {forget}",
        "printf 'a\\tb\\n' > src/sun.py && git add src/sun.py",
    ]
    for number, deed in enumerate(deeds):
        git(root, "-c", f"alias.do=!{deed}", "do")
        assert repocue("refresh", *kept, cwd=root).returncode == 0
        fresh = ("--cache-dir", str(tmp_path / f"fresh{number}"))
        assert repocue("init", "--index", *fresh, cwd=root).returncode == 0
        for query in ("phase of the moon", "ebb tide"):
            asked = ("--explain", "--max-tokens", "900")
            old = locate(repocue, root, query, *asked, *kept)
            new = locate(repocue, root, query, *asked, *fresh)
            assert [old.pop("snapshot"), new.pop("snapshot")] == [f"snapshot-{number + 2:06d}", "snapshot-000001"]
            assert old == new


def test_a_shallow_clone_says_so_and_answers(root: str, repocue: Run, tmp_path: Path) -> None:
    clone = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{root}", str(clone))
    assert repocue("init", "--index", cwd=clone).returncode == 0
    document = locate(repocue, str(clone), "predict the tide", "--explain", "--max-tokens", "700")
    assert document["index"]["history"] == "shallow"
    assert document["warnings"] == [{"code": "shallow-history"}]
    assert named(document)[0] == "src/tide.py"


def test_a_busy_index_is_not_waited_for_long_and_told_from_a_damaged_one(
    root: str, repocue: Run, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    options = ("--cache-dir", str(cache))
    assert repocue("init", "--index", *options, cwd=root).returncode == 0
    (path,) = cache.rglob("locate.db")
    other = sqlite3.connect(path, isolation_level=None)
    try:
        other.execute("BEGIN EXCLUSIVE")
        document = locate(repocue, root, "predict the tide", *options)
    finally:
        other.close()
    assert document["warnings"] == [{"code": "index-busy"}]
    assert named(document)[0] == "src/tide.py"


def test_a_read_only_cache_answers_too(root: str, repocue: Run, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    options = ("--cache-dir", str(cache))
    assert repocue("init", *options, cwd=root).returncode == 0
    (folder,) = cache.iterdir()
    folder.chmod(0o500)
    try:
        done = repocue("cue", "--view", "locate", "--query", "predict the tide", *options, cwd=root)
    finally:
        folder.chmod(0o700)
    assert done.returncode == 0
    assert named(json.loads(done.stdout))[0] == "src/tide.py"
