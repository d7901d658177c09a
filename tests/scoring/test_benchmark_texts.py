"""The packaged benchmark: its text, its answer schema and the instruction of the assisted conditions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import jsonschema_rs
import pytest

from repocue.contracts import schemas
from repocue.scoring.assessment import SCORES
from tests.scoring.answers import answer

DATA = files("repocue") / "data"
SCHEMA: dict[str, Any] = json.loads((DATA / "benchmarks" / "benchmark-answer-2.schema.json").read_bytes())
TEXT = (DATA / "benchmarks" / "repository-state-v2.txt").read_text(encoding="utf-8")
INSTRUCTION = (DATA / "prompts" / "assisted-instruction.txt").read_text(encoding="utf-8")


def parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for member in schema.get("properties", {}).values():
        yield from parts(member)
    if "items" in schema:
        yield from parts(schema["items"])


def test_the_answer_schema_for_agents_asks_for_what_the_contract_does() -> None:
    contract = dict(schemas.source("repocue/benchmark-answer-2"))
    for annotation in ("$schema", "$id", "title", "description"):
        del contract[annotation]
    assert contract == SCHEMA


def test_the_answer_schema_stays_inside_what_providers_accept() -> None:
    unions = 0
    for part in parts(SCHEMA):
        assert set(part) <= {"type", "properties", "required", "additionalProperties", "items", "enum", "description"}
        unions += isinstance(part["type"], list)
        if part["type"] == "object":
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
    assert unions <= 16


def test_a_whole_answer_satisfies_it_and_one_without_a_member_does_not() -> None:
    check = jsonschema_rs.Draft202012Validator(SCHEMA).is_valid
    assert check(answer())
    for name in answer():
        assert not check({key: value for key, value in answer().items() if key != name})
    assert not check({**answer(), "more": 1})


def test_the_benchmark_text_explains_every_member_of_the_answer() -> None:
    for name in (*SCHEMA["properties"], *SCHEMA["properties"]["git"]["properties"]):
        assert f"- {name}:" in TEXT, name
    assert TEXT.startswith("Benchmark repository-state-v2\n")
    for word in ("repocue/benchmark-answer-2", "null", "empty array", "Change nothing"):
        assert word in TEXT


def test_the_guide_for_assessors_names_every_score() -> None:
    guide = (DATA / "benchmarks" / "assessment-guide.txt").read_text(encoding="utf-8")
    for name in SCORES:
        assert f"- {name}:" in guide


@pytest.mark.parametrize("text", [TEXT, INSTRUCTION])
def test_no_text_given_to_agents_discourages_reading_or_names_the_product(text: str) -> None:
    lowered = text.lower().replace("repocue/benchmark-answer-2", "")
    for word in (
        "repocue",
        "avoid",
        "token",
        "cheap",
        "cost",
        "do not read",
        "do not inspect",
        "only use",
        "instead of",
    ):
        assert word not in lowered, word


def test_the_instruction_is_one_line_that_puts_context_first_and_allows_every_reading() -> None:
    assert INSTRUCTION.endswith("\n")
    assert INSTRUCTION.count("\n") == 1
    for word in ("first", "incomplete", "uncertain", "insufficient", "Inspect the repository"):
        assert word in INSTRUCTION
