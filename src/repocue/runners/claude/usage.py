"""The usage of Claude Code's `result` events, mapped into the contract.

=========================== =============================================================================
contract                    `result.model_usage_since_last_result`, summed over its models
=========================== =============================================================================
`input_tokens`              `inputTokens` + `cacheReadInputTokens` + `cacheCreationInputTokens`, because
                            Claude's input excludes cached input and the contract's includes it
`cached_input_tokens`       `cacheReadInputTokens`
`cache_write_input_tokens`  `cacheCreationInputTokens`
`output_tokens`             `outputTokens`
`reasoning_output_tokens`   `thinkingTokens` (inside output)
=========================== =============================================================================

A one-turn stream without that member falls back to `modelUsage`, which counts the whole session. The sum of
`assistant` events is never used (they repeat a message once per content block, with the output count of its start),
and `result.usage` is not used either (it leaves sub-agents out). Where the provider sent no usage the program writes
zeros into the result; the `assistant` events then show the gap, and what it makes unknown stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from repocue.domain.measurement import MAX_COUNTER
from repocue.runners.jsonl import Members
from repocue.runners.usage import UsageError, UsageEvent, counter, event

MODEL_COUNTERS = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens", "thinkingTokens")

REQUEST_COUNTERS = {
    "inputTokens": "input_tokens",
    "cacheReadInputTokens": "cache_read_input_tokens",
    "cacheCreationInputTokens": "cache_creation_input_tokens",
    "outputTokens": "output_tokens",
}
"""Which member of a request's usage shows that the provider supplied a per-model counter at all."""

Sums = Mapping[str, int | None]


def sum_models(by_model: object, where: str) -> dict[str, int | None]:
    """Each per-model counter summed over all models; None where any model leaves it out.

    Raises UsageError where the object is no map of models, repeats a member or holds what is no counter.
    """
    if not isinstance(by_model, Members):
        raise UsageError(f"{where} is not an object")
    if by_model.repeated:
        raise UsageError(f"{where} repeats the model {by_model.repeated[0]!r}")
    sums: dict[str, int | None] = dict.fromkeys(MODEL_COUNTERS, None if not by_model else 0)
    for model, usage in by_model.items():
        if not isinstance(usage, Members):
            raise UsageError(f"{where}.{model} is not an object")
        if usage.repeated:
            raise UsageError(f"{where}.{model} repeats the member {usage.repeated[0]!r}")
        for name in MODEL_COUNTERS:
            sums[name] = _plus(sums[name], counter(usage.get(name), f"{where}.{model}.{name}"), f"{where}.{name}")
    return sums


def add(one: Sums, other: Sums, where: str) -> dict[str, int | None]:
    """Counter by counter; a sum with an unknown part is unknown. Raises UsageError on overflow."""
    return {name: _plus(one[name], other[name], f"{where}.{name}") for name in MODEL_COUNTERS}


def missing_counters(request_usages: Iterable[object]) -> frozenset[str]:
    """The per-model counters that at least one request's usage (an object, null or absent) did not supply.

    Raises UsageError where a request's usage is no object, repeats a member or holds what is no counter.
    """
    missing = set()
    for usage in request_usages:
        if usage is not None and not isinstance(usage, Members):
            raise UsageError("the usage of an assistant message is not an object")
        if isinstance(usage, Members) and usage.repeated:
            raise UsageError(f"the usage of an assistant message repeats the member {usage.repeated[0]!r}")
        for name, sent in REQUEST_COUNTERS.items():
            value = usage.get(sent) if usage is not None else None
            if counter(value, f"the usage of an assistant message: {sent}") is None:
                missing.add(name)
    return frozenset(missing)


def to_event(turn: int, sums: Sums, missing: frozenset[str], where: str) -> UsageEvent:
    """The contract's event of one turn. Input needs all three of Claude's disjoint parts."""
    known = {name: None if name in missing else value for name, value in sums.items()}
    parts = (known["inputTokens"], known["cacheReadInputTokens"], known["cacheCreationInputTokens"])
    whole: int | None = 0
    for part in parts:
        whole = _plus(whole, part, f"{where}: input")
    has_no_usage = missing >= frozenset(REQUEST_COUNTERS)
    return event(
        turn,
        {
            "input_tokens": whole,
            "cached_input_tokens": known["cacheReadInputTokens"],
            "cache_write_input_tokens": known["cacheCreationInputTokens"],
            "output_tokens": known["outputTokens"],
            "reasoning_output_tokens": None if has_no_usage else known["thinkingTokens"],
        },
        where,
    )


def _plus(one: int | None, other: int | None, where: str) -> int | None:
    if one is None or other is None:
        return None
    if one + other > MAX_COUNTER:
        raise UsageError(f"{where} is above 2^53-1")
    return one + other
