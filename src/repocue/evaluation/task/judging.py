"""One attempt as four separate facts, provision, execution, correctness and compliance, with its tokens and credits."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from repocue.contracts import canonical
from repocue.domain.paths import raw
from repocue.errors import RepoCueError
from repocue.evaluation.shared import answers, assessments, task_cues
from repocue.evaluation.task import credits as money
from repocue.evaluation.task import scoring
from repocue.evaluation.task.benchmark import why_unpriced
from repocue.evaluation.task.recomputing import Recomputed, recomputed_or_why
from repocue.evaluation.task.usage import UNKNOWN, Usage, of_declared
from repocue.runners.contamination import contaminations
from repocue.runners.streams import StreamReader

if TYPE_CHECKING:
    from repocue.evaluation.task.evidence import ArmEvidence, Status
    from repocue.evaluation.task.frozen import Prepared

CODEX_STREAM = "codex-exec-json"
"""The stream format of observations that have credits."""

PRICED = ("input_tokens", "cached_input_tokens", "output_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Whether the context was delivered whole, the run completed, the answer is right, and the instructions were kept;
    None is unknown."""

    provision: bool | None = None
    execution: bool | None = None
    correctness: bool | None = None
    compliance: bool | None = None

    def to_json(self) -> dict[str, bool | None]:
        """The members of a summary's `facts`, in their order."""
        return {
            "provision": self.provision,
            "execution": self.execution,
            "correctness": self.correctness,
            "compliance": self.compliance,
        }


@dataclass(slots=True)
class Judgement:
    """One attempt as it is reported. `usage` is recomputed from the stream, else unknown; `declared` is what a runner
    without a readable stream says of itself, shown and counted nowhere. `binding` is what an assessment of its answer
    must repeat, None without an answer."""

    evidence: ArmEvidence
    status: Status
    facts: Facts = Facts()
    usage: Usage = UNKNOWN
    declared: Usage | None = None
    credits: Decimal | None = None
    completed_commands: int | None = None
    commands: list[scoring.CommandScore] = field(default_factory=list)
    discovery: dict[str, Any] | None = None
    binding: dict[str, Any] | None = None
    reasons: list[str] = field(default_factory=list)

    @property
    def adapter(self) -> tuple[str, str, str] | None:
        """Adapter, its version and the CLI's; None where no observation says."""
        if self.evidence.observation is None:
            return None
        metadata = self.evidence.observation["metadata"]
        return metadata["adapter"], metadata["adapter_version"], metadata["cli_version"]


def judge(
    prepared: Prepared,
    evidence: ArmEvidence,
    assessed: Sequence[Mapping[str, Any]],
    readers: Mapping[str, StreamReader],
) -> Judgement:
    """Judge one attempt from its evidence and the entries of an assessment bundle that name it."""
    judged = Judgement(evidence=evidence, status=evidence.status, reasons=list(evidence.reasons))
    run = _recompute(prepared, judged, readers)
    if run is None:
        rejected, _, _ = assessments.judged(assessed, None)
        judged.reasons += rejected
        judged.facts = Facts(provision=_provision(prepared, evidence), execution=_execution(judged))
        return judged
    correct, contaminated = _score(prepared, judged, run)
    rejected, correctness, compliance = assessments.judged(assessed, judged.binding)
    judged.reasons += rejected
    if prepared.benchmark.task.kind == "explanation" and correct is not False:
        correct = correctness  # an explanation that no rule refutes is as right as an independent assessor says
    elif correctness is False:
        correct = False
    judged.facts = Facts(
        provision=_provision(prepared, evidence),
        execution=_execution(judged),
        correctness=correct,
        compliance=False if contaminated else compliance,
    )
    return judged


