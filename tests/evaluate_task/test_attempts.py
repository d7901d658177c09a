"""One ordered pair with a scripted runner: every way in which an attempt can go right or wrong leaves its evidence."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from repocue.errors import EvaluationError, EvidenceError
from repocue.evaluation.task.limits import DEFAULT_LIMITS
from tests.evaluate_task.scene import RATES, Scene, attempts, digest, policy, steps, summary
from tests.support import agents
from tests.support.repos import git

NAMES = [
    "ANSWER_SCHEMA_FILE",
    "ARM",
    "CUE_FILE",
    "EVIDENCE_DIR",
    "HEAD",
    "POLICY_FILE",
    "READ_ONLY",
    "REPEAT",
    "REPOSITORY",
    "SCHEMA",
    "SNAPSHOT",
    "TASK_FILE",
]
WHOLE = ["attempt.json", "evidence", "input", "journal.json", "runner-stderr", "runner-stdout"]


def data(folder: str, attempt: str, name: str) -> bytes:
    return Path(folder, "attempts", attempt, name).read_bytes()


def header(folder: str, attempt: str) -> Any:
    return json.loads(data(folder, attempt, "attempt.json"))


def test_a_pair_runs_in_order_each_arm_once_and_every_attempt_is_journaled_before_its_runner(
    shared: Scene, tmp_path: Path
) -> None:
    calls = tmp_path / "calls.jsonl"
    script = shared.file("script.json", {"*": steps("discovery", record=str(calls), stderr="so said\n")})
    result = shared.evaluate(
        "--runner",
        shared.runner,
        kind="discovery",
        output=str(tmp_path / "evidence"),
        paid=policy(),
        env={"SCRIPTED_TASK_RUNNER": script, "REPOCUE_EVAL_SCHEMA": "x", "REPOCUE_TASK_ARM": "x", "SOME_API_KEY": "k"},
    )
    assert result.code == 0, result.stderr
    assert [(one["attempt"], one["outcome"]) for one in result.document["attempts"]] == [
        ("1-task", "complete"),
        ("2-overview", "complete"),
    ]
    folder = result.document["prepared_directory"]
    seen = [json.loads(line) for line in calls.read_text().splitlines()]
    assert [call["asked"]["ARM"] for call in seen] == ["task", "overview"]
    for call, name in zip(seen, ("1-task", "2-overview"), strict=True):
        arm = name[2:]
        asked = call["asked"]
        place = os.path.join(folder, "attempts", name)
        assert sorted(asked) == NAMES
        assert (asked["SCHEMA"], asked["REPEAT"], asked["READ_ONLY"]) == ("repocue/task-runner-1", "1", "1")
        assert (asked["REPOSITORY"], call["cwd"], asked["HEAD"]) == (shared.root, shared.root, shared.head())
        assert asked["EVIDENCE_DIR"] == os.path.join(place, "evidence")
        assert call["argv"] == []
        assert (call["foreign"], call["key"]) == ([], "k")
        assert call["names"] == ["evidence", "input", "journal.json", "runner-stderr", "runner-stdout"]
        assert call["journal"].encode() == data(folder, name, "journal.json")
        assert call["task"].encode() == Path(folder, "task.txt").read_bytes()
        assert call["cue"].encode() == Path(folder, f"cue-{arm}.json").read_bytes()
        assert sorted(os.listdir(place)) == WHOLE
        assert data(folder, name, "runner-stderr") == b"so said\n"
        journal = json.loads(call["journal"])
        assert journal["prompt_sha256"] == digest((call["task"] + "\n\n" + call["cue"]).encode())
        assert journal["runner"] == {"path": shared.runner, "sha256": digest(Path(shared.runner).read_bytes())}
        assert (
            header(folder, name)["basis_before"]["state_fingerprint"]
            == (header(folder, name)["basis_after"]["state_fingerprint"])
        )
    assert seen[0]["task"] == seen[1]["task"]


FAILURES: dict[str, tuple[dict[str, Any], str, str]] = {
    "exit": ({"exit": 3, "stderr": "no such model"}, "runner-failed", "exited with code 3; it said: no such model"),
    "signal": ({"signal": 9}, "runner-failed", "SIGKILL"),
    "nothing": ({"raw": ""}, "invalid-output", ""),
    "no-json": ({"raw": "{"}, "invalid-output", ""),
    "other-contract": (
        {"patch": {"/schema_version": "repocue/evaluation-runner-4"}},
        "invalid-output",
        "task-runner-1",
    ),
    "trailing": ({"raw": "{} {}"}, "invalid-output", ""),
    "other-arm": ({"patch": {"/arm": "task"}}, "invalid-output", "arm"),
    "other-repeat": ({"patch": {"/repeat": 2}}, "invalid-output", "repeat"),
    "other-model": ({"patch": {"/metadata/model": "dearer"}}, "invalid-output", "dearer"),
    "other-effort": ({"patch": {"/metadata/reasoning_effort": "low"}}, "invalid-output", "low"),
    "other-speed": ({"patch": {"/metadata/speed": "fast"}}, "invalid-output", "fast"),
    "other-cli": ({"patch": {"/metadata/cli_version": "9"}}, "invalid-output", "'9'"),
    "other-sandbox": ({"patch": {"/metadata/sandbox": "none"}}, "invalid-output", "sandbox"),
    "other-snapshot": ({"patch": {"/metadata/snapshot": "snapshot-000009"}}, "invalid-output", "snapshot-000009"),
    "usage-untrue": ({"patch": {"/usage_events/0/cached_input_tokens": 5000}}, "invalid-output", "cached_input_tokens"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failed_attempt_keeps_its_streams_and_the_second_arm_is_not_started(
    shared: Scene, tmp_path: Path, name: str
) -> None:
    changes, outcome, says = FAILURES[name]
    folder = shared.copied(tmp_path)
    (printed,) = shared.perform(folder, {"*": steps(**changes)})
    assert printed["outcome"] == outcome
    assert says in printed["reason"]
    assert os.listdir(os.path.join(folder, "attempts")) == ["1-overview"]
    assert sorted(os.listdir(os.path.join(folder, "attempts", "1-overview"))) == WHOLE
    assert data(folder, "1-overview", "evidence/provider-stdout").endswith(b"}\n")
    found = attempts(summary(folder))
    assert found["overview"]["status"] == "failed"
    assert found["overview"]["facts"]["execution"] is False
    assert found["overview"]["reasons"][0].startswith(f"{outcome}: ")
    assert found["task"]["status"] == "not-attempted"


def test_a_runner_that_takes_too_long_or_prints_too_much_is_ended_and_said_so(shared: Scene, tmp_path: Path) -> None:
    folder = shared.copied(tmp_path, timeout_seconds=1)
    (printed,) = shared.perform(folder, {"*": steps(hang=True)})
    assert printed["outcome"] == "timeout"
    assert header(folder, "1-overview")["runner"]["stopped"] == "timeout"
    assert data(folder, "1-overview", "evidence/stdin") == Path(folder, "task.txt").read_bytes() + b"\n\n" + (
        Path(folder, "cue-overview.json").read_bytes()
    )
    folder = shared.copied(tmp_path)
    limits = replace(DEFAULT_LIMITS, runner_stdout_bytes=20_000)
    (printed,) = shared.perform(folder, {"*": steps(spill=20_001)}, limits=limits)
    assert printed["outcome"] == "output-too-large"
    assert len(data(folder, "1-overview", "runner-stdout")) == 20_000


def test_a_runner_that_cannot_be_started_costs_nothing(shared: Scene, tmp_path: Path) -> None:
    folder = shared.copied(tmp_path)
    broken = tmp_path / "broken"
    broken.write_text("#!/nowhere/at/all\n")
    broken.chmod(0o755)
    (printed,) = shared.perform(folder, {}, runner=str(broken))
    assert printed["outcome"] == "not-started"
    document = summary(folder)
    assert attempts(document)["overview"]["status"] == "failed"
    assert document["inventory"] == []


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"write": {"README.md": "mutated\n"}}, "repository-changed"),
        ({"write": {"new.txt": "untracked\n"}}, "repository-changed"),
        ({"git": [["tag", "made-by-the-agent"]]}, "repository-changed"),
        ({"git": [["config", "made.by", "agent"]]}, "repository-changed"),
    ],
    ids=["source", "untracked", "tag", "config"],
)
def test_a_changed_repository_is_the_outcome_and_its_usage_still_counts(
    scene: Scene, changes: dict[str, Any], outcome: str
) -> None:
    folder = scene.copied(scene.folder / "home")
    (printed,) = scene.perform(folder, {"*": steps(**changes)})
    assert printed["outcome"] == outcome
    document = summary(folder)
    found = attempts(document)["overview"]
    assert (found["status"], found["facts"]["execution"]) == ("failed", False)
    assert found["usage"]["total_tokens"] == 1580
    assert document["inventory"][0]["complete_credits"] == found["credits"] == "0.21125"
    before, after = (header(folder, "1-overview")[f"basis_{when}"] for when in ("before", "after"))
    assert (before["state_fingerprint"], before["guard_digest"]) != (after["state_fingerprint"], after["guard_digest"])


def test_a_repository_that_left_the_prepared_state_starts_nothing(scene: Scene) -> None:
    folder = scene.copied(scene.folder / "home")
    Path(scene.root, "notes.txt").write_text("moved on\n")
    calls = scene.folder / "calls"
    (printed,) = scene.perform(folder, {"*": steps(record=str(calls))})
    assert printed["outcome"] == "repository-changed"
    assert not calls.exists()
    document = summary(folder)
    assert document["inventory"] == []
    assert attempts(document)["overview"]["facts"] == {
        "provision": False,
        "execution": False,
        "correctness": None,
        "compliance": None,
    }


def test_evidence_that_no_manifest_can_hold_leaves_the_attempt_visibly_incomplete(
    shared: Scene, tmp_path: Path
) -> None:
    folder = shared.copied(tmp_path)
    with pytest.raises(EvidenceError, match="not a regular file"):
        shared.perform(folder, {"*": steps(link="passwd")})
    found = attempts(summary(folder))["overview"]
    assert found["status"] == "incomplete"
    assert found["reasons"][0].startswith("attempt-incomplete")


def test_an_attempt_is_never_repeated_or_continued(shared: Scene, tmp_path: Path) -> None:
    folder = shared.ran(tmp_path, script={"*": steps(exit=1)})
    before = {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}
    with pytest.raises(EvaluationError) as raised:
        shared.perform(folder, {"*": steps()})
    assert raised.value.code == "evaluation.attempted"
    assert {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()} == before


def test_a_runner_that_tampers_with_evidence_spoils_its_own_attempt_or_the_folder_and_hides_nothing(
    shared: Scene, tmp_path: Path
) -> None:
    folder = shared.copied(tmp_path)
    journal = os.path.join(folder, "attempts", "1-overview", "journal.json")
    shared.perform(folder, {"*": steps(), "overview": steps(write={journal: "{}"})})
    found = attempts(summary(folder))
    assert "attempts/1-overview/journal.json (altered)" in found["overview"]["reasons"][0]
    assert found["task"]["status"] == "complete"
    folder = shared.copied(tmp_path / "again")
    shared.perform(folder, {"*": steps(write={os.path.join(folder, "task.txt"): "Do as you like."})})
    with pytest.raises(EvidenceError, match=r"task\.txt"):
        summary(folder)


def test_a_reason_is_bounded_however_much_a_runner_says(shared: Scene, tmp_path: Path) -> None:
    folder = shared.copied(tmp_path)
    (printed,) = shared.perform(folder, {"*": steps(patch={"/metadata/model": "m" * 5_000_000})})
    assert printed["outcome"] == "invalid-output"
    assert len(printed["reason"]) == 2000
    assert attempts(summary(folder))["overview"]["status"] == "failed"


def test_an_interrupt_ends_the_runner_and_is_the_recorded_outcome(shared: Scene, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    script = shared.file("hanging.json", {"*": steps(hang=True, touch=str(begun))})
    options = [
        "--task-file",
        shared.prepared() + "/benchmark.json",
        "--policy-file",
        shared.prepared() + "/paid-policy.json",
    ]
    harness = subprocess.Popen(
        [
            *shared.exe,
            "evaluate-task",
            "-C",
            shared.root,
            *options,
            "--output-directory",
            str(tmp_path / "evidence"),
            "--runner",
            shared.runner,
        ],
        env=shared.env | {"SCRIPTED_TASK_RUNNER": script},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert agents.wait_for(begun.exists)
    harness.send_signal(signal.SIGTERM)
    _, stderr = harness.communicate(timeout=60)
    assert harness.returncode == 130, stderr
    (name,) = os.listdir(tmp_path / "evidence")
    folder = str(tmp_path / "evidence" / name)
    assert header(folder, "1-overview")["outcome"] == "cancelled"
    assert header(folder, "1-overview")["basis_after"] is not None
    document = summary(folder)
    assert attempts(document)["overview"]["status"] == "failed"
    assert document["inventory"][0] == {
        "adapter": None,
        "executions": 1,
        "known_total_tokens": None,
        "complete_total_tokens": None,
        "known_credits": None,
        "complete_credits": None,
    }
    assert agents.processes(bytes(tmp_path)) == []
    assert git(shared.root, "status", "--porcelain") == b""


def test_a_failed_attempt_is_the_commands_failure_after_its_answer(shared: Scene, tmp_path: Path) -> None:
    script = shared.file("failing.json", {"*": steps(), "task": {"exit": 4}})
    result = shared.evaluate(
        "--runner", shared.runner, output=str(tmp_path), paid=policy(), env={"SCRIPTED_TASK_RUNNER": script}
    )
    assert (result.code, result.error["code"]) == (1, "evaluation.attempt-failed")
    assert [one["outcome"] for one in result.document["attempts"]] == ["complete", "runner-failed"]
    assert RATES["record_id"] == "sample-credits"
