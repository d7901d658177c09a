"""Reading snapshots: the current one with what its scan left, any kept one, and the rows of either."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from repocue.domain.ids import epoch_id, snapshot_id
from repocue.domain.paths import raw
from repocue.domain.state import CachedContent, DirtyFile, FileRow, Known, SnapshotHeader, Warning
from repocue.store import codec
from repocue.store.faults import damaged

if TYPE_CHECKING:
    from repocue.store.database import Database

T = TypeVar("T")

BASIS_COLUMNS = (
    "number, epoch, object_format, branch, head, is_dirty, status_digest, repository_digest, index_digest,"
    " working_tree_digest, staged, unstaged, untracked, unmerged, observed_at, warnings, language_library"
)


class Counts(NamedTuple):
    """How many paths of each kind a basis lists."""

    staged: int
    unstaged: int
    untracked: int
    unmerged: int


class Scan(NamedTuple):
    """What a scan leaves for the next one (`Known`, without the digests)."""

    dirty: tuple[DirtyFile, ...]
    contents: dict[str, CachedContent]


class StoredSnapshot(NamedTuple):
    """A kept snapshot: its header and what else its basis said."""

    number: int
    epoch_number: int
    header: SnapshotHeader
    object_format: str
    working_tree_digest: str
    counts: Counts
    language_library: str


class Current(NamedTuple):
    """The current snapshot and what the next scan may build on."""

    snapshot: StoredSnapshot
    known: Known

    @property
    def header(self) -> SnapshotHeader:
        """The current snapshot's identity and basis."""
        return self.snapshot.header


def current(database: Database) -> Current:
    """The current snapshot. Raises CacheDamaged where the database names none."""
    columns = ", ".join("s." + name.strip() for name in BASIS_COLUMNS.split(","))
    row = database.one(
        f"SELECT c.index_token, c.scan, c.scan_digest, {columns}"  # noqa: S608 - our own column names
        " FROM current c JOIN snapshots s ON s.number = c.snapshot"
    )
    if row is None:
        raise damaged(database.path, "it names no current snapshot")
    snapshot = _snapshot(row[3:], database.path)
    scan = codec.unpack(row[1], row[2], Scan, database.path)
    known = Known(
        index_token=row[0],
        index_digest=snapshot.header.index_digest,
        repository_digest=snapshot.header.repository_digest,
        dirty=scan.dirty,
        contents=scan.contents,
    )
    return Current(snapshot=snapshot, known=known)


def snapshot(database: Database, number: int) -> StoredSnapshot | None:
    """The snapshot with this number, or None."""
    row = database.one(f"SELECT {BASIS_COLUMNS} FROM snapshots WHERE number = ?", (number,))  # noqa: S608 - our own column names
    return None if row is None else _snapshot(row, database.path)


def rows(database: Database, number: int) -> list[FileRow]:
    """Every file row of the snapshot with this number, in git order."""
    return list(each_row(database, number))


def each_row(database: Database, number: int) -> Iterator[FileRow]:
    """The rows of `rows`, one at a time: a large repository's need not all be held."""
    # The primary key begins with path, so that this order costs nothing.
    answer = database.each(
        f"SELECT {codec.ROW_COLUMNS} FROM files"  # noqa: S608 - our own column names
        " WHERE valid_from <= ?1 AND (valid_to IS NULL OR valid_to > ?1) ORDER BY path",
        (number,),
    )
    return codec.rows_of(answer, database.path)


def rows_of_paths(database: Database, paths: Iterable[str]) -> dict[str, FileRow]:
    """The current rows of those of `paths` that are tracked."""
    found: dict[str, FileRow] = {}
    for path in paths:
        answer = database.all(
            f"SELECT {codec.ROW_COLUMNS} FROM files WHERE path = ? AND valid_to IS NULL",  # noqa: S608 - our own names
            (raw(path),),
        )
        for row in codec.rows_of(answer, database.path):
            found[path] = row
    return found


def changed_rows(database: Database, first: int, second: int) -> tuple[list[FileRow], list[FileRow]]:
    """The rows of two snapshots that are not the very same stored row, before and after, in git order."""
    sql = (
        f"SELECT {codec.ROW_COLUMNS} FROM files"  # noqa: S608 - our own column names
        " WHERE valid_from <= ?1 AND (valid_to IS NULL OR valid_to > ?1)"
        " AND NOT (valid_from <= ?2 AND (valid_to IS NULL OR valid_to > ?2)) ORDER BY path"
    )
    before = list(codec.rows_of(database.each(sql, (first, second)), database.path))
    after = list(codec.rows_of(database.each(sql, (second, first)), database.path))
    return before, after


def kept(database: Database, name: str, kind: type[T]) -> T:
    """A value kept beside the current snapshot; raises CacheDamaged where it is missing or altered."""
    row = database.one("SELECT data, digest FROM kept WHERE name = ?", (name,))
    if row is None:
        raise damaged(database.path, f"the current snapshot's {name} is missing")
    return codec.unpack(row[0], row[1], kind, database.path)


def epochs(database: Database) -> list[Mapping[str, Any]]:
    """Every epoch, oldest first: number, label, reason, opened_at_ms, superseded_at_ms, baseline_snapshot."""
    names = ("number", "label", "reason", "opened_at_ms", "superseded_at_ms", "baseline_snapshot")
    answer = database.all(f"SELECT {', '.join(names)} FROM epochs ORDER BY number")  # noqa: S608 - our own column names
    for row in answer:
        for time in row[3:5]:
            if time is not None:
                codec.moment(time, database.path)
    return [dict(zip(names, row, strict=True)) for row in answer]


def _snapshot(row: tuple[Any, ...], path: str) -> StoredSnapshot:
    number, epoch, object_format, branch, head, is_dirty = row[:6]
    status, repository, index, working_tree = row[6:10]
    warnings = codec.decode(row[15], tuple[Warning, ...], path) if row[15] != "[]" else ()
    return StoredSnapshot(
        number=number,
        epoch_number=epoch,
        header=SnapshotHeader(
            snapshot=snapshot_id(number),
            epoch=epoch_id(epoch),
            branch=branch,
            head=head,
            is_dirty=bool(is_dirty),
            status_digest=status,
            repository_digest=repository,
            index_digest=index,
            observed_at=row[14],
            warnings=warnings,
        ),
        object_format=object_format,
        working_tree_digest=working_tree,
        counts=Counts(*row[10:14]),
        language_library=row[16],
    )
