"""Taking the sizes of all tracked files while git looks at the same files for its own answer.

A baseline needs both, one takes as long as the other on a large repository, and a scan mostly waits.
The sizes are kept as bare numbers in the order of the index, since the paths are held once already by the scan.
"""

from __future__ import annotations

import threading
from array import array
from hashlib import sha256
from typing import TYPE_CHECKING

from repocue.domain.paths import display_all, raw
from repocue.git.process import Git
from repocue.git.sizes import sizes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from repocue.domain.state import IndexEntry
    from repocue.git.worktree import Worktree

_GROUP_BYTES = 1 << 18
_NONE = -1


class SizesAhead:
    """Begins with making it; `result` waits for the end."""

    processes = 1
    """How many git processes it starts."""

    def __init__(self, worktree: Worktree, environ: Mapping[str, str]) -> None:
        self._worktree = worktree
        self._environ = environ
        self._found = array("q")
        self._listing = b""
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="repocue-sizes", daemon=True)
        self._thread.start()

    def result(self, entries: Sequence[IndexEntry]) -> Mapping[str, int] | None:
        """The sizes by path of `entries`, or None where these are not the entries that were looked at.

        Raises what taking them raised.
        """
        self._thread.join()
        if self._error is not None:
            raise self._error
        paths = [entry[3] for entry in entries]
        if sha256(_listed(paths)).digest() != self._listing:
            return None
        found = dict(zip(paths, self._found, strict=True))
        return found if _NONE not in self._found else {path: size for path, size in found.items() if size != _NONE}

    def _run(self) -> None:
        try:
            listed = Git.of(self._worktree, self._environ).run("ls-files", "-z")
            self._listing = sha256(listed).digest()
            start = 0
            while start < len(listed):
                end = listed.find(b"\0", start + _GROUP_BYTES) + 1 or len(listed)
                paths = display_all(listed[start:end])
                found = sizes(self._worktree, self._environ, paths=paths).get
                self._found.extend([found(path, _NONE) for path in paths])
                start = end
        except BaseException as error:  # noqa: BLE001 - handed to the thread that asks for the result
            self._error = error


def _listed(paths: Sequence[str]) -> bytes:
    """git's own listing of these paths, each ended by NUL."""
    joined = "\0".join(paths)
    if joined.startswith('"') or '\0"' in joined:
        return b"".join([raw(path) + b"\0" for path in paths])
    return joined.encode() + b"\0" if paths else b""
