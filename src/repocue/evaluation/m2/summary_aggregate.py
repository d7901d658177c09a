"""An aggregate over repositories, after each was reported by itself. Pure.

Only complete groups of fifteen reports or more, with everything but the repository in common, stand in one aggregate,
and only where they are of two repositories or more. Every figure is over the groups' own medians, each of which counts
once, however many runs it is over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from repocue.domain.statistics import exact
from repocue.evaluation.m2.summary_groups import REQUIRED_REPORTS, Group
from repocue.evaluation.m2.summary_statistics import counted, ratio
from repocue.scoring.measurements import METRICS


def aggregate(groups: Sequence[Group], reported: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`{pools, left_out}`; `reported` are the groups' documents, in the same order."""
    pools: dict[str, list[tuple[Group, Mapping[str, Any]]]] = {}
    left_out = []
    for group, document in zip(groups, reported, strict=True):
        if group.is_complete:
            pools.setdefault(group.pool, []).append((group, document))
        else:
            reason = "It is a dry run." if group.is_dry else f"It has fewer than {REQUIRED_REPORTS} reports."
            left_out.append({"group": group.id, "reason": reason})
    found = []
    for members in pools.values():
        if len({group.root for group, _ in members}) > 1:
            found.append(_pool(members))
        else:
            left_out += [
                {"group": group.id, "reason": "No other repository was measured the same way."} for group, _ in members
            ]
    return {"pools": found, "left_out": sorted(left_out, key=lambda one: int(one["group"].partition("-")[2]))}


def _pool(members: Sequence[tuple[Group, Mapping[str, Any]]]) -> dict[str, Any]:
    first = members[0][0].identity
    documents = [document for _, document in members]
    return {
        "identity": {name: value for name, value in first.items() if name != "state"},
        "groups": [{"group": group.id, "repository": group.name} for group, _ in members],
        "conditions": [
            {
                "condition": one["condition"],
                "metrics": {
                    metric: counted(
                        _exact(document["conditions"][place]["metrics"][metric]["median"]) for document in documents
                    )
                    for metric in METRICS
                },
            }
            for place, one in enumerate(documents[0]["conditions"])
        ],
        "comparisons": [
            {
                "condition": one["condition"],
                "metrics": {
                    metric: _compared([document["comparisons"][place]["metrics"][metric] for document in documents])
                    for metric in METRICS
                },
            }
            for place, one in enumerate(documents[0]["comparisons"])
        ],
    }


def _compared(figures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The repositories' median costs and median differences, over those that have any pair."""
    known = [one for one in figures if one["n"]]
    sides = {
        name: counted([_exact(one[name]["median"]) for one in known]) for name in ("direct", "assisted", "difference")
    }
    spreads = {
        name: None if side["n"] == 0 else {part: side[part] for part in ("median", "min", "max")}
        for name, side in sides.items()
    }
    medians = {name: None if side is None else side["median"] for name, side in spreads.items()}
    return {"n": len(known), "of": len(figures), **spreads, "ratio": ratio(medians["assisted"], medians["direct"])}


def _exact(value: float | None) -> Any:
    return None if value is None else exact(value)
