"""What the kept provider stream says, read again: usage, commands and answer (CONTRACTS, "Runner protocol")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from repocue.errors import RepoCueError
from repocue.evaluation.task import layout
from repocue.evaluation.task.usage import Usage, of_events
from repocue.runners.answers import read_answer
from repocue.runners.streams import StreamReader
from repocue.runners.task_observation import command_event
from repocue.runners.task_text import FrozenCommand

if TYPE_CHECKING:
    from repocue.contracts.types.task import TaskBenchmark

NO_STREAM = "none"
"""The stream format of which nothing can be recomputed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recomputed:
    """One whole provider stream. `commands` are events as observations hold them; `answer` is None where the final
    message is none, and `answer_fault` says why."""

    usage: Usage
    commands: Sequence[Mapping[str, Any]]
    answer: dict[str, Any] | None
    answer_fault: str
    differences: tuple[str, ...]
    """In what the runner's observation differs from its own stream."""


def recompute(
    stream: bytes, observation: Mapping[str, Any], benchmark: TaskBenchmark, reader: StreamReader
) -> Recomputed:
    """Read a kept stream again. Raises RepoCueError where it is not one whole run."""
    found = reader(stream)
    frozen = [] if benchmark.verification is None else benchmark.verification.commands
    matched = [FrozenCommand(one.id, one.argv) for one in frozen]
    commands = [command_event(one, matched) for one in found.commands]
    answer, why = read_answer(found.answer, layout.ANSWER_VERSION)
    differences = []
    if [one.to_json() for one in found.usage] != [_known(one) for one in observation["usage_events"]]:
        differences.append("usage_events")
    if [_unmatched(one) for one in commands] != [_unmatched(one) for one in observation["commands"]]:
        differences.append("commands")
    if answer != observation["final_response"]:
        differences.append("final_response")
    return Recomputed(
        usage=of_events(found.usage),
        commands=commands,
        answer=answer,
        answer_fault=why,
        differences=tuple(differences),
    )


def recomputed_or_why(
    stream: bytes | None,
    observation: Mapping[str, Any],
    benchmark: TaskBenchmark,
    readers: Mapping[str, StreamReader],
) -> tuple[Recomputed | None, str | None]:
    """The stream read again, or why it cannot be (None and None for a stream that says it cannot be read)."""
    stream_format = observation["metadata"]["stream_format"]
    reader = readers.get(stream_format)
    if reader is None:
        return None, None if stream_format == NO_STREAM else f"no reader for the stream format {stream_format}"
    if stream is None:
        return None, f"{layout.EVIDENCE}/{layout.PROVIDER_STDOUT} was not kept"
    try:
        return recompute(stream, observation, benchmark, reader), None
    except RepoCueError as error:
        return None, error.message


def _known(usage_event: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in usage_event.items() if value is not None}


def _unmatched(command: Mapping[str, Any]) -> dict[str, Any]:
    """A command event without the frozen command it was matched with, which is ours to say."""
    return {name: value for name, value in command.items() if name != "command_id"}
