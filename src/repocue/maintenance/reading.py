"""Reading the current state as one consistent view: what every answer about a snapshot is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from repocue.domain.delta import Delta, changes_of
from repocue.domain.ids import snapshot_number
from repocue.errors import CacheBusy, UsageError
from repocue.maintenance.changes import repository_changes
from repocue.store import snapshots
from repocue.store.database import open_state

if TYPE_CHECKING:
    from repocue.domain.state import FileRow, Known, SnapshotHeader, Summary
    from repocue.maintenance.request import Request
    from repocue.store.database import Database
    from repocue.store.snapshots import Current, StoredSnapshot


class Reading:
    """One view of the state; whatever is published meanwhile is not seen. Use it in a `with` statement.

    Every method raises CacheDamaged where the database contradicts itself.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        database.run("BEGIN")
        self.current: Current = snapshots.current(database)
        self._summary: Summary | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the view."""
        self.database.close()

    @property
    def header(self) -> SnapshotHeader:
        """The current snapshot's identity and basis."""
        return self.current.header

    @property
    def known(self) -> Known:
        """What the last scan left for the next one."""
        return self.current.known

    @property
    def summary(self) -> Summary:
        """The current snapshot's aggregates; no file row is read."""
        if self._summary is None:
            from repocue.maintenance import summary

            self._summary = summary.summary_of(snapshots.kept(self.database, summary.KEPT_AS, summary.Tally))
        return self._summary

    def rows(self, snapshot: str | None = None) -> list[FileRow]:
        """Every file row of a snapshot (the current one by default), in git order. Raises UsageError as `snapshot`."""
        number = self.current.snapshot.number if snapshot is None else self._stored(snapshot).number
        return snapshots.rows(self.database, number)

    def snapshot(self, snapshot: str) -> tuple[SnapshotHeader, list[FileRow]]:
        """A kept snapshot's header and rows. Raises UsageError where there is none of this id."""
        return self._stored(snapshot).header, self.rows(snapshot)

    def delta(self, from_snapshot: str) -> Delta:
        """What changed from a kept snapshot to the current one. Raises UsageError where there is none of this id."""
        before = self._stored(from_snapshot)
        after = self.current.snapshot
        old, new = snapshots.changed_rows(self.database, before.number, after.number)
        found = {row.path: row for row in old}
        pairs: list[tuple[FileRow | None, FileRow | None]] = [(found.pop(row.path, None), row) for row in new]
        pairs.extend((row, None) for row in found.values())
        return Delta(
            from_snapshot=before.header.snapshot,
            to_snapshot=after.header.snapshot,
            repository_changes=repository_changes(before, after),
            changes=tuple(changes_of(pairs)),
        )

    def check_settled(self) -> None:
        """Raises CacheBusy where what was read may be of two states (possible on a read-only cache alone)."""
        if not self.database.is_settled():
            raise CacheBusy(
                f"the cache was changed while it was read without locks: {self.database.path}",
                hint="Run the command again.",
            )

    def _stored(self, snapshot: str) -> StoredSnapshot:
        number = snapshot_number(snapshot)
        found = None if number is None else snapshots.snapshot(self.database, number)
        if found is None:
            raise UsageError(
                f"there is no snapshot {snapshot!r}",
                code="snapshot.unknown",
                hint=f"The current one is {self.header.snapshot}; 'repocue metrics' lists the runs of the others.",
            )
        return found


def load_current(request: Request) -> Reading:
    """Open the state of the request's work tree for reading. Raises CacheNotInitialized or another CacheError."""
    database = open_state(request.state_path, mode="read", wait_s=request.lock_wait_s)
    try:
        reading = Reading(database)
        reading.check_settled()
    except BaseException:
        database.close()
        raise
    return reading
