"""One condition's run: a fresh runner process between two captures of the repository.

Whatever is wrong ends the whole run: the runner cannot be started, exits non-zero, is killed, takes too long, prints
too much, too little or something else than the one observation that was asked for, is another agent than in the
conditions before, or changes the repository.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from repocue.contracts.jsontext import Limits
from repocue.contracts.rules import runner as rules
from repocue.domain.measurement import ESTIMATED, milliseconds
from repocue.errors import EvaluationError, EvidenceError, RepoCueError
from repocue.evaluation.m2.naming import published_sets
from repocue.evaluation.m2.preparation import require_same
from repocue.evaluation.shared import files
from repocue.evaluation.shared.environment import for_runner
from repocue.git import evidence
from repocue.runners import findings, protocol
from repocue.runners.contamination import contaminations
from repocue.runners.supervision import Ended, Supervisor

if TYPE_CHECKING:
    from repocue.evaluation.m2.contexts import Context
    from repocue.evaluation.m2.inputs import Inputs
    from repocue.evaluation.m2.preparation import Prepared
    from repocue.evaluation.m2.workspace import Workspace

CONTAMINATED: Final = "contaminated"
"""The category of the finding that a run is not comparable because its agent used RepoCue itself."""

CLOCK_SLACK_MS: Final = 1000.0
"""How much a runner's own clock may be ahead of ours: one that is coarse, or stepped."""

