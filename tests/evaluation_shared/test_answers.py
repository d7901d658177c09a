"""Answers have one normal form, and the checks that need no judgement name what differs."""

from __future__ import annotations

import random
from hashlib import sha256
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from repocue.evaluation.shared import answers, assessments


def answer(**changes: Any) -> dict[str, Any]:
    return {
        "schema_version": "repocue/task-answer-1",
        "benchmark_id": "b",
        "items": [{"id": "two", "sources": ["y", "x"]}, {"id": "one", "sources": []}],
        "claims": [{"text": "z", "sources": ["y", "x"]}, {"text": "a", "sources": ["x"]}],
        "commands": [{"id": "d", "exit_code": 1}, {"id": "c", "exit_code": 0}],
        "uncertainties": ["u", "t"],
    } | changes


def test_sets_are_sorted_and_lists_and_members_keep_their_order() -> None:
    assert answers.normalised(answer()) == answer(
        items=[{"id": "one", "sources": []}, {"id": "two", "sources": ["x", "y"]}],
        claims=[{"text": "z", "sources": ["x", "y"]}, {"text": "a", "sources": ["x"]}],
        commands=[{"id": "c", "exit_code": 0}, {"id": "d", "exit_code": 1}],
    )
    assert list(answers.normalised(answer())) == list(answer())


def test_the_digest_is_over_the_normal_forms_document() -> None:
    document = (
        '{"schema_version":"repocue/cache-answer-1","benchmark_id":"b","items":[{"id":"one","sources":["x","y"]}],'
        '"claims":[],"uncertainties":[]}\n'
    )
    given_answer = {
        "schema_version": "repocue/cache-answer-1",
        "benchmark_id": "b",
        "items": [{"id": "one", "sources": ["y", "x"]}],
        "claims": [],
        "uncertainties": [],
    }
    assert answers.digest(given_answer) == "sha256:" + sha256(document.encode()).hexdigest()


IDS = st.text("abc-1", min_size=1, max_size=4)


@given(
    items=st.dictionaries(IDS, st.sets(IDS, max_size=4), max_size=4),
    commands=st.dictionaries(IDS, st.integers(0, 255), max_size=4),
    seed=st.integers(),
)
def test_the_order_in_which_sets_are_written_changes_no_digest(
    items: dict[str, set[str]], commands: dict[str, int], seed: int
) -> None:
    source = random.Random(seed)

    def written() -> dict[str, Any]:
        listed = [{"id": name, "sources": source.sample(sorted(found), len(found))} for name, found in items.items()]
        ran = [{"id": name, "exit_code": code} for name, code in commands.items()]
        return answer(items=source.sample(listed, len(listed)), commands=source.sample(ran, len(ran)))

    assert answers.digest(written()) == answers.digest(written())


def test_the_exact_items_and_sources_in_any_order_have_no_fault() -> None:
    assert answers.discovery_faults(answer(), {"one": [], "two": ["x", "y"]}) == []


def test_every_difference_from_what_is_required_is_named() -> None:
    assert answers.discovery_faults(answer(), {"two": ["x", "w"], "three": ["x"]}) == [
        "items-missing: three",
        "items-not-required: one",
        "sources-missing: two lacks w",
        "sources-not-required: two has y",
    ]


def test_claims_must_cite_and_only_what_was_delivered() -> None:
    assert answers.citation_faults(answer(), ["x", "y"]) == []
    given_answer = answer(claims=[{"text": "z", "sources": []}, {"text": "a", "sources": ["x", "v"]}])
    assert answers.citation_faults(given_answer, ["x"]) == [
        "claim-without-source: claim 1",
        "source-not-delivered: claim 2 cites v",
        "source-not-delivered: item two has y",
    ]


def test_precision_and_recall_come_from_counts() -> None:
    found = answers.overlap(["a", "b", "b", "c"], ["b", "c", "d", "e"])
    assert found == (2, 3, 4)
    assert not found.is_exact
    assert answers.overlap(["a"], ["a", "a"]).is_exact


def test_a_binding_names_every_member_that_differs_and_compares_sources_as_a_set() -> None:
    binding = {"request_sha256": "r", "rubric_sha256": None, "source_ids": ["a", "b"]}
    assert assessments.broken_bindings({**binding, "source_ids": ["b", "a"], "more": 1}, binding) == []
    assert assessments.broken_bindings({"request_sha256": "s", "rubric_sha256": "x", "source_ids": ["a"]}, binding) == [
        "request_sha256",
        "rubric_sha256",
        "source_ids",
    ]
