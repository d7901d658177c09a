"""Keeping the index: only blobs and commits that it has not seen are read.

An index is *extended* by the paths that changed; that makes it answer like a fresh one whatever came before, because
units that are gone are dead in every count. Once the dead or the loose ones are many it is folded: postings and ids
are made anew from the forward side, without reading the repository.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from repocue.domain.paths import raw
from repocue.errors import CacheDamaged, GitFailed
from repocue.git.process import PROMISED
from repocue.locate import kinds, log
from repocue.locate.extract import Extractor
from repocue.locate.ranking import MAX_COMMIT_FILES
from repocue.locate.words import Hashes, of_path
from repocue.store import locate_index as store
from repocue.store.lock import writer_lock

if TYPE_CHECKING:
    from repocue.git.process import Git
    from repocue.store.database import Database

Progress = Callable[[str, int, "int | None"], None]

MAX_LOOSE: Final = 256
"""Units that may stay outside the segments; a query looks at each of them."""
MAX_SEGMENTS: Final = 40
_DEAD_ALLOWED: Final = 2_000
_BATCH_BYTES: Final = 8 << 20
_BATCH_FILES: Final = 2_000
_EXTRA_COMMITS: Final = 2_000
"""How far an extended history may grow beyond a fresh one before it is read anew."""


class Target(NamedTuple):
    """What the index is to stand for: a snapshot's regular files (path → blob id) and HEAD.

    `state` names the files' state. `changes` are what differs from the state named `since` (None where a path is gone);
    `files` gives all.
    """

    state: str
    snapshot: str
    head: str | None
    is_shallow: bool
    files: Callable[[], Mapping[str, str]]
    since: str | None = None
    changes: Mapping[str, str | None] | None = None


def known_of(path: str) -> dict[str, str]:
    """What the index at `path` says of itself: `state`, `head`, `snapshot`, `history`; {} where it is unfit."""
    try:
        with store.open_index(path, write=False) as database:
            return store.meta(database)
    except CacheDamaged:
        return {}


def request(path: str) -> None:
    """Ask for an index: the next refresh builds it. Raises CacheError."""
    if not store.exists(path):
        store.create(path).close()


def update(path: str, git: Git, target: Target, progress: Progress | None = None) -> None:
    """Make the index at `path` stand for `target`, from nothing where it is missing or damaged.

    Raises CacheError, GitFailed; the index then stands for what it stood for.
    """
    with writer_lock(path + ".lock"):
        try:
            database = store.open_index(path, write=True)
        except CacheDamaged:
            database = store.create(path)
        except Exception:
            if store.exists(path):
                raise
            database = store.create(path)
        try:
            _update(database, git, target, progress)
        except CacheDamaged:
            database.close()
            database = store.create(path)
            _update(database, git, target, progress)
        finally:
            database.close()


def _update(database: Database, git: Git, target: Target, progress: Progress | None) -> None:
    if progress is None:
        progress = _silent
    known = store.meta(database)
    if known.get("state") == target.state and known.get("head") == (target.head or ""):
        return
    extractor = Extractor()
    database.run("PRAGMA synchronous = OFF")
    with database.writing(durable=False):
        _Files(database, git, extractor, progress).bring(known.get("state"), target)
        history = Commits(database, git, extractor, progress).bring(known, target)
        store.set_meta(
            database,
            {"state": target.state, "head": target.head or "", "snapshot": target.snapshot, "history": history},
        )


class _Files:
    """The files' half."""

    def __init__(self, database: Database, git: Git, extractor: Extractor, progress: Progress) -> None:
        self.database = database
        self.git = git
        self.extractor = extractor
        self.progress = progress
        self.columns = store.Columns.load(database, "files")

    def bring(self, state: str | None, target: Target) -> None:
        if target.changes is not None and state is not None and state == target.since:
            self._apply(self._wanted(target.changes))
        else:
            self._apply(self._difference(target.files()))
        if len(self.columns.state) - self.columns.live > max(_DEAD_ALLOWED, self.columns.live):
            self._fold()
        self._settle()
        self.columns.save(self.database)

    def _wanted(self, changes: Mapping[str, str | None]) -> dict[str, str | None]:
        attributes = any(path.rpartition("/")[2] == ".gitattributes" for path in changes)
        if not attributes:
            return dict(changes)
        return {**dict(self.database.all("SELECT path, blob FROM files")), **changes}

    def _difference(self, files: Mapping[str, str]) -> dict[str, str | None]:
        have = dict(self.database.all("SELECT path, blob FROM files"))
        attributes = {path for path in {*have, *files} if path.rpartition("/")[2] == ".gitattributes"}
        if any(have.get(path) != files.get(path) for path in attributes):
            have_blob: dict[str, str] = {}
        else:
            have_blob = have
        wanted: dict[str, str | None] = {path: None for path in have if path not in files}
        wanted.update((path, blob) for path, blob in files.items() if have_blob.get(path) != blob)
        return wanted

    def _apply(self, wanted: Mapping[str, str | None]) -> None:
        run = self.database.run
        old = dict(self.database.all("SELECT path, id FROM files")) if len(wanted) > 500 else {}
        for path in wanted:
            if old:
                unit = old.get(path)
            else:
                row = self.database.one("SELECT id FROM files WHERE path = ?", (path,))
                unit = None if row is None else row[0]
            if unit is not None:
                self.columns.kill(unit)
                run("DELETE FROM files WHERE id = ?", (unit,))
        new = {path: blob for path, blob in wanted.items() if blob is not None}
        if not new:
            return
        told = self._attributes(list(new))
        read = self._contents({blob for path, blob in new.items() if path not in told})
        rows = []
        for path in sorted(new):
            blob = new[path]
            skipped = told.get(path) or kinds.skipped_by_path(path)
            length, definitions, by_content = read.get(blob) or self._content(blob)
            if skipped or by_content:
                length = definitions = 0
            kind = kinds.kind_where_skipped(path, skipped or by_content)
            unit = self.columns.add(kind, length, definitions, sum(of_path(path).values()))
            rows.append((unit, path, blob, skipped, store.path_hash(path)))
        self.database.run_many("INSERT INTO files VALUES (?, ?, ?, ?, ?)", rows)

    def _attributes(self, paths: Sequence[str]) -> dict[str, str]:
        """Which paths git's attributes call generated, vendored or binary."""
        answer = self.git.run(
            "check-attr",
            "--cached",
            "-z",
            "--stdin",
            "linguist-generated",
            "linguist-vendored",
            "diff",
            stdin=b"\0".join(raw(path) for path in paths) + b"\0",
        ).split(b"\0")
        names = {b"linguist-generated": "generated", b"linguist-vendored": "vendored"}
        told: dict[str, str] = {}
        for position in range(0, len(answer) - 2, 3):
            attribute, value = answer[position + 1], answer[position + 2]
            name = names.get(attribute) if value in (b"set", b"true") else None
            if attribute == b"diff" and value == b"unset":
                name = "binary"
            if name is not None:
                told.setdefault(paths[position // 9], name)
        return told

    def _content(self, blob: str) -> tuple[int, int, str | None]:
        row = self.database.one("SELECT length, definitions, skipped FROM contents WHERE blob = ?", (blob,))
        if row is None:  # its path's attributes say not to read it: known by name alone
            self.database.run("INSERT OR IGNORE INTO contents VALUES (?, 'unread', 0, 0, ?)", (blob, b""))
            return 0, 0, "unread"
        return row[0], row[1], row[2]

    def _contents(self, wanted: set[str]) -> dict[str, tuple[int, int, str | None]]:
        """Read the blobs that the index has not seen; what is known of each."""
        run = self.database.one
        missing = sorted(
            blob
            for blob in wanted
            if (row := run("SELECT skipped FROM contents WHERE blob = ?", (blob,))) is None
            or row[0] in ("unread", "absent")
        )
        known: dict[str, tuple[int, int, str | None]] = {}
        if not missing:
            return known
        sizes = self._sizes(missing)
        batch: list[str] = []
        size = 0
        for position, (blob, line) in enumerate(zip(missing, sizes, strict=True)):
            kind, _, number = line.partition(b" ")
            if kind != b"blob" or not number.isdigit() or int(number) > kinds.MAX_FILE_BYTES:
                known[blob] = (0, 0, "huge" if kind == b"blob" else "absent")
                self.database.run("INSERT OR REPLACE INTO contents VALUES (?, ?, 0, 0, ?)", (blob, known[blob][2], b""))
                continue
            if batch and (size + int(number) > _BATCH_BYTES or len(batch) >= _BATCH_FILES):
                self._read(batch, known)
                batch, size = [], 0
                self.progress("Indexing words", position, len(missing))
            batch.append(blob)
            size += int(number)
        self._read(batch, known)
        return known

    def _sizes(self, blobs: Sequence[str]) -> list[bytes]:
        """`blob <size>` for each; something else where it is no blob or not here.

        In a partial clone git ends at the first object that it would have to fetch: then the rest is asked again.
        """
        answers: list[bytes] = []
        while len(answers) < len(blobs):
            asked = "\n".join(blobs[len(answers) :]).encode() + b"\n"
            child = self.git.start("cat-file", "--batch-check=%(objecttype) %(objectsize)", stdin=asked, ok=(0, 128))
            self.git.finish(child)
            answers += child.output().splitlines()
            if child.process.returncode:
                if PROMISED not in child.errors:
                    raise self.git.failure(child)
                answers.append(b"absent")
        return answers

    def _read(self, batch: Sequence[str], known: dict[str, tuple[int, int, str | None]]) -> None:
        from repocue.git import content

        if not batch:
            return
        found = content.blobs(self.git, batch)
        rows = []
        for blob in batch:
            if blob in found:
                words, length, definitions, skipped = self.extractor.file(found.pop(blob))
            else:
                words, length, definitions, skipped = {}, 0, 0, "absent"
            known[blob] = (length, definitions, skipped)
            rows.append((blob, skipped, length, definitions, store.pack(words)))
        self.database.run_many("INSERT OR REPLACE INTO contents VALUES (?, ?, ?, ?, ?)", rows)

    def _settle(self) -> None:
        """Write loose units into a segment where they are too many; fold where the segments are."""
        row = self.database.one("SELECT value FROM meta WHERE name = 'files-flushed'")
        flushed = int(row[0]) if row else 0
        if len(self.columns.state) - flushed <= MAX_LOOSE:
            return
        if store.segment_count(self.database, "files") > MAX_SEGMENTS:
            self._fold()
            flushed = 0
        segmenter = store.Segmenter(self.database, "files")
        hashes = Hashes("path")
        for unit, path, skipped, data in store.forward(self.database, "files", flushed):
            segmenter.add(unit, hashes.counts(of_path(path)).items())
            if skipped is None:
                segmenter.add(unit, zip(*store.unpack(data), strict=True))
        segmenter.flush()
        store.set_meta(self.database, {"files-flushed": str(len(self.columns.state))})

    def _fold(self) -> None:
        """Give every live file a new id, forget contents that none has, and all postings."""
        old = self.columns
        self.columns = store.Columns("files")
        rows = self.database.all("SELECT id, path, blob, skipped, hash FROM files ORDER BY id")
        renewed = [
            (self.columns.add(old.state[unit], old.lengths[unit], old.definitions[unit], old.paths[unit]), *rest)
            for unit, *rest in rows
        ]
        self.database.run("DELETE FROM files")
        self.database.run_many("INSERT INTO files VALUES (?, ?, ?, ?, ?)", renewed)
        self.database.run("DELETE FROM contents WHERE blob NOT IN (SELECT blob FROM files)")
        store.drop_postings(self.database, "files")
        store.set_meta(self.database, {"files-flushed": "0"})


class Commits:
    """The history's half. `seen` counts the commits that were read, kept or not."""

    def __init__(self, database: Database, git: Git, extractor: Extractor, progress: Progress | None) -> None:
        self.database = database
        self.git = git
        self.extractor = extractor
        self.progress = progress or _silent
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
        return len(self.columns.state) - self.columns.live <= _DEAD_ALLOWED

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
            if len(rows) >= _BATCH_FILES:
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


def _silent(_what: str, _done: int, _total: int | None) -> None:
    """No one watches."""
