"""What plain git commands say about a repository: the expected values of every test of git observation.

Nothing here uses the code under test. Each list comes from another command than the one RepoCue asks, contents from
`git add` on a copy of the index, and digests from the standard library's JSON writer.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.support.repos import git

if TYPE_CHECKING:
    from repocue.domain.state import Observation

Entry = tuple[str, str, int, bytes]
"""(mode, id, stage, path)"""


def entries(root: str, *, env: Mapping[str, str] | None = None) -> list[Entry]:
    """The index, in git order."""
    found: list[Entry] = []
    for record in split(git(root, "ls-files", "-s", "-z", env=env)):
        head, path = record.split(b"\t", 1)
        mode, oid, stage = head.decode().split()
        found.append((mode, oid, int(stage), path))
    return found


def split(output: bytes) -> list[bytes]:
    """The parts of a `-z` answer."""
    return output.split(b"\0")[:-1]


def added(root: str, *, env: Mapping[str, str], unflagged: bool = False) -> dict[bytes, tuple[str, str]]:
    """(mode, id) by path after `git add` of every tracked path that exists; deletions are not recorded.

    It works on a copy of the index and with an object store of its own. `unflagged` clears assume-unchanged and
    skip-worktree there first, so that hidden edits count too.
    """
    index = os.fsdecode(git(root, "rev-parse", "--path-format=absolute", "--git-path", "index", env=env)[:-1])
    objects = os.fsdecode(git(root, "rev-parse", "--path-format=absolute", "--git-path", "objects", env=env)[:-1])
    base = os.fsencode(root)
    with tempfile.TemporaryDirectory() as folder:
        own = {
            **env,
            "GIT_INDEX_FILE": os.path.join(folder, "index"),
            "GIT_OBJECT_DIRECTORY": os.path.join(folder, "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": objects,
            "GIT_LITERAL_PATHSPECS": "1",
        }
        os.mkdir(own["GIT_OBJECT_DIRECTORY"])
        if os.path.exists(index):
            shutil.copy2(index, own["GIT_INDEX_FILE"])
        whole = ("-c", "core.splitIndex=false", "-c", "core.fsmonitor=false")
        if unflagged:
            every = b"".join(path + b"\0" for _, _, stage, path in entries(root, env=own) if stage == 0)
            git(root, *whole, "update-index", "--no-assume-unchanged", "-z", "--stdin", stdin=every, env=own)
            git(root, *whole, "update-index", "--no-skip-worktree", "-z", "--stdin", stdin=every, env=own)
        # `git add` takes quadratic time in the number of names, so it is given those that may differ
        changed = split(git(root, "diff", "--name-only", "--no-renames", "--ignore-submodules=none", "-z", env=own))
        there = b"".join([path + b"\0" for path in dict.fromkeys(changed) if _is_there(base, path)])
        if there:
            flags = ("--sparse", "--pathspec-from-file=-", "--pathspec-file-nul")
            git(root, *whole, "add", *flags, stdin=there, env=own)
        return {path: (mode, oid) for mode, oid, stage, path in entries(root, env=own) if stage == 0}


def _is_there(base: bytes, path: bytes) -> bool:
    """Whether a file or link, or a repository of its own, stands at `path`, with no symbolic link on the way."""
    whole = os.path.join(base, path)
    if os.path.realpath(os.path.dirname(whole)) != os.path.dirname(whole):
        return False
    if os.path.isdir(whole) and not os.path.islink(whole):
        return os.path.exists(os.path.join(whole, b".git"))
    return os.path.isfile(whole) or os.path.islink(whole)


def text(path: bytes) -> str:
    """The path's text for names that need no quoting."""
    assert not path.startswith(b'"')
    return path.decode()