def _recompute(prepared: Prepared, judged: Judgement, readers: Mapping[str, StreamReader]) -> Recomputed | None:
    """Tokens and credits first: they are counted whether or not the answer is any good."""
    evidence = judged.evidence
    observation = evidence.observation
    if observation is None:
        return None
    run, why = recomputed_or_why(evidence.provider_stdout, observation, prepared.benchmark, readers)
    if run is None:
        if why is None:
            judged.reasons.append("stream-none: the runner declares no readable stream; its figures count for nothing")
            judged.declared = _declared(observation)
        else:
            judged.reasons.append(f"stream-unusable: {why}")
            judged.status = "failed"
        return None
    judged.usage = run.usage
    judged.completed_commands = sum(1 for command in run.commands if command["completed"])
    if run.differences:
        judged.reasons.append(f"observation-differs: the stream gives another {', '.join(run.differences)}")
        judged.status = "failed"
    unknown = [name for name in PRICED if getattr(run.usage, name) is None]
    if unknown:
        judged.reasons.append(f"usage-incomplete: {', '.join(unknown)} unknown")
    _price(prepared, judged, observation)
    return run


def _declared(observation: Mapping[str, Any]) -> Usage:
    try:
        return of_declared(observation["usage_events"])
    except RepoCueError:
        return UNKNOWN


def _price(prepared: Prepared, judged: Judgement, observation: Mapping[str, Any]) -> None:
    metadata, policy = observation["metadata"], prepared.policy
    if metadata["stream_format"] != CODEX_STREAM:
        judged.reasons.append("credits-not-codex: credits exist for Codex observations only")
    elif policy is None:
        judged.reasons.append("policy-missing: there is no paid policy, so no rates")
    elif (why := why_unpriced(policy)) is not None:
        judged.reasons.append(why)
    elif (metadata["model"], metadata["speed"]) != (policy.model, policy.speed):
        judged.reasons.append("settings-differ: another model or speed ran than the rates are for")
    else:
        judged.credits = money.cost(judged.usage, policy)


def _score(prepared: Prepared, judged: Judgement, run: Recomputed) -> tuple[bool | None, bool]:
    """(correctness as far as rules decide it, whether the agent used RepoCue or this evidence itself)."""
    benchmark, evidence = prepared.benchmark, judged.evidence
    required = task_cues.required_items(prepared.cues["task"])
    commands = () if benchmark.verification is None else benchmark.verification.commands
    judged.commands = scoring.score_commands(commands, run.commands)
    judged.reasons += [f"command-{one.status}: {one.id}: {one.reason}" for one in judged.commands if one.reason]
    forbidden = contaminations(
        [command["text"] for command in run.commands],
        [os.fsdecode(raw(prepared.record[name])) for name in ("cache_directory", "prepared_directory")],
        root=os.fsdecode(raw(prepared.record["repository"]["root"])),
    )
    if forbidden:
        judged.reasons.append(f"contaminated: {len(forbidden)} commands call RepoCue or read its cache or evidence")
    if run.answer is None:
        judged.reasons.append(f"answer-invalid: {run.answer_fault}")
        return False, bool(forbidden)
    assert evidence.provider_stdout is not None
    judged.binding = {
        "benchmark_sha256": prepared.record["benchmark_sha256"],
        "rubric_sha256": prepared.rubric_sha256,
        "prompt_sha256": canonical.digest(prepared.prompt(evidence.arm)),
        "response_sha256": canonical.digest(evidence.provider_stdout),
        "answer_sha256": answers.digest(run.answer),
        "source_ids": prepared.source_ids(),
        "state_fingerprint": prepared.basis["state_fingerprint"],
    }
    if benchmark.task.kind == "discovery":
        judged.discovery = scoring.discovery_overlap(run.answer, required)
    faults = scoring.answer_faults(benchmark, run.answer, required, prepared.source_ids())
    judged.reasons += faults
    return (False if faults else scoring.verified(judged.commands)), bool(forbidden)


def _provision(prepared: Prepared, evidence: ArmEvidence) -> bool | None:
    """Whether exactly the frozen prompt went to the agent's program; unknown where nothing of the attempt counts."""
    if evidence.header is None:
        return None
    return evidence.stdin == prepared.prompt(evidence.arm)


def _execution(judged: Judgement) -> bool | None:
    if judged.evidence.header is None:
        return None
    return judged.status == "complete"
