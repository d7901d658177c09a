"""Everything that ends a run: what a runner may print, how it may end, and what it may not touch."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from repocue.errors import ContractError, EvaluationError
from repocue.evaluation.m2.limits import M2Limits
from repocue.git import evidence
from tests.m2.conftest import build
from tests.m2.scene import CONDITIONS, Prepared, Scene, alive, error_of, reports_of
from tests.support.scripted_runner import DELETE

BY_ITSELF = "nothing was published"


def refusal(prepared: Prepared, shared: Scene, steps: dict[str, Any], condition: str = "ranked", **more: Any) -> str:
    """The message with which one condition's run is refused."""
    shared.script(steps)
    with pytest.raises((EvaluationError, ContractError)) as caught:
        prepared.run(condition, **more)
    return caught.value.message


def test_an_observation_that_is_right_passes(prepared: Prepared, shared: Scene) -> None:
    shared.script()
    outcome = prepared.run()
    assert outcome.observation["metrics"]["total_tokens"] == 1600
    assert outcome.left_behind == 0


INCONSISTENT = [
    ("total is not input plus output", {"/metrics/total_tokens": 1599}, "/metrics/total_tokens"),
    ("input is not the sum of the turns", {"/metrics/input_tokens": 1501}, "/metrics/input_tokens"),
    ("cached input is not the sum", {"/metrics/cached_input_tokens": 999}, "/metrics/cached_input_tokens"),
    ("output is not the sum", {"/metrics/output_tokens": 99, "/metrics/total_tokens": 1599}, "/metrics/output_tokens"),
    ("reasoning is not the sum", {"/metrics/reasoning_output_tokens": 31}, "/metrics/reasoning_output_tokens"),
    (
        "cached exceeds input in a turn",
        {"/usage_events/1/cached_input_tokens": 301},
        "/usage_events/1/cached_input_tokens",
    ),
    ("turns are not numbered in order", {"/usage_events/1/turn": 3}, "/usage_events/1/turn"),
    ("no turn at all", {"/usage_events": []}, "/usage_events"),
    ("an aggregate of an incomplete counter", {"/usage_events/0/output_tokens": None}, "/metrics/output_tokens"),
    ("commands are miscounted", {"/metrics/command_executions": 3}, "/metrics/command_executions"),
    ("git calls are miscounted", {"/metrics/git_calls": 0}, "/metrics/git_calls"),
    ("searches are miscounted", {"/metrics/filesystem_search_calls": 1}, "/metrics/filesystem_search_calls"),
    ("named files are miscounted", {"/metrics/repository_files_named": 2}, "/metrics/repository_files_named"),
    ("fewer tools than commands", {"/metrics/tool_calls": 1}, "/metrics/tool_calls"),
    (
        "fallback commands exceed the total",
        {"/metrics/fallback_repository_commands": 3},
        "/metrics/fallback_repository_commands",
    ),
    (
        "fallback files exceed the total",
        {"/metrics/fallback_repository_files_named": 2},
        "/metrics/fallback_repository_files_named",
    ),
    (
        "fallback bytes exceed the total",
        {"/metrics/fallback_named_file_size_proxy_bytes": 13},
        "/metrics/fallback_named_file_size_proxy_bytes",
    ),
    ("a value that says not observed", {"/metrics/statuses/input_tokens": "not_observed"}, "/metrics/statuses"),
    ("a status without a value", {"/metrics/tool_calls": DELETE}, "/metrics/statuses/tool_calls"),
    ("a value without a status", {"/metrics/statuses/tool_calls": DELETE}, "/metrics/"),
    ("an unknown status", {"/metrics/statuses/input_tokens": "guessed"}, "/metrics/statuses/input_tokens"),
    ("a negative count", {"/usage_events/0/output_tokens": -1}, "/usage_events/0/output_tokens"),
    ("a fractional count", {"/metrics/tool_calls": 2.5}, "/metrics/tool_calls"),
    ("a count beyond 2^53 - 1", {"/metrics/tool_calls": 2**53}, "/metrics/tool_calls"),
    ("a negative duration", {"/metrics/execution_duration_ms": -0.5}, "/metrics/execution_duration_ms"),
    ("a file outside the repository", {"/commands/1/files_read/0": "../secret"}, "/commands/1/files_read/0"),
    ("an absolute file", {"/commands/1/files_read/0": "/etc/passwd"}, "/commands/1/files_read/0"),
    ("an unknown class", {"/commands/0/classification": "guess"}, "/commands/0/classification"),
    ("classes out of order", {"/commands/0/classification": "filesystem_read+git"}, "/commands/0/classification"),
    ("another condition", {"/condition": "basic"}, "/condition"),
    ("another run", {"/run_index": 2}, "/run_index"),
    ("another HEAD", {"/metadata/repository_head": "0" * 40}, "/metadata/repository_head"),
    ("another snapshot", {"/metadata/repocue_snapshot": "snapshot-000002"}, "/metadata/repocue_snapshot"),
    ("another benchmark", {"/metadata/benchmark_version": "repository-state-v1"}, "/metadata/benchmark_version"),
    (
        "another answer contract",
        {"/metadata/output_schema_version": "repocue/benchmark-answer-1"},
        "/metadata/output_schema_version",
    ),
    ("version 3", {"/schema_version": "repocue/evaluation-runner-3"}, "/schema_version"),
    ("a later version", {"/schema_version": "repocue/evaluation-runner-5"}, "/schema_version"),
    ("an unknown member", {"/surprise": 1}, "/surprise"),
    ("no answer", {"/final_response": DELETE}, "final_response"),
    ("an answer with a hole", {"/final_response/git/branch": DELETE}, "/final_response/git"),
    ("no model", {"/metadata/model": ""}, "/metadata/model"),
]


