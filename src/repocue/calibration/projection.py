"""What a number of consumers would cost (seed, "Quantitative Reporting").

::

    direct_i(N)   = N * D_i
    assisted_i(N) = H + N * (A_i + Q_i)
    saving_i(N)   = direct_i(N) - assisted_i(N)

D_i and A_i are pair i's direct and assisted agent cost, Q_i its comparable full cue cost, H the recorded local epoch
maintenance, once. Every result is an estimate, even at a consumer count that was measured. Tokens have Q = 0 and
H = 0: an agent's tokens already contain the supplied context, and the deterministic core uses no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from repocue.domain.statistics import Spread, spread

CONSUMERS = (1, 2, 3, 5, 10)
"""The scenarios that every report shows; `--consumers N` adds others."""


class Components(NamedTuple):
    """One pair's parts in one measurement; None is unknown, never zero."""

    direct: Fraction | None
    assisted: Fraction | None
    cue: Fraction | None


class Totals(NamedTuple):
    """One pair's totals for one number of consumers; each is None where a part that it needs is unknown."""

    direct: Fraction | None
    assisted: Fraction | None
    saving: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """The totals of one measurement for `consumers` agents over all pairs; None where no pair has the total."""

    consumers: int
    direct: Spread | None
    assisted: Spread | None
    saving: Spread | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """The consumers from which the assisted way is strictly cheaper, over pairs.

    `finite` of the `of` pairs with all parts known have such a number; `counts` is None where none has.
    """

    finite: int
    of: int
    counts: Spread | None


def totals(parts: Components, maintenance: Fraction | None, consumers: int) -> Totals:
    """The seed's formulas for one pair. `maintenance` is H, None where it is unavailable."""
    direct = None if parts.direct is None else consumers * parts.direct
    assisted = None
    if maintenance is not None and parts.assisted is not None and parts.cue is not None:
        assisted = maintenance + consumers * (parts.assisted + parts.cue)
    saving = None if direct is None or assisted is None else direct - assisted
    return Totals(direct, assisted, saving)


def scenario(pairs: Sequence[Components], maintenance: Fraction | None, consumers: int) -> Scenario:
    """Per-pair totals first, then their median and range."""
    rows = [totals(parts, maintenance, consumers) for parts in pairs]
    return Scenario(
        consumers=consumers,
        direct=_spread(row.direct for row in rows),
        assisted=_spread(row.assisted for row in rows),
        saving=_spread(row.saving for row in rows),
    )


def scenarios(pairs: Sequence[Components], maintenance: Fraction | None, counts: Iterable[int]) -> list[Scenario]:
    """`scenario` for several numbers of consumers.

    For one number each total is an increasing linear function of a pair's D, A + Q or g, so that its median and range
    over pairs are those of D, A + Q or g put through it: they are looked for once.
    """
    direct = _spread(parts.direct for parts in pairs)
    assisted = _spread(
        None if parts.assisted is None or parts.cue is None else parts.assisted + parts.cue for parts in pairs
    )
    gap = _spread(map(_gap, pairs))
    if maintenance is None:
        return [Scenario(consumers=n, direct=_linear(direct, n), assisted=None, saving=None) for n in counts]
    return [
        Scenario(
            consumers=n,
            direct=_linear(direct, n),
            assisted=_linear(assisted, n, maintenance),
            saving=_linear(gap, n, -maintenance),
        )
        for n in counts
    ]


def first_cheaper_count(parts: Components, maintenance: Fraction | None) -> int | None:
    """`floor(H / g) + 1` for a positive gap g = D - (A + Q); None where g is not positive or unknown."""
    gap = _gap(parts)
    if gap is None or maintenance is None or gap <= 0:
        return None
    return maintenance // gap + 1


def break_even(pairs: Sequence[Components], maintenance: Fraction | None) -> BreakEven:
    """The first strictly cheaper count of every pair whose parts are all known."""
    known = [parts for parts in pairs if _gap(parts) is not None] if maintenance is not None else []
    counts = [count for parts in known if (count := first_cheaper_count(parts, maintenance)) is not None]
    return BreakEven(finite=len(counts), of=len(known), counts=_spread(Fraction(count) for count in counts))


def consumer_counts(requested: Iterable[int]) -> tuple[int, ...]:
    """The fixed scenarios and the requested ones, each once, ascending."""
    return tuple(sorted({*CONSUMERS, *requested}))


def _gap(parts: Components) -> Fraction | None:
    if parts.direct is None or parts.assisted is None or parts.cue is None:
        return None
    return parts.direct - (parts.assisted + parts.cue)


def _linear(found: Spread | None, times: int, plus: Fraction | int = 0) -> Spread | None:
    return None if found is None else Spread(*(plus + times * value for value in found))


def _spread(values: Iterable[Fraction | None]) -> Spread | None:
    return spread(value for value in values if value is not None)
