"""Recorded maintenance, epoch by epoch and within a window, and H, the current epoch's full cost. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from repocue.domain.ids import epoch_id, snapshot_id
from repocue.domain.statistics import exact, number
from repocue.domain.times import rfc3339

if TYPE_CHECKING:
    from repocue.report.material import Material
    from repocue.report.window import Window
    from repocue.store.history import CueRun, Run

BASELINES: Final = ("init", "rebaseline")


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochCost:
    """What the current epoch has cost up to the window's end, whatever its beginning.

    `duration_ms` is H: every full duration once, no-op and failed runs too; None where the baseline lies behind the
    end, or one duration is not known.
    """

    epoch: str
    baseline_runs: int
    refresh_runs: int
    duration_ms: Fraction | None

    def to_json(self) -> dict[str, Any]:
        """`{id, baseline_runs, refresh_runs, duration_ms}`."""
        return {
            "id": self.epoch,
            "baseline_runs": self.baseline_runs,
            "refresh_runs": self.refresh_runs,
            "duration_ms": None if self.duration_ms is None else number(self.duration_ms),
        }


def epoch_cost(material: Material, window: Window) -> EpochCost:
    """H and what it is the sum of."""
    runs = [run for run in material.runs if run.epoch == material.epoch and window.is_before_end(run.started_at_ms)]
    baselines = [run for run in runs if run.kind in BASELINES]
    has_baseline = any(run.outcome == "published" for run in baselines)
    return EpochCost(
        epoch=material.epoch,
        baseline_runs=len(baselines),
        refresh_runs=len(runs) - len(baselines),
        duration_ms=_total(run.duration_ms for run in runs) if has_baseline else None,
    )


def section(material: Material, window: Window, cost: EpochCost) -> dict[str, Any]:
    """The report's `maintenance`."""
    runs = [run for run in material.runs if window.holds(run.started_at_ms)]
    cue_runs = [run for run in material.cue_runs if window.holds(run.started_at_ms)]
    return {
        "epochs": [
            _epoch(
                row,
                [run for run in runs if run.epoch == epoch_id(row["number"])],
                [run for run in cue_runs if run.epoch == epoch_id(row["number"])],
            )
            for row in material.epochs
        ],
        "current_epoch": cost.to_json(),
        "runs": list(map(_run, runs)),
        "cue_runs": list(map(_cue_run, cue_runs)),
        "database_bytes": material.database_bytes,
    }


def _epoch(row: Any, runs: Sequence[Run], cue_runs: Sequence[CueRun]) -> dict[str, Any]:
    superseded = row["superseded_at_ms"]
    views = sorted({run.view for run in cue_runs})
    return {
        "id": epoch_id(row["number"]),
        "status": "active" if superseded is None else "superseded",
        "label": row["label"],
        "opened_at": rfc3339(row["opened_at_ms"]),
        "superseded_at": None if superseded is None else rfc3339(superseded),
        "baseline_snapshot": snapshot_id(row["baseline_snapshot"]),
        "baseline_runs": sum(run.kind in BASELINES for run in runs),
        "refresh_runs": sum(run.kind == "refresh" for run in runs),
        "failed_runs": sum(run.outcome == "failed" for run in runs),
        "duration_ms": _sum(run.duration_ms for run in runs),
        "scan_duration_ms": _sum(run.scan_duration_ms for run in runs),
        "git_processes": _sum(run.git_processes for run in runs),
        "files_scanned": _sum(run.files_scanned for run in runs),
        "bytes_read": _sum(run.bytes_read for run in runs),
        "cues": [_cues(view, [run for run in cue_runs if run.view == view]) for view in views],
    }


def _cues(view: str, runs: Sequence[CueRun]) -> dict[str, Any]:
    """How often one view was served; that is no number of users."""
    return {
        "view": view,
        "served": len(runs),
        "duration_ms": _sum(run.duration_ms for run in runs),
        "bytes": sum(run.bytes for run in runs),
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "kind": run.kind,
        "trigger": run.trigger,
        "epoch": run.epoch,
        "started_at": rfc3339(run.started_at_ms),
        "duration_ms": run.duration_ms,
        "scan_duration_ms": run.scan_duration_ms,
        "git_processes": run.git_processes,
        "files_scanned": run.files_scanned,
        "bytes_read": run.bytes_read,
        "changed_files": run.changed_files,
        "snapshot_after": run.snapshot_after,
        "outcome": run.outcome,
        "error_code": run.error_code,
    }


def _cue_run(run: CueRun) -> dict[str, Any]:
    return {
        "view": run.view,
        "epoch": run.epoch,
        "snapshot": run.snapshot,
        "freshness": run.freshness,
        "started_at": rfc3339(run.started_at_ms),
        "duration_ms": run.duration_ms,
        "bytes": run.bytes,
        "estimated_tokens": run.estimated_tokens,
    }


def _sum(values: Iterable[float | None]) -> dict[str, Any]:
    """`{total, known, of}`: the total is null unless every value is known."""
    every = list(values)
    total = _total(every)
    return {
        "total": None if total is None else number(total),
        "known": sum(value is not None for value in every),
        "of": len(every),
    }


def _total(values: Iterable[float | None]) -> Fraction | None:
    total = Fraction(0)
    for value in values:
        if value is None:
            return None
        total += exact(value)
    return total
