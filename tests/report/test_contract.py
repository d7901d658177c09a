"""Every report keeps its contract, member for member in the contract's order."""

from __future__ import annotations

from typing import Any

import pytest

from repocue.contracts import reader, schemas
from tests.report import made


@pytest.mark.parametrize("name", made.ALL)
def test_a_report_keeps_its_contract(name: str) -> None:
    reader.check(made.ALL[name](), contract="repocue/report-1")


def ordered(value: Any, schema: dict[str, Any], definitions: dict[str, Any]) -> None:
    """Assert that the members of every object stand in the schema's order."""
    while "$ref" in schema:
        schema = definitions[schema["$ref"].removeprefix("#/$defs/")]
    if isinstance(value, dict):
        branches = [schema, *schema.get("anyOf", [])]
        resolved = [definitions[one["$ref"].removeprefix("#/$defs/")] if "$ref" in one else one for one in branches]
        (found,) = [one for one in resolved if "properties" in one]
        assert list(value) == list(found["properties"])
        for name, part in value.items():
            ordered(part, found["properties"][name], definitions)
    elif isinstance(value, list):
        for part in value:
            ordered(part, schema["items"], definitions)


@pytest.mark.parametrize("name", made.ALL)
def test_its_members_stand_in_the_contracts_order(name: str) -> None:
    schema = schemas.joined("repocue/report-1")
    ordered(made.ALL[name](), schema, schema["$defs"])
