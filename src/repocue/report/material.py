"""Everything that a report is made from, read in one consistent transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from repocue.errors import CacheBusy
from repocue.maintenance.members import repository_member
from repocue.store import calibrations, history, snapshots
from repocue.store.database import open_state

if TYPE_CHECKING:
    from repocue.maintenance.request import Request
    from repocue.store.calibrations import Calibration, Opinion
    from repocue.store.history import CueRun, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """One state of the record. `epochs` are the store's, oldest first; `database_bytes` is the size of its pages."""

    repository: Mapping[str, Any]
    epoch: str
    snapshot: str
    epochs: Sequence[Mapping[str, Any]]
    runs: Sequence[Run]
    cue_runs: Sequence[CueRun]
    database_bytes: int
    calibrations: Sequence[Calibration]
    opinions: Sequence[Opinion]


def read(request: Request) -> Material:
    """The record of the request's repository, whose work tree is not looked at.

    Raises CacheError; CacheBusy where a cache that can only be read without locks changed meanwhile.
    """
    with open_state(request.state_path, mode="read", wait_s=request.lock_wait_s) as database, database.reading():
        header = snapshots.current(database).header
        pages = database.one("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        assert pages is not None
        found = Material(
            repository=repository_member(request.worktree, header),
            epoch=header.epoch,
            snapshot=header.snapshot,
            epochs=snapshots.epochs(database),
            runs=history.runs(database),
            cue_runs=history.cue_runs(database),
            database_bytes=pages[0],
            calibrations=calibrations.calibrations(database),
            opinions=tuple(calibrations.opinions(database)),
        )
        if not database.is_settled():
            raise CacheBusy(
                f"the cache was changed while it was read without locks: {database.path}", hint="Run the command again."
            )
    return found
