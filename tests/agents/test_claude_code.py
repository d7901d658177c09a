"""The real Claude Code through the adapter, against a provider that the test scripts: what went in comes out."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support import agents
from tests.support import fake_anthropic as anthropic
from tests.support.agents import Ran
from tests.support.environment import isolated_environment
from tests.support.repos import git
from tests.support.scripted_provider import Provider, Step

pytestmark = pytest.mark.agents

MODEL = "claude-opus-4-6"
SETTINGS = {"REPOCUE_CLAUDE_MODEL": MODEL, "REPOCUE_CLAUDE_EFFORT": "high"}


def answer(*blocks: dict[str, Any], used: dict[str, int] | None) -> Step:
    return anthropic.answer(*blocks, used=used, model=MODEL)


LOOK = answer(
    anthropic.text("I look."), anthropic.command("git status --short"), used=anthropic.usage(100, 25, written=2000)
)


@dataclass
class Rig:
    """One repository, one folder for the run's files, the runner, and the program behind it."""

    folder: Path
    root: str
    command: list[str]
    binary: str
    extra: dict[str, str] = field(default_factory=dict)

    def environment(self, provider: Provider, request: Mapping[str, str]) -> dict[str, str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        (self.folder / "tmp").mkdir(exist_ok=True)
        return {
            **isolated_environment(str(home)),
            "TMPDIR": str(self.folder / "tmp"),
            **request,
            "REPOCUE_CLAUDE_BIN": self.binary,
            "ANTHROPIC_BASE_URL": provider.url,
            "ANTHROPIC_API_KEY": "no-secret",
            "CLAUDE_CODE_MAX_RETRIES": "0",
            **self.extra,
        }

    def evaluate(self, provider: Provider, condition: str = "basic") -> Ran:
        request = agents.evaluation_environment(self.folder, self.root, condition)
        return agents.run_runner(self.command, self.environment(provider, SETTINGS | request), self.root)

    def answer(self, used: dict[str, int] | None) -> Step:
        return answer(anthropic.structured(agents.benchmark_answer(self.root)), used=used)


@pytest.fixture
def rig(tmp_path: Path, script: Callable[[str], list[str]]) -> Rig:
    root = agents.small_repository(tmp_path / "repo")
    return Rig(tmp_path, root, script("repocue-claude-runner"), agents.claude_binary())


def test_usage_commands_and_answer_come_out_as_the_provider_determined(rig: Rig) -> None:
    read = answer(
        anthropic.tool("Read", {"file_path": f"{rig.root}/README.md"}),
        anthropic.command("sed -n 1,5p src/app.py"),
        used=anthropic.usage(150, 12, read=2000, written=50),
    )
    with Provider([LOOK, read, rig.answer(anthropic.usage(200, 30, read=2050))]) as provider:
        seen = rig.evaluate(provider).observation
    # input: 100 + 150 + 200 plain, 2000 + 2050 read, 2000 + 50 written; output 25 + 12 + 30
    assert seen["usage_events"] == [
        {
            "turn": 1,
            "input_tokens": 450 + 4050 + 2050,
            "cached_input_tokens": 4050,
            "cache_write_input_tokens": 2050,
            "output_tokens": 67,
            "reasoning_output_tokens": 0,
        }
    ]
    assert seen["metrics"]["total_tokens"] == 6550 + 67
    assert [(one["classification"], one["files_read"]) for one in seen["commands"]] == [
        ("git", []),
        ("filesystem_read", ["README.md"]),
        ("filesystem_read", ["src/app.py"]),
    ]
    assert seen["commands"][1]["command"] == f'Read {{"file_path":"{rig.root}/README.md"}}'
    assert seen["metrics"]["named_file_size_proxy_bytes"] == 6 + 12
    assert seen["metrics"]["tool_calls"] == 3
    assert seen["final_response"] == agents.benchmark_answer(rig.root)
    assert seen["findings"] == []
    assert seen["metadata"]["cli_version"] == agents.pinned("claude")
    assert git(rig.root, "status", "--porcelain") == b""


def test_the_program_is_told_exactly_what_the_condition_supplies(rig: Rig) -> None:
    (Path(rig.root) / "CLAUDE.md").write_text("MARK-FROM-PROJECT\n")
    (rig.folder / "home" / ".claude").mkdir(parents=True)
    (rig.folder / "home" / ".claude" / "CLAUDE.md").write_text("MARK-FROM-HOME\n")
    sent, metadata = {}, []
    for condition in ("direct", "basic"):
        with Provider([rig.answer(anthropic.usage(10, 5))]) as provider:
            metadata.append(rig.evaluate(provider, condition).observation["metadata"])
        request = provider.requests[0]
        texts = [block["text"] for block in request.json["messages"][0]["content"] if block["type"] == "text"]
        sent[condition] = texts[-1]
        assert "MARK-FROM" not in request.body.decode()
        assert "gitStatus" not in request.body.decode()
        assert request.json["output_config"]["effort"] == "high"
        assert [tool["name"] for tool in request.json["tools"]] == ["Bash", "Read", "StructuredOutput"]
        schema = request.json["tools"][2]["input_schema"]
        assert schema["properties"].keys() == agents.benchmark_answer(rig.root).keys()
    assert sent["direct"].strip() == agents.TASK.decode().strip()
    assert sent["basic"].startswith(agents.TASK.decode())
    assert agents.CUE.decode().strip() in sent["basic"]
    assert "Use the supplied context first." in sent["basic"]
    assert metadata[0] == metadata[1]
    assert metadata[0]["arguments"][-1] == "<schema>"


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, "authentication_error"), (429, "rate_limit_error"), (500, "api_error"), (529, "overloaded_error")],
)
def test_a_fault_of_the_provider_is_one_clear_error_and_no_observation(rig: Rig, status: int, kind: str) -> None:
    with Provider([LOOK, anthropic.error(status, f"fake {status}", kind)]) as provider:
        error = rig.evaluate(provider).error
    assert error.startswith("repocue-claude-runner: Claude Code exited with code 1: ")
    assert f"(status {status})" in error


