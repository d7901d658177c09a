"""Binding assessments to answers by digest and identity."""

from __future__ import annotations

import copy
import json
from hashlib import sha256
from typing import Any

import pytest

from repocue.contracts import reader
from repocue.scoring.assessment import Source, join
from repocue.scoring.response import Response, response_digest
from tests.contracts import documents
from tests.scoring.answers import FINGERPRINT, HEAD, answer, assessment


def response(condition: str = "direct", run_index: int = 1, said: dict[str, Any] | None = None) -> Response:
    return Response(
        source=f"set/{condition}.json",
        repository="r",
        condition=condition,
        run_index=run_index,
        repository_head=HEAD,
        state_fingerprint=FINGERPRINT,
        answer=said or answer(),
    )


def test_the_digest_is_over_the_compact_text_in_the_contracts_order() -> None:
    said = answer("größer")
    text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    assert response_digest(said) == "sha256:" + sha256(text.encode()).hexdigest()


def test_the_order_of_members_does_not_matter_to_the_digest_and_that_of_lists_does() -> None:
    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: turned(value[name]) for name in reversed(value)}
        return [turned(item) for item in value] if isinstance(value, list) else value

    said = answer(tracked_changes=["a", "b"])
    assert response_digest(turned(said)) == response_digest(said)
    assert response_digest(answer(tracked_changes=["b", "a"])) != response_digest(said)


def test_an_assessment_is_bound_by_digest_and_identity() -> None:
    one, two = response(), response("basic")
    good = assessment(one.digest, assessed_at="2026-11-30T10:00:00.000Z")
    reader.check(good, contract="repocue/qualitative-assessment-2")
    joined = join([one, two], [Source("a.json", good)])
    ((first, judgements), (second, nothing)) = joined.judgements
    assert (first, second, nothing) == (one, two, ())
    (judgement,) = judgements
    assert judgement.to_json() == {
        "assessor": "Ada",
        "assessed_at": "2026-11-30T10:00:00.000Z",
        "scores": good["scores"],
    }
    assert joined.rejected == ()
    assert joined.without == (two,)


def test_an_absent_date_stays_unknown() -> None:
    joined = join([response()], [Source("a.json", assessment(response().digest))])
    assert joined.judgements[0][1][0].assessed_at is None


def test_equal_answers_are_told_apart_by_their_identity() -> None:
    responses = [response("direct"), response("basic"), response("basic", 2)]
    documents = [
        Source("b.json", assessment(responses[0].digest, condition="basic")),
        Source("c.json", assessment(responses[0].digest, condition="basic", run_index=2)),
    ]
    joined = join(responses, documents)
    assert [[one.source for one in found] for _, found in joined.judgements] == [[], ["b.json"], ["c.json"]]


@pytest.mark.parametrize(
    ("change", "reason", "detail"),
    [
        ({"response_id": "sha256:" + "0" * 64}, "no-response-has-this-digest", "sha256:" + "0" * 64),
        ({"condition": "basic"}, "identity-differs", "condition"),
        ({"run_index": 2}, "identity-differs", "run_index"),
        ({"repository_head": None}, "identity-differs", "repository_head"),
        (
            {"state_fingerprint": "sha256:" + "0" * 64, "run_index": 3},
            "identity-differs",
            "run_index, state_fingerprint",
        ),
    ],
)
def test_an_assessment_that_does_not_bind_is_rejected_with_the_reason(
    change: dict[str, Any], reason: str, detail: str
) -> None:
    joined = join([response()], [Source("a.json", {**assessment(response().digest), **change})])
    assert joined.judgements == ((response(), ()),)
    ((rejected),) = joined.rejected
    assert (rejected.source, rejected.reason, rejected.detail) == ("a.json", reason, detail)


def test_one_assessor_counts_once_and_contradictions_count_for_nothing() -> None:
    digest = response().digest
    same = [
        Source("1", assessment(digest)),
        Source("2", assessment(digest)),
        Source("3", assessment(digest, assessor="Bo")),
    ]
    joined = join([response()], same)
    assert [(one.assessor, one.source) for one in joined.judgements[0][1]] == [("Ada", "1"), ("Bo", "3")]
    assert [(one.source, one.reason) for one in joined.rejected] == [("2", "repeated")]

    other = copy.deepcopy(assessment(digest))
    other["scores"]["purpose"] = 0
    joined = join([response()], [*same[::2], Source("4", other)])
    assert [one.assessor for one in joined.judgements[0][1]] == ["Bo"]
    assert [(one.source, one.reason) for one in joined.rejected] == [
        ("1", "same-assessor-says-otherwise"),
        ("4", "same-assessor-says-otherwise"),
    ]


def test_responses_are_found_in_reports_of_both_versions_and_dry_runs_have_none() -> None:
    for report in (documents.report_3("ranked"), documents.report_4("direct")):
        found = Response.of_report(report, source="set/x.json")
        assert found is not None
        assert found.answer == report["runner"]["final_response"]
        assert (found.condition, found.run_index) == (report["condition"], report["run_index"])
        assert found.repository_head == report["repository"]["head"]
        assert found.state_fingerprint == report["repository"]["state_fingerprint"]
    assert Response.of_report(documents.report_4("structural-oracle", runner=False), source="x") is None
