"""The schedule of nine pairs, what counts of it, and what carries a verdict."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from repocue.cli import evaluate_task_text
from repocue.evaluation.task import schedule
from tests.evaluate_task.scene import Scene, bundle, policy, steps, summary

SCHEDULE = [
    (1, "explanation", 1, "overview-first"),
    (2, "discovery", 1, "task-first"),
    (3, "verification", 1, "overview-first"),
    (4, "explanation", 2, "task-first"),
    (5, "discovery", 2, "overview-first"),
    (6, "verification", 2, "task-first"),
    (7, "explanation", 3, "overview-first"),
    (8, "discovery", 3, "task-first"),
    (9, "verification", 3, "overview-first"),
]
"""The contract's schedule, written out."""

USED = {"overview": {1: 4000, 2: 1500, 3: 2900}, "task": {1: 1000, 2: 2000, 3: 2800}}
"""Uncached input tokens by arm and repeat; output is 10 and nothing is cached."""


def test_the_schedule_is_the_contracts() -> None:
    found = [
        (schedule.pair_number(kind, repeat), kind, repeat, schedule.order_of(kind, repeat))
        for repeat in (1, 2, 3)
        for kind in ("explanation", "discovery", "verification")
    ]
    assert found == SCHEDULE
    assert 2 * len(found) == 18


def script(kind: str, repeat: int, **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        arm: steps(kind, usage=[[USED[arm][repeat], 0, 10, 0]], **changes) for arm in ("overview", "task")
    }
    return made


Runs = Callable[..., str]


@pytest.fixture
def runs(shared: Scene, tmp_path: Path) -> Runs:
    """`runs(kind, repeat, **more)`: a performed pair below `tmp_path`, as scripted by USED."""
    numbers = iter(range(100))

    def run(kind: str, repeat: int, changes: Any = None, **more: Any) -> str:
        parent = tmp_path / str(next(numbers))
        parent.mkdir()
        folder = shared.copied(parent, kind, repeat, **more)
        shared.perform(folder, script(kind, repeat, **(changes or {})))
        return folder

    return run


def assessed(*folders: str) -> dict[str, Any]:
    return summary(*folders, bundle=bundle(summary(*folders)))


def test_nine_whole_pairs_carry_a_verdict_and_each_is_matched_before_medians(runs: Runs) -> None:
    folders = [runs(kind, repeat) for _, kind, repeat, _ in SCHEDULE]
    plain = summary(*folders)
    assert {group["verdict"]["status"] for group in plain["groups"]} == {"not-established"}
    document = assessed(*folders)
    gaps = [USED["overview"][repeat] - USED["task"][repeat] for repeat in (1, 2, 3)]
    assert statistics.median(gaps) == 100  # not the difference of medians, 2900 - 2000 = 900
    for group in document["groups"]:
        assert group["evidence"] == "descriptive"
        assert group["metrics"]["input_tokens"]["difference"] == {"median": 100, "min": -500, "max": 3000}
        assert group["metrics"]["input_tokens"]["coverage"] == {"complete": 3, "of": 3}
        # 100 more uncached input tokens at 125 credits per million
        assert group["metrics"]["credits"]["difference"]["median"] == "0.0125"
        assert group["verdict"] == {
            "status": "savings",
            "metric": "credits",
            "reasons": ["median-difference: 0.0125 credits over 3 pairs"],
        }
    (overall,) = document["overall"]
    assert overall["coverage"] == {"complete": 9, "of": 9}
    assert overall["verdict"]["reasons"] == ["median-difference: 0.0125 credits over 9 pairs"]
    assert overall["verdict"]["status"] == "savings"
    spent = 3 * sum(tokens + 10 for arm in USED.values() for tokens in arm.values())
    credits = 3 * sum(Fraction(125 * tokens + 1000 * 10, 10**6) for arm in USED.values() for tokens in arm.values())
    (inventory,) = document["inventory"]
    assert inventory["executions"] == 18
    assert inventory["complete_total_tokens"] == spent
    assert Fraction(inventory["complete_credits"]) == credits
    text = evaluate_task_text.summary(document)
    assert text.count("Verdict: savings, by credits") == 4
    for name in ("account billing", "CPU", "memory", "filesystem I/O", "task-ready latency"):
        assert name in document["not_observed"]
        assert name in text


def test_three_pairs_without_rates_are_decided_by_total_tokens_and_said_so(runs: Runs) -> None:
    paid = policy(rates=None)
    document = assessed(*[runs("discovery", repeat, paid=paid) for repeat in (1, 2, 3)])
    (group,) = document["groups"]
    assert group["verdict"]["metric"] == "total_tokens"
    assert group["verdict"]["status"] == "savings"
    (overall,) = document["overall"]
    assert overall["verdict"]["status"] == "not-established"
    assert [one.partition(":")[0] for one in overall["verdict"]["reasons"]] == ["benchmark-missing"] * 2


