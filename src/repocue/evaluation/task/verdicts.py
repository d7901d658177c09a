"""Cells, coverage and verdicts (CONTRACTS, "Schedule" and "Verdicts"). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from repocue.evaluation.shared import exact
from repocue.evaluation.task import schedule
from repocue.evaluation.task.pairs import CREDITS, TOTAL_TOKENS, Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """savings or no-savings only where every gate holds; `metric` is what was compared, None where nothing was."""

    status: Literal["savings", "no-savings", "not-established"]
    metric: str | None
    reasons: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The members of a summary's `verdict`, in their order."""
        return {"status": self.status, "metric": self.metric, "reasons": list(self.reasons)}


def counted(pairs: Iterable[Pair]) -> dict[int, Pair]:
    """By repeat, the pair that counts of each cell of the schedule: the first journaled one in the cell's order."""
    found: dict[int, Pair] = {}
    for pair in sorted(pairs, key=lambda one: (one.began_at or "", one.name)):
        if pair.began_at is not None and pair.is_scheduled:
            found.setdefault(pair.prepared.repeat, pair)
    return found


def open_gates(kind: str, cells: dict[int, Pair]) -> list[str]:
    """Why the pairs of one benchmark carry no verdict; empty where every gate holds."""
    reasons = []
    for repeat in range(1, schedule.REPEATS + 1):
        pair = cells.get(repeat)
        if pair is None:
            number = schedule.pair_number(kind, repeat)
            reasons.append(f"pair-missing: pair {number}, {kind} repeat {repeat}, was not attempted in its order")
        else:
            reasons += _open_gates_of(pair)
    return reasons


def _open_gates_of(pair: Pair) -> list[str]:
    if pair.status != "complete":
        return [f"pair-{pair.status}: {pair.name}"]
    reasons = [] if pair.has_one_adapter else [f"adapters-differ: {pair.name}"]
    for judged in pair.judged.values():
        where = f"{pair.name}/{judged.evidence.name}"
        for name, value in judged.facts.to_json().items():
            if value is not True:
                reasons.append(f"{name}-{'unknown' if value is None else 'failed'}: {where}")
    return reasons


def decide(pairs: Sequence[Pair], reasons: Sequence[str]) -> Verdict:
    """The verdict over pairs whose `reasons` say which gates are open.

    Credits decide where every pair has them in both arms, else total tokens under the same condition; part of either is
    never used.
    """
    gaps: tuple[str, list[Decimal]] | None = None
    for metric in (CREDITS, TOTAL_TOKENS):
        known = [gap for pair in pairs if (gap := pair.matched(metric).difference) is not None]
        if known and len(known) == len(pairs):
            gaps = metric, known
            break
    if gaps is None and not reasons:
        reasons = ["cost-unknown: neither credits nor total tokens are known of every attempt"]
    if gaps is None or reasons:
        return Verdict(status="not-established", metric=None, reasons=tuple(reasons))
    metric, known = gaps
    middle = exact.median(known)
    return Verdict(
        status="savings" if middle > 0 else "no-savings",
        metric=metric,
        reasons=(f"median-difference: {exact.text(middle)} {metric} over {len(known)} pairs",),
    )
