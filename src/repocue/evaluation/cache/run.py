"""One step: reserve its attempt, check sources and basis, send once, keep everything (seed, "Data flow")."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from repocue.contracts import canonical, reader
from repocue.domain.paths import raw
from repocue.domain.times import rfc3339
from repocue.errors import EvaluationError, RepoCueError
from repocue.evaluation.cache import echo, frozen, layout, sources
from repocue.evaluation.cache.basis import basis_of
from repocue.evaluation.cache.limits import DEFAULT_LIMITS, CacheLimits
from repocue.evaluation.cache.secret import Secret
from repocue.evaluation.shared import attempt, files, isolation
from repocue.evaluation.shared.clock import AttemptClock

if TYPE_CHECKING:
    import ssl

    from repocue.evaluation.cache.endpoint import Endpoint
    from repocue.evaluation.cache.frozen import FrozenRequest, Prepared
    from repocue.evaluation.cache.sender import Sent
    from repocue.git.evidence import Capture
    from repocue.git.worktree import Worktree

COMPLETE: Final = "complete"
_OK: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one run is given.

    `key` reads the provider's key; it is called once, after every local check passed. `cancelled` is asked whether to
    leave the work where it is, so that an interrupt ends in a recorded attempt.
    """

    prepared_directory: str
    step: str
    endpoint: Endpoint
    context: ssl.SSLContext
    key: Callable[[], str | None]
    environ: Mapping[str, str]
    version: str
    cancelled: Callable[[], bool] | None = None
    limits: CacheLimits = DEFAULT_LIMITS


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
        return _Attempt(given, prepared, request, worktree, reserved, clock, started_at).perform()


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


