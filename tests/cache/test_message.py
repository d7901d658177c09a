"""Responses are read strictly where it matters and may say more than is known."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.errors import ContractError
from repocue.evaluation.cache import message
from repocue.evaluation.cache.message import Message, price_changes
from tests.cache import samples


def read(document: Any) -> Message:
    return message.read(json.dumps(document).encode(), max_bytes=1 << 22, max_depth=64)


def test_a_text_answer_is_read_with_model_stop_reason_and_usage() -> None:
    found = read(samples.message("{}"))
    assert (found.model, found.stop_reason, found.blocks, found.text) == (
        "claude-sonnet-5-5",
        "end_turn",
        ("text",),
        "{}",
    )
    assert found.usage == samples.usage()


def test_extension_members_pass_everywhere() -> None:
    document = samples.message("{}", future={"x": [1.5, None]}, usage=samples.usage(future=3, more={"deep": [1]}))
    document["content"][0]["future"] = 1
    assert read(document).text == "{}"
    assert price_changes(read(document), model="claude-sonnet-5-5") == []


@pytest.mark.parametrize(
    ("content", "blocks"),
    [
        ([], ()),
        (
            [{"type": "thinking", "thinking": "…", "signature": "x"}, {"type": "text", "text": "{}"}],
            ("thinking", "text"),
        ),
        ([{"type": "text", "text": "{"}, {"type": "text", "text": "}"}], ("text", "text")),
        ([{"type": "tool_use", "id": "t", "name": "x", "input": {}}], ("tool_use",)),
    ],
)
def test_an_answer_that_is_not_one_text_has_no_text_and_keeps_its_usage(content: Any, blocks: tuple[str, ...]) -> None:
    found = read(samples.message(content=content))
    assert (found.blocks, found.text) == (blocks, None)
    assert found.usage == samples.usage()


GOOD = json.dumps(samples.message("{}"))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"<html></html>",
        GOOD.encode() + b"{}",
        GOOD.encode()[:-1],
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.encode("utf-16"),
        GOOD.replace('"end_turn"', '"\xe9"').encode("latin-1"),
        GOOD.replace('"end_turn"', "NaN").encode(),
        GOOD.replace('"end_turn"', "1e999").encode(),
        GOOD.replace('"end_turn"', str(2**60)).encode(),
        GOOD.replace('"end_turn"', '"\\ud800"').encode(),
        GOOD.replace('"id"', '"type":"message","id"').encode(),
        GOOD.replace('"input_tokens": 1200', '"input_tokens": 1200, "input_tokens": 1200').encode(),
        GOOD.replace('"id": "msg_01"', '"id": ' + "[" * 40_000).encode(),
        GOOD.replace('"id": "msg_01"', '"id": ' + "[" * 64 + "]" * 64).encode(),
        ("[" * 40_000 + "]" * 40_000).encode(),
        ('{"a":' * 40_000).encode(),
    ],
    ids=lambda body: body[:12].decode("latin-1") + f"-{len(body)}",
)
def test_what_is_no_json_or_is_unsafe_is_one_contract_error(body: bytes) -> None:
    with pytest.raises(ContractError):
        message.read(body, max_bytes=1 << 22, max_depth=64)


def test_size_and_depth_are_bounded_exactly() -> None:
    body = GOOD.encode()
    assert message.read(body, max_bytes=len(body), max_depth=3).text == "{}"
    with pytest.raises(ContractError):
        message.read(body, max_bytes=len(body) - 1, max_depth=3)
    with pytest.raises(ContractError):
        message.read(body, max_bytes=len(body), max_depth=2)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"type": "error"}, "/type"),
        ({"role": "user"}, "/role"),
        ({"content": "text"}, "/content"),
        ({"content": ["text"]}, "/content/0"),
        ({"content": [{"text": "x"}]}, "/content/0"),
        ({"content": [{"type": "text", "text": 5}]}, "/content/0/text"),
        ({"usage": []}, "/usage"),
        ({"model": 5}, "/model"),
        ({"stop_reason": ["end_turn"]}, "/stop_reason"),
    ],
)
def test_what_is_no_message_is_refused_with_its_pointer(change: dict[str, Any], pointer: str) -> None:
    with pytest.raises(ContractError) as caught:
        read(samples.message("{}", **change))
    assert caught.value.pointer == pointer


def changes(model: str = "claude-sonnet-5-5", usage: dict[str, Any] | None = None, **more: Any) -> list[str]:
    document = samples.message("{}", usage=samples.usage(**(usage or {})), **more)
    return [change.partition(":")[0] for change in price_changes(read(document), model=model)]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"service_tier": "batch"}, ["service-tier"]),
        ({"service_tier": "priority"}, ["service-tier"]),
        ({"service_tier": 1}, ["service-tier"]),
        ({"speed": "fast"}, ["speed"]),
        ({"inference_geo": "us"}, ["inference-geo"]),
        ({"server_tool_use": {"web_search_requests": 1, "web_fetch_requests": 0}}, ["server-tools"]),
        ({"server_tool_use": [1]}, ["server-tools"]),
        ({"iterations": [{"type": "message"}, {"type": "compaction", "input_tokens": 5}]}, ["iterations"]),
        ({"iterations": {}}, ["iterations"]),
        ({"fallback_credit": {"x": 1}}, ["fallback-credit"]),
        ({"service_tier": "batch", "speed": "fast"}, ["service-tier", "speed"]),
        # and what changes nothing
        ({"service_tier": None, "speed": None, "inference_geo": None}, []),
        ({"speed": "standard", "inference_geo": "not_available"}, []),
        ({"server_tool_use": {"web_search_requests": 0, "web_fetch_requests": None}}, []),
        ({"iterations": [{"type": "message", "input_tokens": 1200}]}, []),
        ({"iterations": None, "fallback_credit": None}, []),
    ],
)
def test_what_changes_the_price_beyond_the_rates_is_named(usage: dict[str, Any], expected: list[str]) -> None:
    assert changes(usage=usage) == expected


def test_another_model_a_container_and_tool_blocks_change_the_price() -> None:
    assert changes(model="claude-sonnet-4-6") == ["model-mismatch"]
    assert changes(model_="x") == []
    assert changes(container={"id": "c"}) == ["server-tools"]
    assert changes(content=[{"type": "server_tool_use"}]) == ["server-tools"]
    assert changes(content=[{"type": "thinking"}, {"type": "text", "text": "x"}]) == []


def test_the_official_sdks_model_of_a_response_accepts_what_these_tests_call_good() -> None:
    types = pytest.importorskip("anthropic.types")
    for document in (
        samples.message(),
        samples.message(usage=samples.usage(cache_creation=None, output_tokens_details=None)),
        samples.message(
            content=[{"type": "thinking", "thinking": "x", "signature": "y"}, {"type": "text", "text": "z"}]
        ),
        samples.message(stop_reason="refusal"),
    ):
        theirs = types.Message.model_validate(document, strict=True)
        ours = read(document)
        assert (theirs.model, theirs.stop_reason) == (ours.model, ours.stop_reason)
        assert tuple(block.type for block in theirs.content) == ours.blocks
        assert ours.usage is not None
        assert theirs.usage.input_tokens == ours.usage["input_tokens"]


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_without_another_error(body: bytes) -> None:
    with suppress(ContractError):
        message.read(body, max_bytes=1000, max_depth=64)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(name=st.sampled_from(sorted(samples.message())), value=JSON)
def test_any_member_replaced_by_any_json_is_read_or_refused_without_another_error(name: str, value: Any) -> None:
    try:
        found = read(samples.message("{}", **{name: value}))
    except ContractError:
        return
    price_changes(found, model="claude-sonnet-5-5")
