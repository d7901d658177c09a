"""The file rows of a snapshot, made from what one observation found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from repocue.domain.state import FileRow

if TYPE_CHECKING:
    from repocue.domain.state import DirtyFile, IndexEntry

CLEAN = ".."
"""The `xy` of a row whose work tree, index and HEAD agree."""

SUBMODULE = "160000"


def build_rows(
    entries: Sequence[IndexEntry], dirty: Iterable[DirtyFile], sizes: Mapping[str, int | None]
) -> list[FileRow]:
    """One row for each path of the index, in git order.

    `entries` are in git order; `sizes` gives the bytes of clean entries (a missing size stays unknown, a
    submodule's is 0). Dirty paths that the index does not hold (staged deletions) have no row: they are no longer
    tracked.
    """
    return list(each_row(entries, dirty, sizes))


def each_row(
    entries: Iterable[IndexEntry], dirty: Iterable[DirtyFile], sizes: Mapping[str, int | None]
) -> Iterator[FileRow]:
    """The rows of `build_rows`, one at a time: a large repository's need not all be held."""
    changed = {file.path: file for file in dirty}
    size_of = sizes.get
    # The plain constructor spends half of its time on argument binding; this is the same tuple.
    new = tuple.__new__
    stages: list[tuple[str, str, int]] = []
    unmerged: str | None = None
    for mode, oid, stage, path in entries:
        if unmerged is not None and path != unmerged:
            yield _row(unmerged, None, None, tuple(stages), changed.get(unmerged), None)
            stages, unmerged = [], None
        if stage:
            stages.append((mode, oid, stage))
            unmerged = path
        elif path in changed:
            yield _row(path, mode, oid, (), changed[path], None)
        else:
            size = 0 if mode == SUBMODULE else size_of(path)
            yield new(FileRow, (path, mode, oid, (), mode, oid, size, CLEAN))
    if unmerged is not None:
        yield _row(unmerged, None, None, tuple(stages), changed.get(unmerged), None)


def with_work_tree(row: FileRow, file: DirtyFile | None, size_bytes: int | None) -> FileRow:
    """`row` with its index side kept and its work tree as `file` says; clean with `size_bytes` where that is None."""
    return _row(row.path, row.index_mode, row.index_id, row.stages, file, size_bytes)


def _row(
    path: str,
    mode: str | None,
    oid: str | None,
    stages: tuple[tuple[str, str, int], ...],
    file: DirtyFile | None,
    size_bytes: int | None,
) -> FileRow:
    if file is not None:
        return FileRow(path, mode, oid, stages, file.mode, file.content_id, file.size_bytes, file.xy)
    return FileRow(path, mode, oid, stages, mode, oid, 0 if mode == SUBMODULE else size_bytes, CLEAN)
