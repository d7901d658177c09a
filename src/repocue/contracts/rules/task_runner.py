"""The rules of a task runner's observation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from repocue.contracts.problems import Problem
from repocue.contracts.registry import Context
from repocue.contracts.rules import usage
from repocue.contracts.rules.answers import task_answer
from repocue.contracts.rules.common import under

OUTPUT_LIMIT_BYTES = 1_048_576
"""An output of this size or more may have been cut by the agent program, and is never complete."""


def observation(document: Mapping[str, Any], context: Context) -> Iterator[Problem]:
    """The rules of `repocue/task-runner-1`:

    - Turns, counters, metrics and statuses keep the rules of `repocue/evaluation-runner-4`.
    - A command whose completion was not reported has no exit code and no complete output. output_sha256 and
      output_bytes are null together; output is complete only when known and below 1 048 576 bytes.
    - command_executions is the number of completed commands, and tool_calls is at least that.
    - The answer keeps its own rules.
    """
    metrics, commands = document["metrics"], document["commands"]
    yield from usage.usage_problems(document["usage_events"], metrics, usage.SUBSETS)
    yield from usage.status_problems(metrics)
    for position, command in enumerate(commands):
        yield from _command_problems(command, f"/commands/{position}")
    completed = sum(command["completed"] for command in commands)
    executions, tool_calls = metrics.get("command_executions"), metrics.get("tool_calls")
    if executions is not None and executions != completed:
        yield Problem("/metrics/command_executions", f"must be {completed}, the completed commands, not {executions}")
    if tool_calls is not None and tool_calls < completed:
        yield Problem(
            "/metrics/tool_calls", f"{tool_calls} is less than the {completed} commands, which are tool calls"
        )
    if document["final_response"] is not None:
        yield from under("/final_response", task_answer(document["final_response"], context))


def _command_problems(command: Mapping[str, Any], where: str) -> Iterator[Problem]:
    if not command["completed"]:
        if command["exit_code"] is not None:
            yield Problem(where + "/exit_code", "must be null: the command's completion was not reported")
        if command["output_complete"]:
            yield Problem(where + "/output_complete", "must be false: the command's completion was not reported")
    size, digest = command["output_bytes"], command["output_sha256"]
    if (size is None) != (digest is None):
        yield Problem(where + "/output_sha256", "output_sha256 and output_bytes are null together")
    if command["output_complete"] and (size is None or size >= OUTPUT_LIMIT_BYTES):
        yield Problem(
            where + "/output_complete",
            f"must be false: output is complete only when known and below {OUTPUT_LIMIT_BYTES} bytes",
        )