class _Stopped(Exception):
    """A check before the request failed: outcome and reason."""

    def __init__(self, outcome: str, reason: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.reason = reason


@dataclass(slots=True)
class _Attempt:
    """One reserved attempt on its way to an observation."""

    given: Run
    prepared: Prepared
    request: FrozenRequest
    worktree: Worktree
    reserved: attempt.Attempt
    clock: AttemptClock
    started_at: str
    before: Capture | None = None
    after: Capture | None = None
    sent: Sent | None = None
    problems: list[tuple[str, str]] = field(default_factory=list)
    """(outcome, reason), the first of which decides the outcome."""

    def perform(self) -> dict[str, Any]:
        """Check, send, look again, and end the attempt; an exception from outside ends it first and is raised then."""
        try:
            self._check_state()
            key = self._key()
            self._send(key)
            self._look_again()
        except _Stopped as stopped:
            self.problems.append((stopped.outcome, stopped.reason))
        except BaseException as error:
            name = "interrupted" if isinstance(error, KeyboardInterrupt) else "internal-error"
            self.problems.insert(0, (name, f"the attempt was ended by {type(error).__name__}"))
            self._end()
            raise
        return self._end()

    def _check_state(self) -> None:
        """The repository is in the frozen state and holds the frozen sources."""
        from repocue.git import evidence
        from repocue.git.process import Git

        try:
            self.before = evidence.capture(self.worktree, self.given.environ)
            if self.before.state_fingerprint != self.prepared.state_fingerprint:
                raise _Stopped("basis-changed", "the repository is not in the state that was prepared")
            git = Git.of(self.worktree, self.given.environ)
            sources.check_against(self.prepared.cue, self.before.observation, git)
        except RepoCueError as error:
            outcome = "source-changed" if error.code == "evaluation.source-changed" else "basis-unreadable"
            raise _Stopped(outcome, error.message) from None

    def _key(self) -> Secret:
        self._stop_where_cancelled()
        value = self.given.key()
        if not value:
            raise _Stopped("key-missing", "ANTHROPIC_API_KEY is not set")
        key = Secret(value)
        if not key.is_sendable:
            raise _Stopped("key-unusable", "ANTHROPIC_API_KEY holds characters that no key has, or too many")
        if echo.repeats(self.request.body, value):
            raise _Stopped("key-in-request", "the frozen request contains the key; it was not sent")
        return key

    def _send(self, key: Secret) -> None:
        from repocue.evaluation.cache import sender

        self.sent = sent = sender.Sent()
        sender.send(
            sent,
            endpoint=self.given.endpoint,
            context=self.given.context,
            api_version=self.prepared.benchmark.api_version,
            body=self.request.body,
            key=key,
            limits=self.given.limits.send,
            clock=self.clock,
            cancelled=self.given.cancelled,
        )
        if sent.failure is not None:
            self.problems.append((sent.failure, sent.detail or _SENTENCES.get(sent.failure, sent.failure)))
        elif sent.status != _OK:
            name = "redirect" if sent.status is not None and 300 <= sent.status < 400 else "http-status"
            self.problems.append((name, f"the provider answered with HTTP status {sent.status}"))
        elif not sent.is_request_complete:
            self.problems.append(("request-incomplete", "the provider answered before it had the whole request"))

    def _look_again(self) -> None:
        from repocue.git import evidence

        try:
            self.after = evidence.capture(self.worktree, self.given.environ, earlier=self.before)
        except RepoCueError as error:
            self.problems.append(("basis-unreadable", f"after the request: {error.message}"))
            return
        if self.after.state_fingerprint != self.prepared.state_fingerprint:
            self.problems.append(("basis-changed", "the repository changed during the request"))

    def _stop_where_cancelled(self) -> None:
        if self.given.cancelled is not None and self.given.cancelled():
            raise _Stopped("interrupted", "the attempt was interrupted before anything was sent")

    def _end(self) -> dict[str, Any]:
        """Write response, observation and, last, the attempt's manifest; returns the observation."""
        sent = self.sent
        response = None
        if sent is not None and sent.status is not None and sent.body_sha256 is not None:
            response = {
                "file": None if sent.body is None else layout.RESPONSE,
                "bytes": sent.body_bytes,
                "sha256": sent.body_sha256,
                "withheld": sent.is_withheld,
            }
            if sent.body is not None:
                self.reserved.write(layout.RESPONSE, sent.body)
        started_ms = None if sent is None else sent.http_started_ms
        finished_ms = None if sent is None else sent.http_finished_ms
        began = started_ms is not None and finished_ms is not None
        outcome, reason = self.problems[0] if self.problems else (COMPLETE, None)
        observation = {
            "schema_version": layout.OBSERVATION_VERSION,
            "step": self.request.step.id,
            "started_at": self.started_at,
            "finished_at": self.clock.now(),
            "http_started_at": rfc3339(started_ms) if began and started_ms is not None else None,
            "http_finished_at": rfc3339(finished_ms) if began and finished_ms is not None else None,
            "duration_ms": finished_ms - started_ms if started_ms is not None and finished_ms is not None else None,
            "request_bytes_written": 0 if sent is None else sent.written_bytes,
            "request_complete": sent is not None and sent.is_request_complete,
            "status": None if sent is None else sent.status,
            "request_id": None if sent is None else sent.request_id,
            "response": response,
            "basis_before": None if self.before is None else basis_of(self.before),
            "basis_after": None if self.after is None else basis_of(self.after),
            "outcome": outcome,
            "reason": reason,
        }
        reader.check(observation, contract=layout.OBSERVATION_VERSION)
        self.reserved.write(layout.OBSERVATION, canonical.document(observation))
        self.reserved.complete({"schema_version": layout.MANIFEST_VERSION})
        return observation


_SENTENCES: Final = {
    "connect-failed": "no connection could be made",
    "deadline": "the whole request took longer than it may",
    "write-failed": "the peer stopped reading before the request was written",
    "no-response": "the connection ended without an answer",
    "response-truncated": "the answer ended before it was complete",
    "response-malformed": "the answer is not HTTP/1.1",
    "response-http-version": "the answer is of another HTTP version than 1.1",
    "response-framing-ambiguous": "the answer's length can be read in two ways",
    "response-headers-too-large": "the answer's header fields are larger than is read",
    "response-fields-too-many": "the answer has more header fields than are read",
    "response-too-large": "the answer's body is larger than is kept",
    "response-trailing-bytes": "bytes follow the answer's end",
    "response-encoded": "the answer is compressed although identity was asked for, and was not kept",
    "credential-echo": "the answer repeats the key and was not kept",
    "interrupted": "the request was interrupted",
}
"""What failures of the sender mean, where they carry no detail of their own."""
