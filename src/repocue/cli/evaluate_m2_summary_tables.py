"""The tables of an M2 summary as rows of text. Pure: parts of a `repocue/m2-summary-1` document in, tables out.

Figures are shown short; a ratio is divided from the very figures that stand beside it. `n` is how many values a figure
is over, of how many; where the figures of a row are not over equally many, each says so in brackets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

NONE: Final = "-"
_ALL: Final = "all five"
METRICS: Final = {
    "total_tokens": "total tokens",
    "input_tokens": "input",
    "uncached_input_tokens": "input, uncached",
    "cached_input_tokens": "input, cached",
    "cache_write_input_tokens": "cache writes",
    "output_tokens": "output",
    "reasoning_output_tokens": "reasoning",
    "execution_duration_ms": "duration ms",
    "tool_calls": "tool calls",
    "command_executions": "commands",
    "git_calls": "git commands",
    "filesystem_search_calls": "searches",
    "repository_files_named": "files named",
    "named_file_size_proxy_bytes": "their size (proxy)",
    "discovery_commands": "lookups",
    "discovery_files_named": "lookups: files",
    "discovery_size_proxy_bytes": "lookups: size",
}
_POSITION: Final = {
    "total_tokens": "total ",
    "input_tokens": "input ",
    "uncached_input_tokens": "uncached ",
    "cached_input_tokens": "cached ",
    "execution_duration_ms": "ms ",
}
_REUSE: Final = {
    "baseline_ms": "baseline ",
    "refresh_ms": "refresh ",
    "cue_ms": "cue ",
    "discovery_commands": "lookups ",
    "discovery_size_proxy_bytes": "size ",
    "agent_total_tokens": "tokens ",
}
_SCORES: Final = {
    "purpose": "purpose",
    "architecture": "archit.",
    "documentation": "docs",
    "recent_changes": "changes",
    "structural_completeness": "struct.",
    "uncertainty_handling": "uncert.",
}


class Table(NamedTuple):
    """A title, column names (one that ends in a blank is of numbers) and rows. `notes` stand below it."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


def figure(value: float | None) -> str:
    """A number, short: whole ones in full, others with one decimal from 100 on and three below."""
    if value is None:
        return NONE
    if isinstance(value, int):
        return f"{value:,}"
    text = f"{value:,.1f}" if abs(value) >= 100 else f"{value:,.3f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def ratio(part: str, whole: str) -> str:
    """Two shown figures divided, with three decimals; `-` where that is undefined."""
    if NONE in (part, whole):
        return NONE
    below = Decimal(whole.replace(",", ""))
    return NONE if not below else f"{Decimal(part.replace(',', '')) / below:.3f}"


def share(n: int, of: int) -> str:
    return f"{n}/{of}"


def cues(conditions: Sequence[Mapping[str, Any]]) -> Table:
    rows = []
    for one in conditions:
        cue = one["cue"]
        estimates = [figure(value) for value in cue["estimated_tokens"]]
        rows.append(
            (
                one["condition"],
                share(cue["bytes"]["n"], cue["bytes"]["of"]),
                *_figures(cue["bytes"]),
                estimates[0] if len(estimates) == 1 else f"{estimates[0]}–{estimates[-1]}",
                figure(cue["command_ms"]["median"]),
                share(cue["command_ms"]["n"], cue["command_ms"]["of"]),
            )
        )
    return Table(
        "What each condition supplies, in bytes",
        ("condition", "n ", "median ", "min ", "max ", "est. tokens ", "command ms ", "n "),
        rows,
        (f"The budget is {figure(conditions[0]['cue']['max_tokens'])} estimated tokens, ceil(bytes / 4).",),
    )


def measurements(conditions: Sequence[Mapping[str, Any]]) -> Table:
    """Every measurement that any condition has, a row for each, or one where all five agree; others are named below."""
    rows: list[tuple[str, ...]] = []
    notes: list[str] = []
    unknown = []
    for metric, name in METRICS.items():
        found = [(one["condition"], one["metrics"][metric]) for one in conditions]
        notes += [note for condition, values in found for note in _left_out(name, condition, values)]
        if not any(values["n"] for _, values in found):
            unknown.append(name)
            continue
        lines = [(condition, share(values["n"], values["of"]), *_figures(values)) for condition, values in found]
        if len({line[1:] for line in lines}) == 1:
            lines = [(_ALL, *lines[0][1:])]
        rows += [(name if place == 0 else "", *line) for place, line in enumerate(lines)]
    if unknown:
        notes.insert(0, f"Not observed in any run: {', '.join(unknown)}.")
    for one in conditions:
        if one["comparable"] < one["reports"]:
            lost = one["reports"] - one["comparable"]
            notes.append(f"{one['condition']}: {lost} contaminated, left out of every figure of agents.")
    return Table("Measurements", ("", "condition", "n ", "median ", "min ", "max "), rows, notes)


def _left_out(name: str, condition: str, values: Mapping[str, Any]) -> list[str]:
    found = []
    if values["left_out"]["estimated"]:
        found.append(f"{name}, {condition}: {values['left_out']['estimated']} estimated, left out.")
    if values["ambiguous_zeros"]:
        several = values["ambiguous_zeros"]
        found.append(f"{name}, {condition}: {several} with a zero, perhaps a counter that was left out.")
    return found


