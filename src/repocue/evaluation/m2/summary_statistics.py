"""Medians and ranges of a group's runs, condition by condition and in pairs (ARCHITECTURE §6). Pure.

Every figure stands beside the number of runs that it is over, of how many there are. Pairs are made within one set
first: the direct and one assisted run, both comparable, both with a value that counts. A ratio is one of two medians
over the same pairs, and divides out from the two numbers that are printed; it is never a mean of ratios.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from repocue.domain.measurement import DERIVED, ESTIMATED, OBSERVED
from repocue.domain.statistics import Spread, exact, number, spread
from repocue.evaluation.m2.summary_runs import Run, SetRuns
from repocue.scoring.measurements import METRICS


class Counted(NamedTuple):
    """Statistics over the `n` known of `of` values; `spread` is None where none is known."""

    n: int
    of: int
    spread: Spread | None

    def to_json(self, times: int = 1) -> dict[str, Any]:
        """`{n, of, median, min, max}` of the values, each `times` as much."""
        figures: dict[str, Any] = {"median": None, "min": None, "max": None}
        if self.spread is not None:
            figures = Spread(*(times * value for value in self.spread)).to_json()
        return {"n": self.n, "of": self.of, **figures}


def over(values: Iterable[Fraction | None]) -> Counted:
    """The statistics of the known ones of some values."""
    every = list(values)
    known = [value for value in every if value is not None]
    return Counted(len(known), len(every), spread(known))


def counted(values: Iterable[Fraction | None]) -> dict[str, Any]:
    """`{n, of, median, min, max}`: statistics over the `n` known of `of` values; null where none is known."""
    return over(values).to_json()


def ratio(part: float | None, whole: float | None) -> dict[str, Any]:
    """`{part, whole, value}`, exactly as the two printed numbers give it; null where it is undefined."""
    value = None if part is None or not whole else number(exact(part) / exact(whole))
    return {"part": part, "whole": whole, "value": value}


def condition_metrics(runs: Sequence[Run]) -> dict[str, Any]:
    """Each metric over one condition's runs, with what was left out and why."""
    return {metric: _metric(runs, metric) for metric in METRICS}


def _metric(runs: Sequence[Run], metric: str) -> dict[str, Any]:
    """`of` are all runs of the condition; n + contaminated + estimated + not_observed = of."""
    comparable = [run.value(metric) for run in runs if run.is_comparable]
    sources = [value.source for value in comparable]
    return {
        **counted(run.counted(metric) for run in runs),
        "observed": sources.count(OBSERVED),
        "derived": sources.count(DERIVED),
        "left_out": {
            "contaminated": sum(run.ran and not run.is_comparable for run in runs),
            "estimated": sources.count(ESTIMATED),
            "not_observed": sum(value.value is None for value in comparable) + sum(not run.ran for run in runs),
        },
        "ambiguous_zeros": sum(metric in run.zeros for run in runs),
    }


def comparison(sets: Sequence[SetRuns], condition: str) -> dict[str, Any]:
    """One assisted condition beside direct, over the pairs of all sets in which runners ran."""
    pairs = [(one.run("direct"), one.run(condition)) for one in sets if one.metadata is not None]
    comparable = [pair for pair in pairs if pair[0].is_comparable and pair[1].is_comparable]
    return {
        "condition": condition,
        "pairs": len(pairs),
        "comparable": len(comparable),
        "direct_first": sum(direct.position < assisted.position for direct, assisted in pairs),
        "metrics": {metric: _paired(pairs, metric) for metric in METRICS},
    }


def _paired(pairs: Sequence[tuple[Run, Run]], metric: str) -> dict[str, Any]:
    """Differences are direct minus assisted, pair by pair: positive where the assisted run needed less."""
    complete = []
    for direct, assisted in pairs:
        before, after = direct.counted(metric), assisted.counted(metric)
        if before is not None and after is not None:
            complete.append((before, after))
    direct_median = _figures(before for before, _ in complete)
    assisted_median = _figures(after for _, after in complete)
    return {
        "n": len(complete),
        "of": len(pairs),
        "direct": direct_median,
        "assisted": assisted_median,
        "difference": _figures(before - after for before, after in complete),
        "ratio": ratio(
            assisted_median["median"] if assisted_median else None, direct_median["median"] if direct_median else None
        ),
    }


def _figures(values: Iterable[Fraction]) -> dict[str, Any] | None:
    found = spread(values)
    return None if found is None else found.to_json()


def cue_sizes(sets: Sequence[SetRuns], condition: str) -> dict[str, Any]:
    """What one condition supplied: observed sizes, the runtime's estimates as they are, and durations apart.

    `command_ms` is the full shipped command, `builder_ms` a diagnostic of the harness.
    """
    runs = [one.run(condition) for one in sets]
    return {
        "contract": runs[0].cue_contract,
        "max_tokens": sets[0].first["cue"]["max_tokens"],
        "bytes": counted(Fraction(run.cue_bytes) for run in runs),
        "estimated_tokens": sorted({run.cue_estimated_tokens for run in runs}),
        "command_ms": counted(run.cue_ms for run in runs),
        "builder_ms": counted(run.builder_ms for run in runs),
    }
