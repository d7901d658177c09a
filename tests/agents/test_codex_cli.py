"""The real Codex CLI through the adapter, against a provider that the test scripts: what went in comes out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.support import agents
from tests.support import fake_openai as openai
from tests.support.agents import Ran
from tests.support.environment import isolated_environment
from tests.support.repos import git
from tests.support.scripted_provider import Provider, Step

pytestmark = pytest.mark.agents

MODEL = "gpt-5.5"
LOOK = openai.answer(openai.command("git status --short"), used=openai.usage(1000, 50, cached=0, reasoning=20))
READ = openai.answer(openai.command("cat README.md"), used=openai.usage(1200, 30, cached=900, reasoning=3))


@dataclass
class Rig:
    """One repository, one folder for the run's files, the runner, and the program behind it."""

    folder: Path
    root: str
    command: list[str]
    binary: str
    retries: int = 0
    extra: dict[str, str] = field(default_factory=dict)

    def environment(self, provider: Provider, request: Mapping[str, str]) -> dict[str, str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        flags = openai.provider_flags(provider.url, retries=self.retries)
        return {
            **isolated_environment(str(home)),
            **request,
            "REPOCUE_CODEX_BIN": agents.wrapper(self.folder / "codex", self.binary, "exec", flags),
            openai.KEY_VARIABLE: "no-secret",
            **self.extra,
        }

    def evaluate(self, provider: Provider, condition: str = "basic") -> Ran:
        request = agents.evaluation_environment(self.folder, self.root, condition)
        settings = {"REPOCUE_CODEX_MODEL": MODEL, "REPOCUE_CODEX_REASONING_EFFORT": "high"}
        return agents.run_runner(self.command, self.environment(provider, settings | request), self.root)

    def answer(self, **used: Any) -> Step:
        return openai.answer(
            openai.message(json.dumps(agents.benchmark_answer(self.root))), used=openai.usage(1500, 40, **used)
        )


@pytest.fixture
def rig(tmp_path: Path, script: Callable[[str], list[str]]) -> Rig:
    root = agents.small_repository(tmp_path / "repo")
    return Rig(tmp_path, root, script("repocue-codex-runner"), agents.codex_binary())


def test_usage_commands_and_answer_come_out_as_the_provider_determined(rig: Rig) -> None:
    with Provider([LOOK, READ, rig.answer(cached=1100, reasoning=7)]) as provider:
        seen = rig.evaluate(provider).observation
    # 1000 + 1200 + 1500 in, 0 + 900 + 1100 cached, 50 + 30 + 40 out, 20 + 3 + 7 reasoning
    assert seen["usage_events"] == [
        {
            "turn": 1,
            "input_tokens": 3700,
            "cached_input_tokens": 2000,
            "cache_write_input_tokens": 0,
            "output_tokens": 120,
            "reasoning_output_tokens": 30,
        }
    ]
    assert seen["metrics"]["total_tokens"] == 3820
    assert seen["commands"] == [
        {"command": "git status --short", "classification": "git", "files_read": []},
        {"command": "cat README.md", "classification": "filesystem_read", "files_read": ["README.md"]},
    ]
    assert seen["final_response"] == agents.benchmark_answer(rig.root)
    assert seen["findings"] == []
    assert seen["metadata"]["cli_version"] == agents.pinned("codex")
    assert git(rig.root, "status", "--porcelain") == b""
    assert provider.surplus == 0


def test_the_program_is_told_exactly_what_the_condition_supplies(rig: Rig) -> None:
    sent = {}
    for condition in ("direct", "basic"):
        with Provider([rig.answer()]) as provider:
            seen = rig.evaluate(provider, condition).observation
        body = provider.requests[0].json
        sent[condition] = body["input"][-1]["content"][0]["text"]
        assert body["model"] == MODEL
        assert body["reasoning"] == {"effort": "high"}
        assert "service_tier" not in body
        assert body["text"]["format"]["type"] == "json_schema"
        assert body["text"]["format"]["schema"]["properties"].keys() == agents.benchmark_answer(rig.root).keys()
        names = {tool.get("name") or tool["type"] for tool in body["tools"]}
        assert not {name for name in names if "agent" in name or "web_search" in name}
        assert ("fallback_repository_commands" in seen["metrics"]) == (condition == "basic")
    assert sent["direct"] == agents.TASK.decode()
    assert sent["basic"].startswith(agents.TASK.decode())
    assert sent["basic"].endswith(agents.CUE.decode())
    assert "Use the supplied context first." in sent["basic"]


def test_a_fast_run_asks_for_the_priority_tier_and_says_so(rig: Rig) -> None:
    rig.extra["REPOCUE_CODEX_SERVICE_TIER"] = "fast"
    with Provider([rig.answer()]) as provider:
        seen = rig.evaluate(provider).observation
    assert provider.requests[0].json["service_tier"] == "priority"
    assert seen["metadata"]["service_tier"] == "fast"


def test_two_conditions_have_the_same_metadata(rig: Rig) -> None:
    metadata = []
    for condition in ("direct", "ranked"):
        with Provider([rig.answer()]) as provider:
            environment = rig.environment(
                provider,
                {"REPOCUE_CODEX_MODEL": MODEL, "REPOCUE_CODEX_REASONING_EFFORT": "high"}
                | agents.evaluation_environment(rig.folder, rig.root, condition),
            )
            metadata.append(agents.run_runner(rig.command, environment, rig.root).observation["metadata"])
    assert metadata[0] == metadata[1]
    assert metadata[0]["arguments"][-2:] == ["<schema>", "-"]
    assert not any(str(part).startswith("/tmp/repocue-codex-runner") for part in metadata[0]["arguments"])


def test_nothing_of_the_users_own_settings_reaches_the_model(rig: Rig) -> None:
    home = rig.folder / "home" / ".codex"
    (home / "rules").mkdir(parents=True)
    (home / "AGENTS.md").write_text("MARK-FROM-HOME\n")
    (home / "config.toml").write_text('model = "mark-from-config"\n')
    (Path(rig.root) / "AGENTS.md").write_text("MARK-FROM-PROJECT\n")
    with Provider([rig.answer()]) as provider:
        rig.evaluate(provider)
    sent = provider.requests[0].body.decode()
    assert "MARK-FROM" not in sent
    assert "mark-from" not in sent
    assert sorted(path.name for path in home.iterdir()) == ["AGENTS.md", "config.toml", "rules"]


def test_the_key_of_the_provider_is_hidden_from_the_models_commands(rig: Rig) -> None:
    with Provider([openai.answer(openai.command("env"), used=openai.usage(10, 5)), rig.answer()]) as provider:
        rig.evaluate(provider)
    output = json.dumps(provider.requests[1].json["input"])
    assert "PATH=" in output
    assert "no-secret" not in output
    assert "REPOCUE_" not in output


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([openai.error(401, "fake 401", "invalid_request_error")], "401 Unauthorized"),
        ([openai.error(429, "fake 429", "rate_limit")], "429 Too Many Requests"),
        ([openai.error(500, "fake 500")], "high demand"),
        ([LOOK, openai.error(500, "fake 500")], "high demand"),
        ([openai.error(400, "fake 400")], "fake 400"),
        ([openai.cut()], "stream disconnected before completion"),
        ([openai.silence()], "idle timeout"),
    ],
    ids=["401", "429", "500", "500-second", "400", "cut", "silence"],
)
def test_a_fault_of_the_provider_is_one_clear_error_and_no_observation(rig: Rig, steps: list[Step], words: str) -> None:
    with Provider(steps) as provider:
        error = rig.evaluate(provider).error
    assert error.startswith("repocue-codex-runner: the Codex CLI exited with code 1: ")
    assert words in error


