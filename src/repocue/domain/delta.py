"""What changed between two snapshots, file by file (ARCHITECTURE §1, "delta").

Kinds of a file's change, the first that applies:

==========================  =====================================================================
``file.added``              the path was not tracked; it is now, and exists in the work tree
``file.renamed``            an added path has the mode and content of a deleted one that left the index
``file.deleted``            it existed; now it is gone from the index or missing from the work tree
``file.restored``           it was missing from the work tree and exists again
``file.content_changed``    its content in the work tree is another
``file.metadata_changed``   same content, another mode or size
``file.state_changed``      the work tree's content is the same (or cannot be told), but the index's side, the conflict
                            or the two status letters differ; also a missing path that enters or leaves the index
==========================  =====================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from repocue.domain.state import FileRow

FileKind = Literal[
    "file.added",
    "file.deleted",
    "file.renamed",
    "file.restored",
    "file.content_changed",
    "file.metadata_changed",
    "file.state_changed",
]
RepositoryKind = Literal["repository.branch_changed", "repository.head_changed", "repository.working_tree_changed"]

FILE_KINDS: tuple[FileKind, ...] = (
    "file.added",
    "file.deleted",
    "file.renamed",
    "file.restored",
    "file.content_changed",
    "file.metadata_changed",
    "file.state_changed",
)


class Change(NamedTuple):
    """One file's change. `path` is the new path, `from_path` the old one of a rename and else None.

    `before` and `after` are the rows on either side, None where the path is not tracked there; for a rename
    `before` is the row of `from_path`.
    """

    kind: FileKind
    path: str
    from_path: str | None
    before: FileRow | None
    after: FileRow | None


class RepositoryChange(NamedTuple):
    """A change of the repository as a whole; `before` and `after` are the two values.

    A branch or HEAD is None when detached or unborn. For the working tree they are digests over the lists of staged,
    unstaged, untracked and unmerged paths.
    """

    kind: RepositoryKind
    before: str | None
    after: str | None


class Delta(NamedTuple):
    """Everything that differs between two snapshots. `changes` are in bytewise order of `path`."""

    from_snapshot: str
    to_snapshot: str
    repository_changes: tuple[RepositoryChange, ...]
    changes: tuple[Change, ...]


def diff(before: Iterable[FileRow], after: Iterable[FileRow]) -> list[Change]:
    """The changes that turn the rows `before` into the rows `after`, in bytewise order of path.

    Rows may be given in any order; each path occurs once.
    """
    old = {row.path: row for row in before}
    pairs: list[tuple[FileRow | None, FileRow | None]] = []
    for row in after:
        earlier = old.pop(row.path, None)
        if earlier != row:
            pairs.append((earlier, row))
    pairs.extend((row, None) for row in old.values())
    return changes_of(pairs)


def changes_of(pairs: Iterable[tuple[FileRow | None, FileRow | None]]) -> list[Change]:
    """The changes of paths whose rows before and after are given; equal pairs are left out."""
    changes: list[Change] = []
    gone: dict[tuple[str, str], list[FileRow]] = {}
    added: list[FileRow] = []
    for before, after in pairs:
        if before == after:
            continue
        kind = _kind(before, after)
        if kind == "file.added" and after is not None:
            added.append(after)
            continue
        if kind == "file.deleted" and before is not None and before.mode and before.content_id and after is None:
            gone.setdefault((before.mode, before.content_id), []).append(before)
            continue
        changes.append(Change(kind, _path(before, after), None, before, after))
    changes.extend(_with_renames(gone, added))
    changes.sort(key=lambda change: path_order(change.path))
    return changes


def apply(rows: Iterable[FileRow], changes: Iterable[Change]) -> list[FileRow]:
    """`rows` with `changes` made, in git order. The inverse of `diff`: apply(a, diff(a, b)) == b."""
    kept = {row.path: row for row in rows}
    for change in changes:
        if change.before is not None:
            kept.pop(change.before.path, None)
    for change in changes:
        if change.after is not None:
            kept[change.after.path] = change.after
    return sorted(kept.values(), key=lambda row: path_order(row.path))


def count_kinds(changes: Sequence[Change]) -> dict[FileKind, int]:
    """How many changes of each kind there are, every kind named, zeros included."""
    counts = dict.fromkeys(FILE_KINDS, 0)
    for change in changes:
        counts[change.kind] += 1
    return counts


def path_order(path: str) -> bytes:
    """The bytes by which git orders this path."""
    from repocue.domain.paths import sort_key

    return sort_key(path)


def _path(before: FileRow | None, after: FileRow | None) -> str:
    row = after if after is not None else before
    assert row is not None
    return row.path


def _kind(before: FileRow | None, after: FileRow | None) -> FileKind:
    was = before is not None and before.mode is not None
    now = after is not None and after.mode is not None
    if was and not now:
        return "file.deleted"
    if now and not was:
        return "file.added" if before is None else "file.restored"
    if before is None or after is None or not now:
        return "file.state_changed"
    if before.content_id is None or after.content_id is None:
        return "file.state_changed"  # unreadable on one side: that the content differs was not observed
    if before.content_id != after.content_id:
        return "file.content_changed"
    if before.mode != after.mode or before.size_bytes != after.size_bytes:
        return "file.metadata_changed"
    return "file.state_changed"


def _with_renames(gone: dict[tuple[str, str], list[FileRow]], added: list[FileRow]) -> list[Change]:
    """Pair deleted with added paths of one mode and content, both in bytewise order; the rest stays what it was."""
    changes: list[Change] = []
    for candidates in gone.values():
        candidates.sort(key=lambda row: path_order(row.path), reverse=True)
    for row in sorted(added, key=lambda row: path_order(row.path)):
        candidates = gone.get((row.mode, row.content_id), []) if row.mode and row.content_id else []
        if candidates:
            earlier = candidates.pop()
            changes.append(Change("file.renamed", row.path, earlier.path, earlier, row))
        else:
            changes.append(Change("file.added", row.path, None, None, row))
    for candidates in gone.values():
        changes.extend(Change("file.deleted", row.path, None, row, None) for row in candidates)
    return changes
