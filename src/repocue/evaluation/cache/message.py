"""Reading a provider's Messages response: strict about what is read, open to extension members (seed, "Contracts and
limits")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from repocue.contracts.jsontext import Limits, read_json
from repocue.contracts.problems import Problem, contract_error, shown, token
from repocue.errors import ContractError

_SUBJECT: Final = "the response"
_OWN_WORDS: Final = frozenset({"text", "thinking", "redacted_thinking"})
"""Content that costs nothing beside its tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What a response says of itself. `blocks` are the types of its content blocks in order; `text` is the text of
    the only block where that is a text block, else None; `usage` is the object as it came, None where there is none.
    """

    model: str | None
    stop_reason: str | None
    blocks: tuple[str, ...]
    text: str | None
    usage: Mapping[str, Any] | None
    has_container: bool


def read(body: bytes, *, max_bytes: int, max_depth: int) -> Message:
    """The message in a response's raw body.

    Raises ContractError where it is no JSON (duplicate members, unsafe numbers and excessive depth included) or no
    message of an assistant.
    """
    value = read_json(body, limits=Limits(max_bytes=max_bytes, max_depth=max_depth), subject=_SUBJECT)
    if not isinstance(value, dict):
        raise _error("", "must be an object")
    for name, expected in (("type", "message"), ("role", "assistant")):
        if value.get(name) != expected:
            raise _error(token(name), f'must be "{expected}"')
    content = value.get("content")
    if not isinstance(content, list):
        raise _error("/content", "must be an array")
    blocks = tuple(_type_of(block, f"/content/{position}") for position, block in enumerate(content))
    text = None
    if blocks == ("text",):
        text = content[0].get("text")
        if not isinstance(text, str):
            raise _error("/content/0/text", "must be a string")
    usage = value.get("usage")
    if usage is not None and not isinstance(usage, dict):
        raise _error("/usage", "must be an object")
    return Message(
        model=_text(value, "model"),
        stop_reason=_text(value, "stop_reason"),
        blocks=blocks,
        text=text,
        usage=usage,
        has_container=value.get("container") is not None,
    )


def price_changes(message: Message, *, model: str) -> list[str]:
    """What makes the response cost something that rates per token of `model` do not say; empty where nothing does.

    Each entry begins with a name that reasons are known by. Source: the provider's documentation of usage and prices.
    """
    found = []
    if message.model != model:
        found.append(f"model-mismatch: the response names {shown(str(message.model))}, the request {model}")
    if message.has_container or any(kind not in _OWN_WORDS for kind in message.blocks):
        found.append("server-tools: the response used more than its own words")
    usage = message.usage or {}
    ordinary = {
        "service_tier": (None, "standard"),
        "speed": (None, "standard"),
        "inference_geo": (None, "global", "not_available"),
    }
    for name, values in ordinary.items():
        if usage.get(name) not in values:
            found.append(f"{name.replace('_', '-')}: {shown(str(usage[name]))} is not in the rates")
    tools = usage.get("server_tool_use")
    if tools is not None and not (isinstance(tools, dict) and all(count in (0, None) for count in tools.values())):
        found.append("server-tools: their use is priced apart")
    iterations = usage.get("iterations")
    if iterations is not None and not (isinstance(iterations, list) and all(map(_is_plain_iteration, iterations))):
        found.append("iterations: work outside the response's own usage was done")
    if usage.get("fallback_credit") is not None:
        found.append("fallback-credit: the price was changed")
    return found


def _is_plain_iteration(entry: object) -> bool:
    """Iterations of this type repeat what the totals count already; others (a compaction) come on top."""
    return isinstance(entry, dict) and entry.get("type") == "message"


def _type_of(block: object, where: str) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str):
        raise _error(where, "must be an object with a type")
    return kind


def _text(value: Mapping[str, Any], name: str) -> str | None:
    found = value.get(name)
    if found is not None and not isinstance(found, str):
        raise _error(token(name), "must be a string")
    return found


def _error(pointer: str, message: str) -> ContractError:
    return contract_error([Problem(pointer, message)], code="schema", subject=_SUBJECT)
