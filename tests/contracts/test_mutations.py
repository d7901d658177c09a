"""Each single mutation of a valid document is refused: one clear error, never a traceback, never silence."""

from __future__ import annotations

import pytest

from repocue.contracts import reader
from repocue.errors import ContractError
from tests.contracts import documents
from tests.contracts.mutations import is_harmless, mutations

TODAY = reader.Context(today="2026-11-30")


def refusal(data: bytes) -> str | None:
    """The message with which `data` is refused, or None. Anything but a ContractError fails the test."""
    try:
        reader.read(data, contract=None, context=TODAY)
    except ContractError as error:
        return error.message
    return None


@pytest.mark.parametrize("name", documents.ALL)
def test_every_single_mutation_is_refused(name: str) -> None:
    accepted = []
    for mutation in mutations(documents.ALL[name]()):
        message = refusal(mutation.data)
        if message is None:
            if not is_harmless(name, mutation):
                accepted.append((mutation.name, mutation.pointer))
        else:
            assert message.isprintable()
            assert len(message) < 1000
    assert not accepted


@pytest.mark.parametrize("name", documents.ALL)
def test_a_mutation_called_harmless_is_accepted(name: str) -> None:
    for mutation in mutations(documents.ALL[name]()):
        if is_harmless(name, mutation):
            assert refusal(mutation.data) is None
