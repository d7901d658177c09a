"""What a summary takes from one condition report: values with their sources, and what casts doubt on them. Pure.

Unknown is never zero: a value that is not there is None beside `not_observed`. An estimated value is kept as it stands
in its report and never enters statistics. A run is contaminated when one of its commands calls RepoCue or reads its
cache: it had more than its condition supplies, and is not comparable with any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from repocue.domain.statistics import exact
from repocue.runners.contamination import named_caches, report_contaminations
from repocue.scoring.basis import Basis
from repocue.scoring.deterministic import Score, score
from repocue.scoring.measurements import UNKNOWN, Value, run_values, stated_oracle, stated_text, zero_tokens
from repocue.scoring.response import Response

if TYPE_CHECKING:
    from repocue.scoring.report_folders import Stored
    from repocue.scoring.report_set import Report, ReportSet

CONTAMINATED: Final = "contaminated"


class Finding(NamedTuple):
    """Something about one run that a reader of its numbers must know."""

    category: str
    severity: str
    message: str
    evidence: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One condition's report in one set; `values` and what follows it is empty where no runner ran.

    `cue_ms` is the full duration of the shipped command, known in condition basic of version 4 alone; `builder_ms` is
    the harness's diagnostic. `zeros` names token metrics that are zero in a version-3 report.
    """

    condition: str
    position: int
    report_name: str
    sha256: str
    cue_contract: str | None
    cue_bytes: int
    cue_estimated_tokens: int
    cue_ms: Fraction | None
    builder_ms: Fraction
    ran: bool
    values: Mapping[str, Value] = field(default_factory=dict)
    zeros: tuple[str, ...] = ()
    contaminations: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    response: Response | None = None
    score: Score | None = None

    @property
    def is_comparable(self) -> bool:
        """Whether an agent ran, with nothing but what its condition supplies."""
        return self.ran and not self.contaminations

    def value(self, metric: str) -> Value:
        return self.values.get(metric, UNKNOWN)

    def counted(self, metric: str) -> Fraction | None:
        """What this run adds to statistics of a metric; None where it is not comparable or the value does not count."""
        return self.value(metric).counted if self.is_comparable else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRuns:
    """What a summary keeps of one set: the five runs in the conditions' order, and what they share."""

    folder: str
    name: str
    digest: str
    version: int
    run_index: int
    order_policy: str
    first: Mapping[str, Any]
    """One report without its observation: the prepared state, the budget and the benchmark."""
    task_sha256: str | None
    oracle_sha256: str | None
    metadata: Mapping[str, Any] | None
    basic_delivery: Mapping[str, Any] | None
    baseline_ms: Fraction
    refresh_ms: Fraction
    runs: tuple[Run, ...]
    limitations: tuple[str, ...]

    def run(self, condition: str) -> Run:
        return next(run for run in self.runs if run.condition == condition)

    @property
    def order(self) -> tuple[str, ...]:
        """The conditions as they were started."""
        return tuple(run.condition for run in sorted(self.runs, key=lambda run: run.position))


def taken(stored: Stored) -> SetRuns:
    """What the summary of a set needs; the observations themselves are let go."""
    found: ReportSet = stored.set
    first = {name: value for name, value in found.first.items() if name != "runner"}
    caches = named_caches(report.document for report in found.reports)
    limitations = [text for report in found.reports for text in _limitations(report.document)]
    stated = [text for report in found.reports for text in report.document["limitations"]]
    return SetRuns(
        folder=stored.folder,
        name=found.name,
        digest=found.digest,
        version=found.version,
        run_index=found.run_index,
        order_policy=first.get("order_policy", "fixed"),
        first=first,
        task_sha256=stated_text(stated),
        oracle_sha256=stated_oracle(stated),
        metadata=found.metadata,
        basic_delivery=found.report("basic").document.get("cue_delivery"),
        baseline_ms=exact(first["baseline"]["wall_duration_ms"]),
        refresh_ms=exact(first["update"]["wall_duration_ms"]),
        runs=tuple(_run(found, report, caches) for report in found.reports),
        limitations=tuple(dict.fromkeys(limitations)),
    )


def _run(found: ReportSet, report: Report, caches: tuple[str, ...]) -> Run:
    document = report.document
    cue, delivery = document["cue"], document.get("cue_delivery")
    runner = document.get("runner")
    base = Run(
        condition=report.condition,
        position=document["condition_order"],
        report_name=report.name,
        sha256=report.sha256,
        cue_contract=cue.get("schema_version"),
        cue_bytes=cue["bytes"],
        cue_estimated_tokens=cue["estimated_tokens"],
        cue_ms=None if delivery is None else exact(delivery["duration_ms"]),
        builder_ms=exact(cue["wall_duration_ms"]),
        ran=runner is not None,
    )
    if runner is None:
        return base
    findings = tuple(map(_finding, runner["findings"]))
    told = [finding.evidence or finding.message for finding in findings if finding.category == CONTAMINATED]
    found_here = report_contaminations(runner["commands"], caches, found.repository["resolved_root"])
    taken_from_us = tuple(dict.fromkeys((*told, *found_here)))
    values = run_values(report.condition, runner)
    zeros = zero_tokens(runner, values) if found.version == 3 else []
    return Run(
        **{name: getattr(base, name) for name in _BASE},
        values=values,
        zeros=tuple(zeros),
        contaminations=taken_from_us,
        findings=(*findings, *(_contaminated(text) for text in found_here if text not in told)),
        response=Response.of_report(document, source=f"{found.name}/{report.name}"),
        score=score(runner["final_response"], _basis(document)),
    )


_BASE: Final = (
    "condition",
    "position",
    "report_name",
    "sha256",
    "cue_contract",
    "cue_bytes",
    "cue_estimated_tokens",
    "cue_ms",
    "builder_ms",
    "ran",
)


def _basis(document: Mapping[str, Any]) -> Basis:
    """What is known of the state: the changed paths of a dirty repository only where the report keeps them."""
    paths = document.get("changed_paths", {})
    return Basis.of_report(
        document["repository"], tracked_changes=paths.get("tracked_changes"), untracked=paths.get("untracked")
    )


def _contaminated(text: str) -> Finding:
    return Finding(
        CONTAMINATED,
        "warning",
        "A command calls RepoCue or reads its cache: the run had more than its condition gives and is not comparable.",
        text,
    )


def _finding(finding: Mapping[str, str]) -> Finding:
    return Finding(finding["category"], finding["severity"], finding["message"], finding.get("evidence"))


def _limitations(document: Mapping[str, Any]) -> list[str]:
    runner = document.get("runner")
    return [*document["limitations"], *([] if runner is None else runner["limitations"])]
