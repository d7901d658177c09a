"""The models whose requests are frozen here: a bounded adapter profile, no promise that they are available (seed,
"Contracts and limits")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Fixed settings of one model; None leaves the member out of the request, and out of its identity."""

    thinking: str | None = None
    """The value of `thinking.type`."""
    effort: str | None = None
    """The value of `output_config.effort`."""


PROFILES: Final = {
    "claude-sonnet-5-5": Profile(thinking="between_tools", effort="high"),
    "claude-sonnet-4-6": Profile(),
    "claude-opus-4-6": Profile(),
    "claude-opus-4-7": Profile(),
    "claude-sonnet-4-5-20250929": Profile(),
    "claude-opus-4-5-20251101": Profile(),
    "claude-haiku-4-5-20251001": Profile(),
}
"""Every supported model. Without tools, `between_tools` answers in text alone."""
