"""What `init`, `refresh` and `rebaseline` return, and the `repocue/operation-1` document that says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from repocue.maintenance.members import (
    basis_member,
    changes_member,
    repository_member,
    run_member,
    warnings_member,
)

if TYPE_CHECKING:
    from repocue.domain.delta import Change, RepositoryChange
    from repocue.domain.state import Freshness, SnapshotHeader, Warning
    from repocue.git.worktree import Worktree
    from repocue.store.runs import NewRun, RunKind

OperationOutcome = Literal["initialized", "already-initialized", "published", "unchanged"]


class OperationResult(NamedTuple):
    """What `init`, `refresh` or `rebaseline` did.

    `header` is the snapshot that is current now, `previous_snapshot` the id of the one before where it was replaced.
    The changes are those between the two, None for a first baseline. `run` is None where nothing was recorded.
    """

    kind: RunKind
    outcome: OperationOutcome
    worktree: Worktree
    header: SnapshotHeader
    previous_snapshot: str | None
    freshness: Freshness
    changes: tuple[Change, ...] | None
    repository_changes: tuple[RepositoryChange, ...] | None
    run: NewRun | None
    warnings: tuple[Warning, ...]

    @property
    def is_published(self) -> bool:
        """Whether a snapshot was made."""
        return self.outcome in ("initialized", "published")

    def document(self) -> dict[str, Any]:
        """The `repocue/operation-1` document."""
        return {
            "schema_version": "repocue/operation-1",
            "kind": self.kind,
            "outcome": self.outcome,
            "repository": repository_member(self.worktree, self.header),
            "epoch": self.header.epoch,
            "snapshot": self.header.snapshot,
            "previous_snapshot": self.previous_snapshot,
            "basis": basis_member(self.header),
            "freshness": self.freshness,
            "changes": changes_member(self.changes, self.repository_changes),
            "run": None if self.run is None else run_member(self.run),
            "warnings": warnings_member(self.warnings),
        }
