"""Maintenance over time, as it was recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from repocue.domain.measurement import OBSERVED
from repocue.report.html.drawing import Area, draw
from repocue.report.html.figure import Figure, Mark
from repocue.report.html.numbers import Axis, axis, human, times
from repocue.report.html.runs import MOST_RUNS, SLOTS, Run, Slot, gathered, prepared, runs_table, slots_table
from repocue.report.html.text import plain

LOGARITHMIC: Final = 50
"""From this ratio of the longest to the shortest duration on, the axis is logarithmic and says so."""

_AREAS: Final = (("wide", Area(1020, 220, 76, 24, 34, 46)), ("narrow", Area(238, 200, 66, 20, 34, 46)))

_RUN_MARKS: Final = (("square baseline", "baseline"), ("circle refresh", "refresh"), ("cross failed", "failed"))


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
    every = [prepared(row) for row in runs]
    unknown = sum(run.duration_ms is None for run in every)
    durations = [run.duration_ms for run in every if run.duration_ms is not None]
    shown = axis(max(durations, default=0), "ms")
    positive = [value for value in durations if value > 0]
    is_logarithmic = bool(positive) and len(positive) == len(durations) and max(positive) >= LOGARITHMIC * min(positive)
    caption = []
    if unknown:
        caption.append(f"The duration of {times(unknown, 'run')} was not observed; such runs stand above the plot.")
    if is_logarithmic:
        caption.append("The duration axis is logarithmic: equal steps are equal factors.")
    is_bounded = len(every) > MOST_RUNS
    slots = gathered(every) if is_bounded else []
    if is_bounded:
        caption.append(
            f"{times(len(every), 'run')} are too many to draw one by one: each mark is the median of one of "
            f"{SLOTS} equal slots of time, its line the range within the slot."
        )
    counts = Counter(run.group for run in every)
    description = (
        f"{times(len(every), 'maintenance run')} between {_minute(min(run.started_at for run in every))} and "
        f"{_minute(max(run.started_at for run in every))} UTC: "
        + ", ".join(f"{count} {group}" for group, count in sorted(counts.items()))
        + "."
    )
    if durations:
        description += f" Durations from {human(min(durations), 'ms')} to {human(max(durations), 'ms')}."
    points = [_point(run, shown) for run in every] if not is_bounded else [_slot_point(slot, shown) for slot in slots]
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
        table=slots_table(slots) if is_bounded else runs_table(every),
        charts=charts,
        legend=present,
        caption=" ".join(caption),
        wide=True,
    )


def _point(run: Run, shown: Axis) -> dict[str, Any]:
    value = None if run.duration_ms is None else run.duration_ms / shown.divisor
    return {"t": run.at_ms, "v": value, "low": value, "high": value, "group": run.group}


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


def _minute(text: str) -> str:
    return plain(text[:16].replace("T", " "))
