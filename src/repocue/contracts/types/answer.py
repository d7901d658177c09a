"""An agent's answer about a repository's state, and an assessor's judgement of it."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

Condition = Literal["direct", "placebo", "basic", "ranked", "structural-oracle"]


class AnswerGit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the agent says of the git state; paths as the agent wrote them."""

    branch: str | None
    head: str | None
    dirty: bool
    tracked_changes: tuple[str, ...]
    untracked: tuple[str, ...]


class EntryPoint(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where execution begins."""

    path: str
    responsibility: str


class Component(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part that the project is made of."""

    name: str
    responsibilities: tuple[str, ...]
    paths: tuple[str, ...]


class Document(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document worth reading."""

    path: str
    purpose: str


class Symbol(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A symbol that defines the project."""

    name: str
    signature: str
    owner: str
    relevance: str


class BenchmarkAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`repocue/benchmark-answer-2`."""

    schema_version: Literal["repocue/benchmark-answer-2"]
    project_purpose: str
    git: AnswerGit
    primary_entry_points: tuple[EntryPoint, ...]
    major_components: tuple[Component, ...]
    important_documentation: tuple[Document, ...]
    recent_relevant_changes: tuple[str, ...]
    project_symbols: tuple[Symbol, ...]
    uncertainties: tuple[str, ...]


class Scores(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scores from 0 to 4."""

    purpose: int
    architecture: int
    documentation: int
    recent_changes: int
    structural_completeness: int
    uncertainty_handling: int


class QualitativeAssessment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`repocue/qualitative-assessment-2`. An absent `assessed_at` is unknown."""

    schema_version: Literal["repocue/qualitative-assessment-2"]
    assessor: str
    assessed_at: str | UnsetType = UNSET
    response_id: str
    condition: Condition
    repository_head: str | None
    state_fingerprint: str
    run_index: int
    scores: Scores
    evidence: tuple[str, ...]
