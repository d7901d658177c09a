"""Agent evidence: pairs in groups that may stand together, their statistics, and what they project. Pure.

Tokens need no additional cue tokens, and the deterministic core uses none: Q and H are zero. An agent's time needs the
full cue command for every consumer and the epoch's full maintenance once. Nothing else has comparable parts: commands
are no git processes, and named-file sizes are no bytes that were read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from repocue.calibration.documents import identity as identity_json
from repocue.calibration.pairing import Cost, PairedCost, summarize
from repocue.calibration.projection import Components, Scenario, break_even, scenarios
from repocue.calibration.standing import exclusion
from repocue.domain.ids import calibration_id
from repocue.domain.measurement import DERIVED, ESTIMATED, NOT_OBSERVED, OBSERVED, Source
from repocue.domain.statistics import Spread, exact, number, status
from repocue.scoring.measurements import METRICS, TOKENS

if TYPE_CHECKING:
    from repocue.calibration.pairing import PairedStatistics
    from repocue.report.maintenance import EpochCost
    from repocue.store.calibrations import Amount, Calibration, Identity

DURATION: Final = "execution_duration_ms"
PROJECTED: Final = (*TOKENS, DURATION)
"""The measurements of which a total over several consumers can be made."""

_STATUSES: Final = ("unavailable", "exploratory", "descriptive")
_NOTHING: Final = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Counted pairs of one identity, in the order of import. `id` is `group-1`, … over the whole report."""

    id: str
    identity: Identity
    pairs: tuple[Calibration, ...]


def grouped(calibrations: Iterable[Calibration], epoch: str) -> tuple[Group, ...]:
    """The pairs that count in `epoch`, in groups of equal identity, in the order of their first import."""
    found: dict[Identity, list[Calibration]] = {}
    for stored in calibrations:
        if exclusion(stored, epoch) is None:
            found.setdefault(stored.pair.identity, []).append(stored)
    return tuple(
        Group(id=f"group-{place}", identity=identity, pairs=tuple(members))
        for place, (identity, members) in enumerate(found.items(), start=1)
    )


def section(
    groups: Sequence[Group], calibrations: Iterable[Calibration], cost: EpochCost, consumers: Sequence[int]
) -> dict[str, Any]:
    """The report's `agent_evidence`."""
    statuses = [status(len(group.pairs)) for group in groups]
    return {
        "status": max(statuses, key=_STATUSES.index, default=_STATUSES[0]),
        "groups": [_group(group, cost.duration_ms, consumers) for group in groups],
        "pairs_excluded": [_excluded(stored, cost.epoch) for stored in calibrations if exclusion(stored, cost.epoch)],
    }


def _excluded(stored: Calibration, epoch: str) -> dict[str, Any]:
    found = exclusion(stored, epoch)
    assert found is not None
    return {
        "calibration": calibration_id(stored.number),
        "set": stored.pair.set_digest,
        "run_index": stored.pair.run_index,
        "assisted": stored.pair.identity.assisted,
        "reason": found.reason,
        "detail": found.detail,
    }


def _group(group: Group, maintenance: Fraction | None, consumers: Sequence[int]) -> dict[str, Any]:
    costs = {name: [_paired(stored, name) for stored in group.pairs] for name in METRICS}
    parts = {name: _components(group, costs[name], name) for name in PROJECTED}
    once = {name: maintenance if name == DURATION else _NOTHING for name in PROJECTED}
    return {
        "id": group.id,
        "identity": identity_json(group.identity),
        "status": status(len(group.pairs)),
        "pairs": [_pair(stored) for stored in group.pairs],
        "metrics": {name: _metric(summarize(costs[name]), costs[name], _zeros(group, name)) for name in METRICS},
        "maintenance_ms": None if maintenance is None else number(maintenance),
        "scenarios": _scenarios(parts, once, consumers),
        "break_even": {name: _break_even(parts[name], once[name]) for name in PROJECTED},
    }


def _pair(stored: Calibration) -> dict[str, Any]:
    pair = stored.pair
    return {
        "calibration": calibration_id(stored.number),
        "set": pair.set_digest,
        "run_index": pair.run_index,
        "snapshot": stored.snapshot,
        "direct_position": pair.direct.position,
        "assisted_position": pair.assisted.position,
        "cue_ms": pair.cue.duration_ms,
        "cue_bytes": pair.cue.size_bytes,
        "cue_estimated_tokens": pair.cue.estimated_tokens,
        "cue_delivery": "not-established" if pair.cue.duration_ms is None else "established",
        "metrics": {name: _values(stored, name) for name in METRICS},
    }


