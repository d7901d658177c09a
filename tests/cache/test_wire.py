"""The exact bytes of requests, for every profile and lifetime."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.contracts import reader
from repocue.contracts.registry import Context
from repocue.contracts.schemas import for_provider
from repocue.contracts.types.cache import CacheBenchmark, Step
from repocue.evaluation.cache import wire
from repocue.evaluation.cache.profiles import PROFILES
from tests.cache import samples

SCHEMA = for_provider("repocue/cache-answer-1")


def typed(document: dict[str, Any]) -> CacheBenchmark:
    reader.check(document, contract="repocue/cache-benchmark-1", context=Context(today="2026-11-30"))
    return reader.convert(document, CacheBenchmark)


def bodies(document: dict[str, Any], cue: dict[str, Any] | None = None) -> dict[str, bytes]:
    benchmark = typed(document)
    return {step.id: wire.body(benchmark, SCHEMA, cue or samples.cue(), step) for step in benchmark.steps}


def identity(document: dict[str, Any], cue: dict[str, Any] | None = None, schema: Any = SCHEMA) -> str:
    return wire.reusable_identity(typed(document), schema, cue or samples.cue())


def test_the_sample_cue_of_these_tests_keeps_its_contract() -> None:
    reader.read(samples.encoded(samples.cue()), contract="repocue/task-cue-1")


def test_a_request_is_these_bytes() -> None:
    """Written out with the standard library's JSON from the sample's own parts."""
    cue = samples.cue()
    compact = {"ensure_ascii": False, "separators": (",", ":")}
    first = json.dumps({name: cue[name] for name in ("declaration", "items", "blocks", "sources")}, **compact)
    second = json.dumps(
        {
            "prompt": {"id": "b", "text": "List the items, “again”."},
            "task": cue["task"],
            "repository": cue["repository"],
            "snapshot": "snapshot-000001",
            "basis": cue["basis"],
            "freshness": "current",
            "budget": cue["budget"],
            "warnings": [],
        },
        **compact,
    )
    expected = {
        "model": "claude-sonnet-5-5",
        "max_tokens": 2048,
        "thinking": {"type": "between_tools"},
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}, "effort": "high"},
        "system": "Answer for the benchmark sample from the sources alone.",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": first, "cache_control": {"type": "ephemeral", "ttl": "5m"}},
                    {"type": "text", "text": second},
                ],
            }
        ],
    }
    assert bodies(samples.benchmark())["cache-b"] == json.dumps(expected, **compact).encode()


def test_every_source_stands_in_the_request_once_with_its_bytes_unchanged() -> None:
    content = json.loads(bodies(samples.benchmark())["baseline-a"])["messages"][0]["content"]
    blocks = json.loads(content[0]["text"])["blocks"]
    assert [block["text"] for block in blocks] == [
        samples.README,
        "import sys\n",
        "def main():\n    print(len(sys.argv))\n",
    ]
    assert samples.README not in content[1]["text"]


def test_arms_differ_in_cache_control_and_in_nothing_else() -> None:
    found = bodies(samples.benchmark())
    for prompt in ("a", "b"):
        with_control = json.loads(found[f"cache-{prompt}"])
        assert with_control["messages"][0]["content"][0].pop("cache_control") == {"type": "ephemeral", "ttl": "5m"}
        assert with_control == json.loads(found[f"baseline-{prompt}"])
        assert (
            found[f"cache-{prompt}"].replace(b',"cache_control":{"type":"ephemeral","ttl":"5m"}', b"")
            == (found[f"baseline-{prompt}"])
        )


def test_probes_ask_for_caching_as_cache_steps_do() -> None:
    steps = [*samples.benchmark()["steps"], {"id": "probe-1", "arm": "probe", "cycle": None, "prompt": "a"}]
    found = bodies(samples.benchmark(steps=steps))
    assert found["probe-1"] == found["cache-a"]


def test_the_shared_prefix_of_two_cache_steps_ends_after_the_first_block() -> None:
    found = bodies(samples.benchmark())
    first, second = found["cache-a"], found["cache-b"]
    shared = next(position for position, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1])
    assert first[:shared].endswith(
        b',"cache_control":{"type":"ephemeral","ttl":"5m"}},{"type":"text","text":"{\\"prompt\\":{\\"id\\":\\"'
    )


@pytest.mark.parametrize("model", samples.MODELS)
def test_only_sonnet_5_5_fixes_thinking_and_effort(model: str) -> None:
    request = json.loads(bodies(samples.benchmark(model=model))["cache-a"])
    if model == "claude-sonnet-5-5":
        assert request["thinking"] == {"type": "between_tools"}
        assert request["output_config"]["effort"] == "high"
    else:
        assert "thinking" not in request
        assert set(request["output_config"]) == {"format"}
    assert set(request) - {"thinking"} == {"model", "max_tokens", "output_config", "system", "messages"}


def test_the_profiles_are_the_seven_of_the_specification_and_the_schemas_list() -> None:
    from repocue.contracts.schemas import source

    assert tuple(PROFILES) == samples.MODELS
    assert source("repocue/cache-benchmark-1")["properties"]["model"]["enum"] == list(samples.MODELS)


@pytest.fixture(scope="module")
def sdk_accepts() -> Any:
    """The official SDK's own request type; lazily validated parts are drained, unknown members are an inequality."""
    pytest.importorskip("anthropic")
    import pydantic
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    adapter = pydantic.TypeAdapter(MessageCreateParamsNonStreaming)

    def drain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: drain(part) for key, part in value.items()}
        return value if isinstance(value, str | int | float | type(None)) else [drain(part) for part in value]

    def accepts(body: bytes) -> bool:
        request = json.loads(body)
        if set(request) - set(MessageCreateParamsNonStreaming.__annotations__):
            return False
        try:
            return bool(drain(adapter.validate_python(request)) == request)
        except pydantic.ValidationError:
            return False

    return accepts


