"""The locate index: one SQLite file beside the state database, derived and deletable.

It holds no text of the repository but paths: words are 64-bit hashes. `contents` and `commits` are the *forward* side,
keyed by blob and commit id, so that nothing read once is read again; `postings` are the other way round, in segments
that are only ever appended, since rewriting a thousand words for one changed file would cost more than finding them.
Units (files or commits) newer than the last segment are few and are found by their forward side. What is asked of
every unit (is it alive, how long is it) lies in one array a column, read whole.

Nothing is synced: after a power failure the file may be damaged, and a damaged index is simply made anew.
"""

from __future__ import annotations

import os
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final, Literal, NamedTuple

from repocue.store import faults
from repocue.store.database import Database
from repocue.store.location import FILE_MODE, folder_error

VERSION: Final = 1
"""Of this file and of the extractor whose words it holds; another one's file is made anew."""
_APPLICATION_ID: Final = 0x52434C49  # "RCLI"
DEAD: Final = 255
_WAIT_S: Final = {"rw": 10.0, "ro": 2.0}
"""A reader has another way to answer, so it waits less."""

_TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID",
    "CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, blob TEXT NOT NULL, skipped TEXT,"
    " hash INTEGER NOT NULL)",
    "CREATE INDEX files_by_hash ON files (hash)",
    "CREATE TABLE contents (blob TEXT PRIMARY KEY, skipped TEXT, length INTEGER NOT NULL,"
    " definitions INTEGER NOT NULL, words BLOB NOT NULL)",
    "CREATE TABLE commits (id INTEGER PRIMARY KEY, oid TEXT NOT NULL UNIQUE, time INTEGER NOT NULL,"
    " length INTEGER NOT NULL, words BLOB NOT NULL, touched INTEGER NOT NULL, files BLOB NOT NULL)",
    "CREATE INDEX commits_by_time ON commits (time, oid)",
    "CREATE TABLE segments (id INTEGER PRIMARY KEY, space TEXT NOT NULL)",
    "CREATE TABLE postings (segment INTEGER, word INTEGER, data BLOB NOT NULL, PRIMARY KEY (segment, word))"
    " WITHOUT ROWID",
    "CREATE TABLE columns (name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID",
)

Space = Literal["files", "commits"]
Words = dict[int, int]


class Commit(NamedTuple):
    """A commit as it is kept: `files` are hashes of the touched paths, empty where `touched` is too many to tell."""

    oid: str
    time_s: int
    touched: int
    files: tuple[int, ...]


def index_path(state_path: str) -> str:
    """Where the index of a state lies."""
    return os.path.join(os.path.dirname(state_path), "locate.db")


def exists(path: str) -> bool:
    """Whether an index was ever asked for."""
    return os.path.isfile(path)


def in_memory() -> Database:
    """An empty index that lives as long as its connection."""
    database = Database(sqlite3.connect(":memory:", isolation_level=None), ":memory:")
    for statement in _TABLES:
        database.run(statement)
    return database


def create(path: str) -> Database:
    """An empty index in place of any other, open for writing. Raises CacheError."""
    try:
        for companion in ("", "-journal", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.unlink(path + companion)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE))
    except OSError as error:
        raise folder_error(error, path) from error
    database = _connect(path, "rw")
    with database.writing(durable=False):
        for statement in _TABLES:
            database.run(statement)
        database.run(f"PRAGMA application_id = {_APPLICATION_ID}")
        database.run(f"PRAGMA user_version = {VERSION}")
    return _tuned(database)


def open_index(path: str, *, write: bool) -> Database:
    """Open an index; raises CacheDamaged where it is no index of this version, or another CacheError."""
    database = _connect(path, "rw" if write else "ro")
    try:
        found = database.one("PRAGMA application_id"), database.one("PRAGMA user_version")
        if found != ((_APPLICATION_ID,), (VERSION,)):
            raise faults.damaged(path, "it is no index of this version")
        if database.one("SELECT count(*) FROM sqlite_master WHERE type = 'table'") != (7,):
            raise faults.damaged(path, "its tables are not those of an index")
    except BaseException:
        database.close()
        raise
    return _tuned(database) if write else database


def _tuned(database: Database) -> Database:
    database.run("PRAGMA cache_size = -8000")
    return database


