"""The `repocue/calibration-1` documents: what an import did, and what is stored. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from repocue.calibration.standing import VERSION_3, exclusion
from repocue.domain.ids import calibration_id
from repocue.domain.paths import display
from repocue.domain.times import rfc3339
from repocue.scoring.measurements import METRICS

if TYPE_CHECKING:
    from repocue.calibration.importing import ImportResult
    from repocue.git.worktree import Worktree
    from repocue.store.calibrations import Calibration, Identity, Opinion, PairedRun

CONTRACT: Final = "repocue/calibration-1"


def imported(worktree: Worktree, result: ImportResult) -> dict[str, Any]:
    """Kind import."""
    return {
        **_head("import", worktree),
        "epoch": result.header.epoch,
        "snapshot": result.header.snapshot,
        "assisted": result.assisted,
        "sets": [
            {"folder": one.folder, "outcome": one.outcome, **_row(one.stored, result.header.epoch)}
            for one in result.sets
        ],
        "assessments": {
            "added": result.opinions_added,
            "known": result.opinions_known,
            "rejected": [{"source": one.source, "reason": one.reason, "detail": one.detail} for one in result.rejected],
        },
        "unknown_entries": list(result.unknown),
        "limitations": _limitations([one.stored for one in result.sets]),
    }


def listed(worktree: Worktree, epoch: str, stored: Sequence[Calibration]) -> dict[str, Any]:
    """Kind list."""
    return {
        **_head("list", worktree),
        "epoch": epoch,
        "calibrations": [_row(one, epoch) for one in stored],
        "limitations": _limitations(stored),
    }


def shown(worktree: Worktree, epoch: str, stored: Calibration, opinions: Sequence[Opinion]) -> dict[str, Any]:
    """Kind show. `opinions` are those of the pair's set."""
    pair = stored.pair
    return {
        **_head("show", worktree),
        "epoch": epoch,
        "calibration": _row(stored, epoch),
        "identity": identity(pair.identity),
        "metrics": {name: _metric(pair.direct, pair.assisted, name) for name in METRICS},
        "cue": {
            "contract": pair.cue.contract,
            "bytes": pair.cue.size_bytes,
            "estimated_tokens": pair.cue.estimated_tokens,
            "duration_ms": pair.cue.duration_ms,
            "stdout_sha256": pair.cue.stdout_sha256,
        },
        "evidence": {
            "branch": pair.evidence.branch,
            "head": pair.evidence.head,
            "dirty": pair.evidence.is_dirty,
            "state_fingerprint": pair.evidence.state_fingerprint,
            "maintenance_id": pair.evidence.maintenance_id,
            "evaluated_snapshot": pair.evidence.evaluated_snapshot,
            "manifest_sha256": pair.evidence.manifest_sha256,
        },
        "answers": [
            {
                "condition": answer.condition,
                "report_sha256": answer.report_sha256,
                "response_sha256": answer.response_sha256,
                "contaminated": answer.is_contaminated,
                "correct": dict(answer.correct),
            }
            for answer in pair.answers
        ],
        "assessments": [
            {
                "condition": opinion.condition,
                "assessor": opinion.assessor,
                "assessed_at": opinion.assessed_at,
                "response_sha256": opinion.response_sha256,
                "assessment_sha256": opinion.assessment_sha256,
                "scores": dict(opinion.scores),
            }
            for opinion in opinions
        ],
        "limitations": _limitations([stored]),
    }


def removed(worktree: Worktree, epoch: str, stored: Calibration) -> dict[str, Any]:
    """Kind remove."""
    return {**_head("remove", worktree), "epoch": epoch, "calibration": _row(stored, epoch)}


def identity(found: Identity) -> dict[str, Any]:
    """What pairs must have in common to be looked at together."""
    return {
        "report_version": found.report_version,
        "adapter": found.adapter,
        "adapter_version": found.adapter_version,
        "cli_version": found.cli_version,
        "model": found.model,
        "reasoning_effort": found.reasoning_effort,
        "service_tier": found.service_tier,
        "sandbox": found.sandbox,
        "benchmark_version": found.benchmark_version,
        "benchmark_text_sha256": found.benchmark_text_sha256,
        "max_tokens": found.max_tokens,
        "assisted": found.assisted,
    }


def _head(kind: str, worktree: Worktree) -> dict[str, Any]:
    repository = {"id": worktree.id, "name": worktree.name, "root": display(worktree.root)}
    return {"schema_version": CONTRACT, "kind": kind, "repository": repository}


def _row(stored: Calibration, epoch: str) -> dict[str, Any]:
    pair, excluded = stored.pair, exclusion(stored, epoch)
    return {
        "id": calibration_id(stored.number),
        "set": pair.set_digest,
        "report_version": pair.identity.report_version,
        "run_index": pair.run_index,
        "assisted": pair.identity.assisted,
        "adapter": pair.identity.adapter,
        "model": pair.identity.model,
        "epoch": stored.epoch,
        "snapshot": stored.snapshot,
        "imported_at": rfc3339(stored.imported_at_ms),
        "counts": excluded is None,
        "reason": None if excluded is None else excluded.reason,
        "detail": None if excluded is None else excluded.detail,
    }


def _metric(direct: PairedRun, assisted: PairedRun, name: str) -> dict[str, Any]:
    (direct_value, direct_source), (assisted_value, assisted_source) = direct.values[name], assisted.values[name]
    return {
        "direct": direct_value,
        "direct_source": direct_source,
        "assisted": assisted_value,
        "assisted_source": assisted_source,
        "ambiguous_zeros": [side for side, run in (("direct", direct), ("assisted", assisted)) if name in run.zeros],
    }


def _limitations(stored: Sequence[Calibration]) -> list[str]:
    return list(VERSION_3) if any(one.pair.identity.report_version == 3 for one in stored) else []
