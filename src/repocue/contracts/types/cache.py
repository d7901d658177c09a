"""Prompt-cache benchmarks, requests, observations and answers."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from repocue.contracts.types.task import AnsweredItem, Claim, Task

Arm = Literal["baseline", "cache", "probe"]


class Prompt(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a step asks."""

    id: str
    text: str


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One request in the frozen order; `cycle` is None for a probe."""

    id: str
    arm: Arm
    cycle: int | None
    prompt: str


class UsdRates(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Dated prices in USD per million tokens, as decimal strings."""

    record_id: str
    date: str
    model: str
    api_version: str
    unit: Literal["usd_per_million_tokens"]
    input: str
    cache_write_5m: str
    cache_write_1h: str
    cache_read: str
    output: str


class CacheBenchmark(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`repocue/cache-benchmark-1`."""

    schema_version: Literal["repocue/cache-benchmark-1"]
    id: str
    task: Task
    model: str
    api_version: str
    ttl: Literal["5m", "1h"]
    system: str
    max_output_tokens: int
    max_context_tokens: int
    prompts: tuple[Prompt, ...]
    steps: tuple[Step, ...]
    required_pairs: int
    rates: UsdRates | None
    rubric: str | None


class CacheRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`repocue/cache-request-1`: what stands beside a prepared wire body."""

    schema_version: Literal["repocue/cache-request-1"]
    step: str
    arm: Arm
    cycle: int | None
    prompt: str
    body_sha256: str
    body_bytes: int
    estimated_tokens: int
    reusable_identity: str


class Response(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The retained response body; `file` is None where it was withheld."""

    file: str | None
    bytes: int
    sha256: str
    withheld: bool


class Basis(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The repository's state at one moment."""

    status_digest: str
    repository_digest: str
    state_fingerprint: str
    observed_at: str


class CacheObservation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`repocue/cache-observation-1`: what one run of one step saw."""

    schema_version: Literal["repocue/cache-observation-1"]
    step: str
    started_at: str
    finished_at: str
    http_started_at: str | None
    http_finished_at: str | None
    duration_ms: int | float | None
    request_bytes_written: int
    request_complete: bool
    status: int | None
    request_id: str | None
    response: Response | None
    basis_before: Basis | None
    basis_after: Basis | None
    outcome: str
    reason: str | None


class CacheAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`repocue/cache-answer-1`."""

    schema_version: Literal["repocue/cache-answer-1"]
    benchmark_id: str
    items: tuple[AnsweredItem, ...]
    claims: tuple[Claim, ...]
    uncertainties: tuple[str, ...]
