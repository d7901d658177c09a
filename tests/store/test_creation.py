"""A first state appears whole or not at all, and what a dead command left aside is cleared away."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

import pytest

from repocue.errors import CacheError
from repocue.store import snapshots
from repocue.store.creation import create_state
from repocue.store.database import Database, open_state
from repocue.store.location import CacheLocation
from tests.store.support import as_nobody, create, entry


def test_a_failure_while_filling_leaves_nothing(tmp_path: Path) -> None:
    def fail(database: Database) -> None:
        database.run("INSERT INTO epochs VALUES (1, NULL, NULL, 1, NULL, 1)")
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        create_state(str(tmp_path / "state.db"), fail)
    assert os.listdir(tmp_path) == []


def test_leftovers_of_a_killed_command_are_cleared_away(tmp_path: Path) -> None:
    path = str(tmp_path / "state.db")
    for name in ("state.db.new", "state.db.new-journal", "state.db.new-wal", "state.db.new-shm"):
        (tmp_path / name).write_bytes(b"left behind")
    rows = create(path, [entry("a")])
    assert os.listdir(tmp_path) == ["state.db"]
    with open_state(path, mode="read") as database:
        assert snapshots.rows(database, 1) == rows


def test_a_log_without_its_database_is_not_replayed_into_a_new_one(tmp_path: Path) -> None:
    path = str(tmp_path / "state.db")
    create(path, [entry("old")])
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("UPDATE epochs SET label = 'old'")
    kept = Path(path + "-wal").read_bytes()
    writer.close()
    os.unlink(path)
    Path(path + "-wal").write_bytes(kept)
    rows = create(path, [entry("new")])
    with open_state(path, mode="read") as database:
        assert snapshots.rows(database, 1) == rows
        assert database.one("SELECT label FROM epochs") == (None,)
        assert database.one("PRAGMA integrity_check") == ("ok",)


def test_folders_above_that_may_be_entered_but_not_listed_are_no_obstacle(tmp_path: Path) -> None:
    folder = tempfile.mkdtemp(prefix="repocue-test-", dir="/tmp")
    try:
        os.chmod(folder, 0o733)
        program = """
            from repocue.store.location import CacheLocation
            os.umask(0)
            made = CacheLocation(sys.argv[1] + "/cache").create("repo-1")
            print(oct(os.stat(made).st_mode), oct(os.stat(os.path.dirname(made)).st_mode))
        """
        done = as_nobody(program, folder, modules="repocue.store.location")
        assert (done.stdout, done.stderr) == ("0o40700 0o40700\n", "")
    finally:
        os.chmod(folder, 0o700)
        shutil.rmtree(folder)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a file system that takes no folders")
def test_a_folder_that_takes_no_folders_is_not_called_a_file() -> None:
    with pytest.raises(CacheError) as raised:
        CacheLocation("/proc").create("repo-" + "0" * 24)
    assert raised.value.code == "cache.io"
    assert "not a folder" not in raised.value.message


def test_a_relative_cache_folder_needs_a_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    identifier = "repo-" + "0" * 24
    with pytest.raises(CacheError) as raised:
        CacheLocation("cache").state_path(identifier)
    assert "working directory" in raised.value.message
    assert CacheLocation("/cache").state_path(identifier) == f"/cache/{identifier}/state.db"
