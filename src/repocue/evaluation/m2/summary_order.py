"""Position and condition: whichever run comes first can warm a provider's cache for those that follow. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from repocue.contracts.rules.evaluation import CONDITIONS
from repocue.evaluation.m2.summary_runs import SetRuns
from repocue.evaluation.m2.summary_statistics import counted

METRICS: Final = (
    "total_tokens",
    "input_tokens",
    "uncached_input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "execution_duration_ms",
)
"""What is shown by position: input and its uncached part beside each other, and time."""

INSEPARABLE: Final = "inseparable"
UNBALANCED: Final = "unbalanced"
BALANCED: Final = "balanced"

STATEMENTS: Final = {
    INSEPARABLE: "Every condition ran in one position only: order and condition cannot be told apart. A difference may"
    " be the order's, above all in cached and uncached input and in time.",
    UNBALANCED: "Conditions do not stand equally often in every position: a difference may be partly the order's.",
    BALANCED: "Every condition stands equally often in every position. What came immediately before it is not balanced"
    " by a rotation.",
}


def separability(sets: Sequence[SetRuns]) -> str:
    """Whether position and condition can be told apart over these sets."""
    counts = Counter((run.condition, run.position) for one in sets for run in one.runs)
    positions = {condition: {where for what, where in counts if what == condition} for condition in CONDITIONS}
    if all(len(found) == 1 for found in positions.values()):
        return INSEPARABLE
    is_full = len(counts) == len(CONDITIONS) ** 2
    return BALANCED if is_full and len(set(counts.values())) == 1 else UNBALANCED


def order(sets: Sequence[SetRuns]) -> dict[str, Any] | None:
    """Costs by the position in which runners were started; None where none was."""
    ran = [one for one in sets if one.metadata is not None]
    if not ran:
        return None
    found = separability(ran)
    positions = []
    for position in range(1, len(CONDITIONS) + 1):
        runs = [run for one in ran for run in one.runs if run.position == position]
        conditions = Counter(run.condition for run in runs)
        positions.append(
            {
                "position": position,
                "conditions": [
                    {"condition": condition, "runs": conditions[condition]}
                    for condition in CONDITIONS
                    if conditions[condition]
                ],
                "metrics": {metric: counted(run.counted(metric) for run in runs) for metric in METRICS},
            }
        )
    return {
        "policies": sorted({one.order_policy for one in ran}),
        "separability": found,
        "statement": STATEMENTS[found],
        "positions": positions,
    }
