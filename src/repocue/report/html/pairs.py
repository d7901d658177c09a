"""Pairs in one measurement: their values with sources, their table, and what they say in a sentence. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

from repocue.domain.measurement import DERIVED, ESTIMATED, OBSERVED
from repocue.domain.statistics import exact as fraction
from repocue.domain.statistics import number
from repocue.report.html.figure import NOTHING, Cell, Table
from repocue.report.html.metrics import Metric
from repocue.report.html.numbers import exact, human, percent, signed, times
from repocue.report.html.text import plain

MOST_TABLED: Final = 200

AMBIGUOUS: Final = (
    "\N{DAGGER} A zero of report version 3 may stand for a counter that the agent's program left out; "
    "it cannot be told from an observed one. Values made from such a zero are marked too."
)

DAGGER: Final = "\N{NARROW NO-BREAK SPACE}\N{DAGGER}"


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


def sentence(statistics: Mapping[str, Any] | None, metric: Metric, pairs: int) -> str:
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


def pairs_table(pairs: Sequence[Pair], metric: Metric, statistics: Mapping[str, Any] | None) -> Table:
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
    text = exact(cost.value) + (DAGGER if cost.is_ambiguous else "")
    return Cell(f"\N{ALMOST EQUAL TO}{text}" if cost.source == ESTIMATED else text, cost.value, cost.source)


def _difference(pair: Pair) -> Cell:
    difference = pair.difference
    if difference is None:
        return NOTHING
    if not pair.is_counted:
        return Cell("not counted", None, ESTIMATED)
    value = number(difference)
    return Cell(signed(value), value)