@pytest.mark.parametrize(("what", "patch", "pointer"), INCONSISTENT, ids=[what for what, _, _ in INCONSISTENT])
def test_an_inconsistent_observation_is_refused_where_it_is_wrong(
    what: str, patch: dict[str, Any], pointer: str, prepared: Prepared, shared: Scene
) -> None:
    assert pointer in refusal(prepared, shared, {"patch": patch})


def test_an_agent_cannot_have_worked_longer_than_its_runner_lived(prepared: Prepared, shared: Scene) -> None:
    for value in (1e7, 1e300):  # hours and more: the test itself takes less
        message = refusal(prepared, shared, {"patch": {"/metrics/execution_duration_ms": value}})
        assert f"reports an execution of {value:g} ms and lived for " in message
    guessed = {"/metrics/execution_duration_ms": 1e7, "/metrics/statuses/execution_duration_ms": "estimated"}
    shared.script({"patch": guessed})
    assert prepared.run().observation["metrics"]["execution_duration_ms"] == 1e7


def test_a_direct_run_has_no_fallback(prepared: Prepared, shared: Scene) -> None:
    patch = {
        "/metrics/fallback_repository_commands": 0,
        "/metrics/statuses/fallback_repository_commands": "derived",
    }
    assert "/metrics/fallback_repository_commands" in refusal(prepared, shared, {"patch": patch}, "direct")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("", "JSON"),
        ("\n\n", "JSON"),
        ("I am done.", "JSON"),
        ('{"schema_version"', "JSON"),
        ("[]", "must be an object"),
        ("{}", "schema_version"),
        ('{"a": 1, "a": 2}', "/a"),
        ('{"a": NaN}', "NaN"),
        ('{"a": 1e400}', "/a"),
        ("\xff\xfe{}", "UTF-16"),
        ("\xef\xbb\xbf{}", "byte order mark"),
        ('{"a": "\xe9"}', "UTF-8"),
        ("[" * 200 + "]" * 200, "deep"),
    ],
    ids=range(13),
)
def test_what_is_no_json_object_is_refused(raw: str, message: str, prepared: Prepared, shared: Scene) -> None:
    found = refusal(prepared, shared, {"raw": raw})
    assert message in found
    assert "the runner of condition ranked, run 1" in found


