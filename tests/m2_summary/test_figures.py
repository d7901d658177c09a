"""Every figure of a summary against plain fractions over the raw reports, and some by hand."""

from __future__ import annotations

import tempfile
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.m2_summary import oracle
from tests.m2_summary.scenes import CONDITIONS, of, only_group, summary, three_runs
from tests.support.m2_sets import COMMANDS, Agent, turn, write_set

METRICS = (
    "total_tokens",
    "input_tokens",
    "uncached_input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "execution_duration_ms",
    "tool_calls",
    "command_executions",
    "git_calls",
    "filesystem_search_calls",
    "repository_files_named",
    "named_file_size_proxy_bytes",
    "discovery_commands",
    "discovery_files_named",
    "discovery_size_proxy_bytes",
)


def test_a_median_of_differences_is_not_the_difference_of_medians(tmp_path: Any) -> None:
    """Pairs 1100/1000, 2100/1600 and 3100/3200: differences 100, 500, -100, median 100; medians 2100 and 1600."""
    three_runs(tmp_path)
    figures = of(only_group(summary(tmp_path))["comparisons"], "basic")["metrics"]["total_tokens"]
    assert figures == {
        "n": 3,
        "of": 3,
        "direct": {"median": 2100, "min": 1100, "max": 3100},
        "assisted": {"median": 1600, "min": 1000, "max": 3200},
        "difference": {"median": 100, "min": -100, "max": 500},
        "ratio": {"part": 1600, "whole": 2100, "value": 0.761905},
    }


def test_uncached_input_stands_beside_input(tmp_path: Any) -> None:
    """Direct: input 1000, 2000, 3000 with 400 cached each; placebo 300 cached each."""
    three_runs(tmp_path)
    direct = of(only_group(summary(tmp_path))["conditions"], "direct")["metrics"]
    assert (direct["input_tokens"]["median"], direct["cached_input_tokens"]["median"]) == (2000, 400)
    uncached = direct["uncached_input_tokens"]
    assert (uncached["median"], uncached["min"], uncached["max"], uncached["derived"]) == (1600, 600, 2600, 3)


def test_reuse_pays_baseline_and_refresh_once_and_the_rest_for_each_agent(tmp_path: Any) -> None:
    """Baselines 80.5, 81.5, 90; refresh 20.5; the command 80.953 ms, 1001 bytes; two lookups over a file of 4100."""
    three_runs(tmp_path)
    reuse = only_group(summary(tmp_path))["reuse"]
    assert reuse["source"] == "derived"
    rows = of(reuse["conditions"], "basic")["consumers"]
    assert [row["consumers"] for row in rows] == [1, 2, 3, 5, 10]
    ten = {name: value["median"] for name, value in rows[4].items() if name != "consumers"}
    assert ten == {
        "baseline_ms": 81.5,
        "refresh_ms": 20.5,
        "cue_ms": 809.53,
        "cue_bytes": 10010,
        "discovery_commands": 20,
        "discovery_files_named": 10,
        "discovery_size_proxy_bytes": 41000,
        "agent_total_tokens": 16000,
        "agent_duration_ms": 18005,
    }
    direct = of(reuse["conditions"], "direct")["consumers"][4]
    assert [direct[name] for name in ("baseline_ms", "refresh_ms", "cue_ms", "cue_bytes")] == [None] * 4
    ranked = of(reuse["conditions"], "ranked")["consumers"][0]
    assert ranked["cue_ms"] == {"n": 0, "of": 3, "median": None, "min": None, "max": None}


def test_an_estimated_value_enters_no_statistics_and_costs_only_its_own_coverage(tmp_path: Any) -> None:
    for run in (1, 2, 3):
        statuses = {"execution_duration_ms": "estimated"} if run == 2 else {}
        write_set(tmp_path, run_index=run, agents={"basic": Agent(duration_ms=run * 1000.0, statuses=statuses)})
    group = only_group(summary(tmp_path))
    figures = of(group["conditions"], "basic")["metrics"]
    duration = figures["execution_duration_ms"]
    assert (duration["n"], duration["of"], duration["median"], duration["max"]) == (2, 3, 2000, 3000)
    assert duration["left_out"] == {"contaminated": 0, "estimated": 1, "not_observed": 0}
    assert figures["total_tokens"]["n"] == 3
    paired = of(group["comparisons"], "basic")["metrics"]
    assert (paired["execution_duration_ms"]["n"], paired["total_tokens"]["n"]) == (2, 3)
    kept = [one["metrics"]["execution_duration_ms"] for one in group["reports"] if one["condition"] == "basic"]
    assert kept[1] == {"value": 2000, "source": "estimated"}


