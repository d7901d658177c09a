"""The fixed schedule of nine pairs (CONTRACTS, "Schedule"). Pure.

Pairs 1 to 9 are explanation, discovery and verification, in that order, for repeats 1, 2 and 3. Odd pairs run the
overview first and even ones the task context: whichever arm runs first can warm a provider's cache for the other.
"""

from __future__ import annotations

from typing import Final

from repocue.evaluation.task.layout import Order

KINDS: Final = ("explanation", "discovery", "verification")
REPEATS: Final = 3
PAIRS: Final = len(KINDS) * REPEATS


def pair_number(kind: str, repeat: int) -> int:
    """The number of a cell's pair; above 9 for repeats that the schedule does not have."""
    return (repeat - 1) * len(KINDS) + KINDS.index(kind) + 1


def order_of(kind: str, repeat: int) -> Order:
    """The order in which a cell's arms run."""
    return "overview-first" if pair_number(kind, repeat) % 2 else "task-first"