@pytest.mark.parametrize("after", ["{}", "x", " \n[]"])
def test_surplus_output_is_refused(after: str, prepared: Prepared, shared: Scene) -> None:
    assert "JSON" in refusal(prepared, shared, {"after": after})


def test_white_space_around_the_observation_is_no_surplus(prepared: Prepared, shared: Scene) -> None:
    shared.script({"after": "\n \n"})
    prepared.run()


@pytest.mark.parametrize("code", [1, 3, 255])
def test_any_exit_code_but_zero_is_refused_with_what_the_runner_said(
    code: int, prepared: Prepared, shared: Scene
) -> None:
    found = refusal(prepared, shared, {"exit": code, "stderr": "first\nthe model is away\n"})
    assert f"The runner of condition ranked, run 1, exited with code {code}" in found
    assert BY_ITSELF in found
    assert "the model is away" in found


def test_only_the_end_of_a_long_complaint_is_quoted(prepared: Prepared, shared: Scene) -> None:
    found = refusal(prepared, shared, {"exit": 1, "stderr": "a" * 5000 + "END"}, limits=M2Limits(shown_characters=10))
    assert found.endswith("It said: aaaaaaaEND")


DEADLY = [
    number
    for number in signal.valid_signals()
    if number not in (signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH, signal.SIGSTOP, signal.SIGTSTP)
    and number not in (signal.SIGTTIN, signal.SIGTTOU)
    and number < signal.SIGRTMIN
]


@pytest.mark.parametrize("number", DEADLY, ids=[signal.Signals(number).name for number in DEADLY])
def test_a_runner_that_dies_by_a_signal_is_refused_though_it_had_printed_a_right_observation(
    number: int, prepared: Prepared, shared: Scene
) -> None:
    found = refusal(prepared, shared, {"signal": number})
    assert f"was killed by {signal.Signals(number).name}" in found


def test_a_runner_that_hangs_is_killed_with_everything_it_started(
    prepared: Prepared, shared: Scene, tmp_path: Path
) -> None:
    child = tmp_path / "pid"
    found = refusal(prepared, shared, {"hang": True, "background": str(child)}, timeout_s=3)
    assert "ran longer than it may and was killed" in found
    assert not alive(int(child.read_text()))
    assert not alive(shared.calls()[-1]["pid"])


def test_a_runner_that_prints_fifty_megabytes_is_refused(prepared: Prepared, shared: Scene) -> None:
    begun = time.monotonic()
    found = refusal(prepared, shared, {"spill": 50 * 1024 * 1024})
    assert "printed more than stdout may hold and was killed" in found
    assert time.monotonic() - begun < 60


def test_a_runner_that_complains_without_end_is_refused(prepared: Prepared, shared: Scene) -> None:
    limits = M2Limits(runner_stderr_bytes=1000)
    assert "printed more than stderr may hold" in refusal(prepared, shared, {"stderr": "x" * 1001}, limits=limits)


def test_a_process_left_behind_is_killed_and_said(prepared: Prepared, shared: Scene, tmp_path: Path) -> None:
    child = tmp_path / "pid"
    shared.script({"background": str(child)})
    outcome = prepared.run()
    assert not alive(int(child.read_text()))
    assert outcome.left_behind == 1


def test_another_agent_in_a_later_condition_is_refused(prepared: Prepared, shared: Scene) -> None:
    shared.script()
    first = prepared.run("direct").observation
    for patch in (
        {"/metadata/model": "another"},
        {"/metadata/cli_version": "2"},
        {"/metadata/reasoning_effort": "high"},
        {"/metadata/adapter_version": "2"},
        {"/metadata/sandbox": "other"},
    ):
        found = refusal(prepared, shared, {"patch": patch}, earlier=[first])
        assert next(iter(patch)) in found
        assert "in condition ranked" in found


