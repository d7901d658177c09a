"""Costs agree to the last digit with an exact hand calculation and with an independent price library."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.evaluation.cache import money
from repocue.evaluation.cache.usage import Usage, read
from tests.cache import samples

CATEGORIES = {
    "input": "input_tokens",
    "cache_write_5m": "ephemeral_5m_input_tokens",
    "cache_write_1h": "ephemeral_1h_input_tokens",
    "cache_read": "cache_read_input_tokens",
    "output": "output_tokens",
}


def rates(**changes: str) -> Any:
    return SimpleNamespace(**samples.rates(**changes))


def usage(**counts: int | None) -> Usage:
    return Usage(**{name: counts.get(name, 0) for name in CATEGORIES.values()})


def test_one_request_worked_by_hand() -> None:
    """10 ordinary at 2, 20 written for 5 minutes at 2.50, 10 for an hour at 4, 7 read at 0.10, 5 output at 10 USD per
    million: 20 + 50 + 40 + 0.7 + 50 = 160.7 millionths. The aggregate of 30 and 4 tokens of thinking cost nothing more.
    """
    found = read(
        {
            "input_tokens": 10,
            "cache_creation_input_tokens": 30,
            "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 10},
            "cache_read_input_tokens": 7,
            "output_tokens": 5,
            "output_tokens_details": {"thinking_tokens": 4},
        },
        ttl="5m",
    )
    assert money.cost(found, rates()) == Decimal("0.0001607")


RATE = st.builds(
    lambda number, places: format(Decimal(number).scaleb(-places), "f"), st.integers(0, 10**11 - 1), st.integers(0, 10)
)
"""Decimal strings of at most 12 digits."""
COUNT = st.integers(0, 2**53 - 1)


@given(counts=st.tuples(*[COUNT] * 5), prices=st.tuples(*[RATE] * 5))
def test_any_usage_at_any_rates_costs_the_exact_sum_of_products(counts: Any, prices: Any) -> None:
    found = money.cost(
        usage(**dict(zip(CATEGORIES.values(), counts, strict=True))),
        rates(**dict(zip(CATEGORIES, prices, strict=True))),
    )
    assert found is not None
    exact = sum(count * Fraction(price) for count, price in zip(counts, prices, strict=True)) / 1_000_000
    assert Fraction(found) == exact
    assert Fraction(money.text(found)) == exact


@given(
    model=st.sampled_from(["claude-sonnet-5-5", "claude-opus-4-7", "claude-haiku-4-5-20251001"]),
    counts=st.tuples(*[st.integers(0, 10**9)] * 5),
    thinking=st.integers(0, 10**6),
)
def test_an_independent_price_library_agrees_to_the_last_digit(model: str, counts: Any, thinking: int) -> None:
    genai_prices = pytest.importorskip("genai_prices")
    plain, five, hour, cached, output = counts
    body = samples.message(
        model=model,
        usage={
            "input_tokens": plain,
            "cache_creation_input_tokens": five + hour,
            "cache_creation": {"ephemeral_5m_input_tokens": five, "ephemeral_1h_input_tokens": hour},
            "cache_read_input_tokens": cached,
            "output_tokens": output + thinking,
            "output_tokens_details": {"thinking_tokens": thinking},
        },
    )
    when = datetime(2026, 11, 1, tzinfo=UTC)
    extracted = genai_prices.extract_usage(body, provider_id="anthropic")
    theirs = genai_prices.calc_price(extracted.usage, model, provider_id="anthropic", genai_request_timestamp=when)
    prices = theirs.model_price
    ours = money.cost(
        read(body["usage"], ttl="5m"),
        rates(
            input=str(prices.input_mtok),
            cache_write_5m=str(prices.cache_write_mtok),
            cache_write_1h=str(prices.cache_write_1h_mtok),
            cache_read=str(prices.cache_read_mtok),
            output=str(prices.output_mtok),
        ),
    )
    assert ours == theirs.total_price


@pytest.mark.parametrize("name", CATEGORIES.values())
def test_one_unknown_category_makes_the_cost_unknown_and_zero_does_not(name: str) -> None:
    assert money.cost(usage(**{name: None}), rates()) is None
    assert money.cost(usage(**{name: 0}), rates()) == 0


def test_the_aggregate_and_thinking_need_not_be_known() -> None:
    assert Usage(**dict.fromkeys(CATEGORIES.values(), 1)).cache_creation_input_tokens is None
    assert money.cost(Usage(**dict.fromkeys(CATEGORIES.values(), 1)), rates()) == Decimal("0.0000186")


def test_without_rates_no_cost_is_known() -> None:
    assert money.cost(usage(), None) is None


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("0", "0"),
        ("-0.00", "0"),
        ("1.2300", "1.23"),
        ("1E+3", "1000"),
        ("1E-9", "0.000000001"),
        ("-0.50", "-0.5"),
        ("100", "100"),
        ("12345678901234567890.12345678901234567890", "12345678901234567890.1234567890123456789"),
    ],
)
def test_amounts_are_written_in_plain_digits(amount: str, expected: str) -> None:
    assert money.text(Decimal(amount)) == expected
    assert json.loads(json.dumps(money.optional_text(Decimal(amount)))) == expected
    assert money.optional_text(None) is None


def test_totals_differences_and_medians_are_exact_and_unknown_where_a_part_is() -> None:
    amounts = [Decimal("0.1"), Decimal("0.2"), Decimal("1E-30")]
    assert money.total(amounts) == Decimal("0.300000000000000000000000000001")
    assert money.known_total([*amounts, None]) is None
    assert money.known_total([]) is None
    assert money.difference(Decimal("0.1"), Decimal("0.3")) == Decimal("-0.2")
    assert money.difference(None, Decimal(1)) is None
    assert money.median([Decimal(3), Decimal(1), Decimal("2.5")]) == Decimal("2.5")
    assert money.median([Decimal(3), Decimal(1), Decimal(2), Decimal("2.5")]) == Decimal("2.25")


def test_a_sum_that_would_be_rounded_is_an_error_and_not_an_approximation() -> None:
    from decimal import Inexact

    with pytest.raises(Inexact):
        money.total([Decimal("1E+59"), Decimal("1E-9")])
