"""Documents kept for ever: accepted ones, and refused ones beside the message they must give.

Written anew only with REPOCUE_REMAKE_GOLDEN=contracts in the environment; then the difference is read before it is
committed.
"""

from __future__ import annotations

import os

import pytest

from repocue.contracts import reader
from repocue.errors import ContractError
from tests.contracts import documents
from tests.contracts.refusals import REFUSALS, Refusal

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "golden", "contracts")
REMAKE = os.environ.get("REPOCUE_REMAKE_GOLDEN") == "contracts"
TODAY = reader.Context(today="2026-11-30")


def golden(path: str, made: bytes) -> bytes:
    """The bytes kept at `path`, after writing them if that was asked for by name."""
    where = os.path.join(FOLDER, path)
    if REMAKE:
        os.makedirs(os.path.dirname(where), exist_ok=True)
        with open(where, "wb") as file:
            file.write(made)
    with open(where, "rb") as file:
        return file.read()


@pytest.mark.parametrize("name", documents.ALL)
def test_a_golden_document_is_accepted(name: str) -> None:
    made = documents.text_of(documents.ALL[name]())
    kept = golden(f"accepted/{name}.json", made)
    assert kept == made
    assert reader.read(kept, contract=None, context=TODAY) == documents.ALL[name]()


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: f"{refusal.base}-{refusal.name}")
def test_a_golden_document_is_refused_with_its_message(refusal: Refusal) -> None:
    document = documents.ALL[refusal.base]()
    refusal.change(document)
    folder = f"refused/{refusal.base}"
    kept = golden(f"{folder}/{refusal.name}.json", documents.text_of(document))
    assert kept == documents.text_of(document)
    with pytest.raises(ContractError) as caught:
        reader.read(kept, contract=None, context=TODAY)
    assert caught.value.pointer == refusal.pointer
    message = f"{caught.value.message}\n".encode()
    assert golden(f"{folder}/{refusal.name}.message", message) == message


def test_no_golden_file_is_left_over() -> None:
    expected = {f"accepted/{name}.json" for name in documents.ALL}
    for refusal in REFUSALS:
        expected |= {f"refused/{refusal.base}/{refusal.name}{ending}" for ending in (".json", ".message")}
    found = {
        os.path.relpath(os.path.join(folder, name), FOLDER) for folder, _, names in os.walk(FOLDER) for name in names
    }
    assert found == expected
