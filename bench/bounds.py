"""What every change must keep, in S and P (see ARCHITECTURE.md), and whether it was kept."""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One bound beside what was measured."""

    what: str
    measured: float
    bound: float
    unit: str

    @property
    def holds(self) -> bool:
        """Whether the bound was kept."""
        return self.measured <= self.bound


def everyday_ms(s_ms: float, p_ms: float) -> float:
    """`cue`, `status` and a no-op `refresh`."""
    return 1.6 * s_ms + 1.4 * p_ms


def init_ms(s_ms: float, p_ms: float) -> float:
    """`init`, the one full reading."""
    return 4 * s_ms + 2 * p_ms


def condition_ms(s_ms: float, p_ms: float) -> float:
    """`evaluate-m2`'s own time for each condition: preparation and captures, without agent and oracle."""
    return 5 * s_ms + 5 * p_ms


def reports_ms(p_ms: float) -> float:
    """`report` and `evaluate-m2 summary` over a thousand pairs, as JSON or text."""
    return 25 * p_ms


def peak_mib(tracked_files: int) -> float:
    """Peak memory of any command."""
    return 40 + 0.8 * tracked_files / KIB


GROWTH_KIB = 24
"""Database growth of a one-file refresh, whatever the repository's size."""
