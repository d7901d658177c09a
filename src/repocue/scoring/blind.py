"""Blinded assessment: answers leave without their condition, scores come back and find it again.

`blind` gives two documents. The bundle (`repocue/blind-answers-1`) goes to the assessor: answers under random ids, in
the order of these ids, with the repository they speak of and nothing about the run: no condition, run index, adapter,
model, usage or command. The key (`repocue/blind-key-1`) stays behind. The assessor returns `repocue/blind-scores-1`,
and `unblind` makes `repocue/qualitative-assessment-2` documents of it.

What blinding cannot do: an answer may itself speak of the context that its agent was given. It is not altered, for
then another text would be judged; the key says which answers do, so that it can be weighed afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from repocue.contracts.canonical import digest, document
from repocue.errors import EvaluationError, EvidenceError
from repocue.scoring.assessment import SCORES
from repocue.scoring.response import canonical_answer

if TYPE_CHECKING:
    from repocue.scoring.response import Response

ANSWERS: Final = "repocue/blind-answers-1"
KEY: Final = "repocue/blind-key-1"
SCORES_DOCUMENT: Final = "repocue/blind-scores-1"
BENCHMARK_VERSION: Final = "repository-state-v2"

LIMITATIONS: Final = (
    "An answer may itself reveal what its agent was given; answers are shown unaltered.",
    "Answers of one repository stand beside each other, so that their differences are visible.",
)

_BLIND_ID = re.compile(r"[0-9a-f]{16,64}\Z")
_TELLING = re.compile(
    r"repocue|\bcues?\b|\b(?:supplied|provided|given|injected)\s+(?:context|overview)\b", re.IGNORECASE
)
_MARK = "blinded as {} in {}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Blinded:
    """The exact bytes of both documents. They must not be kept in one place while the assessor works."""

    bundle: bytes
    key: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Unblinded:
    """Assessments in the order of the scores, and the blind ids for which the scores say nothing."""

    assessments: tuple[Mapping[str, Any], ...]
    not_scored: tuple[str, ...]


def blind(responses: Sequence[Response], ids: Sequence[str]) -> Blinded:
    """Both documents for `responses`; `ids` are as many random ids of at least 16 hex digits, each another.

    They must come from a source of randomness, not from the answers: whoever has the reports could compute them.
    Raises EvaluationError where there is nothing to blind, or the same answer of the same run twice.
    """
    if len(ids) != len(responses) or len(set(ids)) != len(ids) or not all(map(_BLIND_ID.match, ids)):
        raise ValueError("as many different random ids of 16 to 64 hex digits are needed as there are responses")
    if not responses:
        raise EvaluationError(
            "There is no answer to blind.",
            code="evaluation.nothing-to-blind",
            hint="Choose report sets that were made with a runner.",
        )
    seen: dict[tuple[Any, ...], str] = {}
    for response in responses:
        identity = (response.repository, response.condition, response.run_index, response.state_fingerprint)
        if identity in seen:
            raise EvaluationError(
                f"{response.source} and {seen[identity]} are answers of the same run"
                f" ({response.repository}, {response.condition}, run {response.run_index}).",
                code="evaluation.repeated-response",
                hint="Name each report set once.",
            )
        seen[identity] = response.source
    pairs = sorted(zip(ids, responses, strict=True), key=lambda pair: pair[0])
    bundle = document(
        {
            "schema_version": ANSWERS,
            "benchmark_version": BENCHMARK_VERSION,
            "entries": [
                {
                    "response_id": blind_id,
                    "repository": {"name": response.repository, "head": response.repository_head},
                    "answer": canonical_answer(response.answer),
                }
                for blind_id, response in pairs
            ],
            "limitations": list(LIMITATIONS),
        },
        indent=True,
    )
    key = {
        "schema_version": KEY,
        "bundle_sha256": digest(bundle),
        "entries": [
            {
                "response_id": blind_id,
                "response_digest": response.digest,
                "source": response.source,
                "repository": response.repository,
                "condition": response.condition,
                "run_index": response.run_index,
                "repository_head": response.repository_head,
                "state_fingerprint": response.state_fingerprint,
                "speaks_of_context": speaks_of_context(response.answer),
            }
            for blind_id, response in pairs
        ],
    }
    return Blinded(bundle=bundle, key=document(key, indent=True))


def blank_scores(bundle: Mapping[str, Any], bundle_sha256: str) -> bytes:
    """A form to fill in: it satisfies `repocue/blind-scores-1` once no score is null and each entry has evidence."""
    return document(
        {
            "schema_version": SCORES_DOCUMENT,
            "bundle_sha256": bundle_sha256,
            "assessor": "",
            "assessed_at": None,
            "entries": [
                {"response_id": entry["response_id"], "scores": dict.fromkeys(SCORES), "evidence": []}
                for entry in bundle["entries"]
            ],
        },
        indent=True,
    )


def unblind(key: Mapping[str, Any], scores: Mapping[str, Any]) -> Unblinded:
    """The assessments that `scores` (`repocue/blind-scores-1`) state of the answers in `key`.

    Each carries, as its last piece of evidence, the blind id and the bundle under which it was made. Raises
    EvidenceError where the scores are of another bundle, or name an answer twice or one that is not in it.
    """
    if scores["bundle_sha256"] != key["bundle_sha256"]:
        raise EvidenceError(
            f"The scores are of the bundle {scores['bundle_sha256']}, the key is of {key['bundle_sha256']}.",
            code="evidence.other-bundle",
            hint="Use the key that was written together with the bundle that was assessed.",
        )
    entries = {entry["response_id"]: entry for entry in key["entries"]}
    assessments: list[dict[str, Any]] = []
    scored: set[str] = set()
    for entry in scores["entries"]:
        blind_id = entry["response_id"]
        if blind_id not in entries or blind_id in scored:
            fault = "is scored twice" if blind_id in scored else "is not in the bundle"
            raise EvidenceError(f"The answer {blind_id} {fault}.", code="evidence.scores")
        scored.add(blind_id)
        found = entries[blind_id]
        when = scores["assessed_at"]
        assessments.append(
            {
                "schema_version": "repocue/qualitative-assessment-2",
                "assessor": scores["assessor"],
                **({} if when is None else {"assessed_at": when}),
                "response_id": found["response_digest"],
                "condition": found["condition"],
                "repository_head": found["repository_head"],
                "state_fingerprint": found["state_fingerprint"],
                "run_index": found["run_index"],
                "scores": {name: entry["scores"][name] for name in SCORES},
                "evidence": [*entry["evidence"], _MARK.format(blind_id, key["bundle_sha256"])],
            }
        )
    return Unblinded(
        assessments=tuple(assessments),
        not_scored=tuple(blind_id for blind_id in entries if blind_id not in scored),
    )


def is_blinded(assessment: Mapping[str, Any], keys: Sequence[Mapping[str, Any]]) -> bool:
    """Whether one of `keys` shows that this assessment was made under a blind id of that very answer."""
    return any(
        assessment["evidence"][-1] == _MARK.format(entry["response_id"], key["bundle_sha256"])
        and assessment["response_id"] == entry["response_digest"]
        and all(
            assessment[name] == entry[name]
            for name in ("condition", "run_index", "repository_head", "state_fingerprint")
        )
        for key in keys
        for entry in key["entries"]
    )


def speaks_of_context(answer: Mapping[str, Any]) -> bool:
    """Whether an answer's own text names RepoCue, a cue, or a context that was supplied. A hint, not a proof."""
    return any(_TELLING.search(text) for text in _texts(answer))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if name != "schema_version":
                yield from _texts(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _texts(inner)
