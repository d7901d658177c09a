"""The `repocue/report-1` document, which every form of the report shows. Pure but for `report`, which reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from repocue.calibration.projection import consumer_counts
from repocue.calibration.standing import VERSION_3
from repocue.domain.times import rfc3339
from repocue.report import agents, maintenance, material, quality

if TYPE_CHECKING:
    from repocue.maintenance.request import Request
    from repocue.report.agents import Group
    from repocue.report.material import Material
    from repocue.report.window import Window

CONTRACT: Final = "repocue/report-1"

NOT_OBSERVED: Final = (
    "net filesystem I/O",
    "task-ready latency",
    "CPU time",
    "memory",
    "freshness lag",
    "historical database size",
    "cue runtime trends",
    "account billing",
    "the number of users",
)

LIMITATIONS: Final = (
    "Maintenance is what this cache recorded. A recorded duration ends before its own commit and exit.",
    "Counts of cues are not counts of users or of agent runs.",
    "The repository was not looked at: branch, HEAD and dirty state are the snapshot's.",
)
WITH_EVIDENCE: Final = (
    "Medians and ranges describe these pairs; nothing here is a claim of significance.",
    "Differences are direct minus assisted, taken per pair first; a median of differences is no difference of medians.",
    "Totals for several consumers and break-even counts are estimated, also for a count that was measured.",
    "Tokens of an agent already include the cue it was supplied; estimated cue tokens are not added again.",
    "Estimated values of an agent's cost are shown as diagnostics and enter no statistics.",
    "Command classifications are no git processes, and named-file sizes no bytes that were read.",
    "Scores of assessors are opinions and are never combined with deterministic scores.",
    "A pair was measured on the snapshot that it is labelled with, and says nothing of a later one.",
)
WITHOUT_EVIDENCE: Final = "Agent evidence is unavailable: no pair that counts was imported, and nothing stands for it."


def report(request: Request, window: Window, consumers: Iterable[int]) -> dict[str, Any]:
    """The report of the request's repository, read in one transaction. Nothing is started or written.

    Raises CacheError where there is no usable record.
    """
    return build(
        material.read(request),
        window,
        consumers,
        generated_at_ms=request.now_ms(),
        validation_ms=request.elapsed_ms,
    )


def build(
    found: Material, window: Window, consumers: Iterable[int], *, generated_at_ms: int, validation_ms: Any
) -> dict[str, Any]:
    """The document of one state of the record; `validation_ms` is called last, and gives milliseconds or None."""
    cost = maintenance.epoch_cost(found, window)
    groups = agents.grouped(found.calibrations, found.epoch)
    document: dict[str, Any] = {
        "schema_version": CONTRACT,
        "repository": dict(found.repository),
        "epoch": found.epoch,
        "snapshot": found.snapshot,
        "window": window.to_json(),
        "maintenance": maintenance.section(found, window, cost),
        "agent_evidence": agents.section(groups, found.calibrations, cost, consumer_counts(consumers)),
        "quality": quality.section(groups, found.opinions),
        "not_observed": list(NOT_OBSERVED),
        "generated_at": rfc3339(generated_at_ms),
        "limitations": _limitations(groups),
    }
    return {**document, "validation_cost": {"duration_ms": validation_ms()}}


def _limitations(groups: tuple[Group, ...]) -> list[str]:
    if not groups:
        return [*LIMITATIONS, WITHOUT_EVIDENCE]
    is_legacy = any(group.identity.report_version == 3 for group in groups)
    return [*LIMITATIONS, *WITH_EVIDENCE, *(VERSION_3 if is_legacy else ())]
