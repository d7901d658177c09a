"""What was kept of one arm's attempt, checked against itself and against what was frozen. Reads files only."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Literal

from repocue.contracts import canonical, reader
from repocue.errors import ContractError, EvidenceError, RepoCueError
from repocue.evaluation.shared import attempt
from repocue.evaluation.task import layout
from repocue.evaluation.task.attempting import observation_limits
from repocue.evaluation.task.frozen import Prepared
from repocue.evaluation.task.limits import TaskLimits
from repocue.evaluation.task.observations import faults_of

Status = Literal["not-attempted", "incomplete", "failed", "complete"]

_UNLAUNCHED = ("repository-changed", "repository-unreadable", "not-started")
"""Outcomes of attempts without a runner's end whose runner never ran; a cancelled one may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmEvidence:
    """One arm's evidence.

    `header`, `observation` and streams are there only for an ended, unaltered attempt that agrees with what was frozen;
    the observation only where the runner ended well with a valid one. `may_have_run` says whether anything may have
    been spent. `reasons` say why it is not complete.
    """

    arm: layout.Arm
    name: str
    status: Status
    reasons: tuple[str, ...] = ()
    started_at: str | None = None
    header: dict[str, Any] | None = None
    observation: dict[str, Any] | None = field(default=None, repr=False)
    stdin: bytes | None = field(default=None, repr=False)
    provider_stdout: bytes | None = field(default=None, repr=False)

    @property
    def may_have_run(self) -> bool:
        """Whether the runner was started, or may have been."""
        if self.header is None:
            return self.status != "not-attempted"
        return self.header["runner"] is not None or self.header["outcome"] not in _UNLAUNCHED

    @property
    def duration_ms(self) -> float | None:
        """The adapter's wall time, as it was observed from outside; of an attempt that is complete."""
        if self.header is None or self.header["runner"] is None or self.status != "complete":
            return None
        duration: float = self.header["runner"]["duration_ms"]
        return duration


def gather(prepared: Prepared, limits: TaskLimits) -> dict[layout.Arm, ArmEvidence]:
    """The evidence of both arms, first one first. What is wrong with one attempt marks that one and no other."""
    names = layout.attempt_names(prepared.order)
    found = {arm: _examine(prepared, arm, name, limits) for arm, name in names.items()}
    first, second = found
    if found[first].status == "not-attempted" and found[second].status != "not-attempted":
        reason = "attempt-missing: the second arm was attempted, so the evidence of this one is gone"
        found[first] = ArmEvidence(arm=first, name=names[first], status="incomplete", reasons=(reason,))
    return found


def unknown_entries(prepared: Prepared) -> list[str]:
    """What stands among the attempts and is none, relative to the prepared folder."""
    try:
        names = os.listdir(os.fsencode(prepared.attempts))
    except OSError:
        return []
    known = layout.attempt_names(prepared.order).values()
    shown = sorted(name.decode("utf-8", "backslashreplace") for name in names)
    return [f"{layout.ATTEMPTS}/{name}" for name in shown if name not in known]


def _examine(prepared: Prepared, arm: layout.Arm, name: str, limits: TaskLimits) -> ArmEvidence:
    found = attempt.examine(
        prepared.attempts, name, journal_version=layout.ATTEMPT_VERSION, attempt_version=layout.ATTEMPT_VERSION
    )
    where = f"{layout.ATTEMPTS}/{name}"
    started_at = (found.journal or {}).get("started_at")
    if not isinstance(started_at, str):
        started_at = None
    if found.state == "absent":
        return ArmEvidence(arm=arm, name=name, status="not-attempted")
    if found.state == "altered":
        named = ", ".join(f"{where}/{problem}".replace("/ (", " (") for problem in found.problems)
        reasons = (f"evidence-altered: {named}",)
        return ArmEvidence(arm=arm, name=name, status="incomplete", reasons=reasons, started_at=started_at)
    if found.state == "incomplete":
        reasons = ("attempt-incomplete: the attempt began and has no end; what it did is not known",)
        return ArmEvidence(arm=arm, name=name, status="incomplete", reasons=reasons, started_at=started_at)
    try:
        return _read(prepared, arm, name, found, limits)
    except RepoCueError as error:
        reasons = (f"evidence-contradicts: {where}: {error.message}",)
        return ArmEvidence(arm=arm, name=name, status="incomplete", reasons=reasons, started_at=started_at)


