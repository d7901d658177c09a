"""One writer at a time: a file lock held around scan and transaction, waited for within a bound (ARCHITECTURE §4).

The kernel releases the lock when its holder ends in whatever way, so that a killed command blocks nobody.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from repocue.errors import CacheBusy
from repocue.store.location import FILE_MODE, folder_error

WAIT_S = 10.0
"""How long a command waits for its turn."""


@contextmanager
def writer_lock(path: str, *, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold the lock file `path` (created 0600 in an existing folder); raises CacheBusy, or CacheError.

    Waiters are served in the order in which they came.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    except OSError as error:
        raise folder_error(error, path) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # A duplicate is the same lock. The waiting thread may outlive us, so it gets one of its own to close.
            _wait(os.dup(descriptor), wait_s, path)
        except OSError as error:
            raise folder_error(error, path) from error
        yield
    finally:
        os.close(descriptor)


def _wait(descriptor: int, wait_s: float, path: str) -> None:
    """Queue for the lock in a thread: the kernel serves waiters in turn, but knows no time limit."""
    import threading

    ended = threading.Event()
    failures: list[OSError] = []

    def queue() -> None:
        # Closing the duplicate gives the lock up only if the waiting command has closed its own by then.
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            failures.append(error)
        finally:
            os.close(descriptor)
            ended.set()

    threading.Thread(target=queue, name="repocue-lock", daemon=True).start()
    if not ended.wait(wait_s):
        raise CacheBusy(
            f"another command has held the cache for more than {wait_s:g} s: {path}",
            hint="Wait for it to end and run the command again.",
        )
    if failures:
        raise folder_error(failures[0], path) from failures[0]
