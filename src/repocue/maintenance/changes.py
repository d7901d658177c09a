"""What differs between a stored snapshot and an observation, and between two stored snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from repocue.domain.delta import Change, RepositoryChange, changes_of, diff, path_order
from repocue.domain.rows import CLEAN, SUBMODULE, build_rows, with_work_tree
from repocue.store import snapshots
from repocue.store.publishing import working_tree_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from repocue.domain.state import FileRow, IndexEntry, Observation
    from repocue.store.database import Database
    from repocue.store.snapshots import Current, StoredSnapshot

    Sizes = Callable[[Iterable[str]], Mapping[str, int]]
    """Gives the bytes of these paths in the work tree, where they exist; asked only where a size is needed."""


def file_changes(database: Database, current: Current, observation: Observation, sizes: Sizes) -> list[Change]:
    """The file changes that lead from the current snapshot to `observation`.

    While the index's entries are the same, only rows of files that were or are dirty are read.
    """
    if observation.index_digest == current.known.index_digest:
        return _work_tree_changes(database, current, observation, sizes)
    return _index_changes(database, current, observation, sizes, None)


def baseline_changes(
    database: Database, current: Current, observation: Observation, sizes: Sequence[int | None]
) -> list[Change]:
    """The file changes that lead to `observation`, every stored row being compared with its entries and their sizes."""
    paths = [entry.path for entry in observation.entries()]
    known = {path: size for path, size in zip(paths, sizes, strict=True) if size is not None}
    return _index_changes(database, current, observation, lambda _: known, known)


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


def _index_changes(
    database: Database,
    current: Current,
    observation: Observation,
    sizes: Sizes,
    known: Mapping[str, int] | None,
) -> list[Change]:
    """Go through rows and entries side by side, both in git order, and hold on to those that differ alone.

    A clean entry that is clean in its row too, with the same mode and id, has not changed, nor has its size. (A filter
    that makes files of several sizes from one blob is the exception; the size is then the one that the row was made
    with.) With `known` sizes the size is compared as well.
    """
    dirty = {file.path for file in observation.dirty}
    before: list[FileRow] = []
    differing: list[IndexEntry] = []
    entries = iter(observation.entries())
    entry = next(entries, None)
    for row in snapshots.each_row(database, current.snapshot.number):
        path = row.path
        if entry is None or entry.path != path:
            order = path_order(path)
            while entry is not None and path_order(entry.path) < order:
                differing.append(entry)
                entry = next(entries, None)
        is_equal = False
        while entry is not None and entry.path == path:
            mode, oid, stage, _ = entry
            is_equal = (
                row.xy == CLEAN
                and row.index_id == oid
                and row.index_mode == mode
                and stage == 0
                and path not in dirty
                and (mode == SUBMODULE or row.size_bytes == (row.size_bytes if known is None else known.get(path)))
            )
            if not is_equal:
                differing.append(entry)
            entry = next(entries, None)
        if not is_equal:
            before.append(row)
    while entry is not None:
        differing.append(entry)
        entry = next(entries, None)
    unsized = [entry.path for entry in differing if entry.stage == 0 and entry.path not in dirty]
    return diff(before, build_rows(differing, observation.dirty, sizes(unsized) if unsized else {}))
