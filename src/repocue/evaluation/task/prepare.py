"""Preparation: freeze everything that both arms are given; run no agent (seed, "Independent task comparison").

What it establishes is that the inputs are ready, and nothing about any model.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from repocue.contracts import canonical, reader
from repocue.contracts.schemas import for_provider
from repocue.domain import tokens
from repocue.domain.paths import display
from repocue.domain.times import rfc3339
from repocue.errors import EvaluationError, UsageError
from repocue.evaluation.shared import basis, files, isolation, manifest, sources
from repocue.evaluation.shared.processes import CommandRun, run_repocue
from repocue.evaluation.shared.publishing import Staging
from repocue.evaluation.task import benchmark as benchmarks
from repocue.evaluation.task import cues, layout, prompt, schedule
from repocue.evaluation.task.limits import DEFAULT_LIMITS, TaskLimits

if TYPE_CHECKING:
    from repocue.contracts.types.task import TaskBenchmark
    from repocue.git.evidence import Capture
    from repocue.git.worktree import Worktree

Progress = Callable[[str, int, "int | None"], None]

STEPS = 5
"""How many steps a preparation shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What a preparation is given.

    `command` starts RepoCue, `cache_dir` is where its states are kept; `task_file` (a task benchmark), `policy_file`
    and `output_directory` are paths as typed. `order` None is the schedule's. `now_ms` is the wall clock.
    """

    worktree: Worktree
    task_file: str
    policy_file: str | None
    output_directory: str
    order: layout.Order | None
    repeat: int
    command: Sequence[str]
    cache_dir: str
    environ: Mapping[str, str]
    version: str
    now_ms: Callable[[], int]
    limits: TaskLimits = DEFAULT_LIMITS
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """A prepared folder and the `repocue/task-preparation-1` document of kind "prepared" that describes it."""

    folder: str
    document: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """The user's files, read and checked; bytes as given."""

    benchmark: TaskBenchmark
    benchmark_data: bytes
    paid: dict[str, Any] | None
    paid_data: bytes | None
    order: layout.Order


@dataclass(frozen=True, slots=True, kw_only=True)
class _Observed:
    """What the repository and its cache gave: three processes between two equal captures."""

    refresh: CommandRun
    runs: dict[layout.Arm, CommandRun]
    cues: dict[layout.Arm, dict[str, Any]]
    capture: Capture


def prepare(given: Preparation) -> Frozen:
    """Prepare one folder for one ordered pair.

    Runs the actual `refresh`, overview cue and task cue as processes, on an initialised cache only. A failure leaves
    no folder. Raises ContractError for a user's file, EvaluationError, UsageError and their kin for everything else.
    """
    output = isolation.outside(given.worktree, given.output_directory)
    wanted = _read_given(given)
    cues.check_offered(wanted.benchmark)
    files.make_parents(output)
    name = layout.folder_name(wanted.benchmark.id, wanted.order, given.repeat, secrets.token_hex(6))
    with Staging(output, name) as staging:
        staging.write(layout.BENCHMARK, wanted.benchmark_data)
        observed = _observe(given, wanted.benchmark, staging.folder)
        prompts = _freeze(given, wanted, observed, staging)
        manifest.write(
            staging.folder, layout.MANIFEST, {"schema_version": layout.MANIFEST_VERSION}, leave_out=(layout.ATTEMPTS,)
        )
        published = staging.publish()
    return Frozen(folder=published, document=_document(given, wanted, published, prompts))


def _read_given(given: Preparation) -> _Given:
    data = files.read_given(given.task_file, limit_bytes=given.limits.benchmark_bytes, what="task file")
    benchmark = benchmarks.read(data, limits=given.limits, subject="the task file")
    if not 1 <= given.repeat <= benchmark.repeats:
        raise UsageError(
            f"--repeat is {given.repeat}, but the benchmark {benchmark.id} has {benchmark.repeats} repeats.",
            code="usage.repeat",
        )
    paid = paid_data = None
    if given.policy_file is not None:
        today = rfc3339(given.now_ms())[:10]
        paid_data = files.read_given(given.policy_file, limit_bytes=given.limits.policy_bytes, what="policy file")
        paid = benchmarks.read_policy(paid_data, limits=given.limits, today=today, subject="the policy file")
    order = given.order or schedule.order_of(benchmark.task.kind, given.repeat)
    return _Given(benchmark=benchmark, benchmark_data=data, paid=paid, paid_data=paid_data, order=order)


def _observe(given: Preparation, benchmark: TaskBenchmark, folder: str) -> _Observed:
    """Refresh, then both cues, with the repository the same before and after and the cues its true picture."""
    from repocue.git import evidence
    from repocue.git.process import Git

    _tell(given, "Observe", 0)
    before = evidence.capture(given.worktree, given.environ)
    _tell(given, "Refresh", 1)
    refresh = _run(given, "refresh", ["refresh", "--trigger", "evaluation"], folder)
    operation = reader.read(refresh.stdout, contract="repocue/operation-1", subject="the refresh's answer")
    runs: dict[layout.Arm, CommandRun] = {}
    found: dict[layout.Arm, dict[str, Any]] = {}
    for done, arm in enumerate(layout.ARMS, 2):
        _tell(given, f"{arm.capitalize()} cue", done)
        arguments = cues.arguments(benchmark, arm, os.path.join(folder, layout.BENCHMARK))
        runs[arm] = _run(given, f"{arm} cue", arguments, folder)
        found[arm] = cues.read(
            runs[arm].stdout, benchmark, arm, limits=given.limits, subject=f"the answer of the {arm} cue"
        )
    _tell(given, "Observe", STEPS - 1)
    after = evidence.capture(given.worktree, given.environ, earlier=before)
    if (before.state_fingerprint, before.guard_digest) != (after.state_fingerprint, after.guard_digest):
        raise EvaluationError(
            "The repository changed while the evaluation was prepared; nothing was kept.",
            code="evaluation.repository-changed",
            hint="Prepare again while nothing else works in the repository.",
        )
    for arm in layout.ARMS:
        cues.check_state(found[arm], benchmark, arm, operation, given.worktree, after)
    cue = found["task"]
    declaration = sources.check_against(cue, after.observation, Git.of(given.worktree, given.environ))
    sources.check_selection(cue, benchmark.task, declaration)
    return _Observed(refresh=refresh, runs=runs, cues=found, capture=after)


