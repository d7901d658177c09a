"""Programs that a user named for an evaluation to start."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from repocue.errors import EvaluationError
from repocue.evaluation.shared.files import shown


def find(name: str, environ: Mapping[str, str], what: str) -> str:
    """The absolute path of a program: a path as typed, or a name on `environ`'s PATH; `what` says what it is for.

    Raises EvaluationError, code ``evaluation.executable``.
    """
    if os.sep in name:
        path: str | None = os.path.abspath(name)
    else:
        found = shutil.which(name, path=environ.get("PATH", os.defpath))
        path = None if found is None else os.path.abspath(found)
    if path is None or not os.path.isfile(path) or not os.access(path, os.X_OK):
        where = "is not on PATH" if path is None else "is no executable file"
        raise EvaluationError(
            f"The {what} {shown(name)} {where}.",
            code="evaluation.executable",
            hint=f"Name an executable file, or a program on PATH; a {what} takes no arguments.",
        )
    return path
