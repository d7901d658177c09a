"""Recording what was run, in every case in which the cache can be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from repocue.domain.ids import snapshot_number
from repocue.domain.state import Warning
from repocue.errors import CacheDamaged, CacheError, CacheNotInitialized, CacheTooNew, RepoCueError
from repocue.store.database import open_state
from repocue.store.runs import NewRun, add_cue_run, add_run

if TYPE_CHECKING:
    from repocue.domain.state import Freshness, ScanCost
    from repocue.maintenance.request import Request
    from repocue.store.runs import Outcome, RunKind, Trigger

NOT_RECORDED = "cue-run-not-recorded"
_BRIEF_WAIT_S = 2.0


def new_run(
    request: Request,
    *,
    kind: RunKind,
    trigger: Trigger,
    epoch: int,
    snapshot_before: int | None,
    snapshot_after: int | None,
    outcome: Outcome,
    cost: ScanCost | None = None,
    changed_files: int | None = None,
    error_code: str | None = None,
) -> NewRun:
    """The record of this process's run up to now; make it last, because its duration ends here."""
    duration = request.elapsed_ms()
    now = request.now_ms()
    return NewRun(
        kind=kind,
        trigger=trigger,
        epoch=epoch,
        snapshot_before=snapshot_before,
        snapshot_after=snapshot_after,
        started_at_ms=now - round(duration or 0),
        duration_ms=duration,
        clock_method=request.clock_method,
        cost=None if cost is None else cost._replace(git_processes=cost.git_processes + request.finding_processes),
        changed_files=changed_files,
        outcome=outcome,
        error_code=error_code,
    )


def record_failed_run(request: Request, kind: RunKind, trigger: Trigger, error: BaseException) -> None:
    """Record that a run failed; silent where the cache itself is what failed."""
    if isinstance(error, (CacheNotInitialized, CacheDamaged, CacheTooNew)):
        return
    code = error.code if isinstance(error, RepoCueError) else _foreign(error)
    try:
        with (
            open_state(request.state_path, mode="write", wait_s=_BRIEF_WAIT_S) as database,
            database.writing(durable=False),
        ):
            row = database.one("SELECT s.number, s.epoch FROM current c JOIN snapshots s ON s.number = c.snapshot")
            if row is None:
                return
            run = new_run(
                request,
                kind=kind,
                trigger=trigger,
                epoch=row[1],
                snapshot_before=row[0],
                snapshot_after=row[0],
                outcome="failed",
                error_code=code,
            )
            add_run(database, run)
    except CacheError:
        return


def record_cue_run(
    request: Request,
    *,
    view: str,
    snapshot: str,
    freshness: Freshness,
    size_bytes: int,
    estimated_tokens: int,
    max_tokens: int | None,
    duration_ms: float | None,
    started_at_ms: int,
) -> Warning | None:
    """Record a cue of `snapshot` (an id); returns a warning instead of failing where that cannot be written.

    `duration_ms` and `started_at_ms` leave out a refresh in the same process, which is a run of its own. The
    duration ends before this record is committed.
    """
    number = snapshot_number(snapshot)
    try:
        with (
            open_state(request.state_path, mode="write", wait_s=_BRIEF_WAIT_S) as database,
            database.writing(durable=False),
        ):
            row = database.one("SELECT epoch FROM snapshots WHERE number = ?", (number,))
            if row is None or number is None:
                return Warning(NOT_RECORDED)
            add_cue_run(
                database,
                view=view,
                epoch=row[0],
                snapshot=number,
                freshness=freshness,
                started_at_ms=started_at_ms,
                duration_ms=duration_ms,
                clock_method=request.clock_method,
                max_tokens=max_tokens,
                size_bytes=size_bytes,
                estimated_tokens=estimated_tokens,
            )
    except CacheError:
        return Warning(NOT_RECORDED)
    return None


def _foreign(error: BaseException) -> str:
    return "interrupted" if isinstance(error, KeyboardInterrupt) else "internal"