def test_a_refused_connection_ends_the_run(rig: Rig) -> None:
    with Provider([]) as provider:
        pass  # closed: nobody listens there any more
    error = rig.evaluate(provider).error
    assert error.startswith("repocue-codex-runner: the Codex CLI exited with code 1: ")


def test_a_cut_that_a_retry_mended_is_told(rig: Rig) -> None:
    rig.retries = 2
    with Provider([LOOK, openai.cut(), rig.answer(cached=1100, reasoning=7)]) as provider:
        seen = rig.evaluate(provider).observation
    assert "reconnect" in agents.categories(seen)
    assert seen["usage_events"][0]["input_tokens"] == 2500  # 1000 + 1500; the cut request is in no usage


def test_usage_missing_in_one_of_several_requests_is_an_observed_undercount(rig: Rig) -> None:
    without = openai.answer(openai.command("git status --short"), used=None)
    with Provider([without, rig.answer(cached=1100, reasoning=7)]) as provider:
        seen = rig.evaluate(provider).observation
    assert seen["metrics"]["input_tokens"] == 1500
    assert any("counts a request without usage as zero" in text for text in seen["limitations"])


def test_usage_missing_everywhere_is_observed_as_zero_with_a_finding(rig: Rig) -> None:
    answer = openai.answer(openai.message(json.dumps(agents.benchmark_answer(rig.root))), used=None)
    with Provider([answer]) as provider:
        seen = rig.evaluate(provider).observation
    assert seen["metrics"]["total_tokens"] == 0
    assert "usage-all-zero" in agents.categories(seen)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not json", "no benchmark answer"),
        ('{"schema_version":"repocue/benchmark-answer-2"}', 'the member "project_purpose" is missing'),
        (None, "there is no final message"),
    ],
)
def test_an_answer_that_is_none_is_an_error_although_the_program_calls_it_a_success(
    rig: Rig, text: str | None, words: str
) -> None:
    items = [] if text is None else [openai.message(text)]
    with Provider([openai.answer(*items, used=openai.usage(10, 5))]) as provider:
        error = rig.evaluate(provider).error
    assert "ended well but gave no benchmark answer" in error
    assert words in error


