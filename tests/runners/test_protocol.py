"""The runner protocol: which environments are requests, which prompts they mean, which observations answer them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.contracts.rules.runner import Expected, read_observation
from repocue.domain.measurement import MAX_COUNTER
from repocue.errors import ContractError, EvaluationError
from repocue.runners import (
    Classifier,
    EvaluationRequest,
    Metadata,
    RunnerEnvironmentError,
    TaskRequest,
    UsageEvent,
    build_observation,
    evaluation_prompt,
    request_from,
    task_prompt,
    warning,
    write,
)
from repocue.runners.policy import PolicyError, read_policy
from repocue.runners.protocol import EVALUATION_NAMES, TASK_NAMES
from repocue.runners.task_text import FrozenCommand, command_line, frozen_commands
from tests.support import agents

EVALUATION = {
    "REPOCUE_EVAL_SCHEMA": "repocue/evaluation-runner-4",
    "REPOCUE_EVAL_CONDITION": "basic",
    "REPOCUE_EVAL_RUN_INDEX": "3",
    "REPOCUE_EVAL_REPOSITORY": "/repo",
    "REPOCUE_EVAL_TASK_FILE": "/task",
    "REPOCUE_EVAL_CUE_FILE": "/cue",
    "REPOCUE_EVAL_BENCHMARK_VERSION": "repository-state-v2",
    "REPOCUE_EVAL_OUTPUT_SCHEMA_VERSION": "repocue/benchmark-answer-2",
    "REPOCUE_EVAL_SNAPSHOT": "snapshot-000001",
    "REPOCUE_EVAL_HEAD": "a" * 40,
    "REPOCUE_EVAL_READ_ONLY": "1",
    "PATH": "/bin",
}
TASK = {
    "REPOCUE_TASK_SCHEMA": "repocue/task-runner-1",
    "REPOCUE_TASK_ARM": "overview",
    "REPOCUE_TASK_REPEAT": "2",
    "REPOCUE_TASK_REPOSITORY": "/repo",
    "REPOCUE_TASK_TASK_FILE": "/task",
    "REPOCUE_TASK_CUE_FILE": "/cue",
    "REPOCUE_TASK_ANSWER_SCHEMA_FILE": "/schema",
    "REPOCUE_TASK_POLICY_FILE": "/policy",
    "REPOCUE_TASK_EVIDENCE_DIR": "/evidence",
    "REPOCUE_TASK_SNAPSHOT": "snapshot-000001",
    "REPOCUE_TASK_HEAD": "",
    "REPOCUE_TASK_READ_ONLY": "1",
}


def test_both_protocols_are_parsed_into_typed_requests() -> None:
    assert request_from(EVALUATION) == EvaluationRequest(
        condition="basic",
        run_index=3,
        repository="/repo",
        task_file="/task",
        cue_file="/cue",
        snapshot="snapshot-000001",
        head="a" * 40,
    )
    assert request_from(TASK) == TaskRequest(
        arm="overview",
        repeat=2,
        repository="/repo",
        task_file="/task",
        cue_file="/cue",
        answer_schema_file="/schema",
        policy_file="/policy",
        evidence_dir="/evidence",
        snapshot="snapshot-000001",
        head=None,
    )
    assert {f"REPOCUE_EVAL_{name}" for name in EVALUATION_NAMES} == EVALUATION.keys() - {"PATH"}
    assert {f"REPOCUE_TASK_{name}" for name in TASK_NAMES} == TASK.keys()


@pytest.mark.parametrize("name", [name for name in EVALUATION if name != "PATH"])
def test_a_missing_evaluation_variable_is_named(name: str) -> None:
    with pytest.raises(RunnerEnvironmentError, match=name.removeprefix("REPOCUE_") if "SCHEMA" in name else name):
        request_from({key: value for key, value in EVALUATION.items() if key != name})


@pytest.mark.parametrize("name", list(TASK))
def test_a_missing_task_variable_is_named(name: str) -> None:
    with pytest.raises(RunnerEnvironmentError, match=name.removeprefix("REPOCUE_") if "SCHEMA" in name else name):
        request_from({key: value for key, value in TASK.items() if key != name})


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"REPOCUE_EVAL_SCHEMA": "repocue/evaluation-runner-3"}, "answers 'repocue/evaluation-runner-4' alone"),
        ({"REPOCUE_EVAL_SCHEMA": "repocue/evaluation-runner-5"}, "alone"),
        ({"REPOCUE_EVAL_CONDITION": "none"}, "none of direct, placebo"),
        ({"REPOCUE_EVAL_CONDITION": "direct"}, "CUE_FILE is set for condition direct"),
        ({"REPOCUE_EVAL_CUE_FILE": ""}, "CUE_FILE is empty for condition basic"),
        ({"REPOCUE_EVAL_RUN_INDEX": "0"}, "no number from 1"),
        ({"REPOCUE_EVAL_RUN_INDEX": "1.0"}, "no number from 1"),
        ({"REPOCUE_EVAL_RUN_INDEX": "١"}, "no number from 1"),
        ({"REPOCUE_EVAL_RUN_INDEX": str(MAX_COUNTER + 1)}, "no number from 1"),
        ({"REPOCUE_EVAL_RUN_INDEX": ""}, "RUN_INDEX is empty"),
        ({"REPOCUE_EVAL_READ_ONLY": "0"}, "READ_ONLY is '0'"),
        ({"REPOCUE_EVAL_SNAPSHOT": ""}, "SNAPSHOT is empty"),
        (TASK, "both REPOCUE_EVAL_SCHEMA and REPOCUE_TASK_SCHEMA are set"),
    ],
)
def test_what_is_no_request_is_one_clear_error(changes: dict[str, str], word: str) -> None:
    with pytest.raises(RunnerEnvironmentError, match=word):
        request_from(EVALUATION | changes)


@given(st.dictionaries(st.sampled_from([*EVALUATION, *TASK]), st.text(max_size=30)))
def test_any_environment_is_a_request_or_an_error(environ: dict[str, str]) -> None:
    for base in (EVALUATION, TASK, {}):
        try:
            request_from(base | environ)
        except RunnerEnvironmentError as error:
            said = error.message
        else:
            said = "both"
        assert said.startswith(("REPOCUE_", "both", "neither "))


def request(folder: Path, condition: str = "basic") -> EvaluationRequest:
    (folder / "task").write_bytes(b"Task \xc3\xa9\n")
    (folder / "cue").write_bytes(b'{"cue":1}\n')
    made = request_from(
        EVALUATION
        | {
            "REPOCUE_EVAL_CONDITION": condition,
            "REPOCUE_EVAL_TASK_FILE": str(folder / "task"),
            "REPOCUE_EVAL_CUE_FILE": "" if condition == "direct" else str(folder / "cue"),
        }
    )
    assert isinstance(made, EvaluationRequest)
    return made


def test_a_direct_prompt_is_the_benchmark_text_alone(tmp_path: Path) -> None:
    assert evaluation_prompt(request(tmp_path, "direct")) == b"Task \xc3\xa9\n"


def test_every_assisted_condition_gets_the_same_instruction_and_the_cues_exact_bytes(tmp_path: Path) -> None:
    prompts = {
        evaluation_prompt(request(tmp_path, name)) for name in ("placebo", "basic", "ranked", "structural-oracle")
    }
    assert len(prompts) == 1


def test_the_instruction_stands_between_the_task_and_the_cue(tmp_path: Path) -> None:
    made = evaluation_prompt(request(tmp_path))
    assert made.startswith(b"Task \xc3\xa9\n\n\n")
    assert made.endswith(b'\n\n{"cue":1}\n')
    instruction = made.removeprefix(b"Task \xc3\xa9\n\n\n").removesuffix(b'\n\n{"cue":1}\n').decode()
    assert "first" in instruction
    assert "whenever" in instruction
    assert "incomplete, uncertain or insufficient" in instruction
    assert "\n\n" not in instruction


def test_a_task_prompt_is_task_and_cue_byte_for_byte(tmp_path: Path) -> None:
    (tmp_path / "task").write_bytes(b"T\n")
    (tmp_path / "cue").write_bytes(b"C\n")
    made = request_from(
        TASK | {"REPOCUE_TASK_TASK_FILE": str(tmp_path / "task"), "REPOCUE_TASK_CUE_FILE": str(tmp_path / "cue")}
    )
    assert isinstance(made, TaskRequest)
    assert task_prompt(made) == b"T\n\n\nC\n"


@pytest.mark.parametrize("content", [None, b"", b" \n"])
def test_a_prompt_file_that_is_missing_or_empty_is_an_error(tmp_path: Path, content: bytes | None) -> None:
    made = request(tmp_path)
    (tmp_path / "cue").unlink()
    if content is not None:
        (tmp_path / "cue").write_bytes(content)
    with pytest.raises(EvaluationError, match="the cue"):
        evaluation_prompt(made)


METADATA = Metadata(adapter="scripted", adapter_version="1", model="none", reasoning_effort="none", sandbox="read-only")
ANSWER = {
    "schema_version": "repocue/benchmark-answer-2",
    "project_purpose": "",
    "git": {"branch": None, "head": None, "dirty": False, "tracked_changes": [], "untracked": []},
    "primary_entry_points": [],
    "major_components": [],
    "important_documentation": [],
    "recent_relevant_changes": [],
    "project_symbols": [],
    "uncertainties": [],
}


def test_an_observation_is_filled_in_by_the_rules_and_read_back_by_the_harness(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_bytes(b"12345")
    classifier = Classifier(str(tmp_path))
    made = build_observation(
        request(tmp_path),
        metadata=METADATA,
        usage=[UsageEvent(turn=1, input_tokens=10, output_tokens=2), UsageEvent(turn=2, input_tokens=5)],
        answer=ANSWER,
        commands=[classifier.shell(text) for text in ("git status", "cat README.md; rg x", "echo")],
        tool_calls=4,
        execution_duration_ms=12.5,
        findings=[warning("odd", "Something odd.", "evidence")],
        limitations=["It is scripted."],
    )
    stream = io.BytesIO()
    write(made, stream)
    expected = Expected(condition="basic", run_index=3, head="a" * 40, snapshot="snapshot-000001")
    assert read_observation(stream.getvalue(), expected=expected) == made
    assert stream.getvalue().count(b"\n") == 1
    statuses = made["metrics"].pop("statuses")
    # output is unknown in turn 2, so neither it nor the total has an aggregate
    assert made["metrics"] == {
        "input_tokens": 15,
        "execution_duration_ms": 12.5,
        "command_executions": 3,
        "repository_files_named": 1,
        "named_file_size_proxy_bytes": 5,
        "git_calls": 1,
        "filesystem_search_calls": 1,
        "tool_calls": 4,
        "fallback_repository_commands": 2,
        "fallback_repository_files_named": 1,
        "fallback_named_file_size_proxy_bytes": 5,
    }
    assert {name for name, source in statuses.items() if source == "not_observed"} == {
        "cached_input_tokens",
        "output_tokens",
        "reasoning_output_tokens",
        "total_tokens",
    }
    assert made["findings"] == [
        {"category": "odd", "severity": "warning", "message": "Something odd.", "evidence": "evidence"}
    ]


def test_commands_that_were_not_observed_are_not_commands_that_did_not_run(tmp_path: Path) -> None:
    unseen = build_observation(request(tmp_path), metadata=METADATA, usage=[UsageEvent(turn=1)], answer=ANSWER)
    assert "command_executions" not in unseen["metrics"]
    none = build_observation(
        request(tmp_path), metadata=METADATA, usage=[UsageEvent(turn=1)], answer=ANSWER, commands=[], tool_calls=0
    )
    assert none["metrics"]["command_executions"] == 0
    assert none["metrics"]["statuses"]["command_executions"] == "observed"


def test_a_direct_run_has_no_fallback(tmp_path: Path) -> None:
    made = build_observation(
        request(tmp_path, "direct"), metadata=METADATA, usage=[UsageEvent(turn=1)], answer=ANSWER, commands=[]
    )
    assert not [name for name in made["metrics"] if name.startswith("fallback")]


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"usage": []}, "/usage_events"),
        ({"usage": [UsageEvent(turn=2)]}, "/usage_events/0/turn"),
        ({"answer": {}}, "/final_response"),
        ({"tool_calls": 0, "commands": [Classifier("/").shell("ls")]}, "/metrics/tool_calls"),
    ],
)
def test_what_would_break_the_contract_is_refused_with_its_place(
    tmp_path: Path, changes: dict[str, Any], pointer: str
) -> None:
    given_: dict[str, Any] = {"usage": [UsageEvent(turn=1)], "answer": ANSWER} | changes
    with pytest.raises(ContractError) as caught:
        build_observation(request(tmp_path), metadata=METADATA, **given_)
    assert pointer in str(caught.value)


def test_frozen_commands_are_found_again_in_a_task_file() -> None:
    commands = [FrozenCommand("status", ("git", "status")), FrozenCommand("a.b_c-1", ("x", "a b", 'quo"te', "ü", "\n"))]
    task = "Do it.\n" + "\n".join(command_line(*one) for one in commands) + "\n- command Bad Id: []\n- command e: []\n"
    assert frozen_commands(task.encode() + b"\xff") == tuple(commands)
    assert frozen_commands(b"") == ()


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_any_argv_survives_the_task_file(argv: list[str]) -> None:
    assert frozen_commands(command_line("id", argv).encode()) == (FrozenCommand("id", tuple(argv)),)


def test_a_policy_is_read_from_a_prepared_folders_file_or_alone(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    whole = agents.paid_policy()
    for document in (whole, whole["paid"]):
        path.write_text(json.dumps(document))
        policy = read_policy(str(path))
        assert (policy.model, policy.reasoning_effort, policy.speed) == ("fake-model", "high", "standard")


@pytest.mark.parametrize(
    ("document", "word"),
    [
        ({"paid": None}, "has no paid side"),
        ({}, "has no paid side"),
        ([], "is no object"),
        (agents.paid_policy() | {"sandbox": "workspace-write"}, "asks for the sandbox 'workspace-write'"),
    ],
)
def test_a_policy_that_cannot_be_followed_is_refused(tmp_path: Path, document: Any, word: str) -> None:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(document))
    with pytest.raises(PolicyError, match=word):
        read_policy(str(path))


def test_a_policy_whose_paid_side_breaks_its_contract_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(agents.paid_policy(speed="warp")))
    with pytest.raises(ContractError, match="/speed"):
        read_policy(str(path))


def test_everything_that_the_package_offers_is_there() -> None:
    import repocue.runners

    assert sorted(name for names in repocue.runners._HOMES.values() for name in names) == repocue.runners.__all__
    assert all(getattr(repocue.runners, name).__name__ == name for name in repocue.runners.__all__)
    with pytest.raises(AttributeError, match="nothing_such"):
        repocue.runners.nothing_such  # noqa: B018  (the access is what is tested)
