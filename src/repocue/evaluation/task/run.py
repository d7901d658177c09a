"""One ordered pair: each arm is attempted once, and nothing is repeated or continued by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from repocue.contracts import reader
from repocue.errors import UsageError
from repocue.evaluation.shared import executables
from repocue.evaluation.task import attempting, frozen, layout
from repocue.evaluation.task.prepare import STEPS, Preparation, prepare


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The printed document, and whether every attempt that was made is complete."""

    document: dict[str, Any]
    is_complete: bool


def evaluate(given: Preparation, runner: str | None) -> Outcome:
    """Prepare, and with a runner perform the pair.

    The second arm is not started where the first attempt is not complete: a pair that cannot count is not paid for.
    Raises what preparing raises before anything was attempted; afterwards only what cannot be recorded.
    """
    program = None
    if runner is not None:
        if given.policy_file is None:
            raise UsageError(
                "A runner needs --policy-file, which says what may run and be spent.",
                code="usage.policy",
                hint="Name a repocue/task-policy-1 document, or leave out --runner to prepare only.",
            )
        program = executables.find(runner, given.environ, "runner")
    made = prepare(given)
    document = made.document
    attempts = [] if program is None else perform(given, made.folder, program)
    document = {**document, "attempts": attempts}
    if attempts:
        document["establishes"] = (
            "One ordered pair was attempted; summary recomputes what it shows, and nothing continues by itself."
        )
    reader.check(document, contract=layout.PREPARATION_VERSION, kind="prepared")
    return Outcome(document=document, is_complete=attempting.is_complete(attempts))


def perform(given: Preparation, folder: str, program: str) -> list[dict[str, Any]]:
    """Attempt the pair of the prepared `folder` with the runner at the absolute path `program`; what is printed."""
    launch = attempting.Launch(
        prepared=frozen.load(folder, given.limits),
        worktree=given.worktree,
        runner=program,
        environ=given.environ,
        version=given.version,
        limits=given.limits,
    )
    attempts: list[dict[str, Any]] = []
    for arm in layout.arms(launch.prepared.order):
        if given.progress is not None:
            given.progress(f"Attempt {len(attempts) + 1}: {arm}", STEPS + len(attempts), None)
        attempts.append(attempting.begin(launch, arm).perform())
        if attempts[-1]["outcome"] != layout.COMPLETE:
            break
    return attempts