def test_a_refused_connection_ends_the_run(rig: Rig) -> None:
    with Provider([]) as provider:
        pass  # closed: nobody listens there any more
    error = rig.evaluate(provider).error
    assert error.startswith("repocue-claude-runner: Claude Code exited with code 1: ")


def test_a_cut_that_was_mended_is_told(rig: Rig) -> None:
    rig.extra["CLAUDE_CODE_MAX_RETRIES"] = "2"
    broken = anthropic.cut(anthropic.text("I"), used=anthropic.usage(150, 9), model=MODEL)
    with Provider([LOOK, broken, rig.answer(anthropic.usage(200, 30))]) as provider:
        seen = rig.evaluate(provider).observation
    assert "retry" in agents.categories(seen)
    # 100 + 2000 + 200; whether the program counts a cut try (150 more) depends on where it was cut
    assert seen["metrics"]["input_tokens"] in (2300, 2450)


def test_usage_missing_in_one_of_several_requests_makes_the_totals_unknown(rig: Rig) -> None:
    without = answer(anthropic.command("git status --short"), used=None)
    with Provider([without, rig.answer(anthropic.usage(200, 30))]) as provider:
        seen = rig.evaluate(provider).observation
    assert seen["usage_events"] == [{"turn": 1}]
    assert "total_tokens" not in seen["metrics"]
    assert seen["metrics"]["statuses"]["input_tokens"] == "not_observed"
    assert "usage-missing" in agents.categories(seen)
    assert seen["metrics"]["command_executions"] == 1


def test_an_answer_that_was_never_given_is_an_error_although_the_program_calls_it_a_success(rig: Rig) -> None:
    talk = [answer(anthropic.text("It greets."), used=anthropic.usage(10, 5)) for _ in range(3)]
    with Provider(talk) as provider:
        error = rig.evaluate(provider).error
    assert "ended well but gave no benchmark answer: there is no final message" in error


