"""The record of what was run: maintenance runs and cue runs, with their durations as they were measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from repocue.domain.ids import epoch_id, snapshot_id

if TYPE_CHECKING:
    from repocue.domain.state import Freshness, ScanCost
    from repocue.store.database import Database

RunKind = Literal["init", "refresh", "rebaseline"]
Trigger = Literal["command", "cue", "evaluation", "hook", "watch"]
Outcome = Literal["published", "unchanged", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A recorded maintenance run, oldest has number 1. Figures that were not observed are None."""

    number: int
    kind: RunKind
    trigger: Trigger
    epoch: str
    snapshot_before: str | None
    snapshot_after: str | None
    started_at_ms: int
    duration_ms: float | None
    clock_method: str
    scan_duration_ms: float | None
    git_processes: int | None
    files_scanned: int | None
    bytes_read: int | None
    changed_files: int | None
    outcome: Outcome
    error_code: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CueRun:
    """A recorded cue. `duration_ms` leaves out a refresh in the same process: that is a run of its own."""

    number: int
    view: str
    epoch: str
    snapshot: str
    freshness: Freshness
    started_at_ms: int
    duration_ms: float | None
    clock_method: str
    max_tokens: int | None
    bytes: int
    estimated_tokens: int


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


def runs(database: Database) -> list[Run]:
    """Every maintenance run, in the order in which they were recorded."""
    answer = database.all(
        "SELECT number, kind, started_by, epoch, snapshot_before, snapshot_after, started_at_ms, duration_ms,"
        " clock_method, scan_duration_ms, git_processes, files_scanned, bytes_read, changed_files, outcome, error_code"
        " FROM runs ORDER BY number"
    )
    return [
        Run(
            number=row[0],
            kind=row[1],
            trigger=row[2],
            epoch=epoch_id(row[3]),
            snapshot_before=None if row[4] is None else snapshot_id(row[4]),
            snapshot_after=None if row[5] is None else snapshot_id(row[5]),
            started_at_ms=row[6],
            duration_ms=row[7],
            clock_method=row[8],
            scan_duration_ms=row[9],
            git_processes=row[10],
            files_scanned=row[11],
            bytes_read=row[12],
            changed_files=row[13],
            outcome=row[14],
            error_code=row[15],
        )
        for row in answer
    ]


def cue_runs(database: Database) -> list[CueRun]:
    """Every cue run, in the order in which they were recorded."""
    answer = database.all(
        "SELECT number, view, epoch, snapshot, freshness, started_at_ms, duration_ms, clock_method, max_tokens, bytes,"
        " estimated_tokens FROM cue_runs ORDER BY number"
    )
    return [
        CueRun(
            number=row[0],
            view=row[1],
            epoch=epoch_id(row[2]),
            snapshot=snapshot_id(row[3]),
            freshness=row[4],
            started_at_ms=row[5],
            duration_ms=row[6],
            clock_method=row[7],
            max_tokens=row[8],
            bytes=row[9],
            estimated_tokens=row[10],
        )
        for row in answer
    ]
