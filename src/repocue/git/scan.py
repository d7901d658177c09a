"""One scan: everything git says about a work tree at one moment, as one consistent `Observation`.

`status` and `ls-files` run side by side, between two looks at the index and HEAD; where those moved, the scan is made
again. Files that differ from the index are then identified by content (`git.dirty`).
"""

from __future__ import annotations

import functools
import os
import stat
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from repocue.contracts.canonical import compact, digest_of
from repocue.domain.hashing import sha256
from repocue.domain.measurement import milliseconds
from repocue.domain.paths import display
from repocue.domain.state import CachedContent, DirtyFile, Known, Observation, ScanCost, UntrackedPath
from repocue.domain.times import rfc3339
from repocue.errors import GitFailed, RepositoryMoved
from repocue.git import hidden, listing, porcelain
from repocue.git.dirty import Candidate, Content, Identified, Identifier, Vanished
from repocue.git.folder import Folder
from repocue.git.process import Git
from repocue.git.rules import CONFIG_COMMAND, CONFIG_EXIT_CODES, Rules
from repocue.git.warnings import gather

if TYPE_CHECKING:
    from repocue.git.worktree import Worktree

Progress = Callable[[str, int, int | None], None]
"""Called now and then with (stage, done, total or None): `listing` counts bytes read, `content` files to identify."""

ATTEMPTS = 5
_NOTHING_KEPT: Mapping[str, CachedContent] = {}
_MISSING = Content(None, None, None)


def observe(
    worktree: Worktree,
    environ: Mapping[str, str],
    *,
    known: Known | None = None,
    progress: Progress | None = None,
    git: Git | None = None,
) -> Observation:
    """Observe `worktree`: two git processes, one more where content ids were kept, three more where some are missing.

    `known` is what an earlier scan left behind. Nothing in the repository is written; git itself may renew the time of
    a split index's shared file.

    Raises RepositoryMoved where the repository kept changing, GitFailed and RepositoryError as `Git.run` does.
    """
    git = git or Git.of(worktree, environ)
    started = time.perf_counter()
    processes = git.processes
    for _ in range(ATTEMPTS):
        basis = basis_stats(worktree)
        scan = _Scan(worktree, environ, git, known, progress)
        if basis_stats(worktree) != basis:
            continue
        try:
            return scan.observation(started, processes)
        except Vanished:
            continue
    raise RepositoryMoved(
        f"{display(worktree.root)} kept changing while it was observed ({ATTEMPTS} attempts)",
        hint="Try again when no other command is changing it.",
    )


