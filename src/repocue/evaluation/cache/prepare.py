"""Preparation: freeze benchmark, cue, answer schema and the exact bytes of every request; send nothing (seed, "Data
flow")."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from repocue.contracts import canonical, reader
from repocue.contracts.schemas import for_provider
from repocue.domain.paths import display
from repocue.domain.times import rfc3339
from repocue.errors import EvaluationError
from repocue.evaluation.cache import benchmark as benchmarks
from repocue.evaluation.cache import cue as cues
from repocue.evaluation.cache import layout, sources, wire
from repocue.evaluation.cache.limits import DEFAULT_LIMITS, CacheLimits
from repocue.evaluation.shared import basis, files, isolation, manifest, task_cues
from repocue.evaluation.shared import sources as shared_sources
from repocue.evaluation.shared.processes import CommandRun, run_repocue
from repocue.evaluation.shared.publishing import Staging

if TYPE_CHECKING:
    from repocue.contracts.types.cache import CacheBenchmark
    from repocue.git.evidence import Capture
    from repocue.git.worktree import Worktree


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What a preparation is given.

    `command` starts RepoCue, `cache_dir` is where its states are kept; `benchmark_file` and `output_directory` are
    paths as typed. `now_ms` is the wall clock.
    """

    worktree: Worktree
    benchmark_file: str
    output_directory: str
    command: Sequence[str]
    cache_dir: str
    environ: Mapping[str, str]
    version: str
    now_ms: Callable[[], int]
    limits: CacheLimits = DEFAULT_LIMITS
    progress: Callable[[str, int, int | None], None] | None = None


def prepare(given: Preparation) -> dict[str, Any]:
    """Prepare one folder of requests; returns the `repocue/cache-preparation-1` document of kind "prepared".

    Runs the actual `refresh` and task cue as processes, on an initialised cache only. A failure leaves no folder.
    Raises ContractError for the benchmark, EvaluationError and its kin for everything else.
    """
    output = isolation.outside(given.worktree, given.output_directory)
    data = files.read_given(given.benchmark_file, limit_bytes=given.limits.benchmark_bytes, what="benchmark file")
    today = rfc3339(given.now_ms())[:10]
    benchmark = benchmarks.read(data, limits=given.limits, today=today, subject="the benchmark")
    with _folder(output), Staging(output, f"cache-eval-{benchmark.id}-{secrets.token_hex(6)}") as staging:
        staging.write(layout.BENCHMARK, data)
        observed = _observe(given, benchmark, staging.folder)
        steps = _freeze(given, benchmark, data, observed, staging)
        manifest.write(
            staging.folder, layout.MANIFEST, {"schema_version": layout.MANIFEST_VERSION}, leave_out=(layout.ATTEMPTS,)
        )
        published = staging.publish()
    return {
        "schema_version": layout.PREPARATION_VERSION,
        "kind": "prepared",
        "prepared_directory": display(os.fsencode(published)),
        "steps": steps,
        "warnings": benchmarks.warnings(benchmark),
    }


@contextmanager
def _folder(path: str) -> Iterator[None]:
    """Make the output folder; one that was made for nothing is taken away again."""
    is_new = not os.path.isdir(path)
    files.make_parents(path)
    try:
        yield
    except BaseException:
        if is_new:
            with suppress(OSError):  # it is not empty: others use it too
                os.rmdir(path)
        raise


@dataclass(frozen=True, slots=True, kw_only=True)
class _Observed:
    """What the repository and its cache gave: two processes between two equal captures."""

    refresh: CommandRun
    cue_run: CommandRun
    cue: dict[str, Any]
    capture: Capture


