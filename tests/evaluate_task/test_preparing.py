"""Preparation without a runner: what is frozen, and what is refused without a trace."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from repocue.cli import evaluate_task_text
from repocue.contracts import reader
from repocue.evaluation.shared import manifest
from tests.evaluate_task.conftest import build_scene
from tests.evaluate_task.scene import SOURCES, Scene, benchmark, digest, policy, summary
from tests.support.repos import git


def data(folder: str, name: str) -> bytes:
    return Path(folder, name).read_bytes()


def test_a_preparation_freezes_what_both_arms_would_be_given_and_runs_no_agent(shared: Scene, tmp_path: Path) -> None:
    state = git(shared.root, "status", "--porcelain=v2", "--branch")
    result = shared.evaluate(output=str(tmp_path / "new" / "evidence"), kind="verification", paid=policy())
    assert result.code == 0, result.stderr
    document = result.document
    reader.check(document, contract="repocue/task-preparation-1", kind="prepared")
    assert (document["pair"], document["order"], document["attempts"]) == (3, "overview-first", [])
    assert document["establishes"].startswith("Input readiness only")
    folder = document["prepared_directory"]
    assert sorted(os.listdir(folder)) == [
        "answer-schema.json",
        "attempts",
        "benchmark.json",
        "cue-overview.json",
        "cue-task.json",
        "manifest.json",
        "paid-policy.json",
        "policy.json",
        "preparation.json",
        "refresh.json",
        "task.txt",
    ]
    assert os.listdir(os.path.join(folder, "attempts")) == []
    assert data(folder, "benchmark.json") == Path(shared.folder, "benchmark.json").read_bytes()
    assert data(folder, "paid-policy.json") == Path(shared.folder, "policy.json").read_bytes()
    frozen = json.loads(data(folder, "policy.json"))
    assert frozen["paid"] == policy()
    assert (frozen["sandbox"], frozen["timeout_seconds"], frozen["repeats"]) == ("read-only", 60, 3)
    assert (frozen["overview"]["max_tokens"], frozen["task_context"]["max_tokens"]) == (500, 2000)
    record = json.loads(data(folder, "preparation.json"))
    assert [source["id"] for source in record["sources"]] == SOURCES
    for place, arm in enumerate(("overview", "task")):
        whole = data(folder, "task.txt") + b"\n\n" + data(folder, f"cue-{arm}.json")
        assert document["prompts"][place] == {
            "arm": arm,
            "cue_sha256": digest(data(folder, f"cue-{arm}.json")),
            "prompt_sha256": digest(whole),
            "prompt_bytes": len(whole),
            "estimated_tokens": -(-len(whole) // 4),
        }
        process = record["processes"][arm]
        assert process["stdout_sha256"] == digest(data(folder, f"cue-{arm}.json"))
        assert process["stdout_bytes"] == len(data(folder, f"cue-{arm}.json"))
        assert process["duration_ms"] > 0
        assert process["argv"][1:4] == ["cue", "--view", arm]
    assert record["processes"]["baseline"] is None
    assert record["processes"]["refresh"]["stdout_sha256"] == digest(data(folder, "refresh.json"))
    assert manifest.verify(folder, "manifest.json", schema_version="repocue/manifest-1", leave_out=("attempts",))
    assert git(shared.root, "status", "--porcelain=v2", "--branch") == state
    text = evaluate_task_text.prepared(document)
    assert "sample-verification (verification), repeat 1, overview-first: pair 3 of nine." in text
    assert folder in text
    assert "Input readiness only" in text


def test_the_task_text_says_everything_that_both_arms_need_in_the_order_of_the_contract(shared: Scene) -> None:
    text = data(shared.prepared("verification"), "task.txt").decode()
    parts = [
        "What does the sample do, {really}?",
        ".repocue/task-context.json",
        '{"items":[],"tags":["core"],"kinds":[],"paths":[]}',
        '- command readme: ["git","show","HEAD:README.md"]',
        '- command absent: ["git","grep","-l","nowhere to be found"]',
        'benchmark_id is "sample-verification"',
        "Use the supplied context first.",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert not text.endswith("\n")
    assert "- command " not in data(shared.prepared("explanation"), "task.txt").decode()


def test_the_same_state_freezes_the_same_bytes(shared: Scene, tmp_path: Path) -> None:
    first, second = (
        shared.evaluate(output=str(tmp_path), paid=policy()).document["prepared_directory"] for _ in range(2)
    )
    assert first != second
    for name in ("task.txt", "policy.json", "answer-schema.json"):
        assert data(first, name) == data(second, name)
    prefixes = [json.loads(data(one, "preparation.json"))["cue_prefix_sha256"] for one in (first, second)]
    assert prefixes[0] == prefixes[1]
    stable = data(first, "cue-task.json").partition(b',"task":')[0]
    assert data(second, "cue-task.json").startswith(stable)


def test_an_uninitialised_cache_is_refused_and_stays_uninitialised(shared: Scene, tmp_path: Path) -> None:
    output = tmp_path / "evidence"
    result = shared.evaluate("--cache-dir", str(tmp_path / "cache"), output=str(output))
    assert (result.code, result.error["code"]) == (1, "cache.not-initialized")
    assert not (tmp_path / "cache").exists()
    assert os.listdir(output) == []


@pytest.mark.parametrize(
    ("more", "changes", "code", "says"),
    [
        (["--repeat", "4"], {}, "usage.repeat", "3 repeats"),
        (["--runner", "/bin/true"], {}, "usage.policy", "--policy-file"),
        ([], {"overview": {"view": "overview", "max_tokens": 20}}, "budget.too-small", "overview cue failed"),
        ([], {"rubric": None}, "contract.rule", "rubric"),
        ([], {"task_context": {"max_tokens": 50}}, "budget.too-small", "task cue failed"),
    ],
    ids=["repeat-out-of-range", "runner-without-policy", "overview-budget", "no-rubric", "task-budget"],
)
def test_what_cannot_be_prepared_leaves_nothing(
    shared: Scene, tmp_path: Path, more: list[str], changes: dict[str, Any], code: str, says: str
) -> None:
    result = shared.evaluate(*more, output=str(tmp_path / "evidence"), **changes)
    assert result.code in (1, 2)
    assert result.error["code"] == code
    assert says in result.error["message"]
    assert not (tmp_path / "evidence").exists() or os.listdir(tmp_path / "evidence") == []


def test_a_runner_that_is_no_program_is_refused_before_anything_is_frozen(shared: Scene, tmp_path: Path) -> None:
    result = shared.evaluate("--runner", "./missing", output=str(tmp_path / "evidence"), paid=policy())
    assert (result.code, result.error["code"]) == (1, "evaluation.executable")
    assert not (tmp_path / "evidence").exists()


def test_evidence_inside_the_checkout_is_refused(shared: Scene) -> None:
    for inside in (shared.root, os.path.join(shared.root, ".git", "evidence")):
        assert shared.evaluate(output=inside).error["code"] == "evaluation.inside-checkout"
    assert git(shared.root, "status", "--porcelain") == b""


def test_rates_of_the_future_and_an_unknown_member_are_refused(shared: Scene, tmp_path: Path) -> None:
    future = policy(rates=policy()["rates"] | {"date": "9999-01-01"})
    assert "future" in shared.evaluate(output=str(tmp_path), paid=future).error["message"]
    assert "/surplus" in shared.evaluate(output=str(tmp_path), surplus=1).error["message"]


def test_the_locate_view_is_prepared_or_refused_by_name(shared: Scene, tmp_path: Path) -> None:
    from repocue.contracts.registry import is_known

    result = shared.evaluate(output=str(tmp_path), overview={"view": "locate", "max_tokens": 800})
    if is_known("repocue/locate-1"):
        assert result.code == 0, result.stderr
        record = json.loads(data(result.document["prepared_directory"], "preparation.json"))
        argv = record["processes"]["overview"]["argv"]
        assert argv[1:6] == ["cue", "--view", "locate", "--task-file", "<benchmark>"]
        cue = json.loads(data(result.document["prepared_directory"], "cue-overview.json"))
        assert cue["schema_version"] == "repocue/locate-1"
        assert summary(result.document["prepared_directory"])["pairs"][0]["status"] == "not-attempted"
    else:
        assert result.error["code"] == "evaluation.view"
        assert "locate" in result.error["message"]
        assert os.listdir(tmp_path) == []


def test_a_declaration_that_differs_from_head_prepares_nothing(tmp_path: Path, repocue_exe: list[str]) -> None:
    scene = build_scene(tmp_path, repocue_exe)
    Path(scene.root, "README.md").write_text("other\n")
    result = scene.evaluate()
    assert result.code == 1
    assert "README.md" in result.error["message"]
    assert os.listdir(tmp_path / "evidence") == []


def test_warnings_name_what_keeps_a_verdict_from_being_reached(shared: Scene, tmp_path: Path) -> None:
    result = shared.evaluate(
        "--order", "task-first", output=str(tmp_path), repeats=2, paid=policy(rates=None), kind="explanation"
    )
    names = [warning.partition(":")[0] for warning in result.document["warnings"]]
    assert names == ["pairs-unreachable", "rates-missing", "order-not-scheduled"]


def test_options_of_the_run_are_refused_in_front_of_summary_and_missing_ones_named(shared: Scene) -> None:
    result = shared.repocue("evaluate-task", "--task-file", "x", "summary", "--input-directory", "y")
    assert result.code == 2
    assert "--task-file" in result.error["message"]
    result = shared.repocue("evaluate-task", "--task-file", "x")
    assert result.code == 2
    assert "--output-directory" in result.error["message"]
    assert benchmark()["id"] == "sample-explanation"
