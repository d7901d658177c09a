"""What git was told not to look at, or could not: assume-unchanged and skip-worktree paths, unreadable folders.

`git status` calls all of these unchanged. Each finding is an `Aside`: the letter that stands for the work tree's side
in `DirtyFile.xy`, and what is there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import TYPE_CHECKING

from repocue.domain.paths import raw
from repocue.git.dirty import Candidate, Content

if TYPE_CHECKING:
    from repocue.domain.state import IndexEntry
    from repocue.git.folder import Folder

Flagged = tuple[str, str, str, bytes]
"""(tag, mode, id, path), as `Listing.flagged` gives them."""

_SUBMODULE = "160000"
_MISSING = Content(None, None, None)


class Aside:
    """`letter`: s not checked out (sparse), d hidden deletion, m hidden edit, t hidden type change, u out of sight."""

    __slots__ = ("content", "letter")

    def __init__(self, letter: str, content: Content) -> None:
        self.letter = letter
        self.content = content


def absent(flagged: Iterable[Flagged], folder: Folder) -> tuple[dict[bytes, Aside], list[Flagged]]:
    """The flagged paths that are not in the work tree, and those that are (or cannot be looked at)."""
    missing: dict[bytes, Aside] = {}
    present: list[Flagged] = []
    nowhere = b"\0"  # the last folder found missing: a sparse checkout lacks whole folders
    for entry in flagged:
        tag, mode, _, path = entry
        gone = path.startswith(nowhere)
        if not gone:
            try:
                seen = folder.lstat(path)
                gone = mode != _SUBMODULE and stat.S_ISDIR(seen.st_mode) and not _is_repository(path, folder)
            except (FileNotFoundError, NotADirectoryError):
                gone = True
                nowhere = _missing_folder(path, folder)
            except OSError:
                pass
        if gone:
            missing[path] = Aside("s" if tag in "Ss" else "d", _MISSING)
        else:
            present.append(entry)
    return missing, present


def candidates(present: Iterable[Flagged]) -> list[Candidate]:
    """What to identify to know whether the present ones were edited."""
    return [Candidate(path, ((mode, oid, 0),)) for _, mode, oid, path in present]


def edited(present: Iterable[Flagged], contents: dict[bytes, Content]) -> dict[bytes, Aside]:
    """Those of the present paths whose content is not the index's, or is not known."""
    found: dict[bytes, Aside] = {}
    for _, mode, oid, path in present:
        content = contents[path]
        if content.content_id is None:
            found[path] = Aside("u", content)
        elif (content.mode, content.content_id) != (mode, oid):
            assert content.mode is not None
            found[path] = Aside("m" if content.mode[:3] == mode[:3] else "t", content)
    return found


def out_of_sight(entries: Iterable[IndexEntry], folder: Folder, known: Iterable[bytes]) -> dict[bytes, Aside]:
    """The tracked paths that lstat cannot reach though they may exist, in folders without search permission.

    git passes over them as unchanged. Asked only where git complained. `known` paths are left out.
    """
    settled = set(known)
    found: dict[bytes, Aside] = {}
    for entry in entries:
        if entry.stage:
            continue
        path = raw(entry.path)
        if path in settled:
            continue
        try:
            folder.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            found[path] = Aside("u", Content(entry.mode, None, None))
    return found


def _is_repository(path: bytes, folder: Folder) -> bool:
    """Whether a folder that stands where a file was is a repository, which git would track in its place."""
    try:
        folder.lstat(path + b"/.git")
    except OSError:
        return False
    return True


def _missing_folder(path: bytes, folder: Folder) -> bytes:
    """The topmost folder above `path` that does not exist, with a slash; a text no path begins with if all do."""
    parent = os.path.dirname(path)
    top = b"\0"
    while parent:
        try:
            if stat.S_ISDIR(folder.lstat(parent).st_mode):
                break
        except OSError:
            pass
        top = parent + b"/"
        parent = os.path.dirname(parent)
    return top
