"""The three operations that make snapshots: init, refresh and rebaseline.

A writer holds the lock around scan and transaction, so that what it compares with is still current when it publishes;
the transaction checks that once more.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

from repocue.errors import UsageError
from repocue.maintenance import recording, transitions
from repocue.maintenance.changes import baseline_changes, file_changes
from repocue.maintenance.observing import with_full_observation, with_observation
from repocue.maintenance.results import OperationResult
from repocue.maintenance.verdict import is_same_state, judge
from repocue.store import snapshots
from repocue.store.database import exists, not_initialized, open_state
from repocue.store.lock import writer_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from repocue.domain.state import Observation
    from repocue.maintenance.changes import Sizes
    from repocue.maintenance.request import Request
    from repocue.store.database import Database
    from repocue.store.runs import RunKind, Trigger

MAX_TEXT_CHARACTERS = 500
"""The bound of a rebaseline's label and reason."""


def init(request: Request, trigger: Trigger = "command") -> OperationResult:
    """Make the first snapshot of a repository; where there is one already, change nothing and say how it stands.

    Raises CacheError or RepositoryError; then no state is left behind.
    """
    if exists(request.state_path):
        return _already_initialized(request)
    request.cache.create(request.worktree.id)
    with writer_lock(request.lock_path, wait_s=request.lock_wait_s):
        if not exists(request.state_path):
            with _uncollected():
                return with_full_observation(
                    request, lambda now, sizes: transitions.first(request, trigger, now, sizes)
                )
    return _already_initialized(request)  # another command was faster


def refresh(request: Request, trigger: Trigger = "command") -> OperationResult:
    """Bring the snapshot up to date: publish one where the indexed state changed, record the run either way.

    Raises CacheError (CacheNotInitialized, CacheBusy, …) or RepositoryError; a failed run is recorded as well.
    """

    def work(database: Database) -> OperationResult:
        current = snapshots.current(database)

        def use(now: Observation, sizes: Sizes) -> OperationResult:
            if is_same_state(current, now):
                return transitions.unchanged(request, database, current, now, trigger)
            changes = file_changes(database, current, now, sizes)
            return transitions.publish(request, database, current, now, changes, trigger)

        return with_observation(request, current.known, use)

    return _as_writer(request, "refresh", trigger, work)


def rebaseline(
    request: Request, label: str | None = None, reason: str | None = None, trigger: Trigger = "command"
) -> OperationResult:
    """Open a new epoch with a full baseline that trusts nothing of the old one, which is superseded and kept.

    Raises UsageError for a label or reason that is no text or too long, else as `refresh` does.
    """
    _check_text("label", label)
    _check_text("reason", reason)

    def work(database: Database) -> OperationResult:
        current = snapshots.current(database)

        def use(now: Observation, sizes: Sequence[int | None]) -> OperationResult:
            changes = baseline_changes(database, current, now, sizes)
            epoch = transitions.NewEpoch(label, reason)
            return transitions.publish(request, database, current, now, changes, trigger, epoch)

        return with_full_observation(request, use)

    return _as_writer(request, "rebaseline", trigger, work)


def _as_writer(
    request: Request, kind: RunKind, trigger: Trigger, work: Callable[[Database], OperationResult]
) -> OperationResult:
    """Do `work` on the open state with the writer's lock held; a failure is recorded and raised again."""
    if not exists(request.state_path):
        raise not_initialized(request.state_path)
    try:
        with (
            _uncollected(),
            writer_lock(request.lock_path, wait_s=request.lock_wait_s),
            open_state(request.state_path, mode="write", wait_s=request.lock_wait_s) as database,
        ):
            return work(database)
    except BaseException as error:
        recording.record_failed_run(request, kind, trigger, error)
        raise


def _already_initialized(request: Request) -> OperationResult:
    """How an existing state stands to the repository; nothing is written."""
    from repocue.maintenance.status import observe_or_warn

    with open_state(request.state_path, mode="read", wait_s=request.lock_wait_s) as database:
        current = snapshots.current(database)
        now, warnings = observe_or_warn(request, current)
    return OperationResult(
        kind="init",
        outcome="already-initialized",
        worktree=request.worktree,
        header=current.header,
        previous_snapshot=None,
        freshness=judge(current, now),
        changes=None,
        repository_changes=None,
        run=None,
        warnings=(*warnings, *transitions.location_warnings(request)),
    )


def _check_text(name: str, text: str | None) -> None:
    if text is None:
        return
    if len(text) > MAX_TEXT_CHARACTERS:
        raise UsageError(f"the {name} has {len(text)} characters; at most {MAX_TEXT_CHARACTERS} are kept")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"the {name} is not valid Unicode text") from None


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the cyclic garbage collector: a baseline makes hundreds of thousands of tuples and no cycle."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
