"""The four facts of an attempt, by the rule of its task's kind; an assessment decides only what no rule decides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repocue.errors import EvaluationError
from repocue.evaluation.task.scoring import score_commands
from repocue.runners.streams import READERS
from tests.evaluate_task.scene import COMMANDS, Scene, answer, attempts, benchmark, bundle, policy, steps, summary

Facts = dict[str, bool | None]


def facts(provision: bool | None, execution: bool | None, correctness: bool | None, compliance: bool | None) -> Facts:
    return {
        "provision": provision,
        "execution": execution,
        "correctness": correctness,
        "compliance": compliance,
    }


@pytest.fixture
def judged(shared: Scene, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """The first attempt of a pair, judged; steps by name, `assessed` with a favourable assessment."""

    def judge(kind: str, *, assessed: bool = False, paid: Any = None, **changes: Any) -> dict[str, Any]:
        more = {} if paid is None else {"paid": paid}
        folder = shared.copied(tmp_path, kind, **more)
        shared.perform(folder, {"*": steps(kind, **changes)})
        document = summary(folder)
        if assessed:
            document = summary(folder, bundle=bundle(document))
        first: dict[str, Any] = document["pairs"][0]["attempts"][0]
        return first

    return judge


def test_a_discovery_is_right_when_it_names_exactly_what_the_selector_derives(judged: Any) -> None:
    found = judged("discovery", assessed=True)
    assert found["facts"] == facts(True, True, True, True)
    assert found["discovery"]["items"] == {
        "shared": 2,
        "found": 2,
        "required": 2,
        "precision": 1.0,
        "recall": 1.0,
    }
    assert found["discovery"]["sources"]["required"] == 3


def test_a_discovery_shows_precision_and_recall_of_what_it_missed_and_invented(judged: Any) -> None:
    items = [{"id": "main", "sources": ["src/main.py#L1-L1"]}, {"id": "made-up", "sources": ["README.md"]}]
    found = judged("discovery", answer=answer("discovery", items=items), assessed=True)
    assert found["facts"] == facts(True, True, False, True)
    # of 2 items found 1 is required, of 2 required 1 is found; of 2 sources 1 is required, of 3 required 1 is found
    assert (found["discovery"]["items"]["precision"], found["discovery"]["items"]["recall"]) == (1 / 2, 1 / 2)
    assert (found["discovery"]["sources"]["precision"], found["discovery"]["sources"]["recall"]) == (1 / 2, 1 / 3)
    assert "items-missing: about" in found["reasons"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"claims": [{"text": "So it is.", "sources": []}]}, "claim-without-source"),
        ({"claims": [{"text": "So it is.", "sources": ["notes.txt"]}]}, "source-not-delivered"),
        ({"benchmark_id": "another"}, "benchmark-id-differs"),
        ({"claims": []}, "claims-missing"),
        ({"commands": [{"id": "ls", "exit_code": 0}]}, "commands-not-frozen"),
    ],
)
def test_no_assessment_overrides_a_failed_check_of_an_explanation(
    judged: Any, changes: dict[str, Any], reason: str
) -> None:
    found = judged("explanation", answer=answer(**changes), assessed=True)
    assert found["facts"] == facts(True, True, False, True)
    assert any(one.startswith(reason) for one in found["reasons"])


def test_an_explanation_is_as_right_as_an_independent_assessor_says(shared: Scene, tmp_path: Path) -> None:
    folder = shared.ran(tmp_path)
    document = summary(folder)
    assert attempts(document)["task"]["facts"] == facts(True, True, None, None)
    for correctness, compliance in (("correct", "compliant"), ("incorrect", "non-compliant")):
        given = bundle(document, correctness=correctness, compliance=compliance)
        expected = facts(True, True, correctness == "correct", compliance == "compliant")
        assert attempts(summary(folder, bundle=given))["task"]["facts"] == expected


def test_the_model_that_answered_is_no_assessor(shared: Scene, tmp_path: Path) -> None:
    folder = shared.ran(tmp_path)
    given = bundle(summary(folder)) | {"assessor": f" {policy()['model'].upper()} "}
    with pytest.raises(EvaluationError, match="the model that answered") as caught:
        summary(folder, bundle=given)
    assert caught.value.code == "evaluation.assessor"
    others = {**given, "entries": [{**one, "attempt": "elsewhere/1-overview"} for one in given["entries"][:1]]}
    assert "not here, rejected" in summary(folder, bundle=others)["limitations"][-1]


BINDINGS = ("benchmark_sha256", "rubric_sha256", "prompt_sha256", "response_sha256", "answer_sha256")


def test_an_assessment_bound_to_anything_else_is_rejected(shared: Scene, tmp_path: Path) -> None:
    folder = shared.ran(tmp_path)
    document = summary(folder)
    changes: list[dict[str, Any]] = [{name: "sha256:" + "0" * 64} for name in (*BINDINGS, "state_fingerprint")]
    for change in [*changes, {"source_ids": ["README.md"]}]:
        found = attempts(summary(folder, bundle=bundle(document, **change)))["task"]
        assert found["facts"] == facts(True, True, None, None)
        assert found["reasons"] == [f"assessment-rejected: it is bound to another {next(iter(change))}"]
    stranger = bundle(document, attempt="task-eval-x-overview-first-r01-000000000000/1-overview")
    stranger["entries"] = stranger["entries"][:1]
    assert "not here, rejected" in summary(folder, bundle=stranger)["limitations"][-1]


def test_sources_of_a_binding_are_a_set(shared: Scene, tmp_path: Path) -> None:
    folder = shared.ran(tmp_path)
    document = summary(folder)
    given = bundle(document)
    for entry in given["entries"]:
        entry["source_ids"] = entry["source_ids"][::-1]
    assert attempts(summary(folder, bundle=given))["task"]["facts"]["compliance"] is True


def test_a_verification_is_right_when_every_frozen_command_was_seen_to_do_what_it_must(judged: Any) -> None:
    found = judged("verification", assessed=True)
    assert found["facts"] == facts(True, True, True, True)
    assert [(one["id"], one["status"]) for one in found["commands"]] == [("readme", "verified"), ("absent", "verified")]


RUN = [{name: one[name] for name in ("argv", "exit", "output")} for one in COMMANDS]


@pytest.mark.parametrize(
    ("commands", "correctness", "reason"),
    [
        (RUN[:1], False, "no completion of it was seen"),
        ([RUN[0] | {"exit": 1}, RUN[1]], False, "it exited with 1, not 0"),
        ([RUN[0] | {"output": "other"}, RUN[1]], False, "not the expected one"),
        ([RUN[0] | {"output": "x" * 1048576}, RUN[1]], False, "1048576 bytes"),
        ([RUN[0] | {"argv": ["git", "show", "HEAD:./README.md"]}, RUN[1]], False, "no completion"),
        ([{**RUN[0], "exit": 1}, *RUN], True, None),
        ([{"text": "git show HEAD:README.md | cat", "exit": 0, "output": RUN[0]["output"]}, RUN[1]], False, "no compl"),
    ],
    ids=["not-run", "other-exit", "other-output", "cut-output", "other-argv", "repeated", "in-a-pipe"],
)
def test_a_verification_needs_identity_exit_and_complete_output(
    judged: Any, commands: list[Any], correctness: bool, reason: str | None
) -> None:
    found = judged("verification", commands=commands, answer=answer("verification"))
    assert found["facts"]["correctness"] is correctness
    if reason is not None:
        assert any(one["reason"] is not None and reason in one["reason"] for one in found["commands"])


def test_a_verification_whose_answer_reports_another_exit_is_wrong(judged: Any) -> None:
    reported = [{"id": "readme", "exit_code": 0}, {"id": "absent", "exit_code": 0}]
    found = judged("verification", answer=answer("verification", commands=reported))
    assert found["facts"]["correctness"] is False
    assert "exit-code-differs: the answer reports 0 for absent, not 1" in found["reasons"]


def test_a_program_that_reports_no_exit_code_leaves_a_verification_not_observed() -> None:
    from repocue.contracts.reader import convert
    from repocue.contracts.types.task import TaskBenchmark
    from repocue.evaluation.task.scoring import verified

    verification = convert(benchmark("verification"), TaskBenchmark).verification
    assert verification is not None
    event = {
        "command_id": "readme",
        "completed": True,
        "exit_code": None,
        "output_sha256": verification.commands[0].expected_output_sha256,
        "output_bytes": verification.commands[0].expected_output_bytes,
        "output_complete": True,
    }
    (score,) = score_commands(verification.commands[:1], [event])
    assert (score.status, verified([score])) == ("not-observed", None)
    (score,) = score_commands(verification.commands[:1], [event | {"exit_code": 0, "output_complete": False}])
    assert score.status == "not-observed"
    (score,) = score_commands(verification.commands[:1], [event | {"exit_code": 0}])
    assert score.status == "verified"


def test_provision_is_false_unless_exactly_the_frozen_prompt_was_submitted(judged: Any) -> None:
    assert judged("explanation", prompt="something else")["facts"]["provision"] is False
    assert judged("discovery", keep=["provider-stdout"])["facts"] == facts(False, True, True, None)


@pytest.mark.parametrize(
    "final", ["no JSON at all", None, {"schema_version": "repocue/task-answer-1"}], ids=["text", "none", "members"]
)
def test_an_answer_that_is_none_is_wrong_and_its_tokens_are_counted(judged: Any, final: Any) -> None:
    if isinstance(final, dict):
        final = '{"schema_version":"repocue/task-answer-1"}'
    found = judged("discovery", answer=final)
    assert found["facts"] == facts(True, True, False, None)
    assert found["credits"] == "0.21125"
    assert found["binding"] is None


def test_a_runner_that_tells_another_story_than_its_stream_did_not_run_well(judged: Any) -> None:
    found = judged(
        "explanation",
        patch={"/usage_events/0/output_tokens": 51, "/metrics/output_tokens": 81, "/metrics/total_tokens": 1581},
    )
    assert found["status"] == "failed"
    assert found["usage"]["output_tokens"] == 80
    assert "observation-differs: the stream gives another usage_events" in found["reasons"]
    found = judged("discovery", patch={"/final_response/uncertainties": ["added"]})
    assert "observation-differs: the stream gives another final_response" in found["reasons"]


def test_a_stream_that_is_cut_or_missing_makes_everything_of_it_unknown(judged: Any) -> None:
    for changes in ({"stream": '{"type":"thread.started","thread_id":"0"}\n'}, {"keep": ["stdin"]}):
        found = judged("explanation" if "keep" in changes else "discovery", **changes)
        assert (found["status"], found["facts"]) == ("failed", facts(True, False, None, None))
        assert found["usage"]["input_tokens"] is None
        assert found["credits"] is None


def test_a_stream_without_form_is_shown_as_declared_and_counts_for_nothing_unless_a_reader_is_given(
    shared: Scene, tmp_path: Path
) -> None:
    folder = shared.ran(tmp_path, script={"*": steps(format="none")})
    document = summary(folder)
    found = attempts(document)["overview"]
    assert found["facts"] == facts(True, True, None, None)
    assert found["usage"]["total_tokens"] is None
    assert found["declared_usage"]["total_tokens"] == 1580
    assert document["inventory"][0]["complete_total_tokens"] is None
    assert document["pairs"][0]["differences"]["total_tokens"]["difference"] is None
    document = summary(folder, readers={"none": READERS["codex-exec-json"]})
    found = attempts(document)["overview"]
    assert found["usage"]["total_tokens"] == 1580
    assert found["credits"] is None
    assert document["pairs"][0]["differences"]["total_tokens"]["difference"] == 0


def test_an_agent_that_used_repocue_itself_did_not_comply(judged: Any) -> None:
    commands = [{"argv": ["repocue", "cue", "--view", "task"], "exit": 0, "output": ""}]
    found = judged("explanation", commands=commands, assessed=True)
    assert found["facts"] == facts(True, True, True, False)
    assert any(one.startswith("contaminated: 1 ") for one in found["reasons"])


def test_rates_for_another_account_model_or_speed_and_missing_usage_suppress_credits(judged: Any) -> None:
    rates = policy()["rates"]
    for name, value in (("account", "another"), ("model", "another"), ("speed", "fast")):
        found = judged("explanation", paid=policy(rates=rates | {name: value}))
        assert found["credits"] is None
        assert found["usage"]["total_tokens"] == 1580
        assert f"rates-differ: the rates are for another {name}" in found["reasons"]
    found = judged("discovery", usage=[[1000, 0, 10, 0], [0, 0, 0, 0]])
    assert (found["credits"], found["usage"]["total_tokens"]) == (None, None)
    assert "usage-incomplete: input_tokens, cached_input_tokens, output_tokens unknown" in found["reasons"]
