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
from repocue.evaluation.m2.summary_statistics import over

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
_OURS: Final = ("baseline_ms", "refresh_ms", "cue_ms", "cue_bytes")


def reuse(sets: Sequence[SetRuns]) -> dict[str, Any]:
    """Projections for 1, 2, 3, 5 and 10 consumers, condition by condition."""
    return {
        "source": DERIVED,
        "conditions": [
            {"condition": condition, "consumers": _projections(sets, condition)} for condition in CONDITIONS
        ],
    }


def _projections(sets: Sequence[SetRuns], condition: str) -> list[dict[str, Any]]:
    """A row for each number of consumers: what is paid once, then what each agent costs, as often as there are agents.

    A direct agent uses no RepoCue: baseline, refresh and cue are no cost of its, so they are null.
    """
    runs = [one.run(condition) for one in sets]
    once = {"baseline_ms": over(one.baseline_ms for one in sets), "refresh_ms": over(one.refresh_ms for one in sets)}
    each = {name: over(map(value_of, runs)) for name, value_of in _PER_AGENT.items()}
    rows = []
    for consumers in CONSUMERS:
        figures: dict[str, Any] = {name: found.to_json() for name, found in once.items()}
        figures |= {name: found.to_json(consumers) for name, found in each.items()}
        if condition == "direct":
            figures |= dict.fromkeys(_OURS)
        rows.append({"consumers": consumers, **figures})
    return rows
