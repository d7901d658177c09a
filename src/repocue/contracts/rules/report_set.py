"""The rules of a whole report set: five reports of one prepared state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from repocue.contracts.problems import Problem, contract_error, token
from repocue.contracts.rules import runner
from repocue.contracts.rules.evaluation import CONDITIONS

_SHARED = (
    ("maintenance_id", "the five reports share one prepared state"),
    ("repocue_snapshot", "the five contexts come from one snapshot"),
    ("run_index", "a set is one run"),
    ("order_policy", "a set has one order"),
    ("repository", "the five reports are of one repository state"),
    ("changed_paths", "the five reports are of one repository state"),
    ("baseline", "a set has one baseline"),
    ("update", "a set has one refresh"),
)


def check_report_set(reports: Sequence[Mapping[str, Any]], *, subject: str) -> None:
    """Raise ContractError where reports, each valid by itself, do not form one set."""
    faults = list(report_set_problems(reports))
    if faults:
        raise contract_error(faults, code="report-set", subject=subject)


def report_set_problems(reports: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    """The faults of a set. A pointer's first token is the condition: `/ranked/maintenance_id`.

    Cues share one budget; all conditions have a runner or none has; positions are 1 to 5, each once.
    """
    found = [report["condition"] for report in reports]
    for condition in CONDITIONS:
        if found.count(condition) != 1:
            many = "missing" if condition not in found else "there more than once"
            yield Problem(token(condition), f"the report of this condition is {many}; a set has each of the five once")
    if not reports:
        return
    first = reports[0]
    for report in reports[1:]:
        where = token(report["condition"])
        if report["schema_version"] != first["schema_version"]:
            yield Problem(
                where + "/schema_version",
                f"{report['schema_version']} beside {first['schema_version']}: versions are not mixed in one set",
            )
            return
        for name, reason in _SHARED:
            if report.get(name) != first.get(name):
                yield Problem(where + token(name), f"differs from condition {first['condition']}: {reason}")
        if report["cue"]["max_tokens"] != first["cue"]["max_tokens"]:
            yield Problem(where + "/cue/max_tokens", f"differs from condition {first['condition']}: budgets are equal")
        if ("runner" in report) != ("runner" in first):
            yield Problem(where + "/runner", "a set has five agent runs or none")
    orders = sorted(report["condition_order"] for report in reports)
    if len(reports) == len(CONDITIONS) and orders != list(range(1, len(CONDITIONS) + 1)):
        yield Problem("", f"the positions are {orders}; each of 1 to 5 must stand once")
    observations = [report["runner"] for report in reports if "runner" in report]
    for problem in runner.drift_problems(observations):
        yield Problem("/runner" + problem.pointer, problem.message)
