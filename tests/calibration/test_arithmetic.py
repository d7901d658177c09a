"""The seed's formulas ("Quantitative Reporting"), each with numbers worked by hand beside it."""

from __future__ import annotations

from fractions import Fraction
from statistics import median as plain_median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.calibration.pairing import Cost, PairedCost, summarize
from repocue.calibration.projection import (
    Components,
    break_even,
    consumer_counts,
    first_cheaper_count,
    scenario,
    scenarios,
    totals,
)
from repocue.domain.statistics import exact, median, number, spread, status


def cost(value: int | None, source: str = "observed") -> Cost:
    return Cost(None if value is None else Fraction(value), source if value is not None else "not_observed")  # type: ignore[arg-type]  # sources are literals


def pairs(direct: list[int | None], assisted: list[int | None]) -> list[PairedCost]:
    return [PairedCost(cost(d), cost(a)) for d, a in zip(direct, assisted, strict=True)]


def parts(direct: int | None, assisted: int | None, cue: int | None) -> Components:
    return Components(*(None if value is None else Fraction(value) for value in (direct, assisted, cue)))


def test_the_median_of_differences_is_not_the_difference_of_medians() -> None:
    # 100 - 90 = 10, 200 - 1 = 199, 300 - 299 = 1: median 10; the medians 200 and 90 differ by 110.
    statistics = summarize(pairs([100, 200, 300], [90, 1, 299]))
    assert statistics.difference == (10, 1, 199)
    assert statistics.direct is not None
    assert statistics.assisted is not None
    assert statistics.direct.median - statistics.assisted.median == 110
    # 10 %, 99.5 %, 1/3 %: the median percentage is 10, taken over pairs as well.
    assert statistics.percent_median == 10


def test_a_missing_cost_lowers_coverage_and_leaves_the_other_pairs_alone() -> None:
    statistics = summarize(pairs([100, None, 300], [90, 1, None]))
    assert (statistics.complete, statistics.of) == (1, 3)
    assert statistics.difference == (10, 10, 10)
    assert statistics.direct == (100, 100, 100)  # an unpaired direct cost would make the columns incomparable


def test_an_estimated_agent_cost_never_enters_a_pair() -> None:
    estimated = PairedCost(cost(100), cost(1, "estimated"))
    statistics = summarize([estimated, *pairs([50], [40])])
    assert (statistics.complete, statistics.of) == (1, 2)
    assert statistics.difference == (10, 10, 10)


def test_a_direct_cost_of_zero_has_a_difference_and_no_percentage() -> None:
    statistics = summarize(pairs([0], [5]))
    assert statistics.difference == (-5, -5, -5)
    assert statistics.percent_median is None


def test_totals_follow_the_seed() -> None:
    # D = 1000, A = 600, Q = 50, H = 700 and N = 3: 3000; 700 + 3 * 650 = 2650; 350 saved.
    assert totals(parts(1000, 600, 50), Fraction(700), 3) == (3000, 2650, 350)


def test_maintenance_is_counted_once_whatever_the_number_of_consumers() -> None:
    one, ten = (totals(parts(10, 5, 1), Fraction(100), n).assisted for n in (1, 10))
    assert (one, ten) == (106, 160)


@pytest.mark.parametrize(
    ("components", "maintenance", "expected"),
    [
        (parts(None, 600, 50), Fraction(700), (None, 2650, None)),
        (parts(1000, None, 50), Fraction(700), (3000, None, None)),
        (parts(1000, 600, None), Fraction(700), (3000, None, None)),
        (parts(1000, 600, 50), None, (3000, None, None)),
    ],
)
def test_a_missing_part_suppresses_only_the_totals_that_need_it(
    components: Components, maintenance: Fraction | None, expected: tuple[int | None, ...]
) -> None:
    assert totals(components, maintenance, 3) == expected


