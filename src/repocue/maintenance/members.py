"""The members that the maintenance documents share, each in its fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from repocue.domain.delta import FILE_KINDS, count_kinds
from repocue.domain.ids import epoch_id, snapshot_id
from repocue.domain.paths import display
from repocue.domain.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Sequence

    from repocue.domain.delta import Change, RepositoryChange
    from repocue.domain.state import SnapshotHeader, Warning
    from repocue.git.worktree import Worktree
    from repocue.store.runs import NewRun, Outcome, RunKind


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