TASK_FILE: Final = "task.txt"
CUE_FILE: Final = "cue.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a capture showed and when it had ended, by the set's own clock. The capture itself is large and not kept."""

    at: str
    state_fingerprint: str
    guard_digest: str

    def to_json(self) -> dict[str, str]:
        """The report's form."""
        return {"at": self.at, "state_fingerprint": self.state_fingerprint, "guard_digest": self.guard_digest}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A condition that passed. `position` is 1 to 5; `left_behind` counts processes that outlived the runner."""

    context: Context
    position: int
    observation: Mapping[str, Any] = field(repr=False)
    pre_run: Taken
    post_run: Taken
    captures_ms: float
    left_behind: int


def run_condition(
    inputs: Inputs,
    prepared: Prepared,
    workspace: Workspace,
    *,
    runner: str,
    run_index: int,
    condition: str,
    position: int,
    earlier: Sequence[Mapping[str, Any]],
) -> Outcome:
    """Run one condition; `earlier` are the observations of this set so far.

    Raises EvaluationError or ContractError; then nothing of the runner is alive any more.
    """
    given = inputs.given
    context = prepared.contexts[condition]
    head = prepared.repository["head"]
    contents = {TASK_FILE: inputs.task}
    if context.contract is not None:
        contents[CUE_FILE] = context.document
    request = {
        "SCHEMA": protocol.EVALUATION_CONTRACT,
        "CONDITION": condition,
        "RUN_INDEX": str(run_index),
        "REPOSITORY": os.fsdecode(given.worktree.root),
        "BENCHMARK_VERSION": protocol.BENCHMARK,
        "OUTPUT_SCHEMA_VERSION": protocol.ANSWER_CONTRACT,
        "SNAPSHOT": prepared.snapshot,
        "HEAD": head or "",
        "READ_ONLY": "1",
    }
    begun = time.perf_counter()
    pre_run = _capture(inputs, prepared)
    captures_s = time.perf_counter() - begun
    require_same(pre_run, prepared.capture, f"before condition {condition} of run {run_index} began")
    supervisor = Supervisor(
        timeout_s=given.timeout_s,
        stdout_limit_bytes=given.limits.runner_stdout_bytes,
        stderr_limit_bytes=given.limits.runner_stderr_bytes,
    )
    with workspace.handing(str(position), contents) as handed:
        request |= {"TASK_FILE": handed[TASK_FILE], "CUE_FILE": handed.get(CUE_FILE, "")}
        ended = supervisor.run(
            [runner],
            cwd=os.fsdecode(given.worktree.root),
            env=for_runner(given.environ, protocol.EVALUATION_PREFIX, request),
        )
        altered = [name for name, data in contents.items() if not _holds(handed[name], data)]
    who = f"The runner of condition {condition}, run {run_index},"
    begun = time.perf_counter()
    post_run, unseen = _capture_after(inputs, prepared)
    captures_s += time.perf_counter() - begun
    _require_success(ended, who, given.limits.shown_characters, _changes(post_run, prepared, unseen))
    if altered:
        raise EvaluationError(
            f"{who} altered what it was handed: {', '.join(altered)}; nothing was published.",
            code="runner.altered-input",
            hint="A runner may only read its task and its cue; what it was supplied must be what the report says.",
        )
    if post_run is None:
        raise unseen or EvaluationError(f"{who} left a repository that cannot be observed.")
    require_same(post_run, prepared.capture, f"while condition {condition} of run {run_index} ran")
    observation = rules.read_observation(
        ended.stdout,
        expected=rules.Expected(condition=condition, run_index=run_index, head=head, snapshot=prepared.snapshot),
        limits=Limits(max_bytes=given.limits.runner_stdout_bytes, max_depth=given.limits.runner_json_depth),
        subject=f"the output of the runner of condition {condition}, run {run_index}",
    )
    _require_possible_duration(observation["metrics"], ended.duration_ms, who)
    rules.check_same_runner([*earlier, observation])
    return Outcome(
        context=context,
        position=position,
        observation=_with_contamination(inputs, observation, workspace),
        pre_run=pre_run,
        post_run=post_run,
        captures_ms=milliseconds(captures_s),
        left_behind=ended.left_behind,
    )


def _require_possible_duration(metrics: Mapping[str, Any], lived_ms: float, who: str) -> None:
    """Raises EvaluationError where an agent is said to have worked longer than its runner lived."""
    claimed_ms = metrics.get("execution_duration_ms")
    if claimed_ms is None or metrics["statuses"]["execution_duration_ms"] == ESTIMATED:
        return
    if claimed_ms > lived_ms + CLOCK_SLACK_MS:
        raise EvaluationError(
            f"{who} reports an execution of {claimed_ms:g} ms and lived for {lived_ms:g} ms; nothing was published.",
            code="runner.impossible-duration",
        )


def _holds(path: str, data: bytes) -> bool:
    """Whether a file that a runner was handed is still as it was."""
    try:
        return files.read_file(path, limit_bytes=len(data)) == data
    except EvidenceError:
        return False


def _capture(inputs: Inputs, prepared: Prepared) -> Taken:
    capture = evidence.capture(inputs.given.worktree, prepared.environ, earlier=prepared.capture)
    return Taken(
        at=prepared.clock.now(),
        state_fingerprint=capture.state_fingerprint,
        guard_digest=capture.guard_digest,
    )


def _capture_after(inputs: Inputs, prepared: Prepared) -> tuple[Taken | None, RepoCueError | None]:
    """The capture after a run, or why there is none: a runner may have left anything."""
    try:
        return _capture(inputs, prepared), None
    except RepoCueError as error:
        return None, error


def _changes(post_run: Taken | None, prepared: Prepared, unseen: RepoCueError | None) -> str:
    """What a failed run did to the repository beside failing, as a sentence; empty where it left it as it was."""
    if post_run is None:
        return "" if unseen is None else f" Afterwards the repository cannot be observed: {unseen.message}."
    try:
        require_same(post_run, prepared.capture, "")
    except EvaluationError:
        return " The repository changed while it ran."
    return ""


def _require_success(ended: Ended, who: str, shown_characters: int, changes: str) -> None:
    """Raises EvaluationError, code ``runner.failed``, with the end of the runner's standard error."""
    if ended.survivors:
        raise EvaluationError(
            f"{who} left {ended.survivors} processes that cannot be killed; nothing was published.{changes}",
            code="runner.survivors",
        )
    if ended.is_success:
        return
    said = ended.stderr.decode("utf-8", "backslashreplace").strip()[-shown_characters:]
    raise EvaluationError(
        f"{who} {ended.describe()}; nothing was published.{changes}" + (f" It said: {said}" if said else ""),
        code="runner.failed",
        hint="The same run index can be used again.",
    )


def _with_contamination(inputs: Inputs, observation: dict[str, Any], workspace: Workspace) -> dict[str, Any]:
    """The observation, with a finding of our own where a command calls RepoCue or reads one of its caches."""
    given = inputs.given
    texts = contaminations(
        [command["command"] for command in observation["commands"]],
        [*given.known_caches, workspace.path("cache"), *published_sets(inputs.output)],
        root=os.fsdecode(given.worktree.root),
        home=given.environ.get("HOME") or None,
    )
    if not texts:
        return observation
    finding = findings.warning(
        CONTAMINATED,
        f"{len(texts)} of its commands call RepoCue or read what it keeps, so the run is not comparable.",
        texts[0],
    )
    return {**observation, "findings": [*observation["findings"], finding.to_json()]}
