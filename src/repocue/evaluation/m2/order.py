"""In which order the five conditions' runners start. Pure."""

from __future__ import annotations

from typing import Final, Literal

from repocue.contracts.rules.evaluation import CONDITIONS

OrderPolicy = Literal["fixed", "balanced"]

POLICIES: Final[tuple[OrderPolicy, ...]] = ("fixed", "balanced")


def order_of(policy: OrderPolicy, run_index: int) -> tuple[str, ...]:
    """The conditions in starting order.

    `fixed` is the seed's order. `balanced` is a row of the cyclic five-row Latin square: run 1 is the fixed order, and
    each further run starts one condition later, so that in runs 1 to 5 every condition stands once in each position.
    """
    if policy == "fixed":
        return CONDITIONS
    start = (run_index - 1) % len(CONDITIONS)
    return CONDITIONS[start:] + CONDITIONS[:start]


def is_balanced(policy: OrderPolicy, run_indexes: range) -> bool:
    """Whether, over these runs, every condition stands equally often in every position."""
    return policy == "balanced" and len(run_indexes) > 0 and len(run_indexes) % len(CONDITIONS) == 0
