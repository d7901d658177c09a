"""Costs in USD, exactly: decimal strings in, decimal strings out, nothing rounded (CONTRACTS, "Rates")."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow
from typing import Final, Protocol

from repocue.evaluation.cache.usage import Usage

_EXACT: Final = Context(prec=60, traps=[Inexact, InvalidOperation, DivisionByZero, Overflow])
"""Sixty digits hold 32 costs of five categories of 16-digit counters at 12-digit rates; should any sum ever not fit,
it raises instead of rounding."""

_PER_TOKENS: Final = 6
"""Rates are per million tokens."""


class Rates(Protocol):
    """Prices in USD per million tokens as decimal strings, as `contracts.types.cache.UsdRates` holds them."""

    @property
    def input(self) -> str: ...
    @property
    def cache_write_5m(self) -> str: ...
    @property
    def cache_write_1h(self) -> str: ...
    @property
    def cache_read(self) -> str: ...
    @property
    def output(self) -> str: ...


def cost(usage: Usage, rates: Rates | None) -> Decimal | None:
    """What the tokens cost at these rates; None where a priced category is unknown or there are no rates.

    The aggregate of cache writes and the thinking within output are in other categories already.
    """
    if rates is None:
        return None
    parts = (
        (usage.input_tokens, rates.input),
        (usage.ephemeral_5m_input_tokens, rates.cache_write_5m),
        (usage.ephemeral_1h_input_tokens, rates.cache_write_1h),
        (usage.cache_read_input_tokens, rates.cache_read),
        (usage.output_tokens, rates.output),
    )
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
