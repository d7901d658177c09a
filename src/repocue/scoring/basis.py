"""What is true of a repository's state, as far as an answer can be scored against it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from repocue.domain.state import Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """The snapshot basis of a benchmark run. Paths are display texts (`domain.paths`).

    `tracked_changes` are the tracked paths with staged or unstaged changes, conflicts included; `untracked` the
    paths that are neither tracked nor ignored, folder by folder to their files. Either is None where the evidence
    at hand does not list them: then that field is not scored, and that is said.
    """

    branch: str | None
    head: str | None
    is_dirty: bool
    tracked_changes: frozenset[str] | None
    untracked: frozenset[str] | None

    @classmethod
    def of_observation(cls, observation: Observation) -> Basis:
        """The basis that one scan found."""
        return cls(
            branch=observation.branch,
            head=observation.head,
            is_dirty=observation.is_dirty,
            tracked_changes=frozenset((*observation.staged, *observation.unstaged, *observation.unmerged)),
            untracked=frozenset(entry.path for entry in observation.untracked),
        )

    @classmethod
    def of_report(
        cls,
        repository: Mapping[str, Any],
        *,
        tracked_changes: Iterable[str] | None = None,
        untracked: Iterable[str] | None = None,
    ) -> Basis:
        """The basis that a condition report's `repository` states, of version 3 or 4.

        A report names no changed paths. Of a clean repository they are known to be none; otherwise they come from
        evidence beside the report, or are None.
        """
        is_dirty = bool(repository["dirty"])
        none: frozenset[str] | None = None if is_dirty else frozenset()
        return cls(
            branch=repository["branch"],
            head=repository["head"],
            is_dirty=is_dirty,
            tracked_changes=none if tracked_changes is None else frozenset(tracked_changes),
            untracked=none if untracked is None else frozenset(untracked),
        )
