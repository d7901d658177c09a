"""What every adapter does alike: request in, agent run under supervision, stream read, observation out.

An adapter supplies what differs (`Agent`): which settings its variables hold, how its program is started, and how the
program's stream is read.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol, TextIO

from repocue.errors import EvaluationError, RepoCueError
from repocue.runners import policy as policies
from repocue.runners import prompt, protocol
from repocue.runners.answers import read_answer
from repocue.runners.commands import Classified, Classifier
from repocue.runners.findings import Finding, one_line, warning
from repocue.runners.observation import Metadata, build_observation, write
from repocue.runners.observed import AgentStream
from repocue.runners.protocol import EvaluationRequest, TaskRequest, request_from
from repocue.runners.supervision import MEBIBYTE, Ended, Evidence, Supervisor
from repocue.runners.task_observation import TaskMetadata, build_task_observation
from repocue.runners.task_text import frozen_commands

AGENT_TIMEOUT_S = 24 * 3600.0
"""A last resort only: how long a run may take is the harness's to say, and it kills this process."""

AGENT_STDOUT_LIMIT_BYTES = 256 * MEBIBYTE
"""An event stream repeats every command's output, up to 1 MiB each."""

LOCATION_VARIABLES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_TRACE2_EVENT",
)
"""What would turn an agent's git to another repository, or into a harness's trace."""

