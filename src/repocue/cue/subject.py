"""What a cue speaks of, and the members with which every cue says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from repocue.cue.fitting import BUDGET, MORE, WARNINGS
from repocue.domain.state import Warning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from repocue.domain.state import Freshness, Observation, SnapshotHeader

REPOCUE_1: Final = "repocue/1"
CUE_2: Final = "repocue/cue-2"

BRANCH_CHANGED: Final = "branch-changed"
HEAD_MOVED: Final = "head-moved"
WORKING_TREE_CHANGED: Final = "working-tree-changed"


class Subject(NamedTuple):
    """One snapshot of one repository, with the verdict on it.

    `drift` are the warnings that explain the verdict (see `drift`); the snapshot's own are in its header.
    """

    repository_id: str
    repository_name: str
    header: SnapshotHeader
    freshness: Freshness
    drift: tuple[Warning, ...] = ()

    @property
    def warnings(self) -> tuple[Warning, ...]:
        """Everything a reader must know before any omission."""
        return (*self.header.warnings, *self.drift)


def drift(
    header: SnapshotHeader, freshness: Freshness, observation: Observation | None, observed: Sequence[Warning]
) -> tuple[Warning, ...]:
    """What a reader must know beyond the snapshot's own warnings: why a verdict is not a good one, and what is new.

    `observed` are the warnings of the observation behind the verdict, or those that stand in its place. Of these,
    the ones whose code the snapshot's warnings have already are left out.
    """
    told = {warning.code for warning in header.warnings}
    found = [warning for warning in observed if warning.code not in told]
    if freshness == "refresh-needed" and observation is not None:
        moved = []
        if observation.branch != header.branch:
            moved.append(Warning(BRANCH_CHANGED))
        if observation.head != header.head:
            moved.append(Warning(HEAD_MOVED))
        found += moved or [Warning(WORKING_TREE_CHANGED)]
    return tuple(found)


def repocue_1(subject: Subject, kind: str, content: dict[str, Any]) -> dict[str, Any]:
    """The template of a `repocue/1` cue, its members in the frozen order."""
    header = subject.header
    return {
        "schema_version": REPOCUE_1,
        "kind": kind,
        "repository": {
            "id": subject.repository_id,
            "name": subject.repository_name,
            "branch": header.branch,
            "head": header.head,
            "dirty": header.is_dirty,
        },
        "epoch": header.epoch,
        "snapshot": header.snapshot,
        "basis": {
            "status_digest": header.status_digest,
            "repository_digest": header.repository_digest,
            "observed_at": header.observed_at,
        },
        "freshness": subject.freshness,
        "budget": BUDGET,
        "content": content,
        "warnings": WARNINGS,
        "more": MORE,
    }


def cue_2(subject: Subject, kind: str, content: dict[str, Any], *, with_epoch: bool = False) -> dict[str, Any]:
    """The template of a `repocue/cue-2` cue. The epoch stands only where a view is about the cache's own history."""
    header = subject.header
    return {
        "schema_version": CUE_2,
        "kind": kind,
        "repository": {"branch": header.branch, "head": header.head, "dirty": header.is_dirty},
        **({"epoch": header.epoch} if with_epoch else {}),
        "snapshot": header.snapshot,
        "freshness": subject.freshness,
        "observed_at": header.observed_at,
        "budget": BUDGET,
        "content": content,
        "warnings": WARNINGS,
    }
