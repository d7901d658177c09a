"""Opening the state database, safely for everyone who has it open, and transactions on it."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Literal, Self

from repocue.errors import CacheError, CacheNotInitialized, CacheTooNew
from repocue.store import faults
from repocue.store.lock import WAIT_S, writer_lock
from repocue.store.schema import APPLICATION_ID, LATEST, MIGRATIONS

Mode = Literal["read", "write"]


_FAILURES = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite's module raises; a damaged text is the latter."""


class Database:
    """One open connection. Everything it raises is a CacheError; use it as a context manager."""

    def __init__(self, connection: sqlite3.Connection, path: str, *, settled: os.stat_result | None = None) -> None:
        self._connection = connection
        self._settled = settled
        self.path = path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the last writer's close empties the write-ahead log."""
        try:
            self._connection.close()
        except _FAILURES as error:
            raise faults.translate(error, self.path) from error

    def one(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """The first row of the answer, or None."""
        try:
            row: tuple[Any, ...] | None = self._connection.execute(sql, parameters).fetchone()
        except _FAILURES as error:
            raise faults.translate(error, self.path) from error
        return row

    def all(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Every row of the answer."""
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except _FAILURES as error:
            raise faults.translate(error, self.path) from error

    def each(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of the answer, one at a time."""
        try:
            for row in self._connection.execute(sql, parameters):  # noqa: UP028 - closes no cursor of a closed database
                yield row
        except _FAILURES as error:
            raise faults.translate(error, self.path) from error

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Run a statement; returns how many rows it changed."""
        try:
            return self._connection.execute(sql, parameters).rowcount
        except _FAILURES as error:
            raise faults.translate(error, self.path) from error

    def run_many(self, sql: str, parameters: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for each set of parameters."""
        try:
            self._connection.executemany(sql, parameters)
        except _FAILURES as error:
            raise faults.translate(error, self.path) from error

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One consistent view for several statements."""
        self.run("BEGIN")
        try:
            yield
        finally:
            self._rollback()

    @contextmanager
    def writing(self, *, durable: bool) -> Iterator[None]:
        """One transaction that is made whole or not at all.

        A durable one is on disk when this returns; another may be lost with the machine's power, but never torn.
        """
        self.run(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        self.run("BEGIN IMMEDIATE")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            self._rollback()
            raise

    def _rollback(self) -> None:
        if self._connection.in_transaction:
            with suppress(sqlite3.Error):  # then SQLite has rolled back by itself; the first error is the one to report
                self._connection.execute("ROLLBACK")

    def is_settled(self) -> bool:
        """Whether what was read is one state: always, unless the file was read without locks and changed since."""
        if self._settled is None:
            return True
        try:
            now = os.stat(self.path)
        except OSError:
            return False
        return _same_file(now, self._settled) and not _has_log(self.path)


def exists(path: str) -> bool:
    """Whether a state database is there. Raises CacheError where that cannot be told or it is no regular file."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    except NotADirectoryError as error:
        raise CacheError(
            f"the cache folder cannot be used: {os.path.dirname(path)} is not a folder",
            code="cache.not-a-folder",
            hint="Name another one with --cache-dir or REPOCUE_CACHE_DIR.",
        ) from error
    except OSError as error:
        raise CacheError(
            f"the cache cannot be read: {path}: {error.strerror}",
            code="cache.unreadable",
            hint="Make it readable, or name another cache with --cache-dir or REPOCUE_CACHE_DIR.",
        ) from error
    if not stat.S_ISREG(mode):
        raise faults.damaged(path, "it is not a regular file")
    return True


def open_state(path: str, *, mode: Mode, wait_s: float = WAIT_S) -> Database:
    """Open an existing state database, bringing an older one up to date.

    Reading works on a read-only folder too. Raises CacheNotInitialized, CacheTooNew, CacheDamaged, CacheBusy
    (locked longer than `wait_s`) or another CacheError. A writer must hold the writer's lock already.
    """
    if not exists(path):
        raise not_initialized(path)
    if not os.access(path, os.R_OK):
        raise CacheError(
            f"the cache cannot be read: {path}: permission denied",
            code="cache.unreadable",
            hint="Make it readable, or name another cache with --cache-dir or REPOCUE_CACHE_DIR.",
        )
    database = _write(path, wait_s) if mode == "write" else _read(path, wait_s)
    try:
        version = _version(database)
        if version < LATEST:
            if mode == "read":
                database.close()
                with writer_lock(os.path.join(os.path.dirname(path), "state.lock"), wait_s=wait_s):
                    open_state(path, mode="write", wait_s=wait_s).close()
                return open_state(path, mode="read", wait_s=wait_s)
            migrate(database, version)
        if mode == "write":
            database.run("PRAGMA foreign_keys = ON")
    except BaseException:
        database.close()
        raise
    return database


def not_initialized(path: str | None = None) -> CacheNotInitialized:
    """The error for a repository of which nothing is kept; `path` is the database that was looked for."""
    where = f" in {os.path.dirname(os.path.dirname(path))}" if path else ""
    return CacheNotInitialized(f"no state is kept for this repository yet{where}", hint="Run 'repocue init' first.")


def migrate(database: Database, version: int, steps: Sequence[Sequence[str]] = MIGRATIONS) -> None:
    """Take every step from `version` on, each in one transaction of its own."""
    for number, statements in enumerate(steps[version:], version + 1):
        with database.writing(durable=True):
            for statement in statements:
                database.run(statement)
            database.run(f"PRAGMA user_version = {number}")


def _version(database: Database) -> int:
    """The version of a database of ours; raises CacheDamaged or CacheTooNew for any other."""
    row = database.one("PRAGMA user_version")
    version = int(row[0]) if row else 0
    if version > LATEST:
        raise CacheTooNew(
            f"the cache's database has version {version}, this program knows up to {LATEST}: {database.path}",
            hint="Use the newer version of RepoCue that wrote it, or another cache folder (--cache-dir).",
        )
    identity = database.one("PRAGMA application_id")
    if version < 1 or identity is None or identity[0] != APPLICATION_ID:
        raise faults.damaged(database.path, "it is not a RepoCue database")
    return version


def _connect(path: str, options: str, wait_s: float) -> sqlite3.Connection:
    uri = "file:" + _uri_path(path) + "?" + options
    try:
        return sqlite3.connect(uri, uri=True, timeout=wait_s, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise faults.translate(error, path) from error


def _write(path: str, wait_s: float) -> Database:
    return Database(_connect(path, "mode=rw", wait_s), path)


def _read(path: str, wait_s: float) -> Database:
    connection = _connect(path, "mode=ro", wait_s)
    try:
        connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.Error as error:
        connection.close()
        if (error.sqlite_errorcode & 0xFF) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise faults.translate(error, path) from error
        # The folder cannot hold the shared files that reading with locks needs.
        return _read_without_locks(path, wait_s)
    return Database(connection, path)


def _read_without_locks(path: str, wait_s: float) -> Database:
    """Read a database whose folder we may not write: right as long as the file stays as it is (`is_settled`)."""
    if _has_log(path):
        raise CacheError(
            f"the cache cannot be read: it was left in the middle of a change and its folder is read-only: {path}",
            code="cache.read-only",
            hint="Run any RepoCue command once where the cache is writable; it completes or undoes the change.",
        )
    settled = os.stat(path)
    return Database(_connect(path, "mode=ro&immutable=1", wait_s), path, settled=settled)


def _has_log(path: str) -> bool:
    try:
        return os.stat(path + "-wal").st_size > 0
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _same_file(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns) == (
        other.st_ino,
        other.st_size,
        other.st_mtime_ns,
        other.st_ctime_ns,
    )


def _uri_path(path: str) -> str:
    """The path as it stands in an SQLite URI: every byte that has a meaning there, or is not ASCII, escaped."""
    safe = b"/-._~abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    return "".join(chr(byte) if byte in safe else f"%{byte:02X}" for byte in os.fsencode(os.path.abspath(path)))
