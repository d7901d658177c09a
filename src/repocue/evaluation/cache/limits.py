"""The bounds of cache evaluation: values of one object, so that tests can use small ones (issue: "Limits")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_KIB: Final = 1024
_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class SendLimits:
    """Bounds on one request and its response. Everything at a bound passes, one more does not."""

    request_bytes: int = 8 * _MIB
    """The request's body."""
    response_body_bytes: int = 4 * _MIB
    """The response's body with chunked framing taken off; not more than this of it is ever kept."""
    header_bytes: int = 64 * _KIB
    """Everything before a response's body, final empty line and any interim responses included."""
    header_fields: int = 100
    connect_s: float = 10.0
    """Name look-up, TCP and TLS together."""
    request_s: float = 900.0
    """The whole request, connecting included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheLimits:
    """Bounds on what is prepared and read."""

    benchmark_bytes: int = _MIB
    assessment_bytes: int = _MIB
    steps: int = 32
    sources: int = 64
    source_bytes: int = _MIB
    max_output_tokens: int = 32_000
    max_context_tokens: int = 2_097_152
    json_depth: int = 64
    child_s: float = 60.0
    """The time of a `refresh` or `cue` process."""
    child_stdout_bytes: int = 16 * _MIB
    send: SendLimits = SendLimits()


DEFAULT_LIMITS: Final = CacheLimits()