def test_a_wrong_answer_is_a_valid_observation(rig: Rig) -> None:
    wrong = agents.benchmark_answer(
        rig.root, git={"branch": "x", "head": None, "dirty": True, "tracked_changes": ["y"], "untracked": []}
    )
    with Provider([openai.answer(openai.message(json.dumps(wrong)), used=openai.usage(10, 5))]) as provider:
        assert rig.evaluate(provider).observation["final_response"] == wrong


def test_a_command_that_writes_is_stopped_by_the_sandbox(rig: Rig) -> None:
    with Provider(
        [openai.answer(openai.command("echo x > new.txt"), used=openai.usage(10, 5)), rig.answer()]
    ) as provider:
        seen = rig.evaluate(provider).observation
    assert not (Path(rig.root) / "new.txt").exists()
    assert "Read-only file system" in json.dumps(provider.requests[1].json["input"])
    # the program is silent about it: no event, nothing on standard error
    assert seen["commands"] == []
    assert agents.categories(seen) == ["no-commands"]
    assert any("A command that the sandbox stopped" in text for text in seen["limitations"])


def test_commands_that_all_fail_are_told(rig: Rig) -> None:
    fails = openai.answer(openai.command("no-such-program"), used=openai.usage(10, 5))
    with Provider([fails, rig.answer()]) as provider:
        seen = rig.evaluate(provider).observation
    failed = next(finding for finding in seen["findings"] if finding["category"] == "every-command-failed")
    assert "command not found" in failed["evidence"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGHUP])
