"""What a number of consumers would cost: always an estimate, drawn as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from repocue.domain.measurement import ESTIMATED, NOT_OBSERVED
from repocue.report.html.drawing import Area, draw, quantity
from repocue.report.html.figure import Cell, Figure, Mark, Table
from repocue.report.html.metrics import Metric
from repocue.report.html.numbers import axis, exact, human, signed, times
from repocue.report.html.pairs import AMBIGUOUS, is_ambiguous
from repocue.report.html.text import plain
from repocue.report.html.totals_chart import totals_chart
from repocue.report.html.totals_tables import ESTIMATE, WAYS, break_even_text, scenario_table

_AREAS: Final = (("wide", Area(400, 230, 64, 76, 34, 48)), ("narrow", Area(208, 210, 56, 74, 34, 48)))

MISSING: Final = (
    "A part that this total needs was not observed: the maintenance of the whole epoch, a comparable cue cost, or an "
    "agent's cost. It is left out, not taken as zero."
)


def scenario_figure(group: Mapping[str, Any], metric: Metric, identifier: str) -> Figure:
    """Total cost over the number of consumers: both ways, their ranges over pairs, and the break-even."""
    title = f"{plain(metric.label)}: total over consumers"
    scenarios = [(row["consumers"], row["totals"].get(metric.name)) for row in group["scenarios"]]
    known = {way: [(n, row[way]) for n, row in scenarios if row is not None and row[way] is not None] for way in WAYS}
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
    missing = [way for way in WAYS if not known[way]]
    if missing:
        caption = f"The {missing[0]} total is not drawn. {MISSING}"
    caption = f"Lines are medians over pairs, bands their range. {caption}"
    if is_ambiguous(group, metric.name):
        caption = f"{caption} {AMBIGUOUS}"
    charts = [
        (form, totals_chart(known, even, metric, area, f"{identifier}-{form}", title, description))
        for form, area in _AREAS
    ]
    return Figure(
        id=identifier,
        title=title,
        description=description,
        sources=(ESTIMATED,),
        table=scenario_table(scenarios, metric, pairs),
        charts=charts,
        legend=[Mark(f"dash {way}", f"{way}, {_over(scenarios, way)}") for way in WAYS if known[way]],
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
    x = quantity(shown.title, divisor=shown.divisor)
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


def _over(scenarios: Sequence[tuple[int, Mapping[str, Any] | None]], way: str) -> str:
    """Of how many pairs a total is: direct and assisted totals need not be over the same ones."""
    coverage = next(row["coverage"] for _, row in scenarios if row is not None and row[way] is not None)
    return f"{coverage[way]} of {times(coverage['of'], 'pair')}"


def _sentence(known: Mapping[str, Sequence[tuple[int, Mapping[str, Any]]]], metric: Metric) -> str:
    parts = []
    for way in WAYS:
        if not known[way]:
            parts.append(f"No {way} total is available.")
            continue
        (first, low), (last, high) = known[way][0], known[way][-1]
        parts.append(
            f"{way.capitalize()}: median {human(low['median'], metric.unit)} for {times(first, 'consumer')}, "
            f"{human(high['median'], metric.unit)} for {last}."
        )
    return " ".join(parts)


def _saving(value: float) -> Cell:
    return Cell(ESTIMATE + signed(value), value, ESTIMATED)
