"""The index as `git ls-files -s -v -z` lists it: `H 100644 <id> 0<TAB>path<NUL>` for each entry, in git order.

On a large repository this is the bulk of a scan, so the answer is first only hashed and counted; the entries are
parsed when somebody needs them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from repocue.contracts.canonical import compact
from repocue.domain.hashing import sha256
from repocue.domain.paths import display
from repocue.domain.state import IndexEntry

if TYPE_CHECKING:
    from repocue.git.process import Git

COMMAND = ("ls-files", "-s", "-v", "-z", "--sparse")
"""`--sparse`, because git rewrites the times of tree objects where it expands a sparse index itself."""
PLAIN_COMMAND = COMMAND[:-1]
"""For git before 2.36, which does not know `--sparse`."""
EXIT_CODES = (0, 129)

# Patterns are compiled where they are needed, which they seldom are.
_SPARSE_FOLDER = rb"\0([A-Za-z?]) 040000 ([0-9a-f]+) 0\t([^\0]*)"
_GITLINK = rb"\0[A-Za-z?] 160000 "
_FLAGGED = rb"\0([a-zS]) ([0-7]{6}) ([0-9a-f]+) ([0-3])\t([^\0]*)"
_ATTRIBUTES = rb"(?s)[A-Za-z?] ([0-7]{6}) ([0-9a-f]+) 0\t((?:.*/)?\.gitattributes)"
_ATTRIBUTES_NAME = b".gitattributes\0"
_EMPTY_TREE = {
    "sha1": b"4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": b"6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
_STAGES = {"0": 0, "1": 1, "2": 2, "3": 3}


class Listing:
    """One answer of `COMMAND`, with a NUL put before it so that every entry follows one."""

    __slots__ = ("_entries", "_entries_json", "count", "raw", "token")

    def __init__(self, raw: bytes, *, token: str | None = None) -> None:
        self.raw = raw
        self.token = token or sha256(raw).hexdigest()
        """Identifies the answer; equal tokens mean equal entries and flags."""
        self.count = raw.count(b"\0") - 1
        self._entries: tuple[IndexEntry, ...] | None = None
        self._entries_json: bytes | None = None

    def entries(self) -> tuple[IndexEntry, ...]:
        """All entries, parsed on first use."""
        if self._entries is None:
            self._entries = _parse(self.raw)
        return self._entries

    def entries_json(self) -> bytes:
        """The canonical text of `[[mode,id,stage,path],...]`, the part that several digests share."""
        if self._entries_json is None:
            self._entries_json = compact(self.entries())
        return self._entries_json

    def gitlinks(self) -> int:
        """How many entries are submodules."""
        return len(re.findall(_GITLINK, self.raw)) if b" 160000 " in self.raw else 0

    def sparse_folders(self) -> list[tuple[bytes, bytes, bytes]]:
        """(tag, tree id, path with a slash) of the folders that a sparse index holds in place of their files."""
        return re.findall(_SPARSE_FOLDER, self.raw) if b" 040000 " in self.raw else []

    def flagged(self) -> list[tuple[str, str, str, bytes]]:
        """(tag, mode, id, path) of entries that git was told not to look at.

        The tag is S for skip-worktree and a lower-case letter for assume-unchanged (s: both). Unmerged entries
        cannot be flagged usefully and are left out.
        """
        if self.raw.count(b"\0H ") == self.count:
            return []
        return [
            (tag.decode(), mode.decode(), oid.decode(), path)
            for tag, mode, oid, stage, path in re.findall(_FLAGGED, self.raw)
            if stage == b"0"
        ]

    def attributes(self) -> list[tuple[bytes, bytes, bytes]]:
        """(mode, id, path) of every tracked `.gitattributes`: git reads those that are not checked out from here."""
        found: list[tuple[bytes, bytes, bytes]] = []
        end = self.raw.find(_ATTRIBUTES_NAME)
        while end >= 0:
            start = self.raw.rfind(b"\0", 0, end) + 1
            match = re.fullmatch(_ATTRIBUTES, self.raw[start : end + len(_ATTRIBUTES_NAME) - 1])
            if match:
                found.append((match[1], match[2], match[3]))
            end = self.raw.find(_ATTRIBUTES_NAME, end + 1)
        return found


def expand(git: Git, found: Listing, object_format: str) -> Listing:
    """`found` with the folders of a sparse index replaced by the entries they stand for: one process, where any.

    `found` itself where a tree is not here (a partial clone without trees): the folders then stay entries.
    """
    folders = found.sparse_folders()
    if not folders:
        return found
    requests = [b"%s %s\n" % (_EMPTY_TREE[object_format], oid) for _, oid, _ in folders]
    child = git.start(
        "diff-tree",
        "-r",
        "-z",
        "--ignore-submodules=none",
        "--stdin",
        stdin=b"".join(requests),
        env={"GIT_INDEX_FILE": "/nonexistent/index"},  # it would read, and so expand, the index for nothing
    )
    git.finish(child)
    fields = child.output().split(b"\0")
    inside: list[bytes] = []
    position = 0
    for (tag, _, folder), request in zip(folders, requests, strict=True):
        # the answer is the request, then for each file `:000000 MODE 0… ID A`, NUL, its path, NUL
        if not fields[position].startswith(request):
            return found
        fields[position] = fields[position].removeprefix(request)
        records: list[bytes] = []
        while fields[position].startswith(b":"):
            _, mode, _, oid, _ = fields[position].split(b" ")
            records.append(b"\0%s %s %s 0\t%s%s" % (tag, mode, oid, folder, fields[position + 1]))
            position += 2
        inside.append(b"".join(records))
    parts = iter(inside)
    return Listing(re.sub(_SPARSE_FOLDER, lambda _: next(parts), found.raw), token=found.token)


class _Same(dict[str, str]):
    """Gives one object for equal texts: an index has few modes and many entries."""

    def __missing__(self, text: str) -> str:
        self[text] = text
        return text


def _parse(raw: bytes) -> tuple[IndexEntry, ...]:
    if raw.count(b"\0") < 2:
        return ()
    new = tuple.__new__
    modes = _Same()
    width = raw.index(b" ", 10) - 10
    stage_at = 10 + width
    path_at = stage_at + 2
    if b'\t"' not in raw:
        try:
            lines = raw.decode().split("\0")
        except UnicodeDecodeError:
            pass
        else:
            return tuple(
                [
                    new(
                        IndexEntry,
                        (
                            modes[line[2:8]],
                            line[9 : stage_at - 1],
                            _STAGES[line[stage_at]],
                            line[path_at:],
                        ),
                    )
                    for line in lines[1:-1]
                ]
            )
    return tuple(
        [
            IndexEntry(
                record[2:8].decode(),
                record[9 : stage_at - 1].decode(),
                record[stage_at] - 48,
                display(record[path_at:]),
            )
            for record in raw.split(b"\0")[1:-1]
        ]
    )
