"""`repocue-claude-runner`: one fresh, unsaved run of `claude -p` with tools that can only look."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence

from repocue.errors import EvaluationError
from repocue.runners import adapter
from repocue.runners.adapter import Launch, Settings
from repocue.runners.claude import events
from repocue.runners.findings import one_line
from repocue.runners.observed import AgentStream
from repocue.runners.policy import READ_ONLY, Policy, PolicyError
from repocue.runners.supervision import Ended, Supervisor

BINARY = "REPOCUE_CLAUDE_BIN"
MODEL = "REPOCUE_CLAUDE_MODEL"
EFFORT = "REPOCUE_CLAUDE_EFFORT"

QUESTION_TIMEOUT_S = 60.0
TOOLS = "Bash,Read"
OWN_SETTINGS = '{"includeGitInstructions":false}'
"""Keeps the program's own picture of the git state out of the prompt."""

QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
}

REQUIRED_FLAGS = (
    "--print",
    "--output-format",
    "--verbose",
    "--model",
    "--effort",
    "--permission-mode",
    "--tools",
    "--settings",
    "--setting-sources",
    "--strict-mcp-config",
    "--no-session-persistence",
    "--json-schema",
)
OPTIONAL_FLAGS = ("--disable-slash-commands",)

_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
_VERSION = re.compile(r"\d+\.\d+\.\d+\S*")


class ClaudeAgent:
    """Claude Code, driven through `claude -p --output-format stream-json`."""

    name = "repocue-claude-runner"
    version = "1"
    program = "Claude Code"
    stream_format = "claude-stream-json"
    sandbox = READ_ONLY
    limitations: Sequence[str] = (
        "Claude Code's read-only mode is its own permission rules and a choice of tools, not a sandbox of the "
        "operating system; commands that it does not know to be harmless are denied.",
        "Input is the sum of input, cache reads and cache creation that Claude Code reports apart; its hidden context "
        "and its provider requests are not exposed.",
        "The reasoning effort is not sent to every model: what is recorded is what was asked for.",
        "Claude Code reports no exit codes of commands, and its thinking tokens can read zero where the model thought.",
    )

    def settings(self, environ: Mapping[str, str]) -> tuple[str, str, str, str | None]:
        """Model, effort, speed and the answer schema's path from the adapter's variables."""
        return (
            adapter.required(environ, MODEL, "the model to run"),
            adapter.required(environ, EFFORT, "the effort to ask for"),
            "standard",
            None,
        )

    def variables(self, settings: Policy) -> Mapping[str, str]:
        """The adapter's variables that a policy decides. Raises PolicyError for a speed there is no way to ask for."""
        if settings.speed != "standard":
            raise PolicyError(f"the policy asks for the speed {settings.speed!r}, which this runner cannot ask for")
        return {MODEL: settings.model, EFFORT: settings.reasoning_effort}

    def launch(self, settings: Settings, repository: str, environ: Mapping[str, str], folder: str) -> Launch:
        """The command line for what the installed program knows."""
        binary = adapter.program_path(environ, BINARY, "claude")
        env = adapter.child_environment(environ, QUIET)
        version = _version(binary, env, folder)
        flags = _flags(binary, version, env, folder)
        schema = _compact(settings.answer_schema)
        arguments = [binary, "--print", "--output-format", "stream-json", "--verbose"]
        arguments += ["--model", settings.model, "--effort", settings.reasoning_effort]
        arguments += ["--permission-mode", "dontAsk", "--tools", TOOLS]
        arguments += ["--settings", OWN_SETTINGS, "--setting-sources", "", "--strict-mcp-config"]
        arguments += ["--no-session-persistence", *(flag for flag in OPTIONAL_FLAGS if flag in flags)]
        arguments += ["--json-schema", schema]
        return Launch(
            command=arguments,
            recorded=["<schema>" if part == schema else part for part in arguments],
            env=env,
            cli_version=version,
        )

    def read(self, stdout: bytes) -> AgentStream:
        """The run that a complete event stream describes."""
        return events.read_stream(stdout)

    def failure(self, stdout: bytes) -> str | None:
        """The program's own last word on a failure."""
        return events.failure(stdout)

    def service_tier(self, speed: str) -> str | None:
        """There is no such setting."""
        return None


def main() -> int:
    """The console script."""
    return adapter.main(ClaudeAgent(), sys.argv[1:], os.environ, sys.stdout.buffer, sys.stderr)


def _ask(binary: str, argument: str, env: Mapping[str, str], folder: str) -> Ended:
    return Supervisor(timeout_s=QUESTION_TIMEOUT_S).run([binary, argument], cwd=folder, env=env)


def _version(binary: str, env: Mapping[str, str], folder: str) -> str:
    ended = _ask(binary, "--version", env, folder)
    text = one_line(ended.stdout.decode("utf-8", "replace"))
    if not ended.is_success or not text:
        raise EvaluationError(
            f"`{binary} --version` {ended.describe()} and named no version", code="runner.agent-unusable"
        )
    match = _VERSION.search(text)
    return match[0] if match else text


def _flags(binary: str, version: str, env: Mapping[str, str], folder: str) -> frozenset[str]:
    flags = frozenset(_FLAG.findall(_ask(binary, "--help", env, folder).stdout.decode("utf-8", "replace")))
    missing = [flag for flag in REQUIRED_FLAGS if flag not in flags]
    if missing:
        raise EvaluationError(
            f"Claude Code {version} has no {', '.join(missing)}; it cannot be measured",
            code="runner.agent-unusable",
            hint=f"Install a current Claude Code, or name one with {BINARY}.",
        )
    return flags


def _compact(schema: bytes) -> str:
    """A schema as one argument. Raises ContractError where it is no JSON."""
    from repocue.contracts import canonical, reader

    return canonical.compact(reader.read_json(schema, subject="the answer schema")).decode()
