"""The bounds of task evaluation: values of one object, so that tests can use small ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLimits:
    """How far everything around a pair may go. Sizes are in bytes, durations in seconds."""

    benchmark_bytes: int = _MIB
    policy_bytes: int = _MIB
    assessment_bytes: int = _MIB
    json_depth: int = 64
    child_s: float = 60.0
    """The time of a `refresh` or `cue` process."""
    child_stdout_bytes: int = 16 * _MIB
    runner_stdout_bytes: int = 16 * _MIB
    runner_stderr_bytes: int = 16 * _MIB
    stream_bytes: int = 256 * _MIB
    """A provider stream that is read again: it repeats every command's output."""
    shown_characters: int = 500
    """How much of a failed runner's standard error, from its end, is quoted."""


DEFAULT_LIMITS: Final = TaskLimits()
