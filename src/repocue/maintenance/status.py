"""How the repository stands to its current snapshot, without changing either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from repocue.domain.state import Warning
from repocue.errors import RepositoryMoved
from repocue.maintenance.changes import file_changes, repository_changes
from repocue.maintenance.members import basis_member, changes_member, repository_member, warnings_member
from repocue.maintenance.observing import with_observation
from repocue.maintenance.reading import load_current
from repocue.maintenance.transitions import location_warnings
from repocue.maintenance.verdict import Basis, is_same_state, judge

if TYPE_CHECKING:
    from repocue.domain.delta import Change, RepositoryChange
    from repocue.domain.state import Freshness, Observation, SnapshotHeader, Summary
    from repocue.git.worktree import Worktree
    from repocue.maintenance.changes import Sizes
    from repocue.maintenance.request import Request

MOVED = "repository-moved"
"""The warning of an answer that was given although the repository could not be observed."""


class StatusResult(NamedTuple):
    """How the repository stands to its current snapshot. `observation` is None where it could not be observed."""

    worktree: Worktree
    header: SnapshotHeader
    summary: Summary
    freshness: Freshness
    observation: Observation | None
    changes: tuple[Change, ...] | None
    repository_changes: tuple[RepositoryChange, ...] | None
    warnings: tuple[Warning, ...]

    @property
    def is_fresh(self) -> bool:
        """Whether the snapshot is known to be what the repository is now."""
        return self.freshness in ("current", "dirty-but-indexed")

    def document(self) -> dict[str, Any]:
        """The `repocue/status-1` document."""
        now = self.observation
        return {
            "schema_version": "repocue/status-1",
            "repository": repository_member(self.worktree, self.header),
            "epoch": self.header.epoch,
            "snapshot": self.header.snapshot,
            "basis": basis_member(self.header),
            "files": {
                "tracked": self.summary.tracked_files,
                "present": self.summary.present_files,
                "bytes": self.summary.size_bytes,
            },
            "freshness": self.freshness,
            "observed": None
            if now is None
            else {
                "branch": now.branch,
                "head": now.head,
                "dirty": now.is_dirty,
                "staged": len(now.staged),
                "unstaged": len(now.unstaged),
                "untracked": len(now.untracked),
                "unmerged": len(now.unmerged),
                "status_digest": now.status_digest,
                "repository_digest": now.repository_digest,
                "observed_at": now.observed_at,
            },
            "changes": changes_member(self.changes, self.repository_changes),
            "warnings": warnings_member(self.warnings),
        }


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
