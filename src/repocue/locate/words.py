"""Words of code, prose and paths: identifiers split, lightly stemmed, hashed.

A word is a stem such as `resolv`. `parseHTTPHeader` gives `pars`, `http`, `header` and, because a name asked for
in full says more than its parts, `parsehttpheader`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Final, Literal

Field = Literal["content", "definition", "path", "message"]

_TOKEN = re.compile(r"[^\W\d]\w{1,63}")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+")
_CACHED_TOKENS: Final = 200_000

_STOP: Final = (
    "a an and are as at be been but by can do does for from had has have how if in into is it its may no not of on or"
    " our so than that the their them then there these they this those to was we were what when where which while who"
    " will with would you your also because before after should only such via"
)
STOP_WORDS: Final = frozenset(_STOP.split())
"""Words of a question that say nothing about where its answer is."""


def stem(word: str) -> str:
    """A lowercase word without its commonest English endings: `entries` and `entry` meet, so do `cached`, `caches`."""
    length = len(word)
    if length <= 3:
        return word
    if length > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("sses"):
        word = word[:-2]
    elif word[-1] == "s" and word[-2] not in "su":
        word = word[:-1]
    length = len(word)
    cut = ""
    if length >= 6 and word.endswith("ing"):
        cut = word[:-3]
    elif length >= 5 and word.endswith("ed"):
        cut = word[:-2]
    if cut:
        doubled = cut[-1] == cut[-2] and cut[-1] not in "lsz"
        word = cut[:-1] if doubled else cut
    elif length >= 6 and word.endswith("ion"):
        word = word[:-3]
    return word[:-1] if len(word) > 3 and word[-1] == "e" else word


def split(token: str) -> tuple[str, ...]:
    """The words of one identifier: its parts of two characters or more, then the whole where it has several parts."""
    parts = _PART.findall(token)
    found = [stem(part.lower()) for part in parts if len(part) > 1]
    if len(parts) > 1:
        found.append(token.strip("_").lower())
    return tuple(found)


class Counter:
    """Counts words of texts; splitting is remembered, since a repository repeats its identifiers."""

    __slots__ = ("_split",)

    def __init__(self) -> None:
        self._split: dict[str, tuple[str, ...]] = {}

    def count(self, text: str) -> dict[str, int]:
        """How often each word stands in `text`."""
        return self.count_tokens(_TOKEN.findall(text))

    def count_tokens(self, tokens: list[str]) -> dict[str, int]:
        """How often each word stands in these identifiers."""
        seen: dict[str, int] = {}
        for token in tokens:
            seen[token] = seen.get(token, 0) + 1
        known = self._split
        counts: dict[str, int] = {}
        for token, times in seen.items():
            words = known.get(token)
            if words is None:
                if len(known) >= _CACHED_TOKENS:
                    known.clear()
                words = known[token] = split(token)
            for word in words:
                counts[word] = counts.get(word, 0) + times
        return counts


def count(text: str) -> dict[str, int]:
    """How often each word stands in a single text."""
    return Counter().count(text)


def of_path(path: str) -> dict[str, int]:
    """The words of a path; those of the file's own name count twice."""
    counter = Counter()
    counts = counter.count(path.replace("/", " ").replace(".", " "))
    for word, times in counter.count(path.rpartition("/")[2].replace(".", " ")).items():
        counts[word] = counts.get(word, 0) + times
    return counts


def of_query(text: str) -> dict[str, int]:
    """The words of a question without stop words, in the order of their first use."""
    return {word: times for word, times in count(text).items() if word not in STOP_WORDS}


class Hashes:
    """64-bit hashes of words, remembered; a word has another hash in each field."""

    __slots__ = ("_known", "_prefix")

    def __init__(self, field: Field) -> None:
        self._prefix = field.encode() + b"\0"
        self._known: dict[str, int] = {}

    def of(self, word: str) -> int:
        """The hash of a word, 0 … 2^63-1 (one bit less, so that SQLite's integers hold it)."""
        found = self._known.get(word)
        if found is None:
            if len(self._known) >= _CACHED_TOKENS:
                self._known.clear()
            data = blake2b(self._prefix + word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            found = self._known[word] = int.from_bytes(data, "big") >> 1
        return found

    def counts(self, words: Mapping[str, int]) -> dict[int, int]:
        """The same counts by hash."""
        of = self.of
        return {of(word): times for word, times in words.items()}
