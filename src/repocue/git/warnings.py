"""The warnings of one observation: what an answer made from it does not cover, with exact counts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from repocue.domain.state import UntrackedPath, Warning

if TYPE_CHECKING:
    from repocue.git.dirty import Identified
    from repocue.git.hidden import Aside
    from repocue.git.worktree import Worktree

_FOLDER = b"warning: could not open directory '"
_IGNORE_FILE = b"warning: unable to access '"


def gather(
    worktree: Worktree,
    errors: bytes,
    found: Identified,
    asides: Iterable[Aside],
    untracked: Iterable[UntrackedPath],
    gitlinks: int,
    sparse_folders: int,
) -> tuple[Warning, ...]:
    """In this order: `errors` is what `git status` wrote to stderr, `asides` what it did not look at.

    * unreadable-files: tracked files whose content or existence could not be read
    * unreadable-folders: folders that could not be listed (untracked files in them are unknown), or whose ignore
      file could not be read
    * special-files: tracked paths that are a FIFO, socket or device now
    * unidentified-files: changed files that `git add` would refuse (a filter failed)
    * hidden-edits: edits that assume-unchanged or skip-worktree hides from git
    * sparse-checkout: tracked paths left out of the work tree
    * unlisted-folders: folders of a sparse index whose trees are not here; each counts as one path
    * unindexed-submodules, nested-repositories: their contents are not part of the state
    * shallow-history, partial-clone: what git holds of history and objects is incomplete
    * git-messages: other lines that git wrote to stderr
    """
    letters = "".join([aside.letter for aside in asides])
    folders, others = _complaints(errors)
    hidden = sum(letters.count(letter) for letter in "mtd")
    counts = (
        ("unreadable-files", found.unreadable),
        ("unreadable-folders", folders),
        ("special-files", found.special),
        ("unidentified-files", found.refused),
        ("hidden-edits", hidden),
        ("sparse-checkout", letters.count("s")),
        ("unlisted-folders", sparse_folders),
        ("unindexed-submodules", gitlinks),
        ("nested-repositories", sum(path.kind == "repository" for path in untracked)),
    )
    warnings = [Warning(code, count) for code, count in counts if count]
    if worktree.is_shallow:
        warnings.append(Warning("shallow-history"))
    if _is_partial(worktree.common_dir):
        warnings.append(Warning("partial-clone"))
    if others:
        warnings.append(Warning("git-messages", others))
    return tuple(warnings)


def _complaints(errors: bytes) -> tuple[int, int]:
    """(folders that git could not open, lines of any other kind). Paths beyond lstat's reach are counted elsewhere."""
    folders: set[bytes] = set()
    others = 0
    for line in errors.splitlines():
        if line.startswith(_FOLDER):
            folders.add(line.removeprefix(_FOLDER).rpartition(b"'")[0].rstrip(b"/"))
        elif line.startswith(_IGNORE_FILE) and not line.startswith(
            _IGNORE_FILE + b"/"
        ):  # the user's own lies elsewhere
            folders.add(os.path.dirname(line.removeprefix(_IGNORE_FILE).rpartition(b"'")[0]))
        elif not line.endswith(b": Permission denied"):
            others += 1
    return len(folders), others


def _is_partial(common_dir: bytes) -> bool:
    """Whether objects were left at a promisor remote: their packs carry a mark."""
    try:
        with os.scandir(os.path.join(common_dir, b"objects", b"pack")) as entries:
            return any(entry.name.endswith(b".promisor") for entry in entries)
    except OSError:
        return False
