"""In how many pairs each measurement is complete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from repocue.domain.measurement import OBSERVED
from repocue.report.html.drawing import Area, draw
from repocue.report.html.figure import Cell, Figure, Mark, Table
from repocue.report.html.metrics import metric, ordered
from repocue.report.html.numbers import exact, times
from repocue.report.html.text import plain, short

_LONGEST = 26


def coverage_figure(group: Mapping[str, Any], identifier: str) -> Figure:
    """Complete pairs per measurement, beside the pairs that lack a part of it."""
    title = "Coverage: complete pairs per measurement"
    names = ordered(group["metrics"])
    if not names:
        return Figure(
            id=identifier,
            title=title,
            description="No measurement was reported.",
            sources=(OBSERVED,),
            absent="No measurement was reported.",
        )
    found = [(metric(name), group["metrics"][name]["coverage"]) for name in names]
    rows = [
        {
            "metric": short(each.label, _LONGEST, position),
            "complete": coverage["complete"] / coverage["of"] if coverage["of"] else 0,
            "all": 1,
            "text": f"{exact(coverage['complete'])} of {exact(coverage['of'])}",
            "tone": "var(--ink)" if coverage["complete"] else "var(--muted)",
        }
        for position, (each, coverage) in enumerate(found)
    ]
    area = Area(96, 24 * len(rows), 172, 72, 6, 6)
    y = {
        "field": "metric",
        "type": "nominal",
        "sort": None,
        "scale": {"paddingInner": 0.45, "domain": [row["metric"] for row in rows]},
        "axis": {"title": None, "labelLimit": 1000, "labelOverlap": False},
    }
    x = {"type": "quantitative", "scale": {"domain": [0, 1]}, "axis": None}
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": [row for row in rows if row["complete"] != 1]},
            "mark": {"type": "bar", "fill": None, "stroke": "var(--muted)", "strokeDash": [2, 3], "strokeWidth": 1},
            "encoding": {"y": y, "x": x | {"field": "complete"}, "x2": {"field": "all"}},
        },
        {
            "data": {"values": [row for row in rows if row["complete"]]},
            "mark": {"type": "bar", "color": "var(--complete)"},
            "encoding": {"y": y, "x": x | {"field": "complete"}},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "text", "align": "right"},
            "encoding": {
                "y": y,
                "x": {"value": area.width + area.right - 4},
                "text": {"field": "text"},
                "color": {"field": "tone", "type": "nominal", "scale": None},
            },
        },
    ]
    whole = sum(coverage["complete"] == coverage["of"] for _, coverage in found)
    description = (
        f"Of {times(len(found), 'measurement')}, {whole} complete in every pair, "
        f"{sum(not coverage['complete'] for _, coverage in found)} in none."
    )
    return Figure(
        id=identifier,
        title=title,
        description=description,
        sources=(OBSERVED,),
        table=Table(
            caption=title,
            columns=("Measurement", "Complete pairs", "Estimated, not counted", "Not observed", "Pairs"),
            numeric=(False, True, True, True, True),
            rows=[
                (
                    Cell(plain(each.label)),
                    *(
                        Cell(exact(coverage[part]), coverage[part])
                        for part in ("complete", "estimated", "not_observed", "of")
                    ),
                )
                for each, coverage in found
            ],
        ),
        charts=[("any", draw(layers, area=area, name=f"{identifier}-any", title=title, description=description))],
        legend=(Mark("square complete", "both costs known"), Mark("square outline", "a cost unknown or estimated")),
        tall=True,
        caption="An empty frame is missing evidence, not a cost of zero.",
    )
