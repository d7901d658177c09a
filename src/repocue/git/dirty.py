"""Content ids of work-tree files: exactly what `git add` would record, without writing into the repository.

A temporary index outside the repository gets the paths' present entries, since line-ending and mode rules look at
them, and the tracked `.gitattributes`, since git reads those from the index where they are not checked out. Then
`update-index --add --info-only` does all that `git add` does except storing the blob: filters, line endings, symlinks,
submodules, type changes. So a huge file costs one read and no disk. (`hash-object` differs: it follows symlinks, knows
no submodules and no mode, and takes no NUL-separated paths.)
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from repocue.domain.paths import display
from repocue.domain.state import CachedContent
from repocue.errors import RepositoryMoved
from repocue.git.folder import file_stat, is_settled
from repocue.git.scratch import Scratch

if TYPE_CHECKING:
    from repocue.git.folder import Folder
    from repocue.git.process import Git
    from repocue.git.rules import Rules
    from repocue.git.worktree import Worktree

ADD_SETTINGS = (
    "-c",
    "core.splitIndex=false",  # else the temporary index's shared part is written into the repository
    "-c",
    "index.sparse=false",
    "-c",
    "core.compression=0",  # what is too large for memory is deflated even though nothing is stored
)
_SUBMODULE = "160000"
_TRIES = 3
_MAX_FAILURES = 32


class Candidate:
    """A path to identify. `stages` are its index entries ((mode, id, stage), …), empty for an intent to add."""

    __slots__ = ("path", "stages")

    def __init__(self, path: bytes, stages: tuple[tuple[str, str, int], ...]) -> None:
        self.path = path
        self.stages = stages


class Content(NamedTuple):
    """What stands at a path. `content_id` is None where it could not be read, `mode` None where nothing is there."""

    mode: str | None
    content_id: str | None
    size_bytes: int | None


class Vanished(Exception):
    """A path disappeared between git's answer and ours: the observation must be made again."""


class Identified:
    """The contents found, by path, and what to keep for the next scan; counts of what could not be identified."""

    __slots__ = ("bytes_read", "contents", "keep", "refused", "special", "unreadable")

    def __init__(self) -> None:
        self.contents: dict[bytes, Content] = {}
        self.keep: dict[str, CachedContent] = {}
        self.bytes_read = 0
        self.unreadable = 0
        self.special = 0
        self.refused = 0


