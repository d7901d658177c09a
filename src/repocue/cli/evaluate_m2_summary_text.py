"""How the answers of `evaluate-m2 summary`, `blind` and `unblind` read on a terminal. Pure: document in, text out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from repocue.cli import evaluate_m2_summary_tables as tables

_LACKS: Final = {
    "agent-runs": "agent runs: this is a dry run and no agent evidence",
    "runs": "runs",
    "comparable-run": "a comparable run",
    "assessment": "an assessment",
    "blinded-assessment": "proof that an assessment was blinded (name its key)",
}
_VERDICTS: Final = {
    "not-established": "not established",
    "fewer-tokens": "fewer tokens than direct",
    "not-fewer-tokens": "not fewer tokens than direct",
}


def summary(document: Mapping[str, Any]) -> Any:
    """The text of a `repocue/m2-summary-1` document: each repository first, then what they have in common."""
    from rich.console import Group

    return Group(*_summary(document))


def _summary(document: Mapping[str, Any]) -> Iterator[Any]:
    for place, repository in enumerate(document["repositories"]):
        if place:
            yield _bold("")
        yield _bold(f"{repository['name']}  {repository['resolved_root']}")
        for group in repository["groups"]:
            yield from _group(group)
    yield from _aggregate(document["aggregate"])
    for entry in document["unknown_entries"]:
        yield _line(f"Belongs to no report set: {entry}")
    for one in document["rejected_assessments"]:
        yield _line(f"Assessment rejected: {one['source']}: {one['reason'].replace('-', ' ')} ({one['detail']})")
    yield _line(f"Not observed: {', '.join(document['not_observed'])}.")
    for limitation in document["limitations"]:
        yield _line(limitation)


def _group(group: Mapping[str, Any]) -> Iterator[Any]:
    yield _bold("")
    for line in _heading(group):
        yield _line(line)
    conditions = group["conditions"]
    yield from _table(tables.cues(conditions))
    if group["status"] != "dry-run":
        yield from _table(tables.measurements(conditions))
        for comparison in group["comparisons"]:
            first = f"direct first in {comparison['direct_first']} of {comparison['pairs']} pairs"
            yield from _table(
                tables.compared(comparison, title=f"{comparison['condition']} beside direct, pair by pair; {first}")
            )
        yield from _table(tables.positions(group["order"]))
    yield from _table(tables.reuse(group["reuse"]))
    if group["status"] != "dry-run":
        yield from _table(tables.answers(conditions))
        yield from _table(tables.assessed(conditions, group["assessments"]))
    yield _bold("")
    yield from map(_line, _findings(group["findings"]))
    for limitation in group["limitations"]:
        yield _line(f"Reported: {limitation}")


def _heading(group: Mapping[str, Any]) -> Iterator[str]:
    identity, complete = group["identity"], group["completeness"]
    runner, state = identity["runner"], identity["state"]
    who = "dry run, no agent" if runner is None else _runner(runner)
    yield f"{group['id']}: {who}"
    head = state["head"][:12] if state["head"] else "no commit"
    dirty = "dirty" if state["dirty"] else "clean"
    build = "" if identity["repocue"] is None else f", RepoCue {identity['repocue']['version']}"
    yield (
        f"  {state['branch'] or 'detached'} at {head}, {dirty}; reports of version {identity['report_version']}{build};"
        f" budget {tables.figure(identity['max_tokens'])} tokens"
    )
    if identity["benchmark_text_sha256"]:
        yield f"  asked with another text: {identity['benchmark_text_sha256']}"
    runs = ", ".join(map(str, complete["runs"]))
    yield (
        f"  {group['status']}; run{'s' * (len(complete['runs']) > 1)} {runs}: {complete['reports']} reports"
        f" ({complete['required_reports']} needed), {complete['comparable']} comparable,"
        f" {complete['assessed_blinded']} assessed blind"
    )
    yield from _missing(complete)
    yield from _verdicts(group["verdicts"])


def _runner(runner: Mapping[str, Any]) -> str:
    version = "of unknown version" if runner["cli_version"] is None else runner["cli_version"]
    tier = "" if runner["service_tier"] is None else f", tier {runner['service_tier']}"
    return (
        f"{runner['adapter']} {runner['adapter_version']}, program {version}; {runner['model']},"
        f" effort {runner['reasoning_effort']}{tier}, sandbox {runner['sandbox']}"
    )


def _missing(complete: Mapping[str, Any]) -> Iterator[str]:
    """What is missing, one line for each kind of it, run by run and condition by condition."""
    lacks: dict[str, dict[int, list[str]]] = {}
    for one in complete["missing"]:
        runs = lacks.setdefault(one["what"], {})
        if one["run_index"] is not None:
            runs.setdefault(one["run_index"], []).append(one["condition"])
    for what, runs in lacks.items():
        words = _LACKS[what]
        if what == "runs":
            lacking = complete["required_reports"] - complete["reports"]
            words = f"{lacking} of {complete['required_reports']} reports: three runs or more are needed"
        where = [f"run {run} {'all five' if len(names) == 5 else ', '.join(names)}" for run, names in runs.items()]
        yield f"  missing: {words}" + (f": {'; '.join(where)}" if where else "")


def _verdicts(verdicts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Equal verdicts with equal reasons in one line."""
    grouped: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for one in verdicts:
        grouped.setdefault((one["status"], *one["reasons"]), []).append(one)
    for (status, *reasons), members in grouped.items():
        names = ", ".join(_named(one) for one in members)
        yield f"  {names}: {_VERDICTS[status]}" + (f". {' '.join(reasons)}" if reasons else "")


