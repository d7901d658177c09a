"""What differs between a stored snapshot and an observation, and between two stored snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from repocue.domain.delta import Change, RepositoryChange, changes_of, diff
from repocue.domain.rows import CLEAN, build_rows, with_work_tree
from repocue.store import snapshots
from repocue.store.publishing import working_tree_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from repocue.domain.state import FileRow, Observation
    from repocue.store.database import Database
    from repocue.store.snapshots import Current, StoredSnapshot

    Sizes = Callable[[Iterable[str]], Mapping[str, int]]
    """Gives the bytes of at least these paths in the work tree, where they exist; asked only where a size is needed."""


def file_changes(database: Database, current: Current, observation: Observation, sizes: Sizes) -> list[Change]:
    """The file changes that lead from the current snapshot to `observation`.

    While the index's entries are the same, only rows of files that were or are dirty are read.
    """
    if observation.index_digest == current.known.index_digest:
        return _work_tree_changes(database, current, observation, sizes)
    before = snapshots.rows(database, current.snapshot.number)
    return diff(before, rows_after(before, observation, sizes))


def rows_after(before: list[FileRow], observation: Observation, sizes: Sizes) -> list[FileRow]:
    """The rows of `observation`, with the sizes of `before` where a clean entry is the same as there."""
    # Of an entry that is clean on both sides with one mode and id, the size is the same. (A filter that makes files of
    # several sizes from one blob is the exception: the size is then the one at which the row was first seen.)
    known = {(row.path, row.index_id): row.size_bytes for row in before if row.xy == CLEAN}
    dirty = {file.path for file in observation.dirty}
    entries = observation.entries()
    sized: dict[str, int | None] = {}
    for _, oid, stage, path in entries:
        if stage == 0 and path not in dirty:
            sized[path] = known.get((path, oid))
    unknown = [path for path, size in sized.items() if size is None]
    if unknown:
        sized.update(sizes(unknown))
    return build_rows(entries, observation.dirty, sized)


def repository_changes(before: StoredSnapshot, after: StoredSnapshot | Observation) -> tuple[RepositoryChange, ...]:
    """How branch, HEAD and the lists of changed paths differ, in that order; those that are equal are left out."""
    if isinstance(after, snapshots.StoredSnapshot):
        branch, head, tree = after.header.branch, after.header.head, after.working_tree_digest
    else:
        branch, head, tree = after.branch, after.head, working_tree_digest(after)
    found: tuple[RepositoryChange, ...] = (
        RepositoryChange("repository.branch_changed", before.header.branch, branch),
        RepositoryChange("repository.head_changed", before.header.head, head),
        RepositoryChange("repository.working_tree_changed", before.working_tree_digest, tree),
    )
    return tuple(change for change in found if change.before != change.after)


def _work_tree_changes(database: Database, current: Current, observation: Observation, sizes: Sizes) -> list[Change]:
    before = {file.path: file for file in current.known.dirty}
    after = {file.path: file for file in observation.dirty}
    touched = [path for path in {**before, **after} if before.get(path) != after.get(path)]
    rows = snapshots.rows_of_paths(database, touched)
    became_clean = [path for path in rows if path not in after]
    sized: Mapping[str, int] = sizes(became_clean) if became_clean else {}
    return changes_of((row, with_work_tree(row, after.get(path), sized.get(path))) for path, row in rows.items())
