"""Exact decimal arithmetic: decimal strings in, decimal strings out, nothing rounded (CONTRACTS, "Rates")."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow
from typing import Final

_EXACT: Final = Context(prec=60, traps=[Inexact, InvalidOperation, DivisionByZero, Overflow])
"""Sixty digits hold every sum of 16-digit counters at 12-digit rates that evaluations make; should one ever not fit,
it raises instead of rounding."""

_PER_TOKENS: Final = 6
"""Rates are per million tokens."""


def priced(parts: Iterable[tuple[int | None, str]]) -> Decimal | None:
    """The cost of (tokens, rate per million tokens) parts; None where a count is unknown."""
    amounts = []
    for count, rate in parts:
        if count is None:
            return None
        amounts.append(_EXACT.scaleb(_EXACT.multiply(Decimal(count), Decimal(rate)), -_PER_TOKENS))
    return total(amounts)


def total(amounts: Iterable[Decimal]) -> Decimal:
    """The exact sum."""
    result = Decimal(0)
    for amount in amounts:
        result = _EXACT.add(result, amount)
    return result


def known_total(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """The exact sum; None where there are no amounts or one is unknown."""
    found = list(amounts)
    known = [amount for amount in found if amount is not None]
    return total(known) if known and len(known) == len(found) else None


def difference(minuend: Decimal | None, subtrahend: Decimal | None) -> Decimal | None:
    """The exact difference; None where either is unknown."""
    if minuend is None or subtrahend is None:
        return None
    return _EXACT.subtract(minuend, subtrahend)


def median(amounts: Iterable[Decimal]) -> Decimal:
    """The middle amount, or the exact mean of the two middle ones. `amounts` is not empty."""
    ordered = sorted(amounts)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return _EXACT.divide(_EXACT.add(ordered[middle - 1], ordered[middle]), Decimal(2))


def text(amount: Decimal) -> str:
    """The amount as contracts write it: plain digits without exponent, trailing zeros or a negative zero."""
    plain = f"{amount:f}"
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain in ("-0", "") else plain


def optional_text(amount: Decimal | None) -> str | None:
    """`text`, with None for unknown."""
    return None if amount is None else text(amount)