@pytest.mark.parametrize(
    "command",
    [
        "repocue cue",
        "bash -lc 'repocue status'",
        "cat ~/.cache/repocue/x/state.db",
        "python3 -m repocue cue",
    ],
)
def test_a_run_whose_agent_used_repocue_gets_a_finding(command: str, prepared: Prepared, shared: Scene) -> None:
    home = shared.env["HOME"]
    patch = {"/commands/0": {"command": command, "classification": "git", "files_read": []}}
    shared.script({"patch": patch})
    outcome = prepared.run(known_caches=[os.path.join(home, ".cache", "repocue")])
    (finding,) = outcome.observation["findings"]
    assert (finding["category"], finding["severity"], finding["evidence"]) == ("contaminated", "warning", command)


def test_reading_what_earlier_runs_published_is_contamination(scene: Scene) -> None:
    # the output directory may be above the repository, and reading that is what an agent is for
    above = os.path.dirname(scene.root)
    earlier = json.loads(scene.evaluate("--output-directory", above, runner=False).stdout)["report_set"]
    commands = [f"cat {earlier}/x.json", f"cat {scene.root}/README.md"]
    patch = {
        f"/commands/{at}": {"command": text, "classification": "git", "files_read": []}
        for at, text in enumerate(commands)
    }
    scene.script({"patch": patch | {"/metrics/git_calls": 2, "/metrics/repository_files_named": 0}})
    with scene.prepared(output_directory=above) as prepared:
        (finding,) = prepared.run("direct").observation["findings"]
    assert (finding["category"], finding["evidence"]) == ("contaminated", commands[0])
    assert finding["message"].startswith("1 of its commands")


def test_naming_repocue_is_no_contamination(prepared: Prepared, shared: Scene) -> None:
    patch = {"/commands/0": {"command": "grep -rn repocue .", "classification": "git", "files_read": []}}
    shared.script({"patch": patch})
    assert prepared.run().observation["findings"] == []


MUTATIONS: list[tuple[str, dict[str, Any]]] = [
    ("a tracked file", {"write": {"README.md": "changed\n"}}),
    ("a tracked file to its own size", {"write": {"README.md": "# projecT\n"}}),
    ("a changed file once more", {"write": {"run.sh": "#!/bin/sh\nexit 1\n"}}),
    ("a deleted file", {"write": {"README.md": None}}),
    ("an untracked file's bytes", {"write": {"notes.txt": "Untracked\n"}}),
    ("a new untracked file", {"write": {"new.txt": ""}}),
    ("an untracked file's deletion", {"write": {"notes.txt": None}}),
    ("the index", {"git": [["add", "run.sh"]]}),
    ("an index entry's flag", {"git": [["update-index", "--chmod=-x", "run.sh"]]}),
    ("a branch", {"git": [["branch", "other"]]}),
    ("a tag", {"git": [["tag", "v1"]]}),
    ("the stash", {"git": [["stash", "push", "-q"], ["stash", "apply", "-q", "--index"]]}),
    ("HEAD", {"git": [["commit", "-q", "-m", "third"]]}),
    ("the branch", {"git": [["checkout", "-q", "-b", "third"]]}),
    (
        "the log of HEAD",
        {"git": [["checkout", "-q", "-b", "x"], ["checkout", "-q", "main"], ["branch", "-q", "-D", "x"]]},
    ),
    ("the configuration", {"git": [["config", "core.abbrev", "9"]]}),
    ("a new file that it has git ignore", {"write": {".git/info/exclude": "hidden\n", "hidden": "there\n"}}),
]


@pytest.fixture(scope="module")
def spoiled(tmp_path_factory: pytest.TempPathFactory, repocue_exe: list[str]) -> Iterator[tuple[Scene, Prepared, Path]]:
    """A scene of its own with a prepared set, and a copy of the repository as it was."""
    scene = build(tmp_path_factory.mktemp("spoiled"), repocue_exe)
    copy = scene.folder / "as-it-was"
    shutil.copytree(scene.root, copy, symlinks=True)
    with scene.prepared() as prepared:
        yield scene, prepared, copy


