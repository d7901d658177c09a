"""One reserved attempt on its way to an observation: check, send once, look again, keep everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from repocue.contracts import canonical, reader
from repocue.domain.times import rfc3339
from repocue.errors import EvaluationError, RepoCueError
from repocue.evaluation.cache import echo, layout
from repocue.evaluation.cache.limits import DEFAULT_LIMITS, CacheLimits
from repocue.evaluation.cache.secret import Secret
from repocue.evaluation.shared import sources
from repocue.evaluation.shared.attempt import Attempt
from repocue.evaluation.shared.basis import basis_of
from repocue.evaluation.shared.clock import AttemptClock

if TYPE_CHECKING:
    import ssl

    from repocue.evaluation.cache.endpoint import Endpoint
    from repocue.evaluation.cache.frozen import FrozenRequest, Prepared
    from repocue.evaluation.cache.sender import Sent
    from repocue.git.evidence import Capture
    from repocue.git.worktree import Worktree

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


class _Stopped(Exception):
    """A check before the request failed: outcome and reason."""

    def __init__(self, outcome: str, reason: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.reason = reason


@dataclass(slots=True)
class StepAttempt:
    """One reserved attempt on its way to an observation."""

    given: Run
    prepared: Prepared
    request: FrozenRequest
    worktree: Worktree
    reserved: Attempt
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
        # As it is or as JSON spells it, and in no disguise: nobody disguised a key from a request that was made before.
        if echo.is_telling(value) and canonical.compact(value)[1:-1] in self.request.body:
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
        """Keep what happened, and say so where that fails after something was sent: it may have cost something."""
        try:
            return self._write()
        except EvaluationError as error:
            if self.sent is None or not self.sent.written_bytes:
                raise
            raise EvaluationError(
                error.message,
                code=error.code,
                hint="The request was sent and may be charged for, but its evidence is not whole: the attempt stays"
                " incomplete and its cost unknown.",
            ) from error

    def _write(self) -> dict[str, Any]:
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
        outcome, reason = self.problems[0] if self.problems else (layout.COMPLETE, None)
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
