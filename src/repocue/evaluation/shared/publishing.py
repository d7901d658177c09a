"""Sets of files that appear as one folder, by one rename (ARCHITECTURE §8)."""

from __future__ import annotations

import os
import secrets
import shutil
from types import TracebackType
from typing import Final, Self

from repocue.errors import EvaluationError
from repocue.evaluation.shared import files

PARTIAL: Final = ".partial"
"""How the names of unpublished folders end; a crash can leave one, which counts for nothing."""


class Staging:
    """A folder that is filled beside the place where it will appear.

    ::

        with Staging(parent, "cache-eval-x-0123456789ab") as staging:
            staging.write("benchmark.json", data)
            path = staging.publish()

    Left without `publish`, nothing remains. `parent` must exist.
    """

    def __init__(self, parent: str, name: str) -> None:
        self.target = os.path.join(parent, name)
        self.folder = os.path.join(parent, f".{name}.{secrets.token_hex(6)}{PARTIAL}")

    def __enter__(self) -> Self:
        files.make_folder(self.folder)
        return self

    def write(self, path: str, data: bytes) -> None:
        """Keep `data` under the relative `path`, whose folder exists."""
        files.write_new(os.path.join(self.folder, path), data)

    def make_folder(self, path: str) -> None:
        """Create a folder under the relative `path`."""
        files.make_folder(os.path.join(self.folder, path))

    def publish(self) -> str:
        """Let the folder appear under its own name and return its path.

        Raises EvaluationError, code ``evaluation.exists``, where something of that name exists: it is left alone.
        """
        if os.path.lexists(self.target):
            raise EvaluationError(
                f"{files.shown(self.target)} exists already; evidence is never overwritten.", code="evaluation.exists"
            )
        try:
            os.rename(self.folder, self.target)
            files.sync_folder(os.path.dirname(self.target))
        except OSError as error:
            raise EvaluationError(
                f"{files.shown(self.target)} cannot be published: {error.strerror or error}.",
                code="evaluation.write-failed",
            ) from error
        return self.target

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if os.path.lexists(self.folder):
            shutil.rmtree(self.folder, ignore_errors=True)
