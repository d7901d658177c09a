"""The paired differences of a great many pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from repocue.domain.statistics import number
from repocue.report.html.drawing import ZERO_ALONE, Area, draw
from repocue.report.html.figure import Cell, Figure, Mark, Table
from repocue.report.html.metrics import Metric
from repocue.report.html.numbers import axis, exact, times
from repocue.report.html.pairs import Pair, sentence
from repocue.report.html.text import plain

BINS: Final = 24


def histogram(
    pairs: Sequence[Pair],
    counted: Sequence[Pair],
    metric: Metric,
    identifier: str,
    statistics: Mapping[str, Any] | None,
    sources: Sequence[str],
    note: str,
) -> Figure:
    title = plain(metric.label)
    differences = sorted(difference for pair in counted if (difference := pair.difference) is not None)
    bins = _bins(differences)
    shown = axis(float(max(abs(differences[0]), abs(differences[-1]))), metric.unit)
    # Equal differences have a bin without width, which is drawn a little wider to be seen.
    margin = (abs(bins[0][0]) or 1) / 40 if bins[0][0] == bins[0][1] else Fraction(0)
    rows = [
        {
            "from": float(low - margin) / shown.divisor,
            "to": float(high + margin) / shown.divisor,
            "count": count,
            "tone": "var(--assisted)" if low >= 0 else "var(--direct)" if high <= 0 else "var(--join)",
        }
        for low, high, count in bins
    ]
    description = sentence(statistics, metric, len(pairs))
    area = Area(250, 150, 48, 30, 12, 48)
    x = {
        "field": "from",
        "type": "quantitative",
        "scale": {"zero": True, "nice": False},
        "axis": {
            "title": f"direct minus assisted ({shown.title})",
            "tickCount": 4,
            "grid": False,
            "format": "~s",
            "labelExpr": ZERO_ALONE,
        },
    }
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": rows},
            "mark": {"type": "bar", "opacity": 0.9, "stroke": "var(--paper)", "strokeWidth": 0.5},
            "encoding": {
                "x": x,
                "x2": {"field": "to"},
                "y": {
                    "field": "count",
                    "type": "quantitative",
                    "axis": {"title": "pairs", "titleX": 14 - area.left, "tickCount": 4},
                },
                "y2": {"datum": 0},
                "color": {"field": "tone", "type": "nominal", "scale": None},
            },
        },
        {
            "data": {"values": [{"from": 0}]},
            "mark": {"type": "rule", "color": "var(--ink)", "strokeWidth": 1},
            "encoding": {"x": x},
        },
    ]
    chart = draw(layers, area=area, name=f"{identifier}-any", title=title, description=description)
    return Figure(
        id=identifier,
        title=title,
        description=description,
        sources=sources,
        table=Table(
            caption=f"{title}: {times(len(counted), 'complete pair')} by paired difference",
            columns=("From", "Up to", "Pairs"),
            numeric=(True, True, True),
            rows=[
                tuple(Cell(exact(value), value) for value in (number(low), number(high), count))
                for low, high, count in bins
            ],
            note="Direct minus assisted, in "
            + {"ms": "ms", "bytes": "bytes", "tokens": "tokens", "count": "counts"}[metric.unit]
            + ". A bin holds its lower edge; the last one its upper edge too. "
            "Every single pair is in the report's JSON form.",
        ),
        charts=[("any", chart)],
        legend=(
            Mark("square assisted", "assisted needed less, or the same"),
            Mark("square direct", "assisted needed more"),
        ),
        caption=f"{times(len(pairs), 'pair')} are too many for a row each: bars count pairs by their own difference. "
        + f"{metric.note} {note}".strip(),
    )


def _bins(differences: Sequence[Fraction]) -> list[tuple[Fraction, Fraction, int]]:
    """At most `BINS` + 1 equal bins over sorted values, with an edge at zero where zero lies within."""
    lowest, highest = differences[0], differences[-1]
    if lowest == highest:
        return [(lowest, highest, len(differences))]
    width = (highest - lowest) / BINS
    start = (lowest // width) * width if lowest < 0 < highest else lowest
    edges = [start]
    while edges[-1] < highest:
        edges.append(edges[-1] + width)
    counts = [0] * (len(edges) - 1)
    for difference in differences:
        counts[min(int((difference - start) // width), len(counts) - 1)] += 1
    return [(low, high, count) for low, high, count in zip(edges, edges[1:], counts, strict=False)]
