"""Exact medians and ranges (ARCHITECTURE §6): no mean, no significance, nothing rounded before it is printed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from repocue.domain.measurement import MAX_COUNTER

DECIMALS = 6
"""Places kept where an exact value has no finite short decimal form (percentages, odd medians)."""


class Spread(NamedTuple):
    """The median of some values with the smallest and the largest of them."""

    median: Fraction
    minimum: Fraction
    maximum: Fraction

    def to_json(self) -> dict[str, int | float]:
        """The contract's `{median, min, max}`."""
        return {"median": number(self.median), "min": number(self.minimum), "max": number(self.maximum)}


def exact(value: float) -> Fraction:
    """The decimal value that `value` shows, as an exact fraction: 0.1 is one tenth, not the nearest binary number."""
    return Fraction(value) if isinstance(value, int) else Fraction(Decimal(repr(value)))


def number(value: Fraction) -> int | float:
    """An exact value as JSON shows it: an integer where it is one and every reader keeps it, else at most six decimals.

    Beyond 2^53 - 1 it is the nearest binary number, written with an exponent.
    """
    if value.denominator == 1 and abs(value.numerator) <= MAX_COUNTER:
        return value.numerator
    return float(round(value, DECIMALS))


def as_declared(value: Fraction) -> int | float:
    """A measured value as it was declared, unrounded: the inverse of `exact`."""
    return value.numerator if value.denominator == 1 and abs(value.numerator) <= MAX_COUNTER else float(value)


def median(values: Iterable[Fraction]) -> Fraction:
    """The middle value, or the half-way point of the two middle ones. Raises ValueError where there are none."""
    ordered = _ordered(values)
    if not ordered:
        raise ValueError("no median of no values")
    return _middle(ordered)


def spread(values: Iterable[Fraction]) -> Spread | None:
    """Median, minimum and maximum; None where there are no values."""
    ordered = _ordered(values)
    return Spread(_middle(ordered), ordered[0], ordered[-1]) if ordered else None


_COMMON_BITS = 256


def _ordered(values: Iterable[Fraction]) -> list[Fraction]:
    """The values, sorted. Comparing fractions is slow, so multiples of a common part are compared where it is small."""
    every = list(values)
    common = 1
    for value in every:
        common = math.lcm(common, value.denominator)
        if common.bit_length() > _COMMON_BITS:
            return sorted(every)
    return sorted(every, key=lambda value: value.numerator * (common // value.denominator))


def _middle(ordered: Sequence[Fraction]) -> Fraction:
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def status(pairs: int) -> str:
    """`unavailable` without a pair, `exploratory` for one or two, `descriptive` from three (ARCHITECTURE §6)."""
    if pairs == 0:
        return "unavailable"
    return "descriptive" if pairs >= 3 else "exploratory"
