"""Reading the record of what was run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from repocue.domain.ids import epoch_id, snapshot_id
from repocue.store import codec

if TYPE_CHECKING:
    from repocue.domain.state import Freshness
    from repocue.store.database import Database
    from repocue.store.runs import Outcome, RunKind, Trigger


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
            started_at_ms=codec.moment(row[6], database.path),
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
            started_at_ms=codec.moment(row[5], database.path),
            duration_ms=row[6],
            clock_method=row[7],
            max_tokens=row[8],
            bytes=row[9],
            estimated_tokens=row[10],
        )
        for row in answer
    ]
