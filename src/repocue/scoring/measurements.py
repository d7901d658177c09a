"""What one condition report measured: values with their sources, and the inputs that it states by digest. Pure.

Unknown is never zero: a value that is not there is None beside `not_observed`. An estimated value is kept as it stands
in its report and never enters statistics.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Final, NamedTuple

from repocue.domain.measurement import DERIVED, ESTIMATED, NOT_OBSERVED, OBSERVED, Source
from repocue.domain.statistics import exact

TOKENS: Final = (
    "total_tokens",
    "input_tokens",
    "uncached_input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
)
ACTIVITY: Final = (
    "execution_duration_ms",
    "tool_calls",
    "command_executions",
    "git_calls",
    "filesystem_search_calls",
    "repository_files_named",
    "named_file_size_proxy_bytes",
)
DISCOVERY: Final = ("discovery_commands", "discovery_files_named", "discovery_size_proxy_bytes")
METRICS: Final = (*TOKENS, *ACTIVITY, *DISCOVERY)
"""Every measurement of a run, in the order of all documents.

`uncached_input_tokens` is input minus cached input. The discovery metrics are what an agent looked up in the repository
itself: an assisted run's fallback metrics, and all repository commands, files and sizes of a direct one.
"""

_FALLBACK: Final = {
    "discovery_commands": "fallback_repository_commands",
    "discovery_files_named": "fallback_repository_files_named",
    "discovery_size_proxy_bytes": "fallback_named_file_size_proxy_bytes",
}
_DIRECT: Final = {
    "discovery_files_named": "repository_files_named",
    "discovery_size_proxy_bytes": "named_file_size_proxy_bytes",
}
_MADE_FROM: Final = {
    "total_tokens": ("input_tokens", "output_tokens"),
    "uncached_input_tokens": ("input_tokens", "cached_input_tokens"),
}
_TASK: Final = re.compile(r"The benchmark's text was supplied and is not the packaged one: (sha256:[0-9a-f]{64})\.")
_ORACLE: Final = re.compile(r"The structural oracle infers no calls, data flow or references: (sha256:[0-9a-f]{64})\.")
"""How a report states that it was asked with another text, and with which oracle."""


class Value(NamedTuple):
    """One measurement of one run. `value` is None exactly where `source` is `not_observed`."""

    value: Fraction | None
    source: Source

    @property
    def counted(self) -> Fraction | None:
        """The value where it may enter statistics: observed or derived."""
        return self.value if self.source in (OBSERVED, DERIVED) else None


UNKNOWN: Final = Value(None, NOT_OBSERVED)


def run_values(condition: str, runner: Mapping[str, Any]) -> dict[str, Value]:
    """Every metric of an observation, by the names of `METRICS`."""
    metrics = runner["metrics"]
    declared = {name: _declared(metrics, name) for name in (*TOKENS, *ACTIVITY)}
    declared["total_tokens"] = _whole(declared["total_tokens"], declared["input_tokens"], declared["output_tokens"])
    declared["uncached_input_tokens"] = _minus(declared["input_tokens"], declared["cached_input_tokens"])
    if condition == "direct":
        commands = sum(command["classification"] != "other" for command in runner["commands"])
        declared["discovery_commands"] = Value(Fraction(commands), DERIVED)
        return declared | {name: declared[other] for name, other in _DIRECT.items()}
    return declared | {name: _declared(metrics, other) for name, other in _FALLBACK.items()}


def zero_tokens(runner: Mapping[str, Any], values: Mapping[str, Value]) -> list[str]:
    """The token metrics with a zero in or behind them: in version 3 each may stand for an omitted counter.

    A total over turns hides the zero of one turn, and a sum or difference that of its parts: what would be another
    number if the zero was an omitted counter is named too.
    """
    zero = {name for name in TOKENS if name in runner["metrics"] and not values[name].value}
    zero |= {name for turn in runner["usage_events"] for name in TOKENS if turn.get(name) == 0}
    named = zero | {made for made, parts in _MADE_FROM.items() if zero.intersection(parts)}
    return [name for name in TOKENS if name in named and values[name].value is not None]


def cli_version(metadata: Mapping[str, Any]) -> str | None:
    """The version of the agent's program; version 3 calls it `codex_version`. None where none is declared."""
    found: str | None = metadata.get("cli_version", metadata.get("codex_version"))
    return found


def stated_text(limitations: Iterable[str]) -> str | None:
    """The digest of the benchmark's text, where a report states that it was not the packaged one."""
    return _stated(_TASK, limitations)


def stated_oracle(limitations: Iterable[str]) -> str | None:
    """The digest of the structural oracle, where a report states it."""
    return _stated(_ORACLE, limitations)


def _declared(metrics: Mapping[str, Any], name: str) -> Value:
    value = metrics.get(name)
    return UNKNOWN if value is None else Value(exact(value), metrics["statuses"][name])


def _whole(whole: Value, *parts: Value) -> Value:
    """A sum is an estimate where a part of it is, whatever it was declared to be."""
    is_estimate = whole.value is not None and any(part.source == ESTIMATED for part in parts)
    return Value(whole.value, ESTIMATED) if is_estimate else whole


def _minus(whole: Value, part: Value) -> Value:
    """The derived difference of two values; estimated where either is, unknown where either is."""
    if whole.value is None or part.value is None:
        return UNKNOWN
    source: Source = ESTIMATED if ESTIMATED in (whole.source, part.source) else DERIVED
    return Value(whole.value - part.value, source)


def _stated(pattern: re.Pattern[str], limitations: Iterable[str]) -> str | None:
    return next((match[1] for text in limitations if (match := pattern.fullmatch(text))), None)
