"""What was kept of one step's attempt, checked against itself and against what was frozen. Reads files only."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from repocue.contracts import canonical, reader
from repocue.contracts.types.cache import CacheObservation
from repocue.errors import EvidenceError, RepoCueError, UsageError
from repocue.evaluation.cache import endpoint, layout
from repocue.evaluation.cache.frozen import FrozenRequest, Prepared
from repocue.evaluation.cache.limits import CacheLimits
from repocue.evaluation.cache.pairs import Status
from repocue.evaluation.shared import attempt, files


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEvidence:
    """One step's evidence.

    `observation` and `body` are there only for an ended, unaltered attempt that agrees with what was frozen; `body` is
    None where no response was kept. `status` is what the attempt's own evidence says, before the response is read.
    `reasons` say why it is not complete. `is_loopback` is None where that is not known.
    """

    request: FrozenRequest
    status: Status
    reasons: tuple[str, ...] = ()
    observation: CacheObservation | None = None
    body: bytes | None = None
    is_loopback: bool | None = None


def gather(prepared: Prepared, limits: CacheLimits) -> list[StepEvidence]:
    """The evidence of every step, in frozen order. What is wrong with one attempt marks that step and no other."""
    found = [_examine(prepared, request, limits) for request in prepared.requests.values()]
    last = max((place for place, step in enumerate(found) if step.status != "not-attempted"), default=-1)
    return [
        step
        if step.status != "not-attempted" or place > last
        else StepEvidence(
            request=step.request,
            status="incomplete",
            reasons=("attempt-missing: a later step was attempted, so the evidence of this one is gone",),
        )
        for place, step in enumerate(found)
    ]


def unknown_entries(prepared: Prepared) -> dict[str, bool]:
    """What stands among the attempts and belongs to no step, to whether it could be an attempt: a folder."""
    try:
        with os.scandir(os.fsencode(prepared.attempts)) as entries:
            found = {entry.name.decode("utf-8", "backslashreplace"): entry.is_dir() for entry in entries}
    except OSError as error:
        raise EvidenceError(f"{files.shown(prepared.attempts)} cannot be read: {error.strerror}.") from error
    return {name: found[name] for name in sorted(found) if name not in prepared.requests}


def _examine(prepared: Prepared, request: FrozenRequest, limits: CacheLimits) -> StepEvidence:
    found = attempt.examine(
        prepared.attempts,
        request.step.id,
        journal_version=layout.JOURNAL_VERSION,
        attempt_version=layout.MANIFEST_VERSION,
    )
    where = f"{layout.ATTEMPTS}/{request.step.id}"
    if found.state == "absent":
        return StepEvidence(request=request, status="not-attempted")
    if found.state == "altered":
        named = ", ".join(f"{where}/{problem}".replace("/ (", " (") for problem in found.problems)
        return StepEvidence(request=request, status="incomplete", reasons=(f"evidence-altered: {named}",))
    if found.state == "incomplete":
        reason = "attempt-incomplete: the attempt began and has no end; what it sent is not known"
        return StepEvidence(request=request, status="incomplete", reasons=(reason,))
    try:
        return _read(prepared, request, found, limits)
    except RepoCueError as error:
        return StepEvidence(request=request, status="incomplete", reasons=(f"evidence-contradicts: {error.message}",))


def _read(prepared: Prepared, request: FrozenRequest, found: attempt.Evidence, limits: CacheLimits) -> StepEvidence:
    """The evidence of an ended attempt whose digests hold. Raises RepoCueError where it contradicts itself."""
    subject = f"{layout.ATTEMPTS}/{request.step.id}/{layout.OBSERVATION}"
    document = reader.read_canonical(
        found.read(layout.OBSERVATION, limit_bytes=limits.benchmark_bytes),
        contract=layout.OBSERVATION_VERSION,
        subject=subject,
    )
    observation = reader.convert(document, CacheObservation, subject=subject)
    journal = reader.read_canonical(
        found.read(attempt.JOURNAL, limit_bytes=limits.benchmark_bytes),
        contract=layout.JOURNAL_VERSION,
        subject=f"{layout.ATTEMPTS}/{request.step.id}/{attempt.JOURNAL}",
    )
    faults = _journal_faults(prepared, request, journal, observation)
    body = None
    response = observation.response
    if response is not None and response.file is not None:
        if response.file != layout.RESPONSE:
            faults.append(f"the response is kept in {layout.RESPONSE}, not in {response.file}")
        else:
            body = found.read(layout.RESPONSE, limit_bytes=limits.send.response_body_bytes)
            if (len(body), canonical.digest(body)) != (response.bytes, response.sha256):
                faults.append("the response's size or digest is not that of its file")
    elif layout.RESPONSE in files.names_below(found.folder):
        faults.append(f"it knows of no {layout.RESPONSE}, and one is there")
    faults += _request_faults(request, observation)
    faults += _attempt_faults(prepared, observation)
    if faults:
        reason = f"evidence-contradicts: {subject}: {'; '.join(faults)}"
        return StepEvidence(request=request, status="incomplete", reasons=(reason,))
    is_complete = observation.outcome == layout.COMPLETE
    return StepEvidence(
        request=request,
        status="complete" if is_complete else "failed",
        reasons=() if is_complete else (f"{observation.outcome}: {observation.reason}",),
        observation=observation,
        body=body,
        is_loopback=journal["loopback"],
    )


def _journal_faults(
    prepared: Prepared, request: FrozenRequest, journal: dict[str, Any], observation: CacheObservation
) -> list[str]:
    expected = {
        "step": request.step.id,
        "arm": request.step.arm,
        "cycle": request.step.cycle,
        "request_sha256": request.sha256,
        "request_bytes": len(request.body),
        "reusable_identity": prepared.reusable_identity,
        "started_at": observation.started_at,
    }
    faults = [f"the journal's {name} is another" for name, value in expected.items() if journal.get(name) != value]
    if observation.step != request.step.id:
        faults.append(f"it is the observation of step {observation.step}")
    try:
        is_loopback = endpoint.parse(journal["endpoint"]).is_loopback
    except UsageError:
        faults.append("the journal's endpoint is one that no request is sent to")
    else:
        if is_loopback != journal["loopback"]:
            faults.append("the journal's loopback is not what its endpoint is")
    return faults


def _request_faults(request: FrozenRequest, observation: CacheObservation) -> list[str]:
    """Whether how far the request got, the status and the outcome go together."""
    faults = []
    if observation.request_complete and observation.request_bytes_written <= len(request.body):
        faults.append("a complete request has more bytes than its body")
    outcome, status = observation.outcome, observation.status
    if outcome in layout.BEFORE_HTTP and observation.http_started_at is not None:
        faults.append(f"a request began although the outcome is {outcome}")
    if outcome == "http-status" and status in (None, 200):
        faults.append("an outcome of another status than 200 has none")
    return faults


def _attempt_faults(prepared: Prepared, observation: CacheObservation) -> list[str]:
    """Whether an outcome of "complete" is what the rest of the observation says."""
    if observation.outcome != layout.COMPLETE:
        return [] if observation.reason is not None else ["an outcome that is not complete has no reason"]
    fingerprint, repository = prepared.state_fingerprint, prepared.preparation["basis"]["repository_digest"]
    faults = []
    if observation.reason is not None:
        faults.append("a complete attempt has a reason for failing")
    if observation.http_started_at is None or not observation.request_complete or observation.status != 200:
        faults.append("a complete attempt has no complete request and answer")
    if observation.response is None or observation.response.withheld:
        faults.append("a complete attempt kept no response")
    for name, basis in (("before", observation.basis_before), ("after", observation.basis_after)):
        if basis is None or (basis.state_fingerprint, basis.repository_digest) != (fingerprint, repository):
            faults.append(f"the state {name} the request is not the frozen one")
    return faults
