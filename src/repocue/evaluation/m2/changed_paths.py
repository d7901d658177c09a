"""The paths of a prepared state that differ from HEAD, which reports keep for the deterministic scorer. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from repocue.domain.paths import sort_key
from repocue.scoring.basis import Basis

if TYPE_CHECKING:
    from repocue.domain.state import Observation

MAX_CHANGED_PATHS: Final = 10_000
"""Five reports hold these lists; a work tree with more of them is not what the benchmark's questions are made for."""


def changed_paths(observation: Observation, *, limit: int = MAX_CHANGED_PATHS) -> dict[str, list[str]] | None:
    """`{tracked_changes, untracked}`, sorted bytewise; None where there are more than `limit` paths.

    Without them an answer's two lists are not scored, and that is said.
    """
    basis = Basis.of_observation(observation)
    tracked, untracked = basis.tracked_changes or (), basis.untracked or ()
    if len(tracked) + len(untracked) > limit:
        return None
    return {"tracked_changes": sorted(tracked, key=sort_key), "untracked": sorted(untracked, key=sort_key)}
