"""The one freshness verdict (ARCHITECTURE §1): how an observation of now stands to a snapshot of then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from repocue.domain.state import Freshness, Known, Observation, SnapshotHeader


class Basis(Protocol):
    """What the verdict needs of the snapshot's side: a `Reading` and the store's `Current` have both."""

    @property
    def header(self) -> SnapshotHeader: ...

    @property
    def known(self) -> Known: ...


def judge(basis: Basis, observation: Observation | None) -> Freshness:
    """The freshness of an answer made from `basis`, by an observation made after the answer's content was read.

    None stands for a repository that could not be observed. Where some content cannot be read, equality cannot be
    shown and the verdict is unknown too.
    """
    if observation is None:
        return "unknown"
    if not is_same_state(basis, observation):
        return "refresh-needed"
    return of_itself(observation)


def of_itself(observation: Observation) -> Freshness:
    """The freshness of a snapshot that holds exactly `observation`."""
    if any(is_unreadable(file.mode, file.content_id, file.xy) for file in observation.dirty):
        return "unknown"
    return "dirty-but-indexed" if observation.is_dirty else "current"


def is_same_state(basis: Basis, observation: Observation) -> bool:
    """Whether a snapshot of `observation` would hold what the snapshot holds already.

    The digests cover everything but the letters and sizes of dirty files, so these are compared as well.
    """
    header = basis.header
    return (
        header.status_digest == observation.status_digest
        and header.repository_digest == observation.repository_digest
        and basis.known.dirty == observation.dirty
    )


def is_unreadable(mode: str | None, content_id: str | None, xy: str) -> bool:
    """Whether a dirty file exists, or may exist, without its content being known."""
    return xy == ".u" or (mode is not None and content_id is None)
