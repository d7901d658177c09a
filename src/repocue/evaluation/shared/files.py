"""Durable files: written to a temporary sibling, fsynced, renamed; never overwriting (ARCHITECTURE §8).

Folders are 0700 and files 0600, since evidence holds source text and raw answers.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, Final

from repocue.errors import EvaluationError, EvidenceError

_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


@contextmanager
def _writing(path: str) -> Iterator[None]:
    """Turn what the system says about a write into one of our errors."""
    try:
        yield
    except FileExistsError as error:
        raise EvaluationError(
            f"{shown(path)} exists already; evidence is never overwritten.", code="evaluation.exists"
        ) from error
    except OSError as error:
        raise EvaluationError(
            f"{shown(path)} cannot be written: {error.strerror or error}.", code="evaluation.write-failed"
        ) from error


def write_new(path: str, data: bytes) -> None:
    """Create `path` with exactly `data`; when this returns, the file and its name are on disk.

    A crash leaves either nothing of that name or all of it (and perhaps a sibling ending in ``.tmp``).
    Raises EvaluationError, code ``evaluation.exists`` where something of that name exists, else
    ``evaluation.write-failed``.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(6)}.tmp")
    with _writing(path):
        _refuse_existing(path)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o600)
        try:
            with open(descriptor, "wb", buffering=0) as file:
                view = memoryview(data)
                while view:
                    view = view[file.write(view) :]
                os.fsync(file.fileno())
            # The folder is this process's own (reserved or staged), so nobody can create the name in between.
            _refuse_existing(path)
            os.rename(temporary, path)
        except BaseException:
            _remove_quietly(temporary)
            raise
        sync_folder(folder)


def open_new(path: str) -> BinaryIO:
    """Create `path` for a raw stream and return it unbuffered: what is written is visible at once.

    Raises EvaluationError as `write_new` does. The caller closes it, with `close_synced` where it must last.
    """
    with _writing(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o600)
        return open(descriptor, "wb", buffering=0)


def close_synced(stream: BinaryIO) -> None:
    """Close a raw stream after its bytes reached the disk."""
    with _writing(str(stream.name)), stream:
        os.fsync(stream.fileno())


def make_folder(path: str) -> None:
    """Create the folder `path`, exclusively; its name is on disk when this returns."""
    with _writing(path):
        os.mkdir(path, 0o700)
        sync_folder(os.path.dirname(path))


def make_parents(path: str) -> None:
    """Create the folder `path` and whatever is missing above it; one that exists is left as it is."""
    with _writing(path):
        try:
            os.makedirs(path, 0o700, exist_ok=True)
        except FileExistsError as error:
            raise NotADirectoryError(20, "it is not a folder") from error


def sync_folder(path: str) -> None:
    """Put the names in a folder on disk."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_file(path: str, *, limit_bytes: int) -> bytes:
    """The bytes of a regular file of at most `limit_bytes`; a link, FIFO or folder there is refused.

    Raises EvidenceError naming the file; code ``evidence.missing`` where there is nothing, else ``evidence``.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | _NOFOLLOW)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise EvidenceError(f"{shown(path)} is not a regular file.")
            data = file.read(limit_bytes + 1)
    except FileNotFoundError as error:
        raise EvidenceError(f"{shown(path)} is missing.", code="evidence.missing") from error
    except OSError as error:
        raise EvidenceError(f"{shown(path)} cannot be read: {error.strerror or error}.") from error
    if len(data) > limit_bytes:
        raise EvidenceError(f"{shown(path)} is larger than {limit_bytes} bytes.", code="evidence.too-large")
    return data


def read_given(path: str, *, limit_bytes: int, what: str) -> bytes:
    """The bytes of a file that a user named, through whatever links; `what` says in messages what it is.

    Raises EvaluationError, code ``evaluation.file``, where it cannot be read or is larger than `limit_bytes`.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(limit_bytes + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise EvaluationError(f"The {what} {shown(path)} cannot be read: {reason}.", code="evaluation.file") from error
    if len(data) > limit_bytes:
        raise EvaluationError(
            f"The {what} {shown(path)} is larger than {limit_bytes} bytes, the most that is read.",
            code="evaluation.file",
        )
    return data


def names_below(folder: str, *, leave_out: tuple[str, ...] = ()) -> dict[str, bool]:
    """Every path below `folder`, relative and with ``/``, bytewise sorted, to whether it is a regular file.

    Folders are walked, not listed; whatever else stands there (a link, a FIFO) is listed as False. `leave_out` are
    names directly in `folder`. Raises EvidenceError where a folder cannot be read.
    """
    found: dict[str, bool] = {}
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            with os.scandir(os.path.join(folder, prefix)) as entries:
                for entry in entries:
                    relative = prefix + entry.name
                    if relative in leave_out:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(relative + "/")
                    else:
                        found[relative] = entry.is_file(follow_symlinks=False)
        except OSError as error:
            raise EvidenceError(
                f"{shown(os.path.join(folder, prefix))} cannot be read: {error.strerror or error}."
            ) from error
    return dict(sorted(found.items(), key=lambda item: os.fsencode(item[0])))


def shown(path: str | bytes) -> str:
    """A path in a message: valid text whatever its bytes are."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _refuse_existing(path: str) -> None:
    if os.path.lexists(path):
        raise FileExistsError(17, "exists", path)


def _remove_quietly(path: str) -> None:
    with suppress(OSError):  # the error that brought us here says more
        os.unlink(path)
