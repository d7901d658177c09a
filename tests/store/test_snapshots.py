"""Temporal rows: every kept snapshot reads back whole, whatever came after it."""

from __future__ import annotations

import os
import tempfile
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from repocue.domain.delta import diff
from repocue.domain.paths import raw
from repocue.domain.state import CachedContent, DirtyFile, FileRow, FileStat, IndexEntry
from repocue.store import publishing, snapshots
from repocue.store.creation import create_state
from repocue.store.database import Database, open_state
from tests.property.strategies import snapshots as snapshot_rows
from tests.store.support import create, entry, observation


def in_git_order(rows: list[FileRow]) -> list[FileRow]:
    return sorted(rows, key=lambda row: raw(row.path))


@settings(max_examples=25)
@given(st.lists(snapshot_rows(), min_size=1, max_size=5))
def test_every_snapshot_of_a_history_reads_back_whole(history: list[list[FileRow]]) -> None:
    history = [in_git_order(rows) for rows in history]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "state.db")

        def fill(database: Database) -> None:
            publishing.open_epoch(database, number=1, label=None, reason=None, opened_at_ms=1, baseline=1)
            publishing.add_snapshot(database, number=1, epoch=1, observation=observation(), language_library="none")
            publishing.add_rows(database, history[0], 1)

        create_state(path, fill)
        with open_state(path, mode="write") as database:
            for number, (before, after) in enumerate(pairwise(history), start=2):
                with database.writing(durable=False):
                    publishing.add_snapshot(
                        database, number=number, epoch=1, observation=observation(), language_library="none"
                    )
                    publishing.change_rows(database, diff(before, after), number)
        with open_state(path, mode="read") as database:
            for number, rows in enumerate(history, start=1):
                assert snapshots.rows(database, number) == rows
            last = {row.path: row for row in history[-1]}
            assert snapshots.rows_of_paths(database, [*last, "not tracked"]) == last
            before, after = snapshots.changed_rows(database, 1, len(history))
            assert diff(before, after) == diff(history[0], history[-1])


def test_more_rows_than_one_statement_takes_are_all_kept(tmp_path: os.PathLike[str]) -> None:
    for count in (0, 1, 63, 64, 65, 128, 1000):
        path = os.path.join(tmp_path, f"{count}.db")
        rows = create(path, [entry(f"{number:05d}") for number in range(count)])
        with open_state(path, mode="read") as database:
            assert snapshots.rows(database, 1) == rows
            assert len(rows) == count


def test_sha256_ids_and_every_mode_read_back(tmp_path: os.PathLike[str]) -> None:
    path = os.path.join(tmp_path, "state.db")
    entries = [IndexEntry(mode, oid * 64, 0, mode) for mode, oid in (("100644", "0"), ("100755", "f"), ("120000", "1"))]
    rows = create(path, [*entries, IndexEntry("160000", "2" * 64, 0, "160000")])
    with open_state(path, mode="read") as database:
        assert snapshots.rows(database, 1) == rows


def test_what_a_scan_leaves_comes_back_as_it_was(tmp_path: os.PathLike[str]) -> None:
    path = os.path.join(tmp_path, "state.db")
    dirty = (
        DirtyFile("a", ".M", "100644", "2" * 40, 7),
        DirtyFile('"\\377"', ".D", None, None, None),
        DirtyFile("c", ".u", "100644", None, 3),
    )
    contents = {"a": CachedContent(FileStat(1, 2, 2**62, 4, 2**61), "100644", "2" * 40, "rules")}
    create(path, [entry("a")])
    now = observation([entry("a")], dirty)._replace(contents=contents)
    with open_state(path, mode="write") as database, database.writing(durable=True):
        publishing.set_current(database, 1, now)
    with open_state(path, mode="read") as database:
        known = snapshots.current(database).known
    assert known.dirty == dirty
    assert known.contents == contents
    assert (known.index_token, known.index_digest, known.repository_digest) == (
        now.index_token,
        now.index_digest,
        now.repository_digest,
    )


def test_a_header_repeats_what_was_observed(tmp_path: os.PathLike[str]) -> None:
    path = os.path.join(tmp_path, "state.db")
    create(path, [entry("a")], [DirtyFile("a", ".M", "100644", "2" * 40, 7)])
    now = observation([entry("a")], [DirtyFile("a", ".M", "100644", "2" * 40, 7)])
    with open_state(path, mode="read") as database:
        current = snapshots.current(database)
        assert snapshots.snapshot(database, 1) == current.snapshot
        assert snapshots.snapshot(database, 2) is None
    header = current.header
    assert (header.snapshot, header.epoch, header.branch, header.head) == (
        "snapshot-000001",
        "epoch-000001",
        "main",
        "a" * 40,
    )
    assert (header.is_dirty, header.observed_at, header.warnings) == (True, now.observed_at, now.warnings)
    assert current.snapshot.counts == (0, 1, 1, 0)