class Identifier:
    """Finds content ids in one work tree.

    `rules` and `attributes` are the conversion rules and the index's `.gitattributes`; `known` are ids kept by an
    earlier scan, by path text; `begun_ns` is when this scan began.
    """

    def __init__(
        self,
        *,
        git: Git,
        worktree: Worktree,
        environ: Mapping[str, str],
        folder: Folder,
        rules: Callable[[], Rules],
        attributes: Sequence[tuple[bytes, bytes, bytes]],
        known: Mapping[str, CachedContent],
        begun_ns: int,
    ) -> None:
        self.git = git
        self.worktree = worktree
        self.environ = environ
        self.folder = folder
        self.rules = rules
        self.attributes = attributes
        self.known = known
        self.begun_ns = begun_ns

    def identify(self, candidates: Iterable[Candidate], found: Identified) -> None:
        """Put the content of each candidate into `found`, hashing only what `known` does not answer.

        Raises Vanished where a path is gone, RepositoryMoved where one keeps changing while it is read.
        """
        pending: list[Candidate] = []
        stats: dict[bytes, os.stat_result] = {}
        for candidate in candidates:
            path = candidate.path
            seen = self._lstat(path, found)
            if seen is None:
                continue
            stats[path] = seen
            if self._answered(candidate, seen, found):
                continue
            if stat.S_ISREG(seen.st_mode) and not self._may_read(path):
                found.contents[path] = Content(_regular_mode(seen), None, seen.st_size)
                found.unreadable += 1
            elif not (stat.S_ISREG(seen.st_mode) or stat.S_ISLNK(seen.st_mode) or stat.S_ISDIR(seen.st_mode)):
                found.contents[path] = Content(_regular_mode(seen), None, None)
                found.special += 1
            else:
                pending.append(candidate)
        for _ in range(_TRIES):
            if not pending:
                return
            pending = self._hash(pending, stats, found)
        if pending:
            raise RepositoryMoved(
                f"{display(pending[0].path)} kept changing while it was read",
                hint="Try again when nothing writes to it.",
            )

    def _lstat(self, path: bytes, found: Identified) -> os.stat_result | None:
        try:
            return self.folder.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            raise Vanished from None
        except OSError:
            found.contents[path] = Content("100644", None, None)
            found.unreadable += 1
            return None

    def _may_read(self, path: bytes) -> bool:
        try:
            os.close(self.folder.open(path))
        except OSError:
            return False
        return True

    def _answered(self, candidate: Candidate, seen: os.stat_result, found: Identified) -> bool:
        text = display(candidate.path)
        kept = self.known.get(text)
        if kept is None or kept.stat != file_stat(seen) or stat.S_ISDIR(seen.st_mode):
            return False
        if kept.rules != self.rules().of(candidate.path, candidate.stages):
            return False
        found.contents[candidate.path] = Content(kept.mode, kept.content_id, seen.st_size)
        found.keep[text] = kept
        return True

    def _hash(
        self, candidates: list[Candidate], stats: dict[bytes, os.stat_result], found: Identified
    ) -> list[Candidate]:
        """Hash `candidates`; returns those that changed meanwhile, with `stats` renewed."""
        rules = self.rules()
        ids = self._ids([_as_git_sees(candidate, stats[candidate.path]) for candidate in candidates], found)
        again: list[Candidate] = []
        for candidate in candidates:
            path = candidate.path
            before = stats[path]
            try:
                after = self.folder.lstat(path)
            except OSError:
                raise Vanished from None
            is_folder = stat.S_ISDIR(after.st_mode)
            if not is_folder and file_stat(before) != file_stat(after):
                stats[path] = after
                again.append(candidate)
                continue
            if stat.S_ISREG(after.st_mode):
                found.bytes_read += after.st_size
            size = 0 if is_folder else after.st_size
            answer = ids.get(path)
            if answer is None:
                found.contents[path] = Content(_regular_mode(after), None, size)
                continue
            mode, oid = answer
            found.contents[path] = Content(mode, oid, size)
            if not is_folder and is_settled(after.st_ctime_ns, self.begun_ns):
                found.keep[display(path)] = CachedContent(file_stat(after), mode, oid, rules.of(path, candidate.stages))
        return again

    def _ids(self, candidates: Sequence[Candidate], found: Identified) -> dict[bytes, tuple[str, str] | None]:
        """(mode, id) by path as `git add` would record them; without, or None for, those that it would refuse."""
        ids: dict[bytes, tuple[str, str] | None] = {}
        waiting = list(candidates)
        failures = 0
        with Scratch(self.worktree, self.environ) as scratch:
            while waiting:
                done = self._add(scratch, waiting, ids)
                if done == len(waiting):
                    break
                found.refused += 1
                failures += 1
                good, waiting = waiting[:done], waiting[done + 1 :]
                if good:
                    done = self._add(scratch, good, ids)
                    if done < len(good):
                        raise Vanished
                if failures == _MAX_FAILURES:  # each costs several processes; the rest is counted as unknown
                    found.refused += len(waiting)
                    break
        found.refused += sum(answer is None for answer in ids.values())
        return ids

    def _add(self, scratch: Scratch, candidates: Sequence[Candidate], ids: dict[bytes, tuple[str, str] | None]) -> int:
        """Add `candidates` to a fresh temporary index; returns how many went well before one failed.

        `ids` is filled only where all did: a failing `update-index` writes nothing. None stands for what `git add`
        would refuse though `update-index` takes it.
        """
        env = {"GIT_INDEX_FILE": os.fsdecode(scratch.join("index"))}
        paths = [candidate.path for candidate in candidates]
        fed = set(paths)
        seeds = [b"%s %s 0\t%s\0" % entry for entry in self.attributes if entry[2] not in fed]
        seeds += [_seed(candidate, self.worktree.object_format) for candidate in candidates if candidate.stages]
        if os.path.lexists(scratch.join("index")):
            os.unlink(scratch.join("index"))
        if seeds:
            self.git.run(
                *("update-index", "-z", "--replace", "--index-info"),
                settings=ADD_SETTINGS,
                stdin=b"".join(seeds),
                env=env,
            )
        child = self.git.start(
            *("update-index", "-z", "--verbose", "--add", "--remove", "--replace", "--info-only", "--stdin"),
            settings=ADD_SETTINGS,
            stdin=b"".join([path + b"\0" for path in paths]),
            env=env,
            ok=(0, 128),
        )
        self.git.finish(child)
        if child.process.returncode:
            done = _reported(child.output(), paths)
            if done == len(paths):  # it was not a path that it failed on
                raise self.git.failure(child)
            return done
        listed = self.git.run("ls-files", "-s", "-z", env=env, settings=ADD_SETTINGS)
        for record in listed.split(b"\0")[:-1]:
            head, _, path = record.partition(b"\t")
            if path in fed:
                mode, oid, _ = head.decode().split(" ")
                ids[path] = (mode, oid)
        if any(path not in ids for path in paths):
            raise Vanished
        ids.update(dict.fromkeys(_unencodable(child.errors, paths)))
        return len(paths)


