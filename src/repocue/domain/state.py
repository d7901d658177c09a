"""What one observation of a repository found, and the rows a snapshot keeps of it.

Paths are display text throughout (see `domain.paths`), which maps one-to-one to git's path bytes.
"In git order" means bytewise order of those bytes, then stage, as `git ls-files -s` prints them.

All are named tuples, also where few are made and keywords are used: every command defines them when it starts, and a
data class takes eight times as long to define.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

Freshness = Literal["current", "dirty-but-indexed", "refresh-needed", "unknown"]

PRESENT_KINDS = ("file", "symlink", "submodule")


class IndexEntry(NamedTuple):
    """One entry of git's index. `mode` is six octal digits, `oid` the full hex blob (or commit) id."""

    mode: str
    oid: str
    stage: int
    path: str


class DirtyFile(NamedTuple):
    """A tracked path whose work-tree state is not simply "equal to its stage-0 index entry".

    `xy` is porcelain v2's two letters (`.M`, `M.`, `UU`, …), so that a staged-only change is listed too;
    `mode` and `content_id` are what `git add` would record for the work tree's present state (the index's own
    where only staged); both None when the path is missing from the work tree. `content_id` alone is None when the
    path exists but could not be read; then a warning is raised. `size_bytes` is the work-tree file's size
    (link text length for a symlink, 0 for a submodule), None when missing.

    Beside git's own letters, `xy` is ".s" for a skip-worktree path that is not checked out (a sparse checkout), ".u"
    for a path that git itself could not look at (an unreadable folder), and ".m", ".t" or ".d" for an edit, type
    change or deletion that assume-unchanged or skip-worktree hides from git. Staged deletions are not listed: the
    index no longer tracks them.
    """

    path: str
    xy: str
    mode: str | None
    content_id: str | None
    size_bytes: int | None


class UntrackedPath(NamedTuple):
    """An untracked, non-ignored path as `git status -uall` lists it."""

    path: str
    kind: str
    """file, symlink, repository (a nested one) or other (FIFO, socket, device)."""


class Warning(NamedTuple):
    """Something a reader of the answer must know. `code` is a stable kebab-case name; `count` is how many."""

    code: str
    count: int | None = None  # type: ignore[assignment]  # the contract's word; nobody counts in this tuple


class FileStat(NamedTuple):
    """The key under which a dirty file's content id is kept (ARCHITECTURE §3)."""

    dev: int
    ino: int
    size: int
    mtime_ns: int
    ctime_ns: int


class CachedContent(NamedTuple):
    """A content id computed earlier, valid while the file's stat and the rules that turn it into a blob are unchanged.

    `rules` is a digest of those rules: attributes, filter configuration and the path's index entry.
    """

    stat: FileStat
    mode: str
    content_id: str
    rules: str = ""


class ScanCost(NamedTuple):
    """What one scan took. `files_scanned` counts index entries plus untracked paths looked at."""

    duration_ms: float
    git_processes: int
    files_scanned: int
    bytes_read: int


class Known(NamedTuple):
    """What an earlier scan left behind, so that the next one does only what changed.

    `index_token` identifies the raw `ls-files` answer; where it is equal again, `index_digest` is reused and
    entries are not parsed. `contents` is keyed by path.
    """

    index_token: str
    index_digest: str
    repository_digest: str
    dirty: tuple[DirtyFile, ...]
    contents: Mapping[str, CachedContent] = MappingProxyType({})


class Observation(NamedTuple):
    """One basis: everything git said at one moment, internally consistent.

    `staged`, `unstaged`, `untracked` and `unmerged` are path texts in git order; `branch` is None when detached,
    `head` None when unborn. `entries()` parses the index listing on first use and keeps it.
    `contents` holds the content ids worth keeping for the next scan.
    """

    object_format: str
    branch: str | None
    head: str | None
    staged: tuple[str, ...]
    unstaged: tuple[str, ...]
    untracked: tuple[UntrackedPath, ...]
    unmerged: tuple[str, ...]
    dirty: tuple[DirtyFile, ...]
    index_token: str
    index_digest: str
    repository_digest: str
    status_digest: str
    observed_at: str
    warnings: tuple[Warning, ...]
    cost: ScanCost
    contents: Mapping[str, CachedContent]
    entries: Callable[[], tuple[IndexEntry, ...]]

    @property
    def is_dirty(self) -> bool:
        """Whether anything differs from HEAD or is untracked. Paths left out by a sparse checkout do not count."""
        if self.staged or self.unstaged or self.untracked or self.unmerged:
            return True
        return any(file.xy not in (".s", ".u") for file in self.dirty)


class FileRow(NamedTuple):
    """One tracked path in one snapshot: the index's view and the work tree's.

    `index_mode`/`index_id` are the stage-0 entry, None while unmerged; `stages` then holds
    ((mode, id, stage), …) and is () otherwise. `mode`/`content_id` are the work tree's effective content as
    `git add` would record it; None when missing (or, `content_id` alone, unreadable). `xy` is ".." when clean.
    """

    path: str
    index_mode: str | None
    index_id: str | None
    stages: tuple[tuple[str, str, int], ...]
    mode: str | None
    content_id: str | None
    size_bytes: int | None
    xy: str

    @property
    def is_present(self) -> bool:
        """Whether the path exists in the work tree."""
        return self.mode is not None


class Summary(NamedTuple):
    """What cues need of a snapshot, aggregated when it is made so that no cue reads file rows.

    `documents` are document paths in the ranked order of the seed ("Experimental Ranked Selection"), at most
    200; `languages` are (name, files, bytes), most bytes first, ties by name; `top_level` are (path, files), a
    directory's path ending in "/", in bytewise order; `directories` are depth-one then depth-two directories,
    each group in bytewise order, without trailing slash, depth two at most 2000. Totals say what the bounds cut.
    """

    tracked_files: int
    present_files: int
    size_bytes: int
    documents: tuple[str, ...]
    documents_total: int
    languages: tuple[tuple[str, int, int], ...]
    top_level: tuple[tuple[str, int], ...]
    directories: tuple[tuple[str, ...], tuple[str, ...]]
    depth_two_total: int
    language_library: str
    """Name and version of the library that named the languages, e.g. `identify 2.6.20`."""


class SnapshotHeader(NamedTuple):
    """A snapshot's identity and basis, as every answer repeats it."""

    snapshot: str
    epoch: str
    branch: str | None
    head: str | None
    is_dirty: bool
    status_digest: str
    repository_digest: str
    index_digest: str
    observed_at: str
    warnings: tuple[Warning, ...]
