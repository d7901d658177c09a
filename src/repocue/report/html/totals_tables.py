"""Projected totals and break-evens as tables and in words: always estimates, and marked as such. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from repocue.domain.measurement import ESTIMATED, NOT_OBSERVED
from repocue.report.html.figure import Cell, Table, span
from repocue.report.html.metrics import Metric, metric
from repocue.report.html.numbers import exact, signed, times
from repocue.report.html.pairs import AMBIGUOUS, DAGGER, is_ambiguous
from repocue.report.html.text import plain

WAYS: Final = ("direct", "assisted")

ESTIMATE: Final = "\N{ALMOST EQUAL TO}"


def scenario_table(scenarios: Sequence[tuple[int, Mapping[str, Any] | None]], metric: Metric, pairs: int) -> Table:
    unit = {"ms": " (ms)", "bytes": " (bytes)", "tokens": " (tokens)", "count": ""}[metric.unit]
    rows = []
    for n, total in scenarios:
        cells = [Cell(exact(n), n)]
        for way in WAYS:
            spread = None if total is None else total[way]
            for key in ("median", "min", "max"):
                value = None if spread is None else spread[key]
                cells.append(
                    Cell("not available", None, NOT_OBSERVED)
                    if value is None
                    else Cell(ESTIMATE + exact(value), value, ESTIMATED)
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


def totals_table(group: Mapping[str, Any], names: Sequence[str]) -> Table:
    """The totals of several measurements, one row for each number of consumers."""
    rows = []
    for name in names:
        mark = DAGGER if is_ambiguous(group, name) else ""
        for scenario in group["scenarios"]:
            total = scenario["totals"][name]
            parts = [cell for part in (*WAYS, "saving") for cell in _total_cells(total, part)]
            rows.append(
                (
                    Cell(plain(metric(name).label) + mark),
                    Cell(exact(scenario["consumers"]), scenario["consumers"]),
                    *parts,
                )
            )
    return Table(
        caption="Estimated totals, medians and ranges over pairs",
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
        Cell(ESTIMATE + form(spread["median"]), spread["median"], ESTIMATED),
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
                else Cell(ESTIMATE + exact(even["median"]), even["median"], ESTIMATED),
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