def _as_git_sees(candidate: Candidate, seen: os.stat_result) -> Candidate:
    """The candidate as it must enter the temporary index.

    A repository where the index has a file is new to `git add`; `update-index` would only remove the file.
    """
    if stat.S_ISDIR(seen.st_mode) and any(mode != _SUBMODULE for mode, _, _ in candidate.stages):
        return Candidate(candidate.path, ())
    return candidate


def _seed(candidate: Candidate, object_format: str) -> bytes:
    """The index entry that stands for a path while it is added.

    `git add` takes an unmerged path's mode from "ours", else the base, else "theirs", but looks for line endings in
    "ours" alone; without "ours" the empty blob says that there are none.
    """
    by_stage = {stage: (mode, oid) for mode, oid, stage in candidate.stages}
    if 0 in by_stage:
        mode, oid = by_stage[0]
    elif 2 in by_stage:
        mode, oid = by_stage[2]
    else:
        mode, oid = by_stage[1 if 1 in by_stage else 3]
        if mode != _SUBMODULE:
            oid = EMPTY_BLOB[object_format]
    return f"{mode} {oid} 0\t".encode() + candidate.path + b"\0"


EMPTY_BLOB = {
    "sha1": "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "sha256": "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
}


def _unencodable(errors: bytes, paths: Sequence[bytes]) -> list[bytes]:
    """Those of `paths` whose `working-tree-encoding` does not fit their bytes.

    `git add` ends there; with `--info-only` git complains and takes the bytes as they are.
    """
    if b"error: failed to encode '" not in errors and b"error: BOM is " not in errors:
        return []
    forms = (
        b"error: failed to encode '%s' from ",
        b"error: BOM is required in '%s' if",
        b"error: BOM is prohibited in '%s' if",
    )
    return [path for path in paths if any(form % path in errors for form in forms)]


def _reported(output: bytes, paths: Sequence[bytes]) -> int:
    """How many of `paths` update-index reports as added before it failed."""
    position = 0
    for count, path in enumerate(paths):
        line = b"add '%s'\n" % path
        if not output.startswith(line, position):
            return count
        position += len(line)
    return len(paths)


def _regular_mode(seen: os.stat_result) -> str:
    if stat.S_ISLNK(seen.st_mode):
        return "120000"
    if stat.S_ISDIR(seen.st_mode):
        return _SUBMODULE
    return "100755" if seen.st_mode & stat.S_IXUSR else "100644"