@pytest.mark.parametrize(("what", "steps"), MUTATIONS, ids=[what for what, _ in MUTATIONS])
def test_a_run_that_changes_the_repository_is_refused(
    what: str, steps: dict[str, Any], spoiled: tuple[Scene, Prepared, Path]
) -> None:
    scene, prepared, copy = spoiled
    worktree, environ = prepared.inputs.given.worktree, prepared.inputs.given.environ
    as_it_was = evidence.capture(worktree, environ, earlier=prepared.prepared.capture)
    assert as_it_was.state_fingerprint == prepared.prepared.capture.state_fingerprint
    assert as_it_was.guard_digest == prepared.prepared.capture.guard_digest
    scene.script(steps)
    try:
        with pytest.raises(EvaluationError) as caught:
            prepared.run()
        fresh = evidence.capture(worktree, environ)
        built_on = evidence.capture(worktree, environ, earlier=prepared.prepared.capture)
    finally:
        shutil.rmtree(scene.root)
        shutil.copytree(copy, scene.root, symlinks=True)
    assert caught.value.code == "evaluation.repository-changed"
    assert "while condition ranked of run 1 ran" in caught.value.message
    for name in ("state_fingerprint", "guard_digest", "untracked_content_digest", "gitlinks"):
        assert getattr(built_on, name) == getattr(fresh, name)


def test_an_ignored_file_is_not_covered_and_a_failing_run_says_what_it_changed(scene: Scene) -> None:
    scene.script({"write": {"build.log": "ignored, changed\n"}})
    with scene.prepared() as prepared:
        prepared.run()
        scene.script({"write": {"README.md": "changed\n"}, "exit": 4})
        with pytest.raises(EvaluationError) as caught:
            prepared.run()
    assert "exited with code 4; nothing was published. The repository changed while it ran." in caught.value.message


def test_a_repository_that_can_no_longer_be_observed_is_refused(scene: Scene) -> None:
    scene.script({"write": {".git/HEAD": "nonsense\n"}})
    with scene.prepared() as prepared, pytest.raises(Exception) as caught:
        prepared.run()
    assert "nonsense" not in str(caught.value)
    assert type(caught.value).__name__ in ("RepositoryError", "GitFailed", "EvaluationError")


@pytest.mark.parametrize("name", ["CUE_FILE", "TASK_FILE"])
@pytest.mark.parametrize("text", ["something else\n", None], ids=["other bytes", "deleted"])
def test_a_runner_that_alters_what_it_was_handed_is_refused(
    name: str, text: str | None, prepared: Prepared, shared: Scene
) -> None:
    shared.script({"write": {f"{{{name}}}": text}})
    with pytest.raises(EvaluationError) as caught:
        prepared.run()
    assert caught.value.code == "runner.altered-input"
    assert f"altered what it was handed: {name.removesuffix('_FILE').lower()}." in caught.value.message


def test_a_runner_that_spoils_the_temporary_folder_is_one_clear_error(scene: Scene) -> None:
    scene.script(direct={"make": ["{TASK_FILE}.d", "{TASK_FILE}.d/../../2"]})
    error = error_of(scene.evaluate())
    assert error["code"] == "evaluation.temporary-root"
    assert [call["asked"]["CONDITION"] for call in scene.calls()] == ["direct"]
    assert (scene.sets(), os.listdir(scene.temporary)) == ([], [])


def test_an_output_directory_that_a_runner_replaced_by_a_link_is_not_written_to(scene: Scene) -> None:
    folder = os.path.join(scene.root, ".git", "refs")
    scene.script(structural_oracle={"link": {scene.out: folder}})
    before = sorted(os.listdir(folder))
    assert error_of(scene.evaluate())["code"] == "evaluation.inside-checkout"
    assert sorted(os.listdir(folder)) == before


def test_a_change_between_two_conditions_is_refused_before_the_next_runner_starts(scene: Scene) -> None:
    with scene.prepared() as prepared:
        prepared.run("direct")
        scene.write("README.md", "changed by someone else\n")
        with pytest.raises(EvaluationError) as caught:
            prepared.run("placebo")
    assert "before condition placebo of run 1 began" in caught.value.message
    assert len(scene.calls()) == 1