class _Scan:
    """One attempt. Making it asks git; `observation` identifies contents and puts all together."""

    def __init__(
        self,
        worktree: Worktree,
        environ: Mapping[str, str],
        git: Git,
        known: Known | None,
        progress: Progress | None,
    ) -> None:
        self.worktree = worktree
        self.environ = environ
        self.git = git
        self.known = known
        self.progress = progress
        self.begun_ns = time.time_ns()
        children = [git.start(*porcelain.COMMAND)]
        try:
            children.append(git.start(*listing.COMMAND, ok=listing.EXIT_CODES))
            if known is not None and known.contents:
                children.append(git.start(*CONFIG_COMMAND, ok=CONFIG_EXIT_CODES))
            status, index, *config = children
            tick = None if progress is None else lambda: progress("listing", index.size, None)
            git.finish(index, tick=tick)
            if index.process.returncode:
                index = git.start(*listing.PLAIN_COMMAND)
                children.append(index)
                git.finish(index, tick=tick)
            # The listing is ready long before the status is: all that it says is read meanwhile.
            self.listing = listing.expand(git, listing.Listing(index.output(prefix=b"\0")), worktree.object_format)
            self.flagged = self.listing.flagged()
            self.gitlinks = self.listing.gitlinks()
            if known is None or known.index_token != self.listing.token:
                self.listing.entries_json()
            git.finish(status, *config, tick=tick)
        except BaseException:
            for child in children:
                child.end()
            raise
        self.errors = status.errors
        try:
            self.status = porcelain.parse(status.output())
        except ValueError as error:
            raise GitFailed(f"git status gave an answer that is not understood: {error}") from error
        self.config = config[0].output() if config else None

    def observation(self, started: float, processes_before: int) -> Observation:
        """Raises Vanished where a path is gone meanwhile."""
        found = Identified()
        with Folder(self.worktree.root) as folder:
            asides = self._identify(folder, found)
            dirty = self._dirty(folder, found, asides)
            untracked = tuple([_untracked(path, folder) for path in self.status.untracked])
        changed = self.status.changed
        staged = tuple([display(entry.path) for entry in changed if entry.xy[0] != "." and not entry.is_unmerged])
        unstaged = tuple([display(entry.path) for entry in changed if entry.xy[1] != "." and not entry.is_unmerged])
        unmerged = tuple([display(entry.path) for entry in changed if entry.is_unmerged])
        branch, head = branch_name(self.status.branch, self.worktree), self.status.head
        index_digest, repository_digest = self._digests(dirty)
        return Observation(
            object_format=self.worktree.object_format,
            branch=branch,
            head=head,
            staged=staged,
            unstaged=unstaged,
            untracked=untracked,
            unmerged=unmerged,
            dirty=dirty,
            index_token=self.listing.token,
            index_digest=index_digest,
            repository_digest=repository_digest,
            status_digest=digest_of(
                {
                    "branch": branch,
                    "head": head,
                    "staged": staged,
                    "unstaged": unstaged,
                    "untracked": [path.path for path in untracked],
                    "unmerged": unmerged,
                    "index_digest": index_digest,
                }
            ),
            observed_at=rfc3339(self.begun_ns // 1_000_000),
            warnings=gather(
                self.worktree,
                self.errors,
                found,
                asides.values(),
                untracked,
                self.gitlinks,
                len(self.listing.sparse_folders()),
            ),
            cost=ScanCost(
                duration_ms=milliseconds(time.perf_counter() - started),
                git_processes=self.git.processes - processes_before,
                files_scanned=self.listing.count + len(untracked),
                bytes_read=found.bytes_read,
            ),
            contents=found.keep,
            entries=self.listing.entries,
        )

    def _identify(self, folder: Folder, found: Identified) -> dict[bytes, hidden.Aside]:
        """Identify every changed file into `found`; returns what git did not look at, by path."""
        asides, present = hidden.absent(self.flagged, folder) if self.flagged else ({}, [])
        wanted = [
            Candidate(entry.path, entry.stages) for entry in self.status.changed if _without_reading(entry) is None
        ]
        wanted += hidden.candidates(present)
        if wanted:
            if self.progress is not None:
                self.progress("content", 0, len(wanted))
            Identifier(
                git=self.git,
                worktree=self.worktree,
                environ=self.environ,
                folder=folder,
                rules=functools.cache(lambda: self._rules(folder)),
                attributes=self.listing.attributes(),
                known=self.known.contents if self.known else _NOTHING_KEPT,
                begun_ns=self.begun_ns,
            ).identify(wanted, found)
            asides.update(hidden.edited(present, found.contents))
        if self.errors:
            seen = {entry[3] for entry in self.flagged}
            seen.update(entry.path for entry in self.status.changed if entry.xy[1] != ".")
            unseen = hidden.out_of_sight(self.listing.entries(), folder, seen)
            found.unreadable += len(unseen)
            asides.update(unseen)
        return asides

    def _rules(self, folder: Folder) -> Rules:
        if self.config is None:
            self.config = self.git.run(*CONFIG_COMMAND, ok=CONFIG_EXIT_CODES)
        return Rules(self.worktree, self.environ, folder, self.config, self.listing.attributes())

    def _dirty(self, folder: Folder, found: Identified, asides: dict[bytes, hidden.Aside]) -> tuple[DirtyFile, ...]:
        """The dirty files in git order."""
        files: list[tuple[bytes, DirtyFile]] = []
        rest = dict(asides)
        for entry in self.status.changed:
            xy = entry.xy
            if not entry.stages and xy[1] == ".":  # a staged deletion: no longer tracked
                continue
            aside = rest.pop(entry.path, None)
            if aside is not None:
                xy, content = xy[0] + aside.letter, aside.content
            else:
                content = _without_reading(entry) or found.contents[entry.path]
                if content.mode is not None and content.size_bytes is None:
                    content = content._replace(size_bytes=_size(entry.path, folder))
            files.append((entry.path, DirtyFile(display(entry.path), xy, *content)))
        if rest:
            files += [
                (path, DirtyFile(display(path), "." + aside.letter, *aside.content)) for path, aside in rest.items()
            ]
            files.sort(key=lambda item: item[0])
        return tuple([file for _, file in files])

    def _digests(self, dirty: tuple[DirtyFile, ...]) -> tuple[str, str]:
        """(index digest, repository digest), those of the earlier scan where nothing they cover differs."""
        known = self.known
        if known is not None and known.index_token == self.listing.token:
            if known.dirty == dirty:
                return known.index_digest, known.repository_digest
            index_digest = known.index_digest
        else:
            index_digest = index_digest_of(self.listing.entries_json())
        return index_digest, repository_digest_of(self.worktree.object_format, self.listing.entries_json(), dirty)


def index_digest_of(entries_json: bytes) -> str:
    """The digest of compact `{"entries":[[mode,id,stage,path],...]}`."""
    return "sha256:" + sha256(b'{"entries":%s}' % entries_json).hexdigest()


def repository_digest_of(object_format: str, entries_json: bytes, dirty: tuple[DirtyFile, ...]) -> str:
    """The digest of compact `{"object_format":…,"entries":…,"dirty_entries":[[path,mode|null,content_id|null],…]}`."""
    from hashlib import sha256 as of_a_stream

    digest = of_a_stream(b'{"object_format":%s,"entries":' % compact(object_format))
    digest.update(entries_json)
    digest.update(b',"dirty_entries":%s}' % compact(dirty_entries(dirty)))
    return "sha256:" + digest.hexdigest()


def dirty_entries(dirty: tuple[DirtyFile, ...]) -> list[tuple[str, str | None, str | None]]:
    """What digests cover of dirty files."""
    return [(file.path, file.mode, file.content_id) for file in dirty]


def basis_stats(worktree: Worktree) -> list[tuple[int, int, int, int] | None]:
    """Stats of what every change of index or HEAD touches."""
    found: list[tuple[int, int, int, int] | None] = []
    for path in (
        worktree.index_path,
        os.path.join(worktree.git_dir, b"HEAD"),
        os.path.join(worktree.git_dir, b"logs", b"HEAD"),
    ):
        try:
            seen = os.stat(path)
        except OSError:
            found.append(None)
        else:
            found.append((seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns))
    return found


def _without_reading(entry: porcelain.Changed) -> Content | None:
    """What stands at a changed path, where git's answer says it already."""
    if entry.worktree_mode == "000000":
        return _MISSING
    if entry.is_unmerged or not entry.stages:
        return None if entry.stages or entry.xy[1] != "." else _MISSING
    mode, oid, _ = entry.stages[0]
    if entry.xy[1] == ".":
        return Content(mode, oid, None)
    if mode == entry.worktree_mode == "160000" and entry.submodule[1] == ".":  # the commit is the index's
        return Content(mode, oid, 0)
    return None


def _size(path: bytes, folder: Folder) -> int | None:
    """The size of a file or link, 0 for a folder (a submodule), None where it cannot be seen or has none."""
    try:
        seen = folder.lstat(path)
    except OSError:
        return None
    if stat.S_ISDIR(seen.st_mode):
        return 0
    return seen.st_size if stat.S_ISREG(seen.st_mode) or stat.S_ISLNK(seen.st_mode) else None


def _untracked(path: bytes, folder: Folder) -> UntrackedPath:
    if path.endswith(b"/"):
        return UntrackedPath(display(path), "repository")
    try:
        mode = folder.lstat(path).st_mode
    except OSError:
        return UntrackedPath(display(path), "other")
    return UntrackedPath(display(path), "file" if stat.S_ISREG(mode) else "symlink" if stat.S_ISLNK(mode) else "other")


def branch_name(word: bytes | None, worktree: Worktree) -> str | None:
    """The branch's name, or None when detached: `(detached)` and `(unknown)` could also be a branch's name.

    Raises GitFailed (`git.damaged-head`) where git calls it unknown: the file of HEAD's branch is damaged, and git then
    shows the state of an unborn branch, with everything staged.
    """
    if word is None:
        return None
    if word in (b"(detached)", b"(unknown)"):
        try:
            with open(os.path.join(worktree.git_dir, b"HEAD"), "rb") as file:
                is_name = file.read(64) == b"ref: refs/heads/%s\n" % word
        except OSError:
            is_name = word == b"(detached)"
        if not is_name and word == b"(unknown)":
            raise GitFailed(
                f"git cannot say which commit HEAD is in {display(worktree.root)}: the reference it names is damaged",
                code="git.damaged-head",
                hint="See 'git symbolic-ref HEAD' and the file that it names in the git folder.",
            )
        if not is_name:
            return None
    return display(word)
