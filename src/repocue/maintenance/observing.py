"""Observing the work tree for maintenance: one basis, and the sizes that belong to it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

from repocue.errors import RepositoryMoved
from repocue.git.scan import observe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from repocue.domain.state import Known, Observation
    from repocue.git.worktree import Worktree
    from repocue.maintenance.changes import Sizes
    from repocue.maintenance.request import Request

T = TypeVar("T")

ATTEMPTS = 3


class _IndexMoved(Exception):
    """The index was rewritten between the scan and the question for its sizes."""


def with_observation(
    request: Request, known: Known | None, use: Callable[[Observation, Sizes], T], *, all_sizes: bool = False
) -> T:
    """What `use` makes of an observation and of the sizes of its clean entries.

    `all_sizes` says that the sizes of every path will be wanted; then they are taken while git is at work. They belong
    to the index that was observed: where it moved meanwhile, everything is done again.

    Raises RepositoryMoved, and whatever `observe` and `use` raise.
    """
    for _ in range(ATTEMPTS):
        stamp = _index_stamp(request.worktree)
        ahead = _Ahead(request) if all_sizes else None
        observation = observe(request.worktree, request.environ, known=known, progress=request.progress)

        def sizes(
            paths: Iterable[str] | None = None, stamp: object = stamp, ahead: _Ahead | None = ahead
        ) -> Mapping[str, int]:
            found = ahead.result() if ahead is not None else _sizes(request, paths)
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


class _Ahead:
    """The sizes of all paths, taken by a thread: it looks at files while the scan waits for git."""

    def __init__(self, request: Request) -> None:
        import threading

        self._found: Mapping[str, int] | None = None
        self._error: BaseException | None = None
        self._request = request
        self._thread = threading.Thread(target=self._run, name="repocue-sizes", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found = _sizes(self._request, None)
        except BaseException as error:  # noqa: BLE001 - handed to the thread that asks for the result
            self._error = error

    def result(self) -> Mapping[str, int]:
        """The sizes by path; raises what taking them raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._found is not None
        return self._found


def _sizes(request: Request, paths: Iterable[str] | None) -> Mapping[str, int]:
    from repocue.git.sizes import sizes

    return sizes(request.worktree, request.environ, paths=paths)


def _index_stamp(worktree: Worktree) -> tuple[int, ...] | None:
    try:
        found = os.stat(worktree.index_path)
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
