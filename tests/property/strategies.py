"""Shared strategies: path texts, file rows and whole snapshots of them."""

from __future__ import annotations

from hypothesis import strategies as st

from repocue.domain.paths import display
from repocue.domain.state import FileRow

OIDS = ["1" * 40, "2" * 40, "3" * 40]
MODES = ["100644", "100755", "120000"]

_segments = st.sampled_from([b"a", b"b", b"README.md", b'"q', b"\xff", "é".encode(), b"x.py", b"Makefile", b"n\nl"])
path_bytes = st.lists(_segments, min_size=1, max_size=3).map(b"/".join)
path_texts = path_bytes.map(display)


@st.composite
def file_rows(draw: st.DrawFn, path: str) -> FileRow:
    """Any row that an observation can lead to: clean, dirty, missing, unreadable, unmerged."""
    shape = draw(st.sampled_from(["clean", "clean", "dirty", "missing", "unreadable", "unmerged"]))
    mode, oid = draw(st.sampled_from(MODES)), draw(st.sampled_from(OIDS))
    size = draw(st.sampled_from([0, 5, None]))
    if shape == "clean":
        return FileRow(path, mode, oid, (), mode, oid, size, "..")
    if shape == "dirty":
        return FileRow(path, mode, oid, (), draw(st.sampled_from(MODES)), draw(st.sampled_from(OIDS)), size, ".M")
    if shape == "missing":
        return FileRow(path, mode, oid, (), None, None, None, draw(st.sampled_from([".D", "MD", ".s"])))
    if shape == "unreadable":
        return FileRow(path, mode, oid, (), mode, None, size, ".M")
    stages = draw(st.sampled_from([((mode, oid, 2), (mode, OIDS[0], 3)), ((mode, oid, 1),)]))
    return FileRow(path, None, None, stages, draw(st.sampled_from(MODES)), oid, size, "UU")


@st.composite
def snapshots(draw: st.DrawFn, max_size: int = 8) -> list[FileRow]:
    """The rows of one snapshot: each path once, in no particular order."""
    paths = draw(st.lists(path_texts, unique=True, max_size=max_size))
    return [draw(file_rows(path)) for path in paths]
