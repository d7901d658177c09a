"""`repocue evaluate`: what RepoCue itself costs on a repository, agents left aside.

A full baseline, a refresh that finds nothing and an overview cue run as processes of their own in a temporary cache, as
a user would run them; the maintained cache is not opened. Each is measured from outside (wall clock, processor time,
memory), and what a command recorded of itself stands beside that. The repository is fingerprinted before and after: if
it changed meanwhile, nothing is reported.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from repocue.contracts import reader
from repocue.domain.measurement import ESTIMATED, NOT_OBSERVED, OBSERVED, measured, milliseconds
from repocue.domain.times import rfc3339
from repocue.domain.tokens import estimate
from repocue.errors import EvaluationError, RepoCueError
from repocue.evaluation.shared import isolation
from repocue.evaluation.shared.measuring import Measured, run_measured

if TYPE_CHECKING:
    from repocue.git.evidence import Capture
    from repocue.git.worktree import Worktree

AGENT_METRICS = (
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "execution_duration_ms",
    "command_executions",
)
"""What only an agent's run could tell; a probe runs none."""

LIMITATIONS = (
    "No agent ran: nothing here says whether a cue saves anything.",
    "The duration that a command records of itself ends before its commit and exit; the wall clock includes both.",
    "Peak memory is that of the command or of the largest process it waited for, whichever is larger.",
    "File caches are as they were found: a baseline after a cold start takes longer.",
    "The fingerprints do not cover ignored files, nor an index rewritten with new times alone.",
)

