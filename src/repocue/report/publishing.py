"""Writing a report where readers may open it at any moment: they see the old one or the new one, whole."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress

from repocue.errors import RepoCueError


def write(path: str, data: bytes) -> None:
    """Put exactly `data` in the place of `path`, through a temporary sibling, its sync and one rename.

    A link is followed, so that what it names is replaced and the link stays. A new file has the mode that the umask
    leaves; one that is replaced keeps its own. Raises RepoCueError, code ``report.output``; then the old file is there.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:200]}.{secrets.token_hex(6)}.tmp")
    try:
        if os.path.lexists(target) and not os.path.isfile(target):
            raise OSError("it is no regular file")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            with open(descriptor, "wb") as file:
                if os.path.exists(target):
                    os.fchmod(file.fileno(), os.stat(target).st_mode & 0o777)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):  # the error that brought us here says more
                os.unlink(temporary)
            raise
        _sync(folder)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        shown = os.fsencode(path).decode("utf-8", "backslashreplace") or "'' (an empty name)"
        raise RepoCueError(f"the report could not be written to {shown}: {reason}", code="report.output") from error


def _sync(folder: str) -> None:
    """Make the new name durable, where the folder may be read."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
