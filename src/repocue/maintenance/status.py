"""How the repository stands to its current snapshot, without changing either."""

from __future__ import annotations

from typing import TYPE_CHECKING

from repocue.domain.state import Warning
from repocue.errors import RepositoryMoved
from repocue.maintenance.changes import file_changes, repository_changes
from repocue.maintenance.observing import with_observation
from repocue.maintenance.reading import load_current
from repocue.maintenance.results import StatusResult
from repocue.maintenance.transitions import location_warnings
from repocue.maintenance.verdict import Basis, is_same_state, judge

if TYPE_CHECKING:
    from repocue.domain.delta import Change
    from repocue.domain.state import Observation
    from repocue.maintenance.changes import Sizes
    from repocue.maintenance.request import Request

MOVED = "repository-moved"
"""The warning of an answer that was given although the repository could not be observed."""


def status(request: Request) -> StatusResult:
    """Compare the repository with its current snapshot.

    A repository that keeps changing is no failure: its freshness is unknown. Raises CacheError or RepositoryError.
    """
    with load_current(request) as reading:
        current = reading.current
        summary = reading.summary

        def use(now: Observation, sizes: Sizes) -> tuple[Observation, tuple[Change, ...]]:
            if is_same_state(current, now):
                return now, ()
            return now, tuple(file_changes(reading.database, current, now, sizes))

        now: Observation | None = None
        changes: tuple[Change, ...] | None = None
        warnings: tuple[Warning, ...]
        try:
            now, changes = with_observation(request, current.known, use)
            warnings = now.warnings
        except RepositoryMoved:
            warnings = (Warning(MOVED),)
        reading.check_settled()
    return StatusResult(
        worktree=request.worktree,
        header=current.header,
        summary=summary,
        freshness=judge(current, now),
        observation=now,
        changes=changes,
        repository_changes=None if now is None else repository_changes(current.snapshot, now),
        warnings=(*warnings, *location_warnings(request)),
    )


def observe_or_warn(request: Request, basis: Basis) -> tuple[Observation | None, tuple[Warning, ...]]:
    """An observation for a verdict on `basis`, with its warnings; None and one warning where the repository moved."""
    try:
        now = with_observation(request, basis.known, lambda found, _sizes: found)
    except RepositoryMoved:
        return None, (Warning(MOVED),)
    return now, now.warnings