_FACTS = ("scan_duration_ms", "git_processes", "files_scanned", "bytes_read", "changed_files")


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What to measure, and with what.

    `command` starts RepoCue (its arguments follow); `temporary_root` is where the temporary cache is made, outside
    the repository; `progress` is called as in `maintenance.request`.
    """

    worktree: Worktree
    command: Sequence[str]
    version: str
    environ: Mapping[str, str]
    temporary_root: str
    max_tokens: int
    now_ms: Callable[[], int]
    progress: Callable[[str, int, int | None], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """One ended process: what it printed, and what it took as seen from outside."""

    output: bytes
    took: Measured
    database_bytes: int

    def costs(self) -> dict[str, Any]:
        return {
            "wall_duration_ms": measured(self.took.wall_duration_ms, OBSERVED),
            "cpu_duration_ms": measured(self.took.cpu_duration_ms, OBSERVED),
            "peak_memory_bytes": measured(self.took.peak_memory_bytes, OBSERVED),
            "output_bytes": measured(len(self.output), OBSERVED),
            "database_bytes": measured(self.database_bytes, OBSERVED),
        }


def evaluate(probe: Probe) -> dict[str, Any]:
    """Run the probe and return its `repocue/evaluation-probe-1` document.

    Raises EvaluationError where a step fails, where the repository changes meanwhile, or where the temporary cache
    would lie inside it; RepositoryError where it cannot be observed.
    """
    from repocue.git import evidence

    root = isolation.outside(probe.worktree, probe.temporary_root, what="temporary root")
    _tell(probe, "Fingerprint", 0)
    begun = time.perf_counter()
    before = evidence.capture(probe.worktree, probe.environ)
    captures_s = time.perf_counter() - begun
    try:
        folder = tempfile.mkdtemp(prefix="repocue-evaluate-", dir=root)
    except OSError as error:
        raise EvaluationError(
            f"no temporary folder can be made in {root}: {error.strerror}",
            hint="Name another one with --temporary-root.",
        ) from error
    try:
        steps = _run_steps(probe, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _tell(probe, "Fingerprint", 4)
    begun = time.perf_counter()
    after = evidence.capture(probe.worktree, probe.environ)
    captures_s += time.perf_counter() - begun
    if (before.state_fingerprint, before.guard_digest) != (after.state_fingerprint, after.guard_digest):
        raise EvaluationError(
            "the repository changed while it was measured; nothing is reported",
            code="evaluation.repository-changed",
            hint="Run it again while nothing else works in the repository.",
        )
    return _document(probe, steps, before, after, captures_s)


def _run_steps(probe: Probe, folder: str) -> tuple[_Step, _Step, _Step]:
    _tell(probe, "Full baseline", 1)
    baseline = _run(probe, folder, "baseline", "init")
    _tell(probe, "No-op refresh", 2)
    refresh = _run(probe, folder, "no-op refresh", "refresh", "--trigger", "evaluation")
    _tell(probe, "Overview cue", 3)
    cue = _run(probe, folder, "cue", "cue", "--view", "overview", "--max-tokens", str(probe.max_tokens))
    return baseline, refresh, cue


def _run(probe: Probe, folder: str, what: str, name: str, *arguments: str) -> _Step:
    """Run one command in the temporary cache; raises EvaluationError, with what it said, where it fails."""
    cache = os.path.join(folder, "cache")
    argv = [*probe.command, name, *arguments, "--cache-dir", cache, "--format", "json", "--quiet"]
    argv += ["--repository", os.fsdecode(probe.worktree.root)]
    with tempfile.TemporaryFile(dir=folder) as output, tempfile.TemporaryFile(dir=folder) as errors:
        took = run_measured(argv, cwd=folder, environ=probe.environ, stdout=output, stderr=errors)
        output.seek(0)
        errors.seek(0)
        if took.exit_code != 0:
            raise _step_failed(what, took.exit_code, errors.read())
        return _Step(output=output.read(), took=took, database_bytes=_size_of(cache))


def _step_failed(what: str, code: int, said: bytes) -> EvaluationError:
    """The error of a step, with the message and hint of the command that failed where it gave them."""
    hint = None
    try:
        document = reader.read(said, contract="repocue/error-1")
        reason, hint = document["message"], document["hint"]
    except RepoCueError:
        reason = said.decode("utf-8", "backslashreplace").strip() or "it said nothing"
    return EvaluationError(f"the {what} failed (exit code {code}): {reason}", code="evaluation.step-failed", hint=hint)


def _document(
    probe: Probe, steps: tuple[_Step, _Step, _Step], before: Capture, after: Capture, captures_s: float
) -> dict[str, Any]:
    baseline = _operation(steps[0], "baseline", "initialized")
    refresh = _operation(steps[1], "no-op refresh", "unchanged")
    cue = steps[2]
    return {
        "schema_version": "repocue/evaluation-probe-1",
        "generated_at": rfc3339(probe.now_ms()),
        "executable": {"command": list(probe.command), "version": probe.version},
        "repository": baseline["repository"],
        "captures": {"before": _capture(before), "after": _capture(after)},
        "baseline": {"costs": {**steps[0].costs(), **_recorded(baseline)}},
        "no_op_refresh": {"costs": {**steps[1].costs(), **_recorded(refresh)}},
        "cue": {
            "view": "overview",
            "max_tokens": probe.max_tokens,
            "costs": {**cue.costs(), "estimated_tokens": measured(estimate(len(cue.output)), ESTIMATED)},
        },
        "overhead": {"captures_duration_ms": measured(milliseconds(captures_s), OBSERVED)},
        "agent_evidence": {
            "status": NOT_OBSERVED,
            "metrics": {name: measured(None, NOT_OBSERVED) for name in AGENT_METRICS},
        },
        "limitations": list(LIMITATIONS),
    }


def _operation(step: _Step, what: str, wanted: str) -> dict[str, Any]:
    """The `repocue/operation-1` document that a step printed; its outcome must be what the step is named for."""
    document = reader.read(step.output, contract="repocue/operation-1", subject=f"the {what}'s answer")
    if document["outcome"] != wanted:
        raise EvaluationError(
            f"the {what} was not one: its outcome is {document['outcome']}, not {wanted}",
            code="evaluation.repository-changed",
            hint="Run it again while nothing else works in the repository.",
        )
    return document


def _recorded(operation: Mapping[str, Any]) -> dict[str, Any]:
    """What the command recorded of itself."""
    run = operation["run"]
    return {
        "recorded_duration_ms": measured(run["duration_ms"], OBSERVED),
        **{name: measured(run[name], OBSERVED) for name in _FACTS},
    }


def _capture(capture: Capture) -> dict[str, str]:
    return {"at": capture.at, "state_fingerprint": capture.state_fingerprint, "guard_digest": capture.guard_digest}


def _size_of(folder: str) -> int:
    """The bytes of all files in a cache folder."""
    return sum(os.lstat(os.path.join(at, name)).st_size for at, _, names in os.walk(folder) for name in names)


def _tell(probe: Probe, stage: str, done: int) -> None:
    if probe.progress is not None:
        probe.progress(stage, done, 5)
