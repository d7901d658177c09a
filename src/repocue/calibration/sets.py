"""What an import takes from a published report set: one direct and one assisted run as numbers and digests. Pure.

A set has been read and verified by `scoring.report_set` by now: its version is known, its five reports are valid and
of one prepared state, runner and budget. Here stands what applies to a calibration beyond that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from repocue.contracts.rules.evaluation import CONDITIONS, CUE_CONTRACTS, legacy_identity_problems
from repocue.domain import tokens
from repocue.domain.statistics import as_declared
from repocue.errors import CalibrationError
from repocue.runners.contamination import named_caches, report_contaminations
from repocue.scoring.deterministic import score
from repocue.scoring.measurements import METRICS, cli_version, run_values, stated_text, zero_tokens
from repocue.scoring.response import response_digest
from repocue.store.calibrations import Answer, Cue, Evidence, Identity, Pair, PairedRun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from repocue.scoring.basis import Basis
    from repocue.scoring.report_set import Report, ReportSet

DIRECT: Final = "direct"
ASSISTED: Final = CONDITIONS[1:]
"""The conditions that a direct run can be paired with."""

_CONTAMINATED: Final = "contaminated"


def check_applicable(found: ReportSet) -> None:
    """Raise CalibrationError where a readable set holds no pair, or is of a provenance that cannot be relied on."""
    if found.is_dry:
        raise CalibrationError(
            f"{found.name} holds no pair: it is a dry run, in which no agent ran.",
            code="calibration.incomplete-pair",
            hint="Import sets that evaluate-m2 made with --runner.",
        )
    if found.version == 3:
        for report in found.reports:
            _check_legacy(found.name, report)


def _check_legacy(name: str, report: Report) -> None:
    """What version 3's own reading does not ask: identity from the report's own digests, and a plausible cue."""
    document, where = report.document, f"{name}, condition {report.condition}"
    for problem in legacy_identity_problems(document):
        raise CalibrationError(
            f"{where}: unsupported legacy provenance: {problem.pointer} {problem.message}.",
            code="calibration.legacy-provenance",
            hint="Such a report was altered, or made by a tool whose evidence cannot be checked.",
        )
    fault = _cue_fault(report.condition, document["cue"])
    if fault is not None:
        raise CalibrationError(
            f"{where}: unsupported legacy provenance: /cue{fault}.",
            code="calibration.legacy-cue",
            hint="What the agent was supplied must be known for its run to be compared.",
        )


def _cue_fault(condition: str, cue: Mapping[str, Any]) -> str | None:
    contract, size = CUE_CONTRACTS[condition], cue["bytes"]
    if cue.get("schema_version") != contract:
        return f"/schema_version must be {contract or 'absent'}, not {cue.get('schema_version') or 'absent'}"
    if (condition == DIRECT) == bool(size):
        return f"/bytes is {size}: condition {condition} supplies {'no' if condition == DIRECT else 'a'} context"
    if cue["estimated_tokens"] != tokens.estimate(size):
        return f"/estimated_tokens must be {tokens.estimate(size)}, ceil({size} bytes / 4)"
    if cue["estimated_tokens"] > cue["max_tokens"]:
        return f"/estimated_tokens exceeds the budget of {cue['max_tokens']}"
    return None


def pair_of(found: ReportSet, assisted: str, basis: Basis) -> Pair:
    """The pair of the direct and the `assisted` run; answers are scored against the state that was verified."""
    caches = named_caches(report.document for report in found.reports)
    direct, other = found.report(DIRECT).document, found.report(assisted).document
    delivery = other.get("cue_delivery")
    repository = found.repository
    return Pair(
        set_digest=found.digest,
        run_index=found.run_index,
        identity=_identity(found, assisted),
        direct=_run(found.version, direct),
        assisted=_run(found.version, other),
        cue=Cue(
            contract=other["cue"].get("schema_version"),
            size_bytes=other["cue"]["bytes"],
            estimated_tokens=other["cue"]["estimated_tokens"],
            duration_ms=None if delivery is None else delivery["duration_ms"],
            stdout_sha256=None if delivery is None else delivery["stdout_sha256"],
        ),
        evidence=Evidence(
            branch=repository["branch"],
            head=repository["head"],
            is_dirty=repository["dirty"],
            state_fingerprint=repository["state_fingerprint"],
            maintenance_id=found.first["maintenance_id"],
            evaluated_snapshot=found.first["repocue_snapshot"],
            manifest_sha256=found.manifest_sha256,
        ),
        answers=tuple(_answer(report, basis, caches, repository["resolved_root"]) for report in found.reports),
    )


def _identity(found: ReportSet, assisted: str) -> Identity:
    metadata = found.metadata
    assert metadata is not None  # check_applicable
    stated = [text for report in found.reports for text in report.document["limitations"]]
    return Identity(
        report_version=found.version,
        adapter=metadata["adapter"],
        adapter_version=metadata["adapter_version"],
        cli_version=cli_version(metadata),
        model=metadata["model"],
        reasoning_effort=metadata["reasoning_effort"],
        service_tier=metadata.get("service_tier"),
        sandbox=metadata["sandbox"],
        benchmark_version=found.first["benchmark_version"],
        benchmark_text_sha256=stated_text(stated),
        max_tokens=found.first["cue"]["max_tokens"],
        assisted=assisted,
    )


def _run(version: int, document: Mapping[str, Any]) -> PairedRun:
    runner = document["runner"]
    values = run_values(document["condition"], runner)
    return PairedRun(
        values={
            name: (None if found.value is None else as_declared(found.value), found.source)
            for name in METRICS
            for found in [values[name]]
        },
        zeros=tuple(zero_tokens(runner, values)) if version == 3 else (),
        position=document["condition_order"],
    )


def _answer(report: Report, basis: Basis, caches: Sequence[str], root: str) -> Answer:
    """The answer's score. A wrong answer is a valid one; only a run that took RepoCue's help by itself is not."""
    runner = report.document["runner"]
    told = any(finding["category"] == _CONTAMINATED for finding in runner["findings"])
    return Answer(
        condition=report.condition,
        report_sha256=report.sha256,
        response_sha256=response_digest(runner["final_response"]),
        is_contaminated=told or bool(report_contaminations(runner["commands"], caches, root)),
        correct=score(runner["final_response"], basis).correct(),
    )
