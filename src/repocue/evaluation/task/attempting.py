"""One reserved attempt: look, start the runner once, look again, keep everything (seed: "Attempts are recorded before
launch")."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from repocue.contracts import canonical, reader
from repocue.domain.paths import display
from repocue.domain.times import rfc3339
from repocue.errors import ContractError, EvaluationError, RepoCueError
from repocue.evaluation.shared import attempt, files
from repocue.evaluation.shared.attempt import Attempt
from repocue.evaluation.shared.clock import AttemptClock
from repocue.evaluation.shared.environment import for_runner
from repocue.evaluation.task import layout
from repocue.evaluation.task.limits import TaskLimits
from repocue.evaluation.task.observations import faults_of
from repocue.evaluation.task.prepare import basis_of
from repocue.runners import protocol
from repocue.runners.supervision import Ended, NotStarted, Supervisor
from repocue.runners.supervision import Evidence as Streams

if TYPE_CHECKING:
    from repocue.evaluation.task.frozen import Prepared
    from repocue.git.evidence import Capture
    from repocue.git.worktree import Worktree

_REASON_CHARACTERS: Final = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What a pair's attempts share. `runner` is an absolute path."""

    prepared: Prepared
    worktree: Worktree
    runner: str
    environ: Mapping[str, str]
    version: str
    limits: TaskLimits


@dataclass(slots=True)
class ArmAttempt:
    """One reserved attempt on its way to its end."""

    launch: Launch
    arm: layout.Arm
    reserved: Attempt
    clock: AttemptClock
    started_at: str
    before: Capture | None = None
    after: Capture | None = None
    ended: Ended | None = None
    problems: list[tuple[str, str]] = field(default_factory=list)
    """(outcome, reason), the first of which decides the outcome."""

    def perform(self) -> dict[str, Any]:
        """Look, run, look again and end the attempt; returns what is printed of it.

        An exception from outside, an interrupt above all, ends the attempt first and is raised then.
        """
        try:
            self._hand_over()
            if self._look_before():
                self._start()
                self._judge()
                self._look_after()
        except BaseException as error:
            name = "cancelled" if isinstance(error, KeyboardInterrupt) else "internal-error"
            self.problems.insert(0, (name, f"the attempt was ended by {type(error).__name__}"))
            self._look_after()
            self._end()
            raise
        return self._end()

    def _hand_over(self) -> None:
        self.reserved.make_folder(layout.INPUT)
        self.reserved.make_folder(layout.EVIDENCE)
        for name, data in self.launch.prepared.inputs(self.arm).items():
            self.reserved.write(f"{layout.INPUT}/{name}", data)

    def _look_before(self) -> bool:
        """Whether the repository is in the frozen state; nothing is started where it is not."""
        self.before = self._capture("before the runner started")
        if self.before is not None and self._differs(self.before):
            self.problems.append(("repository-changed", "the repository is not in the state that was prepared"))
        return not self.problems

    def _start(self) -> None:
        """Run the runner to its end. Its streams go to disk as they come."""
        launch, limits = self.launch, self.launch.limits
        root = os.fsdecode(launch.worktree.root)
        supervisor = Supervisor(
            timeout_s=launch.prepared.benchmark.timeout_seconds,
            stdout_limit_bytes=limits.runner_stdout_bytes,
            stderr_limit_bytes=limits.runner_stderr_bytes,
        )
        streams = Streams(
            stdout=self.reserved.path(layout.RUNNER_STDOUT), stderr=self.reserved.path(layout.RUNNER_STDERR)
        )
        environment = for_runner(launch.environ, protocol.TASK_PREFIX, self._request(root))
        try:
            self.ended = supervisor.run([launch.runner], cwd=root, env=environment, evidence=streams)
        except NotStarted as error:
            self.problems.append(("not-started", error.message))
        except OSError as error:
            raise EvaluationError(
                f"What the runner prints cannot be kept in {files.shown(self.reserved.folder)}: {error.strerror}.",
                code="evaluation.write-failed",
            ) from error

    def _request(self, root: str) -> dict[str, str]:
        prepared = self.launch.prepared
        handed = self.reserved.path(layout.INPUT)
        return {
            "SCHEMA": protocol.TASK_CONTRACT,
            "ARM": self.arm,
            "REPEAT": str(prepared.repeat),
            "REPOSITORY": root,
            "TASK_FILE": os.path.join(handed, layout.TASK),
            "CUE_FILE": os.path.join(handed, layout.CUE),
            "ANSWER_SCHEMA_FILE": os.path.join(handed, layout.ANSWER_SCHEMA),
            "POLICY_FILE": os.path.join(handed, layout.POLICY),
            "EVIDENCE_DIR": self.reserved.path(layout.EVIDENCE),
            "SNAPSHOT": prepared.record["snapshot"],
            "HEAD": prepared.record["head"] or "",
            "READ_ONLY": "1",
        }

    def _judge(self) -> None:
        """Whether the runner ended well with one observation of what was asked."""
        ended, prepared = self.ended, self.launch.prepared
        if ended is None:
            return
        if ended.survivors:
            self.problems.append(("survivors", f"{ended.survivors} processes cannot be killed"))
        if not ended.is_success:
            name = {None: "runner-failed", "timeout": "timeout"}.get(ended.stopped, "output-too-large")
            said = ended.stderr.decode("utf-8", "backslashreplace").strip()[-self.launch.limits.shown_characters :]
            self.problems.append((name, f"the runner {ended.describe()}" + (f"; it said: {said}" if said else "")))
            return
        try:
            observation = reader.read(
                ended.stdout,
                contract=layout.OBSERVATION_VERSION,
                limits=observation_limits(self.launch.limits),
                subject="the runner's output",
            )
        except ContractError as error:
            self.problems.append(("invalid-output", error.message))
            return
        if faults := faults_of(observation, prepared, self.arm):
            self.problems.append(("invalid-output", "; ".join(faults)))

    def _look_after(self) -> None:
        if self.after is not None:
            return
        self.after = self._capture("after the runner ended")
        if self.after is not None and self._differs(self.after):
            self.problems.append(("repository-changed", "the repository changed while the runner ran"))

    def _capture(self, when: str) -> Capture | None:
        from repocue.git import evidence

        try:
            return evidence.capture(self.launch.worktree, self.launch.environ, earlier=self.before)
        except RepoCueError as error:
            self.problems.append(("repository-unreadable", f"{when}: {error.message}"))
            return None

    def _differs(self, capture: Capture) -> bool:
        frozen = self.launch.prepared.basis
        return (capture.state_fingerprint, capture.guard_digest) != (
            frozen["state_fingerprint"],
            frozen["guard_digest"],
        )

    def _end(self) -> dict[str, Any]:
        """Write the attempt's manifest, which ends it; returns what is printed."""
        ended = self.ended
        problems = [(name, _bounded(why)) for name, why in self.problems]
        outcome, reason = problems[0] if problems else (layout.COMPLETE, None)
        header = {
            "schema_version": layout.ATTEMPT_VERSION,
            "kind": "attempt",
            "arm": self.arm,
            "started_at": self.started_at,
            "finished_at": self.clock.now(),
            "runner": None if ended is None else runner_end(ended),
            "basis_before": None if self.before is None else basis_of(self.before),
            "basis_after": None if self.after is None else basis_of(self.after),
            "outcome": outcome,
            "reason": reason,
            "further": [f"{name}: {why}" for name, why in problems[1:]],
        }
        self.reserved.complete(header)
        return {
            "attempt": os.path.basename(self.reserved.folder),
            "arm": self.arm,
            "outcome": outcome,
            "reason": reason,
            "duration_ms": None if ended is None else ended.duration_ms,
        }