def check(observation: Observation, root: str, env: Mapping[str, str], *, hidden: bool = False) -> None:
    """Assert that `observation` is what git itself says about `root`, whose names need no quoting.

    `hidden` says that the index has assume-unchanged or skip-worktree entries, whose edits count.
    """
    branch = git(root, "symbolic-ref", "-q", "--short", "HEAD", ok=(0, 1), env=env).decode().rstrip("\n") or None
    head = git(root, "rev-parse", "-q", "--verify", "HEAD", ok=(0, 1), env=env).decode().rstrip("\n") or None
    assert (observation.branch, observation.head) == (branch, head)
    found = entries(root, env=env)
    listed = [[mode, oid, stage, text(path)] for mode, oid, stage, path in found]
    assert [list(entry) for entry in observation.entries()] == listed
    unmerged = list(dict.fromkeys(path for _, _, stage, path in found if stage))
    names = ("--name-only", "--no-renames", "--ignore-submodules=none", "-z")
    staged = [path for path in split(git(root, "diff", "--cached", *names, env=env)) if path not in unmerged]
    unstaged = [path for path in split(git(root, "diff", *names, env=env)) if path not in unmerged]
    untracked = split(git(root, "ls-files", "--others", "--exclude-standard", "-z", env=env))
    lists = {
        "staged": list(map(text, staged)),
        "unstaged": list(map(text, unstaged)),
        "untracked": list(map(text, untracked)),
        "unmerged": list(map(text, unmerged)),
    }
    assert {
        "staged": list(observation.staged),
        "unstaged": list(observation.unstaged),
        "untracked": [path.path for path in observation.untracked],
        "unmerged": list(observation.unmerged),
    } == lists
    check_contents(observation, root, env, hidden=hidden)
    index_digest = digest({"entries": listed})
    assert observation.index_digest == index_digest
    assert observation.status_digest == digest({"branch": branch, "head": head, **lists, "index_digest": index_digest})
    assert observation.repository_digest == digest(
        {
            "object_format": observation.object_format,
            "entries": listed,
            "dirty_entries": [[file.path, file.mode, file.content_id] for file in observation.dirty],
        }
    )


def check_contents(observation: Observation, root: str, env: Mapping[str, str], *, hidden: bool = False) -> None:
    """Assert that every tracked path has the mode, content id and presence that `git add` gives it."""
    after = added(root, env=env, unflagged=hidden)
    before = entries(root, env=env)
    stage_0 = {path: (mode, oid) for mode, oid, stage, path in before if stage == 0}
    dirty = {file.path.encode(): file for file in observation.dirty}
    assert list(dirty) == sorted(dirty)
    for path in dict.fromkeys(path for _, _, _, path in before):
        file = dirty.get(path)
        if file is None:
            assert after.get(path) == stage_0[path], path
        elif file.mode is None:
            assert not _is_there(os.fsencode(root), path)
            assert (file.content_id, file.size_bytes) == (None, None)
        else:
            assert (file.mode, file.content_id) == after[path], path
            seen = os.lstat(os.path.join(os.fsencode(root), path))
            assert file.size_bytes == (0 if file.mode == "160000" else seen.st_size)


def digest(value: object) -> str:
    """`sha256:<hex>` of the value's compact JSON."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return "sha256:" + hashlib.sha256(data).hexdigest()


@contextmanager
def untouched(*roots: str) -> Iterator[None]:
    """Assert that nothing below `roots` is created, removed, renamed, changed or even touched meanwhile."""
    before = [listing(root) for root in roots]
    yield
    assert [listing(root) for root in roots] == before


def listing(root: str) -> dict[str, tuple[int, ...]]:
    """Inode, mode, links, size and times of everything below `root`, `.git` included."""
    found: dict[str, tuple[int, ...]] = {}
    for folder, folders, files in os.walk(root, onerror=None):
        for name in (".", *folders, *files):
            path = os.path.join(folder, name)
            seen = os.lstat(path)
            found[path] = (
                seen.st_ino,
                seen.st_mode,
                seen.st_nlink,
                seen.st_size,
                seen.st_mtime_ns,
                seen.st_ctime_ns,
            )
    return found
