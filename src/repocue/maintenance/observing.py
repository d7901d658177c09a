"""Observing the work tree for maintenance: one basis, and the sizes that belong to it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

from repocue.errors import RepositoryMoved
from repocue.git.scan import observe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from repocue.domain.state import Known, Observation
    from repocue.git.worktree import Worktree
    from repocue.maintenance.changes import Sizes
    from repocue.maintenance.request import Request

T = TypeVar("T")

ATTEMPTS = 3


class _IndexMoved(Exception):
    """The index was rewritten between the scan and the question for its sizes."""


def with_observation(request: Request, known: Known | None, use: Callable[[Observation, Sizes], T]) -> T:
    """What `use` makes of an observation, and of sizes of its clean entries, for which it may ask.

    The sizes belong to the index that was observed: where it moved meanwhile, everything is done again. Raises
    RepositoryMoved, and whatever `observe` and `use` raise.
    """

    def attempt(stamp: _Stamp) -> T:
        now = observe(request.worktree, request.environ, known=known, progress=request.progress)

        def sizes(paths: Iterable[str]) -> Mapping[str, int]:
            found = _sizes(request, paths)
            _unmoved(request, stamp)
            return found

        return use(now, sizes)

    return _attempts(request, attempt)


def with_full_observation(request: Request, use: Callable[[Observation, Sequence[int | None]], T]) -> T:
    """What `use` makes of an observation that trusts no earlier one, and of the sizes of all its entries, in order.

    Those are taken while git is at work. Else as `with_observation`.
    """
    from repocue.maintenance.sizing import SizingGit

    def attempt(stamp: _Stamp) -> T:
        git = SizingGit.of(request.worktree, request.environ)
        assert isinstance(git, SizingGit)
        now = observe(request.worktree, request.environ, progress=request.progress, git=git)
        sizes = git.sizes(now.entries())
        if sizes is None:
            paths = [entry.path for entry in now.entries()]
            sizes = list(map(_sizes(request, paths).get, paths))
        _unmoved(request, stamp)
        return use(now, sizes)

    return _attempts(request, attempt)


_Stamp = tuple[int, ...] | None


def _attempts(request: Request, attempt: Callable[[_Stamp], T]) -> T:
    for _ in range(ATTEMPTS):
        try:
            return attempt(_index_stamp(request.worktree))
        except _IndexMoved:
            continue
    raise RepositoryMoved(
        f"{request.worktree.name}: the index kept changing while it was observed ({ATTEMPTS} attempts)",
        hint="Try again when no other git command is running there.",
    )


def _unmoved(request: Request, stamp: _Stamp) -> None:
    if _index_stamp(request.worktree) != stamp:
        raise _IndexMoved


def _sizes(request: Request, paths: Iterable[str]) -> Mapping[str, int]:
    from repocue.git.sizes import sizes

    return sizes(request.worktree, request.environ, paths=paths)


def _index_stamp(worktree: Worktree) -> _Stamp:
    try:
        found = os.stat(worktree.index_path)
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
