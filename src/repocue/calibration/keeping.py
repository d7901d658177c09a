"""Listing, showing and removing what was imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from repocue.calibration import documents
from repocue.domain.ids import calibration_number
from repocue.errors import CacheBusy, UsageError
from repocue.store import calibrations, snapshots
from repocue.store.database import exists, not_initialized, open_state
from repocue.store.lock import writer_lock

if TYPE_CHECKING:
    from repocue.maintenance.request import Request
    from repocue.store.calibrations import Calibration
    from repocue.store.database import Database


def list_all(request: Request) -> dict[str, Any]:
    """The `repocue/calibration-1` document, kind list, of every stored pair. Raises CacheError."""
    with open_state(request.state_path, mode="read", wait_s=request.lock_wait_s) as database, database.reading():
        epoch, stored = snapshots.current(database).header.epoch, calibrations.calibrations(database)
        _check_settled(database)
    return documents.listed(request.worktree, epoch, stored)


def show(request: Request, identifier: str) -> dict[str, Any]:
    """Kind show, of one pair. Raises UsageError where there is none of this id, and CacheError."""
    with open_state(request.state_path, mode="read", wait_s=request.lock_wait_s) as database, database.reading():
        found = _found(database, identifier)
        epoch = snapshots.current(database).header.epoch
        opinions = [one for one in calibrations.opinions(database) if one.set_digest == found.pair.set_digest]
        _check_settled(database)
    return documents.shown(request.worktree, epoch, found, opinions)


def remove(request: Request, identifier: str) -> dict[str, Any]:
    """Remove one pair, with its set's assessments where it is the set's last; kind remove. Raises as `show` does."""
    if not exists(request.state_path):
        raise not_initialized()
    with (
        writer_lock(request.lock_path, wait_s=request.lock_wait_s),
        open_state(request.state_path, mode="write", wait_s=request.lock_wait_s) as database,
    ):
        found = _found(database, identifier)
        epoch = snapshots.current(database).header.epoch
        with database.writing(durable=True):
            calibrations.remove(database, found.number)
    return documents.removed(request.worktree, epoch, found)


def _check_settled(database: Database) -> None:
    """Raise CacheBusy where what was read may be of two states, as on a read-only cache alone."""
    if not database.is_settled():
        raise CacheBusy(
            f"the cache was changed while it was read without locks: {database.path}", hint="Run the command again."
        )


def _found(database: Database, identifier: str) -> Calibration:
    number = calibration_number(identifier)
    found = None if number is None else calibrations.calibration(database, number)
    if found is None:
        raise UsageError(
            f"there is no calibration {identifier!r}",
            code="calibration.unknown",
            hint="'repocue calibration list' shows those that there are.",
        )
    return found
