"""Sources cut from their files, and the blocks in which a cue delivers each byte once.

A line runs up to and including its LF; a last line without one counts. A source's id is `PATH` or
`PATH#L<first>-L<last>`, a block's has the same form. Overlapping ranges of one file become one block, touching ones
stay two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from repocue.contracts import canonical
from repocue.domain.paths import sort_key

if TYPE_CHECKING:
    from repocue.contracts.types.task import SourceRange


class Place(NamedTuple):
    """Where a source lies. `lines` are first and last, 1-based and inclusive; None for the whole file."""

    path: str
    lines: tuple[int, int] | None

    @classmethod
    def of(cls, declared: SourceRange) -> Place:
        """The place of a source as a declaration names it."""
        return cls(declared.path, declared.lines)

    @property
    def id(self) -> str:
        """`PATH` or `PATH#L<first>-L<last>`."""
        return self.path if self.lines is None else f"{self.path}#L{self.lines[0]}-L{self.lines[1]}"


class Source(NamedTuple):
    """A source with its bytes. `span` are its first and last line, (0, 0) in an empty file."""

    place: Place
    span: tuple[int, int]
    data: bytes

    @property
    def sha256(self) -> str:
        """The digest of exactly the source's bytes."""
        return canonical.digest(self.data)


class Block(NamedTuple):
    """Consecutive bytes of one file. `span` is (0, 0) for an empty file."""

    place: Place
    span: tuple[int, int]
    data: bytes


def split_lines(data: bytes) -> list[bytes]:
    """The lines of `data`, each up to and including its LF."""
    *ended, rest = data.split(b"\n")
    return [line + b"\n" for line in ended] + ([rest] if rest else [])


def cut(place: Place, lines: Sequence[bytes]) -> Source | None:
    """The source at `place` in a file of these lines; None where the range ends beyond them."""
    if place.lines is None:
        return Source(place, (1, len(lines)) if lines else (0, 0), b"".join(lines))
    first, last = place.lines
    if last > len(lines):
        return None
    return Source(place, (first, last), b"".join(lines[first - 1 : last]))


def ordered(sources: Iterable[Source]) -> list[Source]:
    """Each source once, by path, first and last line."""
    once = {source.place: source for source in sources}
    return sorted(once.values(), key=lambda source: (sort_key(source.place.path), source.span, source.place.id))


def join(sources: Iterable[Source], files: dict[str, list[bytes]]) -> dict[Place, Block]:
    """The block of every source, by the source's place. `files` holds the lines of every file by path."""
    blocks: dict[Place, Block] = {}
    group: list[Source] = []
    for source in ordered(sources):
        if group and (source.place.path != group[-1].place.path or source.span[0] > _last(group)):
            blocks.update(_joined(group, files))
            group = []
        group.append(source)
    if group:
        blocks.update(_joined(group, files))
    return blocks


def _last(group: list[Source]) -> int:
    return max(source.span[1] for source in group)


def _joined(group: list[Source], files: dict[str, list[bytes]]) -> dict[Place, Block]:
    path, span = group[0].place.path, (group[0].span[0], _last(group))
    whole = any(source.place.lines is None for source in group)
    data = b"".join(files[path][span[0] - 1 : span[1]]) if span[0] else b""
    block = Block(Place(path, None if whole else span), span, data)
    return {source.place: block for source in group}
