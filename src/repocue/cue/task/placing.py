"""Where a declaration stands in the work tree, and putting new bytes in its place.

A path leads to a file of this repository only through folders of its own: git tracks nothing behind a symbolic link,
in another repository's work tree or in a folder named `.git`, so nothing is read or written there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from repocue.domain.paths import display, raw
from repocue.errors import TaskContextError

if TYPE_CHECKING:
    from collections.abc import Callable

    from repocue.git.worktree import Worktree

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_GITS_OWN: Final = b".git"


@contextmanager
def folder_of(worktree: Worktree, path: str) -> Iterator[tuple[int, bytes]]:
    """A handle of the folder that `path` (as git shows it) names a file in, and the file's name.

    Folders are opened one in another, so that a link put there later leads nowhere else. Raises TaskContextError where
    the path leads out of the repository's own work tree, OSError where a folder is missing or may not be entered.
    """
    *parts, name = raw(path).split(b"/")
    handle = os.open(worktree.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts:
            inner = _enter(handle, part, path)
            os.close(handle)
            handle = inner
        if name.lower() == _GITS_OWN:
            raise _elsewhere(path, name, "git's own")
        yield handle, name
    finally:
        os.close(handle)


def replace(worktree: Worktree, path: str, data: bytes, *, is_still_expected: Callable[[], bool]) -> None:
    """Put `data` in the place of the file at `path`, atomically and with its mode kept.

    `is_still_expected` is asked last, when everything else could be done. Raises TaskContextError; then the file is as
    it was.
    """
    try:
        with folder_of(worktree, path) as (folder, name):
            # A name of its own: one left by a killed process must not stand in the way, nor a long name's ending.
            temporary = b".repocue-new-" + os.urandom(6).hex().encode()
            mode = stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
            descriptor = os.open(temporary, _NEW_FILE, 0o600, dir_fd=folder)
            try:
                with open(descriptor, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fchmod(file.fileno(), mode)
                    os.fsync(file.fileno())
                if not is_still_expected():
                    raise moved(path)
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):  # what brought us here says more
                    os.unlink(temporary, dir_fd=folder)
                raise
    except OSError as error:
        raise TaskContextError(
            f"{path} cannot be rewritten: {error.strerror}", code="task-context.unwritable"
        ) from None


def moved(path: str) -> TaskContextError:
    """The error for a declaration that does not say the same throughout."""
    return TaskContextError(
        f"{path} was changed while it was being pinned", code="task-context.moved", hint="Pin again."
    )


def _enter(handle: int, part: bytes, path: str) -> int:
    """A handle of the folder `part` of the folder `handle`."""
    if part.lower() == _GITS_OWN:
        raise _elsewhere(path, part, "git's own")
    if stat.S_ISLNK(os.stat(part, dir_fd=handle, follow_symlinks=False).st_mode):
        raise _elsewhere(path, part, "a symbolic link")
    inner = os.open(part, _FOLDER, dir_fd=handle)
    try:
        with suppress(FileNotFoundError):
            os.stat(_GITS_OWN, dir_fd=inner, follow_symlinks=False)
            raise _elsewhere(path, part, "another repository's")
    except BaseException:
        os.close(inner)
        raise
    return inner


def _elsewhere(path: str, part: bytes, what: str) -> TaskContextError:
    return TaskContextError(
        f"{path} is not in this repository: {display(part)} is {what}",
        code="task-context.no-declaration",
        hint="A declaration is a tracked file of the repository itself; name one with --declaration.",
    )
