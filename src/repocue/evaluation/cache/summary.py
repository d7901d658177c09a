"""Summary: recompute everything from frozen files (seed, "Data flow"). Reads files and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from repocue.contracts import reader
from repocue.domain.times import epoch_ms
from repocue.errors import EvaluationError
from repocue.evaluation.cache import evidence, frozen, layout, money, pairs
from repocue.evaluation.cache.frozen import Prepared
from repocue.evaluation.cache.judging import Judgement, judge
from repocue.evaluation.cache.limits import DEFAULT_LIMITS, CacheLimits
from repocue.evaluation.shared import files

NOT_OBSERVED: Final = (
    "account billing",
    "CPU",
    "memory",
    "filesystem I/O",
    "task-ready latency",
    "time to first token",
)

LIMITATIONS: Final = (
    "Costs are estimates from the benchmark's own rates; they are not invoices.",
    "Digests show that the evidence agrees with itself; they are no provider's signature and no proof against"
    " coordinated edits.",
    "Arms are intentions: only observed usage says whether a cache was written or read.",
    "A gap to the latest access is set beside the lifetime without a claim that anything expired.",
    "A reusable identity is local; it proves neither eligibility nor a hit.",
)


def summarize(
    prepared_directory: str, *, assessment_file: str | None = None, limits: CacheLimits = DEFAULT_LIMITS
) -> dict[str, Any]:
    """The `repocue/cache-evaluation-1` document of kind "summary" for one prepared folder.

    Raises EvidenceError, ContractError or EvaluationError where the frozen files or the assessment cannot be used; an
    attempt that cannot be used marks its own step only.
    """
    prepared = frozen.load(prepared_directory, limits)
    bundle = None if assessment_file is None else _bundle(assessment_file, limits)
    if bundle is not None and bundle["assessor"].strip().casefold() == prepared.benchmark.model:
        raise EvaluationError(
            f"The assessment file's assessor is {prepared.benchmark.model}, the model that answered.",
            code="evaluation.assessor",
            hint="An assessment is somebody else's, or it says nothing about compliance.",
        )
    entries: list[dict[str, Any]] = [] if bundle is None else bundle["entries"]
    judged = [
        judge(prepared, step, [entry for entry in entries if entry["step"] == step.request.step.id], limits)
        for step in evidence.gather(prepared, limits)
    ]
    for_pairs = [judgement.for_pairs() for judgement in judged]
    found = pairs.pairs(for_pairs)
    strangers = evidence.unknown_entries(prepared)
    benchmark = prepared.benchmark
    verdict = pairs.verdict(found, required_pairs=benchmark.required_pairs, has_rates=benchmark.rates is not None)
    document = {
        "schema_version": layout.EVALUATION_VERSION,
        "kind": "summary",
        "benchmark": _benchmark(prepared),
        "steps": [_step(judgement, judged[:place]) for place, judgement in enumerate(judged)],
        "pairs": [pair.to_json() for pair in found],
        "inventory": pairs.inventory(for_pairs, has_strangers=any(strangers.values())).to_json(),
        "verdict": verdict.to_json(),
        "not_observed": list(NOT_OBSERVED),
        "limitations": _limitations(prepared, judged, entries, strangers),
    }
    reader.check(document, contract=layout.EVALUATION_VERSION, kind="summary")
    return document


def _bundle(path: str, limits: CacheLimits) -> dict[str, Any]:
    data = files.read_given(path, limit_bytes=limits.assessment_bytes, what="assessment file")
    return reader.read(
        data,
        contract=layout.EVALUATION_VERSION,
        kind="assessment-bundle",
        limits=reader.Limits(max_bytes=limits.assessment_bytes, max_depth=limits.json_depth),
        subject="the assessment file",
    )


def _benchmark(prepared: Prepared) -> dict[str, Any]:
    benchmark = prepared.benchmark
    return {
        "id": benchmark.id,
        "sha256": prepared.benchmark_sha256,
        "model": benchmark.model,
        "api_version": benchmark.api_version,
        "ttl": benchmark.ttl,
        "required_pairs": benchmark.required_pairs,
        "rates_record": None if benchmark.rates is None else benchmark.rates.record_id,
    }


def _step(judgement: Judgement, earlier: Sequence[Judgement]) -> dict[str, Any]:
    step, observation = judgement.evidence.request.step, judgement.evidence.observation
    return {
        "id": step.id,
        "arm": step.arm,
        "cycle": step.cycle,
        "status": judgement.status,
        "usage": judgement.usage.to_json(),
        "usd": money.optional_text(judgement.usd),
        "last_access": _last_access(judgement, earlier),
        "duration_ms": None if observation is None else observation.duration_ms,
        "reasons": [*judgement.reasons, *_clock_faults(judgement, earlier)],
        "binding": judgement.binding,
    }


def _clock_faults(judgement: Judgement, earlier: Sequence[Judgement]) -> list[str]:
    """Steps run in their order, so one that shows a later access was timed by a clock that was set back since."""
    started = _http_started(judgement)
    if started is None:
        return []
    later = [
        other.evidence.request.step.id
        for other in earlier
        if other.usage.has_cache_access and (began := _http_started(other)) is not None and began > started
    ]
    what = f"clock-stepped: {', '.join(later)} ran before and began later by the clock, so no gap can be told"
    return [what] if later else []


def _last_access(judgement: Judgement, earlier: Sequence[Judgement]) -> dict[str, Any] | None:
    """The latest earlier request whose usage shows a cache write or read; None too where the clock contradicts."""
    started = _http_started(judgement)
    if started is None or _clock_faults(judgement, earlier):
        return None
    candidates = [
        (began, place)
        for place, other in enumerate(earlier)
        if other.usage.has_cache_access and (began := _http_started(other)) is not None
    ]
    if not candidates:
        return None
    began, place = max(candidates)
    observation = earlier[place].evidence.observation
    assert observation is not None
    return {
        "step": observation.step,
        "http_started_at": observation.http_started_at,
        "gap_ms": started - began,
    }


def _http_started(judgement: Judgement) -> int | None:
    observation = judgement.evidence.observation
    if observation is None or observation.http_started_at is None:
        return None
    return epoch_ms(observation.http_started_at)


def _limitations(
    prepared: Prepared,
    judged: Sequence[Judgement],
    entries: Sequence[Mapping[str, Any]],
    unknown: Mapping[str, bool],
) -> list[str]:
    found = list(LIMITATIONS)
    loopback = [step.evidence.request.step.id for step in judged if step.evidence.is_loopback]
    if loopback:
        found.append(
            f"Answered by a loopback endpoint, not by the provider: {', '.join(loopback)}. Such answers verify the"
            " software; they show no cache activity and no savings."
        )
    if unknown:
        found.append(f"Entries among the attempts that belong to no step: {', '.join(unknown)}.")
    if strangers := [entry["step"] for entry in entries if entry["step"] not in prepared.requests]:
        found.append(f"Assessments of steps that the benchmark does not have, rejected: {', '.join(strangers)}.")
    return found
