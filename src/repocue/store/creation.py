"""The first state of a repository: a whole database, built aside and put in place by one rename.

Whatever moment a command is killed at, the name `state.db` either does not exist or is a complete, durable state.
What a killed command left aside is removed by the next one, which holds the writer's lock as this one does.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress

from repocue.store import faults
from repocue.store.database import Database
from repocue.store.location import FILE_MODE, folder_error, sync_folder
from repocue.store.schema import APPLICATION_ID, LATEST, MIGRATIONS

_ASIDE = ".new"
_COMPANIONS = ("", "-journal", "-wal", "-shm")


def create_state(path: str, fill: Callable[[Database], None]) -> None:
    """Build the database `path` from nothing; `fill` is called in the one transaction that fills it.

    The caller holds the writer's lock and has seen that `path` does not exist. Raises CacheError (CacheFull where
    there is no room), or whatever `fill` raises; then nothing is left behind.
    """
    aside = path + _ASIDE
    try:
        _remove(aside)
        os.close(os.open(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE))
    except OSError as error:
        raise folder_error(error, aside) from error
    try:
        _build(aside, fill)
        _put_in_place(aside, path)
    except BaseException:
        with suppress(OSError):  # the next command tries again; the error that led here is the one to report
            _remove(aside)
        raise


def _build(aside: str, fill: Callable[[Database], None]) -> None:
    try:
        connection = sqlite3.connect(aside, isolation_level=None)
        try:
            # Nobody else knows this file and a failure discards it, so that no journal has to protect it.
            for pragma in (
                "locking_mode = EXCLUSIVE",
                "journal_mode = OFF",
                "synchronous = OFF",
                f"application_id = {APPLICATION_ID}",
            ):
                connection.execute("PRAGMA " + pragma).fetchall()
            connection.execute("BEGIN")
            for step in MIGRATIONS:
                for statement in step:
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {LATEST}")
            fill(Database(connection, aside))
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise faults.translate(error, aside) from error


def _put_in_place(aside: str, path: str) -> None:
    try:
        descriptor = os.open(aside, os.O_RDWR | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        # A log without its database would be replayed into the new one.
        for companion in _COMPANIONS[1:]:
            _unlink(path + companion)
        os.rename(aside, path)
        sync_folder(os.path.dirname(path))
    except OSError as error:
        raise folder_error(error, path) from error


def _remove(aside: str) -> None:
    for companion in _COMPANIONS:
        _unlink(aside + companion)


def _unlink(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)