def test_a_misfit_answer_is_sent_back_to_the_model_by_the_program(rig: Rig) -> None:
    misfit = answer(anthropic.structured({"schema_version": "x"}), used=anthropic.usage(10, 5))
    with Provider([misfit, rig.answer(anthropic.usage(200, 30))]) as provider:
        seen = rig.evaluate(provider).observation
    assert seen["final_response"] == agents.benchmark_answer(rig.root)
    assert seen["metrics"]["tool_calls"] == 0


def test_a_denied_command_did_not_run_and_is_told(rig: Rig) -> None:
    writes = answer(anthropic.command("touch new.txt"), used=anthropic.usage(10, 5))
    with Provider([writes, rig.answer(anthropic.usage(200, 30))]) as provider:
        seen = rig.evaluate(provider).observation
    assert not (Path(rig.root) / "new.txt").exists()
    assert seen["commands"] == []
    denied = next(finding for finding in seen["findings"] if finding["category"] == "denied")
    assert denied["evidence"] == "touch new.txt"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGHUP])
@pytest.mark.parametrize("victim", ["agent", "runner"])
def test_killing_the_agent_or_the_runner_leaves_nothing_and_prints_nothing(
    rig: Rig, number: signal.Signals, victim: str
) -> None:
    name = f"pipe-{os.getpid()}-{int(number)}-{victim}"
    os.mkfifo(Path(rig.root) / name)  # reading it never ends
    slow = answer(anthropic.command(f"cat {name}"), used=anthropic.usage(10, 5))
    with Provider([slow, anthropic.silence(used=anthropic.usage(10, 5), model=MODEL)]) as provider:
        request = agents.evaluation_environment(rig.folder, rig.root, "basic")
        runner = subprocess.Popen(
            rig.command,
            cwd=rig.root,
            env=rig.environment(provider, SETTINGS | request),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert agents.wait_for(lambda: agents.processes(name.encode()))  # positive control: the command runs
        if victim == "runner":
            runner.send_signal(number)
        else:
            os.kill(agents.program_in(rig.root, rig.binary), number)
        stdout, stderr = runner.communicate(timeout=agents.RUNNER_TIMEOUT_S)
        assert stdout == b""
        assert runner.returncode != 0
        if victim == "agent":
            assert b"repocue-claude-runner: " in stderr
        agents.wait_for(lambda: not agents.processes(name.encode()) and not agents.processes(str(rig.folder).encode()))
        assert agents.processes(name.encode()) == []
        assert agents.processes(str(rig.folder).encode()) == []


def test_a_task_run_keeps_the_raw_streams_and_reports_no_exit_codes(rig: Rig) -> None:
    policy = agents.paid_policy(cli_version=agents.pinned("claude"), model=MODEL)
    request = agents.task_environment(rig.folder, rig.root, policy=policy)
    final = answer(anthropic.structured(agents.task_answer()), used=anthropic.usage(200, 30))
    with Provider([LOOK, final]) as provider:
        seen = agents.run_runner(rig.command, rig.environment(provider, request), rig.root).observation
    evidence = rig.folder / "evidence"
    assert (evidence / "stdin").read_bytes() == agents.TASK + b"\n\n" + agents.CUE
    assert b'"type":"result"' in (evidence / "provider-stdout").read_bytes()
    (command,) = seen["commands"]
    assert (command["argv"], command["completed"]) == (["git", "status", "--short"], True)
    assert (command["exit_code"], command["output_complete"]) == (None, False)
    assert seen["final_response"] == agents.task_answer()
    assert seen["metadata"]["stream_format"] == "claude-stream-json"


def test_a_speed_that_cannot_be_asked_for_is_refused_before_any_request(rig: Rig) -> None:
    policy = agents.paid_policy(cli_version=agents.pinned("claude"), model=MODEL, speed="fast")
    request = agents.task_environment(rig.folder, rig.root, policy=policy)
    with Provider([]) as provider:
        error = agents.run_runner(rig.command, rig.environment(provider, request), rig.root).error
    assert "which this runner cannot ask for" in error
    assert provider.requests == []
