"""Pairs, inventory and verdict follow the seed's rules; nothing unknown is ever counted as nothing."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.evaluation.cache.pairs import JudgedStep, Quality, inventory, pairs, verdict

GOOD = Quality(delivery=True, correctness=True, compliance=True)


def step(name: str, cycle: int | None, usd: str | None, reads: int | None = 0, **more: Any) -> JudgedStep:
    arm = "cache" if name.startswith("c") else "baseline" if name.startswith("b") else "probe"
    values: dict[str, Any] = {"quality": GOOD, "is_cost_unknown": usd is None} | more
    return JudgedStep(
        id=name, arm=arm, cycle=cycle, usd=None if usd is None else Decimal(usd), cache_read_tokens=reads, **values
    )


def cycle(number: int = 1, **changes: Any) -> list[JudgedStep]:
    """Two prompts: 0.010 + 0.012 without, 0.013 (the first write) + 0.004 with the cache."""
    return [
        step("b1", number, "0.010", **changes),
        step("b2", number, "0.012", **changes),
        step("c1", number, "0.013", 0, **changes),
        step("c2", number, "0.004", 900, **changes),
    ]


def test_a_pair_worked_by_hand() -> None:
    (pair,) = pairs([*cycle(), step("p1", None, "9", 5)])
    assert pair.to_json() == {
        "cycle": 1,
        "complete": True,
        "baseline_usd": "0.022",
        "cache_usd": "0.017",
        "difference_usd": "0.005",
        "initial_request_usd": "0.013",
        "subsequent_requests_usd": "0.004",
        "observed_reuse_count": 1,
        "quality": {"delivery": True, "correctness": True, "compliance": True},
    }
    assert verdict([pair], required_pairs=1, has_rates=True).to_json() == {
        "status": "savings",
        "reasons": ["median-difference-usd: 0.005 over 1 complete cycles"],
    }


def test_the_first_cache_request_counts_as_initial_also_when_it_read() -> None:
    (pair,) = pairs([step("b1", 1, "1"), step("c1", 1, "0.3", 100), step("b2", 1, "1"), step("c2", 1, "0.2", 100)])
    assert (pair.initial_request_usd, pair.subsequent_requests_usd) == (Decimal("0.3"), Decimal("0.2"))
    assert pair.observed_reuse_count == 2


def test_one_cache_request_has_no_subsequent_total() -> None:
    (pair,) = pairs([step("b1", 1, "1"), step("c1", 1, "0.3")])
    assert pair.subsequent_requests_usd is None
    assert pair.cache_usd == Decimal("0.3")


def test_an_unknown_read_makes_the_reuse_count_unknown_and_an_unknown_cost_its_totals_only() -> None:
    steps = cycle()
    (pair,) = pairs([*steps[:2], step("c1", 1, "0.013", None), steps[3]])
    assert pair.observed_reuse_count is None
    assert pair.is_complete
    (pair,) = pairs([*steps[:3], step("c2", 1, None, 900)])
    assert (pair.is_complete, pair.baseline_usd, pair.cache_usd, pair.difference_usd) == (
        False,
        Decimal("0.022"),
        None,
        None,
    )
    assert (pair.initial_request_usd, pair.subsequent_requests_usd) == (Decimal("0.013"), None)


@pytest.mark.parametrize("name", ["delivery", "correctness", "compliance"])
def test_one_failed_answer_fails_the_pair_and_one_unknown_leaves_it_unknown(name: str) -> None:
    for value in (False, None):
        odd = Quality(**({"delivery": True, "correctness": True, "compliance": True} | {name: value}))
        steps = [*cycle()[:3], step("c2", 1, "0.004", 900, quality=odd)]
        (pair,) = pairs(steps)
        assert getattr(pair.quality, name) is value
        result = verdict([pair], required_pairs=1, has_rates=True)
        assert result.status == "not-established"
        assert result.reasons == (f"{name}-{'failed' if value is False else 'unknown'}: cycle 1",)
    both = [step("b1", 1, "1", quality=Quality(delivery=False)), step("c1", 1, "1", quality=Quality(delivery=None))]
    assert pairs(both)[0].quality.delivery is False


def test_lower_cost_without_an_observed_read_is_not_savings() -> None:
    steps = [*cycle()[:3], step("c2", 1, "0.004", 0)]
    result = verdict(pairs(steps), required_pairs=1, has_rates=True)
    assert result.status == "not-established"
    assert result.reasons == ("reuse-not-observed: no request of cycle 1 read from the cache",)


def test_every_complete_cycle_must_hold_and_enough_of_them_be_complete() -> None:
    two = pairs([*cycle(1), *cycle(2)])
    assert verdict(two, required_pairs=2, has_rates=True).status == "savings"
    assert verdict(two, required_pairs=3, has_rates=True).reasons == (
        "pairs-missing: 2 of 3 required cycles have every cost known",
    )
    broken = pairs([*cycle(1), *cycle(2)[:3], step("c2", 2, None)])
    assert verdict(broken, required_pairs=1, has_rates=True).status == "savings"
    assert verdict(broken, required_pairs=2, has_rates=True).status == "not-established"


def test_every_gate_and_no_lower_cost_is_no_savings_also_at_exactly_zero() -> None:
    for cache_cost in ("0.018", "0.5"):
        steps = [*cycle()[:2], step("c1", 1, "0.004"), step("c2", 1, cache_cost, 900)]
        assert verdict(pairs(steps), required_pairs=1, has_rates=True).status == "no-savings"


def test_without_rates_or_pairs_nothing_is_established() -> None:
    assert verdict([], required_pairs=1, has_rates=False).status == "not-established"
    unknown = pairs([step("b1", 1, None), step("c1", 1, None, 5)])
    result = verdict(unknown, required_pairs=1, has_rates=False)
    assert [reason.partition(":")[0] for reason in result.reasons] == ["rates-missing", "pairs-missing"]


def test_known_costs_of_unsuccessful_steps_stay_and_an_unknown_attempt_suppresses_the_complete_total() -> None:
    wrong = step("b1", 1, "0.010", quality=Quality(delivery=True, correctness=False))
    never_began = step("b2", 1, None, None, is_cost_unknown=False)
    assert inventory([wrong, never_began]).to_json() == {"known_usd": "0.01", "complete_usd": "0.01"}
    lost = step("c1", 1, None, None)
    assert inventory([wrong, lost]).to_json() == {"known_usd": "0.01", "complete_usd": None}
    assert inventory([lost]).to_json() == {"known_usd": None, "complete_usd": None}
    assert inventory([never_began]).to_json() == {"known_usd": None, "complete_usd": None}
    assert inventory([step("p", None, "0.5"), wrong]).known_usd == Decimal("0.51")


COST = st.none() | st.decimals(0, 10, places=6)


@given(st.lists(st.tuples(COST, COST, COST, st.none() | st.integers(0, 3)), min_size=1, max_size=8))
def test_totals_differences_and_the_verdict_follow_from_the_parts(cycles: list[Any]) -> None:
    steps = []
    for number, (base, first, second, reads) in enumerate(cycles, 1):
        for name, usd, read in (("b1", base, 0), ("c1", first, 0), ("c2", second, reads)):
            steps.append(step(name, number, None if usd is None else str(usd), read))
    found = pairs(steps)
    differences = []
    for pair, (base, first, second, _reads) in zip(found, cycles, strict=True):
        complete = None not in (base, first, second)
        assert pair.is_complete == complete
        if complete:
            differences.append(Fraction(base) - Fraction(first) - Fraction(second))
            assert Fraction(pair.difference_usd) == differences[-1]
        else:
            assert None in (pair.difference_usd, pair.subsequent_requests_usd, pair.initial_request_usd)
    result = verdict(found, required_pairs=1, has_rates=True)
    reused = all(pair.observed_reuse_count for pair in found if pair.is_complete)
    if differences and reused:
        assert result.status == ("savings" if median(differences) > 0 else "no-savings")
    else:
        assert result.status == "not-established"
    known = [cost for row in cycles for cost in row[:3] if cost is not None]
    assert inventory(steps).known_usd == (sum(known) if known else None)
