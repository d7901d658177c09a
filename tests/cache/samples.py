"""Documents for tests: a benchmark, a task cue, answers and provider responses, each made afresh."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

MODELS = (
    "claude-sonnet-5-5",
    "claude-sonnet-4-6",
    "claude-opus-4-6",
    "claude-opus-4-7",
    "claude-sonnet-4-5-20250929",
    "claude-opus-4-5-20251101",
    "claude-haiku-4-5-20251001",
)
"""The seed's list, written out."""

README = '# Sample\n\nIt counts.\nÜmlaut, "quotes" and a back\\slash.\n'
MAIN = "import sys\n\n\ndef main():\n    print(len(sys.argv))\n"


def digest(text: str | bytes) -> str:
    return "sha256:" + sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def lines(text: str, first: int, last: int) -> str:
    return "".join(text.splitlines(keepends=True)[first - 1 : last])


def rates(model: str = "claude-sonnet-5-5", **changes: Any) -> dict[str, Any]:
    """Prices chosen to be told apart in any sum; no provider's."""
    return {
        "record_id": "sample-rates",
        "date": "2026-11-01",
        "model": model,
        "api_version": "2023-06-01",
        "unit": "usd_per_million_tokens",
        "input": "2",
        "cache_write_5m": "2.50",
        "cache_write_1h": "4",
        "cache_read": "0.10",
        "output": "10",
    } | changes


def task(kind: str = "discovery", **changes: Any) -> dict[str, Any]:
    return {
        "schema_version": "repocue/task-1",
        "id": "sample-task",
        "kind": kind,
        "question": "What does the sample do?",
        "declaration": ".repocue/task-context.json",
        "selector": {"items": [], "tags": ["core"], "kinds": [], "paths": []},
    } | changes


def benchmark(**changes: Any) -> dict[str, Any]:
    """One cycle of two prompts, baseline first, as in the documented walk-through."""
    model = changes.get("model", "claude-sonnet-5-5")
    return {
        "schema_version": "repocue/cache-benchmark-1",
        "id": "sample",
        "task": task(),
        "model": model,
        "api_version": "2023-06-01",
        "ttl": "5m",
        "system": "Answer for the benchmark sample from the sources alone.",
        "max_output_tokens": 2048,
        "max_context_tokens": 20000,
        "prompts": [{"id": "a", "text": "List the items."}, {"id": "b", "text": "List the items, “again”."}],
        "steps": [
            {"id": "baseline-a", "arm": "baseline", "cycle": 1, "prompt": "a"},
            {"id": "baseline-b", "arm": "baseline", "cycle": 1, "prompt": "b"},
            {"id": "cache-a", "arm": "cache", "cycle": 1, "prompt": "a"},
            {"id": "cache-b", "arm": "cache", "cycle": 1, "prompt": "b"},
        ],
        "required_pairs": 1,
        "rates": rates(model),
        "rubric": None,
    } | changes


def cue(*, max_tokens: int = 20000, **changes: Any) -> dict[str, Any]:
    """A task cue of two items: one of them a whole file and a line range of it, the other two ranges of one file."""
    document: dict[str, Any] = {
        "schema_version": "repocue/task-cue-1",
        "kind": "task",
        "declaration": {
            "path": ".repocue/task-context.json",
            "contract": "repocue/task-context-1",
            "id": "sample",
            "sha256": digest("declaration"),
        },
        "items": [
            {
                "id": "about",
                "kind": "document",
                "summary": "What it is.",
                "tags": ["core"],
                "sources": ["README.md", "README.md#L1-L1"],
            },
            {
                "id": "main",
                "kind": "entry-point",
                "summary": "Where it begins.",
                "tags": ["core"],
                "sources": ["src/main.py#L1-L1", "src/main.py#L4-L5"],
            },
        ],
        "blocks": [
            block("README.md", README, None),
            block("src/main.py", MAIN, (1, 1)),
            block("src/main.py", MAIN, (4, 5)),
        ],
        "sources": [
            {"id": "README.md#L1-L1", "block": "README.md", "sha256": digest(lines(README, 1, 1))},
            {"id": "README.md", "block": "README.md", "sha256": digest(README)},
            {"id": "src/main.py#L1-L1", "block": "src/main.py#L1-L1", "sha256": digest(lines(MAIN, 1, 1))},
            {"id": "src/main.py#L4-L5", "block": "src/main.py#L4-L5", "sha256": digest(lines(MAIN, 4, 5))},
        ],
        "task": {"id": "sample-task", "kind": "discovery", "question": "What does the sample do?"},
        "repository": {"id": "repo-" + "0" * 24, "name": "sample", "branch": "main", "head": "1" * 40, "dirty": False},
        "snapshot": "snapshot-000001",
        "basis": {
            "status_digest": digest("status"),
            "repository_digest": digest("repository"),
            "observed_at": "2026-11-30T19:05:07.123Z",
        },
        "freshness": "current",
        "budget": {"max_tokens": max_tokens, "estimated_tokens": 0},
        "warnings": [],
    } | changes
    settle(document)
    return document


def block(path: str, text: str, span: tuple[int, int] | None) -> dict[str, Any]:
    first, last = span or (1, len(text.splitlines()))
    part = lines(text, first, last)
    name = path if span is None else f"{path}#L{first}-L{last}"
    return {"id": name, "path": path, "first_line": first, "last_line": last, "sha256": digest(part), "text": part}


def settle(document: dict[str, Any]) -> None:
    """Let a cue's estimate count itself."""
    budget = document["budget"]
    while budget["estimated_tokens"] != (tokens := -(-len(encoded(document)) // 4)):
        budget["estimated_tokens"] = tokens


def encoded(document: Any) -> bytes:
    """A document's bytes as the standard library writes them."""
    return (json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def answer(**changes: Any) -> dict[str, Any]:
    """The right answer to `cue`'s discovery, in an order of its own."""
    return {
        "schema_version": "repocue/cache-answer-1",
        "benchmark_id": "sample",
        "items": [
            {"id": "main", "sources": ["src/main.py#L4-L5", "src/main.py#L1-L1"]},
            {"id": "about", "sources": ["README.md", "README.md#L1-L1"]},
        ],
        "claims": [{"text": "It counts its arguments.", "sources": ["src/main.py#L4-L5"]}],
        "uncertainties": [],
    } | changes


def usage(**changes: Any) -> dict[str, Any]:
    """Usage as the provider's documentation shows it, nothing cached."""
    return {
        "input_tokens": 1200,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": 150,
        "output_tokens_details": {"thinking_tokens": 0},
        "server_tool_use": None,
        "service_tier": "standard",
        "inference_geo": "global",
    } | changes


def message(text: str | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [{"type": "text", "text": json.dumps(answer()) if text is None else text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": usage(),
    } | changes
