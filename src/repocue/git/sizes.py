"""Sizes of work-tree files.

The index keeps sizes too, but modulo 2^32, as 0 where it distrusts them, and shows them only in a listing whose form
git reserves the right to change. So the files themselves are asked: 2 µs each.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from repocue.domain.paths import display_all, raw
from repocue.git.folder import Folder
from repocue.git.process import Git

if TYPE_CHECKING:
    from repocue.git.worktree import Worktree


def sizes(worktree: Worktree, environ: Mapping[str, str], *, paths: Iterable[str] | None = None) -> dict[str, int]:
    """Bytes by path: of `paths`, or of every path in the index (one git process more).

    A symbolic link's size is that of its text, a submodule's is 0. Paths that are missing, cannot be looked at or are
    something else have no size and are left out.
    """
    if paths is None:
        paths = dict.fromkeys(display_all(_listed(Git.of(worktree, environ))))  # unmerged ones are listed thrice
    found: dict[str, int] = {}
    with Folder(worktree.root) as folder:
        lstat = folder.lstat
        for path in paths:
            try:
                seen = lstat(path.encode() if not path.startswith('"') else raw(path))
            except OSError:
                continue
            mode = seen.st_mode
            if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
                found[path] = seen.st_size
            elif stat.S_ISDIR(mode):
                found[path] = 0
    return found


def _listed(git: Git) -> bytes:
    """Every path of the index. Folders of a sparse index stay folders: nothing in them is checked out."""
    child = git.start("ls-files", "-z", "--sparse", ok=(0, 129))
    git.finish(child)
    return git.run("ls-files", "-z") if child.process.returncode else child.output()
