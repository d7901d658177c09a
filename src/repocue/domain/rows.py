"""The file rows of a snapshot, made from what one observation found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from repocue.domain.state import FileRow

if TYPE_CHECKING:
    from repocue.domain.state import DirtyFile, IndexEntry

CLEAN = ".."
"""The `xy` of a row whose work tree, index and HEAD agree."""

SUBMODULE = "160000"
_BLOCK = 4096


class CleanFiles(NamedTuple):
    """Some clean entries of an index, column by column: thousands are handled a column at a time, not one by one."""

    paths: Sequence[str]
    modes: Sequence[str]
    oids: Sequence[str]
    sizes: Sequence[int | None]


def build_rows(
    entries: Sequence[IndexEntry], dirty: Iterable[DirtyFile], sizes: Mapping[str, int | None]
) -> list[FileRow]:
    """One row for each path of the index, in git order.

    `entries` are in git order; `sizes` gives the bytes of clean entries (a missing size stays unknown, a
    submodule's is 0). Dirty paths that the index does not hold (staged deletions) have no row: they are no longer
    tracked.
    """
    changed = {file.path: file for file in dirty}
    rows: list[FileRow] = []
    stages: list[tuple[str, str, int]] = []
    for position, (mode, oid, stage, path) in enumerate(entries):
        if stage == 0:
            rows.append(_row(path, mode, oid, (), changed.get(path), sizes.get(path)))
            continue
        stages.append((mode, oid, stage))
        if position + 1 == len(entries) or entries[position + 1].path != path:
            rows.append(_row(path, None, None, tuple(stages), changed.get(path), None))
            stages = []
    return rows


def clean_files(
    entries: Sequence[IndexEntry],
    dirty: Iterable[DirtyFile],
    sizes: Sequence[int | None],
    others: list[IndexEntry],
) -> Iterator[CleanFiles]:
    """The entries whose rows `build_rows` would make clean, in order, some thousands at a time.

    `sizes` are those of `entries`, one for each. Every other entry is left in `others`, in order.
    """
    changed = {file.path for file in dirty}
    for start in range(0, len(entries), _BLOCK):
        block = entries[start : start + _BLOCK]
        found = sizes[start : start + _BLOCK]
        modes, oids, stages, paths = zip(*block, strict=True)
        if any(stages) or not changed.isdisjoint(paths):
            clean = [pair for pair in zip(block, found, strict=True) if not pair[0][2] and pair[0][3] not in changed]
            others += [entry for entry in block if entry[2] or entry[3] in changed]
            if not clean:
                continue
            modes, oids, _, paths = zip(*[entry for entry, _ in clean], strict=True)
            found = [size for _, size in clean]
        if SUBMODULE in modes:
            found = [0 if mode == SUBMODULE else size for mode, size in zip(modes, found, strict=True)]
        yield CleanFiles(paths, modes, oids, found)


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
