"""One condition's report, version 4, and what evaluate-m2 prints. Version 3 is read as the document it is."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from repocue.contracts.types.answer import Condition
from repocue.contracts.types.observation import Observation


class Repository(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The evaluated repository as the set was prepared."""

    supplied_path: str
    resolved_root: str
    id: str
    name: str
    branch: str | None
    head: str | None
    dirty: bool
    status_digest: str
    repository_digest: str
    untracked_content_digest: str
    state_fingerprint: str
    tracked_files: int
    tracked_bytes: int


class ChangedPaths(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The paths of the prepared state that differ from HEAD, each list sorted bytewise."""

    tracked_changes: tuple[str, ...]
    untracked: tuple[str, ...]


class Maintenance(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The full baseline or the no-op refresh, counted once for a set."""

    kind: Literal["full", "no-op"]
    wall_duration_ms: int | float
    scan_duration_ms: int | float
    files_scanned: int
    bytes_scanned: int
    git_commands: int
    changed: bool
    database_size_bytes: int
    materialized_file_rows: int


class SuppliedCue(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The context that the condition supplies; durations of its builder are diagnostics."""

    schema_version: str | UnsetType = UNSET
    bytes: int
    estimated_tokens: int
    max_tokens: int
    wall_duration_ms: int | float
    structural_analysis_duration_ms: int | float | UnsetType = UNSET
    structural_candidate_count: int | UnsetType = UNSET


class Overhead(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Work of the experiment itself, in no condition's cost."""

    setup_ms: int | float
    captures_ms: int | float


class Capture(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Evidence of the repository's state at one moment."""

    at: str
    state_fingerprint: str
    guard_digest: str


class Captures(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The state before and after the runner."""

    pre_run: Capture
    post_run: Capture


class Executable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The program that made the basic context."""

    path: str
    sha256: str
    version: str
    package_sha256: str


class Trace2(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The git processes it started, by Git's own event trace."""

    file: str
    sha256: str
    git_processes: int


class CueDelivery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Evidence that the shipped command made exactly the bytes that were delivered."""

    executable: Executable
    argv: tuple[str, ...]
    cache_state: str
    hint_state: str
    started_at: str
    finished_at: str
    duration_ms: int | float
    exit_code: int
    stdout_bytes: int
    stdout_sha256: str
    trace2: Trace2


class ConditionReport(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`repocue/evaluation-4`, kind m2-condition. `runner` is absent in a dry run."""

    schema_version: Literal["repocue/evaluation-4"]
    kind: Literal["m2-condition"]
    generated_at: str
    maintenance_id: str
    repocue_snapshot: str
    condition: Condition
    condition_order: int
    order_policy: Literal["fixed", "balanced"]
    run_index: int
    benchmark_version: str
    output_schema_version: str
    repository: Repository
    changed_paths: ChangedPaths | UnsetType = UNSET
    baseline: Maintenance
    update: Maintenance
    cue: SuppliedCue
    overhead: Overhead
    captures: Captures | None
    cue_delivery: CueDelivery | None
    runner: Observation | UnsetType = UNSET
    limitations: tuple[str, ...]
