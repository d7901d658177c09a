"""Cues served, by view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from repocue.domain.measurement import OBSERVED
from repocue.domain.statistics import exact as fraction
from repocue.domain.statistics import number, spread
from repocue.report.html.drawing import Area, draw
from repocue.report.html.figure import Cell, Figure, Table, measured
from repocue.report.html.numbers import exact, times
from repocue.report.html.text import plain, short

_LONGEST_VIEW: Final = 12


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
