"""The packaged schemas themselves: valid, closed, documented, self-contained, and fit for providers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from repocue.contracts import pages, schemas
from tests.contracts import documents

CONTRACTS = schemas.contract_names()

OPEN = {("repocue/evaluation-3", "/properties/repository")}
"""Objects that are open on purpose: version 3 leaves this one so."""


def parts(value: Any, where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every subschema of a schema, with its place."""
    if not isinstance(value, dict):
        return
    yield where, value
    for holder in ("properties", "$defs"):
        for name, part in value.get(holder, {}).items():
            yield from parts(part, f"{where}/{holder}/{name}")
    for holder in ("anyOf", "oneOf", "allOf"):
        for number, part in enumerate(value.get(holder, [])):
            yield from parts(part, f"{where}/{holder}/{number}")
    yield from parts(value.get("items"), where + "/items")


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_schema_is_a_valid_schema_of_its_dialect_and_fetches_nothing(contract: str) -> None:
    schema = schemas.source(contract)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == "urn:repocue:schema:" + schemas.stem(contract)
    assert schema["title"]
    assert schema["description"]
    joined = schemas.joined(contract)
    assert jsonschema_rs.meta.is_valid(joined)
    jsonschema_rs.Draft202012Validator(joined, validate_formats=True, ignore_unknown_formats=False, offline=True)
    references = [part["$ref"] for _, part in parts(joined) if "$ref" in part]
    assert all(name.startswith("#/$defs/") and name.removeprefix("#/$defs/") in joined["$defs"] for name in references)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_object_is_closed_and_names_its_members(contract: str) -> None:
    for where, part in parts(schemas.source(contract)):
        types = part.get("type", [])
        if types == "object" or "object" in types:
            is_open = part.get("additionalProperties") is not False
            assert is_open == ((contract, where) in OPEN), where
            assert set(part.get("required", [])) <= set(part["properties"]), where


@pytest.mark.parametrize("contract", CONTRACTS)
def test_integers_are_bounded_and_every_member_is_described(contract: str) -> None:
    schema = schemas.source(contract)
    for where, part in parts(schema):
        types = part.get("type", [])
        if ("integer" in types or types == "integer") and contract not in PROVIDER:
            assert "const" in part or part["maximum"] <= 2**53 - 1, where
        for name, member in part.get("properties", {}).items():
            assert pages._meaning(member, schema.get("$defs", {})), f"{where}/properties/{name}"


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_document_begins_with_its_version_and_then_its_kind(contract: str) -> None:
    schema = schemas.joined(contract)
    kinds = schemas.kinds(contract)
    for part in [schema["$defs"][name] for name in kinds.values()] or [schema]:
        names = list(part["properties"])
        assert names[0] == "schema_version"
        version = part["properties"]["schema_version"]
        assert version.get("const", version.get("enum")) in (contract, [contract])
        if kinds:
            assert names[1] == "kind"


PROVIDER = ("repocue/task-answer-1", "repocue/cache-answer-1", "repocue/benchmark-answer-2")

_PROVIDER_KEYWORDS = {"type", "properties", "required", "additionalProperties", "items", "enum", "description"}


@pytest.mark.parametrize("contract", PROVIDER)
def test_an_answers_schema_stays_inside_what_providers_accept(contract: str) -> None:
    schema = schemas.for_provider(contract)
    unions = 0
    for where, part in parts(schema):
        assert set(part) <= _PROVIDER_KEYWORDS, where
        unions += isinstance(part.get("type"), list)
        if part.get("type") == "object":
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
    assert unions <= 16


@pytest.mark.parametrize("contract", ["repocue/task-answer-1", "repocue/cache-answer-1"])
def test_the_providers_own_library_leaves_an_answers_schema_as_it_is(contract: str) -> None:
    from anthropic.lib._parse._transform import transform_schema

    schema = schemas.for_provider(contract)
    untyped = {**schema, "properties": dict(schema["properties"])}
    version = untyped["properties"]["schema_version"]
    transformed = transform_schema(schema)
    # Its own habit: it drops the type beside an enum, which says the type already.
    transformed["properties"]["schema_version"]["type"] = version["type"]
    assert transformed == schema


@pytest.mark.parametrize("name", documents.ALL)
def test_another_validator_of_the_dialect_agrees_about_the_golden_documents(name: str) -> None:
    import jsonschema

    document = documents.ALL[name]()
    validator = jsonschema.Draft202012Validator(schemas.joined(document["schema_version"]))
    assert list(validator.iter_errors(document)) == []
    document["unknown_member"] = 1
    assert list(validator.iter_errors(document)) != []


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_contracts_page_shows_every_member(contract: str) -> None:
    page = pages.page(contract)
    schema = schemas.source(contract)
    names = {name for _, part in parts(schema) for name in part.get("properties", {})}
    rows = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    shown = {row.split(".")[-1] for row in rows}
    assert names == shown
    assert len(rows) == len(set(rows)) or schemas.kinds(contract)
    assert f"[`{contract}`]({schemas.stem(contract)}.md)" in pages.index()
    for line in page.splitlines():
        if line.startswith("|"):
            assert line.replace("\\|", "").count("|") == 5


def test_names_and_files_of_contracts_map_one_to_one() -> None:
    assert [schemas.contract_of(schemas.stem(name)) for name in CONTRACTS] == list(CONTRACTS)
    assert len({schemas.stem(name) for name in CONTRACTS}) == len(CONTRACTS)
