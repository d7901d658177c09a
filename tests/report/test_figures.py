"""The figures of a report, worked out by hand, and held to a plain exact-fraction reading of the seed's formulas."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from statistics import median as plain_median
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repocue.contracts import reader
from repocue.report.window import Window, window
from repocue.scoring.measurements import TOKENS
from repocue.store.calibrations import Amount
from tests.report import made
from tests.report.made import BASIC, H_MS, Document, amounts, document, material, pair, stored


def group(found: Document, place: int = 0) -> Document:
    result: Document = found["agent_evidence"]["groups"][place]
    return result


def of(*pairs: tuple[int, int], cue_ms: float | None = 0.0) -> Document:
    """A report over pairs of direct and assisted total tokens, which are their milliseconds as well."""
    return document(
        material(
            calibrations=[
                stored(place, pair(str(place), place, amounts(d, float(d)), amounts(a, float(a)), cue_ms=cue_ms))
                for place, (d, a) in enumerate(pairs, start=1)
            ],
            opinions=(),
        )
    )


def test_paired_differences_come_before_their_median() -> None:
    # 1100 - 1090 = 10, 1200 - 1001 = 199, 1300 - 1299 = 1; the medians 1200 and 1090 would differ by 110.
    metric = group(of((1100, 1090), (1200, 1001), (1300, 1299)))["metrics"]["total_tokens"]
    assert metric["difference"] == {"median": 10, "min": 1, "max": 199}
    assert (metric["direct"]["median"], metric["assisted"]["median"]) == (1200, 1090)


@pytest.mark.parametrize(("pairs", "expected"), [(1, "exploratory"), (2, "exploratory"), (3, "descriptive")])
def test_one_or_two_pairs_are_exploratory_and_three_descriptive(pairs: int, expected: str) -> None:
    found = of(*[(1100, 1000)] * pairs)
    assert (found["agent_evidence"]["status"], group(found)["status"]) == (expected, expected)


def test_h_is_every_full_duration_of_the_current_epoch_once() -> None:
    # 180 (baseline) + 70.5 (no-op, in a cue) + 110.25 (failed) + 89.25; scan parts are in these already.
    current = made.rich()["maintenance"]["current_epoch"]
    assert current == {"id": "epoch-000002", "baseline_runs": 1, "refresh_runs": 3, "duration_ms": H_MS}


def test_h_ignores_since_and_ends_at_until() -> None:
    found = document(material(), window("2026-12-01T04:53:20Z", "2026-12-01T06:00:00Z"))
    # The failed refresh began at 02:53:20, before the window; the last one at 06:53:20, after it.
    assert found["maintenance"]["current_epoch"]["duration_ms"] == 180 + 70.5 + 110.25
    assert found["maintenance"]["runs"] == []


def test_one_unknown_duration_makes_h_and_the_totals_that_need_it_unavailable() -> None:
    found = made.unknown_maintenance()
    assert found["maintenance"]["current_epoch"]["duration_ms"] is None
    totals = group(found)["scenarios"][0]["totals"]
    assert totals["execution_duration_ms"]["direct"] is not None
    assert (totals["execution_duration_ms"]["assisted"], totals["execution_duration_ms"]["saving"]) == (None, None)
    assert totals["total_tokens"]["saving"] is not None  # tokens need no maintenance
    assert group(found)["break_even"]["execution_duration_ms"]["of"] == 0


def test_a_cutoff_before_the_epochs_baseline_leaves_h_unavailable_and_not_zero() -> None:
    found = document(material(), window(None, "2026-11-30T12:00:00Z"))
    assert found["maintenance"]["current_epoch"] == {
        "id": "epoch-000002", "baseline_runs": 0, "refresh_runs": 0, "duration_ms": None,
    }  # fmt: skip


def test_time_pays_the_full_cue_for_every_consumer_and_maintenance_once() -> None:
    # D = 2000, A = 1500, Q = 80.5, H = 450: five consumers cost 10000 or 450 + 5 * 1580.5 = 8352.5.
    found = group(of((2000, 1500), cue_ms=80.5))
    five = next(one for one in found["scenarios"] if one["consumers"] == 5)
    totals = five["totals"]["execution_duration_ms"]
    assert (totals["direct"]["median"], totals["assisted"]["median"], totals["saving"]["median"]) == (
        10000, 8352.5, 1647.5,
    )  # fmt: skip
    # g = 2000 - 1580.5 = 419.5: floor(450 / 419.5) + 1 = 2.
    assert found["break_even"]["execution_duration_ms"] == {"finite": 1, "of": 1, "median": 2, "min": 2, "max": 2}


def test_tokens_pay_neither_cue_nor_maintenance() -> None:
    found = group(of((2000, 1500), cue_ms=80.5))
    totals = found["scenarios"][2]["totals"]["total_tokens"]
    assert (found["scenarios"][2]["consumers"], totals["saving"]["median"]) == (3, 1500)
    assert found["break_even"]["total_tokens"]["median"] == 1  # floor(0 / 500) + 1


def test_without_a_positive_gap_there_is_no_break_even() -> None:
    found = group(of((1000, 1000), (1000, 1200)))
    assert found["break_even"]["total_tokens"] == {"finite": 0, "of": 2, "median": None, "min": None, "max": None}


def test_the_assisted_total_needs_a_cue_cost_and_nothing_else_does() -> None:
    found = group(of((2000, 1500), cue_ms=None))
    assert found["pairs"][0]["cue_delivery"] == "not-established"
    assert found["metrics"]["execution_duration_ms"]["difference"]["median"] == 500
    totals = found["scenarios"][0]["totals"]
    assert totals["execution_duration_ms"]["direct"]["median"] == 2000
    assert totals["execution_duration_ms"]["assisted"] is None
    assert totals["total_tokens"]["assisted"]["median"] == 1500


def test_scenarios_are_always_estimated_and_a_further_count_is_added_once() -> None:
    found = document(material(), consumers=(25, 3, 25))
    scenarios = group(found)["scenarios"]
    assert [one["consumers"] for one in scenarios] == [1, 2, 3, 5, 10, 25]
    assert {one["source"] for one in scenarios} == {"estimated"}


def test_an_estimate_is_shown_labelled_and_raises_the_unknown_coverage_of_its_measurement_alone() -> None:
    found = group(made.rich())
    estimated = found["pairs"][3]["metrics"]
    assert (estimated["total_tokens"]["assisted"], estimated["total_tokens"]["source"]) == (4000, "estimated")
    assert found["metrics"]["total_tokens"]["coverage"] == {
        "complete": 3, "of": 5, "estimated": 1, "not_observed": 1,
    }  # fmt: skip
    assert found["metrics"]["input_tokens"]["coverage"]["complete"] == 5
    # 5000 - 4100 = 900, 6000 - 4500 = 1500, 5500 - 5700 = -200.
    assert found["metrics"]["total_tokens"]["difference"] == {"median": 900, "min": -200, "max": 1500}


def test_groups_are_not_pooled_and_a_version_3_zero_is_marked_where_it_shows() -> None:
    found = made.rich()
    new, legacy = found["agent_evidence"]["groups"]
    assert (new["identity"]["report_version"], legacy["identity"]["report_version"]) == (4, 3)
    assert legacy["pairs"][0]["metrics"]["cached_input_tokens"]["ambiguous_zeros"] == ["direct"]
    assert legacy["metrics"]["cached_input_tokens"]["ambiguous_zeros"] == 1
    assert new["metrics"]["cached_input_tokens"]["ambiguous_zeros"] == 0
    assert any("Version 3" in text for text in found["limitations"])
    assert not any("Version 3" in text for text in made.exploratory()["limitations"])


@pytest.mark.parametrize("member", [field.name for field in dataclasses.fields(BASIC)])
def test_pairs_that_differ_in_any_part_of_their_identity_stand_apart(member: str) -> None:
    value = getattr(BASIC, member)
    other = dataclasses.replace(BASIC, **{member: value + 1 if isinstance(value, int) else f"{value} other"})
    values = amounts(2000, 2000.0)
    both = [stored(1, pair("a", 1, values, values)), stored(2, pair("b", 2, values, values, identity=other))]
    found = document(material(calibrations=both, opinions=()))
    assert [len(one["pairs"]) for one in found["agent_evidence"]["groups"]] == [1, 1]


def test_pairs_that_do_not_count_are_named_with_the_reason() -> None:
    excluded = made.rich()["agent_evidence"]["pairs_excluded"]
    assert [(one["calibration"], one["reason"], one["detail"]) for one in excluded] == [
        ("calibration-000001", "epoch-superseded", "epoch-000001"),
        ("calibration-000007", "contaminated", "direct"),
    ]


def test_without_calibrations_no_saving_is_anywhere() -> None:
    found = made.bare()
    assert found["agent_evidence"] == {"status": "unavailable", "groups": [], "pairs_excluded": []}
    assert "saving" not in str(found).replace("no saving", "")
    assert set(map(len, found["quality"]["deterministic"].values())) == {0}


def test_quality_stands_apart_and_keeps_assessor_date_and_snapshot() -> None:
    quality = made.rich()["quality"]
    direct = quality["deterministic"]["direct"][0]
    # Five pairs, four scored fields each; one direct answer has the branch wrong.
    assert (direct["answers"], direct["all_fields"]) == (5, {"correct": 19, "scored": 20})
    assert direct["untracked"] == {"correct": 0, "scored": 0}
    people = [(one["assessor"], one["assessed_at"], one["snapshot"]) for one in quality["qualitative"]]
    assert len(people) == 4  # the one of a superseded epoch's set is not among them
    assert ("Linus", None, "snapshot-000003") in people


def test_the_answer_of_a_contaminated_run_is_not_scored() -> None:
    values = amounts(2000, 2000.0)
    one = stored(1, pair("a", 1, values, values, contaminated=["ranked"]))
    ranked = document(material(calibrations=[one]))["quality"]["deterministic"]["ranked"][0]
    assert (ranked["answers"], ranked["of"], ranked["all_fields"]) == (0, 1, {"correct": 0, "scored": 0})


def test_cues_are_counted_by_view_in_the_window() -> None:
    epochs = document(material(), Window(made.T0 + 26 * made.HOUR))["maintenance"]["epochs"]
    assert epochs[0]["cues"] == []
    assert [(one["view"], one["served"]) for one in epochs[1]["cues"]] == [("overview", 1), ("ranked", 1)]
    assert epochs[1]["cues"][1]["duration_ms"] == {"total": None, "known": 0, "of": 1}


# A second reading of the formulas: plain fractions, value by value, without the product's types.


@dataclasses.dataclass(frozen=True)
class Plain:
    direct: Amount
    assisted: Amount
    cue: float | None


COUNTS = st.sampled_from([0, 1, 2, 999, 10**6, 2**53 - 1]) | st.integers(0, 5000)
TIMES = st.floats(0, 1e7).map(lambda value: round(value, 3))


def amount(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Amount]:
    sources = st.sampled_from(["observed", "derived", "estimated"])
    return st.tuples(values, sources) | st.just((None, "not_observed"))


def known(value: Amount) -> Fraction | None:
    return None if value[0] is None or value[1] == "estimated" else Fraction(str(value[0]))


def summary(values: list[Fraction]) -> dict[str, Any] | None:
    if not values:
        return None
    return {"median": shown(plain_median(values)), "min": shown(min(values)), "max": shown(max(values))}


def shown(value: Any) -> Any:
    value = Fraction(value)
    if value.denominator == 1 and abs(value) < 2**53:
        return int(value)
    return float(round(value, 6))


def expect(found: Document, name: str, pairs: list[Plain], h: Fraction | None) -> None:
    tokens = name in TOKENS
    once = Fraction(0) if tokens else h
    parts = []
    for one in pairs:
        cue = Fraction(0) if tokens else None if one.cue is None else Fraction(str(one.cue))
        parts.append((known(one.direct), known(one.assisted), cue))
    both = [(d, a) for d, a, _ in parts if d is not None and a is not None]
    metric = found["metrics"][name]
    assert metric["coverage"]["complete"] == len(both)
    coverage = metric["coverage"]
    assert coverage["complete"] + coverage["estimated"] + coverage["not_observed"] == coverage["of"] == len(pairs)
    assert metric["difference"] == summary([d - a for d, a in both])
    percents = [100 * (d - a) / d for d, a in both if d]
    assert metric["percent_median"] == (shown(plain_median(percents)) if percents else None)
    for scenario in found["scenarios"]:
        n, totals = scenario["consumers"], scenario["totals"][name]
        assert totals["direct"] == summary([n * d for d, _, _ in parts if d is not None])
        assisted = [once + n * (a + q) for _, a, q in parts if None not in (once, a, q)]
        assert totals["assisted"] == summary(assisted)
        savings = [n * d - once - n * (a + q) for d, a, q in parts if None not in (once, d, a, q)]
        assert totals["saving"] == summary(savings)
        assert totals["coverage"]["saving"] == len(savings)
        assert totals["coverage"]["assisted"] == len(assisted)
    gaps = [d - a - q for d, a, q in parts if None not in (once, d, a, q)]
    counts = [first_cheaper(once, gap) for gap in gaps if gap > 0]
    spread = summary(counts) or {"median": None, "min": None, "max": None}
    assert found["break_even"][name] == {"finite": len(counts), "of": len(gaps), **spread}


def first_cheaper(h: Any, gap: Fraction) -> Fraction:
    """The first n with h < n * gap, found without the formula: by doubling, then by halving."""
    low, high = 0, 1
    while not h < high * gap:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if h < middle * gap else (middle, high)
    return Fraction(high)


@settings(max_examples=40)
@given(st.lists(st.builds(Plain, amount(COUNTS), amount(COUNTS), st.none() | TIMES), min_size=1, max_size=6), TIMES)
def test_every_figure_is_that_of_plain_fractions(pairs: list[Plain], baseline_ms: float) -> None:
    runs = [made.run(1, "init", epoch=2, at_ms=made.T0, duration_ms=baseline_ms, outcome="published")]
    found = document(
        material(
            runs=runs,
            cue_runs=(),
            opinions=(),
            calibrations=[
                stored(
                    place,
                    pair(
                        str(place),
                        place,
                        amounts(200, 1.0, total_tokens=one.direct, execution_duration_ms=one.direct),
                        amounts(200, 1.0, total_tokens=one.assisted, execution_duration_ms=one.assisted),
                        cue_ms=one.cue,
                    ),
                )
                for place, one in enumerate(pairs, start=1)
            ],
        ),
        consumers=(7,),
    )
    reader.check(found, contract="repocue/report-1")
    for name in ("total_tokens", "execution_duration_ms"):
        expect(group(found), name, pairs, Fraction(str(baseline_ms)))
