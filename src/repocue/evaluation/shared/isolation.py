"""Everything an evaluation writes lies outside the evaluated checkout.

Rules: ARCHITECTURE §8; seed, "Preparation and Isolation". Real paths are compared: symbolic links are resolved, also
dangling ones and those in front of parents that do not exist yet. Every existing ancestor is compared by device and
inode as well, so that a bind mount or a file system that ignores case cannot lead back inside.
"""

from __future__ import annotations

import os
import stat
from typing import Protocol

from repocue.errors import EvaluationError
from repocue.evaluation.shared.files import shown


class Checkout(Protocol):
    """The three folders of one evaluated checkout, as real paths (`git.worktree.Worktree` is one)."""

    @property
    def root(self) -> bytes: ...
    @property
    def git_dir(self) -> bytes: ...
    @property
    def common_dir(self) -> bytes: ...


def outside(checkout: Checkout, path: str | bytes, *, what: str = "output directory") -> str:
    """The real path of `path`, which need not exist, when it lies outside work tree, git folder and common folder.

    Raises EvaluationError, code ``evaluation.inside-checkout`` where it does not (being one of the three counts as
    inside) and ``evaluation.path`` where no real path can be told (a loop of links, a NUL character).
    """
    real = _real(path, what)
    folders = (
        ("work tree", checkout.root),
        ("git folder", checkout.git_dir),
        ("common git folder", checkout.common_dir),
    )
    ancestors = list(_ancestors(real))
    identities = {identity for ancestor in ancestors if (identity := _identity(ancestor)) is not None}
    for name, folder in folders:
        protected = os.path.realpath(folder)
        if protected in ancestors or _identity(protected) in identities:
            raise EvaluationError(
                f"The {what} {shown(real)} lies inside the {name} {shown(protected)} of the evaluated repository.",
                code="evaluation.inside-checkout",
                hint="Choose a folder outside the checkout: what is written must not change what is measured.",
            )
    return os.fsdecode(real)


def _real(path: str | bytes, what: str) -> bytes:
    try:
        real = os.path.realpath(os.fsencode(path))
        for ancestor in _ancestors(real):
            if stat.S_ISLNK(os.lstat(ancestor).st_mode):  # realpath leaves a link only where it is part of a loop
                raise EvaluationError(
                    f"The {what} {shown(path)} runs into a loop of symbolic links.", code="evaluation.path"
                )
    except FileNotFoundError:
        pass  # the rest of the path does not exist yet; what exists was looked at
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise EvaluationError(f"The {what} {shown(path)} cannot be used: {why}.", code="evaluation.path") from error
    return real


def _ancestors(real: bytes) -> list[bytes]:
    """The path itself and everything above it, from the root down."""
    found = [real]
    while (parent := os.path.dirname(real)) != real:
        found.append(parent)
        real = parent
    return found[::-1]


def _identity(path: bytes) -> tuple[int, int] | None:
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino
