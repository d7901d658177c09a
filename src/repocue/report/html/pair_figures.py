"""Direct and assisted agents, pair by pair and measurement by measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

from repocue.domain.measurement import DERIVED, ESTIMATED, NOT_OBSERVED, OBSERVED
from repocue.domain.statistics import exact as fraction
from repocue.domain.statistics import number
from repocue.report.html.drawing import ZERO_ALONE, Area, draw
from repocue.report.html.figure import NOTHING, Cell, Figure, Mark, Table
from repocue.report.html.metrics import Metric
from repocue.report.html.numbers import Axis, axis, exact, human, percent, signed, times
from repocue.report.html.text import plain

MOST_ROWS: Final = 30
"""Up to this many pairs have a row each; more are drawn as a histogram of their differences."""
BINS: Final = 24
MOST_TABLED: Final = 200
_ROW: Final = 26


AMBIGUOUS: Final = (
    "\N{DAGGER} A zero of report version 3 may stand for a counter that the agent's program left out; "
    "it cannot be told from an observed one."
)
_DAGGER: Final = "\N{NARROW NO-BREAK SPACE}\N{DAGGER}"


class Cost(NamedTuple):
    """One agent's cost; `is_ambiguous` marks a zero that may be an omitted counter."""

    value: float | None
    source: str
    is_ambiguous: bool = False


class Pair(NamedTuple):
    """One pair in one measurement. `label` numbers it within its group; `set` is its report set's short digest."""

    label: str
    set: str
    run_index: int
    direct: Cost
    assisted: Cost
    source: str

    @property
    def is_counted(self) -> bool:
        """Whether the pair enters the statistics: both costs known, none of them estimated."""
        return self.difference is not None and self.source in (OBSERVED, DERIVED)

    @property
    def difference(self) -> Fraction | None:
        """Direct minus assisted, where both are known."""
        if self.direct.value is None or self.assisted.value is None:
            return None
        return fraction(self.direct.value) - fraction(self.assisted.value)


LEGEND: Final = (Mark("circle direct", "direct"), Mark("diamond assisted", "assisted"))


def pairs_of(group: Mapping[str, Any], name: str) -> list[Pair]:
    """The group's pairs in one measurement, in the report's order."""
    return [
        Pair(
            f"pair {position}",
            short_digest(pair["set"]),
            pair["run_index"],
            _declared(pair["metrics"][name], "direct"),
            _declared(pair["metrics"][name], "assisted"),
            str(pair["metrics"][name]["source"]),
        )
        for position, pair in enumerate(group["pairs"], start=1)
    ]


def is_ambiguous(group: Mapping[str, Any], name: str) -> bool:
    """Whether a zero of this measurement may be a counter that was left out."""
    return any(pair["metrics"][name]["ambiguous_zeros"] for pair in group["pairs"] if name in pair["metrics"])


def short_digest(text: object) -> str:
    """The first twelve digits of a digest; other text as it is."""
    shown = plain(text)
    return shown.removeprefix("sha256:")[:12] if shown.startswith("sha256:") else shown


def _declared(cost: Mapping[str, Any], side: str) -> Cost:
    return Cost(cost[side], str(cost[f"{side}_source"]), side in cost["ambiguous_zeros"])


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
        return _histogram(pairs, counted, metric, identifier, statistics, sources)
    description = _sentence(statistics, metric, len(pairs))
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
        table=_pairs_table(pairs, metric, statistics),
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
    x: dict[str, Any] = {
        "type": "quantitative",
        "scale": {"zero": True, "nice": True},
        "axis": {
            "title": shown.title,
            "tickCount": 4,
            "format": "~s" if shown.divisor == 1 else "~r",
            "labelOverlap": True,
            "labelExpr": ZERO_ALONE,
        },
    }
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