def test_a_run_that_fails_in_its_last_condition_exposes_nothing_and_its_index_can_be_used_again(scene: Scene) -> None:
    scene.script({}, structural_oracle={"exit": 7, "stderr": "out of quota"})
    error = error_of(scene.evaluate())
    assert (error["code"], "condition structural-oracle, run 1, exited with code 7" in error["message"]) == (
        "runner.failed",
        True,
    )
    assert "out of quota" in error["message"]
    assert len(scene.calls()) == 5
    assert (scene.sets(), os.listdir(scene.temporary)) == ([], [])
    scene.script()
    assert len(reports_of(scene.published())) == 5


def test_a_model_that_changes_between_conditions_ends_the_run_there(scene: Scene) -> None:
    scene.script({}, basic={"patch": {"/metadata/model": "another"}})
    error = error_of(scene.evaluate())
    assert '/metadata/model: "another" in condition basic, "no model" in direct' in error["message"]
    assert [call["asked"]["CONDITION"] for call in scene.calls()] == list(CONDITIONS[:3])
    assert (scene.sets(), os.listdir(scene.temporary)) == ([], [])


def test_a_model_that_is_called_like_a_dry_run_is_refused(scene: Scene) -> None:
    scene.script({"patch": {"/metadata/model": "no/runner"}})
    error = error_of(scene.evaluate())
    assert (error["code"], "'no/runner'" in error["message"]) == ("runner.model", True)
    assert [call["asked"]["CONDITION"] for call in scene.calls()] == ["direct"]
    assert scene.sets() == []


def test_a_runner_that_cannot_be_started_is_one_clear_error(scene: Scene) -> None:
    Path(scene.runner).write_text("#!/nonexistent/interpreter\n")
    error = error_of(scene.evaluate())
    assert error["code"] == "process.not-started"
    assert (scene.sets(), os.listdir(scene.temporary)) == ([], [])


def test_a_finding_of_contamination_is_in_the_published_report(scene: Scene) -> None:
    contaminated = {"/commands/0": {"command": "repocue cue --view ranked", "classification": "git", "files_read": []}}
    scene.script({}, placebo={"patch": contaminated})
    reports = reports_of(scene.published())
    found = {name: [item["category"] for item in report["runner"]["findings"]] for name, report in reports.items()}
    assert found == {name: ["contaminated"] if name == "placebo" else [] for name in CONDITIONS}


def test_processes_left_behind_are_a_limitation_of_the_published_report(scene: Scene, tmp_path: Path) -> None:
    child = tmp_path / "pid"
    scene.script({}, direct={"background": str(child)})
    reports = reports_of(scene.published())
    assert not alive(int(child.read_text()))
    texts = [text for text in reports["direct"]["limitations"] if "outlived the runner" in text]
    assert len(texts) == 1
    assert not any("outlived" in text for text in reports["placebo"]["limitations"])


def test_unknown_counters_are_published_as_unknown(scene: Scene) -> None:
    patch = {
        "/usage_events/0/cached_input_tokens": None,
        "/usage_events/1/output_tokens": DELETE,
        "/metrics/cached_input_tokens": DELETE,
        "/metrics/output_tokens": DELETE,
        "/metrics/total_tokens": DELETE,
        "/metrics/statuses/cached_input_tokens": "not_observed",
        "/metrics/statuses/output_tokens": "not_observed",
        "/metrics/statuses/total_tokens": "not_observed",
    }
    scene.script({"patch": patch})
    metrics = reports_of(scene.published())["ranked"]["runner"]["metrics"]
    assert "total_tokens" not in metrics
    assert metrics["statuses"]["total_tokens"] == "not_observed"
    assert metrics["input_tokens"] == 1500
    text = scene.evaluate("--run-index", "2", "--format", "text").stdout.decode()
    (row,) = [line for line in text.splitlines() if line.strip().startswith("ranked")]
    assert row.split() == ["ranked", "1,500", "-", "-", "2", "12"]
