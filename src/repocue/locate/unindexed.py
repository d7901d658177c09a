"""Without an index: the same ranking over what `git grep` and `git log` find in a bounded time.

What is left out is said: the words of definitions, those of contents where `git grep` takes too long, and all
history but the newest commits. The findings fill an index in memory, so that there is one ranking and not two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from repocue.domain.paths import display
from repocue.errors import GitFailed
from repocue.locate import kinds, log, search
from repocue.locate.commits import Commits
from repocue.locate.extract import Extractor
from repocue.locate.words import Hashes, of_path, of_query
from repocue.store import locate_index as store

if TYPE_CHECKING:
    from repocue.git.process import Git
    from repocue.git.worktree import Worktree
    from repocue.store.database import Database

GREP_TIMEOUT_S: Final = 5.0
LOG_TIMEOUT_S: Final = 5.0
MAX_COMMITS: Final = 2_000
MAX_WORDS: Final = 30
MAX_OUTPUT_BYTES: Final = 48 << 20
_BYTES_PER_WORD: Final = 7
"""About how many bytes of source one counted word takes: lengths are judged by size here."""


def find(
    git: Git, query: str, changed: Sequence[search.Overlay], worktree: Worktree, *, explain: bool = False
) -> tuple[search.Found, dict[str, Any]]:
    """The answer, and what it was made from. Raises GitFailed where git cannot even list the files."""
    with store.in_memory() as database:
        files = _listed(git)
        try:
            counts = _grep(git, list(of_query(query))[:MAX_WORDS])
        except GitFailed:
            counts = None
        _fill(database, files, _sizes(git, files, counts or {}), counts or {})
        history = _history(git, database, worktree.is_shallow)
        found = search.find(database, query, changed, explain=explain)
    left_out = ["definitions"]
    if counts is None:
        left_out.insert(0, "contents")
    return found, {"source": "git", "history": history, "left_out": left_out}


def _listed(git: Git) -> dict[str, str]:
    """The blob ids of the regular files in git's index, by path."""
    files = {}
    for entry in git.run("ls-files", "-s", "-z").split(b"\0")[:-1]:
        words, _, path = entry.partition(b"\t")
        mode, oid, stage = words.split(b" ")
        if mode in (b"100644", b"100755") and stage == b"0":
            files[display(path)] = oid.decode()
    return files


def _grep(git: Git, words: Sequence[str]) -> dict[str, dict[str, int]]:
    """How often each word stands in each file, as a part of whatever word. Raises GitFailed."""
    if not words:
        return {}
    # The longest first: a regular expression takes the first alternative in POSIX by length anyway, others by order.
    pattern = "|".join(sorted(map(re.escape, words), key=lambda word: (-len(word), word)))
    output = git.run(
        "grep",
        "--cached",
        "-I",
        "-i",
        "-o",
        "-z",
        "--no-color",
        "--full-name",
        "-H",
        "-E",
        "-e",
        pattern,
        ok=(0, 1),
        timeout_s=GREP_TIMEOUT_S,
        limit_bytes=MAX_OUTPUT_BYTES,
        settings=("-c", "grep.lineNumber=false", "-c", "grep.column=false"),
    )
    counts: dict[str, dict[str, int]] = {}
    known = set(words)
    last, found = b"", {}
    for line in output.split(b"\n"):
        name, separator, text = line.partition(b"\0")
        if not separator:
            continue
        if name != last:
            last, found = name, counts.setdefault(display(name), {})
        word = text.decode("utf-8", "replace").lower()
        if word in known:
            found[word] = found.get(word, 0) + 1
    return counts


def _sizes(git: Git, files: dict[str, str], counts: dict[str, dict[str, int]]) -> dict[str, int]:
    blobs = sorted({files[path] for path in counts if path in files})
    if not blobs:
        return {}
    answer = git.run("cat-file", "--batch-check=%(objectsize)", stdin="\n".join(blobs).encode() + b"\n")
    sizes = zip(blobs, answer.split(b"\n"), strict=False)
    return {blob: int(size) for blob, size in sizes if size.isdigit()}


def _fill(database: Database, files: dict[str, str], sizes: dict[str, int], counts: dict[str, dict[str, int]]) -> None:
    columns = store.Columns("files")
    segmenter = store.Segmenter(database, "files")
    contents, paths = Hashes("content"), Hashes("path")
    rows = []
    for path, blob in files.items():
        skipped = kinds.skipped_by_path(path)
        size = sizes.get(blob, 0)
        if skipped is None and size > kinds.MAX_FILE_BYTES:
            skipped = "huge"
        words = of_path(path)
        unit = columns.add(
            kinds.kind_where_skipped(path, skipped),
            0 if skipped else size // _BYTES_PER_WORD,
            0,
            sum(words.values()),
        )
        segmenter.add(unit, paths.counts(words).items())
        if skipped is None and path in counts:
            found = contents.counts(counts[path])
            segmenter.add(unit, ((word, min(times, 255)) for word, times in found.items()))
        rows.append((unit, path, blob, skipped, store.path_hash(path)))
    segmenter.flush()
    database.run_many("INSERT INTO files VALUES (?, ?, ?, ?, ?)", rows)
    columns.save(database)
    store.set_meta(database, {"files-flushed": str(len(columns.state))})


def _history(git: Git, database: Database, is_shallow: bool) -> str:
    """Take in the newest commits; returns `complete`, `limited`, `shallow`, `none` or `unavailable`."""
    head = git.run("rev-parse", "-q", "--verify", "HEAD^{commit}", ok=(0, 1)).decode().strip()
    if not head:
        return "none"
    commits = Commits(database, git, Extractor(), None)
    try:
        commits.take(log.read(git, head, limit=MAX_COMMITS, timeout_s=LOG_TIMEOUT_S))
    except GitFailed:
        return "unavailable"
    if commits.seen >= MAX_COMMITS:
        return "limited"
    return "shallow" if is_shallow else "complete"
