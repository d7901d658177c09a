"""Reading one step's response: usage and cost, the answer, and what can be said of its quality. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from repocue.contracts import reader
from repocue.contracts.problems import shown
from repocue.errors import ContractError
from repocue.evaluation.cache import layout, message, money, usage, wire
from repocue.evaluation.cache.pairs import JudgedStep, Quality, Status
from repocue.evaluation.shared import answers, assessments
from repocue.evaluation.shared import task_cues as cues

if TYPE_CHECKING:
    from repocue.evaluation.cache.evidence import StepEvidence
    from repocue.evaluation.cache.frozen import Prepared
    from repocue.evaluation.cache.limits import CacheLimits

_OK = 200
_DISCOVERY = "discovery"
_SHOWN_KINDS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One step as it is reported. `binding` is what an assessment of its answer must name, None without an answer."""

    evidence: StepEvidence
    status: Status
    usage: usage.Usage
    usd: Decimal | None
    quality: Quality
    reasons: tuple[str, ...]
    binding: dict[str, Any] | None

    @property
    def is_cost_unknown(self) -> bool:
        """Whether something may have been spent that nobody knows.

        A request of which nothing was written cost nothing; where an interrupt ended the writing, the count may lag.
        """
        if self.evidence.status == "not-attempted" or self.usd is not None:
            return False
        seen = self.evidence.observation
        if seen is None:
            return True
        return seen.request_bytes_written > 0 or (seen.http_started_at is not None and seen.outcome == "interrupted")

    def for_pairs(self) -> JudgedStep:
        """What pairs, inventory and verdict need of it."""
        step = self.evidence.request.step
        return JudgedStep(
            id=step.id,
            arm=step.arm,
            cycle=step.cycle,
            usd=self.usd,
            cache_read_tokens=self.usage.cache_read_input_tokens,
            quality=self.quality,
            is_cost_unknown=self.is_cost_unknown,
            is_loopback=self.evidence.is_loopback,
        )


@dataclass(slots=True)
class _Reading:
    """A response on its way to a judgement."""

    usage: usage.Usage = usage.UNKNOWN
    usd: Decimal | None = None
    answer: dict[str, Any] | None = None
    is_message: bool = False
    faults: list[str] = field(default_factory=list)
    """What keeps the answer from being right."""
    notes: list[str] = field(default_factory=list)
    """What keeps the cost from being known."""


def judge(
    prepared: Prepared,
    evidence: StepEvidence,
    assessed: Sequence[Mapping[str, Any]],
    limits: CacheLimits,
) -> Judgement:
    """Judge one step from its evidence and the entries of an assessment bundle that name it."""
    reading = _Reading()
    observation = evidence.observation
    if observation is not None and observation.status == _OK and evidence.body is not None:
        _read_response(prepared, evidence, evidence.body, reading, limits)
    status = evidence.status
    if status == "complete" and not reading.is_message:
        status = "failed"
    binding = None if reading.answer is None else _binding(prepared, evidence, reading.answer)
    rejected, correctness, compliance = assessments.judged(assessed, binding)
    return Judgement(
        evidence=evidence,
        status=status,
        usage=reading.usage,
        usd=reading.usd,
        quality=Quality(
            delivery=_delivery(evidence, is_message=reading.is_message),
            correctness=_correctness(prepared, evidence, reading, correctness),
            compliance=compliance,
        ),
        reasons=(*evidence.reasons, *reading.notes, *reading.faults, *rejected),
        binding=binding,
    )


def _read_response(
    prepared: Prepared, evidence: StepEvidence, body: bytes, reading: _Reading, limits: CacheLimits
) -> None:
    """Usage and cost first: they are shown and counted whether or not the answer is any good."""
    benchmark = prepared.benchmark
    try:
        found = message.read(body, max_bytes=limits.send.response_body_bytes, max_depth=limits.json_depth)
        ttl = benchmark.ttl if wire.has_breakpoint(evidence.request.step) else None
        reading.usage = usage.read(found.usage, ttl=ttl)
    except ContractError as error:
        reading.notes.append(f"response-unusable: {error.message}")
        return
    reading.is_message = True
    changes = message.price_changes(found, model=benchmark.model)
    reading.notes += changes
    if not reading.usage.is_complete:
        unknown = [name for name, count in reading.usage.to_json().items() if count is None]
        reading.notes.append(f"usage-incomplete: {', '.join(unknown)} unknown")
    if not changes:
        reading.usd = money.cost(reading.usage, benchmark.rates)
    if found.blocks != ("text",):
        reading.faults.append(f"answer-not-text-only: the response has {_kinds(found.blocks)} blocks")
    elif found.stop_reason != "end_turn":
        why = "no reason that it gives" if found.stop_reason is None else shown(found.stop_reason)
        reading.faults.append(f"answer-not-ended: the response stopped for {why}")
    else:
        _read_answer(prepared, found.text or "", reading, limits)


def _kinds(blocks: Sequence[str]) -> str:
    """The types of a response's content, of which a provider may send any number under any name."""
    named = [shown(kind) for kind in dict.fromkeys(blocks)]
    return ", ".join(named[:_SHOWN_KINDS]) + (", …" if len(named) > _SHOWN_KINDS else "") or "no"


def _read_answer(prepared: Prepared, text: str, reading: _Reading, limits: CacheLimits) -> None:
    try:
        answer = reader.read(
            text.encode(),
            contract=layout.ANSWER_VERSION,
            limits=reader.Limits(max_bytes=limits.send.response_body_bytes, max_depth=limits.json_depth),
            subject="the answer",
        )
    except ContractError as error:
        reading.faults.append(f"answer-invalid: {error.message}")
        return
    reading.answer = answer
    if answer["benchmark_id"] != prepared.benchmark.id:
        reading.faults.append(f"benchmark-id-differs: the answer is for {answer['benchmark_id']}")
    if prepared.benchmark.task.kind == _DISCOVERY:
        reading.faults += answers.discovery_faults(answer, cues.required_items(prepared.cue))
    reading.faults += answers.citation_faults(answer, cues.delivered_sources(prepared.cue))


def _binding(prepared: Prepared, evidence: StepEvidence, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Everything an assessment is bound to, as its entry must repeat it."""
    assert evidence.observation is not None
    assert evidence.observation.response is not None
    return {
        "benchmark_sha256": prepared.benchmark_sha256,
        "rubric_sha256": prepared.rubric_sha256,
        "request_sha256": evidence.request.sha256,
        "response_sha256": evidence.observation.response.sha256,
        "answer_sha256": answers.digest(answer),
        "source_ids": cues.delivered_sources(prepared.cue),
        "state_fingerprint": prepared.state_fingerprint,
    }


def _delivery(evidence: StepEvidence, *, is_message: bool) -> bool | None:
    """Whether the provider answered from the whole request; unknown where the attempt's end is not known."""
    observation = evidence.observation
    if observation is None:
        return None
    return is_message and observation.request_complete and evidence.status == "complete"


def _correctness(prepared: Prepared, evidence: StepEvidence, reading: _Reading, assessed: bool | None) -> bool | None:
    """A failed deterministic check or a negative assessment is final; a discovery needs no assessment to be right."""
    if evidence.observation is None:
        return None
    if reading.answer is None or reading.faults or assessed is False:
        return False
    return True if prepared.benchmark.task.kind == _DISCOVERY else assessed
