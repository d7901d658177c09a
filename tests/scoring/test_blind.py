"""Blinding: what an assessor sees, what stays behind, and the way back."""

from __future__ import annotations

import dataclasses
import json
from hashlib import sha256
from typing import Any

import pytest

from repocue.contracts import reader
from repocue.errors import EvaluationError, EvidenceError
from repocue.scoring.assessment import Source, join
from repocue.scoring.blind import Blinded, blank_scores, blind, is_blinded, speaks_of_context, unblind
from repocue.scoring.response import Response
from tests.scoring.answers import FINGERPRINT, HEAD, answer

CONDITIONS = ("direct", "placebo", "basic", "ranked", "structural-oracle")
IDS = [f"{number:016x}" for number in (0xBEEF, 0x1, 0xFFFF, 0xABC, 0x77)]


def responses(**more: Any) -> list[Response]:
    return [
        Response(
            source=f"project_codex-model_run-01/project_{condition}_run-01.json",
            repository="project",
            condition=condition,
            run_index=1,
            repository_head=HEAD,
            state_fingerprint=FINGERPRINT,
            answer=answer(f"Purpose number {position}.", **more),
        )
        for position, condition in enumerate(CONDITIONS)
    ]


def read(blinded: Blinded) -> tuple[dict[str, Any], dict[str, Any]]:
    bundle = reader.read_canonical(blinded.bundle, contract="repocue/blind-answers-1", indent=True)
    key = reader.read_canonical(blinded.key, contract="repocue/blind-key-1", indent=True)
    return bundle, key


def scored(blinded: Blinded, leave_out: int = 0, **more: Any) -> dict[str, Any]:
    """The form of a bundle, filled in: answer number n (by id) gets n for its purpose."""
    bundle, _ = read(blinded)
    form = json.loads(blank_scores(bundle, "sha256:" + sha256(blinded.bundle).hexdigest()))
    for number, entry in enumerate(form["entries"]):
        entry["scores"] = dict.fromkeys(entry["scores"], 3) | {"purpose": number}
        entry["evidence"] = ["README.md"]
    form["assessor"] = "Ada"
    del form["entries"][len(form["entries"]) - leave_out :]
    form.update(more)
    return reader.read(json.dumps(form).encode(), contract="repocue/blind-scores-1")


def test_the_bundle_says_nothing_about_the_run_of_any_answer() -> None:
    blinded = blind(responses(), IDS)
    bundle, _ = read(blinded)
    assert [entry["response_id"] for entry in bundle["entries"]] == sorted(IDS)
    for entry in bundle["entries"]:
        assert set(entry) == {"response_id", "repository", "answer"}
        assert entry["repository"] == {"name": "project", "head": HEAD}
    text = blinded.bundle.decode()
    for secret in (*CONDITIONS, "condition", "run_index", "run-01", "codex", "model", FINGERPRINT, "sha256"):
        assert secret not in text.replace("their conditions", ""), secret


def test_the_place_of_an_answer_follows_from_its_random_id_alone() -> None:
    def purposes(ids: list[str], order: list[Response]) -> dict[str, str]:
        bundle, _ = read(blind(order, ids))
        return {entry["response_id"]: entry["answer"]["project_purpose"] for entry in bundle["entries"]}

    forwards = purposes(IDS, responses())
    assert forwards == {IDS[position]: f"Purpose number {position}." for position in range(5)}
    assert purposes(IDS[::-1], responses()[::-1]) == forwards


def test_answers_are_unaltered_but_for_the_order_of_their_members() -> None:
    given = responses(tracked_changes=["b", "a"])
    shuffled = [
        dataclasses.replace(one, answer={name: one.answer[name] for name in sorted(one.answer, reverse=True)})
        for one in given
    ]
    blinded = blind(shuffled, IDS)
    assert blinded.bundle == blind(given, IDS).bundle
    bundle, _ = read(blinded)
    assert {entry["response_id"]: entry["answer"] for entry in bundle["entries"]} == {
        blind_id: one.answer for blind_id, one in zip(IDS, given, strict=True)
    }


