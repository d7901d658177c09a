"""What maintaining and cueing have cost so far: the `repocue/metrics-1` document."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from repocue.domain.ids import epoch_id, snapshot_id
from repocue.domain.paths import display
from repocue.domain.times import rfc3339
from repocue.maintenance.members import run_values
from repocue.store import history, snapshots
from repocue.store.database import open_state

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from repocue.git.worktree import Worktree
    from repocue.maintenance.request import Request
    from repocue.store.history import CueRun, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsResult:
    """Every epoch, run and cue run on record, and the database's size.

    `database_bytes` is the size of the database's pages; `log_bytes` what its write-ahead log adds on disk.
    """

    worktree: Worktree
    epoch: str
    snapshot: str
    snapshots_kept: int
    epochs: Sequence[Mapping[str, Any]]
    runs: Sequence[Run]
    cue_runs: Sequence[CueRun]
    database_path: str
    database_bytes: int
    log_bytes: int

    def document(self) -> dict[str, Any]:
        """The `repocue/metrics-1` document."""
        return {
            "schema_version": "repocue/metrics-1",
            "repository": {
                "id": self.worktree.id,
                "name": self.worktree.name,
                "root": display(self.worktree.root),
            },
            "epoch": self.epoch,
            "snapshot": self.snapshot,
            "snapshots": self.snapshots_kept,
            "epochs": [
                {
                    "epoch": epoch_id(row["number"]),
                    "status": "active" if row["superseded_at_ms"] is None else "superseded",
                    "label": row["label"],
                    "reason": row["reason"],
                    "opened_at": rfc3339(row["opened_at_ms"]),
                    "superseded_at": None if row["superseded_at_ms"] is None else rfc3339(row["superseded_at_ms"]),
                    "baseline_snapshot": snapshot_id(row["baseline_snapshot"]),
                }
                for row in self.epochs
            ],
            "maintenance": {
                kind: _total([run for run in self.runs if run.kind == kind])
                for kind in ("init", "refresh", "rebaseline")
            },
            "cues": {**_total(self.cue_runs), "failed": None},  # only a cue that was made is recorded
            "runs": [
                run_values(
                    kind=run.kind,
                    trigger=run.trigger,
                    epoch=run.epoch,
                    snapshot_before=run.snapshot_before,
                    snapshot_after=run.snapshot_after,
                    started_at_ms=run.started_at_ms,
                    duration_ms=run.duration_ms,
                    clock_method=run.clock_method,
                    scan_duration_ms=run.scan_duration_ms,
                    git_processes=run.git_processes,
                    files_scanned=run.files_scanned,
                    bytes_read=run.bytes_read,
                    changed_files=run.changed_files,
                    outcome=run.outcome,
                    error_code=run.error_code,
                )
                for run in self.runs
            ],
            "cue_runs": [
                {
                    "view": run.view,
                    "epoch": run.epoch,
                    "snapshot": run.snapshot,
                    "freshness": run.freshness,
                    "started_at": rfc3339(run.started_at_ms),
                    "duration_ms": run.duration_ms,
                    "clock_method": run.clock_method,
                    "max_tokens": run.max_tokens,
                    "bytes": run.bytes,
                    "estimated_tokens": run.estimated_tokens,
                }
                for run in self.cue_runs
            ],
            "database": {"path": self.database_path, "bytes": self.database_bytes, "log_bytes": self.log_bytes},
        }


def metrics(request: Request) -> MetricsResult:
    """Everything on record for the request's repository. The repository itself is not observed. Raises CacheError."""
    path = request.state_path
    with open_state(path, mode="read", wait_s=request.lock_wait_s) as database, database.reading():
        current = snapshots.current(database)
        pages = database.one("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        kept = database.one("SELECT count(*) FROM snapshots")
        assert pages is not None
        assert kept is not None
        return MetricsResult(
            worktree=request.worktree,
            epoch=current.header.epoch,
            snapshot=current.header.snapshot,
            snapshots_kept=kept[0],
            epochs=snapshots.epochs(database),
            runs=history.runs(database),
            cue_runs=history.cue_runs(database),
            database_path=display(os.fsencode(path)),
            database_bytes=pages[0],
            log_bytes=_size(path + "-wal"),
        )


def _total(runs: Sequence[Run | CueRun]) -> dict[str, Any]:
    """How many runs, how many of them failed, and their summed duration: null unless every run's is known."""
    durations = [run.duration_ms for run in runs if run.duration_ms is not None]
    return {
        "runs": len(runs),
        "failed": sum(1 for run in runs if getattr(run, "outcome", None) == "failed"),
        "durations_known": len(durations),
        "duration_ms": round(sum(durations), 3) if len(durations) == len(runs) else None,
    }


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
