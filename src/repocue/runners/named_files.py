"""Which real files of a repository a path in a command's text reaches."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from repocue.domain import paths


class NamedFile(NamedTuple):
    """A regular file inside the repository: its path relative to the root (as contracts write it) and its size."""

    path: str
    size_bytes: int


class NamedFiles:
    """Looks paths up in the work tree at `root`, following a command's working folder and symlinks.

    A file counts when it exists now, is a regular file, and lies inside the root once every symlink on the way is
    resolved; it is named by that resolved path, so that two spellings and a link to it are one file. Git's own folder
    is not part of the repository's files.
    """

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._prefix = os.fsencode(self.root).rstrip(b"/") + b"/"
        self._known: dict[bytes, NamedFile | None] = {}

    def find(self, folder: str | None, text: str) -> NamedFile | None:
        """The file that `text` names from `folder` (None: unknown, so only absolute paths can be followed)."""
        if not text or "\0" in text or len(text) > 4096 or (folder is None and not text.startswith("/")):
            return None
        joined = os.path.join(folder or "/", text)
        try:
            key = os.fsencode(joined)
        except UnicodeEncodeError:
            return None
        if key not in self._known:
            self._known[key] = self._look_up(key)
        return self._known[key]

    def _look_up(self, path: bytes) -> NamedFile | None:
        try:
            resolved = os.path.realpath(path, strict=True)
            found = os.lstat(resolved)
        except (OSError, ValueError):
            return None
        relative = resolved.removeprefix(self._prefix)
        if relative == resolved or not stat.S_ISREG(found.st_mode) or b".git" in relative.split(b"/"):
            return None
        return NamedFile(paths.display(relative), found.st_size)
