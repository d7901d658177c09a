"""What the page says in words, and in which order: the report document as sections. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from repocue.domain.measurement import DERIVED, ESTIMATED, NOT_OBSERVED, OBSERVED
from repocue.report.html.coverage_figures import coverage_figure
from repocue.report.html.figure import NOTHING, Cell, Figure, Table, span
from repocue.report.html.metrics import metric, ordered
from repocue.report.html.numbers import exact, human, percent, signed, times
from repocue.report.html.pair_figures import AMBIGUOUS, is_ambiguous, pair_figure, short_digest
from repocue.report.html.scenario_figures import break_even_table, saving_figure, scenario_figure, totals_table
from repocue.report.html.text import plain, words

LEADING: Final = ("total_tokens", "execution_duration_ms")
"""The measurements that the opening names and whose totals are drawn; those of others are tabled."""

SHOWN: Final = (*LEADING, "output_tokens", "command_executions")
"""The measurements whose pairs stand open; those of others unfold."""

MOST_OPENED: Final = 3
"""The opening speaks of this many groups."""

MOST_PAIRS: Final = 200
"""More pairs than this are not tabled one by one."""


class Key(NamedTuple):
    """One leading number: its name, its value, where it comes from, and what it is over."""

    label: str
    text: str
    value: float | None
    source: str
    detail: str


class Fact(NamedTuple):
    """One line of a list of facts."""

    label: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSection:
    """One group of comparable pairs."""

    id: str
    name: str
    number: int
    status: str
    status_text: str
    pairs: int
    identity: Sequence[Fact]
    made: Table
    statistics: Table
    leading_figures: Sequence[Figure]
    other_figures: Sequence[Figure]
    unobserved: Sequence[str]
    scenario_figures: Sequence[Figure]
    other_totals: Table
    break_evens: Table
    coverage: Figure


def group_section(group: Mapping[str, Any], number: int) -> GroupSection:
    """Everything that the page shows of one group. `number` counts from 1 and makes its ids unique."""
    names = ordered(group["metrics"])
    figures = [pair_figure(group, metric(name), f"g{number}-pairs-{at}") for at, name in enumerate(names)]
    leading: list[Figure] = []
    projected = ordered(group["break_even"])
    for at, name in enumerate(projected):
        if name in LEADING:
            leading.append(scenario_figure(group, metric(name), f"g{number}-totals-{at}"))
            saving = saving_figure(group, metric(name), f"g{number}-saving-{at}")
            leading.extend([saving] if saving is not None else [])
    return GroupSection(
        id=f"section-{number}",
        name=plain(group["id"]),
        number=number,
        status=plain(group["status"]),
        status_text=_status_text(str(group["status"]), len(group["pairs"])),
        pairs=len(group["pairs"]),
        identity=[*facts(group["identity"]), Fact("Maintenance counted once (H)", _h(group["maintenance_ms"]))],
        made=_made(group),
        statistics=_statistics(group),
        leading_figures=[figure for name, figure in zip(names, figures, strict=True) if name in SHOWN],
        other_figures=[
            figure for name, figure in zip(names, figures, strict=True) if name not in SHOWN and not figure.absent
        ],
        unobserved=[
            figure.title for name, figure in zip(names, figures, strict=True) if name not in SHOWN and figure.absent
        ],
        scenario_figures=leading,
        other_totals=totals_table(group, [name for name in projected if name not in LEADING]),
        break_evens=break_even_table(group, projected),
        coverage=coverage_figure(group, f"g{number}-coverage"),
    )


def opening(document: Mapping[str, Any]) -> list[str]:
    """What the report says, in a few sentences. Without agent evidence there is no word of any saving."""
    current = document["maintenance"]["current_epoch"]
    runs = " and ".join(_runs(current))
    duration = current["duration_ms"]
    if duration is None:
        first = f"The current epoch has {runs}; not every duration is known, so no total is given."
    else:
        first = f"Maintaining the current epoch took {human(duration, 'ms')} in {runs}."
    sentences = [first]
    evidence = document["agent_evidence"]
    if evidence["status"] == "unavailable":
        sentences.append(
            "Agent evidence is unavailable: there is no calibration that applies here, so this report "
            "says what maintenance cost and nothing about what agents need."
        )
        return sentences
    groups = evidence["groups"]
    pairs = sum(len(group["pairs"]) for group in groups)
    sentences.append(
        f"Agent evidence is {plain(evidence['status'])}: {times(pairs, 'pair')} in {times(len(groups), 'group')}."
    )
    if len(groups) > 1:
        sentences[-1] += " The groups were measured differently and are never pooled."
    for number, group in enumerate(groups[:MOST_OPENED], start=1):
        found = [_comparison(group, name) for name in LEADING if _difference(group, name) is not None]
        if found and len(groups) > 1:
            model = group["identity"]["model"]
            name = f"Group {number}" + ("" if model is None else f", {plain(model)}")
            found[0] = f"{name}, {plain(group['status'])}: {found[0][0].lower()}{found[0][1:]}"
        sentences.append(" ".join(found) if found else f"Group {number} has no pair in which both costs are known.")
    return sentences


def keys(document: Mapping[str, Any]) -> list[Key]:
    """The leading numbers."""
    current = document["maintenance"]["current_epoch"]
    duration = current["duration_ms"]
    size = document["maintenance"]["database_bytes"]
    cues = len(document["maintenance"]["cue_runs"])
    found = [
        Key(
            "Maintenance, current epoch",
            "not observed" if duration is None else human(duration, "ms"),
            duration,
            NOT_OBSERVED if duration is None else OBSERVED,
            ", ".join(_runs(current)),
        ),
        Key("Cues served", exact(cues), cues, OBSERVED, "commands in this window, not users"),
        Key(
            "Database now",
            "not observed" if size is None else human(size, "bytes"),
            size,
            NOT_OBSERVED if size is None else OBSERVED,
            "its size when this report was made",
        ),
    ]
    evidence = document["agent_evidence"]
    groups = evidence["groups"]
    if evidence["status"] == "unavailable":
        found.append(Key("Agent evidence", "unavailable", None, NOT_OBSERVED, "no calibration applies"))
        return found
    pairs = sum(len(group["pairs"]) for group in groups)
    found.append(
        Key(
            "Pairs used",
            exact(pairs),
            pairs,
            OBSERVED,
            f"{plain(evidence['status'])}, in {times(len(groups), 'group')}",
        )
    )
    if len(groups) == 1:
        for name in LEADING:
            difference = _difference(groups[0], name)
            if difference is not None:
                coverage = groups[0]["metrics"][name]["coverage"]
                found.append(
                    Key(
                        f"{metric(name).label}, direct minus assisted",
                        ("+" if difference["median"] > 0 else "") + human(difference["median"], metric(name).unit),
                        difference["median"],
                        DERIVED,
                        f"median of {coverage['complete']} of {times(coverage['of'], 'paired difference')}",
                    )
                )
    return found


def facts(value: object, prefix: str = "") -> list[Fact]:
    """The scalar members of a document's part, by name; unknown ones say so."""
    if not isinstance(value, Mapping):
        return [Fact("Identity", _scalar(value))]
    found: list[Fact] = []
    for name, member in value.items():
        label = f"{prefix}{words(name)}".replace("cli version", "CLI version").replace("sha256", "SHA-256")
        if isinstance(member, Mapping):
            found.extend(facts(member, f"{label}, "))
        elif isinstance(member, list):
            found.append(Fact(label, ", ".join(_scalar(item) for item in member) or "none"))
        else:
            found.append(Fact(label, _scalar(member)))
    return found