def _named(verdict: Mapping[str, Any]) -> str:
    if verdict["status"] == "not-established":
        return str(verdict["condition"])
    less = tables.figure(verdict["median_difference"])
    return f"{verdict['condition']} (median difference {less}, n {tables.share(verdict['n'], verdict['of'])})"


def _findings(findings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Warnings in full; the others are counted."""
    quiet = 0
    for one in findings:
        if one["severity"] == "info":
            quiet += 1
            continue
        evidence = f" — {one['evidence']}" if one["evidence"] else ""
        yield f"Finding, run {one['run_index']} {one['condition']}: {one['category']}: {one['message']}{evidence}"
    if quiet:
        yield f"Further findings without a warning: {quiet} (in the JSON form)."


def _aggregate(aggregate: Mapping[str, Any]) -> Iterator[Any]:
    yield _bold("")
    yield _bold("Over repositories")
    if not aggregate["pools"]:
        yield _line("No aggregate: it needs complete groups of two repositories that were measured the same way.")
    for pool in aggregate["pools"]:
        names = ", ".join(f"{one['repository']} ({one['group']})" for one in pool["groups"])
        yield _line(f"Medians over the groups of {names}; n counts groups.")
        for comparison in pool["comparisons"]:
            yield from _table(tables.compared(comparison, title=f"{comparison['condition']} beside direct"))
    for one in aggregate["left_out"]:
        yield _line(f"Left out: {one['group']}. {one['reason']}")


def _table(made: tables.Table) -> Iterator[Any]:
    """A title, the table and its notes; nothing where there is neither row nor note."""
    if not made.rows and not made.notes:
        return
    yield _bold("")
    yield _bold(made.title)
    if made.rows:
        yield _rich(made)
    yield from map(_line, made.notes)


def _rich(made: tables.Table) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 0), pad_edge=False)
    for column in made.columns:
        is_number = column.endswith(" ")
        table.add_column(
            column.strip(), justify="right" if is_number else "left", overflow="fold", no_wrap=not is_number
        )
    for row in made.rows:
        table.add_row(*(Text(_printable(cell)) for cell in row))
    return table


def _line(text: str) -> Any:
    """A line that no terminal obeys and no markup alters; long ones are wrapped below their own indentation."""
    from rich.padding import Padding
    from rich.text import Text

    bare = text.lstrip(" ")
    if bare == text:
        return Text(_printable(bare))
    return Padding(Text(_printable(bare)), (0, 0, 0, len(text) - len(bare)), expand=False)


def _bold(text: str) -> Any:
    from rich.text import Text

    return Text(_printable(text), style="bold")


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def blinding(document: Mapping[str, Any]) -> str:
    """The text of a `repocue/blinding-1` document of either kind."""
    if document["kind"] == "unblinded":
        lines = [
            f"Wrote {len(document['assessments'])} assessments to",
            f"  {document['assessments_directory']}",
            *(
                f"{one['scores']} leaves out {len(one['response_ids'])} answers: {', '.join(one['response_ids'])}"
                for one in document["not_scored"]
            ),
        ]
    else:
        lines = [
            f"Blinded {document['answers']} answers. Hand over this folder:",
            f"  {document['answers_directory']}",
            "Keep this key away from the assessor until the scores are in:",
            f"  {document['key']}",
            *document["limitations"],
        ]
    return "\n".join(map(_printable, lines))
