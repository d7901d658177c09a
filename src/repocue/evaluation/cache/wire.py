"""The exact bytes of every request, from frozen parts alone (seed, "Data flow"; CONTRACTS, "Wire"). Pure.

A body is compact canonical JSON without a final LF. Its user message has two text blocks, each itself compact
canonical JSON: what a cache can reuse, then what changes with task and git. Cache and probe steps put `cache_control`
on the first block; baseline steps differ in nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from repocue.contracts import canonical
from repocue.contracts.types.cache import CacheBenchmark, Prompt, Step
from repocue.domain import tokens
from repocue.evaluation.cache.profiles import PROFILES

_REUSABLE: Final = ("declaration", "items", "blocks", "sources")
_CHANGING: Final = ("task", "repository", "snapshot", "basis", "freshness", "budget", "warnings")


def first_block(cue: Mapping[str, Any]) -> str:
    """The reusable text: declaration identity, sorted selected items and the original sources, once each."""
    return canonical.compact({name: cue[name] for name in _REUSABLE}).decode()


def second_block(cue: Mapping[str, Any], prompt: Prompt) -> str:
    """What the step asks, the task, and git, freshness and budget metadata."""
    asked = {"prompt": {"id": prompt.id, "text": prompt.text}}
    return canonical.compact(asked | {name: cue[name] for name in _CHANGING}).decode()


def body(benchmark: CacheBenchmark, answer_schema: Mapping[str, Any], cue: Mapping[str, Any], step: Step) -> bytes:
    """The wire body of one step."""
    profile = PROFILES[benchmark.model]
    prompt = next(prompt for prompt in benchmark.prompts if prompt.id == step.prompt)
    first: dict[str, Any] = {"type": "text", "text": first_block(cue)}
    if has_breakpoint(step):
        first["cache_control"] = {"type": "ephemeral", "ttl": benchmark.ttl}
    request: dict[str, Any] = {"model": benchmark.model, "max_tokens": benchmark.max_output_tokens}
    if profile.thinking is not None:
        request["thinking"] = {"type": profile.thinking}
    request["output_config"] = {"format": {"type": "json_schema", "schema": answer_schema}}
    if profile.effort is not None:
        request["output_config"]["effort"] = profile.effort
    request["system"] = benchmark.system
    request["messages"] = [{"role": "user", "content": [first, {"type": "text", "text": second_block(cue, prompt)}]}]
    return canonical.compact(request)


def has_breakpoint(step: Step) -> bool:
    """Whether the step asks for caching: all but baseline steps do, probes too, or they could read nothing."""
    return step.arm != "baseline"


def reusable_identity(benchmark: CacheBenchmark, answer_schema: Mapping[str, Any], cue: Mapping[str, Any]) -> str:
    """The digest of everything a cached prefix depends on as far as can be told here; it proves no hit.

    The same for both arms and for every task, question and git state; thinking and effort are part of it only for
    the models that fix them.
    """
    profile = PROFILES[benchmark.model]
    parts: dict[str, Any] = {
        "model": benchmark.model,
        "api_version": benchmark.api_version,
        "ttl": benchmark.ttl,
        "system": benchmark.system,
        "output_schema": answer_schema,
        "max_output_tokens": benchmark.max_output_tokens,
    }
    if profile.thinking is not None:
        parts["thinking"] = profile.thinking
    if profile.effort is not None:
        parts["effort"] = profile.effort
    parts["first_block"] = first_block(cue)
    return canonical.digest_of(parts)


def record(step: Step, wire: bytes, identity: str) -> dict[str, Any]:
    """The `repocue/cache-request-1` document that stands beside a wire body."""
    return {
        "schema_version": "repocue/cache-request-1",
        "step": step.id,
        "arm": step.arm,
        "cycle": step.cycle,
        "prompt": step.prompt,
        "body_sha256": canonical.digest(wire),
        "body_bytes": len(wire),
        "estimated_tokens": tokens.estimate(len(wire)),
        "reusable_identity": identity,
    }
