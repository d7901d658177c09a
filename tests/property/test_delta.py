"""Laws of deltas.

delta(A→B) applied to A gives B; delta(A→A) is empty; every difference is named once, and nothing else is.
"""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from repocue.domain.delta import Change, apply, changes_of, count_kinds, diff
from repocue.domain.paths import raw
from repocue.domain.state import FileRow
from tests.property.strategies import snapshots


def in_git_order(rows: list[FileRow]) -> list[FileRow]:
    return sorted(rows, key=lambda row: raw(row.path))


@given(snapshots(), snapshots())
def test_a_delta_applied_to_its_start_gives_its_end(before: list[FileRow], after: list[FileRow]) -> None:
    assert apply(before, diff(before, after)) == in_git_order(after)


@given(snapshots(), st.randoms(use_true_random=False))
def test_the_delta_of_a_snapshot_to_itself_is_empty(rows: list[FileRow], order: random.Random) -> None:
    shuffled = list(rows)
    order.shuffle(shuffled)
    assert diff(rows, shuffled) == []


@given(snapshots(), snapshots(), st.randoms(use_true_random=False))
def test_a_delta_does_not_depend_on_the_order_in_which_rows_are_given(
    before: list[FileRow], after: list[FileRow], order: random.Random
) -> None:
    expected = diff(before, after)
    one, other = list(before), list(after)
    order.shuffle(one)
    order.shuffle(other)
    assert diff(one, other) == expected
    assert [raw(change.path) for change in expected] == sorted(raw(change.path) for change in expected)


@given(snapshots(), snapshots())
def test_every_differing_path_is_named_once_and_every_equal_one_never(
    before: list[FileRow], after: list[FileRow]
) -> None:
    old, new = {row.path: row for row in before}, {row.path: row for row in after}
    differing = {path for path in {**old, **new} if old.get(path) != new.get(path)}
    changes = diff(before, after)
    named = [change.path for change in changes] + [change.from_path for change in changes if change.from_path]
    assert sorted(named) == sorted(differing)
    assert sum(count_kinds(changes).values()) == len(changes)


@given(snapshots(), snapshots())
def test_each_kind_means_what_it_is_defined_to_mean(before: list[FileRow], after: list[FileRow]) -> None:
    for change in diff(before, after):
        assert_meaning(change)


@given(snapshots(), snapshots())
def test_renames_pair_as_many_as_possible_of_one_mode_and_content(before: list[FileRow], after: list[FileRow]) -> None:
    old, new = {row.path for row in before}, {row.path for row in after}

    def contents(rows: list[FileRow], other: set[str]) -> Counter[tuple[str | None, str | None]]:
        return Counter((row.mode, row.content_id) for row in rows if row.path not in other and row.content_id)

    expected = contents(before, new) & contents(after, old)
    renamed = [change for change in diff(before, after) if change.kind == "file.renamed"]
    found = Counter((change.after.mode, change.after.content_id) for change in renamed if change.after)
    assert found == expected


def assert_meaning(change: Change) -> None:
    before, after = change.before, change.after
    was = before is not None and before.mode is not None
    now = after is not None and after.mode is not None
    if change.kind == "file.added":
        assert before is None
        assert now
    elif change.kind == "file.deleted":
        assert was
        assert not now
    elif change.kind == "file.restored":
        assert before is not None
        assert not was
        assert now
    elif change.kind == "file.renamed":
        assert before is not None
        assert after is not None
        assert (before.path, after.path) == (change.from_path, change.path)
        assert (before.mode, before.content_id) == (after.mode, after.content_id)
    else:
        assert was == now
        if change.kind == "file.content_changed":
            assert before is not None
            assert after is not None
            assert before.content_id != after.content_id
        elif change.kind == "file.metadata_changed":
            assert before is not None
            assert after is not None
            assert before.content_id == after.content_id
            assert (before.mode, before.size_bytes) != (after.mode, after.size_bytes)
        else:
            assert change.kind == "file.state_changed"


def row(path: str, content: str = "1" * 40, mode: str | None = "100644", xy: str = "..") -> FileRow:
    return FileRow(path, "100644", content, (), mode, content if mode else None, 1 if mode else None, xy)


def kinds(before: list[FileRow], after: list[FileRow]) -> list[tuple[str, str | None, str]]:
    return [(change.kind, change.from_path, change.path) for change in diff(before, after)]


def test_equal_contents_are_paired_in_bytewise_order_of_old_and_new_names() -> None:
    # "Z" < "a" < "é" bytewise; two went and three came, so that the bytewise last of the new ones is added.
    assert kinds([row("é"), row("a")], [row("b"), row("Z"), row("ü")]) == [
        ("file.renamed", "a", "Z"),
        ("file.renamed", "é", "b"),
        ("file.added", None, "ü"),
    ]


def test_a_rename_needs_the_same_mode() -> None:
    assert kinds([row("a")], [row("b", mode="100755")]) == [("file.deleted", None, "a"), ("file.added", None, "b")]


def test_a_file_that_is_missing_but_still_in_the_index_is_deleted_not_renamed() -> None:
    assert kinds([row("a")], [row("a", mode=None, xy=".D"), row("b")]) == [
        ("file.deleted", None, "a"),
        ("file.added", None, "b"),
    ]


def test_a_missing_path_that_leaves_or_enters_the_index_changes_state_alone() -> None:
    missing = row("a", mode=None, xy=".D")
    assert kinds([missing], []) == [("file.state_changed", None, "a")]
    assert kinds([], [missing]) == [("file.state_changed", None, "a")]


def test_a_missing_file_that_exists_again_is_restored() -> None:
    assert kinds([row("a", mode=None, xy=".D")], [row("a")]) == [("file.restored", None, "a")]


def test_an_exchange_of_two_files_is_two_changed_contents() -> None:
    one, two = "1" * 40, "2" * 40
    assert kinds([row("a", one), row("b", two)], [row("a", two), row("b", one)]) == [
        ("file.content_changed", None, "a"),
        ("file.content_changed", None, "b"),
    ]


def test_staging_an_edit_changes_state_alone() -> None:
    edited = FileRow("a", "100644", "1" * 40, (), "100644", "2" * 40, 3, ".M")
    staged = FileRow("a", "100644", "2" * 40, (), "100644", "2" * 40, 3, "M.")
    assert kinds([edited], [staged]) == [("file.state_changed", None, "a")]


def test_an_unreadable_file_is_not_said_to_have_another_content() -> None:
    unreadable = FileRow("a", "100644", "1" * 40, (), "100644", None, 3, ".M")
    assert kinds([row("a")], [unreadable]) == [("file.state_changed", None, "a")]


def test_equal_rows_given_as_a_pair_are_no_change() -> None:
    assert changes_of([(row("a"), row("a")), (None, None)]) == []
