"""Building one valid `repocue/evaluation-runner-4` observation, and writing it.

For adapter authors: give what was seen, get the document with every count, total and status filled in by the
contract's rules, checked against its schema and against what was asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from repocue.contracts import canonical
from repocue.domain.measurement import DERIVED, NOT_OBSERVED, OBSERVED, Source
from repocue.runners import commands as command_texts
from repocue.runners import programs, protocol
from repocue.runners.commands import Classified
from repocue.runners.findings import Finding
from repocue.runners.protocol import EvaluationRequest
from repocue.runners.usage import UsageEvent, totals

TOKEN_METRICS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")
"""The metrics whose status is always stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What ran. It must be identical in the five conditions of a set, so paths made for one run are placeholders.

    `arguments` is the agent program's whole command line, or None where there is none to show.
    """

    adapter: str
    adapter_version: str
    model: str
    reasoning_effort: str
    sandbox: str
    cli_version: str | None = None
    service_tier: str | None = None
    arguments: Sequence[str] | None = None

    def to_json(self, request: EvaluationRequest) -> dict[str, Any]:
        """The contract's form, with what was asked."""
        optional = {
            "cli_version": self.cli_version,
            "service_tier": self.service_tier,
            "arguments": None if self.arguments is None else list(self.arguments),
        }
        return {
            "adapter": self.adapter,
            "adapter_version": self.adapter_version,
            "model": self.model,
            "reasoning_effort": self.reasoning_effort,
            "sandbox": self.sandbox,
            **{name: value for name, value in optional.items() if value is not None},
            "benchmark_version": protocol.BENCHMARK,
            "output_schema_version": protocol.ANSWER_CONTRACT,
            "repository_head": request.head or "",
            "repocue_snapshot": request.snapshot,
        }


def build_observation(
    request: EvaluationRequest,
    *,
    metadata: Metadata,
    usage: Sequence[UsageEvent],
    answer: Mapping[str, Any],
    commands: Sequence[Classified] | None = None,
    tool_calls: int | None = None,
    execution_duration_ms: float | None = None,
    findings: Iterable[Finding] = (),
    limitations: Iterable[str] = (),
) -> dict[str, Any]:
    """The observation. `commands` None means that the agent's commands were not observed, which is not "none ran".

    Raises UsageError where a total overflows and ContractError where the result breaks the contract: no completed
    turn, an answer that is no benchmark answer.
    """
    from repocue.contracts.rules import runner

    document = {
        "schema_version": protocol.EVALUATION_CONTRACT,
        "condition": request.condition,
        "run_index": request.run_index,
        "metadata": metadata.to_json(request),
        "metrics": metrics(
            usage,
            commands,
            tool_calls=tool_calls,
            execution_duration_ms=execution_duration_ms,
            has_context=request.cue_file is not None,
        ),
        "usage_events": [event.to_json() for event in usage],
        "tokenizer_counts": [],
        "commands": [command.to_json() for command in commands or ()],
        "final_response": dict(answer),
        "findings": [finding.to_json() for finding in findings],
        "limitations": list(limitations),
    }
    expected = runner.Expected(
        condition=request.condition, run_index=request.run_index, head=request.head, snapshot=request.snapshot
    )
    runner.check_observation(document, expected=expected, subject="the observation")
    return document


def metrics(
    usage: Sequence[UsageEvent],
    commands: Sequence[Classified] | None,
    *,
    tool_calls: int | None,
    execution_duration_ms: float | None,
    has_context: bool,
) -> dict[str, Any]:
    """Every metric that is known, and the status of each; the fallback ones only for a run that had context."""
    values: dict[str, tuple[float | int, Source]] = {
        name: (value, DERIVED if name == "total_tokens" else OBSERVED) for name, value in totals(usage).items()
    }
    if execution_duration_ms is not None:
        values["execution_duration_ms"] = (execution_duration_ms, OBSERVED)
    if commands is not None:
        files, size = command_texts.files_named(commands), command_texts.size_proxy_bytes(commands)
        values |= {
            "command_executions": (len(commands), OBSERVED),
            "repository_files_named": (files, DERIVED),
            "named_file_size_proxy_bytes": (size, DERIVED),
            "git_calls": (_count(commands, programs.GIT), DERIVED),
            "filesystem_search_calls": (_count(commands, programs.SEARCH), DERIVED),
        }
    if tool_calls is not None:
        values["tool_calls"] = (tool_calls, OBSERVED)
    if commands is not None and has_context:
        repository = sum(command.classification != command_texts.OTHER for command in commands)
        values |= {
            "fallback_repository_commands": (repository, DERIVED),
            "fallback_repository_files_named": (files, DERIVED),
            "fallback_named_file_size_proxy_bytes": (size, DERIVED),
        }
    statuses = dict.fromkeys(TOKEN_METRICS, NOT_OBSERVED) | {name: source for name, (_, source) in values.items()}
    return {**{name: value for name, (value, _) in values.items()}, "statuses": statuses}


def write(document: Mapping[str, Any], stream: BinaryIO) -> None:
    """Write a document as the one JSON value on `stream`, and flush it."""
    stream.write(canonical.document(document))
    stream.flush()


def _count(commands: Sequence[Classified], kind: str) -> int:
    return sum(kind in command.classification.split("+") for command in commands)
