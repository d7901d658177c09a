"""What the words of a shell text can be, as far as the text alone decides it.

Variables that the text itself sets to known texts are known; brace lists expand; everything else that needs a shell
(globs, substitutions, parameters, arithmetic) leaves a word unknown. A leading `~` becomes the home folder where that
is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from repocue.runners.shell_tree import Part, Word

MAX_TEXTS = 1000
"""A word that could be more texts than this counts as unknown."""

_Marked = tuple[tuple[str, bool], ...]
"""Characters, each with whether it was quoted."""


class Argument(NamedTuple):
    """One argument. `texts` are all it can be (one, or a loop variable's several); () is unknown."""

    texts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The one known text, else the empty text."""
        return self.texts[0] if len(self.texts) == 1 else ""


UNKNOWN = Argument(())
Variables = Mapping[str, tuple[str, ...]]


def expand(word: Word, variables: Variables, home: str | None = None) -> list[Argument]:
    """The arguments a word becomes: several where a brace list stands in it, one of several texts for a variable."""
    if len(word) == 1 and word[0].kind == "text" and word[0].is_quoted:
        return [Argument((word[0].text,))]  # the usual case, and the one that may be very long
    alternatives: list[_Marked] = [()]
    for part in word:
        values = _values(part, variables)
        if values is None or len(alternatives) * len(values) > MAX_TEXTS:
            return [UNKNOWN]
        alternatives = [before + value for before in alternatives for value in values]
    if home is not None:
        alternatives = [_at_home(marked, home) for marked in alternatives]
    if len(alternatives) > 1:
        return [Argument(tuple(dict.fromkeys(_plain(marked) for marked in alternatives)))]
    expanded = _braces(alternatives[0])
    return [Argument((_plain(marked),)) for marked in expanded]


def literal(word: Word) -> str | None:
    """The word's text where it is nothing but text without any expansion, else None."""
    if any(part.kind != "text" for part in word):
        return None
    if any(not part.is_quoted and any(char in part.text for char in "*?[{") for part in word):
        return None
    text = "".join(part.text for part in word)
    return None if word and not word[0].is_quoted and text.startswith("~") else text


def _values(part: Part, variables: Variables) -> list[_Marked] | None:
    if part.kind == "text":
        return [tuple((char, part.is_quoted) for char in part.text)]
    if part.kind == "variable" and variables.get(part.text):
        return [tuple((char, True) for char in text) for text in variables[part.text]]
    return None


def _at_home(marked: _Marked, home: str) -> _Marked:
    if marked[:1] == (("~", False),) and (len(marked) == 1 or marked[1][0] == "/"):
        return tuple((char, True) for char in home) + marked[1:]
    return marked


def _plain(marked: _Marked) -> str:
    return "".join(char for char, _ in marked)


def _braces(marked: _Marked) -> list[_Marked]:
    """Brace lists (`{a,b}`) expanded as bash does; a brace without a comma is text."""
    opened = [index for index, (char, is_quoted) in enumerate(marked) if char == "{" and not is_quoted]
    for start in opened:
        level, commas = 0, []
        for index in range(start, len(marked)):
            char, is_quoted = marked[index]
            if is_quoted:
                continue
            level += (char == "{") - (char == "}")
            if char == "," and level == 1:
                commas.append(index)
            if level == 0:
                if not commas:
                    break
                borders = [start, *commas, index]
                choices = [marked[a + 1 : b] for a, b in pairwise(borders)]
                made = [
                    marked[:start] + chosen + rest
                    for choice in choices
                    for chosen in _braces(choice)
                    for rest in _braces(marked[index + 1 :])
                ]
                return made[:MAX_TEXTS]
    return [marked]
