"""The digests of version-3 reports, recomputed on a checkout so that an import can tell whether a report is about it.

They were made by another tool, from git's printed answers: so the same commands are run and their bytes are hashed.
Nothing here is used for new evidence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from repocue.contracts.canonical import compact
from repocue.domain.paths import raw
from repocue.git import porcelain
from repocue.git.process import Git
from repocue.git.scan import branch_name

if TYPE_CHECKING:
    from repocue.git.worktree import Worktree

_DIFF = ("diff", "--binary", "--no-ext-diff")
_BROKEN = re.compile("[\udc80-\udcff]")
_NAMES = ("--name-only", "--no-renames", "-z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence3:
    """What of a version-3 report's `repository` can be recomputed; digests are `sha256:<hex>`."""

    branch: str | None
    head: str | None
    is_dirty: bool
    index_digest: str
    repocue_status_digest: str
    working_tree_digest: str
    porcelain_status_digest: str
    binary_diff_digest: str

    def state_fingerprint(self, repository_digest: str) -> str:
        """The fingerprint, with the report's own repository digest, which cannot be recomputed."""
        return _digest(
            "\0".join(
                (
                    self.repocue_status_digest,
                    repository_digest,
                    self.working_tree_digest,
                    self.porcelain_status_digest,
                    self.binary_diff_digest,
                )
            ).encode()
        )


def maintenance_id(resolved_root: str, state_fingerprint: str, snapshot: str) -> str:
    """`maintenance-<24 hex>`, the name that a version-3 report set carries."""
    return "maintenance-" + sha256("\0".join((resolved_root, state_fingerprint, snapshot)).encode()).hexdigest()[:24]


def read(worktree: Worktree, environ: Mapping[str, str]) -> Evidence3:
    """Recompute the digests on `worktree`. Eight git processes; the two binary diffs are hashed as they are printed.

    Raises what `Git.run` raises.
    """
    git = Git.of(worktree, environ)
    commands = (
        porcelain.COMMAND,
        ("status", "--porcelain=v1", "-z", "--untracked-files=all"),
        ("ls-files", "--stage", "-z"),
        ("diff", "--cached", *_NAMES),
        ("diff", *_NAMES),
        ("ls-files", "--others", "--exclude-standard", "-z"),
    )
    status_v2, status_v1, index, staged, unstaged, untracked = [git.run(*command) for command in commands]
    diff = sha256()
    git.run(*_DIFF, "--cached", "--", sink=diff.update)
    diff.update(b"\0")
    git.run(*_DIFF, "--", sink=diff.update)
    status = porcelain.parse(status_v2)
    branch = branch_name(status.branch, worktree)
    index_digest = _digest(index)
    lists = b'"staged":%s,"unstaged":%s,"untracked":%s' % (_list(staged), _list(unstaged), _list(untracked))
    head = b'"branch":%s,"head":%s' % (
        b"null" if branch is None else _string(raw(branch)),
        compact(status.head),
    )
    return Evidence3(
        branch=branch,
        head=status.head,
        is_dirty=bool(status_v1),
        index_digest=index_digest,
        repocue_status_digest=_digest(b'{%s,%s,"index_digest":%s}' % (head, lists, compact(index_digest))),
        working_tree_digest=_digest(b"{%s}" % lists),
        porcelain_status_digest=_digest(status_v1),
        binary_diff_digest="sha256:" + diff.hexdigest(),
    )


def _list(joined: bytes) -> bytes:
    return b"[" + b",".join([_string(path) for path in sorted(joined.split(b"\0")[:-1])]) + b"]"


def _string(text: bytes) -> bytes:
    """A JSON string as that tool writes it: `<`, `>`, `&`, U+2028, U+2029 and bytes that are not UTF-8 are escaped."""
    parts = _BROKEN.split(text.decode(errors="surrogateescape"))
    found = b"\\ufffd".join([compact(part)[1:-1] for part in parts])
    for char in "<>&\u2028\u2029":
        found = found.replace(char.encode(), b"\\u%04x" % ord(char))
    return b'"' + found + b'"'


def _digest(data: bytes) -> str:
    return "sha256:" + sha256(data).hexdigest()