def _bounded(text: str) -> str:
    """A reason of bounded length: some of it may come from a runner, whose whole output is kept beside it."""
    return text if len(text) <= _REASON_CHARACTERS else text[: _REASON_CHARACTERS - 1] + "…"


def observation_limits(limits: TaskLimits) -> reader.Limits:
    """How far a runner's observation may go."""
    return reader.Limits(max_bytes=limits.runner_stdout_bytes, max_depth=limits.json_depth)


def runner_end(ended: Ended) -> dict[str, Any]:
    """How the runner ended, as evidence holds it."""
    return {
        "started_at": rfc3339(ended.started_ms),
        "duration_ms": ended.duration_ms,
        "exit_code": ended.exit_code,
        "signal": ended.signal,
        "stopped": ended.stopped,
        "left_behind": ended.left_behind,
        "survivors": ended.survivors,
    }


def begin(launch: Launch, arm: layout.Arm) -> ArmAttempt:
    """Reserve an arm's attempt: its journal is on disk when this returns. Raises EvaluationError where it was tried."""
    prepared = launch.prepared
    whole = prepared.prompt(arm)
    clock = AttemptClock()
    started_at = clock.now()
    journal = {
        "schema_version": layout.ATTEMPT_VERSION,
        "kind": "journal",
        "arm": arm,
        "order": prepared.order,
        "repeat": prepared.repeat,
        "benchmark_sha256": prepared.record["benchmark_sha256"],
        "policy_sha256": prepared.record["policy_sha256"],
        "cue_sha256": canonical.digest(prepared.data[layout.CUES[arm]]),
        "prompt_sha256": canonical.digest(whole),
        "prompt_bytes": len(whole),
        "runner": {"path": display(os.fsencode(launch.runner)), "sha256": _digest_of_file(launch.runner)},
        "started_at": started_at,
        "repocue_version": launch.version,
    }
    name = layout.attempt_names(prepared.order)[arm]
    return ArmAttempt(launch, arm, attempt.reserve(prepared.attempts, name, journal), clock, started_at)


def _digest_of_file(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EvaluationError(
            f"The runner {files.shown(path)} cannot be read: {error.strerror}.", code="evaluation.executable"
        ) from error


def is_complete(printed: Sequence[Mapping[str, Any]]) -> bool:
    """Whether every attempt that was made is complete."""
    return all(one["outcome"] == layout.COMPLETE for one in printed)
