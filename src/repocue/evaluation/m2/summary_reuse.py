"""What several independent consumers would cost (seed, "Reuse Analysis"). Pure.

Kept apart and never added up: the baseline and the refresh, once each; the cue, for each agent; and what each agent
still looked up itself. Everything is derived from single runs, also for one consumer, and says of how many. Per run
first, then medians and ranges. Tokens of an agent already include the context it was supplied; its estimate is not
added. A cue's cost in time is that of the shipped command, so it is unknown where no such command was observed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

from repocue.contracts.rules.evaluation import CONDITIONS
from repocue.domain.measurement import DERIVED
from repocue.evaluation.m2.summary_runs import Run, SetRuns
from repocue.evaluation.m2.summary_statistics import counted

CONSUMERS: Final = (1, 2, 3, 5, 10)

_PER_AGENT: Final[dict[str, Callable[[Run], Fraction | None]]] = {
    "cue_ms": lambda run: run.cue_ms,
    "cue_bytes": lambda run: Fraction(run.cue_bytes),
    "discovery_commands": lambda run: run.counted("discovery_commands"),
    "discovery_files_named": lambda run: run.counted("discovery_files_named"),
    "discovery_size_proxy_bytes": lambda run: run.counted("discovery_size_proxy_bytes"),
    "agent_total_tokens": lambda run: run.counted("total_tokens"),
    "agent_duration_ms": lambda run: run.counted("execution_duration_ms"),
}
_OURS: Final = ("cue_ms", "cue_bytes")


def reuse(sets: Sequence[SetRuns]) -> dict[str, Any]:
    """Projections for 1, 2, 3, 5 and 10 consumers, condition by condition."""
    return {
        "source": DERIVED,
        "conditions": [
            {
                "condition": condition,
                "consumers": [_projection(sets, condition, consumers) for consumers in CONSUMERS],
            }
            for condition in CONDITIONS
        ],
    }


def _projection(sets: Sequence[SetRuns], condition: str, consumers: int) -> dict[str, Any]:
    """One row. A direct agent uses no RepoCue: baseline, refresh and cue are no cost of its, so they are null."""
    is_direct = condition == "direct"
    runs = [one.run(condition) for one in sets]
    found: dict[str, Any] = {
        "consumers": consumers,
        "baseline_ms": None if is_direct else counted(one.baseline_ms for one in sets),
        "refresh_ms": None if is_direct else counted(one.refresh_ms for one in sets),
    }
    for name, value_of in _PER_AGENT.items():
        if is_direct and name in _OURS:
            found[name] = None
            continue
        single = [value_of(run) for run in runs]
        found[name] = counted(None if value is None else consumers * value for value in single)
    return found