def compared(comparison: Mapping[str, Any], *, title: str) -> Table:
    """One assisted condition beside direct; the ratio divides out from the two columns before it.

    Measurements without any difference are named below with what they are over.
    """
    rows = []
    equal: dict[str, list[str]] = {}
    for metric, name in METRICS.items():
        values = comparison["metrics"][metric]
        if not values["n"]:
            continue
        if not values["difference"]["min"] and not values["difference"]["max"]:
            equal.setdefault(share(values["n"], values["of"]), []).append(name)
            continue
        direct, assisted = figure(values["direct"]["median"]), figure(values["assisted"]["median"])
        rows.append(
            (
                name,
                share(values["n"], values["of"]),
                direct,
                assisted,
                ratio(assisted, direct),
                *_figures(values["difference"]),
            )
        )
    columns = ("", "n ", "direct ", "assisted ", "ratio ", "less by ", "min ", "max ")
    notes = [f"No difference (n {n}): {', '.join(names)}." for n, names in equal.items()]
    return Table(title, columns, rows, notes)


def positions(order: Mapping[str, Any]) -> Table:
    rows = []
    for one in order["positions"]:
        metrics = [one["metrics"][metric] for metric in _POSITION]
        names = [entry["condition"] for entry in one["conditions"]]
        who = names[0] if len(names) == 1 else _ALL if len(names) == 5 else f"{len(names)} conditions"
        rows.append((str(one["position"]), who, *_with_n(metrics)))
    return Table("By position", ("", "condition", "n ", *_POSITION.values()), rows, (order["statement"],))


def reuse(document: Mapping[str, Any]) -> Table:
    """A row for each number of consumers, condition by condition."""
    rows = []
    for one in document["conditions"]:
        for place, row in enumerate(one["consumers"]):
            shown = one["condition"] if place == 0 else ""
            rows.append((shown, str(row["consumers"]), *_with_n([row[name] for name in _REUSE])))
    return Table(
        "Reuse, derived: medians for N agents; baseline, refresh and cue in ms",
        ("condition", "N ", "n ", *_REUSE.values()),
        rows,
        (
            "Baseline and refresh are paid once; cue, lookups, their size (a proxy) and tokens for each agent. Nothing"
            " is added up: tokens already include the supplied context.",
        ),
    )


def _with_n(values: Sequence[Mapping[str, Any] | None]) -> list[str]:
    """`n` and the medians; a figure over another number of values than the row says so itself."""
    known = [value for value in values if value is not None]
    counts = [(value["n"], value["of"]) for value in known if value["n"]]
    row = max(counts, key=lambda one: (counts.count(one), one), default=(0, known[0]["of"] if known else 0))
    cells = []
    for value in values:
        if value is None or not value["n"]:
            cells.append(NONE)
        else:
            differs = (value["n"], value["of"]) != row
            cells.append(figure(value["median"]) + (f" ({share(value['n'], value['of'])})" if differs else ""))
    return [share(*row), *cells]


def answers(conditions: Sequence[Mapping[str, Any]]) -> Table:
    """Right answers of those that could be scored, field by field."""
    fields = ("all_fields", "branch", "head", "dirty", "tracked_changes", "untracked")
    rows = []
    notes = []
    for one in conditions:
        found = one["deterministic"]
        cells = [
            share(found[name]["correct"], found[name]["scored"]) if found[name]["scored"] else NONE for name in fields
        ]
        rows.append((one["condition"], share(found["answers"], found["of"]), *cells))
        notes += [note for name in fields[-2:] for note in _lists(one["condition"], name, found[name])]
    if any(one["deterministic"][name]["reason"] for one in conditions for name in fields[-2:]):
        notes.append("Changed paths of a dirty repository are scored only where its reports keep them.")
    return Table(
        "Answers that are right, by the deterministic scorer",
        ("condition", "n ", "all ", "branch ", "HEAD ", "dirty ", "changes ", "untracked "),
        rows,
        notes,
    )


def _lists(condition: str, name: str, found: Mapping[str, Any]) -> list[str]:
    """Precision and recall where there is anything to divide."""
    words = []
    for kind in ("precision", "recall"):
        part, whole = found[kind]["part"], found[kind]["whole"]
        if whole:
            words.append(f"{kind} {part}/{whole} = {ratio(figure(part), figure(whole))}")
    label = "changes" if name == "tracked_changes" else "untracked"
    return [f"{condition}, {label}: {', '.join(words)}."] if words else []


def assessed(conditions: Sequence[Mapping[str, Any]], assessments: Sequence[Mapping[str, Any]]) -> Table:
    """Medians and ranges of opinions, of conditions that were judged; below, whose they are and when."""
    rows = []
    whose = {f"{one['assessor']} ({one['assessed_at'] or 'date unknown'})": None for one in assessments}
    for one in conditions:
        found = one["qualitative"]
        if not found["judgements"]:
            continue
        scores = [found["scores"][name] for name in _SCORES]
        cells = [f"{figure(score['median'])} {figure(score['min'])}–{figure(score['max'])}" for score in scores]
        rows.append((one["condition"], str(found["judgements"]), str(found["blinded"]), *cells))
    return Table(
        "Assessors' opinions, 0 to 4: median and range",
        ("condition", "n ", "blind ", *(f"{name} " for name in _SCORES.values())),
        rows,
        ("n counts judgements; blind are those under a random id.", f"By {', '.join(whose)}.") if rows else (),
    )


def _figures(values: Mapping[str, Any]) -> tuple[str, str, str]:
    return figure(values["median"]), figure(values["min"]), figure(values["max"])
