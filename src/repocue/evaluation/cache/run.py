"""One step: reserve its attempt, check sources and basis, send once, keep everything (seed, "Data flow")."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from repocue.domain.paths import raw
from repocue.errors import EvaluationError
from repocue.evaluation.cache import frozen, layout
from repocue.evaluation.cache.attempting import Run, StepAttempt
from repocue.evaluation.shared import attempt, files, isolation
from repocue.evaluation.shared.clock import AttemptClock

if TYPE_CHECKING:
    from repocue.evaluation.cache.frozen import FrozenRequest, Prepared

__all__ = ["Run", "run"]


def run(given: Run) -> dict[str, Any]:
    """Perform one step and return its `repocue/cache-observation-1` document, whatever the outcome.

    Before the attempt is reserved: UsageError, EvaluationError, EvidenceError or RepositoryError for what cannot be
    meant or used, and nothing is written. Afterwards every failure is the attempt's own outcome; only evidence that
    cannot be written raises, and leaves the attempt visibly incomplete.
    """
    from repocue.git import worktree as finder

    prepared = frozen.load(given.prepared_directory, given.limits)
    request = prepared.request(given.step)
    root = os.fsdecode(raw(prepared.preparation["repository"]["root"]))
    worktree = finder.find(root, given.environ)
    if worktree.id != prepared.preparation["repository"]["id"]:
        raise EvaluationError(
            f"{files.shown(root)} is not the root of the work tree that was prepared.", code="evaluation.repository"
        )
    isolation.outside(worktree, prepared.folder, what="prepared directory")
    with _alone(prepared):
        _check_order(prepared, given.step)
        clock = AttemptClock()
        started_at = clock.now()
        reserved = attempt.reserve(prepared.attempts, given.step, _journal(given, prepared, request, started_at))
        return StepAttempt(given, prepared, request, worktree, reserved, clock, started_at).perform()


@contextmanager
def _alone(prepared: Prepared) -> Iterator[None]:
    """Hold the folder of attempts, so that steps never overlap. The lock ends with the process, however it ends."""
    try:
        descriptor = os.open(prepared.attempts, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except OSError as error:
        raise EvaluationError(
            f"{files.shown(prepared.attempts)} cannot be opened: {error.strerror}.", code="evaluation.input"
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise EvaluationError(
                "Another step of this prepared directory is running.",
                code="evaluation.busy",
                hint="Steps run one at a time, in their frozen order.",
            ) from error
        yield
    finally:
        os.close(descriptor)


def _check_order(prepared: Prepared, step: str) -> None:
    """Raises EvaluationError unless this is the first step that was not attempted, and nothing after it was."""
    names = list(prepared.requests)
    attempted = [name for name in names if os.path.lexists(os.path.join(prepared.attempts, name))]
    if step in attempted:
        raise EvaluationError(
            f"Step {step} was attempted already; its evidence is in"
            f" {files.shown(os.path.join(prepared.attempts, step))}.",
            code="evaluation.attempted",
            hint="A step is sent once, whatever became of it; prepare anew to try again.",
        )
    position = names.index(step)
    missing = [name for name in names[:position] if name not in attempted]
    if missing:
        raise EvaluationError(
            f"Step {step} comes after step {missing[0]}, which was not attempted yet.",
            code="evaluation.order",
            hint=f"Run the steps in their frozen order: {', '.join(names)}.",
        )
    if len(attempted) > position:
        raise EvaluationError(
            f"Step {attempted[position]} was attempted already, and it comes after step {step}: the evidence of"
            f" {step} is gone.",
            code="evaluation.order",
            hint="What was sent once is not sent again; prepare anew.",
        )


def _journal(given: Run, prepared: Prepared, request: FrozenRequest, started_at: str) -> dict[str, Any]:
    return {
        "schema_version": layout.JOURNAL_VERSION,
        "step": request.step.id,
        "arm": request.step.arm,
        "cycle": request.step.cycle,
        "request_sha256": request.sha256,
        "request_bytes": len(request.body),
        "reusable_identity": prepared.reusable_identity,
        "endpoint": given.endpoint.url,
        "loopback": given.endpoint.is_loopback,
        "started_at": started_at,
        "repocue_version": given.version,
    }
