"""One group of comparable pairs as a section of the page. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from repocue.domain.measurement import ESTIMATED, NOT_OBSERVED
from repocue.report.html.coverage_figures import coverage_figure
from repocue.report.html.figure import NOTHING, Cell, Fact, Figure, Table, span
from repocue.report.html.metrics import LEADING, metric, ordered
from repocue.report.html.numbers import exact, percent, signed, times
from repocue.report.html.pair_figures import pair_figure
from repocue.report.html.pairs import AMBIGUOUS, DAGGER, is_ambiguous, short_digest
from repocue.report.html.scenario_figures import saving_figure, scenario_figure
from repocue.report.html.text import plain, words
from repocue.report.html.totals_tables import break_even_table, totals_table

SHOWN: Final = (*LEADING, "output_tokens", "command_executions")
"""The measurements whose pairs stand open; those of others unfold."""

MOST_DRAWN: Final = 4
"""This many groups, those of the most pairs, are drawn in full; of others the leading measurements are."""

MOST_PAIRS: Final = 200
"""More pairs than this are not tabled one by one."""


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
    coverage: Figure | None
    """None where the group is not drawn in full; its coverage then stands in its tables alone."""


def group_sections(groups: Sequence[Mapping[str, Any]]) -> list[GroupSection]:
    """All groups in the report's order; the largest are drawn in full, the others with less."""
    drawn = largest(groups, MOST_DRAWN)
    return [_group_section(group, number, is_full=number in drawn) for number, group in enumerate(groups, start=1)]


def _group_section(group: Mapping[str, Any], number: int, *, is_full: bool) -> GroupSection:
    """Everything that the page shows of one group. `number` counts from 1 and makes its ids unique."""
    names = ordered(group["metrics"]) if is_full else [name for name in LEADING if name in group["metrics"]]
    figures = [pair_figure(group, metric(name), f"g{number}-pairs-{at}") for at, name in enumerate(names)]
    scenarios: list[Figure] = []
    projected = ordered(group["break_even"])
    for at, name in enumerate(projected if is_full else ()):
        if name in LEADING:
            scenarios.append(scenario_figure(group, metric(name), f"g{number}-totals-{at}"))
            saving = saving_figure(group, metric(name), f"g{number}-saving-{at}")
            scenarios.extend([saving] if saving is not None else [])
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
        scenario_figures=scenarios,
        other_totals=totals_table(group, [name for name in projected if name not in LEADING or not is_full]),
        break_evens=break_even_table(group, projected),
        coverage=coverage_figure(group, f"g{number}-coverage") if is_full else None,
    )


def largest(groups: Sequence[Mapping[str, Any]], most: int) -> set[int]:
    """The numbers of the groups with the most pairs; of equal ones the later, which was imported later."""
    by_size = sorted(range(1, len(groups) + 1), key=lambda number: (len(groups[number - 1]["pairs"]), number))
    return set(by_size[-most:])


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


def _statistics(group: Mapping[str, Any]) -> Table:
    rows = []
    is_marked = False
    for name in ordered(group["metrics"]):
        statistics = group["metrics"][name]
        mark = DAGGER if is_ambiguous(group, name) else ""
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
