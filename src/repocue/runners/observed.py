"""What an adapter read out of one agent's event stream, in one form for every agent."""

from __future__ import annotations

from dataclasses import dataclass

from repocue.runners.findings import Finding
from repocue.runners.usage import UsageEvent

SHELL = "shell"
"""The tool of a command whose text is a shell's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCommand:
    """One command the agent had run, as its CLI reports it.

    `tool` is "shell" where `text` is shell text, else the CLI's own tool (such as a file reader) whose operand is
    `path`. `is_completed` is False where the stream holds a start without an end. `exit_code` is None where the CLI
    reports none; `output` is the merged text it reports, None where it reports none, and `is_output_whole` says that
    the CLI reports it as it was (not trimmed or rearranged).
    """

    identifier: str | None
    text: str
    is_completed: bool
    exit_code: int | None
    output: str | None
    has_failed: bool
    tool: str = SHELL
    path: str | None = None
    is_output_whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStream:
    """One whole, well-formed event stream of a run that ended well.

    `usage` has one event per completed turn, at least one. `commands` are in order of completion, unfinished ones
    last. `answer` is the text of the final answer, None where there was none. `tool_calls` counts completed calls of
    any tool. `models` are the models the stream names, where it names any.
    """

    usage: tuple[UsageEvent, ...]
    commands: tuple[AgentCommand, ...]
    answer: str | None
    tool_calls: int
    findings: tuple[Finding, ...]
    models: tuple[str, ...] = ()
    cli_version: str | None = None
