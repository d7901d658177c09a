"""SQLite's errors as ours: each kind of trouble with the cache is its own error, and says what to do next."""

from __future__ import annotations

import errno
import os
import sqlite3

from repocue.errors import CacheBusy, CacheDamaged, CacheError, CacheFull

_PROBE_BYTES = 256 * 1024


def translate(error: sqlite3.Error | UnicodeDecodeError, path: str) -> CacheError:
    """The error of this tree for an SQLite error met while using the database `path`."""
    if isinstance(error, UnicodeDecodeError):
        return damaged(path, "a text in it is not UTF-8")
    code = getattr(error, "sqlite_errorcode", None) or 0
    primary = code & 0xFF
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT):
        return damaged(path, str(error))
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return CacheBusy(
            f"another command holds the cache's database: {path}",
            hint="Wait for it to end and run the command again.",
        )
    if primary == sqlite3.SQLITE_FULL or (primary == sqlite3.SQLITE_IOERR and _no_room(path)):
        return full(path)
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return read_only(path)
    if primary == sqlite3.SQLITE_CANTOPEN:
        folder = os.path.dirname(path)
        if os.path.exists(path) and not (os.access(path, os.W_OK) and os.access(folder, os.W_OK)):
            return read_only(path)
        return CacheError(f"the cache's database cannot be opened: {path}", code="cache.unreadable")
    return CacheError(f"the cache's database failed: {path}: {error}", code="cache.io")


def damaged(path: str, why: str) -> CacheDamaged:
    """The error for a database that cannot be read as one of ours."""
    return CacheDamaged(
        f"the cache's database is damaged: {path}: {why}",
        hint="Move the file away to keep it, then run 'repocue init'. Nothing in the repository is affected.",
    )


def full(path: str) -> CacheFull:
    """The error for a file system without room; the state from before is untouched."""
    return CacheFull(
        f"no room left for the cache at {os.path.dirname(path)}",
        hint="Free some space (or raise the quota or file-size limit) and run the command again; no state was lost.",
    )


def read_only(path: str) -> CacheError:
    """The error for a cache that may be read but not written."""
    return CacheError(
        f"the cache cannot be written: {path}",
        code="cache.read-only",
        hint="Make folder and files writable, or name another cache with --cache-dir or REPOCUE_CACHE_DIR.",
    )


def _no_room(path: str) -> bool:
    """Whether an I/O error beside `path` means a full file system, quota or size limit: SQLite does not say."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit != resource.RLIM_INFINITY:
        return True
    probe = f"{path}.probe-{os.getpid()}"
    try:
        descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            written = os.write(descriptor, bytes(_PROBE_BYTES))
        finally:
            os.close(descriptor)
            os.unlink(probe)
    except OSError as error:
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return written < _PROBE_BYTES
