"""Direct and assisted agents, pair by pair and measurement by measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from repocue.domain.measurement import ESTIMATED, NOT_OBSERVED
from repocue.domain.statistics import number
from repocue.report.html.drawing import Area, draw, quantity
from repocue.report.html.figure import Figure, Mark
from repocue.report.html.metrics import Metric
from repocue.report.html.numbers import Axis, axis, times
from repocue.report.html.pair_histogram import histogram
from repocue.report.html.pairs import AMBIGUOUS, Pair, is_ambiguous, pairs_of, pairs_table, sentence
from repocue.report.html.text import plain

MOST_ROWS: Final = 30
"""Up to this many pairs have a row each; more are drawn as a histogram of their differences."""

_ROW: Final = 26

LEGEND: Final = (Mark("circle direct", "direct"), Mark("diamond assisted", "assisted"))


def pair_figure(group: Mapping[str, Any], metric: Metric, identifier: str) -> Figure:
    """One measurement of all pairs of a group: a dumbbell a pair, or the histogram of a great many differences."""
    pairs = pairs_of(group, metric.name)
    statistics = group["metrics"].get(metric.name)
    known = [pair for pair in pairs if pair.direct.value is not None or pair.assisted.value is not None]
    counted = [pair for pair in pairs if pair.is_counted]
    sources = sorted({cost.source for pair in known for cost in (pair.direct, pair.assisted) if cost.value is not None})
    title = plain(metric.label)
    if not known:
        return Figure(
            id=identifier,
            title=title,
            description=f"{title} were observed in none of {times(len(pairs), 'pair')}.",
            sources=(NOT_OBSERVED,),
            absent=f"In none of {times(len(pairs), 'pair')} was this observed. It is unknown, not zero.",
        )
    if len(pairs) > MOST_ROWS and counted:
        note = AMBIGUOUS if is_ambiguous(group, metric.name) else ""
        return histogram(pairs, counted, metric, identifier, statistics, sources, note)
    description = sentence(statistics, metric, len(pairs))
    shown_pairs = pairs[:MOST_ROWS]
    caption = [metric.note] if metric.note else []
    if ESTIMATED in sources:
        caption.append("Hollow marks are estimated: shown, never counted.")
    if is_ambiguous(group, metric.name):
        caption.append(AMBIGUOUS)
    if len(shown_pairs) < len(pairs):
        caption.append(f"Drawn are the first {MOST_ROWS} of {times(len(pairs), 'pair')}.")
    return Figure(
        id=identifier,
        title=title,
        description=description,
        sources=sources,
        table=pairs_table(pairs, metric, statistics),
        charts=[("any", _dumbbells(shown_pairs, metric, identifier, title, description))],
        legend=LEGEND,
        caption=" ".join(caption),
    )


def _dumbbells(pairs: Sequence[Pair], metric: Metric, identifier: str, title: str, description: str) -> str:
    values = [value for pair in pairs for cost in (pair.direct, pair.assisted) if (value := cost.value) is not None]
    shown = axis(max(values, default=0), metric.unit)
    rows = [_row(pair, shown) for pair in pairs]
    area = Area(190, _ROW * len(rows), 56, 92, 8, 44)
    y = {
        "field": "pair",
        "type": "nominal",
        "sort": None,
        "axis": {"title": None, "grid": False, "labelOverlap": False},
    }
    x = quantity(shown.title, divisor=shown.divisor)
    if not any(values):
        x["scale"] = {"domain": [0, 1]}
    layers: list[dict[str, Any]] = []
    for is_counted in (True, False):
        joined = [
            row
            for row in rows
            if row["counted"] is is_counted and row["direct"] is not None and row["assisted"] is not None
        ]
        layers.append(
            {
                "data": {"values": joined},
                "mark": {
                    "type": "rule",
                    "color": "var(--join)",
                    "strokeWidth": 3 if is_counted else 1.5,
                    "strokeDash": [1, 0] if is_counted else [3, 3],
                },
                "encoding": {"y": y, "x": x | {"field": "direct"}, "x2": {"field": "assisted"}},
            }
        )
    for side, form in (("direct", "circle"), ("assisted", "diamond")):
        for is_estimated in (False, True):
            chosen = [row for row in rows if row[side] is not None and row[f"{side}_estimated"] is is_estimated]
            look = {"fill": "var(--paper)", "stroke": f"var(--{side})", "strokeWidth": 1.5, "strokeDash": [2, 2]}
            layers.append(
                {
                    "data": {"values": chosen},
                    "mark": {"type": "point", "shape": form, "size": 90 if form == "circle" else 110, "opacity": 1}
                    | (look if is_estimated else {"filled": True, "color": f"var(--{side})"}),
                    "encoding": {"y": y, "x": x | {"field": side}},
                }
            )
    layers.append(
        {
            "data": {"values": rows},
            "mark": {"type": "text", "align": "right", "fontSize": 12},
            "encoding": {
                "y": y,
                "x": {"value": area.width + area.right - 4},
                "text": {"field": "text"},
                "color": {"field": "tone", "type": "nominal", "scale": None},
            },
        }
    )
    return draw(layers, area=area, name=f"{identifier}-any", title=title, description=description)


def _row(pair: Pair, shown: Axis) -> dict[str, Any]:
    difference = pair.difference
    if difference is not None and pair.is_counted:
        text = shown.short(number(difference))
    elif difference is not None:
        text = "not counted"
    elif pair.direct.value is None and pair.assisted.value is None:
        text = "not observed"
    else:
        text = "one unknown"
    return {
        "pair": pair.label,
        "direct": None if pair.direct.value is None else pair.direct.value / shown.divisor,
        "assisted": None if pair.assisted.value is None else pair.assisted.value / shown.divisor,
        "direct_estimated": pair.direct.source == ESTIMATED,
        "assisted_estimated": pair.assisted.source == ESTIMATED,
        "counted": pair.is_counted,
        "text": text,
        "tone": "var(--ink)" if pair.is_counted else "var(--muted)",
    }
