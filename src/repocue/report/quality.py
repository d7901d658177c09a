"""How right answers are, apart from what they cost. Pure.

Deterministic scores are counts of right fields; people's scores stand one by one with assessor and date, and assess no
snapshot but the one that their answer was about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from repocue.contracts.rules.evaluation import CONDITIONS
from repocue.scoring.deterministic import FIELDS

if TYPE_CHECKING:
    from repocue.report.agents import Group
    from repocue.store.calibrations import Answer, Calibration, Opinion


def section(groups: Sequence[Group], opinions: Iterable[Opinion]) -> dict[str, Any]:
    """The report's `quality`."""
    return {
        "deterministic": {condition: [_scores(group, condition) for group in groups] for condition in CONDITIONS},
        "qualitative": list(_qualitative(groups, opinions)),
    }


def _scores(group: Group, condition: str) -> dict[str, Any]:
    """One group's answers of one condition; a contaminated run's answer is left out."""
    every = [_answer(stored, condition) for stored in group.pairs]
    answers = [answer for answer in every if not answer.is_contaminated]
    fields = {field: _field(answer.correct[field] for answer in answers) for field in FIELDS}
    return {
        "group": group.id,
        "answers": len(answers),
        "of": len(every),
        "all_fields": {name: sum(field[name] for field in fields.values()) for name in ("correct", "scored")},
        **fields,
    }


def _field(verdicts: Iterable[bool | None]) -> dict[str, int]:
    scored = [verdict for verdict in verdicts if verdict is not None]
    return {"correct": sum(scored), "scored": len(scored)}


def _qualitative(groups: Sequence[Group], opinions: Iterable[Opinion]) -> Iterable[dict[str, Any]]:
    """Each opinion once, though its set may be in several groups."""
    by_set: dict[str, tuple[str, Calibration]] = {}
    for group in groups:
        for stored in group.pairs:
            by_set.setdefault(stored.pair.set_digest, (group.id, stored))
    for opinion in opinions:
        if opinion.set_digest not in by_set:
            continue
        group_id, stored = by_set[opinion.set_digest]
        if _answer(stored, opinion.condition).is_contaminated:
            continue
        yield {
            "group": group_id,
            "set": opinion.set_digest,
            "run_index": stored.pair.run_index,
            "snapshot": stored.snapshot,
            "condition": opinion.condition,
            "assessor": opinion.assessor,
            "assessed_at": opinion.assessed_at,
            "scores": dict(opinion.scores),
        }


def _answer(stored: Calibration, condition: str) -> Answer:
    return next(answer for answer in stored.pair.answers if answer.condition == condition)