def _h(value: float | None) -> str:
    return "not available" if value is None else f"{exact(value)} ms"


def _made(group: Mapping[str, Any]) -> Table:
    """Where each pair comes from, when its runs stood in their set, and what its cue cost."""
    pairs = group["pairs"][:MOST_PAIRS]
    cut = len(group["pairs"]) - len(pairs)
    return Table(
        caption="Every pair's origin and cue",
        columns=(
            "Pair",
            "Calibration",
            "Report set",
            "Run",
            "Snapshot",
            "Direct started as",
            "Assisted started as",
            "Cue command, Q (ms)",
            "Cue bytes",
            "Cue tokens",
            "Delivered before the agent",
        ),
        numeric=(False, False, False, True, False, True, True, True, True, True, False),
        rows=[
            (
                Cell(f"pair {number}"),
                Cell(plain(pair["calibration"])),
                Cell(short_digest(pair["set"])),
                _number(pair["run_index"]),
                Cell(plain(pair["snapshot"])),
                _number(pair["direct_position"]),
                _number(pair["assisted_position"]),
                _number(pair["cue_ms"]),
                _number(pair["cue_bytes"]),
                _number(pair["cue_estimated_tokens"], ESTIMATED),
                Cell(words(pair["cue_delivery"])),
            )
            for number, pair in enumerate(pairs, start=1)
        ],
        note="An agent's tokens already contain its cue; the estimate of a cue's tokens is never added to them."
        + (f" {times(cut, 'more pair')} in the report's JSON form." if cut else ""),
    )