def _histogram(
    pairs: Sequence[Pair],
    counted: Sequence[Pair],
    metric: Metric,
    identifier: str,
    statistics: Mapping[str, Any] | None,
    sources: Sequence[str],
) -> Figure:
    title = plain(metric.label)
    differences = sorted(difference for pair in counted if (difference := pair.difference) is not None)
    bins = _bins(differences)
    shown = axis(float(max(abs(differences[0]), abs(differences[-1]))), metric.unit)
    rows = [
        {
            "from": float(low) / shown.divisor,
            "to": float(high) / shown.divisor,
            "count": count,
            "tone": "var(--assisted)" if low >= 0 else "var(--direct)" if high <= 0 else "var(--join)",
        }
        for low, high, count in bins
    ]
    description = _sentence(statistics, metric, len(pairs))
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
        legend=(Mark("square assisted", "assisted needed less"), Mark("square direct", "assisted needed more")),
        caption=f"{times(len(pairs), 'pair')} are too many for a row each: bars count pairs by their own difference. "
        + metric.note,
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


def _sentence(statistics: Mapping[str, Any] | None, metric: Metric, pairs: int) -> str:
    if statistics is None or statistics["difference"] is None:
        return f"{plain(metric.label)}: no pair of {pairs} has both costs, so nothing is compared."
    coverage, difference = statistics["coverage"], statistics["difference"]
    text = (
        f"{plain(metric.label)} in {coverage['complete']} of {times(coverage['of'], 'pair')}: "
        f"direct median {human(statistics['direct']['median'], metric.unit)}, "
        f"assisted median {human(statistics['assisted']['median'], metric.unit)}; "
        f"median of the paired differences {human(difference['median'], metric.unit)}, "
        f"from {human(difference['min'], metric.unit)} to {human(difference['max'], metric.unit)}"
    )
    share = statistics["percent_median"]
    return text + (f"; median {percent(share)} of the direct cost." if share is not None else ".")


def _pairs_table(pairs: Sequence[Pair], metric: Metric, statistics: Mapping[str, Any] | None) -> Table:
    unit = {"ms": " (ms)", "bytes": " (bytes)", "tokens": " (tokens)", "count": ""}[metric.unit]
    rows: list[tuple[Cell, ...]] = [
        (
            Cell(pair.label),
            Cell(pair.set),
            Cell(exact(pair.run_index), pair.run_index),
            _cost(pair.direct),
            _cost(pair.assisted),
            _difference(pair),
            Cell(pair.source.replace("_", " "), None, pair.source),
        )
        for pair in pairs[:MOST_TABLED]
    ]
    cut = "" if len(pairs) <= MOST_TABLED else f"The first {MOST_TABLED} pairs; all are in the JSON form. "
    if statistics is not None and statistics["difference"] is not None:
        for name, key in (("Median", "median"), ("Smallest", "min"), ("Largest", "max")):
            values = [statistics[part][key] for part in ("direct", "assisted", "difference")]
            rows.append(
                (
                    Cell(name),
                    Cell("each column by itself"),
                    Cell(""),
                    Cell(exact(values[0]), values[0]),
                    Cell(exact(values[1]), values[1]),
                    Cell(signed(values[2]), values[2]),
                    Cell("derived", None, DERIVED),
                )
            )
    return Table(
        caption=f"{plain(metric.label)}: every pair",
        columns=("Pair", "Report set", "Run", f"Direct{unit}", f"Assisted{unit}", "Direct minus assisted", "Source"),
        numeric=(False, False, True, True, True, True, False),
        rows=rows,
        note=cut + "Differences are taken within each pair first; "
        "the median of the differences is not the difference of the medians.",
    )


def _cost(cost: Cost) -> Cell:
    if cost.value is None:
        return NOTHING
    text = exact(cost.value) + (_DAGGER if cost.is_ambiguous else "")
    return Cell(f"\N{ALMOST EQUAL TO}{text}" if cost.source == ESTIMATED else text, cost.value, cost.source)


def _difference(pair: Pair) -> Cell:
    difference = pair.difference
    if difference is None:
        return NOTHING
    if not pair.is_counted:
        return Cell("not counted", None, ESTIMATED)
    value = number(difference)
    return Cell(signed(value), value)
