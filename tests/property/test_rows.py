"""Law of rows: files taken a column at a time and the rest row by row are the rows of the index, each once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.domain import rows as rows_module
from repocue.domain.paths import raw
from repocue.domain.rows import build_rows, clean_files, with_work_tree
from repocue.domain.state import DirtyFile, FileRow, IndexEntry
from tests.property.strategies import MODES, OIDS, path_texts


@st.composite
def indexes(draw: st.DrawFn) -> tuple[list[IndexEntry], list[DirtyFile], dict[str, int | None]]:
    """Entries in git order, some unmerged; dirty files, some of which are not in the index; sizes."""
    entries, dirty = [], []
    sizes: dict[str, int | None] = {}
    for path in sorted(draw(st.lists(path_texts, unique=True, max_size=12)), key=raw):
        mode, oid = draw(st.sampled_from([*MODES, "160000"])), draw(st.sampled_from(OIDS))
        stages = draw(st.sampled_from([(0,), (0,), (0,), (1, 2, 3), (2,), (1, 3)]))
        entries += [IndexEntry(mode, oid, stage, path) for stage in stages]
        sizes[path] = draw(st.sampled_from([0, 7, None]))
        if stages != (0,) or draw(st.booleans()):
            dirty.append(DirtyFile(path, "UU" if stages != (0,) else ".M", draw(st.sampled_from(MODES)), OIDS[0], 3))
    dirty.append(DirtyFile("zz not in the index", ".M", "100644", OIDS[0], 1))
    return entries, dirty, sizes


@given(indexes(), st.integers(1, 4))
def test_columns_and_rows_together_are_the_rows_of_the_index(
    index: tuple[list[IndexEntry], list[DirtyFile], dict[str, int | None]], block: int
) -> None:
    entries, dirty, sizes = index
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "_BLOCK", block)
        others: list[IndexEntry] = []
        found = []
        for files in clean_files(entries, dirty, [sizes[entry.path] for entry in entries], others):
            for path, mode, oid, size in zip(*files, strict=True):
                found.append(FileRow(path, mode, oid, (), mode, oid, size, ".."))
    found += build_rows(others, dirty, {})
    assert sorted(found, key=lambda row: raw(row.path)) == build_rows(entries, dirty, sizes)


@given(indexes())
def test_every_path_of_the_index_has_one_row_which_says_what_was_given(
    index: tuple[list[IndexEntry], list[DirtyFile], dict[str, int | None]],
) -> None:
    entries, dirty, sizes = index
    rows = build_rows(entries, dirty, sizes)
    assert [row.path for row in rows] == list(dict.fromkeys(entry.path for entry in entries))
    changed = {file.path: file for file in dirty}
    for row in rows:
        staged = [entry for entry in entries if entry.path == row.path]
        if staged[0].stage:
            assert row.stages == tuple((entry.mode, entry.oid, entry.stage) for entry in staged)
            assert (row.index_mode, row.index_id) == (None, None)
        else:
            assert (row.index_mode, row.index_id, row.stages) == (staged[0].mode, staged[0].oid, ())
        file = changed.get(row.path)
        if file is None:
            size = 0 if row.index_mode == "160000" else sizes[row.path]
            assert (row.mode, row.content_id, row.size_bytes, row.xy) == (row.index_mode, row.index_id, size, "..")
        else:
            assert (row.mode, row.content_id, row.size_bytes, row.xy) == (*file[2:5], file.xy)
        assert with_work_tree(row, file, row.size_bytes) == row