def _freeze(given: Preparation, wanted: _Given, observed: _Observed, staging: Staging) -> list[dict[str, Any]]:
    """Write every file but the manifest; returns what is known of both prompts, in the order in which they run."""
    benchmark = wanted.benchmark
    schema = canonical.document(for_provider(layout.ANSWER_VERSION))
    policy = benchmarks.frozen_policy(benchmark, wanted.paid)
    reader.check(policy, contract=layout.PREPARATION_VERSION, kind="policy")
    policy_data, task = canonical.document(policy), prompt.task_text(benchmark)
    if wanted.paid_data is not None:
        staging.write(layout.PAID_POLICY, wanted.paid_data)
    staging.write(layout.POLICY, policy_data)
    staging.write(layout.TASK, task)
    staging.write(layout.ANSWER_SCHEMA, schema)
    staging.write(layout.REFRESH, observed.refresh.stdout)
    prompts = []
    for arm in layout.arms(wanted.order):
        cue_data = observed.runs[arm].stdout
        staging.write(layout.CUES[arm], cue_data)
        whole = prompt.prompt(task, cue_data)
        prompts.append(
            {
                "arm": arm,
                "cue_sha256": canonical.digest(cue_data),
                "prompt_sha256": canonical.digest(whole),
                "prompt_bytes": len(whole),
                "estimated_tokens": tokens.estimate(len(whole)),
            }
        )
    staging.make_folder(layout.ATTEMPTS)
    cue = observed.cues["task"]
    record = {
        "schema_version": layout.PREPARATION_VERSION,
        "kind": "record",
        "prepared_at": rfc3339(given.now_ms()),
        "repocue_version": given.version,
        "benchmark_id": benchmark.id,
        "order": wanted.order,
        "repeat": given.repeat,
        "repository": {
            "id": given.worktree.id,
            "name": given.worktree.name,
            "root": display(given.worktree.root),
        },
        "prepared_directory": display(os.fsencode(staging.target)),
        "cache_directory": display(os.fsencode(os.path.join(given.cache_dir, given.worktree.id))),
        "basis": basis_of(observed.capture),
        "head": observed.capture.observation.head,
        "snapshot": cue["snapshot"],
        "benchmark_sha256": canonical.digest(wanted.benchmark_data),
        "policy_sha256": canonical.digest(policy_data),
        "task_sha256": canonical.digest(task),
        "answer_schema_sha256": canonical.digest(schema),
        "cue_prefix_sha256": cues.prefix_digest(cue),
        "prompts": prompts,
        "sources": [{"id": source["id"], "sha256": source["sha256"]} for source in cue["sources"]],
        "processes": {
            "baseline": None,
            "refresh": observed.refresh.to_json(),
            "overview": observed.runs["overview"].to_json(),
            "task": observed.runs["task"].to_json(),
        },
    }
    reader.check(record, contract=layout.PREPARATION_VERSION, kind="record")
    staging.write(layout.PREPARATION, canonical.document(record))
    return prompts


def basis_of(capture: Capture) -> dict[str, str]:
    """The state of the repository as attempts and preparations hold it: with what else an agent could change."""
    return {**basis.basis_of(capture), "guard_digest": capture.guard_digest}


def _document(given: Preparation, wanted: _Given, folder: str, prompts: list[dict[str, Any]]) -> dict[str, Any]:
    benchmark = wanted.benchmark
    number = schedule.pair_number(benchmark.task.kind, given.repeat)
    return {
        "schema_version": layout.PREPARATION_VERSION,
        "kind": "prepared",
        "prepared_directory": display(os.fsencode(folder)),
        "benchmark_id": benchmark.id,
        "task_kind": benchmark.task.kind,
        "order": wanted.order,
        "repeat": given.repeat,
        "pair": number if number <= schedule.PAIRS else None,
        "has_policy": wanted.paid is not None,
        "prompts": prompts,
        "attempts": [],
        "establishes": "Input readiness only: no model ran; nothing is said of its behaviour, correctness or savings.",
        "warnings": _warnings(given, wanted),
    }


def _warnings(given: Preparation, wanted: _Given) -> list[str]:
    found = benchmarks.warnings(wanted.benchmark, benchmarks.paid_policy(wanted.paid))
    expected = schedule.order_of(wanted.benchmark.task.kind, given.repeat)
    if wanted.order != expected:
        found.append(f"order-not-scheduled: the schedule runs this cell {expected}, so the pair will not count")
    return found


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
        given.progress(stage, done, STEPS)
