"""Typed values say exactly what their documents say, in the contract's member order."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from msgspec import UNSET

from repocue.contracts import canonical, reader, schemas
from repocue.contracts.types import answer, assessment, cache, observation, report, task
from repocue.errors import ContractError
from tests.contracts import documents, made

TYPES: list[tuple[str, str | None, Any]] = [
    ("repocue/benchmark-answer-2", None, answer.BenchmarkAnswer),
    ("repocue/qualitative-assessment-2", None, answer.QualitativeAssessment),
    ("repocue/evaluation-runner-3", None, observation.Observation),
    ("repocue/evaluation-runner-4", None, observation.Observation),
    ("repocue/evaluation-4", "m2-condition", report.ConditionReport),
    ("repocue/task-context-1", None, task.TaskContext),
    ("repocue/task-1", None, task.Task),
    ("repocue/task-benchmark-1", None, task.TaskBenchmark),
    ("repocue/task-policy-1", None, task.TaskPolicy),
    ("repocue/task-answer-1", None, task.TaskAnswer),
    ("repocue/task-runner-1", None, task.TaskObservation),
    ("repocue/task-evaluation-1", "assessment-bundle", assessment.TaskAssessmentBundle),
    ("repocue/cache-evaluation-1", "assessment-bundle", assessment.CacheAssessmentBundle),
    ("repocue/cache-benchmark-1", None, cache.CacheBenchmark),
    ("repocue/cache-request-1", None, cache.CacheRequest),
    ("repocue/cache-observation-1", None, cache.CacheObservation),
    ("repocue/cache-answer-1", None, cache.CacheAnswer),
]


@pytest.mark.parametrize(("contract", "kind", "type_"), TYPES)
def test_a_typed_value_loses_and_adds_nothing(contract: str, kind: str | None, type_: Any) -> None:
    @settings(max_examples=15)
    @given(made.documents_of(contract, kind))
    def law(document: documents.Document) -> None:
        text = canonical.compact(reader.convert(document, type_))
        assert json.loads(text) == document
        assert members(json.loads(text), contract, kind)

    law()


def members(document: documents.Document, contract: str, kind: str | None) -> bool:
    """Whether the members stand in the schema's order, in the root and in what it refers to."""
    schema = schemas.for_kind(contract, kind)

    def ordered(value: Any, part: dict[str, Any]) -> bool:
        while "$ref" in part:
            part = schema["$defs"][part["$ref"].removeprefix("#/$defs/")]
        if value is not None and "anyOf" in part:
            part = part["anyOf"][0]
            return ordered(value, part)
        if isinstance(value, dict):
            order = [name for name in part["properties"] if name in value]
            return list(value) == order and all(ordered(value[name], part["properties"][name]) for name in value)
        return not isinstance(value, list) or all(ordered(item, part["items"]) for item in value)

    return ordered(document, schema)


@pytest.mark.parametrize(("contract", "kind", "type_"), TYPES)
def test_a_typed_value_takes_no_unknown_member(contract: str, kind: str | None, type_: Any) -> None:
    made_by_hand = [make() for make in documents.ALL.values()]
    sample = next(d for d in made_by_hand if d["schema_version"] == contract and kind in (None, d.get("kind")))
    with pytest.raises(ContractError, match="unknown"):
        reader.convert({**sample, "unknown_member": 1}, type_)


def test_absent_and_null_counters_stay_apart() -> None:
    value = reader.convert(documents.unknown_observation(), observation.Observation)
    assert value.usage_events[0].cached_input_tokens is None
    assert value.usage_events[1].cached_input_tokens is UNSET
    assert value.metrics.total_tokens is None
    assert value.metrics.input_tokens is UNSET
