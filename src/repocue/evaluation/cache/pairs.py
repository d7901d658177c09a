"""Pairs, inventory and verdict, from judged steps (seed, "Accounting and quality"; CONTRACTS, "Verdicts"). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from repocue.evaluation.cache import money
from repocue.evaluation.shared.answers import every

Status = Literal["not-attempted", "incomplete", "failed", "complete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Whether the sources were delivered, the answer is correct and followed its instructions; None is unknown."""

    delivery: bool | None = None
    correctness: bool | None = None
    compliance: bool | None = None

    def to_json(self) -> dict[str, bool | None]:
        """The members of a pair's `quality`, in their order."""
        return {"delivery": self.delivery, "correctness": self.correctness, "compliance": self.compliance}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedStep:
    """One step as a pair needs it.

    `is_cost_unknown` says that something may have been spent that nobody knows: an unfinished or altered attempt, or
    one whose request began and whose cost cannot be told.
    """

    id: str
    arm: str
    cycle: int | None
    usd: Decimal | None
    cache_read_tokens: int | None
    quality: Quality
    is_cost_unknown: bool
    is_loopback: bool | None = None
    """Whether a fixture answered and not the provider; None where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One cycle: its baseline steps against its cache steps, first write and all outputs included."""

    cycle: int
    is_complete: bool
    baseline_usd: Decimal | None
    cache_usd: Decimal | None
    difference_usd: Decimal | None
    initial_request_usd: Decimal | None
    subsequent_requests_usd: Decimal | None
    observed_reuse_count: int | None
    quality: Quality
    is_mixed: bool = False
    """Whether some of its answers came from a fixture and some from the provider."""

    def to_json(self) -> dict[str, Any]:
        """The members of a summary's pair, in their order."""
        return {
            "cycle": self.cycle,
            "complete": self.is_complete,
            "baseline_usd": money.optional_text(self.baseline_usd),
            "cache_usd": money.optional_text(self.cache_usd),
            "difference_usd": money.optional_text(self.difference_usd),
            "initial_request_usd": money.optional_text(self.initial_request_usd),
            "subsequent_requests_usd": money.optional_text(self.subsequent_requests_usd),
            "observed_reuse_count": self.observed_reuse_count,
            "quality": self.quality.to_json(),
        }


def pairs(steps: Sequence[JudgedStep]) -> list[Pair]:
    """The pairs of `steps`, which are in their frozen order, by cycle. Probes belong to none."""
    cycles = sorted({step.cycle for step in steps if step.cycle is not None})
    return [_pair(cycle, [step for step in steps if step.cycle == cycle]) for cycle in cycles]


def _pair(cycle: int, steps: Sequence[JudgedStep]) -> Pair:
    baseline = [step for step in steps if step.arm == "baseline"]
    cache = [step for step in steps if step.arm == "cache"]
    baseline_usd = money.known_total(step.usd for step in baseline)
    cache_usd = money.known_total(step.usd for step in cache)
    reads = [step.cache_read_tokens for step in cache]
    known_reads = [count for count in reads if count is not None]
    return Pair(
        cycle=cycle,
        is_complete=all(step.usd is not None for step in steps),
        baseline_usd=baseline_usd,
        cache_usd=cache_usd,
        difference_usd=money.difference(baseline_usd, cache_usd),
        initial_request_usd=cache[0].usd if cache else None,
        subsequent_requests_usd=money.known_total(step.usd for step in cache[1:]),
        observed_reuse_count=sum(count > 0 for count in known_reads) if len(known_reads) == len(reads) else None,
        quality=Quality(
            delivery=every(step.quality.delivery for step in steps),
            correctness=every(step.quality.correctness for step in steps),
            compliance=every(step.quality.compliance for step in steps),
        ),
        is_mixed={step.is_loopback for step in steps} >= {True, False},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """Everything that was spent, successful or not. `complete_usd` is None where anything is unknown."""

    known_usd: Decimal | None
    complete_usd: Decimal | None

    def to_json(self) -> dict[str, str | None]:
        """The members of a summary's `inventory`, in their order."""
        return {
            "known_usd": money.optional_text(self.known_usd),
            "complete_usd": money.optional_text(self.complete_usd),
        }


def inventory(steps: Iterable[JudgedStep], *, has_strangers: bool = False) -> Inventory:
    """The sum of all known costs, and the same again where no attempt's cost is unknown; `has_strangers` says that
    there may be attempts of no step, which are of unknown cost."""
    found = list(steps)
    known = [step.usd for step in found if step.usd is not None]
    known_usd = money.total(known) if known else None
    is_complete = not has_strangers and not any(step.is_cost_unknown for step in found)
    return Inventory(known_usd=known_usd, complete_usd=known_usd if is_complete else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """savings or no-savings only where every gate holds; `reasons` say which did not, or what decided."""

    status: Literal["savings", "no-savings", "not-established"]
    reasons: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The members of a summary's `verdict`, in their order."""
        return {"status": self.status, "reasons": list(self.reasons)}


def verdict(found: Sequence[Pair], *, required_pairs: int, has_rates: bool) -> Verdict:
    """The verdict over complete pairs; lower cost alone is never enough."""
    complete = [pair for pair in found if pair.is_complete]
    reasons = [] if has_rates else ["rates-missing: no prices were supplied, so no cost is known"]
    if len(complete) < required_pairs:
        reasons.append(f"pairs-missing: {len(complete)} of {required_pairs} required cycles have every cost known")
    for pair in complete:
        reasons += _open_gates(pair)
    if reasons:
        return Verdict(status="not-established", reasons=tuple(reasons))
    middle = money.median(pair.difference_usd for pair in complete if pair.difference_usd is not None)
    return Verdict(
        status="savings" if middle > 0 else "no-savings",
        reasons=(f"median-difference-usd: {money.text(middle)} over {len(complete)} complete cycles",),
    )


def _open_gates(pair: Pair) -> list[str]:
    reasons = []
    if pair.is_mixed:
        reasons.append(f"endpoints-mixed: cycle {pair.cycle} was answered by the provider and by a loopback endpoint")
    if pair.observed_reuse_count is None:
        reasons.append(f"reuse-unknown: cycle {pair.cycle} has a request whose cache read is unknown")
    elif pair.observed_reuse_count == 0:
        reasons.append(f"reuse-not-observed: no request of cycle {pair.cycle} read from the cache")
    for name, value in pair.quality.to_json().items():
        if value is False:
            reasons.append(f"{name}-failed: cycle {pair.cycle}")
        elif value is None:
            reasons.append(f"{name}-unknown: cycle {pair.cycle}")
    return reasons
