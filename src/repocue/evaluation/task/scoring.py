"""What decides a task by its kind, without judgement (CONTRACTS; seed: "Discovery scoring …"). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from repocue.evaluation.shared import answers
from repocue.runners.task_observation import OUTPUT_LIMIT_BYTES

if TYPE_CHECKING:
    from repocue.contracts.types.task import FrozenCommand, TaskBenchmark

CommandStatus = Literal["verified", "failed", "not-observed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandScore:
    """What was observed of one frozen command."""

    id: str
    status: CommandStatus
    reason: str | None

    def to_json(self) -> dict[str, str | None]:
        """The members of a summary's frozen command."""
        return {"id": self.id, "status": self.status, "reason": self.reason}


def score_commands(frozen: Iterable[FrozenCommand], events: Sequence[Mapping[str, Any]]) -> list[CommandScore]:
    """Each frozen command against the runner's command events.

    It is verified when one event that matches it completed with the expected exit and the complete matching output.
    Where none did, one that completed without a reported exit or output leaves it not observed.
    """
    scores = []
    for command in frozen:
        matching = [event for event in events if event["command_id"] == command.id and event["completed"]]
        if not matching:
            scores.append(CommandScore(id=command.id, status="failed", reason="no completion of it was seen"))
            continue
        found = [_score(command, event) for event in matching]
        rank = {"verified": 0, "not-observed": 1, "failed": 2}
        scores.append(min(found, key=lambda score: rank[score.status]))
    return scores


def _score(command: FrozenCommand, event: Mapping[str, Any]) -> CommandScore:
    def scored(status: CommandStatus, reason: str | None = None) -> CommandScore:
        return CommandScore(id=command.id, status=status, reason=reason)

    code, size = event["exit_code"], event["output_bytes"]
    if code is not None and code != command.expected_exit:
        return scored("failed", f"it exited with {code}, not {command.expected_exit}")
    if size is not None and size >= OUTPUT_LIMIT_BYTES:
        return scored("failed", f"its output has {size} bytes, not {command.expected_output_bytes}")
    if event["output_complete"] and (event["output_sha256"], size) != (
        command.expected_output_sha256,
        command.expected_output_bytes,
    ):
        return scored("failed", "its complete output is not the expected one")
    if code is None:
        return scored("not-observed", "the agent's program reports no exit code")
    if not event["output_complete"]:
        return scored("not-observed", "the agent's program does not report its complete output")
    return scored("verified")


def verified(scores: Iterable[CommandScore]) -> bool | None:
    """False where a command failed; unknown where none failed and one was not observed."""
    known: dict[CommandStatus, bool | None] = {"verified": True, "failed": False, "not-observed": None}
    return answers.every(known[score.status] for score in scores)


def answer_faults(
    benchmark: TaskBenchmark, answer: Mapping[str, Any], required: Mapping[str, Sequence[str]], sources: Sequence[str]
) -> list[str]:
    """What is wrong with an answer by rules alone, whatever an assessor says of it."""
    faults = []
    if answer["benchmark_id"] != benchmark.id:
        faults.append(f"benchmark-id-differs: the answer is for {answer['benchmark_id']}")
    if benchmark.task.kind == "discovery":
        faults += answers.discovery_faults(answer, required)
    faults += answers.citation_faults(answer, sources)
    if benchmark.task.kind == "explanation" and not answer["claims"]:
        faults.append("claims-missing: an explanation without a claim explains nothing")
    return faults + _reported_faults(benchmark, answer)


def _reported_faults(benchmark: TaskBenchmark, answer: Mapping[str, Any]) -> list[str]:
    """How the answer's own report of the frozen commands differs from what they must give."""
    commands = () if benchmark.verification is None else benchmark.verification.commands
    expected = {command.id: command.expected_exit for command in commands}
    reported = {command["id"]: command["exit_code"] for command in answer["commands"]}
    faults = []
    if missing := sorted(expected.keys() - reported.keys()):
        faults.append("commands-not-reported: " + ", ".join(missing))
    if surplus := sorted(reported.keys() - expected.keys()):
        faults.append("commands-not-frozen: " + ", ".join(surplus))
    faults += [
        f"exit-code-differs: the answer reports {reported[name]} for {name}, not {expected[name]}"
        for name in sorted(expected.keys() & reported.keys())
        if reported[name] != expected[name]
    ]
    return faults


def discovery_overlap(answer: Mapping[str, Any], required: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Precision and recall of items and of (item, source) pairs, with the counts they are of."""
    items = answers.overlap((item["id"] for item in answer["items"]), required)
    sources = answers.overlap(
        ((item["id"], source) for item in answer["items"] for source in item["sources"]),
        ((name, source) for name, sources in required.items() for source in sources),
    )
    return {"items": _ratios(items), "sources": _ratios(sources)}


def _ratios(found: answers.Overlap) -> dict[str, Any]:
    return {
        "shared": found.shared,
        "found": found.found,
        "required": found.required,
        "precision": found.shared / found.found if found.found else None,
        "recall": found.shared / found.required if found.required else None,
    }