def test_a_missing_wrong_or_undelivered_pair_keeps_a_verdict_from_being_reached_but_not_from_costing(
    runs: Runs,
) -> None:
    first, second = runs("discovery", 1), runs("discovery", 2)
    document = assessed(first, second)
    (group,) = document["groups"]
    assert (group["evidence"], group["coverage"]) == ("exploratory", {"complete": 2, "of": 3})
    assert group["verdict"]["reasons"] == ["pair-missing: pair 8, discovery repeat 3, was not attempted in its order"]
    wrong = runs("discovery", 3, {"answer": "no answer", "prompt": "another prompt"})
    document = assessed(first, second, wrong)
    (group,) = document["groups"]
    names = {reason.partition(":")[0] for reason in group["verdict"]["reasons"]}
    assert names == {"provision-failed", "correctness-failed", "compliance-unknown"}
    assert group["verdict"]["status"] == "not-established"
    assert group["metrics"]["credits"]["coverage"] == {"complete": 3, "of": 3}
    assert document["inventory"][0]["executions"] == 6
    assert document["inventory"][0]["complete_credits"] is not None


def test_the_first_journaled_pair_of_a_cell_counts_whatever_became_of_it(runs: Runs) -> None:
    failed = runs("explanation", 1, {"exit": 1})
    again = runs("explanation", 1, order="overview-first")
    document = assessed(failed, again)
    by_name = {pair["folder"]: pair for pair in document["pairs"]}
    assert by_name[os.path.basename(failed)]["counted"]
    assert not by_name[os.path.basename(again)]["counted"]
    assert by_name[os.path.basename(again)]["reasons"][0].startswith("cell-taken")
    (group,) = document["groups"]  # the failed pair names no adapter, and may have been of this one
    assert group["identity"]["adapter"] == "scripted-task-runner"
    assert group["cells"][0]["folder"] == os.path.basename(failed)
    assert group["cells"][0]["not_counted"] == [os.path.basename(again)]
    assert f"pair-failed: {os.path.basename(failed)}" in group["verdict"]["reasons"]
    spent = {one["adapter"]: one for one in document["inventory"]}
    assert spent["scripted-task-runner"]["known_credits"] is not None
    assert spent["scripted-task-runner"]["complete_credits"] is None


def test_a_pair_in_another_order_is_reported_and_not_counted(runs: Runs) -> None:
    folder = runs("explanation", 1, order="task-first")
    document = assessed(folder)
    (pair,) = document["pairs"]
    assert (pair["counted"], pair["status"]) == (False, "complete")
    assert pair["reasons"][0].startswith("order-not-scheduled")
    assert [one["attempt"].rpartition("/")[2] for one in pair["attempts"]] == ["1-task", "2-overview"]
    (group,) = document["groups"]
    assert group["cells"][0]["folder"] is None
    assert group["evidence"] == "none"
    assert document["inventory"][0]["executions"] == 2


def test_nothing_is_pooled_that_was_not_run_alike(runs: Runs) -> None:
    plain = runs("discovery", 1)
    other_policy = runs("discovery", 2, paid=policy(reasoning_effort="low"))
    other_adapter = runs("discovery", 3, {"patch": {"/metadata/adapter": "another"}})
    document = assessed(plain, other_policy, other_adapter)
    assert len(document["groups"]) == 3
    assert {group["coverage"]["complete"] for group in document["groups"]} == {1}
    assert len(document["overall"]) == 3
    assert [one["adapter"] for one in document["inventory"]] == ["another", "scripted-task-runner"]


def test_a_prepared_folder_without_attempts_is_shown_and_belongs_to_no_group(shared: Scene) -> None:
    document = summary(shared.prepared())
    assert (document["groups"], document["overall"], document["inventory"]) == ([], [], [])
    assert document["pairs"][0]["status"] == "not-attempted"
    assert "Nothing was run." in evaluate_task_text.summary(document)


def test_summary_as_a_command_prints_json_and_text_and_writes_nothing(shared: Scene, runs: Runs) -> None:
    folder = runs("explanation", 1)
    before = sorted((path, path.stat().st_mtime_ns) for path in Path(folder).rglob("*"))
    options = ("evaluate-task", "summary", "--input-directory", folder)
    # nothing but the interpreter itself may be started: there is no git on this PATH, and no home or key
    bare = {"PATH": "/nonexistent", "HOME": "/nonexistent"}
    result = shared.repocue(*options, env=bare)
    assert result.code == 0, result.stderr
    assert result.document == summary(folder)
    text = shared.repocue(*options, "--format", "text", env=bare).stdout.decode()
    assert "overview - task" in text
    assert "Verdict: not-established" in text
    assert sorted((path, path.stat().st_mtime_ns) for path in Path(folder).rglob("*")) == before


def test_what_is_no_evidence_is_refused_by_name(shared: Scene, tmp_path: Path) -> None:
    for name in (tmp_path, tmp_path / "missing"):
        result = shared.repocue("evaluate-task", "summary", "--input-directory", str(name))
        assert (result.code, result.error["code"]) == (1, "evaluation.input")
        assert str(name) in result.error["message"]
    folder = shared.copied(tmp_path)
    os.unlink(os.path.join(folder, "manifest.json"))
    result = shared.repocue("evaluate-task", "summary", "--input-directory", str(tmp_path))
    assert "manifest.json" in result.error["message"]
