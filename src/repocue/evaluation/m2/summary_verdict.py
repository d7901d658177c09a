"""What is missing, and what may be said. Pure.

Nothing is said of success unless all fifteen reports and a blinded assessment of each are there (seed, "Reuse
Analysis"). Then one thing is said of each assisted condition, and only of these runs: whether it
took fewer tokens than direct by the median of paired differences, where its answers were no worse. What may explain it
otherwise stands beside it. It is a description of these runs, never a claim of significance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from repocue.contracts.rules.evaluation import CONDITIONS
from repocue.domain.statistics import exact
from repocue.evaluation.m2.summary_groups import REQUIRED_REPORTS, REQUIRED_RUNS, Group
from repocue.evaluation.m2.summary_order import BALANCED, STATEMENTS
from repocue.evaluation.m2.summary_quality import Opinions
from repocue.scoring.assessment import SCORES

METRIC: Final = "total_tokens"

NOT_ESTABLISHED: Final = "not-established"
FEWER: Final = "fewer-tokens"
NOT_FEWER: Final = "not-fewer-tokens"


def missing(group: Group, found: Opinions) -> list[dict[str, Any]]:
    """`{what, run_index, condition}` of everything that a complete comparison still needs.

    `what` is agent-runs (a dry run), runs, assessment, blinded-assessment or comparable-run.
    """
    if group.is_dry:
        return [_lack("agent-runs")]
    lacks = [_lack("runs")] if len(group.sets) < REQUIRED_RUNS else []
    for one, run in group.runs:
        if not run.is_comparable:
            lacks.append(_lack("comparable-run", one.run_index, run.condition))
        if not found.of(run):
            lacks.append(_lack("assessment", one.run_index, run.condition))
        elif not found.has_blinded(run):
            lacks.append(_lack("blinded-assessment", one.run_index, run.condition))
    return lacks


def _lack(what: str, run_index: int | None = None, condition: str | None = None) -> dict[str, Any]:
    return {"what": what, "run_index": run_index, "condition": condition}


def completeness(group: Group, found: Opinions) -> dict[str, Any]:
    """How much of a complete comparison is there. `complete` is true where nothing is missing."""
    runs = [run for _, run in group.runs]
    lacks = missing(group, found)
    return {
        "runs": [one.run_index for one in group.sets],
        "reports": len(runs) if not group.is_dry else 0,
        "required_reports": REQUIRED_REPORTS,
        "comparable": sum(run.is_comparable for run in runs),
        "assessed": sum(bool(found.of(run)) for run in runs),
        "assessed_blinded": sum(found.has_blinded(run) for run in runs),
        "complete": not lacks,
        "missing": lacks,
    }


def verdicts(
    group: Group,
    *,
    complete: bool,
    separability: str | None,
    conditions: Sequence[Mapping[str, Any]],
    comparisons: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """One verdict for each assisted condition, from the group's own printed figures."""
    by_condition = {one["condition"]: one for one in conditions}
    return [
        _verdict(group, complete, separability, by_condition["direct"], by_condition[one["condition"]], one)
        for one in comparisons
    ]


def _verdict(
    group: Group,
    complete: bool,
    separability: str | None,
    direct: Mapping[str, Any],
    assisted: Mapping[str, Any],
    comparison: Mapping[str, Any],
) -> dict[str, Any]:
    figures = comparison["metrics"][METRIC]
    difference = figures["difference"]
    reasons = []
    if group.is_dry:
        reasons.append("No agent ran: a dry run is not agent evidence.")
    elif not complete:
        reasons.append(
            f"The comparison is not complete: {REQUIRED_REPORTS} reports and a blinded assessment of each are needed."
        )
    if not group.is_dry and figures["n"] < figures["of"]:
        reasons.append(f"Total tokens are known in {figures['n']} of {figures['of']} pairs.")
    if complete:
        reasons += _worse(direct, assisted)
    status = NOT_ESTABLISHED
    if not reasons and difference is not None:
        status = FEWER if exact(difference["median"]) > 0 else NOT_FEWER
    if separability not in (None, BALANCED):
        reasons.append(STATEMENTS[str(separability)])
    return {
        "condition": comparison["condition"],
        "status": status,
        "metric": METRIC,
        "n": figures["n"],
        "of": figures["of"],
        "median_difference": None if difference is None else difference["median"],
        "reasons": reasons,
    }


def _worse(direct: Mapping[str, Any], assisted: Mapping[str, Any]) -> list[str]:
    """Where assisted answers are worse than direct ones: cheaper and worse is no saving."""
    found = []
    before, after = direct["deterministic"]["all_fields"], assisted["deterministic"]["all_fields"]
    if after["correct"] * before["scored"] < before["correct"] * after["scored"]:
        found.append(
            f"Its answers are right in {after['correct']} of {after['scored']} fields,"
            f" direct ones in {before['correct']} of {before['scored']}."
        )
    for name in SCORES:
        low, high = (one["qualitative"]["blinded_scores"][name] for one in (assisted, direct))
        if low["median"] is not None and high["median"] is not None and low["median"] < high["median"]:
            found.append(
                f"Blinded assessors gave it {low['median']} for {name.replace('_', ' ')}, direct {high['median']}."
            )
    return found


ASSISTED: Final = CONDITIONS[1:]
