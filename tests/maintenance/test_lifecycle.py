"""init, refresh and rebaseline on real repositories; what git says is the expected value."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from repocue.domain.paths import display
from repocue.domain.state import FileRow
from repocue.errors import CacheNotInitialized, GitFailed, RepoCueError, SnapshotConflict, UsageError
from repocue.maintenance import lifecycle, transitions
from repocue.maintenance import observing as observing_module
from repocue.maintenance.metrics import metrics
from repocue.maintenance.observing import with_observation
from repocue.maintenance.status import status
from repocue.store import snapshots
from repocue.store.database import open_state
from repocue.store.lock import writer_lock
from tests.maintenance.support import NOW_MS, reading, request, rows, runs, write
from tests.support.repos import File, RepoBuilder, Submodule, Symlink, git

FILES = {
    "README.md": "hello\n",
    "src/a.py": "a = 1\n",
    "bin/run": File(b"#!/bin/sh\n", "100755"),
    "link": Symlink("README.md"),
    "sub": Submodule("1" * 40),
    b"odd\xff\n\"'.py".decode("utf-8", "surrogateescape"): "odd\n",
}


@pytest.fixture
def root(tmp_path: Path) -> str:
    return RepoBuilder(tmp_path / "r").commit("first", FILES).build()


def expected_rows(root: str) -> list[FileRow]:
    """The rows of a clean repository, from plain git and lstat."""
    found = []
    for line in git(root, "ls-files", "-s", "-z").split(b"\0")[:-1]:
        head, path = line.split(b"\t", 1)
        mode, oid, _ = head.decode().split(" ")
        size = 0 if mode == "160000" else os.lstat(os.path.join(os.fsencode(root), path)).st_size
        found.append(FileRow(display(path), mode, oid, (), mode, oid, size, ".."))
    return found


def contents(folder: str | os.PathLike[str]) -> dict[str, str]:
    """A digest of every file below a folder."""
    return {
        os.path.relpath(os.path.join(parent, name), folder): hashlib.sha256(Path(parent, name).read_bytes()).hexdigest()
        for parent, _, names in os.walk(folder)
        for name in names
    }


def test_init_keeps_a_row_of_every_tracked_path_as_git_lists_it(
    root: str, tmp_path: Path, env: Mapping[str, str]
) -> None:
    of = request(root, tmp_path / "cache", env)
    result = lifecycle.init(of)
    assert (result.outcome, result.header.snapshot, result.header.epoch) == (
        "initialized",
        "snapshot-000001",
        "epoch-000001",
    )
    assert rows(of) == expected_rows(root)
    assert result.header.head == git(root, "rev-parse", "HEAD").decode().strip()
    assert (result.header.branch, result.header.is_dirty, result.freshness) == ("main", False, "current")


def test_init_on_an_initialised_repository_explains_and_changes_nothing(
    root: str, tmp_path: Path, env: Mapping[str, str]
) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    before = contents(tmp_path / "cache")
    write(root, "src/a.py", "a = 2\n")
    result = lifecycle.init(of)
    assert (result.outcome, result.freshness, result.run) == ("already-initialized", "refresh-needed", None)
    assert result.header.snapshot == "snapshot-000001"
    after = contents(tmp_path / "cache")
    assert {name: after[name] for name in before} == before


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_folders_are_0700_and_files_0600_whatever_the_umask(
    root: str, tmp_path: Path, env: Mapping[str, str], umask: int
) -> None:
    previous = os.umask(umask)
    try:
        of = request(root, tmp_path / "a" / "b" / "cache", env)
        lifecycle.init(of)
        write(root, "src/a.py", "a = 2\n")
        lifecycle.refresh(of)
        with reading(of):  # the write-ahead log and its index exist while the database is open
            modes = {
                os.path.join(parent, name): os.lstat(os.path.join(parent, name)).st_mode & 0o7777
                for parent, folders, files in os.walk(tmp_path / "a")
                for name in [*folders, *files]
            }
            kinds = {path: os.path.isdir(path) for path in modes}
    finally:
        os.umask(previous)
    assert len(modes) >= 6
    assert {path: mode for path, mode in modes.items() if mode != (0o700 if kinds[path] else 0o600)} == {}


def test_nothing_but_init_creates_a_cache(root: str, tmp_path: Path, env: Mapping[str, str]) -> None:
    of = request(root, tmp_path / "cache", env)
    for operation in (lifecycle.refresh, lifecycle.rebaseline, status, metrics):
        with pytest.raises(CacheNotInitialized) as error:
            operation(of)
        assert error.value.hint == "Run 'repocue init' first."
        assert str(tmp_path / "cache") in error.value.message, "another command may have used another cache"
    assert not (tmp_path / "cache").exists()


def test_a_refresh_without_a_change_publishes_nothing_and_records_a_run(
    root: str, tmp_path: Path, env: Mapping[str, str]
) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    result = lifecycle.refresh(of, "hook")
    assert (result.outcome, result.header.snapshot, result.changes) == ("unchanged", "snapshot-000001", ())
    last = runs(of)[-1]
    assert (last.kind, last.trigger, last.outcome, last.changed_files) == ("refresh", "hook", "unchanged", 0)
    assert (last.snapshot_before, last.snapshot_after) == ("snapshot-000001", "snapshot-000001")


def test_a_run_without_a_change_reads_no_file_row(
    root: str, tmp_path: Path, env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, "src/a.py", "dirty\n")
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)

    def no_rows(*_: object) -> None:
        raise AssertionError("file rows were read")

    monkeypatch.setattr(snapshots, "rows", no_rows)
    monkeypatch.setattr(snapshots, "rows_of_paths", no_rows)
    assert lifecycle.refresh(of).outcome == "unchanged"
    assert status(of).freshness == "dirty-but-indexed"


def test_a_refresh_publishes_what_changed_and_keeps_what_was(root: str, tmp_path: Path, env: Mapping[str, str]) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    before = rows(of)
    write(root, "src/a.py", "a = 22\n")
    write(root, "new.txt", "new\n")
    git(root, "add", "new.txt")
    git(root, "mv", "README.md", "READ ME.md")
    os.unlink(os.path.join(root, "bin/run"))
    result = lifecycle.refresh(of)
    assert result.changes is not None
    assert [(change.kind, change.from_path, change.path) for change in result.changes] == [
        ("file.renamed", "README.md", "READ ME.md"),
        ("file.deleted", None, "bin/run"),
        ("file.added", None, "new.txt"),
        ("file.content_changed", None, "src/a.py"),
    ]
    assert [change.kind for change in result.repository_changes or ()] == ["repository.working_tree_changed"]
    assert (result.outcome, result.freshness) == ("published", "dirty-but-indexed")
    assert rows(of, "snapshot-000001") == before
    now = {row.path: row for row in rows(of)}
    oid = git(root, "hash-object", "src/a.py").decode().strip()
    assert (now["src/a.py"].content_id, now["src/a.py"].size_bytes, now["src/a.py"].xy) == (oid, 7, ".M")
    assert (now["bin/run"].mode, now["bin/run"].content_id, now["bin/run"].size_bytes) == (None, None, None)


def test_the_delta_read_from_the_store_is_the_one_that_was_published(
    root: str, tmp_path: Path, env: Mapping[str, str]
) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    write(root, "src/a.py", "a = 22\n")
    published = lifecycle.refresh(of)
    write(root, "src/a.py", "a = 1\n")  # as at first, but for the time
    git(root, "switch", "-q", "-c", "side")
    lifecycle.refresh(of)
    with reading(of) as opened:
        back = opened.delta("snapshot-000001")
        one = opened.delta("snapshot-000002")
    assert published.changes is not None
    assert back.changes == ()
    assert [(change.kind, change.before, change.after) for change in back.repository_changes] == [
        ("repository.branch_changed", "main", "side")
    ]
    assert [change.path for change in one.changes] == ["src/a.py"]
    assert one.changes[0].before == published.changes[0].after


@pytest.mark.parametrize("snapshot", ["snapshot-000007", "snapshot-1", "", "HEAD"])
def test_an_unknown_snapshot_is_a_usage_error(root: str, tmp_path: Path, env: Mapping[str, str], snapshot: str) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    with reading(of) as opened:
        for read in (opened.delta, opened.snapshot, opened.rows):
            with pytest.raises(UsageError) as error:
                read(snapshot)
            assert error.value.code == "snapshot.unknown"


def test_a_rebaseline_opens_an_epoch_and_deletes_nothing(root: str, tmp_path: Path, env: Mapping[str, str]) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    first = rows(of)
    write(root, "src/a.py", "a = 22\n")
    result = lifecycle.rebaseline(of, "v2", "after the move")
    assert (result.header.epoch, result.header.snapshot, result.outcome) == (
        "epoch-000002",
        "snapshot-000002",
        "published",
    )
    found = metrics(of)
    assert [(row["number"], row["label"], row["reason"], row["superseded_at_ms"]) for row in found.epochs] == [
        (1, None, None, NOW_MS),
        (2, "v2", "after the move", None),
    ]
    assert [row["baseline_snapshot"] for row in found.epochs] == [1, 2]
    assert [(run.kind, run.epoch) for run in found.runs] == [("init", "epoch-000001"), ("rebaseline", "epoch-000002")]
    assert rows(of, "snapshot-000001") == first
    # Without a change, too: a baseline is a new one.
    again = lifecycle.rebaseline(of)
    assert (again.header.snapshot, again.header.epoch, again.changes) == ("snapshot-000003", "epoch-000003", ())


@pytest.mark.parametrize("label", ["x" * 501, "\udcff"])
def test_a_label_that_cannot_be_kept_is_refused_before_anything_is_done(
    root: str, tmp_path: Path, env: Mapping[str, str], label: str
) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    for arguments in ({"label": label}, {"reason": label}):
        with pytest.raises(UsageError):
            lifecycle.rebaseline(of, **arguments)
    assert len(runs(of)) == 1


def test_a_run_records_what_it_took_and_when_its_process_began(
    root: str, tmp_path: Path, env: Mapping[str, str]
) -> None:
    lifecycle.init(request(root, tmp_path / "cache", env, elapsed_ms=250.25))
    write(root, "src/a.py", "a = 22\n")
    lifecycle.refresh(request(root, tmp_path / "cache", env, elapsed_ms=None))
    first, second = runs(request(root, tmp_path / "cache", env))
    assert (first.duration_ms, first.started_at_ms, first.clock_method) == (250.25, NOW_MS - 250, "test-clock")
    assert (first.files_scanned, first.bytes_read, first.changed_files) == (6, 0, 6)
    assert first.scan_duration_ms is not None
    assert first.scan_duration_ms > 0
    assert first.git_processes is not None
    assert first.git_processes >= 2
    # A platform without a clock for it: unknown, and not zero.
    assert second.duration_ms is None
    assert (second.bytes_read, second.changed_files) == (7, 1)
    document = metrics(request(root, tmp_path / "cache", env)).document()
    assert document["maintenance"]["init"] == {
        "runs": 1,
        "failed": 0,
        "durations_known": 1,
        "duration_ms": 250.25,
    }
    assert document["maintenance"]["refresh"] == {
        "runs": 1,
        "failed": 0,
        "durations_known": 0,
        "duration_ms": None,
    }


def test_a_failed_run_is_recorded_and_loses_nothing(root: str, tmp_path: Path, env: Mapping[str, str]) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    before = rows(of)
    index = os.path.join(root, ".git", "index")
    good = Path(index).read_bytes()
    Path(index).write_bytes(b"not an index")
    for operation in (lifecycle.refresh, lifecycle.rebaseline):
        with pytest.raises(RepoCueError) as error:
            operation(of)
    Path(index).write_bytes(good)
    assert [(run.kind, run.outcome, run.error_code) for run in runs(of)[1:]] == [
        ("refresh", "failed", error.value.code),
        ("rebaseline", "failed", error.value.code),
    ]
    last = runs(of)[-1]
    assert (last.epoch, last.snapshot_before, last.snapshot_after) == ("epoch-000001",) + ("snapshot-000001",) * 2
    assert (last.scan_duration_ms, last.git_processes, last.changed_files) == (None, None, None)
    assert rows(of) == before
    assert lifecycle.refresh(of).outcome == "unchanged"


def test_a_failed_init_leaves_no_state_behind(root: str, tmp_path: Path, env: Mapping[str, str]) -> None:
    of = request(root, tmp_path / "cache", env)
    Path(root, ".git", "index").write_bytes(b"not an index")
    with pytest.raises(GitFailed):
        lifecycle.init(of)
    assert os.listdir(of.cache.folder(of.worktree.id)) == ["state.lock"]


def test_an_interrupted_run_is_recorded_as_such(
    root: str, tmp_path: Path, env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(observing_module, "observe", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lifecycle.refresh(of)
    assert runs(of)[-1].error_code == "interrupted"


def test_a_transition_from_a_snapshot_that_is_no_longer_current_writes_nothing(
    root: str, tmp_path: Path, env: Mapping[str, str]
) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    with open_state(of.state_path, mode="write") as database:
        stale = snapshots.current(database)
        write(root, "src/a.py", "a = 22\n")
        lifecycle.refresh(of)
        known = len(runs(of))
        now = with_observation(of, None, lambda found, _: found)
        with pytest.raises(SnapshotConflict):
            transitions.publish(of, database, stale, now, [], "command")
        with pytest.raises(SnapshotConflict):
            transitions.unchanged(of, database, stale, now, "command")
    assert len(runs(of)) == known
    assert metrics(of).snapshots_kept == 2


def test_two_inits_at_once_make_one_state(root: str, tmp_path: Path, env: Mapping[str, str]) -> None:
    of = request(root, tmp_path / "cache", env)
    of.cache.create(of.worktree.id)
    with writer_lock(of.lock_path):
        import threading

        outcomes: list[str] = []
        threads = [threading.Thread(target=lambda: outcomes.append(lifecycle.init(of).outcome)) for _ in range(3)]
        for thread in threads:
            thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["already-initialized", "already-initialized", "initialized"]


def test_an_index_that_moves_between_scan_and_sizes_is_observed_again(
    root: str, tmp_path: Path, env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    write(root, "new.txt", "1\n")
    git(root, "add", "new.txt")
    git(root, "commit", "-q", "-m", "new")
    asked = []
    real = observing_module._sizes

    def sizes(*arguments: object) -> object:
        if not asked:
            write(root, "new.txt", "22\n")
            git(root, "commit", "-q", "-a", "-m", "newer")
        asked.append(arguments)
        return real(*arguments)  # type: ignore[arg-type]  # handed on as it came

    monkeypatch.setattr(observing_module, "_sizes", sizes)
    result = lifecycle.refresh(of)
    assert len(asked) == 2
    assert result.header.head == git(root, "rev-parse", "HEAD").decode().strip()
    assert rows(of) == expected_rows(root)


def test_a_dirty_file_is_read_once_and_then_known_by_its_stat(
    root: str, tmp_path: Path, env: Mapping[str, str]
) -> None:
    write(root, "src/a.py", "dirty\n")
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    # A change within the clock's granularity could hide behind an equal stat, so that the first runs may read again.
    while runs(of)[-1].bytes_read:
        assert len(runs(of)) < 100
        lifecycle.refresh(of)
    assert runs(of)[0].bytes_read == 6
    write(root, "src/a.py", "DIRTY\n")  # the same size
    lifecycle.refresh(of)
    assert (runs(of)[-1].bytes_read, runs(of)[-1].changed_files) == (6, 1)


def test_a_change_of_one_file_grows_the_database_by_little_however_large_the_repository(
    tmp_path: Path, env: Mapping[str, str]
) -> None:
    files = {f"folder-{number % 1500:04d}/below/file-{number:05d}.py": "x\n" for number in range(4500)}
    root = RepoBuilder(tmp_path / "large").commit("first", {**files, "README.md": "r\n"}).build()
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    size = metrics(of).database_bytes
    assert size > 400_000
    for number in range(24):
        path = f"folder-{number * 61:04d}/below/file-{number * 61:05d}.py"
        if number % 4 == 0:
            write(root, path, f"edited {number}\n")
        elif number % 4 == 1:
            write(root, f"new-{number}/new-{number}/new.md", "new\n")
            git(root, "add", "-A")
        elif number % 4 == 2:
            git(root, "rm", "-q", "-f", path)
        else:
            git(root, "mv", path, f"moved-{number}.py")
        assert lifecycle.refresh(of).outcome == "published"
        now = metrics(of).database_bytes
        assert now - size <= 24 * 1024
        size = now
    assert os.path.getsize(of.state_path) == size
