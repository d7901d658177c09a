"""Paired costs: differences within each pair first, statistics over pairs after (seed, "Quantitative Reporting").

A value that was not observed is None and makes only what needs it unavailable. An estimated agent cost never enters
a pair: it counts as missing for its own measurement, and is kept elsewhere as a labelled diagnostic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from repocue.domain.measurement import DERIVED, OBSERVED, Source
from repocue.domain.statistics import Spread, spread


class Cost(NamedTuple):
    """One agent's cost in one measurement. `value` is None where `source` is `not_observed`."""

    value: Fraction | None
    source: Source

    @property
    def counted(self) -> Fraction | None:
        """The value where it may enter statistics: observed or derived."""
        return self.value if self.source in (OBSERVED, DERIVED) else None


class PairedCost(NamedTuple):
    """The direct and the assisted agent's cost in one measurement of one pair."""

    direct: Cost
    assisted: Cost

    @property
    def difference(self) -> Fraction | None:
        """Direct minus assisted: positive where the assisted agent needed less; None where either is missing."""
        direct, assisted = self.direct.counted, self.assisted.counted
        return None if direct is None or assisted is None else direct - assisted

    @property
    def percent(self) -> Fraction | None:
        """The difference in percent of the direct cost; None where either is missing or the direct cost is zero."""
        difference, direct = self.difference, self.direct.counted
        return None if difference is None or not direct else difference * 100 / direct


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedStatistics:
    """One measurement over a group's pairs.

    Spreads are over the `complete` pairs alone, those with both costs, of `of` pairs in the group; None where no
    pair is complete. `percent_median` leaves out complete pairs whose direct cost is zero.
    """

    complete: int
    of: int
    direct: Spread | None
    assisted: Spread | None
    difference: Spread | None
    percent_median: Fraction | None


def summarize(pairs: Sequence[PairedCost]) -> PairedStatistics:
    """The statistics of one measurement over all pairs of one group."""
    complete = [
        (direct, assisted)
        for pair in pairs
        if (direct := pair.direct.counted) is not None and (assisted := pair.assisted.counted) is not None
    ]
    differences = [direct - assisted for direct, assisted in complete]
    percents = spread(
        difference * 100 / direct for (direct, _), difference in zip(complete, differences, strict=True) if direct
    )
    return PairedStatistics(
        complete=len(complete),
        of=len(pairs),
        direct=spread(direct for direct, _ in complete),
        assisted=spread(assisted for _, assisted in complete),
        difference=spread(differences),
        percent_median=percents.median if percents else None,
    )
