"""The adapters behind programs that are plainly no agents: shell scripts that print what a test wrote beforehand.

What the real programs do is tested in `tests/agents`; here it is what the adapter makes of any program.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from repocue.runners.adapter import main
from repocue.runners.claude.main import ClaudeAgent
from repocue.runners.codex.main import CodexAgent
from tests.support import agents
from tests.support.agents import Ran
from tests.support.environment import isolated_environment

CODEX = """#!/bin/sh
cd {folder}
case "$1 $2" in
--version*) cat version; exit ;;
"features list") cat features; exit ;;
"sandbox --") cat sandbox >&2; exit $(cat sandbox-code) ;;
"exec --help") cat help; exit ;;
exec*) ;;
*) echo "error: unrecognized subcommand" >&2; exit 2 ;;
esac
for refused in $(cat refused); do
  case "$*" in *--strict-config*"$refused="*)
    echo "Error loading config.toml: unknown configuration field \\`$refused\\` in -c/--config override" >&2; exit 1 ;;
  esac
done
cat > prompt
[ -s prompt ] || {{ echo "No prompt provided via stdin." >&2; exit 1; }}
printf '%s\\n' "$@" > arguments
env > environment
ls -la "$CODEX_HOME" > home
cat stderr >&2
cat stream
eval "$(cat last)"
"""

CLAUDE = """#!/bin/sh
cd {folder}
case "$1" in
--version) cat version; exit ;;
--help) cat help; exit ;;
esac
cat > prompt
printf '%s\\n' "$@" > arguments
env > environment
cat stderr >&2
cat stream
eval "$(cat last)"
"""

CODEX_HELP = "--json --ephemeral --ignore-user-config --ignore-rules --sandbox --model --config --cd --output-schema "
CLAUDE_HELP = (
    "--print --output-format --verbose --model --effort --permission-mode --tools --settings --setting-sources "
    "--strict-mcp-config --no-session-persistence --json-schema "
)


@dataclass
class Scripted:
    """A program in a folder of files that say how it behaves."""

    folder: Path
    root: str
    kind: str
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.place = self.folder / "program"
        self.place.mkdir()
        (self.folder / "home").mkdir()
        (self.folder / "tmp").mkdir()
        script = self.place / self.kind
        script.write_text((CODEX if self.kind == "codex" else CLAUDE).format(folder=shlex.quote(str(self.place))))
        script.chmod(0o755)
        for name in ("stderr", "sandbox", "refused", "last", "stream"):
            self.says(name, "")
        self.says("sandbox-code", "0")
        self.says("version", "codex-cli 1.2.3\n" if self.kind == "codex" else "1.2.3 (Claude Code)\n")
        self.says("features", "unbounded_connection_retries  stable  true\n")
        self.says("help", (CODEX_HELP + "--strict-config --color" if self.kind == "codex" else CLAUDE_HELP))

    def says(self, name: str, text: str) -> None:
        (self.place / name).write_text(text)

    def got(self, name: str) -> str:
        return (self.place / name).read_text()

    def run(self, request: dict[str, str]) -> Ran:
        prefix = "REPOCUE_CODEX_" if self.kind == "codex" else "REPOCUE_CLAUDE_"
        env = isolated_environment(str(self.folder / "home"), TMPDIR=str(self.folder / "tmp"))
        env |= {prefix + "BIN": str(self.place / self.kind), **self.variables, **request}
        stdout, stderr = io.BytesIO(), io.StringIO()
        code = main(CodexAgent() if self.kind == "codex" else ClaudeAgent(), [], env, stdout, stderr)
        return Ran(code=code, stdout=stdout.getvalue(), stderr=stderr.getvalue())

    def evaluate(self, condition: str = "basic") -> Ran:
        return self.run(agents.evaluation_environment(self.folder, self.root, condition))


@pytest.fixture
def root(tmp_path: Path) -> str:
    return agents.small_repository(tmp_path / "repo")


@pytest.fixture
def codex(tmp_path: Path, root: str) -> Scripted:
    made = Scripted(tmp_path, root, "codex")
    made.variables |= {"REPOCUE_CODEX_MODEL": "m", "REPOCUE_CODEX_REASONING_EFFORT": 'h"i'}
    made.says("stream", codex_stream(json.dumps(agents.benchmark_answer(root))))
    return made


@pytest.fixture
def claude(tmp_path: Path, root: str) -> Scripted:
    made = Scripted(tmp_path, root, "claude")
    made.variables |= {"REPOCUE_CLAUDE_MODEL": "m", "REPOCUE_CLAUDE_EFFORT": "high"}
    made.says("stream", claude_stream(agents.benchmark_answer(root)))
    return made


def codex_stream(answer: str | None, *items: dict[str, Any], usage: Any = None) -> str:
    completed = [{"type": "item.completed", "item": {"id": f"i{n}"} | item} for n, item in enumerate(items)]
    if answer is not None:
        completed.append({"type": "item.completed", "item": {"id": "a", "type": "agent_message", "text": answer}})
    events = [
        {"type": "thread.started"},
        {"type": "turn.started"},
        *completed,
        {"type": "turn.completed", "usage": usage},
    ]
    return "".join(json.dumps(event) + "\n" for event in events)


def claude_stream(answer: Any, **changes: Any) -> str:
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "structured_output": answer,
        "modelUsage": {
            "m": {"inputTokens": 1, "outputTokens": 2, "cacheReadInputTokens": 3, "cacheCreationInputTokens": 4}
        },
    }
    events = [{"type": "system", "subtype": "init", "model": "m", "claude_code_version": "1.2.3"}, result | changes]
    return "".join(json.dumps(event) + "\n" for event in events)


def test_a_codex_run_is_started_with_everything_explicit(codex: Scripted) -> None:
    seen = codex.evaluate().observation
    arguments = codex.got("arguments").splitlines()
    schema = arguments[arguments.index("--output-schema") + 1]
    assert arguments == [
        "exec",
        "--json",
        "--ephemeral",
        "--ignore-user-config",
        "--ignore-rules",
        "--strict-config",
        "--color",
        "never",
        "--sandbox",
        "read-only",
        "--model",
        "m",
        "-c",
        'model_reasoning_effort="h\\"i"',
        "-c",
        'service_tier="default"',
        "-c",
        "agents.enabled=false",
        "-c",
        'web_search="disabled"',
        "-c",
        'shell_environment_policy.inherit="core"',
        "-c",
        "skills.bundled.enabled=false",
        "-c",
        "project_doc_max_bytes=0",
        "--disable",
        "unbounded_connection_retries",
        "--cd",
        codex.root,
        "--output-schema",
        schema,
        "-",
    ]
    recorded = [str(codex.place / "codex"), *("<schema>" if part == schema else part for part in arguments)]
    assert seen["metadata"]["arguments"] == recorded
    assert (seen["metadata"]["cli_version"], seen["metadata"]["service_tier"]) == ("1.2.3", "default")
    assert codex.got("prompt").startswith(agents.TASK.decode())
    assert codex.got("prompt").endswith(agents.CUE.decode())
    assert os.listdir(codex.folder / "tmp") == []  # nothing made for the run is left


def test_the_agent_sees_nothing_of_the_harness(codex: Scripted) -> None:
    codex.variables |= {"GIT_DIR": "/elsewhere", "GIT_TRACE2_EVENT": "/trace", "OPENAI_API_KEY": "k"}
    assert codex.evaluate().code == 0
    environment = dict(line.split("=", 1) for line in codex.got("environment").splitlines() if "=" in line)
    assert not [name for name in environment if name.startswith(("REPOCUE_", "GIT_DIR", "GIT_TRACE2"))]
    assert environment["GIT_OPTIONAL_LOCKS"] == "0"
    assert environment["OPENAI_API_KEY"] == "k"
    assert environment["HOME"] == str(codex.folder / "home")
    assert environment["CODEX_HOME"] != environment["TMPDIR"]


def test_a_login_is_linked_into_a_home_of_its_own_and_nothing_else_is(codex: Scripted) -> None:
    home = codex.folder / "home" / ".codex"
    home.mkdir()
    for name in ("auth.json", "AGENTS.md", "config.toml"):
        (home / name).write_text("{}")
    assert codex.evaluate().code == 0
    listed = codex.got("home")
    assert f"auth.json -> {home}/auth.json" in listed
    assert "AGENTS.md" not in listed
    assert "config.toml" not in listed
    codex.variables["CODEX_HOME"] = str(codex.folder / "nowhere")
    assert codex.evaluate().code == 0
    assert "auth.json" not in codex.got("home")


def test_settings_that_the_program_does_not_know_are_left_out_and_said(codex: Scripted) -> None:
    codex.says("refused", "web_search skills.bundled.enabled")
    codex.says("features", "other stable true\n")
    seen = codex.evaluate().observation
    assert not {"web_search", "skills.bundled.enabled", "unbounded"} & {
        part.partition("=")[0] for part in codex.got("arguments").splitlines()
    }
    messages = [finding["message"] for finding in seen["findings"] if finding["category"] == "setting-unknown"]
    assert len(messages) == 3
    assert "web search could not be turned off" in messages[0]
    assert "--disable" not in seen["metadata"]["arguments"]


def test_a_program_that_cannot_check_settings_is_said_to_be_unchecked(codex: Scripted) -> None:
    codex.says("help", CODEX_HELP)
    seen = codex.evaluate().observation
    assert "settings-unchecked" in agents.categories(seen)
    assert not {"--strict-config", "--color"} & set(seen["metadata"]["arguments"])


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("help", CODEX_HELP.replace("--ephemeral", ""), "Codex CLI 1.2.3 has no `exec` --ephemeral"),
        ("refused", "model_reasoning_effort", "does not know the setting model_reasoning_effort"),
        ("refused", "service_tier", "does not know the setting service_tier"),
        ("version", "", "named no version"),
    ],
)
def test_a_program_that_will_not_do_is_refused_before_the_run(
    codex: Scripted, name: str, text: str, words: str
) -> None:
    codex.says(name, text)
    assert words in codex.evaluate().error
    assert not (codex.place / "arguments").exists()


def test_a_sandbox_that_does_not_work_is_refused_before_the_run(codex: Scripted) -> None:
    codex.says("sandbox-code", "1")
    codex.says("sandbox", "bwrap: Creating new namespace failed\n")
    assert "every command of a run would fail: bwrap: Creating new namespace failed" in codex.evaluate().error
    assert not (codex.place / "arguments").exists()
    codex.says("sandbox-code", "2")  # a program without that question
    assert codex.evaluate().code == 0


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"REPOCUE_CODEX_MODEL": ""}, "REPOCUE_CODEX_MODEL is not set"),
        ({"REPOCUE_CODEX_REASONING_EFFORT": " "}, "REPOCUE_CODEX_REASONING_EFFORT is not set"),
        ({"REPOCUE_CODEX_SERVICE_TIER": "warp"}, "neither default nor fast"),
        ({"REPOCUE_CODEX_BIN": "no-such-program"}, "cannot start 'no-such-program'"),
        ({"REPOCUE_CODEX_OUTPUT_SCHEMA_FILE": "/nowhere.json"}, "cannot read the answer schema"),
        ({"TMPDIR": ""}, ""),
    ],
)
def test_settings_that_cannot_be_meant_are_one_clear_error(
    codex: Scripted, variables: dict[str, str], words: str
) -> None:
    codex.variables |= variables
    ran = codex.evaluate()
    assert words in ran.stderr
    assert ran.code == (1 if words else 0)


def test_a_program_named_by_a_relative_path_is_the_same_everywhere(
    codex: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(codex.place)
    codex.variables["REPOCUE_CODEX_BIN"] = "./codex"
    prefixless = codex.run(
        agents.evaluation_environment(codex.folder, codex.root, "basic") | {"REPOCUE_CODEX_BIN": "./codex"}
    )
    assert prefixless.observation["metadata"]["arguments"][0] == str(codex.place / "codex")


def test_text_that_is_no_unicode_never_breaks_the_observation(codex: Scripted) -> None:
    item = {"type": "q\ud800", "id": "\udfff"}
    codex.says("stream", codex_stream(json.dumps(agents.benchmark_answer(codex.root)), item))
    assert "unknown-event" in agents.categories(codex.evaluate().observation)


def test_an_answer_schema_of_the_users_own_is_handed_over(codex: Scripted) -> None:
    (codex.folder / "own.json").write_text('{"own":1}')
    codex.variables["REPOCUE_CODEX_OUTPUT_SCHEMA_FILE"] = str(codex.folder / "own.json")
    codex.says("last", 'while [ "$1" != --output-schema ]; do shift; done; cp "$2" handed')
    assert codex.evaluate().code == 0
    assert codex.got("handed") == '{"own":1}'


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ("exit 7", "exited with code 7: broken pipe dream"),
        ("kill -9 $$", "was killed by SIGKILL"),
        ("kill -TERM $$", "was killed by SIGTERM"),
    ],
)
def test_a_program_that_does_not_end_well_gives_no_observation(codex: Scripted, last: str, words: str) -> None:
    codex.says("stderr", "broken\npipe dream\n")
    codex.says("last", last)
    assert f"repocue-codex-runner: the Codex CLI {words}" in codex.evaluate().error


def test_a_stream_without_its_end_is_an_error_even_if_the_program_ends_well(codex: Scripted) -> None:
    codex.says("stream", codex_stream("x").rsplit("\n", 2)[0] + "\n")
    assert "ends inside turn 1" in codex.evaluate().error


def test_what_the_process_showed_beside_its_stream_becomes_findings(codex: Scripted) -> None:
    codex.says("stderr", "tool apply_patch was refused\n")
    codex.says("last", "sleep 1000 >/dev/null 2>&1 &")
    seen = codex.evaluate().observation
    found = {finding["category"]: finding for finding in seen["findings"]}
    assert found["stderr"]["evidence"] == "tool apply_patch was refused"
    assert "1 processes were still running" in found["left-behind"]["message"]


def test_unreadable_command_text_is_other_and_said(codex: Scripted) -> None:
    item = {
        "type": "command_execution",
        "command": "cat 'open",
        "aggregated_output": "",
        "exit_code": 2,
        "status": "failed",
    }
    codex.says("stream", codex_stream(json.dumps(agents.benchmark_answer(codex.root)), item))
    seen = codex.evaluate().observation
    assert seen["commands"] == [{"command": "cat 'open", "classification": "other", "files_read": []}]
    assert "unreadable-command" in agents.categories(seen)


def test_unknown_usage_stays_unknown_to_the_last_byte(codex: Scripted) -> None:
    ran = codex.evaluate()
    assert ran.observation["usage_events"] == [{"turn": 1}]
    assert b"null" not in ran.stdout.replace(b'"head":null', b"")
    assert ran.observation["metrics"]["statuses"]["total_tokens"] == "not_observed"
    assert ran.observation["final_response"] == agents.benchmark_answer(codex.root)


def test_an_unfinished_command_of_a_task_run_is_kept_as_such(codex: Scripted) -> None:
    codex.variables = {}
    item = {"id": "z", "type": "command_execution", "command": "sleep 9", "aggregated_output": "", "exit_code": None}
    lines = codex_stream(json.dumps(agents.task_answer())).splitlines()
    lines.insert(2, json.dumps({"type": "item.started", "item": item}))
    codex.says("stream", "\n".join(lines))
    request = agents.task_environment(codex.folder, codex.root, policy=agents.paid_policy(cli_version="1.2.3"))
    seen = codex.run(request).observation
    (command,) = seen["commands"]
    assert (command["completed"], command["argv"], command["exit_code"]) == (False, ["sleep", "9"], None)
    assert seen["metrics"]["command_executions"] == 0


def test_an_evidence_file_that_exists_is_never_written_over(codex: Scripted) -> None:
    codex.variables = {}
    request = agents.task_environment(codex.folder, codex.root, policy=agents.paid_policy(cli_version="1.2.3"))
    (codex.folder / "evidence" / "stdin").write_text("earlier")
    assert "File exists" in codex.run(request).error
    assert (codex.folder / "evidence" / "stdin").read_text() == "earlier"


def test_a_claude_run_is_started_with_everything_explicit(claude: Scripted) -> None:
    seen = claude.evaluate().observation
    arguments = claude.got("arguments").splitlines()
    assert arguments[:-1] == [
        "--print",
        "--output-format",
        "stream-json",
        "--verbose",
        "--model",
        "m",
        "--effort",
        "high",
        "--permission-mode",
        "dontAsk",
        "--tools",
        "Bash,Read",
        "--settings",
        '{"includeGitInstructions":false}',
        "--setting-sources",
        "",
        "--strict-mcp-config",
        "--no-session-persistence",
        "--json-schema",
    ]
    assert json.loads(arguments[-1])["properties"].keys() == agents.benchmark_answer(claude.root).keys()
    assert seen["metadata"]["arguments"] == [str(claude.place / "claude"), *arguments[:-1], "<schema>"]
    # 1 + 3 + 4 in, of which 3 read and 4 written; 2 out; thinking was not reported
    assert seen["usage_events"] == [
        {"turn": 1, "input_tokens": 8, "cached_input_tokens": 3, "cache_write_input_tokens": 4, "output_tokens": 2}
    ]


@pytest.mark.parametrize(
    ("changes", "last", "words"),
    [
        (
            {"is_error": True, "result": "API Error: 500", "api_error_status": 500},
            "exit 1",
            "API Error: 500 (status 500)",
        ),
        ({"is_error": True, "result": "API Error"}, "", "the run failed: API Error"),
        ({"subtype": "error_max_turns"}, "exit 1", "exited with code 1"),
        ({"subtype": "error_during_execution"}, "", "the run failed: error_during_execution"),
        ({}, "exit 1", "exited with code 1"),
        ({"structured_output": "x"}, "", "gave no benchmark answer"),
    ],
)
def test_a_claude_run_needs_a_good_exit_a_good_result_and_an_answer(
    claude: Scripted, changes: dict[str, Any], last: str, words: str
) -> None:
    claude.says("stream", claude_stream(agents.benchmark_answer(claude.root), **changes))
    claude.says("last", last)
    assert words in claude.evaluate().error


def test_another_model_than_the_one_asked_for_is_told(claude: Scripted) -> None:
    claude.variables["REPOCUE_CLAUDE_MODEL"] = "other"
    assert "other-model" in agents.categories(claude.evaluate().observation)


@pytest.mark.parametrize("name", ["repocue-codex-runner", "repocue-claude-runner"])
def test_the_scripts_say_what_they_are_and_refuse_to_run_alone(
    script: Callable[[str], list[str]], env: dict[str, str], name: str
) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*script(name), *arguments], env=env, capture_output=True, text=True)

    shown = run("--help")
    assert (shown.returncode, shown.stdout) == (0, "")
    assert "evaluate-m2 --runner" in shown.stderr
    refused = run("--fast")
    assert (refused.returncode, refused.stdout) == (2, "")
    alone = run()
    assert (alone.returncode, alone.stdout) == (1, "")
    assert "neither REPOCUE_EVAL_SCHEMA nor REPOCUE_TASK_SCHEMA is set" in alone.stderr
    assert "Traceback" not in alone.stderr