def _values(stored: Calibration, name: str) -> dict[str, Any]:
    """Values as declared, estimated ones too: as labelled diagnostics that enter no statistics."""
    direct, assisted = stored.pair.direct, stored.pair.assisted
    (direct_value, direct_source), (assisted_value, assisted_source) = direct.values[name], assisted.values[name]
    return {
        "direct": direct_value,
        "assisted": assisted_value,
        "source": _joint(direct_source, assisted_source),
        "direct_source": direct_source,
        "assisted_source": assisted_source,
        "ambiguous_zeros": [side for side, run in (("direct", direct), ("assisted", assisted)) if name in run.zeros],
    }


def _joint(first: Source, second: Source) -> Source:
    """What a difference of two values is: no better than the weaker of them."""
    for source in (NOT_OBSERVED, ESTIMATED, DERIVED):
        if source in (first, second):
            return source
    return OBSERVED


def _paired(stored: Calibration, name: str) -> PairedCost:
    return PairedCost(_cost(stored.pair.direct.values[name]), _cost(stored.pair.assisted.values[name]))


def _cost(amount: Amount) -> Cost:
    value, source = amount
    return Cost(None if value is None else exact(value), source)


def _components(group: Group, costs: Sequence[PairedCost], name: str) -> list[Components]:
    """Each pair's D, A and Q."""
    if name in TOKENS:
        return [Components(cost.direct.counted, cost.assisted.counted, _NOTHING) for cost in costs]
    cues = [stored.pair.cue.duration_ms for stored in group.pairs]
    return [
        Components(cost.direct.counted, cost.assisted.counted, None if cue is None else exact(cue))
        for cost, cue in zip(costs, cues, strict=True)
    ]


def _zeros(group: Group, name: str) -> int:
    """Zeros of version 3 that may stand for a counter that was left out."""
    return sum((name in one.pair.direct.zeros) + (name in one.pair.assisted.zeros) for one in group.pairs)


def _metric(found: PairedStatistics, costs: Sequence[PairedCost], zeros: int) -> dict[str, Any]:
    """complete + estimated + not_observed = of."""
    missing = sum(cost.direct.value is None or cost.assisted.value is None for cost in costs)
    return {
        "coverage": {
            "complete": found.complete,
            "of": found.of,
            "estimated": found.of - found.complete - missing,
            "not_observed": missing,
        },
        "direct": _spread(found.direct),
        "assisted": _spread(found.assisted),
        "difference": _spread(found.difference),
        "percent_median": None if found.percent_median is None else number(found.percent_median),
        "ambiguous_zeros": zeros,
    }


def _scenarios(
    parts: Mapping[str, Sequence[Components]], once: Mapping[str, Fraction | None], consumers: Sequence[int]
) -> list[dict[str, Any]]:
    """Each total is over the pairs that have its parts; `coverage` says how many of all they are."""
    found = {name: scenarios(parts[name], once[name], consumers) for name in parts}
    coverage = {name: _coverage(parts[name], once[name]) for name in parts}
    return [
        {
            "consumers": count,
            "source": ESTIMATED,
            "totals": {name: _totals(every[place], coverage[name]) for name, every in found.items()},
        }
        for place, count in enumerate(consumers)
    ]


def _totals(found: Scenario, coverage: Mapping[str, int]) -> dict[str, Any]:
    return {
        "direct": _spread(found.direct),
        "assisted": _spread(found.assisted),
        "saving": _spread(found.saving),
        "coverage": dict(coverage),
    }


def _coverage(parts: Sequence[Components], maintenance: Fraction | None) -> dict[str, int]:
    has_assisted = [maintenance is not None and p.assisted is not None and p.cue is not None for p in parts]
    return {
        "direct": sum(part.direct is not None for part in parts),
        "assisted": sum(has_assisted),
        "saving": sum(has and part.direct is not None for has, part in zip(has_assisted, parts, strict=True)),
        "of": len(parts),
    }


def _break_even(parts: Sequence[Components], maintenance: Fraction | None) -> dict[str, Any]:
    found = break_even(parts, maintenance)
    counts = _spread(found.counts) or {"median": None, "min": None, "max": None}
    return {"finite": found.finite, "of": found.of, **counts}


def _spread(found: Spread | None) -> dict[str, Any] | None:
    return None if found is None else dict(found.to_json())
