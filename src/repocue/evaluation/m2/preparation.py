"""One prepared state: a full baseline, a refresh that finds nothing, and all five contexts, before any agent (seed,
"Preparation and Isolation").

Baseline and refresh are the shipped commands as processes, in a cache that exists for this run alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from repocue.contracts import reader
from repocue.contracts.rules.evaluation import CONDITIONS
from repocue.domain.measurement import milliseconds
from repocue.domain.paths import display
from repocue.errors import EvaluationError
from repocue.evaluation.m2 import contexts, delivery, naming
from repocue.evaluation.m2.changed_paths import changed_paths
from repocue.evaluation.shared.clock import AttemptClock
from repocue.evaluation.shared.processes import CommandRun, run_command
from repocue.git import evidence
from repocue.maintenance.request import Request
from repocue.maintenance.verdict import of_itself
from repocue.store.location import CacheLocation

if TYPE_CHECKING:
    from collections.abc import Callable

    from repocue.evaluation.m2.contexts import Context
    from repocue.evaluation.m2.delivery import Delivery, Executable
    from repocue.evaluation.m2.inputs import Given, Inputs
    from repocue.evaluation.m2.workspace import Workspace
    from repocue.git.evidence import Capture

_CACHE = "cache"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What the five conditions of one set share.

    `capture` is the state that every later capture must equal. `changed_paths` is None where they are too many to keep.
    `baseline` and `update` are the report's members of that name. `setup_ms` is everything up to here, which is in no
    condition's cost. `environ` is what the harness's own processes get.
    """

    maintenance_id: str
    snapshot: str
    capture: Capture
    repository: Mapping[str, Any]
    changed_paths: Mapping[str, list[str]] | None
    baseline: Mapping[str, Any]
    update: Mapping[str, Any]
    contexts: Mapping[str, Context] = field(repr=False)
    delivery: Delivery
    setup_ms: float
    clock: AttemptClock
    environ: Mapping[str, str] = field(repr=False)


def prepare(
    inputs: Inputs, executable: Executable, workspace: Workspace, tell: Callable[[str], None], expected: Capture | None
) -> Prepared:
    """Prepare one set; `tell` is told each step, `expected` is the state that an earlier set of this experiment had.

    The cache is removed again: nothing of it can help an agent. Raises EvaluationError and its kin.
    """
    # Scratch files of git's and of the commands belong to the workspace too: a killed harness leaves one thing.
    given = replace(inputs.given, environ={**inputs.given.environ, "TMPDIR": workspace.folder})
    begun = time.perf_counter()
    clock = AttemptClock(given.now_ms)
    tell("Fingerprint")
    before = evidence.capture(given.worktree, given.environ, earlier=expected)
    check_readable(before)
    if expected is not None:
        require_same(before, expected, "since the first run of this experiment was prepared")
    cache = workspace.path(_CACHE)
    tell("Full baseline")
    baseline = _maintain(given, cache, workspace, "baseline", "initialized", ["init"])
    tell("No-op refresh")
    update = _maintain(given, cache, workspace, "refresh", "unchanged", ["refresh", "--trigger", "evaluation"])
    builder = contexts.Builder(_request(given, cache), max_tokens=given.max_tokens)
    header = builder.current.header
    _require_snapshot_of(before, header.status_digest, header.repository_digest)
    tell("Placebo context")
    found = {"direct": contexts.DIRECT, "placebo": builder.placebo()}
    tell("Ranked context")
    found["ranked"] = builder.ranked()
    tell("Structural context")
    found["structural-oracle"] = builder.structural(inputs.oracle)
    tell("Basic context")
    found["basic"], evidence_of_cue = delivery.deliver(
        given,
        executable,
        cache=cache,
        folder=workspace.folder,
        header=header,
        kept_contents=len(builder.current.known.contents),
        clock=clock,
    )
    workspace.remove(_CACHE)
    if inputs.runner is None:  # else the capture before the first runner says the same
        tell("Fingerprint")
        after = evidence.capture(given.worktree, given.environ, earlier=before)
        require_same(after, before, "while the contexts were prepared")
    root = display(given.worktree.root)
    observation = before.observation
    return Prepared(
        maintenance_id=naming.maintenance_id(root, before.state_fingerprint, header.snapshot),
        snapshot=header.snapshot,
        capture=before,
        repository={
            "supplied_path": display(os.fsencode(given.supplied_path)),
            "resolved_root": root,
            "id": given.worktree.id,
            "name": given.worktree.name,
            "branch": observation.branch,
            "head": observation.head,
            "dirty": observation.is_dirty,
            "status_digest": observation.status_digest,
            "repository_digest": observation.repository_digest,
            "untracked_content_digest": before.untracked_content_digest,
            "state_fingerprint": before.state_fingerprint,
            "tracked_files": builder.summary.tracked_files,
            "tracked_bytes": builder.summary.size_bytes,
        },
        changed_paths=changed_paths(observation),
        baseline=_costs("full", baseline, rows=builder.summary.tracked_files),
        update=_costs("no-op", update, rows=0),
        contexts={name: found[name] for name in CONDITIONS},
        delivery=evidence_of_cue,
        setup_ms=milliseconds(time.perf_counter() - begun),
        clock=clock,
        environ=given.environ,
    )


