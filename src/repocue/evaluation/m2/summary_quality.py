"""Right and wrong answers, and people's opinions of them, apart from each other and from every cost. Pure.

Deterministic scores are counts over comparable runs; precision and recall are sums of parts over sums of wholes. A
judgement counts as blinded where a key shows that it was made under a blind id of that very answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from repocue.evaluation.m2.summary_groups import Group
from repocue.evaluation.m2.summary_runs import Run
from repocue.evaluation.m2.summary_statistics import counted, ratio
from repocue.scoring.assessment import SCORES, Joined, Judgement, Source, join
from repocue.scoring.blind import is_blinded
from repocue.scoring.deterministic import FIELDS, NOT_LISTED, Ratio, Score
from repocue.scoring.response import Response


class Opinion(NamedTuple):
    """One judgement of one response, and whether it was blinded."""

    judgement: Judgement
    is_blinded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinions:
    """All judgements, by the response that they judge, and the assessments that count for nothing."""

    by_source: Mapping[str, tuple[Opinion, ...]]
    rejected: tuple[dict[str, str], ...]

    def of(self, run: Run) -> tuple[Opinion, ...]:
        """The judgements of one run's answer; none for a dry run."""
        return () if run.response is None else self.by_source.get(_key(run.response), ())

    def has_blinded(self, run: Run) -> bool:
        return any(opinion.is_blinded for opinion in self.of(run))


def opinions(groups: Sequence[Group], assessments: Sequence[Source], keys: Sequence[Mapping[str, Any]]) -> Opinions:
    """Bind assessments to the answers of all groups by digest and identity (`scoring.assessment`)."""
    responses = [run.response for group in groups for _, run in group.runs if run.response is not None]
    joined: Joined = join(responses, assessments)
    documents = {source.name: source.document for source in assessments}
    return Opinions(
        by_source={
            _key(response): tuple(Opinion(one, is_blinded(documents[one.source], keys)) for one in judgements)
            for response, judgements in joined.judgements
        },
        rejected=tuple({"source": one.source, "reason": one.reason, "detail": one.detail} for one in joined.rejected),
    )


def _key(response: Response) -> str:
    return "\0".join((response.source, response.condition, str(response.run_index), response.state_fingerprint))


def deterministic(runs: Sequence[Run]) -> dict[str, Any]:
    """How many of one condition's comparable answers are right, field by field; null where none could be scored."""
    scores = [run.score for run in runs if run.is_comparable and run.score is not None]
    verdicts = [score.correct() for score in scores]
    right = sum(verdict is True for score in verdicts for verdict in score.values())
    of = sum(verdict is not None for score in verdicts for verdict in score.values())
    return {
        "answers": len(scores),
        "of": len(runs),
        "all_fields": {"correct": right, "scored": of},
        **{field: _field(field, verdicts, scores) for field in FIELDS},
    }


def _field(field: str, verdicts: Sequence[Mapping[str, bool | None]], scores: Sequence[Score]) -> dict[str, Any]:
    scored = [verdict[field] for verdict in verdicts if verdict[field] is not None]
    found: dict[str, Any] = {"correct": sum(map(bool, scored)), "scored": len(scored)}
    if field not in ("tracked_changes", "untracked"):
        return found
    lists = [one for score in scores if (one := getattr(score, field)) is not None]
    return {
        **found,
        "precision": _summed(one.precision for one in lists),
        "recall": _summed(one.recall for one in lists),
        "reason": NOT_LISTED if scores and not lists else None,
    }


def _summed(ratios: Iterable[Ratio]) -> dict[str, Any]:
    every = list(ratios)
    return ratio(sum(one.part for one in every), sum(one.whole for one in every))


def qualitative(runs: Sequence[Run], found: Opinions) -> dict[str, Any]:
    """Medians of opinions of one condition's answers; `n` counts judgements, each of them one assessor's."""
    every = [opinion for run in runs if run.is_comparable for opinion in found.of(run)]
    return {
        "judgements": len(every),
        "blinded": sum(opinion.is_blinded for opinion in every),
        "scores": _scores(every),
        "blinded_scores": _scores([opinion for opinion in every if opinion.is_blinded]),
    }


def _scores(every: Sequence[Opinion]) -> dict[str, Any]:
    return {name: counted(Fraction(one.judgement.scores[name]) for one in every) for name in SCORES}


def judgements(group: Group, found: Opinions) -> list[dict[str, Any]]:
    """Every judgement of a group's answers with its assessor and, where it is known, its date."""
    return [
        {
            "run_index": one.run_index,
            "condition": run.condition,
            "blinded": opinion.is_blinded,
            **opinion.judgement.to_json(),
        }
        for one, run in group.runs
        for opinion in found.of(run)
    ]