def test_a_difference_with_an_estimated_part_is_an_estimate(tmp_path: Any) -> None:
    write_set(tmp_path, agents={"basic": Agent(statuses={"cached_input_tokens": "estimated"})})
    figures = of(only_group(summary(tmp_path))["conditions"], "basic")["metrics"]
    assert figures["uncached_input_tokens"]["left_out"]["estimated"] == 1
    assert figures["uncached_input_tokens"]["median"] is None
    assert figures["input_tokens"]["n"] == 1


@pytest.mark.parametrize("part", ["input_tokens", "output_tokens"])
def test_a_total_with_an_estimated_part_is_an_estimate_whatever_it_calls_itself(tmp_path: Any, part: str) -> None:
    for run in (1, 2, 3):
        write_set(tmp_path, run_index=run, agents={"basic": Agent(statuses={part: "estimated"})})
    group = only_group(summary(tmp_path))
    total = of(group["conditions"], "basic")["metrics"]["total_tokens"]
    assert (total["n"], total["median"], total["left_out"]["estimated"]) == (0, None, 3)
    paired = of(group["comparisons"], "basic")["metrics"]["total_tokens"]
    assert (paired["n"], paired["of"], paired["difference"]) == (0, 3, None)


def test_unknown_is_never_zero(tmp_path: Any) -> None:
    """One run whose second turn came without usage: totals are unknown, not zero, and other runs stand alone."""
    unknown = Agent(turns=[turn(500, 100, 50, 5), {}], duration_ms=None)
    write_set(tmp_path, run_index=1, agents={"ranked": unknown})
    write_set(tmp_path, run_index=2, agents={"ranked": Agent(turns=[turn(0, 0, 0, 0)])})
    figures = of(only_group(summary(tmp_path))["conditions"], "ranked")["metrics"]
    for name in ("total_tokens", "input_tokens", "uncached_input_tokens", "cached_input_tokens", "output_tokens"):
        assert (figures[name]["n"], figures[name]["median"]) == (1, 0), name
        assert figures[name]["left_out"]["not_observed"] == 1
        assert figures[name]["ambiguous_zeros"] == 0
    assert figures["execution_duration_ms"]["n"] == 1


def test_a_zero_of_version_3_is_counted_as_ambiguous(tmp_path: Any) -> None:
    write_set(tmp_path, version=3, agents={"basic": Agent(turns=[turn(500, 0, 50, 0)])})
    document = summary(tmp_path)
    figures = of(only_group(document)["conditions"], "basic")["metrics"]
    assert (figures["cached_input_tokens"]["median"], figures["cached_input_tokens"]["ambiguous_zeros"]) == (0, 1)
    assert figures["input_tokens"]["ambiguous_zeros"] == 0
    assert any("zero may stand for a counter" in text for text in document["limitations"])


