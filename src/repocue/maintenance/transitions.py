"""The three ways in which a maintenance run ends well: a first snapshot, another snapshot, or none needed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from repocue.domain.ids import epoch_id, snapshot_id
from repocue.domain.rows import build_rows, clean_files
from repocue.domain.state import IndexEntry, SnapshotHeader, Warning
from repocue.maintenance import recording
from repocue.maintenance.changes import repository_changes
from repocue.maintenance.results import OperationResult
from repocue.maintenance.verdict import of_itself
from repocue.store import publishing, snapshots
from repocue.store.runs import add_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from repocue.domain.delta import Change
    from repocue.domain.state import Observation
    from repocue.maintenance.request import Request
    from repocue.maintenance.summary import Counter
    from repocue.store.database import Database
    from repocue.store.runs import NewRun, Trigger
    from repocue.store.snapshots import Current


class NewEpoch(NamedTuple):
    """The epoch that a rebaseline opens."""

    label: str | None
    reason: str | None


def first(request: Request, trigger: Trigger, now: Observation, sizes: Sequence[int | None]) -> OperationResult:
    """Create the state with its first epoch and snapshot, whole or not at all; `sizes` are those of the entries."""
    from repocue.maintenance import summary
    from repocue.store.creation import create_state

    counter = summary.Counter()
    runs: list[NewRun] = []

    def fill(database: Database) -> None:
        worktree = request.worktree
        database.run("INSERT INTO repository (only_row, id, root) VALUES (1, ?, ?)", (worktree.id, worktree.root))
        publishing.open_epoch(database, number=1, label=None, reason=None, opened_at_ms=request.now_ms(), baseline=1)
        publishing.add_snapshot(
            database, number=1, epoch=1, observation=now, language_library=counter.languages.library
        )
        _add_baseline(request, database, now, sizes, counter)
        tally = counter.tally()
        publishing.set_current(database, 1, now)
        publishing.keep(database, {summary.KEPT_AS: tally})
        run = recording.new_run(
            request,
            kind="init",
            trigger=trigger,
            epoch=1,
            snapshot_before=None,
            snapshot_after=1,
            outcome="published",
            cost=now.cost,
            changed_files=tally.tracked_files,
        )
        add_run(database, run)
        runs.append(run)

    create_state(request.state_path, fill)
    return OperationResult(
        kind="init",
        outcome="initialized",
        worktree=request.worktree,
        header=_header(now, 1, 1),
        previous_snapshot=None,
        freshness=of_itself(now),
        changes=None,
        repository_changes=None,
        run=runs[0],
        warnings=(*now.warnings, *location_warnings(request)),
    )


def publish(
    request: Request,
    database: Database,
    current: Current,
    now: Observation,
    changes: Sequence[Change],
    trigger: Trigger,
    new_epoch: NewEpoch | None = None,
) -> OperationResult:
    """Publish `now` as the next snapshot, in a new epoch where one is given. Raises SnapshotConflict."""
    before = current.snapshot
    number = before.number + 1
    epoch = before.epoch_number if new_epoch is None else before.epoch_number + 1
    from repocue.maintenance import languages, summary

    with database.writing(durable=True):
        publishing.expect_current(database, before.number)
        if new_epoch is not None:
            publishing.open_epoch(
                database,
                number=epoch,
                label=new_epoch.label,
                reason=new_epoch.reason,
                opened_at_ms=request.now_ms(),
                baseline=number,
            )
        publishing.add_snapshot(
            database, number=number, epoch=epoch, observation=now, language_library=languages.library()
        )
        publishing.change_rows(database, changes, number)
        tally = None
        if new_epoch is None:
            tally = summary.adjust(snapshots.kept(database, summary.KEPT_AS, summary.Tally), changes)
        if tally is None:
            tally = summary.count(snapshots.each_row(database, number))
        publishing.set_current(database, number, now)
        publishing.keep(database, {summary.KEPT_AS: tally})
        run = recording.new_run(
            request,
            kind="refresh" if new_epoch is None else "rebaseline",
            trigger=trigger,
            epoch=epoch,
            snapshot_before=before.number,
            snapshot_after=number,
            outcome="published",
            cost=now.cost,
            changed_files=len(changes),
        )
        add_run(database, run)
    return OperationResult(
        kind=run.kind,
        outcome="published",
        worktree=request.worktree,
        header=_header(now, number, epoch),
        previous_snapshot=before.header.snapshot,
        freshness=of_itself(now),
        changes=tuple(changes),
        repository_changes=repository_changes(before, now),
        run=run,
        warnings=now.warnings,
    )


def unchanged(
    request: Request, database: Database, current: Current, now: Observation, trigger: Trigger
) -> OperationResult:
    """Record a refresh that found the indexed state as it was."""
    number = current.snapshot.number
    known = current.known
    with database.writing(durable=False):
        publishing.expect_current(database, number)
        if now.index_token != known.index_token or now.contents != known.contents:
            # Another stat or flag, the same state: the next scan can build on this one.
            publishing.set_current(database, number, now)
        run = recording.new_run(
            request,
            kind="refresh",
            trigger=trigger,
            epoch=current.snapshot.epoch_number,
            snapshot_before=number,
            snapshot_after=number,
            outcome="unchanged",
            cost=now.cost,
            changed_files=0,
        )
        add_run(database, run)
    return OperationResult(
        kind="refresh",
        outcome="unchanged",
        worktree=request.worktree,
        header=current.header,
        previous_snapshot=None,
        freshness=of_itself(now),
        changes=(),
        repository_changes=(),
        run=run,
        warnings=now.warnings,
    )


def location_warnings(request: Request) -> tuple[Warning, ...]:
    """A warning where the cache lies in the work tree that it describes, and so may change what it describes."""
    root = request.worktree.root
    folder = os.path.realpath(os.fsencode(request.cache.root))
    inside = folder == root or folder.startswith(root.rstrip(b"/") + b"/")
    return (Warning("cache-inside-work-tree"),) if inside else ()


def _header(now: Observation, number: int, epoch: int) -> SnapshotHeader:
    return SnapshotHeader(
        snapshot=snapshot_id(number),
        epoch=epoch_id(epoch),
        branch=now.branch,
        head=now.head,
        is_dirty=now.is_dirty,
        status_digest=now.status_digest,
        repository_digest=now.repository_digest,
        index_digest=now.index_digest,
        observed_at=now.observed_at,
        warnings=now.warnings,
    )


def _add_baseline(
    request: Request, database: Database, now: Observation, sizes: Sequence[int | None], counter: Counter
) -> None:
    """Add and count every file of a first snapshot, without holding a row of each."""
    from repocue.maintenance.summary import COUNTED

    entries, others, done = now.entries(), list[IndexEntry](), 0
    for files in clean_files(entries, now.dirty, sizes, others):
        if request.progress is not None:
            request.progress("storing", done, len(entries))
        counter.add(zip(files.paths, files.modes, files.sizes, strict=True), 1)
        publishing.add_clean_files(database, files, 1)
        done += len(files.paths)
    rows = build_rows(others, now.dirty, {})
    counter.add(map(COUNTED, rows), 1)
    publishing.add_rows(database, rows, 1)
