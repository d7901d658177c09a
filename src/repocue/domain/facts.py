"""What a ranked cue shows beside its snapshot: facts read from the repository itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from repocue.domain.state import Warning


class RankedFacts(NamedTuple):
    """Entry points, Makefile targets and the newest commits' subjects, each the most telling first.

    An entry point is a tracked path, or `NAME=TARGET` as a manifest declares it (`domain.entry_points`). The totals
    count what the bounds left out. `recent_commits` are at most five subjects, newest first. `warnings` name files
    that could not be read within the bounds, and subjects that were shortened.
    """

    entry_points: tuple[str, ...]
    entry_points_total: int
    make_targets: tuple[str, ...]
    make_targets_total: int
    recent_commits: tuple[str, ...]
    warnings: tuple[Warning, ...]
