"""Whole sets of five conditions through the real programs: `evaluate-m2` as a user runs it, on a scripted provider."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support import agents
from tests.support import fake_anthropic as anthropic
from tests.support import fake_openai as openai
from tests.support.environment import isolated_environment
from tests.support.repos import git
from tests.support.scripted_provider import Provider, Step

pytestmark = pytest.mark.agents

CONDITIONS = ("direct", "placebo", "basic", "ranked", "structural-oracle")
Runs = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def evaluate(tmp_path: Path, repocue_exe: list[str], script: Callable[[str], list[str]]) -> Runs:
    def run(root: str, runner: str, variables: Mapping[str, str], *more: str) -> subprocess.CompletedProcess[bytes]:
        home = tmp_path / "home"
        (home / "tmp").mkdir(parents=True, exist_ok=True)
        env = isolated_environment(str(home), TMPDIR=str(home / "tmp")) | dict(variables)
        command = [*repocue_exe, "evaluate-m2", "--output-directory", str(tmp_path / "evidence"), *more]
        return subprocess.run(
            [*command, "--runner", script(runner)[0]], cwd=root, env=env, capture_output=True, timeout=300
        )

    return run


def reports(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    """The published reports by condition."""
    assert done.returncode == 0, done.stderr.decode()
    folder = Path(json.loads(done.stdout)["report_set"])
    found = [json.loads(path.read_bytes()) for path in folder.glob("*.json") if path.name != "manifest.json"]
    return {report["condition"]: report for report in found if "condition" in report}


def steps_for(root: str) -> tuple[dict[str, Any], dict[str, Any]]:
    right = agents.benchmark_answer(root)
    wrong = agents.benchmark_answer(root, git={**right["git"], "branch": "elsewhere"})
    return right, wrong


def test_five_conditions_through_the_real_codex(tmp_path: Path, evaluate: Runs) -> None:
    root = agents.small_repository(tmp_path / "repo")
    right, wrong = steps_for(root)
    script: list[Step] = []
    for number, answer in enumerate((right, right, wrong, right, right), start=1):
        script.append(openai.answer(openai.command("cat README.md"), used=openai.usage(1000 * number, 10, cached=100)))
        script.append(openai.answer(openai.message(json.dumps(answer)), used=openai.usage(500, number, cached=200)))
    with Provider(script) as provider:
        flags = openai.provider_flags(provider.url)
        variables = {
            "REPOCUE_CODEX_BIN": agents.wrapper(tmp_path / "codex", agents.codex_binary(), "exec", flags),
            "REPOCUE_CODEX_MODEL": "gpt-5.5",
            "REPOCUE_CODEX_REASONING_EFFORT": "high",
            openai.KEY_VARIABLE: "no-secret",
        }
        seen = reports(evaluate(root, "repocue-codex-runner", variables))
    assert provider.surplus == 0
    assert set(seen) == set(CONDITIONS)
    for number, condition in enumerate(CONDITIONS, start=1):
        runner = seen[condition]["runner"]
        assert runner["metrics"]["input_tokens"] == 1000 * number + 500, condition
        assert runner["metrics"]["cached_input_tokens"] == 300
        assert runner["metrics"]["total_tokens"] == 1000 * number + 500 + 10 + number
        assert [(one["command"], one["files_read"]) for one in runner["commands"]] == [("cat README.md", ["README.md"])]
        assert runner["final_response"] == (wrong if condition == "basic" else right)
        assert (condition == "direct") == ("fallback_repository_commands" not in runner["metrics"])
    prompts = [request.json["input"][-1]["content"][0]["text"] for request in provider.requests[::2]]
    assert len(set(prompts)) == 5
    assert prompts[2].startswith(prompts[0])
    assert '"schema_version":"repocue/1","kind":"overview"' in prompts[2]
    assert git(root, "status", "--porcelain") == b""


def test_five_conditions_through_the_real_claude_code(tmp_path: Path, evaluate: Runs) -> None:
    root = agents.small_repository(tmp_path / "repo")
    right, _ = steps_for(root)
    model = "claude-opus-4-6"
    script: list[Step] = []
    for number in range(1, 6):
        look = anthropic.command("git log --oneline")
        script.append(anthropic.answer(look, used=anthropic.usage(100 * number, 10, written=1000), model=model))
        answer = anthropic.structured(right)
        script.append(anthropic.answer(answer, used=anthropic.usage(50, 20, read=1000), model=model))
    with Provider(script) as provider:
        variables = {
            "REPOCUE_CLAUDE_BIN": agents.claude_binary(),
            "REPOCUE_CLAUDE_MODEL": model,
            "REPOCUE_CLAUDE_EFFORT": "high",
            "ANTHROPIC_BASE_URL": provider.url,
            "ANTHROPIC_API_KEY": "no-secret",
            "CLAUDE_CODE_MAX_RETRIES": "0",
        }
        seen = reports(evaluate(root, "repocue-claude-runner", variables))
    assert provider.surplus == 0
    for number, condition in enumerate(CONDITIONS, start=1):
        runner = seen[condition]["runner"]
        assert runner["metrics"]["input_tokens"] == 100 * number + 50 + 1000 + 1000
        assert runner["metrics"]["cached_input_tokens"] == 1000
        assert runner["metrics"]["git_calls"] == 1
        assert runner["final_response"] == right


def test_a_provider_that_fails_in_the_third_condition_publishes_nothing(tmp_path: Path, evaluate: Runs) -> None:
    root = agents.small_repository(tmp_path / "repo")
    good = openai.answer(openai.message(json.dumps(agents.benchmark_answer(root))), used=openai.usage(10, 5))
    with Provider([good, good, openai.error(500, "fake 500")]) as provider:
        flags = openai.provider_flags(provider.url)
        variables = {
            "REPOCUE_CODEX_BIN": agents.wrapper(tmp_path / "codex", agents.codex_binary(), "exec", flags),
            "REPOCUE_CODEX_MODEL": "gpt-5.5",
            "REPOCUE_CODEX_REASONING_EFFORT": "high",
            openai.KEY_VARIABLE: "no-secret",
        }
        done = evaluate(root, "repocue-codex-runner", variables)
    assert done.returncode == 1
    assert b"high demand" in done.stderr
    evidence = tmp_path / "evidence"
    assert not evidence.exists() or [path for path in evidence.iterdir() if not path.name.startswith(".")] == []


def test_killing_the_harness_leaves_nothing_of_the_agent(
    tmp_path: Path, repocue_exe: list[str], script: Callable[[str], list[str]]
) -> None:
    root = agents.small_repository(tmp_path / "repo")
    duration = f"27182.{os.getpid()}"
    slow = openai.answer(openai.command(f"exec sleep {duration}"), used=openai.usage(10, 5))
    with Provider([slow]) as provider:
        (tmp_path / "home" / "tmp").mkdir(parents=True)
        flags = openai.provider_flags(provider.url)
        env = isolated_environment(str(tmp_path / "home"), TMPDIR=str(tmp_path / "home" / "tmp")) | {
            "REPOCUE_CODEX_BIN": agents.wrapper(tmp_path / "codex", agents.codex_binary(), "exec", flags),
            "REPOCUE_CODEX_MODEL": "gpt-5.5",
            "REPOCUE_CODEX_REASONING_EFFORT": "high",
            openai.KEY_VARIABLE: "no-secret",
        }
        command = [*repocue_exe, "evaluate-m2", "--output-directory", str(tmp_path / "evidence")]
        harness = subprocess.Popen(
            [*command, "--runner", script("repocue-codex-runner")[0]],
            cwd=root,
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert agents.wait_for(lambda: agents.processes(duration.encode()))  # positive control: the command runs
        harness.kill()
        harness.wait()
        agents.wait_for(lambda: not agents.processes(duration.encode()) and not agents.processes(bytes(tmp_path)))
        assert agents.processes(duration.encode()) == []
        assert agents.processes(bytes(tmp_path)) == []
