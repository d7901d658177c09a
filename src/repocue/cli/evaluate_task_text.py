"""How the answers of evaluate-task read on a terminal. Pure: document in, text out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from repocue.cli.tables import UNKNOWN, count, printable, said, table

_SHORT = len("sha256:") + 12
_USAGE = (("input", "input_tokens"), ("cached", "cached_input_tokens"), ("output", "output_tokens"))


def prepared(document: Mapping[str, Any]) -> str:
    """The text of a `repocue/task-preparation-1` document of kind "prepared"."""
    place = "not in the schedule" if document["pair"] is None else f"pair {document['pair']} of nine"
    rows = [
        [one["arm"], f"{one['prompt_bytes']:,}", f"{one['estimated_tokens']:,}", one["prompt_sha256"][:_SHORT]]
        for one in document["prompts"]
    ]
    lines = [
        f"Prepared {document['benchmark_id']} ({document['task_kind']}), repeat {document['repeat']},"
        f" {document['order']}: {place}.",
        f"  {document['prepared_directory']}",
        "",
        *table(("arm", "prompt bytes", "estimated tokens", "prompt"), rows, left=(0, 3)),
        "",
        *[
            f"Attempt {one['attempt']}: {one['outcome']}" + (f" ({one['reason']})" if one["reason"] else "")
            for one in document["attempts"]
        ],
        document["establishes"],
        *[f"warning: {warning}" for warning in document["warnings"]],
    ]
    return printable(lines)


def summary(document: Mapping[str, Any]) -> str:
    """The text of a `repocue/task-evaluation-1` document of kind "summary"."""
    lines = [*_attempts(document["pairs"]), ""]
    for group in document["groups"]:
        lines += [*_group(group), ""]
    for one in document["overall"]:
        coverage = one["coverage"]
        lines += [
            f"All benchmarks, {_runner(one['identity'])}: {coverage['complete']} of {coverage['of']} pairs complete",
            *_verdict(one["verdict"]),
            "",
        ]
    lines += _inventory(document["inventory"])
    if document["unknown_entries"]:
        lines.append(f"No evidence, but beside it: {', '.join(document['unknown_entries'])}")
    lines += [f"Not observed: {', '.join(document['not_observed'])}", *document["limitations"]]
    return printable(lines)


def _attempts(pairs: Sequence[Mapping[str, Any]]) -> list[str]:
    names = ("attempt", "status", "counts", "delivered", "completed", "correct", "compliant")
    numbers = (*(title for title, _ in _USAGE), "credits", "adapter ms")
    rows, notes, folders = [], [], []
    for pair in pairs:
        short = pair["folder"].rpartition("-")[2]
        place = "not scheduled" if pair["pair"] is None else f"pair {pair['pair']}"
        refresh = _number(pair["processes"]["refresh"]["duration_ms"])
        folders.append(
            [short, pair["benchmark_id"], str(pair["repeat"]), pair["order"], place, pair["status"], refresh]
        )
        notes += [f"  {short}: {reason}" for reason in pair["reasons"]]
        for one in pair["attempts"]:
            name = f"{short}/{one['attempt'].rpartition('/')[2]}"
            rows.append(
                [
                    name,
                    one["status"],
                    said(pair["counted"]),
                    *(said(value) for value in one["facts"].values()),
                ]
                + [count(one["usage"][name]) for _, name in _USAGE]
                + [one["credits"] or UNKNOWN, _number(one["adapter_duration_ms"])]
            )
            notes += [f"  {name}: {reason}" for reason in one["reasons"]]
            notes += _discovery(name, one["discovery"])
    titles = ("folder", "benchmark", "repeat", "order", "schedule", "status", "refresh ms")
    return [
        *table(titles, folders, left=(0, 1, 3, 4, 5)),
        "",
        *table((*names, *numbers), rows, left=tuple(range(len(names)))),
        *notes,
    ]


def _discovery(name: str, found: Mapping[str, Any] | None) -> list[str]:
    if found is None:
        return []
    shown = [
        f"{what} precision {_ratio(found[what]['precision'])}, recall {_ratio(found[what]['recall'])}"
        for what in ("items", "sources")
    ]
    return [f"  {name}: {'; '.join(shown)}"]


def _group(group: Mapping[str, Any]) -> list[str]:
    identity, coverage = group["identity"], group["coverage"]
    rows = [
        [
            name.replace("_", " "),
            f"{metric['coverage']['complete']} of {metric['coverage']['of']}",
            *(_spread(metric[column]) for column in ("overview", "task", "difference")),
        ]
        for name, metric in group["metrics"].items()
    ]
    return [
        f"{identity['benchmark_id']} ({group['task_kind']}), {_runner(identity)}: {coverage['complete']} of"
        f" {coverage['of']} pairs complete, evidence {group['evidence']}",
        *table(("metric", "pairs", "overview", "task", "overview - task"), rows, left=(0,)),
        *_verdict(group["verdict"]),
    ]


def _verdict(verdict: Mapping[str, Any]) -> list[str]:
    by = "" if verdict["metric"] is None else f", by {verdict['metric'].replace('_', ' ')}"
    return [f"Verdict: {verdict['status']}{by}", *[f"  {reason}" for reason in verdict["reasons"]]]


def _inventory(spent: Sequence[Mapping[str, Any]]) -> list[str]:
    if not spent:
        return ["Nothing was run."]
    names = ("adapter", "executions", "known tokens", "complete tokens", "known credits", "complete credits")
    rows = [
        [
            one["adapter"] or UNKNOWN,
            count(one["executions"]),
            count(one["known_total_tokens"]),
            count(one["complete_total_tokens"]),
            one["known_credits"] or UNKNOWN,
            one["complete_credits"] or UNKNOWN,
        ]
        for one in spent
    ]
    return table(names, rows, left=(0,))


def _runner(identity: Mapping[str, Any]) -> str:
    if identity["adapter"] is None:
        return "adapter unknown"
    return f"{identity['adapter']} {identity['adapter_version']}, CLI {identity['cli_version']}"


def _spread(spread: Mapping[str, Any] | None) -> str:
    if spread is None:
        return UNKNOWN
    median, least, most = (_number(spread[name]) for name in ("median", "min", "max"))
    return median if least == most else f"{median} ({least} to {most})"


def _number(value: float | str | None) -> str:
    if value is None:
        return UNKNOWN
    return value if isinstance(value, str) else f"{value:,}"


def _ratio(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.3f}"