def _number(value: float | None, source: str = "") -> Cell:
    if value is None:
        return NOTHING
    return Cell(("\N{ALMOST EQUAL TO}" if source == ESTIMATED else "") + exact(value), value, source)


def _runs(current: Mapping[str, Any]) -> tuple[str, str]:
    return times(current["baseline_runs"], "baseline run"), times(current["refresh_runs"], "refresh", "refreshes")


def _difference(group: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    statistics = group["metrics"].get(name)
    return None if statistics is None else statistics["difference"]


def _comparison(group: Mapping[str, Any], name: str) -> str:
    statistics = group["metrics"][name]
    unit, median = metric(name).unit, statistics["difference"]["median"]
    label = metric(name).label.lower()
    complete, of = statistics["coverage"]["complete"], statistics["coverage"]["of"]
    coverage = f"the median of {complete} of {of} pairs" if of > 1 else "one pair"
    if median == 0:
        return f"For {label}, the paired difference was zero ({coverage})."
    share = statistics["percent_median"]
    part = f", {percent(abs(share))}" if share is not None and (share > 0) == (median > 0) else ""
    return (
        f"For {label}, the assisted agent needed {human(abs(median), unit)} {'less' if median > 0 else 'more'} "
        f"than the direct one{part} ({coverage})."
    )


def _statistics(group: Mapping[str, Any]) -> Table:
    rows = []
    is_marked = False
    for name in ordered(group["metrics"]):
        statistics = group["metrics"][name]
        mark = "\N{NARROW NO-BREAK SPACE}\N{DAGGER}" if is_ambiguous(group, name) else ""
        is_marked = is_marked or bool(mark)
        shown = metric(name)
        unit = {"ms": " (ms)", "bytes": " (bytes)", "tokens": "", "count": ""}[shown.unit]
        coverage, share = statistics["coverage"], statistics["percent_median"]
        rows.append(
            (
                Cell(plain(shown.label) + unit + mark),
                Cell(f"{exact(coverage['complete'])} of {exact(coverage['of'])}", coverage["complete"]),
                *_spread(statistics["direct"]),
                *_spread(statistics["assisted"]),
                *_spread(statistics["difference"], is_signed=True),
                Cell("not available", None, NOT_OBSERVED) if share is None else Cell(percent(share), share),
            )
        )
    return Table(
        caption="Direct and assisted agents over all complete pairs",
        columns=(
            "Measurement",
            "Pairs",
            "Direct, median",
            "range",
            "Assisted, median",
            "range",
            "Paired difference, median",
            "range",
            "Median share of direct",
        ),
        numeric=(False, True, True, True, True, True, True, True, True),
        rows=rows,
        note="Differences and shares are taken within each pair before any median. A positive difference means that "
        "the assisted agent needed less." + (f" {AMBIGUOUS}" if is_marked else ""),
    )


def _spread(spread: Mapping[str, Any] | None, *, is_signed: bool = False) -> tuple[Cell, Cell]:
    if spread is None:
        return Cell("not available", None, NOT_OBSERVED), Cell("")
    form = signed if is_signed else exact
    return (
        Cell(form(spread["median"]), spread["median"]),
        span(spread["min"], spread["max"], form),
    )


def _status_text(status: str, pairs: int) -> str:
    if status == "descriptive":
        return f"{times(pairs, 'pair')}: medians and ranges describe these runs. They are no claim of significance."
    if status == "exploratory":
        return (
            f"{times(pairs, 'pair')}: too few to describe anything but themselves. Three or more would be descriptive."
        )
    return "No pair of this group can be used."


def _scalar(value: object) -> str:
    if value is None:
        return "not stated"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return exact(value)
    return plain(value) or "(empty)"
