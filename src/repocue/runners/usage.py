"""Token counters of completed turns, and the totals that may be made of them (seed, "Codex Adapter").

A counter is an integer from 0 to 2^53-1 or None, which means unknown. Unknown is never zero: an aggregate exists
only where every completed turn supplies the counter, so that a partial value never poses as a total. Input and
output alone make the total; cached, cache-write and reasoning counts are subsets and are never added to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repocue.domain.measurement import MAX_COUNTER
from repocue.errors import EvaluationError

COUNTERS = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
)
"""The counters of an event, in the contract's order."""

SUBSETS = (
    ("cached_input_tokens", "input_tokens"),
    ("cache_write_input_tokens", "input_tokens"),
    ("reasoning_output_tokens", "output_tokens"),
)
"""(part, whole): a known part above a known whole cannot be true."""


class UsageError(EvaluationError):
    """Usage that cannot be true: no total may be made of it."""

    default_code = "runner.usage"


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageEvent:
    """One completed turn (1, 2, …) with what its usage supplied; None is unknown.

    `input_tokens` includes cached input and cache writes; `output_tokens` includes reasoning.
    """

    turn: int
    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None

    def counters(self) -> dict[str, int]:
        """The known counters by name, in the contract's order."""
        values = ((name, getattr(self, name)) for name in COUNTERS)
        return {name: value for name, value in values if value is not None}

    def to_json(self) -> dict[str, int]:
        """The contract's form: unknown counters are omitted, never written as null."""
        return {"turn": self.turn, **self.counters()}


def counter(value: object, where: str) -> int | None:
    """One counter as JSON gave it: None where it is null; raises UsageError where it is no counter."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{where} is not an integer: {_shown(value)}")
    if value < 0:
        raise UsageError(f"{where} is negative: {_shown(value)}")
    if value > MAX_COUNTER:
        raise UsageError(f"{where} is above 2^53-1: {_shown(value)}")
    return value


def event(turn: int, counters: Mapping[str, int | None], where: str) -> UsageEvent:
    """A checked event: subsets must not exceed a known whole. Raises UsageError."""
    made = UsageEvent(turn=turn, **counters)
    for name, whole in SUBSETS:
        part, everything = getattr(made, name), getattr(made, whole)
        if part is not None and everything is not None and part > everything:
            raise UsageError(f"{where}: {name} {part} exceeds {whole} {everything}, of which it is a part")
    return made


def totals(events: Sequence[UsageEvent]) -> dict[str, int]:
    """The aggregates that every completed turn supports, by metric name, with `total_tokens`.

    A counter that any turn left unknown is absent. Raises UsageError where a sum leaves the range of counters.
    """
    known = {}
    for name in COUNTERS:
        values = [getattr(one, name) for one in events]
        if values and all(value is not None for value in values):
            known[name] = _bounded(sum(values), name)
    if "input_tokens" in known and "output_tokens" in known:
        known["total_tokens"] = _bounded(known["input_tokens"] + known["output_tokens"], "total_tokens")
    return known


def _bounded(value: int, name: str) -> int:
    if value > MAX_COUNTER:
        raise UsageError(f"the sum of {name} is above 2^53-1")
    return value


def _shown(value: object) -> str:
    try:
        text = str(value)
    except ValueError:  # an integer of more digits than Python turns into text
        return "a number of thousands of digits"
    return text if len(text) <= 40 else text[:40] + "…"
