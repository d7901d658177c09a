"""The tokens of one execution, summed over its completed turns; unknown stays unknown. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from repocue.runners.usage import COUNTERS, UsageEvent, event, totals


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens; None is unknown, 0 was observed. `cached_input_tokens` and `cache_write_input_tokens` are parts of input,
    `reasoning_output_tokens` is a part of output; total is input plus output."""

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None
    total_tokens: int | None = None

    def to_json(self) -> dict[str, int | None]:
        """The members of a summary's `usage`, in their order."""
        return asdict(self)


UNKNOWN = Usage()


def of_events(events: Sequence[UsageEvent]) -> Usage:
    """The sums that every completed turn supports.

    A turn without one token of input or output never ran: its zeros stand for what the program was not told, so they
    make everything unknown. Raises UsageError where a sum leaves the range of counters.
    """
    if any(one.input_tokens == 0 or not any(one.counters().values()) for one in events):
        return UNKNOWN
    return Usage(**totals(events))


def of_declared(events: Sequence[Mapping[str, Any]]) -> Usage:
    """The same of an observation's `usage_events`, which keep their contract. Raises UsageError."""
    return of_events(
        [
            event(one["turn"], {name: one.get(name) for name in COUNTERS}, f"the declared turn {one['turn']}")
            for one in events
        ]
    )