counts = st.integers(0, 5000)
durations = st.one_of(st.none(), st.integers(0, 10_000), st.decimals(0, 10_000, places=3).map(float))
turns = st.lists(
    st.builds(
        lambda whole, part, out, drop: {
            name: number for name, number in turn(whole, min(part, whole), out, out // 2).items() if name not in drop
        },
        counts,
        counts,
        counts,
        st.sets(st.sampled_from(("input_tokens", "cached_input_tokens", "output_tokens")), max_size=1),
    ),
    min_size=1,
    max_size=3,
)
scripted = st.builds(
    Agent,
    turns=turns,
    duration_ms=durations,
    commands=st.lists(st.sampled_from((*COMMANDS, ("repocue cue", "other", ()))), max_size=4).map(tuple),
    size_proxy_bytes=st.one_of(st.none(), counts),
)
groups = st.lists(st.fixed_dictionaries(dict.fromkeys(CONDITIONS, scripted)), min_size=1, max_size=4)


@given(made=groups, orders=st.permutations(CONDITIONS))
@settings(max_examples=12, phases=(Phase.generate,))  # shrinking writes sets for minutes
def test_every_figure_is_what_plain_fractions_over_the_raw_reports_give(
    made: list[dict[str, Agent]], orders: list[str]
) -> None:
    """The law: no figure of a summary depends on anything but the raw values, exactly, and each says of how many."""
    with tempfile.TemporaryDirectory() as parent:
        folders = [
            write_set(parent, run_index=run, agents=agents, order=orders, baseline_ms=80 + run * 0.1)
            for run, agents in enumerate(made, start=1)
        ]
        raw = [oracle.read(folder) for folder in folders]
        document = summary(parent)
    group = only_group(document)
    for condition in CONDITIONS:
        row = of(group["conditions"], condition)
        assert list(row["metrics"]) == list(METRICS)
        for metric in METRICS:
            expected = oracle.counted(oracle.value(one[condition], metric) for one in raw)
            found = row["metrics"][metric]
            assert {name: found[name] for name in expected} == expected, (condition, metric)
            assert found["n"] + sum(found["left_out"].values()) == found["of"]
            assert found["observed"] + found["derived"] == found["n"]
        rows = of(group["reuse"]["conditions"], condition)["consumers"]
        assert rows == [oracle.reused(raw, condition, consumers) for consumers in oracle.CONSUMERS]
        if condition != "direct":
            compared = of(group["comparisons"], condition)["metrics"]
            assert compared == {metric: oracle.paired(raw, condition, metric) for metric in METRICS}
    for ratio in oracle.ratios(document):
        if "reason" not in ratio:
            assert ratio == oracle.divided(ratio["part"], ratio["whole"])
    positions = {row["position"]: row for row in group["order"]["positions"]}
    for place, condition in enumerate(orders, start=1):
        for metric, figures in positions[place]["metrics"].items():
            assert figures == oracle.counted(oracle.value(one[condition], metric) for one in raw)


def test_sizes_of_cues_are_observed_and_their_estimates_stand_apart(tmp_path: Any) -> None:
    for run, size in ((1, 1001), (2, 1004), (3, 1400)):
        write_set(tmp_path, run_index=run, cue_bytes={"ranked": size})
    cue = of(only_group(summary(tmp_path))["conditions"], "ranked")["cue"]
    assert cue["bytes"] == {"n": 3, "of": 3, "median": 1004, "min": 1001, "max": 1400}
    assert cue["estimated_tokens"] == [251, 350]
    assert (cue["max_tokens"], cue["contract"]) == (500, "repocue/cue-2")


def test_an_aggregate_is_over_the_medians_of_complete_groups_of_two_repositories(tmp_path: Any) -> None:
    """Two repositories with basic totals of 1600 and 1000 by median; a third has one run and is left out."""
    three_runs(tmp_path, repository={"name": "alpha", "resolved_root": "/a"})
    flat = {"agents": {"direct": Agent(turns=[turn(1900, 0, 100)]), "basic": Agent(turns=[turn(900, 0, 100)])}}
    three_runs(tmp_path, repository={"name": "beta", "resolved_root": "/b"}, **flat)
    write_set(tmp_path, repository={"name": "gamma", "resolved_root": "/c"})
    document = summary(tmp_path)
    assert [one["name"] for one in document["repositories"]] == ["alpha", "beta", "gamma"]
    (pool,) = document["aggregate"]["pools"]
    assert [one["repository"] for one in pool["groups"]] == ["alpha", "beta"]
    totals = of(pool["conditions"], "basic")["metrics"]["total_tokens"]
    assert totals == {"n": 2, "of": 2, "median": 1300, "min": 1000, "max": 1600}
    compared = of(pool["comparisons"], "basic")["metrics"]["total_tokens"]
    assert compared["difference"] == {"median": 550, "min": 100, "max": 1000}
    assert compared["ratio"] == {"part": 1300, "whole": 2050, "value": 0.634146}
    assert document["aggregate"]["left_out"] == [{"group": "group-3", "reason": "It has fewer than 15 reports."}]


def test_there_is_no_aggregate_of_one_repository(tmp_path: Any) -> None:
    three_runs(tmp_path)
    aggregate = summary(tmp_path)["aggregate"]
    assert aggregate["pools"] == []
    assert aggregate["left_out"] == [{"group": "group-1", "reason": "No other repository was measured the same way."}]