def test_scores_find_their_way_back_to_condition_and_digest() -> None:
    given = responses()
    blinded = blind(given, IDS)
    _, key = read(blinded)
    found = unblind(key, scored(blinded, assessed_at="2026-11-30T10:00:00.000Z"))
    assert found.not_scored == ()
    for document in found.assessments:
        reader.check(document, contract="repocue/qualitative-assessment-2")
        assert document["assessed_at"] == "2026-11-30T10:00:00.000Z"
    joined = join(given, [Source(str(n), document) for n, document in enumerate(found.assessments)])
    assert joined.rejected == ()
    # By hand: sorted, the ids are those of answers 1, 4, 3, 0 and 2; the form gave them 0, 1, 2, 3 and 4.
    assert {one.condition: judged[0].scores["purpose"] for one, judged in joined.judgements} == {
        "placebo": 0,
        "structural-oracle": 1,
        "ranked": 2,
        "direct": 3,
        "basic": 4,
    }


def test_an_unknown_date_and_missing_scores_stay_unknown_and_missing() -> None:
    blinded = blind(responses(), IDS)
    _, key = read(blinded)
    found = unblind(key, scored(blinded, leave_out=2))
    assert all("assessed_at" not in document for document in found.assessments)
    assert list(found.not_scored) == sorted(IDS)[3:]


def test_an_assessment_shows_under_which_key_it_was_blind() -> None:
    blinded = blind(responses(), IDS)
    _, key = read(blinded)
    document = dict(unblind(key, scored(blinded)).assessments[0])
    assert is_blinded(document, [key])
    assert not is_blinded(document, [])
    other = read(blind(responses(branch="x"), IDS))[1]
    assert not is_blinded(document, [other])
    assert is_blinded(document, [other, key])
    assert not is_blinded({**document, "condition": "ranked"}, [key])
    assert not is_blinded({**document, "evidence": ["README.md"]}, [key])


def test_scores_of_another_bundle_or_of_no_answer_or_given_twice_are_refused() -> None:
    blinded = blind(responses(), IDS)
    _, key = read(blinded)
    good = scored(blinded)
    cases = [
        ({**good, "bundle_sha256": "sha256:" + "0" * 64}, "evidence.other-bundle"),
        ({**good, "entries": [{**good["entries"][0], "response_id": "f" * 16}]}, "evidence.scores"),
        ({**good, "entries": [good["entries"][0], good["entries"][0]]}, "evidence.scores"),
    ]
    for document, code in cases:
        with pytest.raises(EvidenceError) as caught:
            unblind(key, document)
        assert caught.value.code == code


def test_a_form_that_is_not_filled_in_is_refused_by_its_contract() -> None:
    blinded = blind(responses(), IDS)
    bundle, key = read(blinded)
    form = json.loads(blank_scores(bundle, key["bundle_sha256"]))
    assert reader.problems(form) != []


def test_nothing_to_blind_and_the_same_run_twice_are_refused() -> None:
    with pytest.raises(EvaluationError) as caught:
        blind([], [])
    assert caught.value.code == "evaluation.nothing-to-blind"
    with pytest.raises(EvaluationError) as caught:
        blind([*responses(), responses()[0]], [*IDS, "a" * 16])
    assert caught.value.code == "evaluation.repeated-response"
    for ids in (IDS[:4], [IDS[0]] * 5, ["guess"] * 5, [*IDS[:4], "x" * 16]):
        with pytest.raises(ValueError):
            blind(responses(), ids)


def test_answers_that_speak_of_what_they_were_given_are_known_to_the_key_alone() -> None:
    given = responses()
    telling = dataclasses.replace(given[2], answer=answer("As the supplied context says."))
    blinded = blind([*given[:2], telling, *given[3:]], IDS)
    bundle, key = read(blinded)
    assert [entry["response_id"] for entry in key["entries"] if entry["speaks_of_context"]] == [IDS[2]]
    assert b"speaks_of_context" not in blinded.bundle
    assert any("reveal" in text for text in bundle["limitations"])
    assert not speaks_of_context(answer("Rescues, discuses and accuses."))
    assert speaks_of_context(answer(branch="RepoCue"))
    assert speaks_of_context({**answer(), "uncertainties": ["The cue was short."]})