@pytest.mark.parametrize("ttl", ["5m", "1h"])
@pytest.mark.parametrize("model", samples.MODELS)
def test_the_official_sdks_types_accept_every_request(model: str, ttl: str, sdk_accepts: Any) -> None:
    for body in bodies(samples.benchmark(model=model, ttl=ttl)).values():
        assert sdk_accepts(body)


def test_the_sdks_types_do_refuse_requests_that_are_wrong(sdk_accepts: Any) -> None:
    body = bodies(samples.benchmark())["cache-a"]
    for old, new in ((b'"5m"', b'"2h"'), (b'"high"', b'"extreme"'), (b'"system"', b'"sistem"'), (b'"ttl"', b'"tll"')):
        assert old in body
        assert not sdk_accepts(body.replace(old, new))


def test_the_answers_schema_is_inside_what_the_sdk_would_send_unchanged() -> None:
    """The SDK rewrites a schema into the provider's subset; ours has nothing to rewrite."""
    parse = pytest.importorskip("anthropic.lib._parse._transform")
    typeless = json.loads(json.dumps(SCHEMA))
    typeless["properties"]["schema_version"].pop("type")  # the SDK leaves a type out beside an enum
    assert parse.transform_schema(SCHEMA) == typeless
    text = json.dumps(SCHEMA)
    for word in ("$ref", "$schema", "$id", "oneOf", "minLength", "maximum", "pattern", "description"):
        assert word not in text


def test_the_identity_survives_task_and_git_changes_and_neither_arm_matters() -> None:
    known = identity(samples.benchmark())
    other_task = {"id": "other", "kind": "explanation", "question": "Why?"}
    moved = samples.cue(
        task=other_task,
        repository=samples.cue()["repository"] | {"head": "2" * 40, "branch": None, "dirty": True},
        snapshot="snapshot-000009",
        freshness="dirty-but-indexed",
        basis=samples.cue()["basis"] | {"observed_at": "2026-12-01T00:00:00.000Z"},
        warnings=[{"code": "untracked", "count": 3}],
    )
    assert identity(samples.benchmark(), moved) == known
    assert identity(samples.benchmark(id="other", rubric="r", rates=None, max_context_tokens=9999)) == known
    assert identity(samples.benchmark(prompts=[{"id": "a", "text": "x"}, {"id": "b", "text": "y"}])) == known


@pytest.mark.parametrize(
    "change",
    [
        {"model": "claude-opus-4-7"},
        {"ttl": "1h"},
        {"system": "Otherwise."},
        {"max_output_tokens": 2049},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_identity_changes_with_each_setting(change: dict[str, Any]) -> None:
    assert identity(samples.benchmark(**change)) != identity(samples.benchmark())


def test_the_identity_changes_with_content_selection_schema_thinking_and_effort(monkeypatch: Any) -> None:
    known = identity(samples.benchmark())
    cue = samples.cue()
    cue["blocks"][0]["text"] += "x"
    assert identity(samples.benchmark(), cue) != known
    cue = samples.cue()
    cue["items"][0]["summary"] = "Otherwise."
    assert identity(samples.benchmark(), cue) != known
    cue = samples.cue()
    cue["declaration"]["sha256"] = samples.digest("other")
    assert identity(samples.benchmark(), cue) != known
    assert identity(samples.benchmark(), schema=SCHEMA | {"title": "x"}) != known
    from repocue.evaluation.cache.profiles import Profile

    for profile in (Profile(effort="high"), Profile(thinking="between_tools"), Profile(thinking="x", effort="high")):
        monkeypatch.setitem(PROFILES, "claude-sonnet-5-5", profile)
        assert identity(samples.benchmark()) != known


def test_an_older_models_identity_has_no_trace_of_thinking_and_effort() -> None:
    """Written out: the digest of exactly these parts, so that it stays what it was."""
    cue = samples.cue()
    parts = {
        "model": "claude-opus-4-6",
        "api_version": "2023-06-01",
        "ttl": "5m",
        "system": "Answer for the benchmark sample from the sources alone.",
        "output_schema": SCHEMA,
        "max_output_tokens": 2048,
        "first_block": samples.encoded(
            {name: cue[name] for name in ("declaration", "items", "blocks", "sources")}
        ).decode()[:-1],
    }
    assert identity(samples.benchmark(model="claude-opus-4-6")) == samples.digest(samples.encoded(parts)[:-1])


def test_the_record_beside_a_body_keeps_its_contract() -> None:
    step = Step(id="cache-a", arm="cache", cycle=1, prompt="a")
    document = wire.record(step, b"x" * 41, samples.digest("identity"))
    assert reader.read(samples.encoded(document), contract="repocue/cache-request-1") == document
    assert (document["body_bytes"], document["estimated_tokens"]) == (41, 11)
    assert document["body_sha256"] == samples.digest("x" * 41)


@given(text=st.text(st.characters(codec="utf-8"), min_size=1, max_size=30))
def test_any_text_of_prompt_system_and_sources_arrives_unchanged(text: str) -> None:
    cue = samples.cue()
    cue["blocks"][0]["text"] = text
    document = samples.benchmark(system=text, prompts=[{"id": "a", "text": text}, {"id": "b", "text": text}])
    request = json.loads(bodies(document, cue)["cache-a"])
    content = request["messages"][0]["content"]
    assert request["system"] == text
    assert json.loads(content[0]["text"])["blocks"][0]["text"] == text
    assert json.loads(content[1]["text"])["prompt"]["text"] == text
