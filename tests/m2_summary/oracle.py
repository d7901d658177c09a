"""A second way to every figure of a summary: plain fractions over the raw report files, with nothing of the product.

Written from the seed and the contract alone; slow and simple on purpose.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

CONDITIONS = ("direct", "placebo", "basic", "ranked", "structural-oracle")
CONSUMERS = (1, 2, 3, 5, 10)
Document = dict[str, Any]


def read(folder: str) -> dict[str, Document]:
    """Condition to report of one set."""
    found = {}
    for name in os.listdir(folder):
        if name.endswith(".json") and name != "manifest.json":
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                document = json.load(file, parse_float=Decimal)
            found[document["condition"]] = document
    return found


def is_contaminated(report: Document) -> bool:
    """Only commands that the tests use: a call of repocue, or a finding of the harness."""
    runner = report["runner"]
    return any(finding["category"] == "contaminated" for finding in runner["findings"]) or any(
        command["command"].startswith("repocue ") for command in runner["commands"]
    )


def value(report: Document, metric: str) -> Fraction | None:
    """What a run adds to statistics: observed or derived, of a comparable run, else nothing."""
    if "runner" not in report or is_contaminated(report):
        return None
    metrics, statuses = report["runner"]["metrics"], report["runner"]["metrics"]["statuses"]
    direct = report["condition"] == "direct"

    def declared(name: str) -> Fraction | None:
        found = metrics.get(name)
        return Fraction(found) if found is not None and statuses[name] in ("observed", "derived") else None

    if metric == "uncached_input_tokens":
        whole, part = declared("input_tokens"), declared("cached_input_tokens")
        return None if whole is None or part is None else whole - part
    if metric == "discovery_commands":
        commands = report["runner"]["commands"]
        looked = Fraction(sum(command["classification"] != "other" for command in commands))
        return looked if direct else declared("fallback_repository_commands")
    if metric == "discovery_files_named":
        return declared("repository_files_named" if direct else "fallback_repository_files_named")
    if metric == "discovery_size_proxy_bytes":
        return declared("named_file_size_proxy_bytes" if direct else "fallback_named_file_size_proxy_bytes")
    return declared(metric)


def number(fraction: Fraction) -> int | float:
    """A figure as JSON shows it."""
    return fraction.numerator if fraction.denominator == 1 else round(float(fraction), 6)


def counted(values: Iterable[Fraction | None], times: int = 1) -> Document:
    every = list(values)
    known = sorted(times * one for one in every if one is not None)
    found: Document = {"n": len(known), "of": len(every), "median": None, "min": None, "max": None}
    if known:
        found |= {"median": number(statistics.median(known)), "min": number(known[0]), "max": number(known[-1])}
    return found


def spread(values: Sequence[Fraction]) -> Document | None:
    found = counted(values)
    return {name: found[name] for name in ("median", "min", "max")} if values else None


def divided(part: float | None, whole: float | None) -> Document:
    quotient = None
    if part is not None and whole:
        quotient = number(Fraction(Decimal(str(part))) / Fraction(Decimal(str(whole))))
    return {"part": part, "whole": whole, "value": quotient}


def paired(sets: Sequence[dict[str, Document]], condition: str, metric: str) -> Document:
    """Per pair first: a pair counts where both of its values do."""
    pairs = [(value(one["direct"], metric), value(one[condition], metric)) for one in sets]
    complete = [(a, b) for a, b in pairs if a is not None and b is not None]
    direct, assisted = spread([a for a, _ in complete]), spread([b for _, b in complete])
    return {
        "n": len(complete),
        "of": len(pairs),
        "direct": direct,
        "assisted": assisted,
        "difference": spread([a - b for a, b in complete]),
        "ratio": divided(assisted["median"] if assisted else None, direct["median"] if direct else None),
    }


def reused(sets: Sequence[dict[str, Document]], condition: str, consumers: int) -> Document:
    """Baseline and refresh once, everything else for each agent; nothing of RepoCue's for direct."""
    reports = [one[condition] for one in sets]
    ours: Document = {
        "baseline_ms": counted(Fraction(one["baseline"]["wall_duration_ms"]) for one in reports),
        "refresh_ms": counted(Fraction(one["update"]["wall_duration_ms"]) for one in reports),
        "cue_ms": counted(
            (Fraction(one["cue_delivery"]["duration_ms"]) if one.get("cue_delivery") else None for one in reports),
            consumers,
        ),
        "cue_bytes": counted((Fraction(one["cue"]["bytes"]) for one in reports), consumers),
    }
    if condition == "direct":
        ours = dict.fromkeys(ours)
    agents = {
        "discovery_commands": "discovery_commands",
        "discovery_files_named": "discovery_files_named",
        "discovery_size_proxy_bytes": "discovery_size_proxy_bytes",
        "agent_total_tokens": "total_tokens",
        "agent_duration_ms": "execution_duration_ms",
    }
    theirs = {name: counted((value(one, metric) for one in reports), consumers) for name, metric in agents.items()}
    return {"consumers": consumers, **ours, **theirs}


def ratios(part: Any) -> list[Document]:
    """Every ratio anywhere in a document."""
    if isinstance(part, dict):
        if {"part", "whole", "value"} <= part.keys():
            return [part]
        return [found for member in part.values() for found in ratios(member)]
    return [found for item in part for found in ratios(item)] if isinstance(part, list) else []
