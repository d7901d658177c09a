"""What the operations return, and the JSON documents that say it: `repocue/operation-1` and `repocue/status-1`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from repocue.domain.delta import FILE_KINDS, count_kinds
from repocue.domain.ids import epoch_id, snapshot_id
from repocue.domain.paths import display
from repocue.domain.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Sequence

    from repocue.domain.delta import Change, RepositoryChange
    from repocue.domain.state import Freshness, Observation, SnapshotHeader, Summary, Warning
    from repocue.git.worktree import Worktree
    from repocue.store.runs import NewRun, Outcome, RunKind

OperationOutcome = Literal["initialized", "already-initialized", "published", "unchanged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationResult:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusResult:
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


def repository_member(worktree: Worktree, header: SnapshotHeader) -> dict[str, Any]:
    """`repository`: which one it is, and its branch, HEAD and dirty state in the snapshot."""
    return {
        "id": worktree.id,
        "name": worktree.name,
        "root": display(worktree.root),
        "branch": header.branch,
        "head": header.head,
        "dirty": header.is_dirty,
    }


def basis_member(header: SnapshotHeader) -> dict[str, Any]:
    """`basis`: the snapshot's digests and when it was observed."""
    return {
        "status_digest": header.status_digest,
        "repository_digest": header.repository_digest,
        "observed_at": header.observed_at,
    }


def changes_member(
    changes: Sequence[Change] | None, repository_changes: Sequence[RepositoryChange] | None
) -> dict[str, Any] | None:
    """`changes`: how many files changed in which way, and what changed of the repository; None where unknown."""
    if changes is None or repository_changes is None:
        return None
    counts = count_kinds(changes)
    return {
        "files": {kind.removeprefix("file."): counts[kind] for kind in FILE_KINDS},
        "repository": [change.kind for change in repository_changes],
    }


def run_member(run: NewRun) -> dict[str, Any]:
    """`run`: what the operation took. Figures that were not observed are null."""
    cost = run.cost
    return run_values(
        kind=run.kind,
        trigger=run.trigger,
        epoch=epoch_id(run.epoch),
        snapshot_before=None if run.snapshot_before is None else snapshot_id(run.snapshot_before),
        snapshot_after=None if run.snapshot_after is None else snapshot_id(run.snapshot_after),
        started_at_ms=run.started_at_ms,
        duration_ms=run.duration_ms,
        clock_method=run.clock_method,
        scan_duration_ms=None if cost is None else cost.duration_ms,
        git_processes=None if cost is None else cost.git_processes,
        files_scanned=None if cost is None else cost.files_scanned,
        bytes_read=None if cost is None else cost.bytes_read,
        changed_files=run.changed_files,
        outcome=run.outcome,
        error_code=run.error_code,
    )


def run_values(
    *,
    kind: RunKind,
    trigger: str,
    epoch: str,
    snapshot_before: str | None,
    snapshot_after: str | None,
    started_at_ms: int,
    duration_ms: float | None,
    clock_method: str,
    scan_duration_ms: float | None,
    git_processes: int | None,
    files_scanned: int | None,
    bytes_read: int | None,
    changed_files: int | None,
    outcome: Outcome,
    error_code: str | None,
) -> dict[str, Any]:
    """One run as it stands in documents, in its fixed member order."""
    return {
        "kind": kind,
        "trigger": trigger,
        "epoch": epoch,
        "snapshot_before": snapshot_before,
        "snapshot_after": snapshot_after,
        "started_at": rfc3339(started_at_ms),
        "duration_ms": duration_ms,
        "clock_method": clock_method,
        "scan_duration_ms": scan_duration_ms,
        "git_processes": git_processes,
        "files_scanned": files_scanned,
        "bytes_read": bytes_read,
        "changed_files": changed_files,
        "outcome": outcome,
        "error_code": error_code,
    }


def warnings_member(warnings: Sequence[Warning]) -> list[dict[str, Any]]:
    """`warnings`: code, and count where there is one."""
    return [
        {"code": warning.code} if warning.count is None else {"code": warning.code, "count": warning.count}
        for warning in warnings
    ]
