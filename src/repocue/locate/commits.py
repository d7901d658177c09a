"""The history's half of the index: commits by id, their words, and the paths they touched as hashes."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from repocue.errors import GitFailed
from repocue.locate import log
from repocue.locate.ranking import MAX_COMMIT_FILES
from repocue.store import locate_index as store

if TYPE_CHECKING:
    from collections.abc import Callable

    from repocue.git.process import Git
    from repocue.locate.extract import Extractor
    from repocue.locate.index import Target
    from repocue.store.database import Database

    Progress = Callable[[str, int, "int | None"], None]

MAX_LOOSE: Final = 256
"""Units that may stay outside the segments; a query looks at each of them."""
MAX_SEGMENTS: Final = 40
DEAD_ALLOWED: Final = 2_000
_BATCH: Final = 2_000
_EXTRA_COMMITS: Final = 2_000
"""How far an extended history may grow beyond a fresh one before it is read anew."""


class Commits:
    """The history's half. `seen` counts the commits that were read, kept or not."""

    def __init__(self, database: Database, git: Git, extractor: Extractor, progress: Progress | None) -> None:
        self.database = database
        self.git = git
        self.extractor = extractor
        self.progress = progress or silent
        self.columns = store.Columns.load(database, "commits")
        self.seen = 0

    def take(self, commits: Iterable[log.Logged]) -> None:
        """Add commits and finish. Raises GitFailed."""
        self._add(commits)
        self._settle()
        self.columns.save(self.database)

    def bring(self, known: Mapping[str, str], target: Target) -> str:
        """Take in HEAD's history; returns `complete`, `limited`, `shallow`, `none` or `unavailable`."""
        head = known.get("head")
        history = known.get("history", "")
        if target.head is None:
            self._forget()
            history = "none"
        elif head != target.head:
            extended = head and history in ("complete", "limited", "shallow") and self._extend(head, target.head)
            if not extended:
                self._forget()
                try:
                    self._add(log.read(self.git, target.head))
                except GitFailed:
                    self._forget()
                    history = "unavailable"
                else:
                    history = "limited" if self.seen >= log.MAX_COMMITS else "complete"
            if target.is_shallow and history == "complete":
                history = "shallow"
        self._settle()
        self.columns.save(self.database)
        return history

    def _forget(self) -> None:
        self.columns = store.Columns("commits")
        self.database.run("DELETE FROM commits")
        store.drop_postings(self.database, "commits")
        store.set_meta(self.database, {"commits-flushed": "0"})

    def _extend(self, old: str, new: str) -> bool:
        """Add what `new` has beyond `old` and drop what it lacks; whether that could be done."""
        try:
            compared = list(log.read(self.git, "--left-right", f"{old}...{new}", limit=_EXTRA_COMMITS + 1))
        except GitFailed:  # the old one is gone
            return False
        added = [commit for commit in compared if commit.side != "<"]
        if len(compared) > _EXTRA_COMMITS or self.columns.live + len(added) > log.MAX_COMMITS + _EXTRA_COMMITS:
            return False
        for commit in compared:
            if commit.side == "<":
                row = self.database.one("SELECT id FROM commits WHERE oid = ?", (commit.oid,))
                if row is not None:
                    self.columns.kill(row[0])
                    self.database.run("DELETE FROM commits WHERE id = ?", (row[0],))
        self._add(added)
        return len(self.columns.state) - self.columns.live <= DEAD_ALLOWED

    def _add(self, commits: Iterable[log.Logged]) -> None:
        rows = []
        names: dict[str, int] = {}
        for commit in commits:
            self.seen += 1
            touched = len(commit.paths)
            if not 0 < touched <= MAX_COMMIT_FILES:
                continue
            words, length, _, _ = self.extractor.message(commit.message)
            files = array("q")
            for path in commit.paths:
                found = names.get(path)
                if found is None:
                    found = names[path] = store.path_hash(path)
                files.append(found)
            unit = self.columns.add(0, length)
            rows.append((unit, commit.oid, commit.time_s, length, store.pack(words), touched, files.tobytes()))
            if len(rows) >= _BATCH:
                self._write(rows)
        self._write(rows)

    def _write(self, rows: list[tuple[int, str, int, int, bytes, int, bytes]]) -> None:
        self.database.run_many("INSERT OR REPLACE INTO commits VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        rows.clear()
        self.progress("Indexing commits", len(self.columns.state), None)

    def _settle(self) -> None:
        row = self.database.one("SELECT value FROM meta WHERE name = 'commits-flushed'")
        flushed = int(row[0]) if row else 0
        if len(self.columns.state) - flushed <= MAX_LOOSE:
            return
        if store.segment_count(self.database, "commits") > MAX_SEGMENTS:
            store.drop_postings(self.database, "commits")
            flushed = 0
        segmenter = store.Segmenter(self.database, "commits")
        for unit, _, _, data in store.forward(self.database, "commits", flushed):
            segmenter.add(unit, zip(*store.unpack(data), strict=True))
        segmenter.flush()
        store.set_meta(self.database, {"commits-flushed": str(len(self.columns.state))})


def silent(_what: str, _done: int, _total: int | None) -> None:
    """No one watches."""
