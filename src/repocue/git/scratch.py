"""A short-lived private folder for git's temporary index, never inside the observed repository."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

from repocue.domain.paths import display
from repocue.errors import RepositoryError

if TYPE_CHECKING:
    from repocue.git.worktree import Worktree

_FALLBACKS = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - each use makes a private folder with an unguessable name


class Scratch:
    """A private folder that exists inside the `with` statement; `path` is its name.

    Raises RepositoryError where no place outside the repository can be written.
    """

    __slots__ = ("path",)

    def __init__(self, worktree: Worktree, environ: Mapping[str, str]) -> None:
        inside = (worktree.root, worktree.git_dir, worktree.common_dir)
        reason = "all of them lie inside it"
        for place in (environ.get("TMPDIR") or _FALLBACKS[0], *_FALLBACKS):
            parent = os.path.realpath(os.fsencode(place))
            if any(parent == outer or parent.startswith(outer.rstrip(b"/") + b"/") for outer in inside):
                continue
            self.path = os.path.join(parent, b"repocue-" + os.urandom(8).hex().encode())
            try:
                os.mkdir(self.path, 0o700)
            except OSError as error:
                reason = f"{display(parent)}: {error.strerror}"
            else:
                return
        raise RepositoryError(
            f"no temporary folder can be made outside the repository ({reason})",
            code="repository.no-scratch",
            hint="Set TMPDIR to a writable folder outside the repository.",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for name in os.listdir(self.path):
            os.unlink(os.path.join(self.path, name))
        os.rmdir(self.path)

    def join(self, name: str) -> bytes:
        """The path of `name` in the folder."""
        return os.path.join(self.path, name.encode())
