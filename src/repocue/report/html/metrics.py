"""The names, units and order of measurements, for people. A measurement that is not listed keeps its own name."""

from __future__ import annotations

from typing import Final, NamedTuple

from repocue.report.html.numbers import Unit
from repocue.report.html.text import plain


class Metric(NamedTuple):
    """A measurement as the page names it; `note` says what it is not, where that is easily mistaken."""

    name: str
    label: str
    unit: Unit
    note: str = ""


_KNOWN: Final = {
    metric.name: metric
    for metric in (
        Metric("total_tokens", "Total tokens", "tokens", "Input plus output; supplied context is already inside."),
        Metric("execution_duration_ms", "Agent run time", "ms", "Wall time of the agent's process."),
        Metric("input_tokens", "Input tokens", "tokens"),
        Metric("uncached_input_tokens", "Uncached input tokens", "tokens", "Input minus cached input."),
        Metric("cached_input_tokens", "Cached input tokens", "tokens", "A part of the input, never added to it."),
        Metric("cache_write_input_tokens", "Cache-write input tokens", "tokens", "A part of the input."),
        Metric("output_tokens", "Output tokens", "tokens"),
        Metric("reasoning_output_tokens", "Reasoning tokens", "tokens", "A part of the output, never added to it."),
        Metric("tool_calls", "Tool calls", "count"),
        Metric("command_executions", "Commands run", "count"),
        Metric("git_calls", "Git commands", "count", "Classified from command text; not Git processes."),
        Metric("filesystem_search_calls", "Search commands", "count", "Classified from command text."),
        Metric("repository_files_named", "Files named", "count", "Paths visible in command text."),
        Metric(
            "named_file_size_proxy_bytes",
            "Size of named files (proxy)",
            "bytes",
            "Current sizes of files named in commands; not bytes read.",
        ),
        Metric("discovery_commands", "Discovery commands", "count", "What an agent looked up by itself."),
        Metric("discovery_files_named", "Files named in discovery", "count", "Paths visible in command text."),
        Metric(
            "discovery_size_proxy_bytes",
            "Size of files named in discovery (proxy)",
            "bytes",
            "Current sizes of files named in commands; not bytes read.",
        ),
    )
}
_ORDER: Final = {name: position for position, name in enumerate(_KNOWN)}

LEADING: Final = ("total_tokens", "execution_duration_ms")
"""The measurements that the opening names and whose totals are drawn; those of others are tabled."""


def metric(name: str) -> Metric:
    """The measurement with this name in the report."""
    known = _KNOWN.get(name)
    if known is not None:
        return known
    unit: Unit = "count"
    if name.endswith("_ms"):
        unit = "ms"
    elif name.endswith("_bytes"):
        unit = "bytes"
    elif name.endswith("tokens"):
        unit = "tokens"
    label = plain(name).removesuffix("_ms").replace("_", " ")
    return Metric(name, label[:1].upper() + label[1:], unit)


def ordered(names: object) -> list[str]:
    """The names in the page's order: what matters most first, unlisted ones last by name."""
    assert isinstance(names, (dict, list, set))
    return sorted(names, key=lambda name: (_ORDER.get(name, len(_ORDER)), name))
