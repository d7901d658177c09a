"""Writing snapshots. Every function here works inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from repocue.contracts import canonical
from repocue.domain.paths import raw
from repocue.errors import SnapshotConflict
from repocue.store import codec
from repocue.store.snapshots import BASIS_COLUMNS, Scan

if TYPE_CHECKING:
    from repocue.domain.delta import Change
    from repocue.domain.rows import CleanFiles
    from repocue.domain.state import FileRow, Observation
    from repocue.store.database import Database

_INSERT_ROW = (
    "INSERT INTO files (path, valid_from, index_mode, index_id, size_bytes, xy, mode, content_id, stages)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_CLEAN_ROWS = f"INSERT INTO files ({codec.CLEAN_COLUMNS}) VALUES "  # noqa: S608 - our own names
_CLEAN_ROW = "(?, ?, ?, ?, ?)"


def working_tree_digest(observation: Observation) -> str:
    """The digest by which two bases' lists of staged, unstaged, untracked and unmerged paths are compared."""
    return canonical.digest_of(
        {
            "staged": observation.staged,
            "unstaged": observation.unstaged,
            "untracked": observation.untracked,
            "unmerged": observation.unmerged,
        }
    )


def add_snapshot(
    database: Database, *, number: int, epoch: int, observation: Observation, language_library: str
) -> None:
    """Add the snapshot's own record."""
    values: tuple[Any, ...] = (
        number,
        epoch,
        observation.object_format,
        observation.branch,
        observation.head,
        observation.is_dirty,
        observation.status_digest,
        observation.repository_digest,
        observation.index_digest,
        working_tree_digest(observation),
        len(observation.staged),
        len(observation.unstaged),
        len(observation.untracked),
        len(observation.unmerged),
        observation.observed_at,
        canonical.compact(observation.warnings).decode(),
        language_library,
    )
    places = ", ".join("?" * len(values))
    database.run(f"INSERT INTO snapshots ({BASIS_COLUMNS}) VALUES ({places})", values)  # noqa: S608 - our own names


def add_clean_files(database: Database, files: CleanFiles, number: int) -> None:
    """Add rows of clean files to a first snapshot; fastest where they come in git order."""
    for group in codec.clean_groups(files, number):
        database.run(_INSERT_CLEAN_ROWS + ", ".join([_CLEAN_ROW] * (len(group) // 5)), group)


def add_rows(database: Database, rows: Iterable[FileRow], number: int) -> None:
    """Add any other rows to a first snapshot."""
    database.run_many(_INSERT_ROW, [codec.row_parameters(row, number) for row in rows])


def change_rows(database: Database, changes: Sequence[Change], number: int) -> None:
    """End the rows that `changes` replace, and add the new ones, as of snapshot `number`."""
    database.run_many(
        "UPDATE files SET valid_to = ? WHERE path = ? AND valid_to IS NULL",
        [(number, raw(change.before.path)) for change in changes if change.before is not None],
    )
    database.run_many(
        _INSERT_ROW,
        [codec.row_parameters(change.after, number) for change in changes if change.after is not None],
    )


def set_current(database: Database, number: int, observation: Observation) -> None:
    """Make snapshot `number` the current one, and keep what its scan leaves for the next."""
    scan, digest = codec.pack(Scan(observation.dirty, dict(observation.contents)))
    database.run(
        "INSERT INTO current (only_row, snapshot, index_token, scan, scan_digest) VALUES (1, ?1, ?2, ?3, ?4)"
        " ON CONFLICT (only_row) DO UPDATE SET snapshot = ?1, index_token = ?2, scan = ?3, scan_digest = ?4",
        (number, observation.index_token, scan, digest),
    )


def expect_current(database: Database, number: int) -> None:
    """Raises SnapshotConflict unless snapshot `number` is the current one. Every transition begins with this."""
    if database.one("SELECT 1 FROM current WHERE snapshot = ?", (number,)) is None:
        raise SnapshotConflict(
            "another command published a snapshot in the meantime; nothing was written", hint="Run the command again."
        )


def keep(database: Database, values: Mapping[str, Any]) -> None:
    """Keep named values beside the current snapshot, in place of those of the one before."""
    for name, value in values.items():
        data, digest = codec.pack(value)
        database.run("INSERT OR REPLACE INTO kept (name, data, digest) VALUES (?, ?, ?)", (name, data, digest))


def open_epoch(
    database: Database, *, number: int, label: str | None, reason: str | None, opened_at_ms: int, baseline: int
) -> None:
    """Open an epoch whose baseline is snapshot `baseline`, superseding the one before."""
    database.run("UPDATE epochs SET superseded_at_ms = ? WHERE superseded_at_ms IS NULL", (opened_at_ms,))
    database.run(
        "INSERT INTO epochs (number, label, reason, opened_at_ms, baseline_snapshot) VALUES (?, ?, ?, ?, ?)",
        (number, label, reason, opened_at_ms, baseline),
    )
