"""Credits by the seed's formula, against arithmetic of its own kind."""

from __future__ import annotations

import decimal
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from repocue.contracts.reader import convert
from repocue.contracts.types.task import TaskPolicy
from repocue.domain.measurement import MAX_COUNTER
from repocue.evaluation.shared import exact
from repocue.evaluation.task.credits import cost
from repocue.evaluation.task.usage import UNKNOWN, Usage, of_events
from repocue.runners.usage import UsageEvent
from tests.evaluate_task.scene import policy


def priced(**rates: str) -> TaskPolicy:
    return convert(policy(rates=policy()["rates"] | rates), TaskPolicy)


def test_the_seeds_formula_worked_by_hand() -> None:
    # input 12 000 of which 9 000 are cached, output 1 500 of which 700 are reasoning; 125, 12.5 and 1000 per million:
    # (12 000 - 9 000) * 125  =   375 000
    #            9 000 * 12.5 =   112 500
    #            1 500 * 1000 = 1 500 000     reasoning has no term of its own
    #                           1 987 500 / 1 000 000 = 1.9875
    usage = Usage(
        input_tokens=12_000,
        cached_input_tokens=9_000,
        output_tokens=1_500,
        reasoning_output_tokens=700,
        total_tokens=13_500,
    )
    assert cost(usage, priced(input="125", cached_input="12.5", output="1000")) == Decimal("1.9875")


counters = st.integers(0, MAX_COUNTER)


@st.composite
def rates(draw: st.DrawFn) -> str:
    """A decimal string of at most 12 digits."""
    digits = draw(st.integers(1, 12))
    places = draw(st.integers(0, digits - 1))
    whole = str(draw(st.integers(0, 10 ** (digits - places) - 1)))
    part = "".join(draw(st.lists(st.sampled_from("0123456789"), min_size=places, max_size=places)))
    return f"{whole}.{part}" if part else whole


@given(st.data(), counters, counters, rates(), rates(), rates())
def test_credits_equal_exact_fractions(data: Any, total: int, output: int, a: str, b: str, c: str) -> None:
    cached = data.draw(st.integers(0, total))
    usage = Usage(input_tokens=total, cached_input_tokens=cached, output_tokens=output)
    expected = ((total - cached) * Fraction(a) + cached * Fraction(b) + output * Fraction(c)) / 1_000_000
    found = cost(usage, priced(input=a, cached_input=b, output=c))
    assert found is not None
    assert Fraction(found) == expected
    with decimal.localcontext(decimal.Context(prec=200)):
        written = Decimal(exact.text(found))
        assert Fraction(written) == expected


@given(st.sampled_from(["input_tokens", "cached_input_tokens", "output_tokens"]))
def test_no_missing_part_is_filled_in(name: str) -> None:
    known = {"input_tokens": 10, "cached_input_tokens": 5, "output_tokens": 3}
    assert cost(Usage(**known), priced()) is not None
    assert cost(Usage(**(known | {name: None})), priced()) is None
    assert cost(UNKNOWN, priced()) is None
    assert cost(Usage(**known), None) is None


turns = st.builds(
    lambda i, c, o: UsageEvent(turn=1, input_tokens=i, cached_input_tokens=c, output_tokens=o),
    *[st.none() | st.integers(1, 1000)] * 3,
)


@given(st.lists(turns, min_size=1, max_size=4))
def test_a_sum_exists_only_where_every_turn_has_its_part(events: list[UsageEvent]) -> None:
    found = of_events(events)
    if any(not event.counters() for event in events):
        assert found == UNKNOWN
        return
    for name in ("input_tokens", "cached_input_tokens", "output_tokens"):
        values = [getattr(event, name) for event in events]
        assert getattr(found, name) == (None if None in values else sum(values))
    both = (found.input_tokens, found.output_tokens)
    assert found.total_tokens == (None if None in both else sum(filter(None, both)))


def test_a_turn_without_input_was_not_counted_by_the_program_and_makes_all_unknown() -> None:
    zero = UsageEvent(turn=2, input_tokens=0, cached_input_tokens=0, output_tokens=0, reasoning_output_tokens=0)
    whole = UsageEvent(turn=1, input_tokens=10, cached_input_tokens=0, output_tokens=1, reasoning_output_tokens=0)
    assert of_events([whole]).total_tokens == 11
    assert of_events([whole, zero]) == UNKNOWN
