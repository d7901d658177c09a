"""A dirty file is read once, and read again exactly when its bytes or the rules for them may have changed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from repocue.domain.state import CachedContent, FileStat, Known, Observation
from repocue.errors import RepositoryMoved
from repocue.git import scan
from repocue.git.folder import is_settled
from repocue.git.scan import observe
from repocue.git.worktree import find
from tests.git.conftest import Observe, known_of, let_the_clock_tick
from tests.support.git_oracle import added, check
from tests.support.repos import RepoBuilder, Symlink, git


@pytest.fixture
def dirty(tmp_path: Path) -> str:
    """A repository with an edited file, an edited link and a staged one, all settled."""
    files = {"a.txt": "a\n", "sub/b.txt": "b\n", "link": Symlink("a.txt"), ".gitattributes": "*.none text\n"}
    root = RepoBuilder(tmp_path / "dirty").commit("one", files).build()
    Path(root, "a.txt").write_bytes(b"edited\r\n")
    Path(root, "sub/b.txt").write_bytes(b"edited too\r\n")
    os.remove(os.path.join(root, "link"))
    os.symlink("sub", os.path.join(root, "link"))
    let_the_clock_tick(*(os.path.join(root, name) for name in ("a.txt", "sub/b.txt", "link")))
    return root


def test_an_unchanged_dirty_file_is_not_read_again(look: Observe, dirty: str, env: dict[str, str]) -> None:
    first = look(dirty)
    check(first, dirty, env)
    assert (first.cost.bytes_read, first.cost.git_processes) == (20, 6)
    again = look(dirty, known_of(first))
    assert (again.cost.bytes_read, again.cost.git_processes) == (0, 3)
    assert again._replace(cost=first.cost, observed_at="", entries=first.entries) == first._replace(observed_at="")
    third = look(dirty, known_of(again))
    assert third.cost.bytes_read == 0


def test_only_the_file_that_changed_is_read_again(look: Observe, dirty: str, env: dict[str, str]) -> None:
    first = look(dirty)
    Path(dirty, "a.txt").write_bytes(b"EDITED\r\n")
    again = look(dirty, known_of(first))
    check(again, dirty, env)
    assert again.cost.bytes_read == 8


def test_an_edit_under_the_same_size_and_modification_time_is_read_again(
    look: Observe, dirty: str, env: dict[str, str]
) -> None:
    path = Path(dirty, "a.txt")
    first = look(dirty)
    before = path.stat()
    path.write_bytes(b"EDITED\r\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    check(look(dirty, known_of(first)), dirty, env)


def attribute_in_root(root: str, env: dict[str, str]) -> None:
    Path(root, ".gitattributes").write_text("*.txt text eol=crlf\n")


def attribute_in_the_folder(root: str, env: dict[str, str]) -> None:
    Path(root, "sub/.gitattributes").write_text("*.txt text\n")


def attribute_in_an_ignored_file(root: str, env: dict[str, str]) -> None:
    Path(root, ".git/info/exclude").write_text(".gitattributes\n")
    Path(root, "sub/.gitattributes").write_text("*.txt text\n")


def attribute_in_info(root: str, env: dict[str, str]) -> None:
    Path(root, ".git/info/attributes").write_text("*.txt text\n")


def attribute_of_the_user(root: str, env: dict[str, str]) -> None:
    folder = Path(env["XDG_CONFIG_HOME"], "git")
    folder.mkdir(parents=True)
    (folder / "attributes").write_text("*.txt text\n")


def attribute_file_of_the_configuration(root: str, env: dict[str, str]) -> None:
    Path(env["HOME"], "attributes").write_text("*.txt text\n")
    git(root, "config", "core.attributesFile", "~/attributes")


def attribute_in_the_index_alone(root: str, env: dict[str, str]) -> None:
    Path(root, ".gitattributes").write_text("*.txt text\n")
    git(root, "add", ".gitattributes", env=env)
    os.remove(os.path.join(root, ".gitattributes"))


def line_endings(root: str, env: dict[str, str]) -> None:
    git(root, "config", "core.autocrlf", "input")


def included_configuration(root: str, env: dict[str, str]) -> None:
    Path(root, ".git/more").write_text("[core]\nautocrlf = true\n")
    git(root, "config", "include.path", "more")


def filters(root: str, env: dict[str, str]) -> None:
    git(root, "config", "filter.up.clean", "tr a-z A-Z")
    Path(root, ".git/info/attributes").write_text("*.txt filter=up\n")


@pytest.mark.parametrize(
    "change",
    [
        attribute_in_root,
        attribute_in_the_folder,
        attribute_in_an_ignored_file,
        attribute_in_info,
        attribute_of_the_user,
        attribute_file_of_the_configuration,
        attribute_in_the_index_alone,
        line_endings,
        included_configuration,
        filters,
    ],
)
def test_new_conversion_rules_make_new_content_ids_of_untouched_files(
    look: Observe, dirty: str, env: dict[str, str], change: Callable[[str, dict[str, str]], None]
) -> None:
    first = look(dirty)
    ids = {file.path: file.content_id for file in first.dirty}
    change(dirty, env)
    again = look(dirty, known_of(first))
    check(again, dirty, env)
    assert [file.path for file in again.dirty if file.path.endswith(".txt") and ids[file.path] != file.content_id]


def test_an_index_entry_with_other_line_endings_makes_a_new_content_id(
    look: Observe, dirty: str, env: dict[str, str]
) -> None:
    Path(dirty, ".git/info/attributes").write_text("*.txt text=auto\n")
    first = look(dirty)
    check(first, dirty, env)
    oid = git(dirty, "hash-object", "-w", "--stdin", stdin=b"crlf\r\n", env=env).decode().strip()
    git(dirty, "update-index", "--cacheinfo", f"100644,{oid},a.txt", env=env)
    again = look(dirty, known_of(first))
    check(again, dirty, env)
    assert {f.path: f.content_id for f in again.dirty}["a.txt"] != {f.path: f.content_id for f in first.dirty}["a.txt"]


def test_what_was_kept_without_its_rules_is_not_trusted(look: Observe, dirty: str, env: dict[str, str]) -> None:
    first = look(dirty)
    forged = {path: kept._replace(content_id="0" * 40, rules="") for path, kept in first.contents.items()}
    again = look(dirty, known_of(first)._replace(contents=forged))
    assert again.dirty == first.dirty


def test_a_file_changed_just_now_is_not_kept(look: Observe, dirty: str) -> None:
    """Its next change could leave the same stat behind: clocks of file systems tick slowly."""
    ahead = CachedContent(FileStat(0, 0, 0, 0, 0), "100644", "0" * 40, "")
    first = look(dirty, Known("", "", "", (), {"unknown": ahead}))
    assert set(first.contents) == {"a.txt", "sub/b.txt", "link"}
    second = 1_700_000_000_000_000_000
    assert is_settled(second - 21_000_000, second)
    assert not is_settled(second - 1_000_000, second)
    assert not is_settled(second + 1, second)
    assert not is_settled(second, second + 1_000_000_000)  # whole seconds: the clock may know no parts of one
    assert is_settled(second, second + 2_100_000_000)


def on_hash(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object], *, times: int) -> None:
    """Call `action` each of the first `times` that contents are about to be hashed."""
    from repocue.git.dirty import Identifier

    original = Identifier._ids
    left = [times]

    def hooked(self: Identifier, *arguments: object) -> object:
        answer = original(self, *arguments)  # type: ignore[arg-type]  # passed on as they came
        if left[0]:
            left[0] -= 1
            action()
        return answer

    monkeypatch.setattr(Identifier, "_ids", hooked)


def test_a_file_that_changes_while_it_is_read_is_read_again(
    dirty: str, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_hash(monkeypatch, lambda: Path(dirty, "a.txt").write_text("changed meanwhile\n"), times=1)
    seen = observe(find(dirty, env), env)
    check(seen, dirty, env)


def test_a_file_that_never_stops_changing_is_an_error_that_names_it(
    dirty: str, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def grow() -> None:
        with open(os.path.join(dirty, "a.txt"), "ab") as file:
            file.write(b"more\n")

    on_hash(monkeypatch, grow, times=1000)
    with pytest.raises(RepositoryMoved, match=r"a\.txt kept changing"):
        observe(find(dirty, env), env)


def test_a_file_that_vanishes_while_it_is_read_is_observed_as_missing(
    dirty: str, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_hash(monkeypatch, lambda: os.remove(os.path.join(dirty, "a.txt")), times=1)
    seen = observe(find(dirty, env), env)
    check(seen, dirty, env)
    assert ("a.txt", ".D") in [(file.path, file.xy) for file in seen.dirty]


def on_basis(monkeypatch: pytest.MonkeyPatch, action: Callable[[int], None]) -> None:
    """Call `action(n)` before the n-th look at index and HEAD; the second look of an attempt has odd n."""
    original = scan.basis_stats
    count = [0]

    def hooked(worktree: object) -> object:
        action(count[0])
        count[0] += 1
        return original(worktree)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(scan, "basis_stats", hooked)


def test_an_index_that_moves_during_a_scan_is_scanned_again(
    simple: str, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(simple, "new").write_text("new\n")

    def add(n: int) -> None:
        if n == 1:
            git(simple, "add", "new", env=env)

    on_basis(monkeypatch, add)
    seen = observe(find(simple, env), env)
    check(seen, simple, env)
    assert seen.staged == ("new",)
    assert seen.cost.git_processes == 4


def test_a_head_that_moves_alone_is_scanned_again(
    simple: str, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def reset(n: int) -> None:
        if n == 1:
            git(simple, "reset", "-q", "--soft", "HEAD~1", env=env)

    on_basis(monkeypatch, reset)
    seen = observe(find(simple, env), env)
    check(seen, simple, env)
    assert seen.staged == ("src/b.py",)


def test_a_repository_that_never_stands_still_is_an_error(
    simple: str, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def touch(n: int) -> None:
        os.utime(os.path.join(simple, ".git/index"), (n, n))

    on_basis(monkeypatch, touch)
    with pytest.raises(RepositoryMoved, match="kept changing"):
        observe(find(simple, env), env)


def test_observations_while_another_process_keeps_committing_are_each_one_state(
    tmp_path: Path, env: dict[str, str]
) -> None:
    """The writer's commit n holds exactly n in two files, which are staged together: no scan may see a mixture."""
    root = RepoBuilder(tmp_path).commit("0", {"a": "0\n", "b": "0\n"}).build()
    ids = {
        git(root, "hash-object", "-w", "--stdin", stdin=b"%d\n" % n, env=env).decode().strip(): n for n in range(100)
    }
    stop = threading.Event()

    def write() -> None:
        by_number = {n: oid for oid, n in ids.items()}
        for n in range(1, 100):
            if stop.is_set():
                return
            lines = f"100644 {by_number[n]}\ta\n100644 {by_number[n]}\tb\n"
            git(root, "update-index", "--index-info", stdin=lines.encode(), env=env)
            git(root, "commit", "-q", "-m", str(n), env=env)

    writer = threading.Thread(target=write)
    writer.start()
    seen = []
    try:
        while writer.is_alive() and len(seen) < 25:
            try:
                seen.append(observe(find(root, env), env))
            except RepositoryMoved:
                continue
    finally:
        stop.set()
        writer.join()
    assert seen
    for observation in seen:
        numbers = {ids[entry.oid] for entry in observation.entries()}
        assert len(numbers) == 1
        committed = int(git(root, "log", "-1", "--format=%s", str(observation.head), env=env))
        assert numbers == {committed} if not observation.staged else numbers == {committed + 1}


def test_any_order_of_edits_and_scans_ends_where_a_first_scan_does(
    look: Observe, dirty: str, env: dict[str, str]
) -> None:
    """What is kept from scan to scan never changes an answer."""
    kept: Observation | None = None
    for number in range(12):
        name = ("a.txt", "sub/b.txt", "link", "new")[number % 4]
        path = os.path.join(dirty, name)
        if os.path.lexists(path) and number % 3 == 0:
            os.remove(path)
        elif name == "link":
            if os.path.lexists(path):
                os.remove(path)
            os.symlink(f"to{number}", path)
        else:
            Path(path).write_text(f"{number}\r\n")
        if number % 5 == 4:
            git(dirty, "add", "-A", env=env)
        kept = look(dirty, None if kept is None else known_of(kept))
        fresh = look(dirty)
        assert kept._replace(cost=fresh.cost, observed_at="", contents={}, entries=fresh.entries) == fresh._replace(
            observed_at="", contents={}
        )
        assert kept.entries() == fresh.entries()
    assert added(dirty, env=env)
