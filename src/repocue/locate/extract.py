"""What the index keeps of a file and of a commit: hashed words and how many there are."""

from __future__ import annotations

from typing import Final, NamedTuple

from repocue.locate import definitions, kinds
from repocue.locate.words import Counter, Hashes

MAX_WORDS: Final = 20_000
"""Distinct words kept of one file: of more, the most used ones, ties by hash. Code never has so many, data may."""
MAX_MESSAGE_CHARACTERS: Final = 20_000


class Extract(NamedTuple):
    """A unit's words by hash, and how many words it has in all and in its definitions; or why it was not read."""

    words: dict[int, int]
    length: int
    definitions: int
    skipped: str | None = None


class Extractor:
    """Turns bytes into hashed words."""

    def __init__(self) -> None:
        self._counter = Counter()
        self._content = Hashes("content")
        self._definition = Hashes("definition")
        self._message = Hashes("message")

    def file(self, data: bytes) -> Extract:
        """The words of a file's bytes, whatever these are."""
        skipped = kinds.skipped_by_content(data)
        if skipped is not None:
            return Extract({}, 0, 0, skipped)
        text = data.decode("utf-8", "replace")
        content = self._counter.count(text)
        defined = self._counter.count_tokens(definitions.names(text))
        words = {**_bounded(self._content.counts(content)), **_bounded(self._definition.counts(defined))}
        return Extract(words, sum(content.values()), sum(defined.values()))

    def message(self, text: str) -> Extract:
        """The words of a commit's message."""
        counts = self._counter.count(text[:MAX_MESSAGE_CHARACTERS])
        return Extract(_bounded(self._message.counts(counts)), sum(counts.values()), 0)


def _bounded(words: dict[int, int]) -> dict[int, int]:
    if len(words) <= MAX_WORDS:
        return words
    return dict(sorted(words.items(), key=lambda item: (-item[1], item[0]))[:MAX_WORDS])
