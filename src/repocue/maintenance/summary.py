"""What cues need of a snapshot, counted when the snapshot is made and carried from one to the next.

A tally is the countable form: a change of few files adjusts it without looking at the others, and must give
what counting everything anew would give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec

from repocue.domain.paths import display, raw, sort_key
from repocue.domain.rows import SUBMODULE as _SUBMODULE
from repocue.domain.state import Summary
from repocue.maintenance.documents import PLAIN, PROSE, is_document, rank
from repocue.maintenance.languages import Languages

if TYPE_CHECKING:
    from repocue.domain.delta import Change
    from repocue.domain.state import FileRow

KEPT_AS = "tally"
"""The name under which the store keeps the current snapshot's tally."""

MAX_DOCUMENTS = 200
MAX_DEPTH_TWO = 2000

_LINK = "120000"

COUNTED: Callable[[FileRow], tuple[str, str | None, int | None]] = attrgetter("path", "mode", "size_bytes")
"""What of a row is counted."""


class Tally(msgspec.Struct, kw_only=True):
    """Counts over the present files of a snapshot (`tracked_files` alone counts missing ones too).

    `documents` are the first `MAX_DOCUMENTS` in ranked order; `languages` map a name to [files, bytes];
    `top_level` maps a root file or a depth-one directory (ending in "/") to its files, and `depth_two` likewise.
    The three maps are kept in the order in which `Summary` shows them.
    """

    tracked_files: int
    present_files: int
    size_bytes: int
    documents: list[str]
    documents_total: int
    languages: dict[str, list[int]]
    top_level: dict[str, int]
    depth_two: dict[str, int]
    language_library: str


def summarize(rows: Iterable[FileRow]) -> Summary:
    """The summary of a snapshot with these rows."""
    return summary_of(count(rows))


def summary_of(tally: Tally) -> Summary:
    """The summary that a tally stands for."""
    depth_one = tuple(_without_slash(path) for path in tally.top_level if _is_directory(path))
    depth_two = [_without_slash(path) for path, _ in zip(tally.depth_two, range(MAX_DEPTH_TWO), strict=False)]
    return Summary(
        tracked_files=tally.tracked_files,
        present_files=tally.present_files,
        size_bytes=tally.size_bytes,
        documents=tuple(tally.documents),
        documents_total=tally.documents_total,
        languages=tuple((name, files, size) for name, (files, size) in tally.languages.items()),
        top_level=tuple(tally.top_level.items()),
        directories=(depth_one, tuple(depth_two)),
        depth_two_total=len(tally.depth_two),
        language_library=tally.language_library,
    )


def count(rows: Iterable[FileRow]) -> Tally:
    """The tally of these rows, counted from nothing."""
    counter = Counter()
    counter.add(map(COUNTED, rows), 1)
    return counter.tally()


def adjust(tally: Tally, changes: Sequence[Change]) -> Tally | None:
    """The tally after `changes`, or None where only counting everything anew can tell.

    That is so where another version of the library named the languages, and where a listed document went while
    unlisted ones wait for its place.
    """
    counter = Counter()
    if counter.languages.library != tally.language_library:
        return None
    counter.start(tally)
    counter.add([COUNTED(change.before) for change in changes if change.before is not None], -1)
    counter.add([COUNTED(change.after) for change in changes if change.after is not None], 1)
    gone = counter.documents_gone.difference(counter.documents)
    if gone.intersection(tally.documents) and tally.documents_total > len(tally.documents):
        return None
    return counter.tally([path for path in tally.documents if path not in counter.documents_gone])


class _Kind:
    """Files whose names stand for one language: how many, their bytes, and whether they can be documents."""

    __slots__ = ("bytes", "files", "language", "may_be_document")

    def __init__(self, language: str | None) -> None:
        self.files = self.bytes = 0
        self.language = language
        self.may_be_document = language is None or language in PROSE or language == PLAIN