class Evidence(Protocol):
    """What is compared of a captured state."""

    @property
    def state_fingerprint(self) -> str: ...
    @property
    def guard_digest(self) -> str: ...


def require_same(capture: Evidence, expected: Evidence, when: str) -> None:
    """Raises EvaluationError where content, refs, stash, config or HEAD's log differ from what was prepared."""
    if capture.state_fingerprint != expected.state_fingerprint or capture.guard_digest != expected.guard_digest:
        raise contexts.changed(when)


def check_readable(capture: Capture) -> None:
    """Raises EvaluationError where a changed file cannot be read: no fingerprint could show that it stayed the same."""
    if of_itself(capture.observation) == "unknown":
        raise EvaluationError(
            "A changed file of the repository cannot be read, so it cannot be shown that no run changes it.",
            code="evaluation.unreadable",
            hint="'repocue status' names what cannot be read; make it readable or commit it.",
        )


@dataclass(frozen=True, slots=True)
class _Maintained:
    """One ended command: what it took as seen from outside, what it said, and the database's size afterwards."""

    run: CommandRun
    operation: Mapping[str, Any]
    database_bytes: int


def _maintain(
    given: Given, cache: str, workspace: Workspace, what: str, outcome: str, arguments: list[str]
) -> _Maintained:
    root = os.fsdecode(given.worktree.root)
    run = run_command(
        what,
        given.command,
        [*arguments, "-C", root, "--cache-dir", cache, "--format", "json", "--quiet"],
        environ=given.environ,
        cwd=workspace.folder,
        timeout_s=given.limits.maintenance_s,
        stdout_limit_bytes=given.limits.cue_stdout_bytes,
    )
    operation = reader.read(run.stdout, contract="repocue/operation-1", subject=f"the {what}'s answer")
    if operation["outcome"] != outcome:
        raise contexts.changed(f"between the baseline and the {what}")
    state = CacheLocation(cache).state_path(given.worktree.id)
    size = sum(os.stat(state + suffix).st_size for suffix in ("", "-wal") if os.path.exists(state + suffix))
    return _Maintained(run, operation, size)


def _costs(kind: str, done: _Maintained, *, rows: int) -> dict[str, Any]:
    recorded = done.operation["run"]
    return {
        "kind": kind,
        "wall_duration_ms": done.run.duration_ms,
        "scan_duration_ms": recorded["scan_duration_ms"],
        "files_scanned": recorded["files_scanned"],
        "bytes_scanned": recorded["bytes_read"],
        "git_commands": recorded["git_processes"],
        "changed": kind == "full",
        "database_size_bytes": done.database_bytes,
        "materialized_file_rows": rows,
    }


def _require_snapshot_of(capture: Capture, status_digest: str, repository_digest: str) -> None:
    observation = capture.observation
    if (observation.status_digest, observation.repository_digest) != (status_digest, repository_digest):
        raise contexts.changed("while the baseline was made")


def _request(given: Given, cache: str) -> Request:
    return Request(
        worktree=given.worktree,
        cache=CacheLocation(cache),
        environ=given.environ,
        elapsed_ms=lambda: None,
        clock_method="not-observed",  # nothing is recorded through this request
        now_ms=given.now_ms,
    )
