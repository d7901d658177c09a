"""Assessment bundles of evaluate-task and evaluate-cache."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Correctness = Literal["correct", "incorrect"]
Compliance = Literal["compliant", "non-compliant"]


class TaskAssessment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One judgement of one attempt, `<folder>/<n>-<arm>`; `correctness` is None where it is deterministic."""

    attempt: str
    benchmark_sha256: str
    rubric_sha256: str | None
    prompt_sha256: str
    response_sha256: str
    answer_sha256: str
    source_ids: tuple[str, ...]
    state_fingerprint: str
    correctness: Correctness | None
    compliance: Compliance
    evidence: tuple[str, ...]


class TaskAssessmentBundle(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`repocue/task-evaluation-1`, kind assessment-bundle."""

    schema_version: Literal["repocue/task-evaluation-1"]
    kind: Literal["assessment-bundle"]
    assessor: str
    assessed_at: str | None
    entries: tuple[TaskAssessment, ...]


class CacheAssessment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One judgement of one step's answer; `correctness` is None where it is deterministic."""

    step: str
    benchmark_sha256: str
    rubric_sha256: str | None
    request_sha256: str
    response_sha256: str
    answer_sha256: str
    source_ids: tuple[str, ...]
    state_fingerprint: str
    correctness: Correctness | None
    compliance: Compliance
    evidence: tuple[str, ...]


class CacheAssessmentBundle(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`repocue/cache-evaluation-1`, kind assessment-bundle."""

    schema_version: Literal["repocue/cache-evaluation-1"]
    kind: Literal["assessment-bundle"]
    assessor: str
    assessed_at: str | None
    entries: tuple[CacheAssessment, ...]
