"""Reaching work-tree files relative to a folder handle, so that a very long path is no obstacle.

The kernel takes at most 4 095 bytes at a time; git, started in the root, uses relative paths of that length, which
an absolute path of ours would exceed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from typing import Self, TypeVar

from repocue.domain.paths import display
from repocue.domain.state import FileStat
from repocue.errors import RepositoryError

_T = TypeVar("_T")
_STEP_BYTES = 4000
_TICK_NS = 20_000_000
_WHOLE_SECONDS_NS = 2_000_000_000
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# A handle to reach files by needs no permission to list the folder, where the system can say so (Linux).
_FOLDER_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC


class Folder:
    """A handle on a folder; use it in a `with` statement. All paths are relative to it.

    Raises RepositoryError (`repository.unreadable`) where there is no such folder, or it may not be entered.
    """

    __slots__ = ("_handle",)

    def __init__(self, path: bytes) -> None:
        try:
            self._handle = os.open(path, _FOLDER_FLAGS)
        except OSError as error:
            raise RepositoryError(
                f"{display(path)} cannot be entered: {error.strerror}", code="repository.unreadable"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    def lstat(self, path: bytes) -> os.stat_result:
        """lstat of `path`; raises OSError."""
        if len(path) <= _STEP_BYTES:
            return os.lstat(path, dir_fd=self._handle)
        return self._stepwise(path, lambda name, handle: os.lstat(name, dir_fd=handle))

    def readlink(self, path: bytes) -> bytes:
        """The text of a symbolic link; raises OSError."""
        return self._stepwise(path, lambda name, handle: os.readlink(name, dir_fd=handle))

    def open(self, path: bytes) -> int:
        """A descriptor for reading a regular file, never following a symbolic link at its end nor waiting for a FIFO.

        Raises OSError, also for anything that is not a regular file.
        """
        descriptor = self._stepwise(path, lambda name, handle: os.open(name, _READ_FLAGS, dir_fd=handle))
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(errno.EINVAL, "not a regular file", path)
        return descriptor

    def read(self, path: bytes, limit_bytes: int) -> bytes:
        """The first `limit_bytes` of a regular file; raises OSError."""
        parts: list[bytes] = []
        self.each_part(path, parts.append, limit_bytes)
        return b"".join(parts)

    def each_part(self, path: bytes, sink: Callable[[bytes], object], limit_bytes: int | None = None) -> int:
        """Give a regular file's bytes to `sink` piece by piece; returns how many. Raises OSError."""
        descriptor = self.open(path)
        done = 0
        try:
            while limit_bytes is None or done < limit_bytes:
                wanted = 1 << 20 if limit_bytes is None else min(1 << 20, limit_bytes - done)
                part = os.read(descriptor, wanted)
                if not part:
                    break
                sink(part)
                done += len(part)
        finally:
            os.close(descriptor)
        return done

    def _stepwise(self, path: bytes, action: Callable[[bytes, int], _T]) -> _T:
        """Do `action` on the last part of `path`, entering folders on the way where it is too long for one call."""
        if len(path) <= _STEP_BYTES:
            return action(path, self._handle)
        handle = os.dup(self._handle)
        try:
            while len(path) > _STEP_BYTES:
                cut = path.rfind(b"/", 0, _STEP_BYTES)
                if cut <= 0:
                    break
                following = os.open(path[:cut], _FOLDER_FLAGS, dir_fd=handle)
                os.close(handle)
                handle = following
                path = path[cut + 1 :]
            return action(path, handle)
        finally:
            os.close(handle)


def file_stat(found: os.stat_result) -> FileStat:
    """The part of a stat that changes whenever a file's content does."""
    return FileStat(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def is_settled(ctime_ns: int, begun_ns: int) -> bool:
    """Whether a change made after `begun_ns` is sure to give a file a later ctime than this one.

    The clocks of file systems are coarse: a tick of the kernel, or whole seconds, which are then taken to be meant.
    """
    return ctime_ns < begun_ns - (_TICK_NS if ctime_ns % 1_000_000_000 else _WHOLE_SECONDS_NS)