def _read(prepared: Prepared, arm: layout.Arm, name: str, found: attempt.Evidence, limits: TaskLimits) -> ArmEvidence:
    """The evidence of an ended attempt whose digests hold. Raises RepoCueError where it contradicts itself."""
    journal, header = (
        reader.read_canonical(
            found.read(file, limit_bytes=limits.child_stdout_bytes),
            contract=layout.ATTEMPT_VERSION,
            kind=kind,
            subject=file,
        )
        for file, kind in ((attempt.JOURNAL, "journal"), (attempt.ATTEMPT, "attempt"))
    )
    faults = _journal_faults(prepared, arm, journal, header)
    for file, data in prepared.inputs(arm).items():
        if _optional(found, f"{layout.INPUT}/{file}", limits) != data and header["outcome"] == layout.COMPLETE:
            faults.append(f"{layout.INPUT}/{file} is not what was frozen")
    observation, why = _observation(found, header, limits)
    faults += _outcome_faults(prepared, arm, header, observation, why)
    if faults:
        raise EvidenceError("; ".join(faults))
    is_complete = header["outcome"] == layout.COMPLETE
    reasons = () if is_complete else (f"{header['outcome']}: {header['reason']}", *header["further"])
    return ArmEvidence(
        arm=arm,
        name=name,
        status="complete" if is_complete else "failed",
        reasons=reasons,
        started_at=journal["started_at"],
        header=header,
        observation=observation,
        stdin=_optional(found, f"{layout.EVIDENCE}/{layout.STDIN}", limits),
        provider_stdout=_optional(found, f"{layout.EVIDENCE}/{layout.PROVIDER_STDOUT}", limits),
    )


def _optional(found: attempt.Evidence, name: str, limits: TaskLimits) -> bytes | None:
    try:
        return found.read(name, limit_bytes=limits.stream_bytes)
    except EvidenceError as error:
        if error.code != "evidence.missing":
            raise
        return None


def _journal_faults(prepared: Prepared, arm: layout.Arm, journal: dict[str, Any], header: dict[str, Any]) -> list[str]:
    whole = prepared.prompt(arm)
    expected = {
        "arm": arm,
        "order": prepared.order,
        "repeat": prepared.repeat,
        "benchmark_sha256": prepared.record["benchmark_sha256"],
        "policy_sha256": prepared.record["policy_sha256"],
        "cue_sha256": canonical.digest(prepared.data[layout.CUES[arm]]),
        "prompt_sha256": canonical.digest(whole),
        "prompt_bytes": len(whole),
        "started_at": header["started_at"],
    }
    faults = [f"the journal's {name} is another" for name, value in expected.items() if journal[name] != value]
    if header["arm"] != arm:
        faults.append(f"it is the attempt of arm {header['arm']}")
    return faults


def _observation(
    found: attempt.Evidence, header: dict[str, Any], limits: TaskLimits
) -> tuple[dict[str, Any] | None, str | None]:
    """The runner's observation where it ended well, or why there is none."""
    runner = header["runner"]
    if runner is None or runner["exit_code"] != 0 or runner["stopped"] is not None:
        return None, "the runner did not end well"
    data = _optional(found, layout.RUNNER_STDOUT, limits)
    if data is None:
        return None, "its output was not kept"
    try:
        return reader.read(data, contract=layout.OBSERVATION_VERSION, limits=observation_limits(limits)), None
    except ContractError as error:
        return None, error.message


def _outcome_faults(
    prepared: Prepared,
    arm: layout.Arm,
    header: dict[str, Any],
    observation: dict[str, Any] | None,
    why: str | None,
) -> list[str]:
    """Whether an outcome of "complete" is what everything else says."""
    if header["outcome"] != layout.COMPLETE:
        return [] if header["reason"] is not None else ["an outcome that is not complete has no reason"]
    faults = []
    if header["reason"] is not None or header["further"]:
        faults.append("a complete attempt has a reason for failing")
    if observation is None:
        faults.append(f"a complete attempt has no observation: {why}")
    else:
        faults += [f"the observation: {fault}" for fault in faults_of(observation, prepared, arm)]
    for when in ("before", "after"):
        basis = header[f"basis_{when}"]
        names = ("state_fingerprint", "guard_digest")
        if basis is None or any(basis[name] != prepared.basis[name] for name in names):
            faults.append(f"the state {when} the runner is not the frozen one")
    return faults
