"""Token counters of completed turns and their aggregates (seed, "Codex Adapter"; facts of version 3).

A counter that is absent or null is unknown. An aggregate exists only when every completed turn supplies its counter;
input and output alone determine the total; cached, cache-write and reasoning counts are subsets and never added.
In version 3 every counter is required by the schema, so the same rules hold there without their unknown cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from repocue.contracts.problems import Problem
from repocue.domain.measurement import MAX_COUNTER, NOT_OBSERVED

COUNTERS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
CACHE_WRITE = "cache_write_input_tokens"
TOTAL = "total_tokens"

LEGACY_SUBSETS = (("cached_input_tokens", "input_tokens"),)
SUBSETS = (
    *LEGACY_SUBSETS,
    (CACHE_WRITE, "input_tokens"),
    ("reasoning_output_tokens", "output_tokens"),
)
"""(part, whole): a known part never exceeds a known whole."""

Subsets = tuple[tuple[str, str], ...]


def usage_problems(
    events: Sequence[Mapping[str, Any]], metrics: Mapping[str, Any], subsets: Subsets
) -> Iterator[Problem]:
    """Faults of the ordered turns and of the aggregates; pointers are from the observation's root."""
    for position, event in enumerate(events):
        where = f"/usage_events/{position}"
        if event["turn"] != position + 1:
            yield Problem(where + "/turn", f"turns are numbered 1, 2, … in order; this one must be {position + 1}")
        yield from _subset_problems(event, where, subsets)
    for counter in (*COUNTERS, CACHE_WRITE):
        yield from _aggregate_problems(events, metrics, counter)
    yield from _subset_problems(metrics, "/metrics", subsets)
    yield from _total_problems(metrics)


def known_sum(events: Sequence[Mapping[str, Any]], counter: str) -> int | None:
    """The sum of a counter over all completed turns; None when any turn lacks it, or there is no turn."""
    values: list[int] = []
    for event in events:
        value = event.get(counter)
        if value is None:
            return None
        values.append(value)
    return sum(values) if values else None


def status_problems(metrics: Mapping[str, Any]) -> Iterator[Problem]:
    """Faults between metrics and their statuses: a value has a source, no value is `not_observed`."""
    statuses = metrics["statuses"]
    for name, value in metrics.items():
        if name != "statuses" and value is not None and name not in statuses:
            yield Problem("/metrics/" + name, f"the value has no status in /metrics/statuses/{name}")
    for name, status in statuses.items():
        has_value = metrics.get(name) is not None
        if has_value and status == NOT_OBSERVED:
            yield Problem("/metrics/statuses/" + name, f"{NOT_OBSERVED} cannot stand beside the value {metrics[name]}")
        if not has_value and status != NOT_OBSERVED:
            yield Problem("/metrics/statuses/" + name, f"must be {NOT_OBSERVED}, since there is no value")


def _subset_problems(counts: Mapping[str, Any], where: str, subsets: Subsets) -> Iterator[Problem]:
    for part, whole in subsets:
        some, everything = counts.get(part), counts.get(whole)
        if some is not None and everything is not None and some > everything:
            yield Problem(f"{where}/{part}", f"{some} exceeds {whole}, {everything}, of which it is a part")


def _aggregate_problems(
    events: Sequence[Mapping[str, Any]], metrics: Mapping[str, Any], counter: str
) -> Iterator[Problem]:
    declared = metrics.get(counter)
    total = known_sum(events, counter)
    where = "/metrics/" + counter
    if total is None:
        if declared is not None:
            lacking = next((e["turn"] for e in events if e.get(counter) is None), None)
            reason = f"turn {lacking} does not supply it" if lacking else "no turn was completed"
            yield Problem(where, f"must be absent and not_observed: {reason}, and a partial sum is no total")
    elif total > MAX_COUNTER:
        yield Problem("/usage_events", f"{counter} adds up to {total}, beyond {MAX_COUNTER}")
    elif declared is None:
        if counter != CACHE_WRITE:  # a runner may leave the optional aggregate out
            yield Problem("/metrics", f"{counter} must be {total}: every completed turn supplies it")
    elif declared != total:
        yield Problem(where, f"must be {total}, the sum over the turns, not {declared}")


def _total_problems(metrics: Mapping[str, Any]) -> Iterator[Problem]:
    declared = metrics.get(TOTAL)
    parts = metrics.get("input_tokens"), metrics.get("output_tokens")
    if parts[0] is None or parts[1] is None:
        if declared is not None:
            yield Problem("/metrics/" + TOTAL, "must be absent and not_observed: input or output is unknown")
        return
    total = parts[0] + parts[1]
    if total > MAX_COUNTER:
        yield Problem("/metrics/" + TOTAL, f"input plus output is {total}, beyond {MAX_COUNTER}")
    elif declared is None:
        yield Problem("/metrics", f"{TOTAL} must be {total}: input and output are known")
    elif declared != total:
        yield Problem("/metrics/" + TOTAL, f"must be {total}, input plus output, not {declared}")
