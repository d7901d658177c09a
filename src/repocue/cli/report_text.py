"""How a report reads on a terminal: compact. Pure: document in, renderables out. The JSON form has every figure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from repocue.cli import output

Document = dict[str, Any]

_NAMES = {
    "total_tokens": "tokens, total",
    "input_tokens": "tokens, input",
    "uncached_input_tokens": "  uncached",
    "cached_input_tokens": "  cached",
    "cache_write_input_tokens": "  written to cache",
    "output_tokens": "tokens, output",
    "reasoning_output_tokens": "  reasoning",
    "execution_duration_ms": "time, ms",
    "tool_calls": "tool calls",
    "command_executions": "commands",
    "git_calls": "  git",
    "filesystem_search_calls": "  searches",
    "repository_files_named": "files named",
    "named_file_size_proxy_bytes": "  their sizes (proxy)",
    "discovery_commands": "lookups",
    "discovery_files_named": "  files named",
    "discovery_size_proxy_bytes": "  their sizes (proxy)",
}
_PROJECTED = ("total_tokens", "execution_duration_ms")
_REASONS = {
    "epoch-superseded": "its epoch is superseded",
    "contaminated": "a run had more than its condition supplies",
}
UNKNOWN = "unknown"


def report(document: Document) -> Any:
    """The text of a `repocue/report-1` document."""
    from rich.console import Group

    return Group(*(output.plain(part) if isinstance(part, str) else part for part in _parts(document)))


def _parts(document: Document) -> Iterator[Any]:
    yield from _maintenance(document)
    evidence = document["agent_evidence"]
    yield f"\nAgent evidence: {evidence['status']}"
    if not evidence["groups"]:
        yield "No pair that counts was imported. 'repocue calibration import' imports published report sets."
    for group in evidence["groups"]:
        yield from _group(group)
    for one in evidence["pairs_excluded"]:
        yield f"Excluded: {one['calibration']}: {_REASONS[one['reason']]} ({one['detail']})"
    yield from _quality(document)
    yield "\nNot observed, and not estimated: " + ", ".join(document["not_observed"]) + "."
    yield from (f"Note: {text}" for text in document["limitations"])
    yield f"This report took {_ms(document['validation_cost']['duration_ms'])}; that is in no figure above."


def _maintenance(document: Document) -> Iterator[Any]:
    repository, window, found = document["repository"], document["window"], document["maintenance"]
    current = found["current_epoch"]
    head = repository["head"][:12] if repository["head"] else "no commit yet"
    yield output.fields(
        [
            ("repository", f"{repository['name']}  {repository['root']}"),
            (
                "snapshot",
                f"{document['snapshot']}, {document['epoch']}: {repository['branch'] or 'detached'} at {head}",
            ),
            ("window", _window(window)),
            (
                "maintenance",
                f"{_ms(current['duration_ms'])} for {current['id']}: {current['baseline_runs']} baseline,"
                f" {current['refresh_runs']} refreshes, up to the window's end",
            ),
            ("database", f"{found['database_bytes']:,} bytes now"),
        ]
    )
    yield output.table(
        ("epoch", "baselines ", "refreshes ", "failed ", "ms ", "scan ms ", "git processes ", "cues served "),
        [
            (
                epoch["id"] + (f" {epoch['label']}" if epoch["label"] else ""),
                str(epoch["baseline_runs"]),
                str(epoch["refresh_runs"]),
                str(epoch["failed_runs"]),
                _sum(epoch["duration_ms"]),
                _sum(epoch["scan_duration_ms"]),
                _sum(epoch["git_processes"]),
                ", ".join(f"{view['served']} {view['view']}" for view in epoch["cues"]) or "0",
            )
            for epoch in found["epochs"]
        ],
        title="Recorded in the window; a dash is unknown, for so many known values",
        whole=("epoch",),
    )


def _group(group: Document) -> Iterator[Any]:
    identity = group["identity"]
    yield (
        f"\n{group['id']}, {group['status']}: {_several(len(group['pairs']), 'pair')} of direct and"
        f" {identity['assisted']}, {identity['model']} at {identity['reasoning_effort']},"
        f" {identity['adapter']} {identity['adapter_version']}, report version {identity['report_version']}"
    )
    yield _rest_of(identity)
    rows = [
        (
            _NAMES[name] + ("?" if one["ambiguous_zeros"] else ""),
            f"{one['coverage']['complete']}/{one['coverage']['of']}",
            _median(one["direct"]),
            _median(one["assisted"]),
            _spread(one["difference"]),
            "-" if one["percent_median"] is None else _percent(one["percent_median"]),
        )
        for name, one in group["metrics"].items()
    ]
    yield output.table(("medians", "n ", "direct ", "assisted ", "difference per pair (range) ", "of direct "), rows)
    if any(row[0].endswith("?") for row in rows):
        yield "? holds, or is made from, a zero of version 3, which may stand for a counter that was left out."
    left_out = sum(one["coverage"]["estimated"] for one in group["metrics"].values())
    if left_out:
        yield f"Left out as estimates: {_several(left_out, 'value')}; the JSON form shows them, labelled."
    for name in _PROJECTED:
        yield _scenarios(group, name)
        yield _break_even(group["break_even"][name], len(group["pairs"]))


def _rest_of(identity: Document) -> str:
    """What else sets a group apart from one that its heading alone would not tell from it."""
    text = identity["benchmark_text_sha256"]
    return (
        f"CLI {identity['cli_version'] or UNKNOWN}, tier {identity['service_tier'] or UNKNOWN}, {identity['sandbox']},"
        f" {identity['benchmark_version']}{' with the text ' + text[:19] if text else ''},"
        f" cue budget {identity['max_tokens']:,} tokens"
    )


def _scenarios(group: Document, name: str) -> Any:
    rows = []
    for scenario in group["scenarios"]:
        total = scenario["totals"][name]
        coverage = total["coverage"]
        rows.append(
            (
                f"{scenario['consumers']:,}",
                _median(total["direct"]) + _some(coverage, "direct"),
                _median(total["assisted"]) + _some(coverage, "assisted"),
                _spread(total["saving"]),
                f"{coverage['saving']}/{coverage['of']}",
            )
        )
    return output.table(
        ("consumers ", "direct ", "assisted ", "saving per pair (range) ", "n "),
        rows,
        title=f"Estimated totals: {_NAMES[name]}{'?' if group['metrics'][name]['ambiguous_zeros'] else ''}",
    )


def _break_even(found: Document, pairs: int) -> str:
    if not found["of"]:
        return "Break-even: unavailable, a part of the total is not known."
    # A count over the pairs with all parts must not read as one over all pairs.
    unknown = f"; of {pairs - found['of']} more a part is not known" if found["of"] < pairs else ""
    if not found["finite"]:
        return f"Break-even: none in any of {_several(found['of'], 'pair')}{unknown}."
    several = _several(found["median"], "consumer")
    if found["min"] != found["max"]:
        several += f" (from {_number(found['min'])} to {_number(found['max'])})"
    return f"Break-even, estimated: {several}, in {found['finite']} of {_several(found['of'], 'pair')}{unknown}."


def _quality(document: Document) -> Iterator[Any]:
    quality = document["quality"]
    rows = [
        (
            one["group"],
            condition,
            f"{one['answers']}/{one['of']}",
            f"{one['all_fields']['correct']}/{one['all_fields']['scored']}",
        )
        for condition, every in quality["deterministic"].items()
        for one in every
    ]
    if rows:
        yield output.table(
            ("group", "condition", "answers ", "fields right "), sorted(rows, key=lambda row: row[0]), title="Quality"
        )
    for one in quality["qualitative"]:
        scores = ", ".join(f"{name.replace('_', ' ')} {score}" for name, score in one["scores"].items())
        about = f"{one['condition']} of run {one['run_index']} ({one['snapshot']})"
        yield f"{one['assessor']}, {one['assessed_at'] or 'date unknown'}, on {about}: {scores}"


def _window(window: Document) -> str:
    if window["since"] is None and window["until"] is None:
        return "everything on record"
    return f"from {window['since'] or 'the beginning'} up to, not including, {window['until'] or 'now'} (UTC)"


def _sum(found: Document) -> str:
    return f"- ({found['known']}/{found['of']})" if found["total"] is None else f"{found['total']:,}"


def _spread(found: Document | None) -> str:
    if found is None:
        return "-"
    median = _number(found["median"])
    return median if found["min"] == found["max"] else f"{median} ({_number(found['min'])} … {_number(found['max'])})"


def _median(found: Document | None) -> str:
    return "-" if found is None else _number(found["median"])


def _some(coverage: Document, name: str) -> str:
    """Over how many pairs a total is, where these are not the pairs of the saving beside it."""
    return "" if coverage[name] in (0, coverage["saving"]) else f" [n={coverage[name]}]"


def _several(count: float, what: str) -> str:
    return f"{_number(count)} {what}{'' if count == 1 else 's'}"


def _number(value: float) -> str:
    """At most one decimal, and none from 100 on; what is not zero never reads as zero."""
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 0.05 else f"{value:.1g}"


def _percent(value: float) -> str:
    return f"{value:.1f} %" if value == 0 or abs(value) >= 0.05 else f"{value:.1g} %"


def _ms(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:,.0f} ms" if value >= 1 else f"{_number(value)} ms"
