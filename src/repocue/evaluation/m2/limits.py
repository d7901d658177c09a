"""Every bound of `evaluate-m2` in one place; tests give smaller ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_MIB: Final = 1024 * 1024

DEFAULT_TIMEOUT_S: Final = 1800.0
"""How long one runner may take where nobody says otherwise."""
MAX_TIMEOUT_S: Final = 7 * 24 * 3600.0
MAX_CONTEXT_TOKENS: Final = 2_097_152
MAX_RUNS: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class M2Limits:
    """How far everything around a run may go. Sizes are in bytes, durations in seconds."""

    runner_stdout_bytes: int = 16 * _MIB
    runner_stderr_bytes: int = 16 * _MIB
    runner_json_depth: int = 64
    cue_s: float = 60.0
    cue_stdout_bytes: int = 16 * _MIB
    maintenance_s: float = 3600.0
    """For the baseline and the refresh: huge repositories on slow disks are slow."""
    task_bytes: int = _MIB
    report_bytes: int = 128 * _MIB
    """A published report that is read again; indentation makes it larger than what the runner printed."""
    shown_characters: int = 2000
    """How much of a failed runner's standard error, from its end, is quoted."""


DEFAULT_LIMITS: Final = M2Limits()
