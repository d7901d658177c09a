"""The chart of total cost over the number of consumers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from repocue.report.html.drawing import ZERO_ALONE, Area, draw
from repocue.report.html.metrics import Metric
from repocue.report.html.numbers import axis, exact, times
from repocue.report.html.totals_tables import WAYS


def totals_chart(
    known: Mapping[str, Sequence[tuple[int, Mapping[str, Any]]]],
    even: Mapping[str, Any] | None,
    metric: Metric,
    area: Area,
    name: str,
    title: str,
    description: str,
) -> str:
    every = [row for rows in known.values() for row in rows]
    shown = axis(max(abs(total["max"]) for _, total in every), metric.unit)
    counts = sorted({n for n, _ in every})
    x: dict[str, Any] = {
        "field": "n",
        "type": "quantitative",
        "scale": {"domain": [0, counts[-1]], "nice": False},
        "axis": {"title": "consumers", "values": counts, "grid": False, "format": "d", "labelOverlap": "greedy"},
    }
    y: dict[str, Any] = {
        "type": "quantitative",
        "scale": {"zero": True, "nice": True},
        "axis": {
            "title": shown.title,
            "titleX": 12 - area.left,
            "tickCount": 5,
            "format": "~s" if shown.divisor == 1 else "~r",
            "labelExpr": ZERO_ALONE,
        },
    }
    if all(total["max"] == 0 for _, total in every):
        y["scale"] = {"domain": [0, 1]}
    bands: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    ends = []
    for way in WAYS:
        rows = [
            {"n": n} | {key: total[key] / shown.divisor for key in ("median", "min", "max")} for n, total in known[way]
        ]
        if not rows:
            continue
        color = f"var(--{way})"
        bands.append(
            {
                "data": {"values": rows},
                "mark": {"type": "area", "color": color, "opacity": 0.16},
                "encoding": {"x": x, "y": y | {"field": "min"}, "y2": {"field": "max"}},
            }
        )
        lines.append(
            {
                "data": {"values": rows},
                "mark": {"type": "line", "color": color, "strokeWidth": 2, "strokeDash": [6, 4]},
                "encoding": {"x": x, "y": y | {"field": "median"}},
            }
        )
        lines.append(
            {
                "data": {"values": rows},
                "mark": {
                    "type": "point",
                    "shape": "circle" if way == "direct" else "diamond",
                    "filled": True,
                    "fill": "var(--paper)",
                    "stroke": color,
                    "strokeWidth": 1.75,
                    "size": 54,
                    "opacity": 1,
                },
                "encoding": {"x": x, "y": y | {"field": "median"}},
            }
        )
        ends.append((rows[-1]["median"], way))
    lines.extend(_end_labels(ends, area, y))
    return draw(
        [*bands, *_break_even_marks(even, counts[-1], x, area), *lines],
        area=area,
        name=name,
        title=title,
        description=description,
    )


def _end_labels(ends: Sequence[tuple[float, str]], area: Area, y: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The lines' names at their ends; the upper one is raised and the lower one lowered, so that they never meet."""
    highest = max(value for value, _ in ends)
    return [
        {
            "data": {"values": [{"v": value, "text": way}]},
            "mark": {
                "type": "text",
                "align": "left",
                "dy": 0 if len(ends) == 1 else -7 if position == 0 else 9,
                "color": f"var(--{way})",
                "fontWeight": 600,
            },
            "encoding": {
                "x": {"value": area.width + 10},
                "y": dict(y) | {"field": "v"},
                "text": {"field": "text"},
            },
        }
        for position, (value, way) in enumerate(sorted(ends, key=lambda end: (end[0] != highest, -end[0])))
    ]


def _break_even_marks(
    even: Mapping[str, Any] | None, last: int, x: Mapping[str, Any], area: Area
) -> list[dict[str, Any]]:
    """The median break-even as a line and its range as a bracket above the plot, as far as they lie on the chart."""
    if even is None or not even["finite"] or even["min"] > last:
        return []
    marks: list[dict[str, Any]] = []
    label = {"align": "left", "anchor": even["min"], "text": "break-even range"}
    if even["min"] != even["max"]:
        marks.append(
            {
                "data": {"values": [{"n": even["min"], "end": min(even["max"], last)}]},
                "mark": {"type": "rule", "color": "var(--ink)", "strokeWidth": 3, "opacity": 0.55},
                "encoding": {"x": dict(x), "x2": {"field": "end"}, "y": {"value": -6}},
            }
        )
    if even["median"] <= last:
        label = {
            "anchor": even["median"],
            "text": f"break-even {exact(even['median'])}, in {exact(even['finite'])} of {times(even['of'], 'pair')}",
        }
        marks.append(
            {
                "data": {"values": [{"n": even["median"]}]},
                "mark": {"type": "rule", "color": "var(--ink)", "strokeWidth": 1.25, "strokeDash": [2, 3]},
                "encoding": {"x": dict(x), "y": {"value": -6}, "y2": {"value": area.height}},
            }
        )
    is_right = float(str(label["anchor"])) > last / 2
    marks.append(
        {
            "data": {"values": [{"n": label["anchor"], "text": label["text"]}]},
            "mark": {
                "type": "text",
                "align": "right" if is_right else "left",
                "baseline": "bottom",
                "dx": 2 if is_right else -2,
                "fontSize": 12,
            },
            "encoding": {"x": dict(x), "y": {"value": -13}, "text": {"field": "text"}},
        }
    )
    return marks
