"""Recording what was run: maintenance runs and cue runs, with their durations as they were measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from repocue.domain.state import Freshness, ScanCost
    from repocue.store.database import Database

RunKind = Literal["init", "refresh", "rebaseline"]
Trigger = Literal["command", "cue", "evaluation", "hook", "watch"]
Outcome = Literal["published", "unchanged", "failed"]


class NewRun(NamedTuple):
    """A maintenance run about to be recorded.

    `duration_ms` runs from the start of the process (measured by `clock_method`) to just before the record is
    committed; None where the platform has no such clock. `cost` is None, and `changed_files` too, where the run failed
    before they were known. Numbers of snapshots are None where there was none.
    """

    kind: RunKind
    trigger: Trigger
    epoch: int
    snapshot_before: int | None
    snapshot_after: int | None
    started_at_ms: int
    duration_ms: float | None
    clock_method: str
    cost: ScanCost | None
    changed_files: int | None
    outcome: Outcome
    error_code: str | None = None


def add_run(database: Database, run: NewRun) -> None:
    """Record a run inside the caller's transaction."""
    cost = run.cost
    database.run(
        "INSERT INTO runs (kind, started_by, epoch, snapshot_before, snapshot_after, started_at_ms, duration_ms,"
        " clock_method, scan_duration_ms, git_processes, files_scanned, bytes_read, changed_files, outcome, error_code)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            run.kind,
            run.trigger,
            run.epoch,
            run.snapshot_before,
            run.snapshot_after,
            run.started_at_ms,
            run.duration_ms,
            run.clock_method,
            None if cost is None else cost.duration_ms,
            None if cost is None else cost.git_processes,
            None if cost is None else cost.files_scanned,
            None if cost is None else cost.bytes_read,
            run.changed_files,
            run.outcome,
            run.error_code,
        ),
    )


def add_cue_run(
    database: Database,
    *,
    view: str,
    epoch: int,
    snapshot: int,
    freshness: Freshness,
    started_at_ms: int,
    duration_ms: float | None,
    clock_method: str,
    max_tokens: int | None,
    size_bytes: int,
    estimated_tokens: int,
) -> None:
    """Record a cue inside the caller's transaction."""
    database.run(
        "INSERT INTO cue_runs (view, epoch, snapshot, freshness, started_at_ms, duration_ms, clock_method, max_tokens,"
        " bytes, estimated_tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            view,
            epoch,
            snapshot,
            freshness,
            started_at_ms,
            duration_ms,
            clock_method,
            max_tokens,
            size_bytes,
            estimated_tokens,
        ),
    )
