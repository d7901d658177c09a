"""A runner's observation, versions 3 and 4 in one type.

Version 4's unknown counters are absent (`UNSET`) or null (None); version 3 always has the five token metrics and the
four counters of each event, and none of the members that version 4 added.
"""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from repocue.contracts.types.answer import BenchmarkAnswer, Condition
from repocue.domain.measurement import Source

Count = int | None | UnsetType
Duration = int | float | None | UnsetType
Status = Source | UnsetType


class Metadata(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ran, and on what. `repository_head` is "" when unborn; version 3 names the program `codex_version`."""

    adapter: str
    adapter_version: str
    model: str
    reasoning_effort: str
    sandbox: str
    codex_version: str | UnsetType = UNSET
    cli_version: str | UnsetType = UNSET
    service_tier: str | UnsetType = UNSET
    arguments: tuple[str, ...] | UnsetType = UNSET
    benchmark_version: str
    output_schema_version: str
    repository_head: str
    repocue_snapshot: str


class Statuses(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where each metric comes from."""

    input_tokens: Source
    cached_input_tokens: Source
    output_tokens: Source
    reasoning_output_tokens: Source
    total_tokens: Source
    cache_write_input_tokens: Status = UNSET
    execution_duration_ms: Status = UNSET
    command_executions: Status = UNSET
    repository_files_named: Status = UNSET
    named_file_size_proxy_bytes: Status = UNSET
    git_calls: Status = UNSET
    filesystem_search_calls: Status = UNSET
    tool_calls: Status = UNSET
    fallback_repository_commands: Status = UNSET
    fallback_repository_files_named: Status = UNSET
    fallback_named_file_size_proxy_bytes: Status = UNSET


class Metrics(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run's measurements; also those of a task runner."""

    input_tokens: Count = UNSET
    cached_input_tokens: Count = UNSET
    output_tokens: Count = UNSET
    reasoning_output_tokens: Count = UNSET
    total_tokens: Count = UNSET
    cache_write_input_tokens: Count = UNSET
    execution_duration_ms: Duration = UNSET
    command_executions: Count = UNSET
    repository_files_named: Count = UNSET
    named_file_size_proxy_bytes: Count = UNSET
    git_calls: Count = UNSET
    filesystem_search_calls: Count = UNSET
    tool_calls: Count = UNSET
    fallback_repository_commands: Count = UNSET
    fallback_repository_files_named: Count = UNSET
    fallback_named_file_size_proxy_bytes: Count = UNSET
    statuses: Statuses


class UsageEvent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One completed turn."""

    turn: int
    input_tokens: Count = UNSET
    cached_input_tokens: Count = UNSET
    output_tokens: Count = UNSET
    reasoning_output_tokens: Count = UNSET
    cache_write_input_tokens: Count = UNSET


class TokenizerCount(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A named tokenizer's count, apart from every estimate."""

    tokenizer: str
    tokens: int


class Command(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One completed command; `classification` is "other" or git, filesystem_search, filesystem_read joined by +."""

    command: str
    classification: str
    files_read: tuple[str, ...]


class Finding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something worth knowing about the run."""

    category: str
    severity: str
    message: str
    evidence: str | UnsetType = UNSET


class Observation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`repocue/evaluation-runner-3` or `repocue/evaluation-runner-4`."""

    schema_version: Literal["repocue/evaluation-runner-3", "repocue/evaluation-runner-4"]
    condition: Condition
    run_index: int
    metadata: Metadata
    metrics: Metrics
    usage_events: tuple[UsageEvent, ...]
    tokenizer_counts: tuple[TokenizerCount, ...]
    commands: tuple[Command, ...]
    final_response: BenchmarkAnswer
    findings: tuple[Finding, ...]
    limitations: tuple[str, ...]
