"""What, beside its bytes, decides which blob a work-tree file becomes.

Attributes and filter configuration change the content id of a file that nobody touched, so a kept id is only good
while a digest of all of them is the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from repocue.domain.hashing import sha256

if TYPE_CHECKING:
    from repocue.git.folder import Folder
    from repocue.git.worktree import Worktree

CONFIG_COMMAND = ("config", "-z", "--get-regexp", r"^(core|filter|attr)\.")
CONFIG_EXIT_CODES = (0, 1)  # 1: nothing is configured

_LIMIT_BYTES = 16 << 20
_SYSTEM_ATTRIBUTES = "/etc/gitattributes"


class Rules:
    """The conversion rules of one work tree at one moment; `of` is their digest for one path."""

    __slots__ = ("_base", "_chains", "_folder")

    def __init__(
        self,
        worktree: Worktree,
        environ: Mapping[str, str],
        folder: Folder,
        config: bytes,
        attributes: Iterable[tuple[bytes, bytes, bytes]],
    ) -> None:
        """`config` is `CONFIG_COMMAND`'s answer, `attributes` the index's `.gitattributes` entries."""
        base = sha256(config)
        for path in (
            os.path.join(worktree.common_dir, b"info", b"attributes"),
            os.fsencode(_user_attributes(environ, config)),
            os.fsencode(_SYSTEM_ATTRIBUTES),
        ):
            base.update(b"\0\1" + _content(path))
        for entry in attributes:
            base.update(b"\0\2" + b"\0".join(entry))
        self._base = base
        self._folder = folder
        self._chains: dict[bytes, bytes] = {}

    def of(self, path: bytes, stages: Iterable[tuple[str, str, int]]) -> str:
        """The digest for `path`, whose index entries are `stages`: line endings in the index count too."""
        digest = self._base.copy()
        digest.update(self._chain(os.path.dirname(path)))
        for mode, oid, stage in stages:
            digest.update(f"\0{mode} {oid} {stage}".encode())
        return digest.hexdigest()[:32]

    def _chain(self, directory: bytes) -> bytes:
        """The digests of `.gitattributes` in the root and each folder down to `directory`."""
        known = self._chains.get(directory)
        if known is None:
            above = self._chain(os.path.dirname(directory)) if directory else b""
            digest = sha256()
            try:
                self._folder.each_part(os.path.join(directory, b".gitattributes"), digest.update, _LIMIT_BYTES)
            except OSError:  # git, too, then goes by the index
                known = above + b"\0-"
            else:
                known = above + b"\0+" + digest.digest()
            self._chains[directory] = known
        return known


def _user_attributes(environ: Mapping[str, str], config: bytes) -> str:
    """Where git looks for the user's attributes: `core.attributesFile`, else the XDG place."""
    home = environ.get("HOME", "")
    configured = ""
    for record in config.split(b"\0"):
        key, _, value = record.partition(b"\n")
        if key == b"core.attributesfile":
            configured = os.fsdecode(value)
    if configured:
        return os.path.join(home, configured[2:]) if configured.startswith("~/") else configured
    return os.path.join(environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git", "attributes")


def _content(path: bytes) -> bytes:
    try:
        with open(path, "rb") as file:
            return sha256(file.read(_LIMIT_BYTES)).digest()
    except (OSError, ValueError):  # ValueError: a NUL, which no file name has
        return b""