def _observe(given: Preparation, benchmark: CacheBenchmark, folder: str) -> _Observed:
    """Refresh, then cue, with the repository the same before and after and the cue its true picture."""
    from repocue.git import evidence
    from repocue.git.process import Git

    _tell(given, "Observe", 0)
    before = evidence.capture(given.worktree, given.environ)
    _tell(given, "Refresh", 1)
    refresh = _run(given, "refresh", ["refresh", "--trigger", "evaluation"], folder)
    operation = reader.read(refresh.stdout, contract="repocue/operation-1", subject="the refresh's answer")
    _tell(given, "Task cue", 2)
    frozen_benchmark = os.path.join(folder, layout.BENCHMARK)
    arguments = ["cue", "--view", "task", "--task-file", frozen_benchmark]
    cue_run = _run(given, "task cue", [*arguments, "--max-tokens", str(benchmark.max_context_tokens)], folder)
    cue = cues.read(cue_run.stdout, limits=given.limits, subject="the task cue")
    task_cues.check_for(cue, benchmark.task, benchmark.max_context_tokens)
    sources.check_bounds(cue, given.limits)
    _tell(given, "Observe", 3)
    after = evidence.capture(given.worktree, given.environ, earlier=before)
    if (before.state_fingerprint, before.guard_digest) != (after.state_fingerprint, after.guard_digest):
        raise EvaluationError(
            "The repository changed while the requests were prepared; nothing was kept.",
            code="evaluation.repository-changed",
            hint="Prepare again while nothing else works in the repository.",
        )
    basis.check_cue("task cue", cue, operation, given.worktree, after)
    declaration = shared_sources.check_against(cue, after.observation, Git.of(given.worktree, given.environ))
    shared_sources.check_selection(cue, benchmark.task, declaration)
    return _Observed(refresh=refresh, cue_run=cue_run, cue=cue, capture=after)


def _freeze(
    given: Preparation, benchmark: CacheBenchmark, data: bytes, observed: _Observed, staging: Staging
) -> list[dict[str, Any]]:
    """Write every file but the manifest; returns the printed list of steps."""
    schema = for_provider(layout.ANSWER_VERSION)
    schema_document = canonical.document(schema)
    identity = wire.reusable_identity(benchmark, schema, observed.cue)
    staging.write(layout.ANSWER_SCHEMA, schema_document)
    staging.write(layout.CUE, observed.cue_run.stdout)
    staging.write(layout.REFRESH, observed.refresh.stdout)
    staging.make_folder(layout.REQUESTS)
    staging.make_folder(layout.ATTEMPTS)
    steps = []
    for step in benchmark.steps:
        body = wire.body(benchmark, schema, observed.cue, step)
        benchmarks.check_request(step.id, body, benchmark=benchmark, limits=given.limits)
        record = wire.record(step, body, identity)
        staging.write(layout.request_file(step.id), body)
        staging.write(layout.record_file(step.id), canonical.document(record))
        steps.append(
            {
                "id": step.id,
                "arm": step.arm,
                "request_sha256": record["body_sha256"],
                "request_bytes": record["body_bytes"],
                "reusable_identity": identity,
            }
        )
    preparation = {
        "schema_version": layout.PREPARATION_VERSION,
        "kind": "record",
        "prepared_at": rfc3339(given.now_ms()),
        "repocue_version": given.version,
        "repository": {
            "id": given.worktree.id,
            "name": given.worktree.name,
            "root": display(given.worktree.root),
        },
        "basis": basis.basis_of(observed.capture),
        "snapshot": observed.cue["snapshot"],
        "benchmark_sha256": canonical.digest(data),
        "answer_schema_sha256": canonical.digest(schema_document),
        "cue_sha256": canonical.digest(observed.cue_run.stdout),
        "reusable_identity": identity,
        "processes": {"refresh": observed.refresh.to_json(), "cue": observed.cue_run.to_json()},
    }
    reader.check(preparation, contract=layout.PREPARATION_VERSION, kind="record")
    staging.write(layout.PREPARATION, canonical.document(preparation))
    return steps


def _run(given: Preparation, what: str, arguments: list[str], folder: str) -> CommandRun:
    return run_repocue(
        what,
        given.command,
        arguments,
        root=given.worktree.root,
        cache_dir=given.cache_dir,
        environ=given.environ,
        cwd=folder,
        timeout_s=given.limits.child_s,
        stdout_limit_bytes=given.limits.child_stdout_bytes,
        recorded_as={os.path.join(folder, layout.BENCHMARK): "<benchmark>"},
    )


def _tell(given: Preparation, stage: str, done: int) -> None:
    if given.progress is not None:
        given.progress(stage, done, 4)
