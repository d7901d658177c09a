"""Records written by hand, from which reports are built: no database, no clock.

`rich` has, in its current epoch, a group of four pairs (one with estimated and one with missing values), a group of one
pair of version 3, and pairs that do not count; `bare` has maintenance alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from repocue.report.document import build
from repocue.report.material import Material
from repocue.report.window import Window, window
from repocue.scoring.measurements import METRICS
from repocue.store.calibrations import (
    Amount,
    Answer,
    Calibration,
    Cue,
    Evidence,
    Identity,
    Opinion,
    Pair,
    PairedRun,
)
from repocue.store.history import CueRun, Run

Document = dict[str, Any]

T0 = 1_796_000_000_000
"""2026-11-30T00:53:20.000Z."""
HOUR = 3_600_000
CONDITIONS = ("direct", "placebo", "basic", "ranked", "structural-oracle")
HEAD = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

BASIC = Identity(
    report_version=4,
    adapter="repocue-codex-runner",
    adapter_version="3",
    cli_version="0.150.0",
    model="gpt-large",
    reasoning_effort="medium",
    service_tier="default",
    sandbox="read-only",
    benchmark_version="repository-state-v2",
    benchmark_text_sha256=None,
    max_tokens=500,
    assisted="basic",
)
LEGACY = dataclasses.replace(
    BASIC, report_version=3, adapter_version="2", cli_version=None, service_tier=None, model="gpt-small"
)


def digest(text: str) -> str:
    return "sha256:" + sha256(text.encode()).hexdigest()


def run(
    number: int,
    kind: str,
    *,
    epoch: int = 2,
    after: int | None = 3,
    at_ms: int,
    duration_ms: float | None,
    trigger: str = "command",
    outcome: str = "unchanged",
    changed: int | None = 0,
) -> Run:
    failed = outcome == "failed"
    return Run(
        number=number,
        kind=kind,  # type: ignore[arg-type]  # a literal
        trigger=trigger,  # type: ignore[arg-type]  # a literal
        epoch=f"epoch-{epoch:06d}",
        snapshot_before=None,
        snapshot_after=None if after is None else f"snapshot-{after:06d}",
        started_at_ms=at_ms,
        duration_ms=duration_ms,
        clock_method="schedstat",
        scan_duration_ms=None if failed or duration_ms is None else round(duration_ms / 2, 3),
        git_processes=None if failed else 4,
        files_scanned=None if failed else 170,
        bytes_read=None if failed else 4100,
        changed_files=None if failed else changed,
        outcome=outcome,  # type: ignore[arg-type]  # a literal
        error_code="repository.moved" if failed else None,
    )


def cue(number: int, view: str, *, epoch: int = 2, at_ms: int, duration_ms: float | None = 60.25) -> CueRun:
    return CueRun(
        number=number,
        view=view,
        epoch=f"epoch-{epoch:06d}",
        snapshot="snapshot-000003",
        freshness="current",
        started_at_ms=at_ms,
        duration_ms=duration_ms,
        clock_method="schedstat",
        max_tokens=500,
        bytes=1001,
        estimated_tokens=251,
    )


RUNS = (
    run(1, "init", epoch=1, after=1, at_ms=T0, duration_ms=194.5, outcome="published", changed=170),
    run(2, "refresh", epoch=1, after=2, at_ms=T0 + HOUR, duration_ms=92.125, outcome="published", changed=3),
    run(3, "rebaseline", after=3, at_ms=T0 + 24 * HOUR, duration_ms=180.0, outcome="published", changed=170),
    run(4, "refresh", at_ms=T0 + 25 * HOUR, duration_ms=70.5, trigger="cue"),
    run(5, "refresh", at_ms=T0 + 26 * HOUR, duration_ms=110.25, trigger="hook", outcome="failed"),
    run(6, "refresh", after=4, at_ms=T0 + 30 * HOUR, duration_ms=89.25, outcome="published", changed=2),
)
"""Of the current epoch: 180 + 70.5 + 110.25 + 89.25 = 450 ms."""
H_MS = 450

CUES = (
    cue(1, "overview", epoch=1, at_ms=T0 + 2 * HOUR),
    cue(2, "overview", at_ms=T0 + 25 * HOUR),
    cue(3, "ranked", at_ms=T0 + 27 * HOUR, duration_ms=None),
    cue(4, "overview", at_ms=T0 + 31 * HOUR, duration_ms=58.5),
)


def amounts(total: int, duration_ms: float, **more: Amount) -> dict[str, Amount]:
    """Plausible values: `total` tokens of which 100 are output, and half of the input was cached."""
    values: dict[str, Amount] = {
        "total_tokens": (total, "observed"),
        "input_tokens": (total - 100, "observed"),
        "uncached_input_tokens": (total - 100 - (total - 100) // 2, "derived"),
        "cached_input_tokens": ((total - 100) // 2, "observed"),
        "cache_write_input_tokens": (None, "not_observed"),
        "output_tokens": (100, "observed"),
        "reasoning_output_tokens": (20, "observed"),
        "execution_duration_ms": (duration_ms, "observed"),
        "tool_calls": (8, "observed"),
        "command_executions": (7, "observed"),
        "git_calls": (3, "derived"),
        "filesystem_search_calls": (2, "derived"),
        "repository_files_named": (5, "derived"),
        "named_file_size_proxy_bytes": (40960, "derived"),
        "discovery_commands": (6, "derived"),
        "discovery_files_named": (5, "derived"),
        "discovery_size_proxy_bytes": (40960, "derived"),
        **more,
    }
    assert tuple(values) == METRICS
    return values


def pair(
    name: str,
    run_index: int,
    direct: Mapping[str, Amount],
    assisted: Mapping[str, Amount],
    *,
    identity: Identity = BASIC,
    cue_ms: float | None = 80.5,
    zeros: Sequence[str] = (),
    contaminated: Sequence[str] = (),
    wrong: Sequence[str] = (),
) -> Pair:
    """A pair; the answers of the conditions in `wrong` get the branch wrong."""
    return Pair(
        set_digest=digest(name),
        run_index=run_index,
        identity=identity,
        direct=PairedRun(values=dict(direct), zeros=tuple(zeros), position=1),
        assisted=PairedRun(values=dict(assisted), zeros=(), position=3),
        cue=Cue(
            contract="repocue/1",
            size_bytes=1001,
            estimated_tokens=251,
            duration_ms=cue_ms,
            stdout_sha256=None if cue_ms is None else digest("cue"),
        ),
        evidence=Evidence(
            branch="main",
            head=HEAD,
            is_dirty=False,
            state_fingerprint=digest("state"),
            maintenance_id="maintenance-0123456789abcdef01234567",
            evaluated_snapshot="snapshot-000001",
            manifest_sha256=None if cue_ms is None else digest("manifest"),
        ),
        answers=tuple(
            Answer(
                condition=condition,
                report_sha256=digest(name + condition),
                response_sha256=digest("answer" + condition),
                is_contaminated=condition in contaminated,
                correct={
                    "branch": condition not in wrong,
                    "head": True,
                    "dirty": True,
                    "tracked_changes": True,
                    "untracked": None,
                },
            )
            for condition in CONDITIONS
        ),
    )


def stored(number: int, found: Pair, *, epoch: int = 2, snapshot: int = 3) -> Calibration:
    return Calibration(
        number=number,
        epoch=f"epoch-{epoch:06d}",
        snapshot=f"snapshot-{snapshot:06d}",
        imported_at_ms=T0 + 28 * HOUR,
        pair=found,
    )


ESTIMATED = amounts(4000, 70000.0, total_tokens=(4000, "estimated"))
MISSING = amounts(3900, 65000.0, total_tokens=(None, "not_observed"), execution_duration_ms=(None, "not_observed"))

CALIBRATIONS = (
    stored(1, pair("superseded", 1, amounts(9000, 9e4), amounts(8000, 8e4)), epoch=1, snapshot=2),
    stored(2, pair("one", 1, amounts(5000, 61250.5), amounts(4100, 60000.25), wrong=["direct"])),
    stored(3, pair("two", 2, amounts(6000, 66000.0), amounts(4500, 65000.0))),
    stored(4, pair("three", 3, amounts(5500, 64000.0), amounts(5700, 64500.5), cue_ms=90.25), snapshot=4),
    stored(5, pair("four", 4, amounts(5200, 63000.0), ESTIMATED), snapshot=4),
    stored(6, pair("five", 5, amounts(5300, 62000.0), MISSING), snapshot=4),
    stored(7, pair("helped", 6, amounts(2000, 30000.0), amounts(1900, 29000.0), contaminated=["direct"])),
    stored(
        8,
        pair(
            "legacy",
            1,
            amounts(7000, 71000.0, cached_input_tokens=(0, "observed"), uncached_input_tokens=(6900, "derived")),
            amounts(6400, 69000.0),
            identity=LEGACY,
            cue_ms=None,
            zeros=["cached_input_tokens"],
        ),
    ),
)


def opinion(name: str, condition: str, assessor: str, at: str | None, first: int) -> Opinion:
    names = (
        "purpose",
        "architecture",
        "documentation",
        "recent_changes",
        "structural_completeness",
        "uncertainty_handling",
    )
    return Opinion(
        set_digest=digest(name),
        condition=condition,
        assessor=assessor,
        assessed_at=at,
        response_sha256=digest("answer" + condition),
        assessment_sha256=digest(name + condition + assessor),
        scores={score: (first + place) % 5 for place, score in enumerate(names)},
    )


OPINIONS = (
    opinion("one", "direct", "Grace", "2026-12-01T09:00:00.000Z", 2),
    opinion("one", "basic", "Grace", "2026-12-01T09:05:00.000Z", 3),
    opinion("one", "basic", "Linus", None, 1),
    opinion("superseded", "basic", "Grace", "2026-11-30T09:05:00.000Z", 3),
    opinion("two", "basic", "Grace", "2026-12-01T09:10:00.000Z", 4),
)


def material(**changes: Any) -> Material:
    """The rich record; `changes` replaces members."""
    found = Material(
        repository={
            "id": "repo-0123456789abcdef01234567",
            "name": "adder",
            "root": "/home/ada/adder",
            "branch": "main",
            "head": HEAD,
            "dirty": False,
        },
        epoch="epoch-000002",
        snapshot="snapshot-000004",
        epochs=(
            {
                "number": 1,
                "label": None,
                "reason": None,
                "opened_at_ms": T0,
                "superseded_at_ms": T0 + 24 * HOUR,
                "baseline_snapshot": 1,
            },
            {
                "number": 2,
                "label": "v2",
                "reason": "a new layout",
                "opened_at_ms": T0 + 24 * HOUR,
                "superseded_at_ms": None,
                "baseline_snapshot": 3,
            },
        ),
        runs=RUNS,
        cue_runs=CUES,
        database_bytes=57344,
        calibrations=CALIBRATIONS,
        opinions=OPINIONS,
    )
    return dataclasses.replace(found, **changes)


NOW_MS = T0 + 48 * HOUR


def document(found: Material, cutoffs: Window | None = None, consumers: Sequence[int] = ()) -> Document:
    return build(found, cutoffs or Window(), consumers, generated_at_ms=NOW_MS, validation_ms=lambda: 41.5)


def rich() -> Document:
    return document(material(), consumers=(25,))


def windowed() -> Document:
    return document(material(), window("2026-12-01T00:53:20Z", "2026-12-01"))


def exploratory() -> Document:
    return document(material(calibrations=CALIBRATIONS[1:2], opinions=()))


def bare() -> Document:
    return document(material(calibrations=(), opinions=()))


def unknown_maintenance() -> Document:
    runs = (*RUNS, run(7, "refresh", at_ms=T0 + 32 * HOUR, duration_ms=None))
    return document(material(runs=runs))


ALL = {
    "rich": rich,
    "windowed": windowed,
    "exploratory": exploratory,
    "bare": bare,
    "unknown-maintenance": unknown_maintenance,
}
