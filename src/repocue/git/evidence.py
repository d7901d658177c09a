"""Content-sensitive evidence of a repository's state, for evaluations (version 4).

The *state fingerprint* covers what an agent can see of the work tree: object format, HEAD, branch, index entries,
changed files by content id and untracked files by their bytes. The *guard* covers what it could change beside that:
refs, stash, configuration, HEAD's log, and populated submodules in the same depth. Not covered: ignored files, and an
index that was rewritten with new times alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from repocue.contracts.canonical import digest_of
from repocue.domain.paths import display, raw
from repocue.domain.state import FileStat, Known, Observation, UntrackedPath
from repocue.errors import RepositoryError, RepositoryMoved
from repocue.git.folder import Folder, file_stat, is_settled
from repocue.git.process import Git
from repocue.git.scan import ATTEMPTS, basis_stats, dirty_entries, observe
from repocue.git.worktree import find

if TYPE_CHECKING:
    from repocue.git.worktree import Worktree

_SUBMODULE = "160000"
_MAX_DEPTH = 16


class UntrackedContent(NamedTuple):
    """An untracked path and what is there.

    `digest` is `sha256:<hex>` of a file's bytes or a link's text, the HEAD commit of a nested repository, None where it
    has none or cannot be read. `stat` is set where the digest may be used again while the stat is the same.
    """

    path: str
    kind: str
    digest: str | None
    stat: FileStat | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """The evidence of one moment. Digests are `sha256:<hex>`; `at` is RFC 3339."""

    at: str
    state_fingerprint: str
    guard_digest: str
    untracked_content_digest: str
    observation: Observation
    untracked: tuple[UntrackedContent, ...]
    bytes_read: int
    """Bytes of untracked files that were hashed for it."""
    gitlinks: tuple[str, ...]
    """The paths at which the index has a submodule."""


def capture(worktree: Worktree, environ: Mapping[str, str], *, earlier: Capture | None = None) -> Capture:
    """Observe `worktree` and hash everything that an evaluated process could change unseen.

    With `earlier`, files whose stat is unchanged since are not read again, and the index is not parsed again where git
    lists the same. Raises RepositoryMoved where the repository
    keeps changing, and what `observe` raises.
    """
    return _capture(worktree, environ, earlier, 0)


def _capture(worktree: Worktree, environ: Mapping[str, str], earlier: Capture | None, depth: int) -> Capture:
    git = Git.of(worktree, environ)
    known = None if earlier is None else _known(earlier.observation)
    for _ in range(ATTEMPTS):
        stats = basis_stats(worktree)
        observation = observe(worktree, environ, known=known, git=git)
        try:
            untracked, bytes_read = _untracked(worktree, environ, observation, earlier)
        except FileNotFoundError:
            continue
        gitlinks = _gitlinks(observation, earlier)
        guard = _guard(worktree, environ, git, gitlinks, depth)
        if basis_stats(worktree) == stats:
            break
    else:
        raise RepositoryMoved(
            f"{display(worktree.root)} kept changing while its state was captured ({ATTEMPTS} attempts)",
            hint="Try again when no other command is changing it.",
        )
    listed = [(entry.path, entry.kind, entry.digest) for entry in untracked]
    if earlier is not None and _is_same(observation, untracked, earlier):
        fingerprint, untracked_digest = earlier.state_fingerprint, earlier.untracked_content_digest
    else:
        fingerprint, untracked_digest = _fingerprint(observation, listed), digest_of({"untracked": listed})
    return Capture(
        at=observation.observed_at,
        state_fingerprint=fingerprint,
        guard_digest=guard,
        untracked_content_digest=untracked_digest,
        observation=observation,
        untracked=untracked,
        bytes_read=bytes_read,
        gitlinks=gitlinks,
    )


def _fingerprint(observation: Observation, untracked: list[tuple[str, str, str | None]]) -> str:
    return digest_of(
        {
            "object_format": observation.object_format,
            "head": observation.head,
            "branch": observation.branch,
            "entries": observation.entries(),
            "dirty_entries": dirty_entries(observation.dirty),
            "untracked": untracked,
        }
    )


def _is_same(observation: Observation, untracked: tuple[UntrackedContent, ...], earlier: Capture) -> bool:
    """Whether everything that the fingerprint is made of equals what the earlier one was made of."""
    then = earlier.observation
    return (
        observation.index_token == then.index_token  # the entries
        and observation.object_format == then.object_format
        and observation.head == then.head
        and observation.branch == then.branch
        and observation.dirty == then.dirty
        and [entry[:3] for entry in untracked] == [entry[:3] for entry in earlier.untracked]
    )


def _gitlinks(observation: Observation, earlier: Capture | None) -> tuple[str, ...]:
    if earlier is not None and observation.index_token == earlier.observation.index_token:
        return earlier.gitlinks
    return tuple(entry.path for entry in observation.entries() if entry.mode == _SUBMODULE and entry.stage in (0, 2))


def _known(observation: Observation) -> Known:
    return Known(
        index_token=observation.index_token,
        index_digest=observation.index_digest,
        repository_digest=observation.repository_digest,
        dirty=observation.dirty,
        contents=observation.contents,
    )


def _untracked(
    worktree: Worktree, environ: Mapping[str, str], observation: Observation, earlier: Capture | None
) -> tuple[tuple[UntrackedContent, ...], int]:
    """The contents of all untracked paths and the bytes read. Raises FileNotFoundError where one is gone."""
    kept = {} if earlier is None else {entry.path: entry for entry in earlier.untracked if entry.stat is not None}
    found: list[UntrackedContent] = []
    total = 0
    with Folder(worktree.root) as folder:
        for path in observation.untracked:
            if path.kind == "repository":
                head = _nested_head(os.path.join(worktree.root, raw(path.path)), environ)
                found.append(UntrackedContent(path.path, path.kind, head, None))
                continue
            entry, size = _hashed(path, folder, kept.get(path.path))
            found.append(entry)
            total += size
    return tuple(found), total


def _hashed(path: UntrackedPath, folder: Folder, kept: UntrackedContent | None) -> tuple[UntrackedContent, int]:
    """The content of an untracked file or link, and the bytes read for it."""
    name = raw(path.path)
    try:
        if path.kind == "symlink":
            return UntrackedContent(path.path, path.kind, _digest(folder.readlink(name)), None), 0
        if path.kind != "file":
            return UntrackedContent(path.path, path.kind, None, None), 0
        for _ in range(ATTEMPTS):
            before = file_stat(folder.lstat(name))
            if kept is not None and kept.stat == before:
                return kept, 0
            digest = sha256()
            begun_ns = time.time_ns()
            size = folder.each_part(name, digest.update)
            if file_stat(folder.lstat(name)) == before:
                stat = before if is_settled(before.ctime_ns, begun_ns) else None
                return UntrackedContent(path.path, path.kind, "sha256:" + digest.hexdigest(), stat), size
    except FileNotFoundError:
        raise
    except OSError:  # unreadable: known by its name alone, which the observation's reader can see
        return UntrackedContent(path.path, path.kind, None, None), 0
    raise RepositoryMoved(f"{path.path} kept changing while it was read", hint="Try again when nothing writes to it.")


def _digest(data: bytes) -> str:
    return "sha256:" + sha256(data).hexdigest()


def _nested_head(folder: bytes, environ: Mapping[str, str]) -> str | None:
    """The HEAD commit of a nested repository; None where it is unborn or cannot be read."""
    git = Git(folder, environ, options=("--git-dir=.git",))  # else git would look further up where this one is broken
    try:
        return git.run("rev-parse", "-q", "--verify", "HEAD", ok=(0, 1), timeout_s=60).decode().strip() or None
    except RepositoryError:
        return None


def _guard(worktree: Worktree, environ: Mapping[str, str], git: Git, gitlinks: tuple[str, ...], depth: int) -> str:
    """The digest of refs, stash, configuration, HEAD's log and populated submodules.

    `info` counts as configuration: what it excludes would hide a new file from git.
    """
    refs = git.run("for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)")
    return digest_of(
        {
            "refs": _digest(refs),
            "stash": _file_digest(worktree.common_dir, b"logs/refs/stash"),
            "config": [
                _file_digest(worktree.common_dir, b"config"),
                _file_digest(worktree.git_dir, b"config.worktree"),
            ],
            "info": [
                _file_digest(worktree.common_dir, b"info/exclude"),
                _file_digest(worktree.common_dir, b"info/attributes"),
            ],
            "head_log": _file_digest(worktree.git_dir, b"logs/HEAD"),
            "submodules": [
                (path, inner.state_fingerprint, inner.guard_digest)
                for path, inner in _submodules(worktree, environ, gitlinks, depth)
            ],
        }
    )


def _submodules(
    worktree: Worktree, environ: Mapping[str, str], gitlinks: tuple[str, ...], depth: int
) -> Iterator[tuple[str, Capture]]:
    """The captures of submodules that have a work tree of their own. git's status says only *that* one is dirty."""
    if depth == _MAX_DEPTH:
        return
    for path in gitlinks:
        folder = os.path.join(worktree.root, raw(path))
        if not os.path.lexists(os.path.join(folder, b".git")):
            continue
        inner = find(os.fsdecode(folder), environ)
        if inner.root == os.path.realpath(folder):
            yield path, _capture(inner, environ, None, depth + 1)


def _file_digest(folder: bytes, name: bytes) -> str | None:
    try:
        with open(os.path.join(folder, name), "rb") as file:
            digest = sha256()
            while part := file.read(1 << 20):
                digest.update(part)
    except OSError:
        return None
    return "sha256:" + digest.hexdigest()