@pytest.mark.parametrize(
    ("maintenance", "direct", "assisted", "cue", "count"),
    [
        (700, 1000, 600, 50, 3),  # g = 350: 700 / 350 = 2 exactly, equal at 2, strictly cheaper from 3
        (699, 1000, 600, 50, 2),  # floor(1.997) + 1
        (0, 1000, 600, 50, 1),
        (700, 650, 600, 50, None),  # g = 0: never strictly cheaper
        (700, 600, 600, 50, None),  # g < 0
    ],
)
def test_break_even_is_the_first_strictly_cheaper_count(
    maintenance: int, direct: int, assisted: int, cue: int, count: int | None
) -> None:
    assert first_cheaper_count(parts(direct, assisted, cue), Fraction(maintenance)) == count


def test_break_even_says_how_many_pairs_have_one() -> None:
    result = break_even([parts(1000, 600, 50), parts(600, 600, 50), parts(None, 1, 1)], Fraction(700))
    assert (result.finite, result.of) == (1, 2)
    assert result.counts == (3, 3, 3)


def test_unknown_maintenance_leaves_no_break_even_at_all() -> None:
    result = break_even([parts(1000, 600, 50)], None)
    assert (result.finite, result.of, result.counts) == (0, 0, None)


def test_requested_consumers_join_the_fixed_scenarios_once() -> None:
    assert consumer_counts([7, 3, 7]) == (1, 2, 3, 5, 7, 10)


def test_one_and_two_pairs_are_exploratory_and_three_descriptive() -> None:
    assert [status(n) for n in (0, 1, 2, 3, 4)] == [
        "unavailable",
        "exploratory",
        "exploratory",
        "descriptive",
        "descriptive",
    ]


def test_a_measured_decimal_is_kept_as_it_was_written() -> None:
    assert exact(0.1) == Fraction(1, 10)
    assert exact(1e-7) == Fraction(1, 10_000_000)
    assert number(Fraction(1, 3)) == 0.333333
    assert number(Fraction(4, 2)) == 2
    assert isinstance(number(Fraction(4, 2)), int)


def test_no_values_have_no_median() -> None:
    assert spread([]) is None
    with pytest.raises(ValueError, match="no values"):
        median([])


amounts = st.none() | st.integers(0, 2**53 - 1) | st.decimals(0, 10**9, places=3).map(Fraction)


@given(st.lists(st.tuples(amounts, amounts, amounts), max_size=7), amounts, st.integers(1, 10**6))
def test_scenarios_and_break_even_agree_with_plain_arithmetic(
    rows: list[tuple[Fraction | int | None, Fraction | int | None, Fraction | int | None]],
    maintenance: Fraction | int | None,
    consumers: int,
) -> None:
    """Law: the spread of per-pair savings, and a break-even count N is cheaper while N - 1 is not."""
    components = [Components(*(None if v is None else Fraction(v) for v in row)) for row in rows]
    h = None if maintenance is None else Fraction(maintenance)
    savings = sorted(
        consumers * Fraction(d) - (h + consumers * (Fraction(a) + Fraction(q)))
        for d, a, q in rows
        if d is not None and a is not None and q is not None and h is not None
    )
    shown = scenario(components, h, consumers).saving
    if not savings:
        assert shown is None
    else:
        assert shown is not None
        half = len(savings) // 2
        middle = savings[half] if len(savings) % 2 else (savings[half - 1] + savings[half]) / 2
        assert shown == (middle, savings[0], savings[-1])
    for item in components:
        count = first_cheaper_count(item, h)
        if count is None:
            continue
        cheaper, before = totals(item, h, count).saving, totals(item, h, count - 1).saving
        assert cheaper is not None
        assert before is not None
        assert cheaper > 0 >= before


COSTS = st.none() | st.fractions(0, 10**6, max_denominator=1000)


@given(
    st.lists(st.builds(Components, COSTS, COSTS, COSTS), max_size=7), COSTS, st.lists(st.integers(1, 1000), max_size=4)
)
def test_several_scenarios_at_once_are_each_of_them(
    pairs: list[Components], maintenance: Fraction | None, counts: list[int]
) -> None:
    assert scenarios(pairs, maintenance, counts) == [scenario(pairs, maintenance, count) for count in counts]


@given(st.lists(st.fractions(), min_size=1, max_size=30))
def test_a_spread_is_that_of_the_sorted_values_whatever_their_denominators(values: list[Fraction]) -> None:
    ordered = sorted(values)
    assert spread(values) == (plain_median(values), ordered[0], ordered[-1])