class Counter:
    """Collects counts by folder and by kind of name, then sorts them once."""

    def __init__(self) -> None:
        self.languages = Languages()
        self.documents: set[str] = set()
        self.documents_gone: set[str] = set()
        self._tracked = self._present = self._size = self._documents_total = 0
        self._kinds: dict[str, _Kind] = {}
        self._folders: dict[str, int] = {}
        self._by_language: dict[str, list[int]] = {}
        self._top_level: dict[str, int] = {}
        self._depth_two: dict[str, int] = {}

    def start(self, tally: Tally) -> None:
        """Begin with what was counted before instead of nothing."""
        self._tracked, self._present, self._size = tally.tracked_files, tally.present_files, tally.size_bytes
        self._documents_total = tally.documents_total
        self._by_language = {name: list(counts) for name, counts in tally.languages.items()}
        self._top_level = dict(tally.top_level)
        self._depth_two = dict(tally.depth_two)

    def add(self, files: Iterable[tuple[str, str | None, int | None]], sign: int) -> None:
        """Count files, each (path, mode, bytes), in (`sign` 1) or out (-1). Mode None is a missing file.

        A baseline counts every file here, so that each step is a cheap one.
        """
        folders, kinds, key_of = self._folders, self._kinds, self.languages.key
        tracked = present = bytes_ = 0
        for path, mode, size in files:
            tracked += 1
            if mode is None:
                continue
            present += 1
            if size is None:
                size = 0
            bytes_ += size
            if path[0] != '"':
                folder, _, name = path.rpartition("/")
            else:
                parent, _, last = raw(path).rpartition(b"/")
                folder, name = display(parent), last.decode("latin-1")
            if folder:
                folders[folder] = folders.get(folder, 0) + sign
            else:
                self._top_level[path] = self._top_level.get(path, 0) + sign
            if mode == _SUBMODULE:
                continue
            key = key_of(name)
            kind = kinds.get(key)
            if kind is None:
                kind = kinds[key] = _Kind(self.languages.name(name))
            if mode != _LINK:
                kind.files += sign
                kind.bytes += sign * size
            if kind.may_be_document and is_document(name, kind.language):
                self._documents_total += sign
                (self.documents if sign > 0 else self.documents_gone).add(path)
        self._tracked += sign * tracked
        self._present += sign * present
        self._size += sign * bytes_

    def tally(self, documents: Sequence[str] = ()) -> Tally:
        """The tally; `documents` are the listed ones of before that have not gone. Asked for once, at the end."""
        for folder, files in self._folders.items():
            parts = raw(folder).split(b"/")
            for depth, counts in ((1, self._top_level), (2, self._depth_two)):
                if len(parts) >= depth:
                    key = display(b"/".join(parts[:depth]) + b"/")
                    counts[key] = counts.get(key, 0) + files
        for kind in self._kinds.values():
            if kind.language is not None:
                language = self._by_language.setdefault(kind.language, [0, 0])
                language[0] += kind.files
                language[1] += kind.bytes
        ranked = sorted(self.documents.union(documents), key=rank)
        return Tally(
            tracked_files=self._tracked,
            present_files=self._present,
            size_bytes=self._size,
            documents=ranked[:MAX_DOCUMENTS],
            documents_total=self._documents_total,
            languages=dict(
                sorted(
                    ((name, counts) for name, counts in self._by_language.items() if counts[0]),
                    key=lambda item: (-item[1][1], item[0]),
                )
            ),
            top_level=_in_order(self._top_level),
            depth_two=_in_order(self._depth_two),
            language_library=self.languages.library,
        )


def _in_order(counts: dict[str, int]) -> dict[str, int]:
    return {path: counts[path] for path in sorted(counts, key=sort_key) if counts[path]}


def _is_directory(path: str) -> bool:
    return path.endswith("/") or (path[0] == '"' and path.endswith('/"'))


def _without_slash(path: str) -> str:
    return path[:-1] if path[0] != '"' else display(raw(path)[:-1])
