"""Building one valid `repocue/task-runner-1` observation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repocue.contracts import canonical
from repocue.domain.ids import is_id
from repocue.runners import protocol
from repocue.runners.commands import Classified, argv
from repocue.runners.findings import Finding, writable
from repocue.runners.observation import metrics
from repocue.runners.observed import SHELL, AgentCommand
from repocue.runners.protocol import TaskRequest
from repocue.runners.task_text import FrozenCommand
from repocue.runners.usage import UsageEvent

OUTPUT_LIMIT_BYTES = 1_048_576
"""A reported output of this size or more may have been cut by the agent's program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMetadata:
    """What ran. `speed` is standard or fast; `stream_format` says how the kept provider stream is to be read."""

    adapter: str
    adapter_version: str
    cli_version: str
    model: str
    reasoning_effort: str
    speed: str
    sandbox: str
    stream_format: str

    def to_json(self, request: TaskRequest) -> dict[str, Any]:
        """The contract's form, with what was asked."""
        return {
            "adapter": self.adapter,
            "adapter_version": self.adapter_version,
            "cli_version": self.cli_version,
            "model": self.model,
            "reasoning_effort": self.reasoning_effort,
            "speed": self.speed,
            "sandbox": self.sandbox,
            "stream_format": self.stream_format,
            "head": request.head or "",
            "snapshot": request.snapshot,
        }


def build_task_observation(
    request: TaskRequest,
    *,
    metadata: TaskMetadata,
    usage: Sequence[UsageEvent],
    answer: Mapping[str, Any] | None,
    commands: Sequence[AgentCommand],
    classified: Sequence[Classified],
    frozen: Sequence[FrozenCommand],
    tool_calls: int | None,
    execution_duration_ms: float | None,
    findings: Iterable[Finding],
    limitations: Iterable[str],
) -> dict[str, Any]:
    """The observation; `classified` are the completed ones of `commands`. Raises UsageError and ContractError."""
    from repocue.contracts import reader

    document = {
        "schema_version": protocol.TASK_CONTRACT,
        "arm": request.arm,
        "repeat": request.repeat,
        "metadata": metadata.to_json(request),
        "usage_events": [event.to_json() for event in usage],
        "metrics": metrics(
            usage, classified, tool_calls=tool_calls, execution_duration_ms=execution_duration_ms, has_context=False
        ),
        "commands": [command_event(command, frozen) for command in commands],
        "final_response": None if answer is None else dict(answer),
        "findings": [finding.to_json() for finding in findings],
        "limitations": list(limitations),
    }
    reader.check(document, contract=protocol.TASK_CONTRACT, subject="the observation")
    return document


def command_event(command: AgentCommand, frozen: Sequence[FrozenCommand]) -> dict[str, Any]:
    """One command as the contract records it; matched with the frozen command of exactly its argv."""
    words = argv(command.text) if command.tool == SHELL else None
    matching = next((one.identifier for one in frozen if words is not None and one.argv == words), None)
    output = None if command.output is None else command.output.encode()
    is_whole = command.is_completed and command.is_output_whole and output is not None
    code = command.exit_code
    return {
        "id": None if not command.identifier else writable(command.identifier),
        "command_id": matching if matching is not None and is_id(matching) else None,
        "text": command.text,
        "argv": None if words is None else list(words),
        "completed": command.is_completed,
        "exit_code": code if code is not None and -255 <= code <= 2**31 else None,
        "output_sha256": None if output is None else canonical.digest(output),
        "output_bytes": None if output is None else len(output),
        "output_complete": is_whole and output is not None and len(output) < OUTPUT_LIMIT_BYTES,
    }
