"""What a number of consumers would cost: always an estimate, drawn as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from repocue.domain.measurement import ESTIMATED, NOT_OBSERVED
from repocue.report.html.drawing import ZERO_ALONE, Area, draw
from repocue.report.html.figure import Cell, Figure, Mark, Table, span
from repocue.report.html.metrics import Metric, metric
from repocue.report.html.numbers import axis, exact, human, signed, times
from repocue.report.html.pair_figures import AMBIGUOUS, is_ambiguous
from repocue.report.html.text import plain

_WAYS: Final = ("direct", "assisted")
_AREAS: Final = (("wide", Area(400, 230, 64, 76, 34, 48)), ("narrow", Area(208, 210, 56, 74, 34, 48)))
_ESTIMATE: Final = "\N{ALMOST EQUAL TO}"
MISSING: Final = (
    "A part that this total needs was not observed: the maintenance of the whole epoch, a comparable cue cost, or an "
    "agent's cost. It is left out, not taken as zero."
)


def scenario_figure(group: Mapping[str, Any], metric: Metric, identifier: str) -> Figure:
    """Total cost over the number of consumers: both ways, their ranges over pairs, and the break-even."""
    title = f"{plain(metric.label)}: total over consumers"
    scenarios = [(row["consumers"], row["totals"].get(metric.name)) for row in group["scenarios"]]
    known = {way: [(n, row[way]) for n, row in scenarios if row is not None and row[way] is not None] for way in _WAYS}
    even = group["break_even"].get(metric.name)
    pairs = len(group["pairs"])
    if not any(known.values()):
        return Figure(
            id=identifier,
            title=title,
            description=f"No total of {plain(metric.label).lower()} can be given.",
            sources=(NOT_OBSERVED,),
            absent=MISSING,
        )
    description = "Estimated. " + _sentence(known, metric) + " " + break_even_text(even)
    caption = break_even_text(even)
    missing = [way for way in _WAYS if not known[way]]
    if missing:
        caption = f"The {missing[0]} total is not drawn. {MISSING}"
    caption = f"Lines are medians over pairs, bands their range. {caption}"
    if is_ambiguous(group, metric.name):
        caption = f"{caption} {AMBIGUOUS}"
    charts = [
        (form, _chart(known, even, metric, area, f"{identifier}-{form}", title, description)) for form, area in _AREAS
    ]
    return Figure(
        id=identifier,
        title=title,
        description=description,
        sources=(ESTIMATED,),
        table=_table(scenarios, metric, pairs),
        charts=charts,
        legend=[Mark(f"dash {way}", f"{way}, {_over(scenarios, way)}") for way in _WAYS if known[way]],
        caption=caption,
    )


def saving_figure(group: Mapping[str, Any], metric: Metric, identifier: str) -> Figure | None:
    """Direct minus assisted totals per number of consumers; None where no pair has both."""
    rows = [
        (row["consumers"], total["saving"])
        for row in group["scenarios"]
        if (total := row["totals"].get(metric.name)) is not None and total["saving"] is not None
    ]
    if not rows:
        return None
    title = f"{plain(metric.label)}: direct minus assisted"
    shown = axis(max(abs(saving[key]) for _, saving in rows for key in ("min", "max")), metric.unit)
    labelled = axis(max(abs(saving["median"]) for _, saving in rows), metric.unit)
    values = [
        {"n": str(n)}
        | {key: saving[key] / shown.divisor for key in ("median", "min", "max")}
        | {"text": labelled.short(saving["median"])}
        for n, saving in rows
    ]
    area = Area(184, 32 * len(values), 66, 92, 8, 44)
    y = {
        "field": "n",
        "type": "nominal",
        "sort": None,
        "axis": {"title": "consumers", "grid": False, "titleX": 20 - area.left},
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
    if all(row[key] == 0 for row in values for key in ("min", "max")):
        x["scale"] = {"domain": [-1, 1]}
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": [{"zero": 0}]},
            "mark": {"type": "rule", "color": "var(--ink)"},
            "encoding": {"x": x | {"field": "zero"}},
        },
        {
            "data": {"values": values},
            "mark": {"type": "rule", "color": "var(--assisted)", "strokeWidth": 2, "strokeDash": [4, 3]},
            "encoding": {"y": y, "x": x | {"field": "min"}, "x2": {"field": "max"}},
        },
        {
            "data": {"values": values},
            "mark": {
                "type": "point",
                "shape": "diamond",
                "filled": False,
                "size": 90,
                "color": "var(--assisted)",
                "opacity": 1,
            },
            "encoding": {"y": y, "x": x | {"field": "median"}},
        },
        {
            "data": {"values": values},
            "mark": {"type": "text", "align": "right"},
            "encoding": {"y": y, "x": {"value": area.width + area.right - 4}, "text": {"field": "text"}},
        },
    ]
    description = "Estimated. " + "; ".join(
        f"{times(n, 'consumer')}: median {human(saving['median'], metric.unit)}, "
        f"from {human(saving['min'], metric.unit)} to {human(saving['max'], metric.unit)}"
        for n, saving in rows
    )
    unit = {"ms": " (ms)", "bytes": " (bytes)", "tokens": " (tokens)", "count": ""}[metric.unit]
    return Figure(
        id=identifier,
        title=title,
        description=description + ".",
        sources=(ESTIMATED,),
        table=Table(
            caption=f"{title}, estimated",
            columns=("Consumers", f"Median{unit}", "Smallest", "Largest"),
            numeric=(True, True, True, True),
            rows=[
                (Cell(exact(n), n), *(_saving(saving[key]) for key in ("median", "min", "max"))) for n, saving in rows
            ],
            note="Taken within each pair that has both totals, then median and range.",
        ),
        charts=[("any", draw(layers, area=area, name=f"{identifier}-any", title=title, description=description))],
        legend=(Mark("diamond hollow assisted", "median over pairs"), Mark("dash assisted", "range over pairs")),
        caption="Above zero the assisted way costs less in total.",
    )


def totals_table(group: Mapping[str, Any], names: Sequence[str]) -> Table:
    """The totals of several measurements, one row for each number of consumers."""
    rows = []
    for name in names:
        mark = "\N{NARROW NO-BREAK SPACE}\N{DAGGER}" if is_ambiguous(group, name) else ""
        for scenario in group["scenarios"]:
            total = scenario["totals"][name]
            parts = [cell for part in (*_WAYS, "saving") for cell in _total_cells(total, part)]
            rows.append(
                (
                    Cell(plain(metric(name).label) + mark),
                    Cell(exact(scenario["consumers"]), scenario["consumers"]),
                    *parts,
                )
            )
    return Table(
        caption="Estimated totals of the other measurements, medians and ranges over pairs",
        columns=(
            "Measurement",
            "Consumers",
            "Direct",
            "range",
            "pairs",
            "Assisted",
            "range",
            "pairs",
            "Direct minus assisted",
            "range",
            "pairs",
        ),
        numeric=(False,) + (True,) * 10,
        rows=rows,
        note=AMBIGUOUS if any(is_ambiguous(group, name) for name in names) else "",
    )


def _total_cells(total: Mapping[str, Any], part: str) -> tuple[Cell, Cell, Cell]:
    coverage = Cell(f"{exact(total['coverage'][part])} of {exact(total['coverage']['of'])}", total["coverage"][part])
    spread = total[part]
    if spread is None:
        return Cell("not available", None, NOT_OBSERVED), Cell(""), coverage
    form = signed if part == "saving" else exact
    return (
        Cell(_ESTIMATE + form(spread["median"]), spread["median"], ESTIMATED),
        span(spread["min"], spread["max"], form, ESTIMATED),
        coverage,
    )


def break_even_text(even: Mapping[str, Any] | None) -> str:
    """From how many consumers on the assisted way is strictly cheaper, in how many pairs."""
    if even is None or not even["of"]:
        return "Break-even: not available; no pair has every part that it needs."
    coverage = f"{exact(even['finite'])} of {times(even['of'], 'pair')} {'has' if even['of'] == 1 else 'have'} one"
    if not even["finite"]:
        return f"Break-even: none. In none of {times(even['of'], 'pair')} does the assisted agent cost less."
    median, low, high = even["median"], even["min"], even["max"]
    people = "consumer" if median == 1 else "consumers"
    spread = f" (range {exact(low)} to {exact(high)})" if low != high else ""
    return f"Break-even: from {exact(median)} {people} on{spread}; {coverage}."


def break_even_table(group: Mapping[str, Any], names: Sequence[str]) -> Table:
    """The break-even of every projected measurement."""
    rows = []
    for name in names:
        even = group["break_even"][name]
        missing = Cell("none", None) if even["of"] else Cell("not available", None, NOT_OBSERVED)
        rows.append(
            (
                Cell(plain(metric(name).label)),
                missing
                if even["median"] is None
                else Cell(_ESTIMATE + exact(even["median"]), even["median"], ESTIMATED),
                Cell("") if even["min"] is None else span(even["min"], even["max"], exact, ESTIMATED),
                Cell(exact(even["finite"]), even["finite"]),
                Cell(exact(even["of"]), even["of"]),
            )
        )
    return Table(
        caption="Break-even: the first number of consumers at which the assisted way is strictly cheaper, estimated",
        columns=("Measurement", "Median over pairs", "range", "Pairs that have one", "Pairs with every part known"),
        numeric=(False, True, True, True, True),
        rows=rows,
        note="A pair has none where its assisted agent with its cue does not cost less than its direct one.",
    )


def _chart(
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
    for way in _WAYS:
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
        label = {"anchor": even["median"], "text": f"break-even {exact(even['median'])}"}
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


def _over(scenarios: Sequence[tuple[int, Mapping[str, Any] | None]], way: str) -> str:
    """Of how many pairs a total is: direct and assisted totals need not be over the same ones."""
    coverage = next(row["coverage"] for _, row in scenarios if row is not None and row[way] is not None)
    return f"{coverage[way]} of {times(coverage['of'], 'pair')}"


def _sentence(known: Mapping[str, Sequence[tuple[int, Mapping[str, Any]]]], metric: Metric) -> str:
    parts = []
    for way in _WAYS:
        if not known[way]:
            parts.append(f"No {way} total is available.")
            continue
        (first, low), (last, high) = known[way][0], known[way][-1]
        parts.append(
            f"{way.capitalize()}: median {human(low['median'], metric.unit)} for {times(first, 'consumer')}, "
            f"{human(high['median'], metric.unit)} for {last}."
        )
    return " ".join(parts)


def _table(scenarios: Sequence[tuple[int, Mapping[str, Any] | None]], metric: Metric, pairs: int) -> Table:
    unit = {"ms": " (ms)", "bytes": " (bytes)", "tokens": " (tokens)", "count": ""}[metric.unit]
    rows = []
    for n, total in scenarios:
        cells = [Cell(exact(n), n)]
        for way in _WAYS:
            spread = None if total is None else total[way]
            for key in ("median", "min", "max"):
                value = None if spread is None else spread[key]
                cells.append(
                    Cell("not available", None, NOT_OBSERVED)
                    if value is None
                    else Cell(_ESTIMATE + exact(value), value, ESTIMATED)
                )
        rows.append(tuple(cells))
    return Table(
        caption=f"{plain(metric.label)}: estimated totals over {times(pairs, 'pair')}",
        columns=(
            "Consumers",
            f"Direct, median{unit}",
            "smallest",
            "largest",
            f"Assisted, median{unit}",
            "smallest",
            "largest",
        ),
        numeric=(True,) * 7,
        rows=rows,
    )


def _saving(value: float) -> Cell:
    return Cell(_ESTIMATE + signed(value), value, ESTIMATED)