def _connect(path: str, mode: str) -> Database:
    escaped = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        connection = sqlite3.connect(
            f"file:{escaped}?mode={mode}", uri=True, timeout=_WAIT_S[mode], isolation_level=None
        )
    except sqlite3.Error as error:
        raise faults.translate(error, path) from error
    return Database(connection, path)


def meta(database: Database) -> dict[str, str]:
    """Every named value."""
    return {str(name): str(value) for name, value in database.each("SELECT name, value FROM meta")}


def set_meta(database: Database, values: dict[str, str]) -> None:
    """Keep named values."""
    database.run_many("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))


def pack(words: Words) -> bytes:
    """Counts by hash as bytes: the hashes ascending, then one byte a count (255 stands for more)."""
    hashes = array("q", sorted(words))
    return hashes.tobytes() + bytes(min(words[word], 255) for word in hashes)


def unpack(data: bytes) -> tuple[array[int], bytes]:
    """The hashes, ascending, and their counts; raises CacheDamaged where the bytes are no such thing."""
    count, rest = divmod(len(data), 9)
    if rest:
        raise faults.damaged("locate.db", "a word list has a wrong length")
    hashes = array("q")
    hashes.frombytes(data[: 8 * count])
    return hashes, data[8 * count :]


class Columns:
    """One array per attribute of the units of a space, by id. `state` is DEAD or the unit's kind."""

    __slots__ = ("definitions", "lengths", "paths", "space", "state")

    def __init__(self, space: Space) -> None:
        self.space = space
        self.state = bytearray()
        self.lengths = array("I")
        self.definitions = array("I")
        self.paths = array("H")

    @classmethod
    def load(cls, database: Database, space: Space) -> Columns:
        """Read all; raises CacheDamaged where they are of different lengths."""
        columns = cls(space)
        for name, data in database.all("SELECT name, data FROM columns WHERE name LIKE ?", (space + "-%",)):
            target = getattr(columns, str(name).partition("-")[2])
            target.extend(data) if isinstance(target, bytearray) else target.frombytes(data)
        if len({len(columns.state), len(columns.lengths), len(columns.definitions), len(columns.paths)}) != 1:
            raise faults.damaged(database.path, "its columns are of different lengths")
        return columns

    def save(self, database: Database) -> None:
        """Write all."""
        named = {"state": self.state, "lengths": self.lengths, "definitions": self.definitions, "paths": self.paths}
        database.run_many(
            "INSERT OR REPLACE INTO columns VALUES (?, ?)",
            [(f"{self.space}-{name}", bytes(values)) for name, values in named.items()],
        )

    def kill(self, unit: int) -> None:
        """Take a unit out of every count."""
        self.state[unit] = DEAD
        self.lengths[unit] = self.definitions[unit] = self.paths[unit] = 0

    @property
    def live(self) -> int:
        """How many units are alive."""
        return len(self.state) - self.state.count(DEAD)

    def dead(self) -> list[int]:
        """The ids of the others, ascending."""
        found = []
        at = self.state.find(DEAD)
        while at >= 0:
            found.append(at)
            at = self.state.find(DEAD, at + 1)
        return found

    def add(self, kind: int, length: int, definitions: int = 0, path: int = 0) -> int:
        """A new unit's id."""
        self.state.append(kind)
        self.lengths.append(length)
        self.definitions.append(definitions)
        self.paths.append(min(path, 65_535))
        return len(self.state) - 1


class Segmenter:
    """Collects units' words and writes them as segments of bounded size."""

    PAIRS: Final = 300_000
    """(unit, word) pairs in one segment: what bounds the memory of building."""

    def __init__(self, database: Database, space: Space) -> None:
        self._database = database
        self._space = space
        self._ids: dict[int, array[int]] = {}
        self._times: dict[int, bytearray] = {}
        self._pairs = 0

    def add(self, unit: int, words: Iterable[tuple[int, int]]) -> None:
        """Add a unit with its (hash, count of at most 255) pairs; units must come in ascending order."""
        ids, all_times = self._ids, self._times
        pairs = 0
        for word, times in words:
            found = ids.get(word)
            if found is None:
                ids[word] = array("I", (unit,))
                all_times[word] = bytearray((times,))
            else:
                found.append(unit)
                all_times[word].append(times)
            pairs += 1
        self._pairs += pairs
        if self._pairs >= self.PAIRS:
            self.flush()

    def flush(self) -> None:
        """Write what is collected."""
        if not self._ids:
            return
        self._database.run("INSERT INTO segments (space) VALUES (?)", (self._space,))
        row = self._database.one("SELECT max(id) FROM segments")
        segment = row[0] if row else 0
        self._database.run_many(
            "INSERT INTO postings VALUES (?, ?, ?)",
            ((segment, word, self._ids[word].tobytes() + self._times[word]) for word in sorted(self._ids)),
        )
        self._ids.clear()
        self._times.clear()
        self._pairs = 0


def drop_postings(database: Database, space: Space) -> None:
    """Forget the segments of a space."""
    database.run("DELETE FROM postings WHERE segment IN (SELECT id FROM segments WHERE space = ?)", (space,))
    database.run("DELETE FROM segments WHERE space = ?", (space,))


def segment_count(database: Database, space: Space) -> int:
    """How many segments a space has."""
    row = database.one("SELECT count(*) FROM segments WHERE space = ?", (space,))
    return int(row[0]) if row else 0


def postings(database: Database, space: Space, words: Sequence[int]) -> dict[int, tuple[array[int], bytearray]]:
    """For each word that any segment holds: the units, ascending, and the counts beside them."""
    found: dict[int, tuple[array[int], bytearray]] = {}
    marks = ",".join("?" * len(words))
    for (segment,) in database.all("SELECT id FROM segments WHERE space = ? ORDER BY id", (space,)):
        for word, data in database.each(
            f"SELECT word, data FROM postings WHERE segment = ? AND word IN ({marks})",  # noqa: S608 - marks only
            (segment, *words),
        ):
            ids, times = found.setdefault(word, (array("I"), bytearray()))
            count, rest = divmod(len(data), 5)
            if rest:
                raise faults.damaged(database.path, "a posting has a wrong length")
            ids.frombytes(data[: 4 * count])
            times += data[4 * count :]
    return found


def forward(database: Database, space: Space, since: int) -> Iterator[tuple[int, str, str | None, bytes]]:
    """(id, path or commit id, why it was skipped, packed words) of every live unit from an id on, ascending."""
    if space == "files":
        return database.each(
            "SELECT f.id, f.path, coalesce(f.skipped, c.skipped), c.words"
            " FROM files f JOIN contents c ON c.blob = f.blob"
            " WHERE f.id >= ? ORDER BY f.id",
            (since,),
        )
    return database.each("SELECT id, oid, NULL, words FROM commits WHERE id >= ? ORDER BY id", (since,))


def path_hash(path: str) -> int:
    """The 64-bit name of a path in a commit's list."""
    from hashlib import blake2b

    return int.from_bytes(blake2b(path.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 1


def ids_by_hash(database: Database, hashes: Sequence[int]) -> dict[int, int]:
    """The ids of live files by the hash of their path."""
    found: dict[int, int] = {}
    for start in range(0, len(hashes), 500):
        part = hashes[start : start + 500]
        marks = ",".join("?" * len(part))
        found.update(database.all(f"SELECT hash, id FROM files WHERE hash IN ({marks})", part))  # noqa: S608 - marks only
    return found


def commit_rows(database: Database, ids: Sequence[int]) -> dict[int, Commit]:
    """Commits by id."""
    found = {}
    for start in range(0, len(ids), 500):
        part = ids[start : start + 500]
        marks = ",".join("?" * len(part))
        for unit, *row in database.each(
            f"SELECT id, oid, time, touched, files FROM commits WHERE id IN ({marks})",  # noqa: S608 - marks only
            part,
        ):
            found[unit] = _commit(row)
    return found


def newest_commits(database: Database, count: int) -> list[Commit]:
    """The newest commits, by time and then id, newest first."""
    rows = database.each("SELECT oid, time, touched, files FROM commits ORDER BY time DESC, oid LIMIT ?", (count,))
    return [_commit(row) for row in rows]


def _commit(row: Sequence[object]) -> Commit:
    oid, time_s, touched, data = row
    files = array("q")
    if not isinstance(data, bytes) or len(data) % 8 or not isinstance(time_s, int) or not isinstance(touched, int):
        raise faults.damaged("locate.db", "a commit is not one of ours")
    files.frombytes(data)
    return Commit(str(oid), time_s, touched, tuple(files))
