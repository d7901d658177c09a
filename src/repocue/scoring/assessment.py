"""Binding people's assessments to the answers they judged (seed, "Benchmark and Scoring").

An assessment belongs to a response when it names the response's digest and its whole identity: condition, run index,
HEAD and state fingerprint. Equal answers of two conditions have one digest, so the digest alone is not enough; the
identity alone is not either, for an answer may have been exchanged. What does not bind is rejected with a reason and
counts for nothing. Scores stay one assessor's opinion: they are never averaged with facts, and an absent date stays
unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from repocue.scoring.response import Response

SCORES: Final = (
    "purpose",
    "architecture",
    "documentation",
    "recent_changes",
    "structural_completeness",
    "uncertainty_handling",
)

UNKNOWN_RESPONSE: Final = "no-response-has-this-digest"
OTHER_IDENTITY: Final = "identity-differs"
REPEATED: Final = "repeated"
CONTRADICTORY: Final = "same-assessor-says-otherwise"


class Source(NamedTuple):
    """An assessment document that satisfies its contract, and where it came from, for messages."""

    name: str
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One assessor's scores (0 to 4 each, by name) of one response. `assessed_at` is None where it is not known."""

    source: str
    assessor: str
    assessed_at: str | None
    scores: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """`{assessor, assessed_at, scores}`."""
        return {"assessor": self.assessor, "assessed_at": self.assessed_at, "scores": dict(self.scores)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """An assessment that counts for nothing, and why."""

    source: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Judgements by response, in the order of the responses given; a response that nobody assessed has none."""

    judgements: tuple[tuple[Response, tuple[Judgement, ...]], ...]
    rejected: tuple[Rejected, ...]

    @property
    def without(self) -> tuple[Response, ...]:
        """The responses that nobody assessed."""
        return tuple(response for response, found in self.judgements if not found)


def join(responses: Sequence[Response], assessments: Iterable[Source]) -> Joined:
    """Bind each assessment to the response it judges, or reject it.

    Of equal assessments by one assessor the first counts and the others are repeated; where one assessor scores one
    response in two ways, none of them counts.
    """
    by_digest: dict[str, list[int]] = {}
    for position, response in enumerate(responses):
        by_digest.setdefault(response.digest, []).append(position)
    bound: dict[tuple[int, str], list[Source]] = {}
    rejected: list[Rejected] = []
    for source in assessments:
        candidates = by_digest.get(source.document["response_id"], [])
        match, detail = _match(responses, candidates, source.document)
        if match is None:
            reason = OTHER_IDENTITY if candidates else UNKNOWN_RESPONSE
            rejected.append(Rejected(source=source.name, reason=reason, detail=detail))
        else:
            bound.setdefault((match, source.document["assessor"]), []).append(source)

    judgements: list[list[Judgement]] = [[] for _ in responses]
    for (position, _), sources in bound.items():
        first, *others = sources
        if any(_opinion(other) != _opinion(first) for other in others):
            names = ", ".join(source.name for source in sources)
            rejected += [Rejected(source=source.name, reason=CONTRADICTORY, detail=names) for source in sources]
            continue
        rejected += [Rejected(source=other.name, reason=REPEATED, detail=first.name) for other in others]
        judgements[position].append(_judgement(first))
    return Joined(
        judgements=tuple(
            (response, tuple(sorted(found, key=lambda one: one.assessor)))
            for response, found in zip(responses, judgements, strict=True)
        ),
        rejected=tuple(rejected),
    )


def _match(
    responses: Sequence[Response], candidates: Sequence[int], assessment: Mapping[str, Any]
) -> tuple[int | None, str]:
    """The position of the response that has the assessment's identity; else None and what differs from the first."""
    detail = str(assessment["response_id"])
    for attempt, position in enumerate(candidates):
        response = responses[position]
        identity = {
            "condition": response.condition,
            "run_index": response.run_index,
            "repository_head": response.repository_head,
            "state_fingerprint": response.state_fingerprint,
        }
        differing = [name for name, value in identity.items() if assessment[name] != value]
        if not differing:
            return position, ""
        if attempt == 0:
            detail = ", ".join(differing)
    return None, detail


def _opinion(source: Source) -> tuple[Any, ...]:
    document = source.document
    return document.get("assessed_at"), *(document["scores"][name] for name in SCORES), *document["evidence"]


def _judgement(source: Source) -> Judgement:
    document = source.document
    return Judgement(
        source=source.name,
        assessor=document["assessor"],
        assessed_at=document.get("assessed_at"),
        scores={name: document["scores"][name] for name in SCORES},
    )
