"""Answers of a Responses API, for a `scripted_provider` behind the Codex CLI."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

from tests.support.scripted_provider import Step, failure, sse

_numbers = itertools.count(1)
KEY_VARIABLE = "FAKE_PROVIDER_KEY"


def usage(
    input_tokens: int, output_tokens: int, *, cached: int | None = 0, reasoning: int | None = 0
) -> dict[str, Any]:
    """Usage as the API sends it; None leaves the details out."""
    made: dict[str, Any] = {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
    }
    if cached is not None:
        made["input_tokens_details"] = {"cached_tokens": cached}
    if reasoning is not None:
        made["output_tokens_details"] = {"reasoning_tokens": reasoning}
    return made


def message(text: str) -> dict[str, Any]:
    """An output item: what the model says."""
    return {
        "type": "message",
        "role": "assistant",
        "id": f"msg_{next(_numbers)}",
        "content": [{"type": "output_text", "text": text}],
    }


def command(text: str) -> dict[str, Any]:
    """An output item: a shell command the model wants run."""
    number = next(_numbers)
    return {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": "exec_command",
        "arguments": json.dumps({"cmd": text}),
    }


def answer(*items: dict[str, Any], used: dict[str, Any] | None = None) -> Step:
    """One whole streamed response with these output items; `used` None sends no usage."""
    return Step(body=_events(items) + _completed(used))


def cut(*items: dict[str, Any]) -> Step:
    """A response whose connection breaks before its end."""
    return Step(body=_events(items), is_cut=True)


def silence(*items: dict[str, Any]) -> Step:
    """A response that begins and then says nothing more."""
    return Step(body=_events(items), is_silent=True)


def error(status: int, text: str, kind: str = "server_error", *headers: tuple[str, str]) -> Step:
    """An HTTP error."""
    return failure(status, {"error": {"message": text, "type": kind}}, *headers)


def provider_flags(url: str, *, retries: int = 0) -> list[str]:
    """What makes the real Codex CLI talk to `url`: flags for a wrapper script, none of the product's business."""
    settings = {
        "model_provider": '"fake"',
        "model_providers.fake.name": '"fake"',
        "model_providers.fake.base_url": json.dumps(url + "/v1"),
        "model_providers.fake.env_key": json.dumps(KEY_VARIABLE),
        "model_providers.fake.wire_api": '"responses"',
        "model_providers.fake.request_max_retries": str(retries),
        "model_providers.fake.stream_max_retries": str(retries),
        "model_providers.fake.stream_idle_timeout_ms": "1500",
    }
    return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]


def _events(items: Sequence[dict[str, Any]]) -> bytes:
    begun = ("response.created", {"type": "response.created", "response": {"id": f"resp_{next(_numbers)}"}})
    done = [("response.output_item.done", {"type": "response.output_item.done", "item": item}) for item in items]
    return sse([begun, *done])


def _completed(used: dict[str, Any] | None) -> bytes:
    response: dict[str, Any] = {"id": f"resp_{next(_numbers)}"}
    if used is not None:
        response["usage"] = used
    return sse([("response.completed", {"type": "response.completed", "response": response})])
