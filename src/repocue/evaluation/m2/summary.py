"""`repocue/m2-summary-1`: what published report sets say, repository by repository first. Reads files, starts nothing.

Every set is read and verified whole; one that is altered, damaged or incomplete stops the summary with its name, since
evidence is used unaltered or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from repocue.contracts import reader
from repocue.contracts.rules.evaluation import CONDITIONS
from repocue.domain.statistics import number
from repocue.evaluation.m2 import summary_statistics as statistics
from repocue.evaluation.m2.summary_aggregate import aggregate
from repocue.evaluation.m2.summary_groups import Group, grouped
from repocue.evaluation.m2.summary_inputs import Inputs
from repocue.evaluation.m2.summary_order import order
from repocue.evaluation.m2.summary_quality import Opinions, deterministic, judgements, opinions, qualitative
from repocue.evaluation.m2.summary_reuse import reuse
from repocue.evaluation.m2.summary_runs import Run, SetRuns, taken
from repocue.evaluation.m2.summary_verdict import ASSISTED, completeness, verdicts
from repocue.scoring import report_folders
from repocue.scoring.measurements import METRICS

CONTRACT: Final = "repocue/m2-summary-1"

NOT_OBSERVED: Final = (
    "account billing",
    "CPU",
    "memory",
    "filesystem I/O",
    "task-ready latency",
    "hidden context and provider requests",
)

LIMITATIONS: Final = (
    "Medians and ranges describe these runs; nothing here is a claim of significance.",
    "Differences are direct minus assisted within one set; a median of differences is not a difference of medians.",
    "Estimated values enter no statistics; cue tokens are ceil(bytes / 4), an estimate, and are never added to tokens.",
    "Reuse is derived from single runs and adds nothing up across its columns.",
    "Named-file sizes are proxies of what commands name, not of bytes that were read.",
    "Scores of assessors are opinions and are never combined with deterministic scores.",
    "Digests show that evidence agrees with itself; they are no signature.",
)
VERSION_3: Final = (
    "Version 3: a zero may stand for a counter that the agent's program left out; it cannot be told from an observed"
    " one. ambiguous_zeros counts values that are such a zero, hold one or are made from one.",
    "Version 3: that the context was there before the agent started is not established; a cue's full cost is unknown.",
    "Version 3: contents of untracked files are not covered by its fingerprint.",
)

Progress = Callable[[str, int, "int | None"], None]


def summarize(inputs: Inputs, *, progress: Progress | None = None) -> dict[str, Any]:
    """The summary of all sets in `inputs`, checked against its own contract.

    Raises EvidenceError, ContractError or EvaluationError where a set, an assessment or a key cannot be used.
    """
    sets, unknown = _sets(inputs, progress)
    groups = grouped(sets)
    found = opinions(groups, inputs.assessments(), inputs.keys())
    reported = [_group(group, found) for group in groups]
    document = {
        "schema_version": CONTRACT,
        "report_sets": [_set(one, group) for group in groups for one in group.sets],
        "unknown_entries": list(unknown),
        "repositories": list(_repositories(groups, reported)),
        "aggregate": aggregate(groups, reported),
        "rejected_assessments": list(found.rejected),
        "not_observed": list(NOT_OBSERVED),
        "limitations": [*LIMITATIONS, *(VERSION_3 if any(one.version == 3 for one in sets) else ())],
    }
    reader.check(document, contract=CONTRACT, subject="the summary")
    return document


def _sets(inputs: Inputs, progress: Progress | None) -> tuple[list[SetRuns], tuple[str, ...]]:
    """Each set, read, verified and reduced to what a summary keeps, one after the other."""
    folders = report_folders.find(inputs.report_sets)
    sets = []
    for place, folder in enumerate(folders.sets):
        if progress is not None:
            progress("Reading report sets", place, len(folders.sets))
        sets.append(taken(report_folders.load(folder)))
    return sets, folders.unknown


def _set(one: SetRuns, group: Group) -> dict[str, Any]:
    return {
        "folder": one.folder,
        "digest": one.digest,
        "report_version": one.version,
        "group": group.id,
        "run_index": one.run_index,
        "maintenance_id": one.first["maintenance_id"],
        "snapshot": one.first["repocue_snapshot"],
        "order_policy": one.order_policy,
        "order": list(one.order),
        "dry_run": one.metadata is None,
    }


def _repositories(groups: Sequence[Group], reported: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    pairs = zip(groups, reported, strict=True)
    for (name, root), members in groupby(pairs, key=lambda pair: (pair[0].name, pair[0].root)):
        yield {"name": name, "resolved_root": root, "groups": [document for _, document in members]}


def _group(group: Group, found: Opinions) -> dict[str, Any]:
    complete = completeness(group, found)
    by_order = order(group.sets)
    conditions = [_condition(group, condition, found) for condition in CONDITIONS]
    comparisons = [statistics.comparison(group.sets, condition) for condition in ASSISTED]
    return {
        "id": group.id,
        "identity": dict(group.identity),
        "status": _status(group),
        "completeness": complete,
        "verdicts": verdicts(
            group,
            complete=complete["complete"],
            separability=by_order["separability"] if by_order else None,
            conditions=conditions,
            comparisons=comparisons,
        ),
        "conditions": conditions,
        "comparisons": comparisons,
        "order": by_order,
        "reuse": reuse(group.sets),
        "reports": [_report(one, run) for one, run in group.runs],
        "assessments": judgements(group, found),
        "findings": [
            {
                "run_index": one.run_index,
                "condition": run.condition,
                "category": finding.category,
                "severity": finding.severity,
                "message": finding.message,
                "evidence": finding.evidence,
            }
            for one, run in group.runs
            for finding in run.findings
        ],
        "limitations": list(dict.fromkeys(text for one in group.sets for text in one.limitations)),
    }


def _status(group: Group) -> str:
    """dry-run, exploratory (one or two runs) or descriptive (three or more)."""
    if group.is_dry:
        return "dry-run"
    return "descriptive" if len(group.sets) >= 3 else "exploratory"


def _condition(group: Group, condition: str, found: Opinions) -> dict[str, Any]:
    runs = [one.run(condition) for one in group.sets]
    return {
        "condition": condition,
        "reports": len(runs),
        "comparable": sum(run.is_comparable for run in runs),
        "cue": statistics.cue_sizes(group.sets, condition),
        "metrics": statistics.condition_metrics(runs),
        "deterministic": deterministic(runs),
        "qualitative": qualitative(runs, found),
    }


def _report(one: SetRuns, run: Run) -> dict[str, Any]:
    """One run as it stands, estimated values included, so that every figure can be recomputed."""
    return {
        "run_index": one.run_index,
        "condition": run.condition,
        "position": run.position,
        "file": run.report_name,
        "sha256": run.sha256,
        "response_id": None if run.response is None else run.response.digest,
        "comparable": run.is_comparable,
        "contaminations": list(run.contaminations),
        "metrics": {
            metric: {"value": None if value.value is None else number(value.value), "source": value.source}
            for metric in METRICS
            for value in [run.value(metric)]
        },
        "score": None if run.score is None else run.score.to_json(),
    }
