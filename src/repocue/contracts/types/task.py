"""Declarations, tasks, task benchmarks, policies, answers and task observations."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from repocue.contracts.types.observation import Finding, Metrics, UsageEvent

ItemKind = Literal["entry-point", "component", "contract", "invariant", "command", "document", "decision"]
TaskKind = Literal["discovery", "verification", "explanation"]
Speed = Literal["standard", "fast"]


class SourceRange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bytes of one tracked file; `lines` are first and last, 1-based and inclusive, None for the whole file."""

    path: str
    lines: tuple[int, int] | None
    sha256: str


class Item(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that tasks may need to know."""

    id: str
    kind: ItemKind
    summary: str
    tags: tuple[str, ...]
    sources: tuple[SourceRange, ...]


class TaskContext(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`repocue/task-context-1`."""

    schema_version: Literal["repocue/task-context-1"]
    id: str
    items: tuple[Item, ...]


class Selector(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which items a task needs; `paths` are globs over source paths."""

    items: tuple[str, ...]
    tags: tuple[str, ...]
    kinds: tuple[ItemKind, ...]
    paths: tuple[str, ...]


class Task(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`repocue/task-1`."""

    schema_version: Literal["repocue/task-1"]
    id: str
    kind: TaskKind
    question: str
    declaration: str
    selector: Selector


class OverviewArm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first arm's context."""

    view: Literal["overview", "locate"]
    max_tokens: int


class TaskContextArm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The second arm's context."""

    max_tokens: int


class FrozenCommand(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One command of a verification task and what it must print; outputs are under 1 MiB."""

    id: str
    argv: tuple[str, ...]
    expected_exit: int
    expected_output_sha256: str
    expected_output_bytes: int


class Verification(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The frozen commands."""

    commands: tuple[FrozenCommand, ...]


class TaskBenchmark(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`repocue/task-benchmark-1`."""

    schema_version: Literal["repocue/task-benchmark-1"]
    id: str
    task: Task
    overview: OverviewArm
    task_context: TaskContextArm
    sandbox: str
    timeout_seconds: int
    repeats: int
    verification: Verification | None
    rubric: str | None


class CreditRates(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Dated credit prices as decimal strings, per million tokens."""

    record_id: str
    date: str
    account: str
    model: str
    speed: Speed
    unit: Literal["credits_per_million_tokens"]
    input: str
    cached_input: str
    output: str


class TaskPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`repocue/task-policy-1`."""

    schema_version: Literal["repocue/task-policy-1"]
    model: str
    reasoning_effort: str
    speed: Speed
    cli_version: str
    account: str
    rates: CreditRates | None
    assessment_policy: str
    spending_conditions: str


class AnsweredItem(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An item that the answer names, with the ids of its sources."""

    id: str
    sources: tuple[str, ...]


class Claim(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A claim and the sources it cites."""

    text: str
    sources: tuple[str, ...]


class AnsweredCommand(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A frozen command that the answer says was run."""

    id: str
    exit_code: int


class TaskAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`repocue/task-answer-1`."""

    schema_version: Literal["repocue/task-answer-1"]
    benchmark_id: str
    items: tuple[AnsweredItem, ...]
    claims: tuple[Claim, ...]
    commands: tuple[AnsweredCommand, ...]
    uncertainties: tuple[str, ...]


class TaskMetadata(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ran, and on what; `head` is "" when unborn."""

    adapter: str
    adapter_version: str
    cli_version: str
    model: str
    reasoning_effort: str
    speed: Speed
    sandbox: str
    stream_format: Literal["codex-exec-json", "claude-stream-json", "none"]
    head: str
    snapshot: str


class CommandEvent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One command event as the agent program reports it."""

    id: str | None
    command_id: str | None
    text: str
    argv: tuple[str, ...] | None
    completed: bool
    exit_code: int | None
    output_sha256: str | None
    output_bytes: int | None
    output_complete: bool


class TaskObservation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`repocue/task-runner-1`."""

    schema_version: Literal["repocue/task-runner-1"]
    arm: Literal["overview", "task"]
    repeat: int
    metadata: TaskMetadata
    usage_events: tuple[UsageEvent, ...]
    metrics: Metrics
    commands: tuple[CommandEvent, ...]
    final_response: TaskAnswer | None
    findings: tuple[Finding, ...]
    limitations: tuple[str, ...]
