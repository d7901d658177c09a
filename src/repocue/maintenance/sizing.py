"""Taking the sizes of all tracked files while git looks at the same files for its own answer.

A baseline needs both, and on a large repository one takes as long as the other. A scan has the index's listing long
before git's status; `SizingGit` uses the wait.
"""

from __future__ import annotations

import re
from array import array
from hashlib import sha256
from typing import TYPE_CHECKING

from repocue.domain.paths import raw
from repocue.git import listing
from repocue.git.folder import Folder
from repocue.git.process import Git

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from repocue.domain.state import IndexEntry
    from repocue.git.process import Child

_PATH = re.compile(rb"\t([^\0]*)\0")
"""A path of `ls-files -s -z`: all from a record's first tab to its end."""

_LISTINGS = (listing.COMMAND, listing.PLAIN_COMMAND)
_NONE = -1
_KIND, _REGULAR, _LINK, _FOLDER = 0o170000, 0o100000, 0o120000, 0o040000


class SizingGit(Git):
    """git for one scan, which looks at every file that it hears of in the index's listing.

    The sizes are those of `git.sizes`: of a symbolic link its text's, of a submodule 0, of anything else none.
    """

    _listed: bytes | None = None
    """The digest of the listed paths: the scan holds them already, and once is enough for a large repository."""
    _sizes: array[int]

    def finish(self, *children: Child, **options: Any) -> None:
        """As `Git.finish`; then, where a listing has ended, take the sizes of what it lists."""
        super().finish(*children, **options)
        for child in children:
            if child.argv in _LISTINGS and child.process.returncode == 0:
                paths = _PATH.findall(child.output())
                self._listed = _digest(b"\0".join(paths))
                self._sizes = self._look_at(paths)

    def sizes(self, entries: Sequence[IndexEntry]) -> Sequence[int | None] | None:
        """The size of each of `entries`; None where these are not the entries that were listed last."""
        if self._listed != _digest(_joined([entry[3] for entry in entries])):
            return None
        return self._sizes if _NONE not in self._sizes else [None if size == _NONE else size for size in self._sizes]

    def _look_at(self, paths: Sequence[bytes]) -> array[int]:
        found = array("q")
        add = found.append
        with Folder(self.root) as folder:
            lstat = folder.lstat
            for path in paths:
                try:
                    seen = lstat(path)
                except OSError:
                    add(_NONE)
                    continue
                kind = seen.st_mode & _KIND
                if kind in (_REGULAR, _LINK):
                    add(seen.st_size)
                else:
                    add(0 if kind == _FOLDER else _NONE)
        return found


def _joined(paths: Sequence[str]) -> bytes:
    joined = "\0".join(paths)
    if joined.startswith('"') or '\0"' in joined:
        return b"\0".join(map(raw, paths))
    return joined.encode()


def _digest(data: bytes) -> bytes:
    return sha256(data).digest()
