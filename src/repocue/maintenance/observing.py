"""Observing the work tree for maintenance: one basis, and the sizes that belong to it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

from repocue.errors import RepositoryMoved
from repocue.git.scan import observe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from repocue.domain.state import Known, Observation
    from repocue.git.worktree import Worktree
    from repocue.maintenance.changes import Sizes
    from repocue.maintenance.request import Request

T = TypeVar("T")

ATTEMPTS = 3


class _IndexMoved(Exception):
    """The index was rewritten between the scan and the question for its sizes."""


def with_observation(request: Request, known: Known | None, use: Callable[[Observation, Sizes], T]) -> T:
    """What `use` makes of an observation and of the sizes of its clean entries.

    The sizes are asked for only when `use` wants them, and come from the index that was observed; where it moved
    meanwhile, everything is done again. Raises RepositoryMoved, and whatever `observe` and `use` raise.
    """
    for _ in range(ATTEMPTS):
        stamp = _index_stamp(request.worktree)
        observation = observe(request.worktree, request.environ, known=known, progress=request.progress)

        def sizes(stamp: object = stamp) -> Mapping[str, int]:
            from repocue.git.sizes import sizes as sizes_of

            found = sizes_of(request.worktree, request.environ)
            if _index_stamp(request.worktree) != stamp:
                raise _IndexMoved
            return found

        try:
            return use(observation, sizes)
        except _IndexMoved:
            continue
    raise RepositoryMoved(
        f"{request.worktree.name}: the index kept changing while it was observed ({ATTEMPTS} attempts)",
        hint="Try again when no other git command is running there.",
    )


def _index_stamp(worktree: Worktree) -> tuple[int, ...] | None:
    try:
        found = os.stat(worktree.index_path)
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
