"""Recorded maintenance runs one by one, or gathered in equal slots of time where they are many. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from repocue.domain.statistics import exact as fraction
from repocue.domain.statistics import number, spread
from repocue.report.html.figure import Cell, Table, measured
from repocue.report.html.numbers import times
from repocue.report.html.text import moment, plain, words

MOST_RUNS: Final = 300
"""More runs than this are drawn and tabled by equal slots of time."""

SLOTS: Final = 60


class Run(NamedTuple):
    """A maintenance run, as the figure needs it."""

    group: str
    at_ms: int
    started_at: str
    duration_ms: float | None
    row: Mapping[str, Any]


class Slot(NamedTuple):
    """Runs of one kind within one slot of time."""

    group: str
    first: str
    last: str
    middle_ms: int
    runs: int
    unknown: int
    low: float | None
    median: float | None
    high: float | None


def prepared(row: Mapping[str, Any]) -> Run:
    group = "refresh" if row["kind"] == "refresh" else "baseline"
    if row["outcome"] == "failed":
        group = "failed"
    started = str(row["started_at"])
    return Run(group, int(datetime.fromisoformat(started).timestamp() * 1000), started, row["duration_ms"], row)


def gathered(runs: Sequence[Run]) -> list[Slot]:
    start = min(run.at_ms for run in runs)
    width = max(1, -(-(max(run.at_ms for run in runs) + 1 - start) // SLOTS))
    by_slot: dict[tuple[int, str], list[Run]] = {}
    for run in sorted(runs, key=lambda run: run.at_ms):
        by_slot.setdefault(((run.at_ms - start) // width, run.group), []).append(run)
    slots = []
    for (position, group), members in sorted(by_slot.items()):
        known = spread(fraction(run.duration_ms) for run in members if run.duration_ms is not None)
        slots.append(
            Slot(
                group,
                members[0].started_at,
                members[-1].started_at,
                start + position * width + width // 2,
                len(members),
                sum(run.duration_ms is None for run in members),
                None if known is None else number(known.minimum),
                None if known is None else number(known.median),
                None if known is None else number(known.maximum),
            )
        )
    return slots


def runs_table(runs: Sequence[Run]) -> Table:
    return Table(
        caption=f"All {times(len(runs), 'maintenance run')} of this window",
        columns=("Started (UTC)", "Kind", "Trigger", "Epoch", "Outcome", "Duration (ms)"),
        numeric=(False, False, False, False, False, True),
        rows=[
            (
                Cell(moment(run.started_at)),
                Cell(words(run.row["kind"])),
                Cell(words(run.row["trigger"])),
                Cell(plain(run.row["epoch"])),
                Cell(words(run.row["outcome"])),
                measured(run.duration_ms),
            )
            for run in runs
        ],
    )


def slots_table(slots: Sequence[Slot]) -> Table:
    return Table(
        caption="Maintenance runs by slot of time",
        columns=(
            "First start (UTC)",
            "Last start (UTC)",
            "Kind",
            "Runs",
            "Duration not observed",
            "Median (ms)",
            "Shortest (ms)",
            "Longest (ms)",
        ),
        numeric=(False, False, False, True, True, True, True, True),
        rows=[
            (
                Cell(moment(slot.first)),
                Cell(moment(slot.last)),
                Cell(slot.group),
                measured(slot.runs),
                measured(slot.unknown),
                measured(slot.median),
                measured(slot.low),
                measured(slot.high),
            )
            for slot in slots
        ],
        note="Every single run is in the report's JSON form.",
    )
