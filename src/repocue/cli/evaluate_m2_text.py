"""How an M2 plan and its outcome read. Pure: values in, text out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from repocue.evaluation.m2.experiment import Plan

_METRICS = (
    ("input", "input_tokens"),
    ("output", "output_tokens"),
    ("total", "total_tokens"),
    ("commands", "command_executions"),
    ("ms", "execution_duration_ms"),
)


def plan(value: Plan) -> str:
    """What is about to be run, with which contexts."""
    lines = [f"Left by an interrupted run, no evidence, can be removed: {path}" for path in value.leftovers]
    lines += [f"Run {index} is published already and is skipped." for index in value.skipped]
    if not value.orders:
        return "\n".join([*lines, "No run is left to make."])
    runs = [index for index, _ in value.orders]
    span = f"run {runs[0]}" if len(runs) == 1 else f"{len(runs)} runs, {runs[0]} to {runs[-1]}"
    if value.runner is None:
        lines.append(f"Dry run of M2 on {value.repository}: {span}. No runner is given, so no agent runs.")
    else:
        agents = len(runs) * len(value.contexts)
        lines.append(f"M2 on {value.repository}: {span}, {agents} agent runs by {value.runner},")
        lines.append(f"each stopped after {value.timeout_s:g} s.")
    lines.append("")
    lines.append(f"  {'context':<20}{'contract':<18}{'bytes':>8}{'est. tokens':>13}")
    for condition, contract, size, tokens in value.contexts:
        lines.append(f"  {condition:<20}{contract or 'none':<18}{size:>8,}{tokens:>13,}")
    lines.append(f"  Budget: {value.max_tokens:,} estimated tokens each (bytes / 4).")
    lines.append("")
    lines += [f"  run {index}: {', '.join(order)}" for index, order in value.orders]
    lines.append(f"  {_order(value)}")
    lines.append(f"  Report sets go to {value.output}")
    return "\n".join([*lines, ""])


def _order(value: Plan) -> str:
    if value.order_policy == "fixed":
        return "Order: fixed. Whether an earlier condition warmed a provider's cache cannot be told from its effect."
    if value.is_balanced:
        return "Order: balanced. Every condition stands equally often in every position."
    return "Order: rotated, but unbalanced: only a multiple of five runs puts every condition equally often everywhere."


def finished(document: Mapping[str, Any], reports: Mapping[int, Sequence[Mapping[str, Any]]]) -> str:
    """The published sets; of each made now what its contexts or its agent runs took."""
    lines: list[str] = []
    for entry in document["report_sets"]:
        made = reports.get(entry["run_index"])
        if made is None:
            lines.append(f"Run {entry['run_index']} was published before: {entry['path']}")
            continue
        lines.append(f"Run {entry['run_index']} is published: {entry['path']}")
        lines += ["", *(_agents(made) if "runner" in made[0] else _costs(made)), ""]
    return "\n".join(lines).rstrip()


def _costs(reports: Sequence[Mapping[str, Any]]) -> list[str]:
    """What a dry run measured."""
    first = reports[0]
    delivery = next(report["cue_delivery"] for report in reports if report["cue_delivery"])
    lines = [
        f"  {'full baseline':<26}{_ms(first['baseline']['wall_duration_ms']):>11}",
        f"  {'no-op refresh':<26}{_ms(first['update']['wall_duration_ms']):>11}",
        f"  {'repocue cue, as delivered':<26}{_ms(delivery['duration_ms']):>11}",
        "",
        f"  {'condition':<20}{'bytes':>8}{'est. tokens':>13}{'built in':>14}{'oracle':>13}",
    ]
    for report in reports:
        cue = report["cue"]
        oracle = cue.get("structural_analysis_duration_ms")
        built = _ms(cue["wall_duration_ms"]) if cue["bytes"] else "-"
        lines.append(
            f"  {report['condition']:<20}{cue['bytes']:>8,}{cue['estimated_tokens']:>13,}{built:>14}"
            f"{'-' if oracle is None else _ms(oracle):>13}"
        )
    return [
        *lines,
        "",
        "  Building times are diagnostics and in no condition's cost.",
        "  Agent evidence: not observed. This is a dry run, so it says nothing about what a context saves.",
    ]


def _agents(reports: Sequence[Mapping[str, Any]]) -> list[str]:
    """What each condition's runner reported; a dash where it did not."""
    lines = [f"  {'condition':<20}" + "".join(f"{title:>11}" for title, _ in _METRICS)]
    for report in reports:
        metrics = report["runner"]["metrics"]
        cells = "".join(f"{_count(metrics.get(name)):>11}" for _, name in _METRICS)
        lines.append(f"  {report['condition']:<20}{cells}")
    findings = [
        f"  {report['condition']}: {finding['message']}"
        for report in reports
        for finding in report["runner"]["findings"]
        if finding["severity"] != "info"
    ]
    return [*lines, *(["", *findings] if findings else []), "", "  One set compares nothing: see evaluate-m2 summary."]


def _ms(value: float) -> str:
    return f"{value:,.0f} ms" if value >= 10 else f"{value:.1f} ms"


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"
