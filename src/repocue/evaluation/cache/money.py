"""Costs in USD, exactly: decimal strings in, decimal strings out, nothing rounded (CONTRACTS, "Rates")."""

from __future__ import annotations

from decimal import Decimal
from typing import Protocol

from repocue.evaluation.cache.usage import Usage
from repocue.evaluation.shared.exact import difference, known_total, median, optional_text, priced, text, total

__all__ = ["Rates", "cost", "difference", "known_total", "median", "optional_text", "text", "total"]


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
    return priced(parts)