@pytest.mark.parametrize("victim", ["agent", "runner"])
def test_killing_the_agent_or_the_runner_leaves_nothing_and_prints_nothing(
    rig: Rig, number: signal.Signals, victim: str
) -> None:
    duration = f"{31415}.{os.getpid()}{int(number)}{victim == 'agent':d}"
    slow = openai.answer(openai.command(f"exec sleep {duration}"), used=openai.usage(10, 5))
    with Provider([slow, openai.silence()]) as provider:
        request = agents.evaluation_environment(rig.folder, rig.root, "basic")
        settings = {"REPOCUE_CODEX_MODEL": MODEL, "REPOCUE_CODEX_REASONING_EFFORT": "high"}
        runner = subprocess.Popen(
            rig.command,
            cwd=rig.root,
            env=rig.environment(provider, settings | request),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert agents.wait_for(lambda: agents.processes(duration.encode()))  # positive control: the command runs
        if victim == "runner":
            runner.send_signal(number)
        else:
            os.kill(agents.program_in(rig.root, rig.binary), number)
        stdout, stderr = runner.communicate(timeout=agents.RUNNER_TIMEOUT_S)
        assert stdout == b""
        assert runner.returncode != 0
        if victim == "agent":
            assert b"the Codex CLI" in stderr
        agents.wait_for(
            lambda: not agents.processes(duration.encode()) and not agents.processes(str(rig.folder).encode())
        )
        assert agents.processes(duration.encode()) == []
        assert agents.processes(str(rig.folder).encode()) == []


def test_a_task_run_keeps_the_raw_streams_and_matches_the_frozen_command(rig: Rig) -> None:
    from repocue.runners.task_text import command_line

    task = f"Check it.\n{command_line('status', ['git', 'status', '--short'])}\n".encode()
    policy = agents.paid_policy(cli_version=agents.pinned("codex"), model=MODEL, speed="fast")
    request = agents.task_environment(rig.folder, rig.root, task=task, policy=policy)
    steps = [LOOK, openai.answer(openai.command("cat README.md | wc -c"), used=openai.usage(10, 5))]
    final = openai.answer(openai.message(json.dumps(agents.task_answer())), used=openai.usage(1500, 40, cached=1100))
    (Path(rig.root) / "new.txt").write_bytes(b"")
    with Provider([*steps, final]) as provider:
        seen = agents.run_runner(rig.command, rig.environment(provider, request), rig.root).observation
    evidence = rig.folder / "evidence"
    assert (evidence / "stdin").read_bytes() == task + b"\n\n" + agents.CUE
    assert provider.requests[0].json["input"][-1]["content"][0]["text"].encode() == task + b"\n\n" + agents.CUE
    assert (evidence / "provider-stderr").read_bytes() == b""
    assert b'"turn.completed"' in (evidence / "provider-stdout").read_bytes()
    output = b"?? new.txt\n"
    assert seen["commands"][0] == {
        "id": "item_0",
        "command_id": "status",
        "text": "/bin/bash -lc 'git status --short'",
        "argv": ["git", "status", "--short"],
        "completed": True,
        "exit_code": 0,
        "output_sha256": "sha256:" + sha256(output).hexdigest(),
        "output_bytes": len(output),
        "output_complete": True,
    }
    assert (seen["commands"][1]["command_id"], seen["commands"][1]["argv"]) == (None, None)
    assert seen["metadata"]["speed"] == "fast"
    assert provider.requests[0].json["service_tier"] == "priority"
    assert seen["final_response"] == agents.task_answer()
    assert (seen["arm"], seen["repeat"], seen["metrics"]["total_tokens"]) == ("task", 2, 1000 + 10 + 1500 + 50 + 5 + 40)


def test_a_misfit_task_answer_is_null_and_a_finding(rig: Rig) -> None:
    policy = agents.paid_policy(cli_version=agents.pinned("codex"), model=MODEL)
    request = agents.task_environment(rig.folder, rig.root, policy=policy)
    with Provider([openai.answer(openai.message("no"), used=openai.usage(10, 5))]) as provider:
        seen = agents.run_runner(rig.command, rig.environment(provider, request), rig.root).observation
    assert seen["final_response"] is None
    assert "answer-misfit" in agents.categories(seen)


def test_a_failed_task_run_keeps_what_the_program_printed(rig: Rig) -> None:
    policy = agents.paid_policy(cli_version=agents.pinned("codex"), model=MODEL)
    request = agents.task_environment(rig.folder, rig.root, policy=policy)
    with Provider([LOOK, openai.error(500, "fake 500")]) as provider:
        assert "high demand" in agents.run_runner(rig.command, rig.environment(provider, request), rig.root).error
    printed = (rig.folder / "evidence" / "provider-stdout").read_bytes()
    assert b"git status --short" in printed
    assert b"turn.failed" in printed


@pytest.mark.parametrize(
    ("changes", "variable", "words"),
    [
        ({"cli_version": "0.1.0"}, {}, "is version 0.171.0, but the policy names 0.1.0"),
        ({}, {"REPOCUE_CODEX_MODEL": "other"}, "REPOCUE_CODEX_MODEL is 'other', but the policy decides 'gpt-5.5'"),
        ({"speed": "fast"}, {"REPOCUE_CODEX_SERVICE_TIER": "default"}, "but the policy decides 'fast'"),
    ],
)
def test_what_differs_from_the_policy_is_refused_before_any_request(
    rig: Rig, changes: dict[str, Any], variable: dict[str, str], words: str
) -> None:
    policy = agents.paid_policy(**({"cli_version": agents.pinned("codex"), "model": MODEL} | changes))
    request = agents.task_environment(rig.folder, rig.root, policy=policy)
    rig.extra.update(variable)
    with Provider([]) as provider:
        assert words in agents.run_runner(rig.command, rig.environment(provider, request), rig.root).error
    assert provider.requests == []
