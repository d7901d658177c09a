"""Maintenance as it was recorded: runs over time, and cues served by view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from repocue.domain.measurement import OBSERVED
from repocue.domain.statistics import exact as fraction
from repocue.domain.statistics import number, spread
from repocue.report.html.drawing import Area, draw
from repocue.report.html.figure import NOTHING, Cell, Figure, Mark, Table
from repocue.report.html.numbers import Axis, axis, exact, human, times
from repocue.report.html.text import plain, short, words

MOST_RUNS: Final = 300
"""More runs than this are drawn and tabled by equal slots of time."""
SLOTS: Final = 60
LOGARITHMIC: Final = 50
"""From this ratio of the longest to the shortest duration on, the axis is logarithmic and says so."""

_LONGEST_VIEW: Final = 12
_AREAS: Final = (("wide", Area(1020, 220, 76, 24, 34, 46)), ("narrow", Area(238, 200, 66, 20, 34, 46)))


class Run(NamedTuple):
    """A maintenance run, as the figure needs it."""

    group: str
    at_ms: int
    started_at: str
    duration_ms: float | None
    row: Mapping[str, Any]


def runs_figure(runs: Sequence[Mapping[str, Any]]) -> Figure:
    """When maintenance ran, and how long each run took."""
    title = "Maintenance runs over time"
    if not runs:
        return Figure(
            id="runs",
            title=title,
            description="No maintenance run is on record in this window.",
            sources=(OBSERVED,),
            absent="No maintenance run is on record in this window. That is not a run that took no time.",
            wide=True,
        )
    prepared = [_run(row) for row in runs]
    unknown = sum(run.duration_ms is None for run in prepared)
    durations = [run.duration_ms for run in prepared if run.duration_ms is not None]
    shown = axis(max(durations, default=0), "ms")
    positive = [value for value in durations if value > 0]
    is_logarithmic = bool(positive) and len(positive) == len(durations) and max(positive) >= LOGARITHMIC * min(positive)
    caption = []
    if unknown:
        caption.append(f"The duration of {times(unknown, 'run')} was not observed; such runs stand above the plot.")
    if is_logarithmic:
        caption.append("The duration axis is logarithmic: equal steps are equal factors.")
    is_bounded = len(prepared) > MOST_RUNS
    slots = _slots(prepared) if is_bounded else []
    if is_bounded:
        caption.append(
            f"{times(len(prepared), 'run')} are too many to draw one by one: each mark is the median of one of "
            f"{SLOTS} equal slots of time, its line the range within the slot."
        )
    counts = Counter(run.group for run in prepared)
    description = (
        f"{times(len(prepared), 'maintenance run')} between {_minute(min(run.started_at for run in prepared))} and "
        f"{_minute(max(run.started_at for run in prepared))} UTC: "
        + ", ".join(f"{count} {group}" for group, count in sorted(counts.items()))
        + "."
    )
    if durations:
        description += f" Durations from {human(min(durations), 'ms')} to {human(max(durations), 'ms')}."
    points = (
        [_point(run, shown) for run in prepared] if not is_bounded else [_slot_point(slot, shown) for slot in slots]
    )
    charts = [
        (
            form,
            draw(
                _runs_layers(points, shown, area, is_logarithmic),
                area=area,
                name=f"runs-{form}",
                title=title,
                description=description,
            ),
        )
        for form, area in _AREAS
    ]
    present = [Mark(shape, label) for shape, label in _RUN_MARKS if counts[label]]
    return Figure(
        id="runs",
        title=title,
        description=description,
        sources=(OBSERVED,),
        table=_slots_table(slots) if is_bounded else _runs_table(prepared),
        charts=charts,
        legend=present,
        caption=" ".join(caption),
        wide=True,
    )


_RUN_MARKS: Final = (("square baseline", "baseline"), ("circle refresh", "refresh"), ("cross failed", "failed"))


def cues_figure(cue_runs: Sequence[Mapping[str, Any]]) -> Figure:
    """How many cues each view served: runs of a command, never people."""
    title = "Cues served, by view"
    if not cue_runs:
        return Figure(
            id="cues",
            title=title,
            description="No cue is on record in this window.",
            sources=(OBSERVED,),
            absent="No cue is on record in this window. A cue that could not be recorded is not counted here.",
        )
    counts = Counter(plain(row["view"]) for row in cue_runs)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rows = [
        {"view": short(view, _LONGEST_VIEW, position), "count": count, "text": exact(count)}
        for position, (view, count) in enumerate(ordered)
    ]
    area = Area(196, 34 * len(rows), 90, 54, 6, 6)
    y = {"field": "view", "type": "nominal", "sort": None, "title": None, "scale": {"paddingInner": 0.5}}
    layers = [
        {
            "data": {"values": rows},
            "mark": {"type": "bar", "color": "var(--maintenance)"},
            "encoding": {"y": y, "x": {"field": "count", "type": "quantitative", "axis": None}},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "text", "align": "left", "dx": 6},
            "encoding": {"y": y, "x": {"field": "count", "type": "quantitative"}, "text": {"field": "text"}},
        },
    ]
    description = ", ".join(f"{view}: {times(count, 'cue')}" for view, count in ordered) + "."
    return Figure(
        id="cues",
        title=title,
        description=description,
        sources=(OBSERVED,),
        table=Table(
            caption=f"{title}: {times(len(cue_runs), 'cue')}",
            columns=("View", "Cues", "Durations known", "Median duration (ms)", "Shortest (ms)", "Longest (ms)"),
            numeric=(False, True, True, True, True, True),
            rows=[_view_row(view, [row for row in cue_runs if plain(row["view"]) == view]) for view, _ in ordered],
        ),
        charts=[("any", draw(layers, area=area, name="cues-any", title=title, description=description))],
        caption="A count of commands that ran. It is not a number of users or of agents.",
    )


def _run(row: Mapping[str, Any]) -> Run:
    group = "refresh" if row["kind"] == "refresh" else "baseline"
    if row["outcome"] == "failed":
        group = "failed"
    started = str(row["started_at"])
    return Run(group, int(datetime.fromisoformat(started).timestamp() * 1000), started, row["duration_ms"], row)


def _point(run: Run, shown: Axis) -> dict[str, Any]:
    value = None if run.duration_ms is None else run.duration_ms / shown.divisor
    return {"t": run.at_ms, "v": value, "low": value, "high": value, "group": run.group}


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


def _slots(runs: Sequence[Run]) -> list[Slot]:
    start = min(run.at_ms for run in runs)
    width = max(1, -(-(max(run.at_ms for run in runs) + 1 - start) // SLOTS))
    gathered: dict[tuple[int, str], list[Run]] = {}
    for run in sorted(runs, key=lambda run: run.at_ms):
        gathered.setdefault(((run.at_ms - start) // width, run.group), []).append(run)
    slots = []
    for (position, group), members in sorted(gathered.items()):
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


def _slot_point(slot: Slot, shown: Axis) -> dict[str, Any]:
    scaled = [None if value is None else value / shown.divisor for value in (slot.low, slot.median, slot.high)]
    return {"t": slot.middle_ms, "v": scaled[1], "low": scaled[0], "high": scaled[2], "group": slot.group}


def _runs_layers(
    points: Sequence[Mapping[str, Any]], shown: Axis, area: Area, is_logarithmic: bool
) -> list[dict[str, Any]]:
    first, last = min(point["t"] for point in points), max(point["t"] for point in points)
    margin = max((last - first) // 40, 30_000)
    known = [point for point in points if point["v"] is not None]
    unknown = [point for point in points if point["v"] is None]
    x = {
        "field": "t",
        "type": "temporal",
        "scale": {"type": "utc", "domain": [first - margin, last + margin]},
        "axis": {
            "title": "start of the run (UTC)",
            "grid": False,
            "tickCount": area.width // 90,
            "labelOverlap": True,
            "labelExpr": _time_label(last - first),
        },
    }
    scale: dict[str, Any] = {"type": "log"} if is_logarithmic else {"zero": True}
    scale["nice"] = True
    if not known:
        scale = {"domain": [0, 1]}
    y = {
        "field": "v",
        "type": "quantitative",
        "scale": scale,
        "axis": {
            "title": f"duration ({shown.title})" + (", log scale" if is_logarithmic else ""),
            "titleX": 14 - area.left,
            "tickCount": 5,
            "labels": bool(known),
            "format": "~g" if is_logarithmic else "~r",
        }
        if known
        else {"title": "duration not observed", "titleX": 14 - area.left, "labels": False, "grid": False},
    }
    names = ["baseline", "refresh", "failed"]
    shape = {
        "field": "group",
        "type": "nominal",
        "scale": {"domain": names, "range": ["square", "circle", "cross"]},
        "legend": None,
    }
    color = {
        "field": "group",
        "type": "nominal",
        "scale": {"domain": names, "range": ["var(--baseline)", "var(--maintenance)", "var(--failed)"]},
        "legend": None,
    }
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": known},
            "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.5},
            "encoding": {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}, "color": color},
        },
        {
            "data": {"values": known},
            "mark": {"type": "point", "filled": True, "size": 64, "opacity": 0.85},
            "encoding": {"x": x, "y": y, "shape": shape, "color": color},
        },
    ]
    if unknown:
        layers.append(
            {
                "data": {"values": unknown},
                "mark": {"type": "point", "filled": False, "size": 64, "strokeWidth": 1.5, "strokeDash": [2, 2]},
                "encoding": {"x": x, "y": {"value": -14}, "shape": shape, "color": color},
            }
        )
        layers.append(
            {
                "data": {"values": [{"text": "duration not observed"}]},
                "mark": {
                    "type": "text",
                    "align": "left",
                    "baseline": "bottom",
                    "color": "var(--muted)",
                    "fontSize": 11,
                },
                "encoding": {"x": {"value": 0}, "y": {"value": -22}, "text": {"field": "text"}},
            }
        )
    return layers


def _time_label(span_ms: int) -> str:
    """Days by name, times of day between them; months where the whole is longer than half a year."""
    if span_ms > 180 * 86_400_000:
        return "utcFormat(datum.value, '%b %Y')"
    return (
        "utchours(datum.value) + utcminutes(datum.value) + utcseconds(datum.value) == 0"
        " ? utcFormat(datum.value, '%-d %b')"
        " : utcFormat(datum.value, utcseconds(datum.value) ? '%H:%M:%S' : '%H:%M')"
    )


def moment(text: object) -> str:
    """A contract's time, to the second: `2026-11-30 19:05:07`."""
    return plain(text)[:19].replace("T", " ")


def _runs_table(runs: Sequence[Run]) -> Table:
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


def _slots_table(slots: Sequence[Slot]) -> Table:
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


def _view_row(view: str, rows: Sequence[Mapping[str, Any]]) -> tuple[Cell, ...]:
    durations = [fraction(row["duration_ms"]) for row in rows if row.get("duration_ms") is not None]
    found = spread(durations)
    figures = (None, None, None) if found is None else (found.median, found.minimum, found.maximum)
    return (
        Cell(view),
        measured(len(rows)),
        measured(len(durations)),
        *(measured(None if value is None else number(value)) for value in figures),
    )


def measured(value: float | None, source: str = "") -> Cell:
    """The cell of a value, or of one that was not observed."""
    return NOTHING if value is None else Cell(exact(value), value, source)


def _minute(text: str) -> str:
    return plain(text[:16].replace("T", " "))
