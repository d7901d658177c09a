"""Kinds of fault that users reported of counts of an agent's tokens, tried on captured streams of real agents."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from repocue.runners.claude.events import read_stream as read_claude
from repocue.runners.codex.events import read_stream as read_codex
from repocue.runners.jsonl import StreamError
from repocue.runners.usage import totals

CASES = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "cases")


def captured(name: str) -> bytes:
    with open(os.path.join(CASES, name), "rb") as file:
        return file.read()


def messages(data: bytes) -> list[Any]:
    """The messages of the assistant's records, in their order."""
    events = [json.loads(line) for line in data.splitlines()]
    return [event["message"] for event in events if event["type"] == "assistant"]


def test_output_is_not_that_of_the_first_record_of_a_streamed_message() -> None:
    data = captured("claude-jsonl/ok.jsonl")
    first = {message["id"]: message["usage"]["output_tokens"] for message in reversed(messages(data))}
    assert list(first.values()) == [1, 1]  # each record tells what its message began with
    assert totals(read_claude(data).usage)["output_tokens"] == 37  # the provider sent this in the end


def test_records_that_repeat_a_message_are_counted_once() -> None:
    data = captured("claude-jsonl/ok.jsonl")
    assert [message["id"] for message in messages(data)] == ["msg_0002", "msg_0002", "msg_0003"]
    # msg_0002: 100 plain, 2000 written; msg_0003: 150 plain, 50 written, 2000 read
    assert totals(read_claude(data).usage)["input_tokens"] == (100 + 2000) + (150 + 50 + 2000)


def test_the_tokens_of_a_sub_agent_are_counted_once() -> None:
    data = captured("claude-jsonl/subagent.jsonl")
    read = read_claude(data)
    # the session's own requests: 1000 and 150 + 50 + 2000; the sub-agent's: 70000 in, 700 out
    assert totals(read.usage)["input_tokens"] == 1000 + (150 + 50 + 2000) + 70_000
    assert totals(read.usage)["output_tokens"] == 13 + 700
    assert "sub-agents" in [finding.category for finding in read.findings]


def test_a_replayed_stream_is_refused() -> None:
    data = captured("codex-jsonl/ok.jsonl")
    assert totals(read_codex(data).usage)["input_tokens"] == 3700
    with pytest.raises(StreamError):
        read_codex(data + data)
    with pytest.raises(StreamError):
        read_codex(data + data.splitlines(keepends=True)[-1])


def test_cached_input_that_is_a_part_of_input_is_not_added_again() -> None:
    last = json.loads(captured("codex-jsonl/ok.jsonl").splitlines()[-1])["usage"]
    assert (last["input_tokens"], last["cached_input_tokens"], last["output_tokens"]) == (3700, 2000, 120)
    assert totals(read_codex(captured("codex-jsonl/ok.jsonl")).usage)["total_tokens"] == 3700 + 120
