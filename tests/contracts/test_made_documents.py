"""Law: a document that satisfies its schema and its runtime rules is accepted and read as it was written; and a
single change to it is one clear error or none, never a traceback.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repocue.contracts import reader, schemas
from repocue.errors import ContractError
from tests.contracts import documents, made
from tests.contracts.documents import text_of
from tests.contracts.mutations import mutations

TODAY = reader.Context(today="2026-11-30")

CASES = sorted(
    {
        (document["schema_version"], document.get("kind") if schemas.kinds(document["schema_version"]) else None)
        for document in (make() for make in documents.ALL.values())
    },
    key=str,
)


@pytest.mark.parametrize(("contract", "kind"), CASES)
def test_a_made_document_is_accepted_and_kept_as_it_is(contract: str, kind: str | None) -> None:
    @settings(max_examples=25)
    @given(made.documents_of(contract, kind))
    def law(document: documents.Document) -> None:
        assert reader.read(text_of(document), contract=contract, kind=kind, context=TODAY) == document

    law()


@pytest.mark.deep
@pytest.mark.parametrize(("contract", "kind"), CASES)
def test_many_made_documents_are_accepted(contract: str, kind: str | None) -> None:
    @settings(max_examples=400)
    @given(made.documents_of(contract, kind))
    def law(document: documents.Document) -> None:
        assert reader.read(text_of(document), contract=contract, kind=kind, context=TODAY) == document

    law()


UNMISTAKABLE = frozenset({
    "byte-order-mark", "trailing-value", "cut", "deep-nesting", "invalid-utf-8", "half-a-surrogate-pair",
    "control-character", "member-duplicated", "two-to-the-53", "thousands-of-digits", "nan", "infinite",
    "huge-exponent", "tiny-exponent", "leading-zero", "member-renamed", "a-boolean", "an-array-of-it", "nothing",
    "utf-16",
})  # fmt: skip
"""Mutations that no value of any contract survives, save those listed as harmless elsewhere."""


@pytest.mark.parametrize("contract", ["repocue/evaluation-runner-3", "repocue/evaluation-runner-4"])
def test_a_mutated_made_document_is_refused_without_a_traceback(contract: str) -> None:
    @settings(max_examples=15)
    @given(made.documents_of(contract), st.randoms(use_true_random=False))
    def law(document: documents.Document, random: Random) -> None:
        changes = list(mutations(document))
        for mutation in random.sample(changes, min(20, len(changes))):
            try:
                reader.read(mutation.data, contract=contract)
            except ContractError:
                continue
            assert mutation.name not in UNMISTAKABLE

    law()
