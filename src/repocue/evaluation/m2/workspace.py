"""The temporary folder of one run: cache, contexts and what a runner is handed. Removed at its end.

It is held locked while in use. A harness that was killed leaves one unlocked, which the next run can name.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Final, Self

from repocue.errors import EvaluationError
from repocue.evaluation.shared import files
from repocue.evaluation.shared.publishing import PARTIAL

PREFIX: Final = "repocue-evaluate-m2-"
_LOCK: Final = "lock"
_YOUNG_S: Final = 60.0
_PARTIAL: Final = re.compile(
    r"\..+_run-\d{2,}_maintenance-[0-9a-f]{24}\.[0-9a-f]{12}" + re.escape(PARTIAL), re.ASCII | re.DOTALL
)


class Workspace:
    """A private folder below `root` that goes when the `with` statement ends, however it ends."""

    def __init__(self, root: str, repository_id: str) -> None:
        self._root = root
        self.folder = os.path.join(root, f"{PREFIX}{repository_id}-{secrets.token_hex(6)}")
        self._lock = -1

    def __enter__(self) -> Self:
        try:
            files.make_folder(self.folder)
            lock = os.open(self.path(_LOCK), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._lock = lock
        except (OSError, EvaluationError) as error:
            reason = error.strerror if isinstance(error, OSError) else error.message
            raise EvaluationError(
                f"No temporary folder can be made in {files.shown(self._root)}: {reason}",
                code="evaluation.temporary-root",
                hint="Name another one with --temporary-root.",
            ) from error
        return self

    def path(self, *names: str) -> str:
        """A path in the workspace."""
        return os.path.join(self.folder, *names)

    @contextmanager
    def handing(self, name: str, contents: Mapping[str, bytes]) -> Iterator[dict[str, str]]:
        """A folder with these files for one runner to read, by name their paths; it goes with the `with` statement.

        So no runner finds what another one was handed. Raises EvaluationError where it cannot be made: an earlier
        runner may have left anything here.
        """
        folder = self.path(name)
        paths = {file: os.path.join(folder, file) for file in contents}
        try:
            os.mkdir(folder, 0o700)
            for file, data in contents.items():
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                with open(os.open(paths[file], flags, 0o600), "wb") as stream:
                    stream.write(data)
        except OSError as error:
            raise EvaluationError(
                f"The temporary folder {files.shown(self.folder)} cannot be used any more:"
                f" {error.strerror}; nothing was published.",
                code="evaluation.temporary-root",
                hint="A runner may only read what it is handed.",
            ) from error
        try:
            yield paths
        finally:
            self.remove(name)

    def remove(self, name: str) -> None:
        """Remove a folder of the workspace before its end."""
        shutil.rmtree(self.path(name), ignore_errors=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove everything; may be called again."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def leftovers(temporary_root: str, output: str) -> list[str]:
    """What interrupted runs left: workspaces that nobody holds, and unpublished sets. Nothing of it is evidence."""
    found = [
        path
        for name in _names(temporary_root)
        if name.startswith(PREFIX) and _is_abandoned(path := os.path.join(temporary_root, name))
    ]
    partial = [os.path.join(output, name) for name in _names(output) if _PARTIAL.fullmatch(name)]
    return sorted(found + [path for path in partial if os.path.isdir(path) and not os.path.islink(path)])


def _is_abandoned(folder: str) -> bool:
    try:
        info = os.lstat(folder)
        if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
            return False
        lock = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        # Killed before it could lock, or while it removed everything; a young one may be another run's, just begun.
        return time.time() - info.st_mtime > _YOUNG_S
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
