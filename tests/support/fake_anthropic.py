"""Answers of a Messages API, for a `scripted_provider` behind Claude Code."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

from tests.support.scripted_provider import Step, failure, sse

_numbers = itertools.count(1)


def usage(input_tokens: int, output_tokens: int, *, read: int = 0, written: int = 0) -> dict[str, int]:
    """Usage as the API sends it: its input excludes what was read from or written to the cache."""
    return {
        "input_tokens": input_tokens,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "output_tokens": output_tokens,
    }


def text(words: str) -> dict[str, Any]:
    """A content block: what the model says."""
    return {"type": "text", "text": words}


def tool(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """A content block: a tool the model wants used."""
    return {"type": "tool_use", "id": f"toolu_{next(_numbers)}", "name": name, "input": given}


def command(words: str) -> dict[str, Any]:
    """A shell command the model wants run."""
    return tool("Bash", {"command": words, "description": "look"})


def structured(value: dict[str, Any]) -> dict[str, Any]:
    """The structured answer, given through the tool that Claude Code adds for it."""
    return tool("StructuredOutput", value)


def answer(*blocks: dict[str, Any], used: dict[str, int] | None, model: str = "claude-sonnet-4-5") -> Step:
    """One whole streamed message with these blocks; `used` None sends no usage."""
    return Step(body=sse([*_begin(blocks, used, model), *_end(blocks, used)]))


def cut(*blocks: dict[str, Any], used: dict[str, int] | None, model: str = "claude-sonnet-4-5") -> Step:
    """A message whose connection breaks before its end."""
    return Step(body=sse(_begin(blocks, used, model)), is_cut=True)


def silence(*blocks: dict[str, Any], used: dict[str, int] | None, model: str = "claude-sonnet-4-5") -> Step:
    """A message that begins and then says nothing more."""
    return Step(body=sse(_begin(blocks, used, model)), is_silent=True)


def error(status: int, words: str, kind: str = "api_error", *headers: tuple[str, str]) -> Step:
    """An HTTP error."""
    return failure(status, {"type": "error", "error": {"type": kind, "message": words}}, *headers)


def _begin(blocks: Sequence[dict[str, Any]], used: dict[str, int] | None, model: str) -> list[tuple[str, Any]]:
    message: dict[str, Any] = {
        "id": f"msg_{next(_numbers)}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }
    if used is not None:
        message["usage"] = used | {"output_tokens": 1}
    events: list[tuple[str, Any]] = [("message_start", {"type": "message_start", "message": message})]
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            start, delta = block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = block | {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events += [
            ("content_block_start", {"type": "content_block_start", "index": index, "content_block": start}),
            ("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}),
            ("content_block_stop", {"type": "content_block_stop", "index": index}),
        ]
    return events


def _end(blocks: Sequence[dict[str, Any]], used: dict[str, int] | None) -> list[tuple[str, Any]]:
    reason = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
    delta: dict[str, Any] = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}}
    if used is not None:
        delta["usage"] = {"output_tokens": used["output_tokens"]}
    return [("message_delta", delta), ("message_stop", {"type": "message_stop"})]
