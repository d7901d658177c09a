"""Kinds of fault that users reported of savings claims elsewhere, and that must be impossible here."""

from __future__ import annotations

from pathlib import Path

from tests.m2_summary.scenes import CONDITIONS, of, only_group, summary
from tests.support.m2_sets import Agent, turn, write_set


def test_a_warm_cache_of_those_that_ran_later_is_not_taken_for_a_gain(tmp_path: Path) -> None:
    """Direct always runs first and pays the cache's warm-up; every other condition does exactly the same work.

    Uncached input falls from 1000 to 100, for the placebo too, and total tokens do not: the order is named as what
    may explain it, and no condition is said to need fewer tokens.
    """
    for run in (1, 2, 3):
        same = {name: Agent(turns=[turn(1000, 0 if name == "direct" else 900, 100)]) for name in CONDITIONS}
        write_set(tmp_path, run_index=run, agents=same)
    group = only_group(summary(tmp_path))
    for name in CONDITIONS[1:]:
        metrics = of(group["comparisons"], name)["metrics"]
        assert metrics["uncached_input_tokens"]["difference"]["median"] == 900
        assert metrics["input_tokens"]["difference"]["median"] == 0
        assert metrics["total_tokens"]["ratio"]["value"] == 1
    places = [row["metrics"]["uncached_input_tokens"]["median"] for row in group["order"]["positions"]]
    assert places == [1000, 100, 100, 100, 100]
    assert group["order"]["separability"] == "inseparable"
    assert "fewer-tokens" not in {verdict["status"] for verdict in group["verdicts"]}


def test_a_ratio_is_of_medians_and_not_a_mean_of_ratios(tmp_path: Path) -> None:
    """Pairs 100/50, 100/100 and 1000/900: ratios 0.5, 1 and 0.9 with a mean of 0.8; the medians are 100 and 100."""
    for run, (direct, basic) in enumerate(((100, 50), (100, 100), (1000, 900)), start=1):
        agents = {"direct": Agent(turns=[turn(direct, 0, 0)]), "basic": Agent(turns=[turn(basic, 0, 0)])}
        write_set(tmp_path, run_index=run, agents=agents)
    figures = of(only_group(summary(tmp_path))["comparisons"], "basic")["metrics"]["total_tokens"]
    assert figures["ratio"] == {"part": 100, "whole": 100, "value": 1}


def test_cached_and_reasoning_tokens_are_parts_and_are_counted_once(tmp_path: Path) -> None:
    """1000 input of which 900 cached, 200 output of which 150 reasoning: 1200 tokens, 100 of the input uncached."""
    write_set(tmp_path, agents={"basic": Agent(turns=[turn(1000, 900, 200, 150)])})
    metrics = of(only_group(summary(tmp_path))["conditions"], "basic")["metrics"]
    assert (metrics["total_tokens"]["median"], metrics["uncached_input_tokens"]["median"]) == (1200, 100)


def test_a_loss_is_shown_as_one(tmp_path: Path) -> None:
    """The assisted agent needs 1400 tokens where direct needs 1100: less by -300, a ratio above one."""
    write_set(tmp_path, agents={"ranked": Agent(turns=[turn(1300, 0, 100)])})
    figures = of(only_group(summary(tmp_path))["comparisons"], "ranked")["metrics"]["total_tokens"]
    assert figures["difference"]["median"] == -300
    assert figures["ratio"] == {"part": 1400, "whole": 1100, "value": 1.272727}


def test_a_direct_run_that_used_the_tool_is_not_the_other_side_of_any_pair(tmp_path: Path) -> None:
    """Without a clean direct run there is nothing to compare with, however many assisted runs there are."""
    for run in (1, 2, 3):
        write_set(tmp_path, run_index=run, agents={"direct": Agent(commands=[("repocue cue", "other", ())])})
    group = only_group(summary(tmp_path))
    for name in CONDITIONS[1:]:
        compared = of(group["comparisons"], name)
        assert (compared["pairs"], compared["comparable"]) == (3, 0)
        assert compared["metrics"]["total_tokens"]["ratio"] == {"part": None, "whole": None, "value": None}
    assert len([one for one in group["findings"] if one["category"] == "contaminated"]) == 3
