"""Whole experiments: what is refused before anything happens, orders, resuming, the plan, what interruptions leave."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from repocue.domain.state import DirtyFile
from repocue.errors import EvaluationError
from repocue.evaluation.m2 import limits, workspace
from repocue.evaluation.m2.order import is_balanced, order_of
from repocue.evaluation.m2.preparation import check_readable
from repocue.git import evidence
from repocue.git.worktree import find
from tests.m2.scene import CONDITIONS, Scene, error_of, reports_of
from tests.support.repos import git
from tests.support.terminal import on_terminal


def usage_error_of(done: subprocess.CompletedProcess[bytes]) -> str:
    assert (done.returncode, done.stdout) == (2, b""), done.stderr
    message: str = json.loads(done.stderr.splitlines()[-1])["message"]
    return message


def untouched(scene: Scene) -> bool:
    """Whether nothing at all was made or started."""
    return not os.path.exists(scene.out) and os.listdir(scene.temporary) == [] and scene.calls() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--max-tokens", "0"], "--max-tokens"),
        (["--max-tokens", "2097153"], "--max-tokens"),
        (["--run-index", "0"], "--run-index"),
        (["--run-index", "9007199254740992"], "--run-index"),
        (["--runs", "0"], "--runs"),
        (["--timeout", "0"], "--timeout"),
        (["--timeout", "nan"], "--timeout"),
        (["--timeout", "1e9"], "--timeout"),
        (["--order", "random"], "--order"),
        (["--output-directory", ""], "output-directory"),
        (["--cache-dir", "/tmp/x"], "--cache-dir"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_a_usage_error_before_anything_happens(
    arguments: list[str], message: str, shared: Scene
) -> None:
    assert message in usage_error_of(shared.evaluate(*arguments))
    assert untouched(shared)


def test_without_an_output_directory_nothing_is_run(shared: Scene) -> None:
    done = subprocess.run([*shared.exe, "evaluate-m2"], cwd=shared.root, env=shared.environment(), capture_output=True)
    assert "--output-directory" in usage_error_of(done)


INPUTS = {
    "a runner that is not there": (["--runner", "/nonexistent"], "evaluation.executable"),
    "a runner that is on no PATH": (["--runner", "no-such-runner"], "evaluation.executable"),
    "a runner that is a folder": (["--runner", "{out}/.."], "evaluation.executable"),
    "a runner that is not executable": (["--runner", "{root}/README.md"], "evaluation.executable"),
    "an oracle that is not there": (["--oracle-tool", "/nonexistent"], "evaluation.executable"),
    "an oracle in the repository": (["--oracle-tool", "{root}/run.sh"], "oracle.inside-repository"),
    "a text that is not there": (["--task-file", "/nonexistent"], "evaluation.file"),
    "a text that is empty": (["--task-file", "/dev/null"], "evaluation.file"),
    "a text that is none": (["--task-file", "{binary}"], "evaluation.file"),
    "an output in the work tree": (["--output-directory", "{root}/out"], "evaluation.inside-checkout"),
    "an output in a folder to come": (["--output-directory", "{root}/a/b/c"], "evaluation.inside-checkout"),
    "an output in the git folder": (["--output-directory", "{root}/.git/out"], "evaluation.inside-checkout"),
    "an output through a link": (["--output-directory", "{link}/out"], "evaluation.inside-checkout"),
    "an output that is a file": (["--output-directory", "{binary}"], "evaluation.path"),
    "an output below a file": (["--output-directory", "{binary}/out"], "evaluation.path"),
    "temporary files in the work tree": (["--temporary-root", "."], "evaluation.inside-checkout"),
    "temporary files through a link": (["--temporary-root", "{link}"], "evaluation.inside-checkout"),
    "temporary files below a file": (["--temporary-root", "{binary}/x"], "evaluation.path"),
    "no repository": (["-C", "/"], "repository.none"),
}


@pytest.mark.parametrize("what", INPUTS)
def test_every_input_is_checked_before_anything_happens(what: str, shared: Scene) -> None:
    binary, link = shared.folder / "binary", shared.folder / "link"
    binary.write_bytes(b"\xff\xfe\0")
    if not link.is_symlink():
        link.symlink_to(shared.root)
    arguments, code = INPUTS[what]
    places = {"out": shared.out, "root": shared.root, "binary": binary, "link": link}
    done = shared.evaluate(*(argument.format(**places) for argument in arguments))
    assert error_of(done)["code"] == code
    assert untouched(shared)


def test_the_common_folder_of_a_linked_worktree_is_no_place_either(scene: Scene, tmp_path: Path) -> None:
    linked = str(tmp_path / "linked")
    git(scene.root, "worktree", "add", "-q", "--detach", linked)
    done = scene.evaluate("-C", linked, "--output-directory", os.path.join(scene.root, ".git", "out"))
    assert error_of(done)["code"] == "evaluation.inside-checkout"
    beside = scene.published("-C", linked, "--output-directory", os.path.join(scene.root, "out"), runner=False)
    assert {report["repository"]["name"] for report in reports_of(beside).values()} == {"linked"}


def test_a_budget_that_no_context_fits_is_an_error_before_any_agent(scene: Scene) -> None:
    error = error_of(scene.evaluate("--max-tokens", "150"))
    assert error["code"] == "budget.too-small"
    assert (scene.calls(), scene.sets(), os.listdir(scene.temporary)) == ([], [], [])


def test_a_repository_that_changes_while_contexts_are_made_is_refused(scene: Scene, tmp_path: Path) -> None:
    tool = tmp_path / "oracle"
    tool.write_text("#!/bin/sh\necho more >>notes.txt\n")
    tool.chmod(0o755)
    error = error_of(scene.evaluate("--oracle-tool", str(tool)))
    assert (error["code"], scene.calls()) == ("evaluation.repository-changed", [])
    tool.write_text("#!/bin/sh\necho more >>README.md\n")
    error = error_of(scene.evaluate("--oracle-tool", str(tool)))
    assert "while the structural-oracle context was built" in error["message"]
    assert (scene.sets(), os.listdir(scene.temporary)) == ([], [])


def test_an_oracle_that_fails_ends_the_run_before_any_agent(scene: Scene, tmp_path: Path) -> None:
    tool = tmp_path / "oracle"
    tool.write_text("#!/bin/sh\nexit 9\n")
    tool.chmod(0o755)
    assert error_of(scene.evaluate("--oracle-tool", str(tool)))["code"] == "oracle.failed"
    assert (scene.calls(), scene.sets()) == ([], [])


def test_a_changed_file_that_cannot_be_read_is_refused_since_no_fingerprint_would_cover_it(shared: Scene) -> None:
    worktree, environ = find(shared.root, shared.environment()), shared.environment()
    seen = evidence.capture(worktree, environ)
    check_readable(seen)
    unread = DirtyFile("run.sh", ".M", "100755", None, 17)
    with pytest.raises(EvaluationError) as caught:
        check_readable(replace(seen, observation=seen.observation._replace(dirty=(unread,))))
    assert caught.value.code == "evaluation.unreadable"


def test_balanced_orders_form_a_latin_square_whose_first_row_is_the_fixed_order() -> None:
    rows = [order_of("balanced", index) for index in range(1, 6)]
    assert rows[0] == CONDITIONS == order_of("fixed", 3)
    for position in range(5):
        assert sorted(row[position] for row in rows) == sorted(CONDITIONS)
    for row in rows:
        assert sorted(row) == sorted(CONDITIONS)
    assert order_of("balanced", 6) == rows[0]
    assert [is_balanced("balanced", range(1, 1 + runs)) for runs in (1, 4, 5, 6, 10)] == [
        False,
        False,
        True,
        False,
        True,
    ]
    assert not is_balanced("fixed", range(1, 6))


def test_runs_are_consecutive_and_balanced_ones_rotate(scene: Scene) -> None:
    done = scene.evaluate("--runs", "2", "--run-index", "2", "--order", "balanced")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [(entry["run_index"], entry["status"]) for entry in document["report_sets"]] == [
        (2, "published"),
        (3, "published"),
    ]
    assert document["report_set"] is None
    wanted = {2: (*CONDITIONS[1:], *CONDITIONS[:1]), 3: (*CONDITIONS[2:], *CONDITIONS[:2])}
    asked = [(call["asked"]["RUN_INDEX"], call["asked"]["CONDITION"]) for call in scene.calls()]
    assert asked == [("2", name) for name in wanted[2]] + [("3", name) for name in wanted[3]]
    for entry in document["report_sets"]:
        for condition, report in reports_of(entry["path"]).items():
            assert report["run_index"] == entry["run_index"]
            assert report["order_policy"] == "balanced"
            assert report["condition_order"] == wanted[entry["run_index"]].index(condition) + 1
    plan = done.stderr.decode()
    assert "run 2: placebo, basic, ranked, structural-oracle, direct" in plan
    assert "unbalanced" in plan


def test_a_later_run_that_fails_keeps_the_earlier_sets_and_resuming_makes_the_rest(scene: Scene) -> None:
    once = scene.folder / "calls.jsonl"
    scene.script({}, direct={"exit": 5} if once.exists() else {})
    first = scene.published("--run-index", "1")
    scene.script({"exit": 5})
    failed = scene.evaluate("--runs", "3", "--resume")
    assert "run 2, exited with code 5" in error_of(failed)["message"]
    assert "Run 1 is published already and is skipped." in failed.stderr.decode()
    assert scene.sets() == [os.path.basename(first)]
    scene.script()
    before = len(scene.calls())
    done = scene.evaluate("--runs", "3", "--resume")
    assert [entry["status"] for entry in json.loads(done.stdout)["report_sets"]] == [
        "skipped",
        "published",
        "published",
    ]
    assert len(scene.calls()) - before == 10
    again = scene.evaluate("--runs", "3", "--resume", "--format", "text")
    assert (again.returncode, len(scene.calls()) - before) == (0, 10)
    assert "No run is left to make." in again.stderr.decode()
    assert again.stdout.decode().count("was published before") == 3


def test_what_is_published_is_never_overwritten(scene: Scene) -> None:
    path = scene.published()
    before = {name: Path(path, name).read_bytes() for name in os.listdir(path)}
    calls = len(scene.calls())
    error = error_of(scene.evaluate())
    assert error["code"] == "evaluation.exists"
    assert len(scene.calls()) - calls == 1  # the model is known after one run; no further agent works in vain
    scene.published(runner=False)
    assert error_of(scene.evaluate(runner=False))["code"] == "evaluation.exists"
    assert {name: Path(path, name).read_bytes() for name in os.listdir(path)} == before
    assert len(scene.sets()) == 2


def test_resuming_takes_only_what_fits_and_is_intact(scene: Scene) -> None:
    dry = scene.published(runner=False)
    observed = scene.published("--resume")  # a dry run is no run with agents
    assert observed != dry
    Path(scene.folder, "task.txt").write_text("Another question.\n")
    oracle = Path(scene.folder, "oracle")
    oracle.write_text("#!/bin/sh\nexit 0\n")
    oracle.chmod(0o755)
    for arguments in (
        ["--max-tokens", "400"],
        ["--order", "balanced"],
        ["--task-file", str(scene.folder / "task.txt")],
        ["--oracle-tool", str(oracle)],
    ):
        error = error_of(scene.evaluate("--resume", *arguments))
        assert error["code"] == "evaluation.resume"
    name = next(name for name in os.listdir(observed) if "ranked" in name)
    data = Path(observed, name).read_bytes()
    Path(observed, name).write_bytes(data.replace(b"1500", b"1501", 1))
    error = error_of(scene.evaluate("--resume"))
    assert (error["code"], name in error["message"]) == ("evidence.altered", True)
    Path(observed, name).write_bytes(data)
    scene.write("notes.txt", "another state\n")
    other = scene.published("--resume")
    assert (other != observed, len(scene.sets())) == (True, 3)
    scene.script({"patch": {"/metadata/model": "another"}})
    scene.published()
    error = error_of(scene.evaluate("--resume"))
    assert (error["code"], "several models" in error["message"]) == ("evaluation.resume", True)


def test_the_plan_is_on_stderr_before_the_first_agent_unless_quiet(scene: Scene) -> None:
    scene.script({"exit": 1})
    shown = scene.evaluate("--timeout", "77.5").stderr.decode()
    assert f"5 agent runs by {scene.runner}" in shown
    assert "each stopped after 77.5 s" in shown
    assert "run 1: direct, placebo, basic, ranked, structural-oracle" in shown
    assert "Order: fixed." in shown
    sizes = {call["asked"]["CONDITION"]: len((call["cue"] or "").encode()) for call in scene.calls()}
    assert list(sizes.items()) == [("direct", 0)]
    assert re.search(r"direct +none +0 +0\n", shown)
    assert re.search(r"structural-oracle +repocue/cue-2 +[0-9,]+ +[0-9]+\n", shown)
    quiet = scene.evaluate("--quiet").stderr
    assert len(quiet.splitlines()) == 1


def test_on_a_terminal_a_dry_run_prints_what_contexts_cost_and_that_no_agent_ran(scene: Scene) -> None:
    code, shown = on_terminal(scene.command(runner=False), cwd=scene.root, env=scene.environment())
    assert code == 0
    assert "No runner is given, so no agent runs." in shown
    assert "Agent evidence: not observed. This is a dry run" in shown
    (path,) = scene.sets()
    assert path in shown.replace("\n", "").replace("\r", "")
    reports = reports_of(os.path.join(scene.out, path))
    for condition, report in reports.items():
        cells = [line.split() for line in shown.splitlines() if line.split()[:1] == [condition]][-1]
        assert cells[1:3] == [f"{report['cue']['bytes']:,}", f"{report['cue']['estimated_tokens']:,}"]


def test_what_an_interrupted_run_left_is_named_and_what_is_in_use_is_not(scene: Scene) -> None:
    free, used, young = (
        os.path.join(scene.temporary, f"{workspace.PREFIX}repo-{number * 24}-{'0' * 12}") for number in "abc"
    )
    for folder in (free, used, young):
        os.mkdir(folder)
    for folder in (free, used):
        Path(folder, "lock").touch()
    stale = os.path.join(scene.temporary, f"{workspace.PREFIX}repo-{'d' * 24}-{'0' * 12}")
    os.mkdir(stale)
    long_ago = time.time() - 3600
    os.utime(stale, (long_ago, long_ago))
    partial = os.path.join(scene.out, f".project_m_run-01_maintenance-{'0' * 24}.{'0' * 12}.partial")
    os.makedirs(partial)
    os.mkdir(os.path.join(scene.out, "something.partial"))
    with open(os.path.join(used, "lock")) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert workspace.leftovers(scene.temporary, scene.out) == sorted([free, partial, stale])
        shown = scene.evaluate(runner=False).stderr.decode()
    for path in (free, partial, stale):
        assert f"Left by an interrupted run, no evidence, can be removed: {path}\n" in shown
    assert used not in shown
    assert young not in shown
    assert os.path.isdir(free)


def test_a_subcommand_takes_no_option_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from repocue.cli.app import repocue_command
    from repocue.cli.commands import evaluate_m2
    from repocue.errors import UsageError

    @click.command("summary")
    def summary() -> None:
        click.echo("ran")

    def get(_self: object, _ctx: click.Context, name: str) -> click.Command | None:
        return summary if name == "summary" else None

    monkeypatch.setattr(evaluate_m2._Group, "get_command", get)
    runner = CliRunner()
    assert runner.invoke(repocue_command, ["evaluate-m2", "summary"]).output == "ran\n"
    for typed in (["--runs", "3"], ["--resume"], ["--output-directory", "x"]):
        refused = runner.invoke(repocue_command, ["evaluate-m2", *typed, "summary"])
        assert isinstance(refused.exception, UsageError)
        assert typed[0] in refused.exception.message
        assert "ran" not in refused.output


def test_the_defaults_of_every_bound() -> None:
    found: dict[str, Any] = {name: getattr(limits.DEFAULT_LIMITS, name) for name in limits.M2Limits.__slots__}
    assert found == {
        "runner_stdout_bytes": 16 * 1024 * 1024,
        "runner_stderr_bytes": 16 * 1024 * 1024,
        "runner_json_depth": 64,
        "cue_s": 60.0,
        "cue_stdout_bytes": 16 * 1024 * 1024,
        "maintenance_s": 3600.0,
        "task_bytes": 1024 * 1024,
        "report_bytes": 128 * 1024 * 1024,
        "shown_characters": 2000,
    }
    assert (limits.DEFAULT_TIMEOUT_S, limits.MAX_TIMEOUT_S) == (1800, 7 * 24 * 3600)
    assert (limits.MAX_CONTEXT_TOKENS, limits.MAX_RUNS) == (2_097_152, 1000)
