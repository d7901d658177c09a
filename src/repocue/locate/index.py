"""Keeping the index: only blobs and commits that it has not seen are read.

An index is *extended* by the paths that changed; that makes it answer like a fresh one whatever came before, because
units that are gone are dead in every count. Once the dead or the loose ones are many it is folded: postings and ids
are made anew from the forward side, without reading the repository.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from repocue.domain.paths import raw
from repocue.errors import CacheDamaged
from repocue.git.process import PROMISED
from repocue.locate import commits, kinds
from repocue.locate.extract import Extractor
from repocue.locate.words import Hashes, of_path
from repocue.store import locate_index as store
from repocue.store.lock import writer_lock

if TYPE_CHECKING:
    from repocue.git.process import Git
    from repocue.store.database import Database

Progress = Callable[[str, int, "int | None"], None]

_BATCH_BYTES: Final = 8 << 20
_BATCH_FILES: Final = 2_000


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
        progress = commits.silent
    known = store.meta(database)
    if known.get("state") == target.state and known.get("head") == (target.head or ""):
        return
    extractor = Extractor()
    database.run("PRAGMA synchronous = OFF")
    with database.writing(durable=False):
        _Files(database, git, extractor, progress).bring(known.get("state"), target)
        history = commits.Commits(database, git, extractor, progress).bring(known, target)
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
        if len(self.columns.state) - self.columns.live > max(commits.DEAD_ALLOWED, self.columns.live):
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
        if len(self.columns.state) - flushed <= commits.MAX_LOOSE:
            return
        if store.segment_count(self.database, "files") > commits.MAX_SEGMENTS:
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