DERIVED_LIMITATION = (
    "Command classes, named files and size proxies are derived from command text; they count neither git processes nor "
    "bytes read."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a run is asked to use, from the adapter's variables or from a policy. `speed` is standard or fast."""

    model: str
    reasoning_effort: str
    speed: str
    answer_schema: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One agent process. `recorded` is the command line with placeholders for the paths made for this run."""

    command: Sequence[str]
    recorded: Sequence[str]
    env: Mapping[str, str]
    cli_version: str
    findings: Sequence[Finding] = field(default_factory=tuple)


class Agent(Protocol):
    """An agent program, as an adapter knows it."""

    name: str
    version: str
    program: str
    stream_format: str
    sandbox: str
    limitations: Sequence[str]

    def settings(self, environ: Mapping[str, str]) -> tuple[str, str, str, str | None]:
        """Model, effort, speed and the answer schema's path (None: the packaged one) from the adapter's variables."""

    def variables(self, settings: policies.Policy) -> Mapping[str, str]:
        """The adapter's variables that a policy decides, with the values it decides."""

    def launch(self, settings: Settings, repository: str, environ: Mapping[str, str], folder: str) -> Launch:
        """Find out what the installed program knows and how to start it; `folder` is for this run's own files."""

    def read(self, stdout: bytes) -> AgentStream:
        """The run that a complete event stream describes."""

    def failure(self, stdout: bytes) -> str | None:
        """The program's own last word on a failure."""

    def service_tier(self, speed: str) -> str | None:
        """The service tier that is asked for, None where there is no such setting."""


def main(agent: Agent, arguments: Sequence[str], environ: Mapping[str, str], stdout: BinaryIO, stderr: TextIO) -> int:
    """One run of a runner; returns its exit code. Prints the observation or nothing on `stdout`."""
    if arguments:
        return _usage(agent, arguments, stderr)
    try:
        write(run(agent, environ), stdout)
    except RepoCueError as error:
        hint = f"\n{agent.name}: {error.hint}" if error.hint else ""
        stderr.write(f"{agent.name}: {error.message}{hint}\n")
        return error.exit_code
    except OSError as error:  # a folder, file or stream that cannot be used: no fault of the agent's or of ours
        stderr.write(f"{agent.name}: {error}\n")
        return 1
    except KeyboardInterrupt:
        stderr.write(f"{agent.name}: interrupted\n")
        return 130
    return 0


def run(agent: Agent, environ: Mapping[str, str]) -> dict[str, Any]:
    """Answer the request in `environ` with one observation. Raises RepoCueError."""
    request = request_from(environ)
    folder = tempfile.mkdtemp(prefix=agent.name + "-")
    try:
        if isinstance(request, EvaluationRequest):
            return _evaluate(agent, request, environ, folder)
        return _compare(agent, request, environ, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _evaluate(agent: Agent, request: EvaluationRequest, environ: Mapping[str, str], folder: str) -> dict[str, Any]:
    model, effort, speed, schema_file = agent.settings(environ)
    schema = packaged_schema() if schema_file is None else prompt.read_file(schema_file, "the answer schema")
    settings = Settings(model=model, reasoning_effort=effort, speed=speed, answer_schema=schema)
    submitted = prompt.evaluation_prompt(request)
    launch = agent.launch(settings, request.repository, environ, folder)
    ended, stream = _follow(agent, launch, request.repository, submitted, None)
    _, classified, noticed = _commands(stream, request.repository, environ)
    answer, why = read_answer(stream.answer, protocol.ANSWER_CONTRACT)
    if answer is None:
        raise EvaluationError(f"{agent.program} ended well but gave no benchmark answer: {why}", code="runner.answer")
    return build_observation(
        request,
        metadata=Metadata(
            adapter=agent.name,
            adapter_version=agent.version,
            model=model,
            reasoning_effort=effort,
            sandbox=agent.sandbox,
            cli_version=launch.cli_version,
            service_tier=agent.service_tier(speed),
            arguments=launch.recorded,
        ),
        usage=stream.usage,
        answer=answer,
        commands=classified,
        tool_calls=stream.tool_calls,
        execution_duration_ms=ended.duration_ms,
        findings=[*launch.findings, *stream.findings, *noticed, *_aftermath(agent, ended, stream, settings)],
        limitations=[*agent.limitations, DERIVED_LIMITATION],
    )


def _compare(agent: Agent, request: TaskRequest, environ: Mapping[str, str], folder: str) -> dict[str, Any]:
    policy = policies.read_policy(request.policy_file)
    for name, decided in agent.variables(policy).items():
        policy.check_variable(environ, name, decided)
    settings = Settings(
        model=policy.model,
        reasoning_effort=policy.reasoning_effort,
        speed=policy.speed,
        answer_schema=prompt.read_file(request.answer_schema_file, "the answer schema"),
    )
    submitted = prompt.task_prompt(request)
    launch = agent.launch(settings, request.repository, environ, folder)
    policy.check_cli_version(launch.cli_version, agent.program)
    kept = Evidence(
        stdin=os.path.join(request.evidence_dir, "stdin"),
        stdout=os.path.join(request.evidence_dir, "provider-stdout"),
        stderr=os.path.join(request.evidence_dir, "provider-stderr"),
    )
    ended, stream = _follow(agent, launch, request.repository, submitted, kept)
    completed, classified, noticed = _commands(stream, request.repository, environ)
    answer, why = read_answer(stream.answer, protocol.TASK_ANSWER_CONTRACT)
    misfit = [warning("answer-misfit", f"The final answer is no task answer: {why}.")] if answer is None else []
    unfinished = [command for command in stream.commands if not command.is_completed]
    return build_task_observation(
        request,
        metadata=TaskMetadata(
            adapter=agent.name,
            adapter_version=agent.version,
            cli_version=launch.cli_version,
            model=policy.model,
            reasoning_effort=policy.reasoning_effort,
            speed=policy.speed,
            sandbox=agent.sandbox,
            stream_format=agent.stream_format,
        ),
        usage=stream.usage,
        answer=answer,
        commands=[*completed, *unfinished],
        classified=classified,
        frozen=frozen_commands(prompt.read_file(request.task_file, "the task")),
        tool_calls=stream.tool_calls,
        execution_duration_ms=ended.duration_ms,
        findings=[
            *launch.findings,
            *stream.findings,
            *noticed,
            *misfit,
            *_aftermath(agent, ended, stream, settings),
        ],
        limitations=[*agent.limitations, DERIVED_LIMITATION],
    )


def child_environment(environ: Mapping[str, str], changes: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment for an agent: nothing of RepoCue's, no other repository's location, no index refresh."""
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith("REPOCUE_") and name not in LOCATION_VARIABLES
    }
    return kept | {"GIT_OPTIONAL_LOCKS": "0"} | dict(changes)


def packaged_schema() -> bytes:
    """The benchmark answer's schema as providers take it, with the descriptions that guide an agent."""
    from importlib.resources import files

    return (files("repocue") / "data" / "benchmarks" / "benchmark-answer-2.schema.json").read_bytes()


def required(environ: Mapping[str, str], name: str, what: str) -> str:
    """A variable that must be set. Raises EvaluationError."""
    value = environ.get(name, "").strip()
    if not value:
        raise EvaluationError(f"{name} is not set; it names {what}", code="runner.environment")
    return value


def program_path(environ: Mapping[str, str], name: str, default: str) -> str:
    """The program that a variable names: looked up on PATH, or a path, relative to where this runner was started."""
    given = environ.get(name) or default
    return os.path.abspath(given) if os.sep in given else given


def _follow(
    agent: Agent, launch: Launch, repository: str, submitted: bytes, evidence: Evidence | None
) -> tuple[Ended, AgentStream]:
    supervisor = Supervisor(timeout_s=AGENT_TIMEOUT_S, stdout_limit_bytes=AGENT_STDOUT_LIMIT_BYTES)
    ended = supervisor.run(launch.command, cwd=repository, env=launch.env, stdin=submitted, evidence=evidence)
    if not ended.is_success:
        said = agent.failure(ended.stdout) or one_line(ended.stderr.decode("utf-8", "replace"))[-1000:]
        raise EvaluationError(
            f"{agent.program} {ended.describe()}{': ' + said if said else ''}", code="runner.agent-failed"
        )
    return ended, agent.read(ended.stdout)


def _commands(
    stream: AgentStream, repository: str, environ: Mapping[str, str]
) -> tuple[list[Any], list[Classified], list[Finding]]:
    """The completed commands, the same classified, and findings on texts that could not be read."""
    classifier = Classifier(repository, home=environ.get("HOME") or None)
    completed = [command for command in stream.commands if command.is_completed]
    classified = [classifier.command(command) for command in completed]
    noticed = [
        warning("unreadable-command", "A command's text is no complete shell text; it counts as other.", one.text)
        for one in classified
        if not one.is_readable
    ]
    return completed, classified, noticed


def _aftermath(agent: Agent, ended: Ended, stream: AgentStream, settings: Settings) -> list[Finding]:
    """What the process itself showed beside its stream."""
    found = []
    said = one_line(ended.stderr.decode("utf-8", "replace"))
    if said:
        found.append(
            warning(
                "stderr",
                f"{agent.program} wrote to standard error; refused and unknown tool calls leave no other trace.",
                said,
            )
        )
    if ended.left_behind:
        found.append(
            warning("left-behind", f"{ended.left_behind} processes were still running at the end and were killed.")
        )
    others = [model for model in stream.models if model != settings.model]
    if others:
        found.append(warning("other-model", f"The stream names {', '.join(others)}; {settings.model} was asked for."))
    return found


def _usage(agent: Agent, arguments: Sequence[str], stderr: TextIO) -> int:
    if list(arguments) in (["--help"], ["-h"]):
        stderr.write(
            f"{agent.name}: runs {agent.program} once for a RepoCue evaluation and prints one observation.\n"
            "It takes no arguments: `repocue evaluate-m2 --runner` and `repocue evaluate-task --runner` start it with\n"
            "the variables of the runner protocol. See docs/agents.md.\n"
        )
        return 0
    stderr.write(f"{agent.name}: takes no arguments, but got {arguments[0]!r}\n")
    return 2
