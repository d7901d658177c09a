"""Summary: recompute everything from frozen files and captured evidence. Reads files and nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from repocue.contracts import reader
from repocue.domain.paths import display
from repocue.errors import EvaluationError
from repocue.evaluation.shared import exact, files
from repocue.evaluation.task import evidence, frozen, groups, layout
from repocue.evaluation.task.inventory import inventory
from repocue.evaluation.task.judging import Judgement, judge
from repocue.evaluation.task.limits import DEFAULT_LIMITS, TaskLimits
from repocue.evaluation.task.pairs import METRICS, Pair, written
from repocue.runners.streams import READERS, StreamReader

NOT_OBSERVED: Final = ("account billing", "CPU", "memory", "filesystem I/O", "task-ready latency")

LIMITATIONS: Final = (
    "Credits are estimates from dated rates that the policy supplied; they are no bill.",
    "Digests show that the evidence agrees with itself; they are no provider's signature and no proof against"
    " coordinated edits.",
    "Adapter time is the wall time of a process, not when a task was ready; cues' processes and the refresh are apart,"
    " and what the initial baseline cost is not available here.",
    "The agent's program decides its hidden context and its requests; cached input does not say what was cached.",
    "Three repeats are descriptive and show no significance.",
)


def summarize(
    input_directories: Sequence[str],
    *,
    assessment_file: str | None = None,
    limits: TaskLimits = DEFAULT_LIMITS,
    readers: Mapping[str, StreamReader] = READERS,
) -> dict[str, Any]:
    """The `repocue/task-evaluation-1` document of kind "summary" for prepared folders, or folders that hold them.

    `readers` read kept streams by the name of their format. Raises EvidenceError, ContractError or EvaluationError
    where frozen files or the assessment cannot be used; an attempt that cannot be used marks itself only.
    """
    folders, unknown = _find(input_directories)
    bundle = None if assessment_file is None else _bundle(assessment_file, limits)
    entries: list[dict[str, Any]] = [] if bundle is None else bundle["entries"]
    pairs = []
    for folder in folders:
        prepared = frozen.load(folder, limits)
        unknown += [f"{prepared.name}/{entry}" for entry in evidence.unknown_entries(prepared)]
        judged = {
            arm: judge(prepared, one, [entry for entry in entries if entry["attempt"] == _id(prepared, one)], readers)
            for arm, one in evidence.gather(prepared, limits).items()
        }
        pairs.append(Pair(prepared=prepared, judged=judged))
    if bundle is not None:
        _check_assessor(bundle, pairs)
    found = groups.groups(pairs)
    counted = {id(pair) for group in found for pair in group.cells.values()}
    document = {
        "schema_version": layout.EVALUATION_VERSION,
        "kind": "summary",
        "assessor": None if bundle is None else bundle["assessor"],
        "assessed_at": None if bundle is None else bundle["assessed_at"],
        "pairs": [_pair(pair, is_counted=id(pair) in counted) for pair in pairs],
        "groups": [group.to_json() for group in found],
        "overall": groups.overall(found),
        "inventory": inventory([one for pair in pairs for one in pair.judged.values()]),
        "unknown_entries": unknown,
        "not_observed": list(NOT_OBSERVED),
        "limitations": _limitations(pairs, entries),
    }
    reader.check(document, contract=layout.EVALUATION_VERSION, kind="summary")
    return document


def _find(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """The prepared folders, each once and sorted by name, and what else lies beside them.

    Raises EvaluationError where a folder does not exist, holds no prepared one, or two have one name: assessments name
    folders, so names must tell them apart.
    """
    found: dict[str, str] = {}
    unknown: list[str] = []
    for name in given:
        folder = os.path.realpath(name)
        if os.path.lexists(os.path.join(folder, layout.MANIFEST)) or layout.FOLDER.fullmatch(os.path.basename(folder)):
            _add(found, folder)
            continue
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            raise EvaluationError(
                f"The input directory {files.shown(name)} cannot be read: {error.strerror}.", code="evaluation.input"
            ) from error
        inside = [entry for entry in names if layout.FOLDER.fullmatch(entry)]
        if not inside:
            raise EvaluationError(
                f"{files.shown(folder)} holds no prepared folder.",
                code="evaluation.input",
                hint="Name a folder that 'repocue evaluate-task' printed as prepared_directory, or the one it lies in.",
            )
        unknown += [display(os.fsencode(entry)) for entry in names if entry not in inside]
        for entry in inside:
            _add(found, os.path.join(folder, entry))
    return [found[name] for name in sorted(found)], unknown


def _add(found: dict[str, str], folder: str) -> None:
    name = os.path.basename(folder)
    if found.setdefault(name, folder) != folder:
        raise EvaluationError(
            f"Two prepared folders have the name {files.shown(name)}: {files.shown(found[name])} and"
            f" {files.shown(folder)}.",
            code="evaluation.input",
        )


def _bundle(path: str, limits: TaskLimits) -> dict[str, Any]:
    data = files.read_given(path, limit_bytes=limits.assessment_bytes, what="assessment file")
    return reader.read(
        data,
        contract=layout.EVALUATION_VERSION,
        kind="assessment-bundle",
        limits=reader.Limits(max_bytes=limits.assessment_bytes, max_depth=limits.json_depth),
        subject="the assessment file",
    )


def _check_assessor(bundle: Mapping[str, Any], pairs: Sequence[Pair]) -> None:
    """Raise EvaluationError where the assessor is the model whose answers are assessed: nobody judges themselves."""
    named = {entry["attempt"] for entry in bundle["entries"]}
    for pair in pairs:
        policy = pair.prepared.policy
        is_assessed = any(_id(pair.prepared, one.evidence) in named for one in pair.judged.values())
        if policy is not None and is_assessed and bundle["assessor"].strip().casefold() == policy.model.casefold():
            raise EvaluationError(
                f"The assessment file's assessor is {policy.model}, the model that answered in {pair.name}.",
                code="evaluation.assessor",
                hint="An assessment is somebody else's, or it decides nothing.",
            )


def _id(prepared: frozen.Prepared, one: evidence.ArmEvidence) -> str:
    return f"{prepared.name}/{one.name}"


def _pair(pair: Pair, *, is_counted: bool) -> dict[str, Any]:
    prepared, record = pair.prepared, pair.prepared.record
    reasons = []
    if pair.number is None:
        reasons.append("repeat-not-scheduled: the schedule has no such repeat")
    elif not pair.is_scheduled:
        reasons.append("order-not-scheduled: its cell runs in the other order, so it is not counted")
    elif pair.began_at is not None and not is_counted:
        reasons.append("cell-taken: another pair of this cell was journaled first")
    if not pair.has_one_adapter:
        reasons.append("adapters-differ: its attempts were made by different adapters or versions")
    return {
        "folder": prepared.name,
        "benchmark_id": prepared.benchmark.id,
        "task_kind": prepared.benchmark.task.kind,
        "repeat": prepared.repeat,
        "order": prepared.order,
        "pair": pair.number,
        "status": pair.status,
        "counted": is_counted,
        "prepared_at": record["prepared_at"],
        "processes": {
            name: None
            if record["processes"][name] is None
            else {
                member: record["processes"][name][member]
                for member in ("duration_ms", "stdout_bytes", "estimated_tokens")
            }
            for name in ("baseline", "refresh", "overview", "task")
        },
        "attempts": [_attempt(prepared, judged) for judged in pair.judged.values()],
        "differences": {name: pair.matched(name).to_json(written(name)) for name in METRICS},
        "reasons": reasons,
    }


def _attempt(prepared: frozen.Prepared, judged: Judgement) -> dict[str, Any]:
    seen = judged.evidence
    metadata = None if seen.observation is None else seen.observation["metadata"]
    return {
        "attempt": _id(prepared, seen),
        "arm": seen.arm,
        "status": judged.status,
        "started_at": seen.started_at,
        "runner": None
        if metadata is None
        else {
            name: metadata[name]
            for name in ("adapter", "adapter_version", "cli_version", "model", "reasoning_effort", "speed")
        },
        "facts": judged.facts.to_json(),
        "discovery": judged.discovery,
        "commands": [one.to_json() for one in judged.commands],
        "usage": judged.usage.to_json(),
        "declared_usage": None if judged.declared is None else judged.declared.to_json(),
        "credits": exact.optional_text(judged.credits),
        "adapter_duration_ms": seen.duration_ms,
        "binding": judged.binding,
        "reasons": list(judged.reasons),
    }


def _limitations(pairs: Sequence[Pair], entries: Sequence[Mapping[str, Any]]) -> list[str]:
    found = list(LIMITATIONS)
    known = {_id(pair.prepared, one.evidence) for pair in pairs for one in pair.judged.values()}
    strangers = [entry["attempt"] for entry in entries if entry["attempt"] not in known]
    if strangers:
        found.append(f"Assessments of attempts that are not here, rejected: {', '.join(strangers)}.")
    return found
