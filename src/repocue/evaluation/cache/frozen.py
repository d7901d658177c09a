"""A prepared folder, read back and made again from its parts: what was frozen is what is sent (seed, "Data flow").

Reads files and nothing else: no git, process, network, credential or write.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from repocue.contracts import canonical, reader
from repocue.contracts.types.cache import CacheBenchmark, Step
from repocue.domain import tokens
from repocue.errors import EvaluationError, EvidenceError, UsageError
from repocue.evaluation.cache import benchmark as benchmarks
from repocue.evaluation.cache import cue as cues
from repocue.evaluation.cache import layout, sources, wire
from repocue.evaluation.cache.limits import CacheLimits
from repocue.evaluation.shared import files, manifest, task_cues


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenRequest:
    """One step's wire body and its digest."""

    step: Step
    body: bytes
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A prepared folder whose every frozen file was checked. `requests` are in frozen order, by step id."""

    folder: str
    benchmark: CacheBenchmark
    benchmark_sha256: str
    cue: dict[str, Any]
    preparation: dict[str, Any]
    requests: dict[str, FrozenRequest]

    @property
    def attempts(self) -> str:
        """The folder that holds the attempts."""
        return os.path.join(self.folder, layout.ATTEMPTS)

    @property
    def state_fingerprint(self) -> str:
        """The state that every request is about."""
        fingerprint: str = self.preparation["basis"]["state_fingerprint"]
        return fingerprint

    @property
    def reusable_identity(self) -> str:
        """The identity that all steps share."""
        identity: str = self.preparation["reusable_identity"]
        return identity

    @property
    def rubric_sha256(self) -> str | None:
        """The digest of the rubric's UTF-8 bytes; None where there is none."""
        rubric = self.benchmark.rubric
        return None if rubric is None else canonical.digest(rubric.encode())

    def request(self, step: str) -> FrozenRequest:
        """The request of a step. Raises UsageError where no step has this id."""
        found = self.requests.get(step)
        if found is None:
            raise UsageError(
                f"The prepared folder has no step {step!r}.",
                code="usage.step",
                hint=f"Its steps are {', '.join(self.requests)}.",
            )
        return found


def load(folder: str, limits: CacheLimits) -> Prepared:
    """Read and check the prepared folder `folder`.

    Every file is compared with the manifest, every file of ours with its canonical form, and every request with what
    benchmark, answer schema and cue make. Raises EvidenceError or ContractError naming the file that differs.
    """
    folder = os.path.abspath(folder)
    if not os.path.isdir(folder):
        raise EvaluationError(
            f"{files.shown(folder)} is no folder.",
            code="evaluation.input",
            hint="Name a folder that 'repocue evaluate-cache prepare' printed as prepared_directory.",
        )
    sealed = manifest.verify(
        folder, layout.MANIFEST, schema_version=layout.MANIFEST_VERSION, leave_out=(layout.ATTEMPTS,)
    )
    attempts = os.path.join(folder, layout.ATTEMPTS)
    if os.path.islink(attempts) or not os.path.isdir(attempts):
        raise _altered(folder, layout.ATTEMPTS, "is no folder, so what was attempted cannot be told")
    data = _read(folder, layout.BENCHMARK, limits.benchmark_bytes)
    benchmark = benchmarks.read(data, limits=limits, today=None, subject=_subject(folder, layout.BENCHMARK))
    _check_names(folder, benchmark, {entry["path"] for entry in sealed["files"]})
    schema_data = _read(folder, layout.ANSWER_SCHEMA, limits.child_stdout_bytes)
    schema = reader.read_json(schema_data, subject=_subject(folder, layout.ANSWER_SCHEMA))
    if canonical.document(schema) != schema_data:
        raise _altered(folder, layout.ANSWER_SCHEMA, "is not in the form in which RepoCue writes it")
    cue_data = _read(folder, layout.CUE, limits.child_stdout_bytes)
    cue = cues.read(cue_data, limits=limits, subject=_subject(folder, layout.CUE))
    task_cues.check_for(cue, benchmark.task, benchmark.max_context_tokens)
    sources.check_bounds(cue, limits)
    refresh_data = _read(folder, layout.REFRESH, limits.child_stdout_bytes)
    preparation = reader.read_canonical(
        _read(folder, layout.PREPARATION, limits.child_stdout_bytes),
        contract=layout.PREPARATION_VERSION,
        kind="record",
        subject=_subject(folder, layout.PREPARATION),
    )
    expected = {
        "benchmark_sha256": canonical.digest(data),
        "answer_schema_sha256": canonical.digest(schema_data),
        "cue_sha256": canonical.digest(cue_data),
        "reusable_identity": wire.reusable_identity(benchmark, schema, cue),
        "snapshot": cue["snapshot"],
    }
    for name, value in expected.items():
        if preparation[name] != value:
            raise _altered(folder, layout.PREPARATION, f"names another {name} than its files have")
    for member, name in (("basis", "status_digest"), ("basis", "repository_digest"), ("repository", "id")):
        if preparation[member][name] != cue[member][name]:
            raise _altered(folder, layout.PREPARATION, f"names another {name} than the cue does")
    for name, output in (("refresh", refresh_data), ("cue", cue_data)):
        kept = {
            "stdout_bytes": len(output),
            "stdout_sha256": canonical.digest(output),
            "estimated_tokens": tokens.estimate(len(output)),
        }
        if not kept.items() <= preparation["processes"][name].items():
            raise _altered(folder, layout.PREPARATION, f"names another output of {name} than was kept")
    return Prepared(
        folder=folder,
        benchmark=benchmark,
        benchmark_sha256=expected["benchmark_sha256"],
        cue=cue,
        preparation=preparation,
        requests={
            step.id: _request(folder, benchmark, schema, cue, step, expected["reusable_identity"], limits)
            for step in benchmark.steps
        },
    )


def _request(
    folder: str,
    benchmark: CacheBenchmark,
    schema: dict[str, Any],
    cue: dict[str, Any],
    step: Step,
    identity: str,
    limits: CacheLimits,
) -> FrozenRequest:
    """The request of one step, made again and compared with the frozen bytes."""
    body = wire.body(benchmark, schema, cue, step)
    name = layout.request_file(step.id)
    if _read(folder, name, limits.send.request_bytes) != body:
        raise _altered(folder, name, "is not what benchmark, answer schema and cue make")
    record = wire.record(step, body, identity)
    name = layout.record_file(step.id)
    if _read(folder, name, limits.send.request_bytes) != canonical.document(record):
        raise _altered(folder, name, "does not describe the request beside it")
    benchmarks.check_request(step.id, body, benchmark=benchmark, limits=limits)
    return FrozenRequest(step=step, body=body, sha256=record["body_sha256"])


def _check_names(folder: str, benchmark: CacheBenchmark, found: set[str]) -> None:
    expected = {layout.PREPARATION, layout.BENCHMARK, layout.ANSWER_SCHEMA, layout.CUE, layout.REFRESH}
    for step in benchmark.steps:
        expected |= {layout.request_file(step.id), layout.record_file(step.id)}
    for name in sorted(found ^ expected):
        raise _altered(folder, name, "is missing" if name in expected else "belongs to no prepared folder")


def _read(folder: str, name: str, limit_bytes: int) -> bytes:
    return files.read_file(os.path.join(folder, name), limit_bytes=limit_bytes)


def _subject(folder: str, name: str) -> str:
    return files.shown(os.path.join(folder, name))


def _altered(folder: str, name: str, why: str) -> EvidenceError:
    return EvidenceError(f"{_subject(folder, name)} {why}.", code="evidence.altered")
