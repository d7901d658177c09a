"""Opening the state: each kind of trouble is its own error, and none loses anything."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from repocue.errors import (
    CacheBusy,
    CacheDamaged,
    CacheError,
    CacheFull,
    CacheNotInitialized,
    CacheTooNew,
    RepoCueError,
)
from repocue.store import schema, snapshots
from repocue.store.database import Database, migrate, open_state
from repocue.store.faults import translate
from repocue.store.location import CacheLocation
from tests.store.support import as_nobody, create, entry, give_to_nobody


@pytest.fixture
def path(tmp_path: Path) -> str:
    where = str(tmp_path / "state.db")
    create(where, [entry("a"), entry("b")])
    return where


def raw(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def read_everything(path: str, mode: str) -> None:
    with open_state(path, mode=mode, wait_s=0.05) as database:  # type: ignore[arg-type]  # read or write
        snapshots.rows(database, snapshots.current(database).snapshot.number)


def failure(path: str, mode: str = "read") -> RepoCueError:
    """The error that opening and reading everything of the state ends with."""
    before = Path(path).read_bytes() if os.path.isfile(path) else None
    with pytest.raises(RepoCueError) as error:
        read_everything(path, mode)
    if before is not None:
        assert Path(path).read_bytes() == before
    assert path in error.value.message or isinstance(error.value, CacheNotInitialized)
    return error.value


@pytest.mark.parametrize("mode", ["read", "write"])
def test_a_missing_state_is_not_initialised(tmp_path: Path, mode: str) -> None:
    assert type(failure(str(tmp_path / "none" / "state.db"), mode)) is CacheNotInitialized


@pytest.mark.parametrize("mode", ["read", "write"])
@pytest.mark.parametrize("content", [b"", b"x" * 4096, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_damaged(path: str, mode: str, content: bytes) -> None:
    Path(path).write_bytes(content)
    error = failure(path, mode)
    assert type(error) is CacheDamaged
    assert error.hint is not None
    assert "repocue init" in error.hint


@pytest.mark.parametrize("mode", ["read", "write"])
def test_somebody_elses_database_is_damaged_not_adopted(path: str, mode: str) -> None:
    os.unlink(path)
    with raw(path) as connection:
        connection.execute("CREATE TABLE notes (text)")
    assert type(failure(path, mode)) is CacheDamaged
    with raw(path) as connection:
        connection.execute("PRAGMA user_version = 1")
    assert type(failure(path, mode)) is CacheDamaged


def test_a_folder_in_the_place_of_the_database_is_damaged(path: str) -> None:
    os.unlink(path)
    os.mkdir(path)
    assert type(failure(path)) is CacheDamaged


def test_a_truncated_database_is_damaged(tmp_path: Path) -> None:
    path = str(tmp_path / "state.db")
    create(path, [entry(f"file-{number:05d}") for number in range(3000)])
    size = os.path.getsize(path)
    os.truncate(path, size // 2)
    assert type(failure(path)) is CacheDamaged


def test_kept_values_that_were_altered_are_damaged_not_believed(path: str) -> None:
    with raw(path) as connection:
        connection.execute("UPDATE current SET scan = CAST(replace(CAST(scan AS TEXT), '[', '{') AS BLOB)")
    assert type(failure(path)) is CacheDamaged
    with raw(path) as connection:
        connection.execute("DELETE FROM current")
    assert type(failure(path)) is CacheDamaged


def test_a_row_that_cannot_be_read_is_damaged(path: str) -> None:
    with raw(path) as connection:
        connection.execute("UPDATE files SET xy = 'UU', stages = '[[1]]' WHERE path = CAST('a' AS BLOB)")
    assert type(failure(path)) is CacheDamaged


@pytest.mark.parametrize("mode", ["read", "write"])
def test_a_text_whose_bytes_were_altered_is_damaged(path: str, mode: str) -> None:
    """One flipped bit in a statement of the schema, which SQLite then quotes in an error that is no UTF-8 text."""
    with raw(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    data = Path(path).read_bytes()
    at = data.index(b"CREATE TABLE files") + len(b"CREATE TABLE ")
    Path(path).write_bytes(data[:at] + bytes([data[at] | 0x80]) + data[at + 1 :])
    assert type(failure(path, mode)) is CacheDamaged


@pytest.mark.parametrize("column", ["opened_at_ms", "superseded_at_ms"])
@pytest.mark.parametrize("value", [2**62, -(2**62), 2**48])
def test_a_time_that_no_calendar_has_is_damaged(path: str, column: str, value: int) -> None:
    with raw(path) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(f"UPDATE epochs SET {column} = ?", (value,))
    connection.close()
    with open_state(path, mode="read") as database, pytest.raises(CacheDamaged) as error:
        snapshots.epochs(database)
    assert path in error.value.message


@pytest.mark.parametrize("mode", ["read", "write"])
def test_a_database_of_a_newer_version_is_refused_by_name(path: str, mode: str) -> None:
    with raw(path) as connection:
        connection.execute(f"PRAGMA user_version = {schema.LATEST + 1}")
    error = failure(path, mode)
    assert type(error) is CacheTooNew
    assert f"version {schema.LATEST + 1}" in error.message


def test_a_locked_database_is_busy_after_the_bounded_wait(path: str) -> None:
    other = raw(path)
    other.execute("BEGIN IMMEDIATE")
    try:
        with (
            open_state(path, mode="write", wait_s=0.05) as database,
            pytest.raises(CacheBusy),
            database.writing(durable=False),
        ):
            pass
        with open_state(path, mode="read", wait_s=0.05) as database:  # reading never waits
            assert len(snapshots.rows(database, 1)) == 2
    finally:
        other.close()


def test_a_cache_folder_that_is_a_file_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("mine")
    location = CacheLocation(str(tmp_path / "cache"))
    for use in (lambda: location.create("repo-1"), lambda: open_state(location.state_path("repo-1"), mode="read")):
        with pytest.raises(CacheError) as error:
            use()
        assert error.value.code == "cache.not-a-folder"
    assert (tmp_path / "cache").read_text() == "mine"


def test_a_dangling_link_as_cache_folder_is_an_error_of_the_cache(tmp_path: Path) -> None:
    os.symlink(tmp_path / "nowhere", tmp_path / "cache")
    with pytest.raises(CacheError) as error:
        CacheLocation(str(tmp_path / "cache")).create("repo-1")
    assert error.value.code == "cache.not-a-folder"


def test_odd_characters_in_the_cache_path_are_only_characters(tmp_path: Path) -> None:
    folder = tmp_path / "a%20b?mode=memory#c\udcff é"
    folder.mkdir()
    path = str(folder / "state.db")
    rows = create(path, [entry("a")])
    for mode in ("read", "write"):
        with open_state(path, mode=mode) as database:  # type: ignore[arg-type]  # read or write
            assert snapshots.rows(database, 1) == rows
    assert sorted(name for name in os.listdir(folder) if not name.endswith(("-wal", "-shm"))) == ["state.db"]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_FULL, CacheFull),
        (sqlite3.SQLITE_CORRUPT, CacheDamaged),
        (sqlite3.SQLITE_NOTADB, CacheDamaged),
        (sqlite3.SQLITE_BUSY_RECOVERY, CacheBusy),
        (sqlite3.SQLITE_LOCKED, CacheBusy),
        (sqlite3.SQLITE_IOERR_READ, CacheError),
    ],
)
def test_each_code_of_the_library_has_its_error(path: str, code: int, kind: type[CacheError]) -> None:
    error = sqlite3.OperationalError("said")
    error.sqlite_errorcode = code
    assert type(translate(error, path)) is kind


READ = """
    from repocue.store.database import open_state
    from repocue.store.snapshots import current, rows
    from repocue.errors import RepoCueError
    try:
        with open_state(sys.argv[1], mode=sys.argv[2], wait_s=1) as database:
            if sys.argv[2] == "write":
                with database.writing(durable=False):
                    database.run("UPDATE epochs SET label = 'x'")
            print(len(rows(database, current(database).snapshot.number)), database.is_settled())
    except RepoCueError as error:
        print(error.code)
"""


@pytest.fixture
def open_folder() -> str:
    """A folder that everybody can reach; pytest's own are private to us."""
    import tempfile

    folder = tempfile.mkdtemp(prefix="repocue-test-", dir="/tmp")
    os.chmod(folder, 0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_read_only_cache_is_read_without_writing_anything(open_folder: str) -> None:
    path = os.path.join(open_folder, "state.db")
    create(path, [entry("a"), entry("b")])
    give_to_nobody(open_folder)
    os.chmod(path, 0o400)
    os.chmod(open_folder, 0o500)
    before = sorted(os.listdir(open_folder))
    assert as_nobody(READ, path, "read").stdout == "2 True\n"
    assert as_nobody(READ, path, "write").stdout == "cache.read-only\n"
    assert sorted(os.listdir(open_folder)) == before
    os.chmod(open_folder, 0o700)


def test_a_read_only_cache_left_in_the_middle_of_a_change_is_not_guessed_at(open_folder: str) -> None:
    path = os.path.join(open_folder, "state.db")
    create(path, [entry("a")])
    writer = raw(path)
    writer.execute("UPDATE epochs SET label = 'unfinished'")
    shutil.copy(path + "-wal", path + "-kept")
    writer.close()
    os.rename(path + "-kept", path + "-wal")
    give_to_nobody(open_folder)
    os.chmod(open_folder, 0o500)
    assert as_nobody(READ, path, "read").stdout == "cache.read-only\n"
    os.chmod(open_folder, 0o700)
    # Where it can be written, the change is completed.
    assert as_nobody(READ, path, "write").stdout == "1 True\n"


def test_a_cache_that_may_not_be_read_is_unreadable(open_folder: str) -> None:
    path = os.path.join(open_folder, "state.db")
    create(path, [entry("a")])
    os.chmod(path, 0o000)
    give_to_nobody(open_folder)
    assert as_nobody(READ, path, "read").stdout == "cache.unreadable\n"
    os.chmod(path, 0o600)
    os.chmod(open_folder, 0o000)
    assert as_nobody(READ, path, "read").stdout == "cache.unreadable\n"
    os.chmod(open_folder, 0o700)


def test_a_state_that_changed_while_it_was_read_without_locks_is_noticed(path: str) -> None:
    settled = os.stat(path)
    database = Database(raw(path), path, settled=settled)
    assert database.is_settled()
    with open(path, "ab") as file:
        file.write(b"\0" * 4096)
    assert not database.is_settled()
    database.close()
    os.unlink(path)
    assert not database.is_settled()


def test_each_migration_is_one_transaction(path: str) -> None:
    steps = [*schema.MIGRATIONS, ("CREATE TABLE one (x)",), ("CREATE TABLE two (x)", "CREATE TABLE one (x)")]
    with open_state(path, mode="write") as database, pytest.raises(CacheError):
        migrate(database, schema.LATEST, steps)  # the second step fails at its second statement
    with raw(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.LATEST + 1,)
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert "one" in tables
    assert "two" not in tables


def test_an_older_database_is_brought_up_to_date_by_whoever_opens_it(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for mode in ("read", "write"):
        older = path + mode
        shutil.copy(path, older)
        with monkeypatch.context() as patch:
            patch.setattr("repocue.store.database.LATEST", schema.LATEST + 1)
            steps = (*schema.MIGRATIONS, ("ALTER TABLE epochs ADD COLUMN colour TEXT",))
            patch.setattr(migrate, "__defaults__", (steps,))
            with open_state(older, mode=mode) as database:  # type: ignore[arg-type]  # read or write
                assert database.all("SELECT number, colour FROM epochs") == [(1, None)]
                assert database.one("PRAGMA user_version") == (schema.LATEST + 1,)
                assert len(snapshots.rows(database, 1)) == 2


def test_a_state_is_in_wal_mode_and_names_its_application(path: str) -> None:
    header = Path(path).read_bytes()[:100]
    assert header[18:20] == b"\x02\x02"  # file format versions: write-ahead logging (SQLite's file format, §1.3)
    assert int.from_bytes(header[68:72], "big") == schema.APPLICATION_ID
    assert int.from_bytes(header[60:64], "big") == schema.LATEST


def test_rows_that_refer_to_no_snapshot_are_refused(path: str) -> None:
    with open_state(path, mode="write") as database, pytest.raises(CacheError), database.writing(durable=False):
        database.run("INSERT INTO files (path, valid_from) VALUES (CAST('z' AS BLOB), 99)")
