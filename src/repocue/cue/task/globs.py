"""Globs over source paths, with the meaning of git's `:(glob)` pathspecs on a whole path.

`*` and `?` stop at a slash, `**` crosses slashes where it fills a whole path part, `[...]` is one character of a
class (negated by `!` or `^`; never a slash), a backslash takes the next character as it is. A glob matches a path as
git shows it, entirely: `docs` does not match what lies in `docs/`; `docs/**` does.
"""

from __future__ import annotations

import functools
import re
from enum import Enum

_POSIX = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "digit": "0-9",
    "lower": "a-z",
    "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class _Wild(Enum):
    """What stands for any number of characters."""

    IN_PART = "*"
    """Characters but slashes."""
    FOLDERS = "**/"
    """Nothing, or anything that ends in a slash."""
    REST = "**"
    """Anything, at the end."""


_Token = str | re.Pattern[str] | _Wild
"""A character as it is, an expression for one character, or a wildcard."""


def matches(glob: str, path: str) -> bool:
    """Whether `glob` matches the whole of `path`.

    Every place of the glob that the path may have reached is followed at once, so that the time is at most the
    product of the lengths, whatever the wildcards.
    """
    tokens = _tokens(glob)
    reached = _reach(tokens, {0})
    within: set[int] = set()  # places of `**/` that are inside what they take
    for character in path:
        following, taking = set(), set()
        for place in reached | within:
            token = tokens[place] if place < len(tokens) else None
            if token is _Wild.FOLDERS:
                taking.add(place)
                if character == "/":
                    following.add(place + 1)
            elif token is _Wild.REST or (token is _Wild.IN_PART and character != "/"):
                following.add(place)
            elif token == character or (isinstance(token, re.Pattern) and token.fullmatch(character)):
                following.add(place + 1)
        reached, within = _reach(tokens, following), taking
        if not reached and not within:
            return False
    return len(tokens) in reached


def _reach(tokens: tuple[_Token, ...], places: set[int]) -> set[int]:
    """`places` and those after wildcards that take nothing."""
    reached = set(places)
    for place in places:
        while place < len(tokens) and isinstance(tokens[place], _Wild):
            place += 1
            reached.add(place)
    return reached


@functools.lru_cache(maxsize=256)
def _tokens(glob: str) -> tuple[_Token, ...]:
    tokens: list[_Token] = []
    position, length = 0, len(glob)
    while position < length:
        character = glob[position]
        if character == "*":
            end = position
            while end < length and glob[end] == "*":
                end += 1
            wild = _stars(glob, position, end)
            tokens.append(wild)
            position = end + (wild is _Wild.FOLDERS)  # the slash belongs to it
        elif character == "?":
            tokens.append(_NO_SLASH)
            position += 1
        elif character == "[":
            piece, position = _class(glob, position)
            tokens.append(re.compile(piece))
        elif character == "\\" and position + 1 < length:
            tokens.append(glob[position + 1])
            position += 2
        else:
            tokens.append(character)
            position += 1
    return tuple(tokens)


_NO_SLASH = re.compile("[^/]")


def _stars(glob: str, start: int, end: int) -> _Wild:
    """What a run of stars means: `**` has its own meaning only as a whole path part."""
    opens = start == 0 or glob[start - 1] == "/"
    if end - start == 2 and opens:
        if end == len(glob):
            return _Wild.REST
        if glob[end] == "/":
            return _Wild.FOLDERS
    return _Wild.IN_PART


def _class(glob: str, start: int) -> tuple[str, int]:
    """The expression for a class and the position after it; one that is never closed matches nothing."""
    position = start + 1
    negated = position < len(glob) and glob[position] in "!^"
    position += negated
    members: list[str] = []
    first = True
    while position < len(glob) and (glob[position] != "]" or first):
        first = False
        if glob.startswith("[:", position) and ":]" in glob[position:]:
            end = glob.index(":]", position)
            members.append(_POSIX.get(glob[position + 2 : end], ""))
            position = end + 2
            continue
        low, position = _member(glob, position)
        high = low
        if position + 1 < len(glob) and glob[position] == "-" and glob[position + 1] != "]":
            high, position = _member(glob, position + 1)
        if low <= high:
            members.append(re.escape(low) if low == high else f"{re.escape(low)}-{re.escape(high)}")
    if position >= len(glob):
        return "(?!)", position
    inside = "".join(members)
    if negated:
        return f"[^/{inside}]", position + 1
    return (f"(?!/)[{inside}]" if inside else "(?!)"), position + 1


def _member(glob: str, position: int) -> tuple[str, int]:
    """One literal character of a class, unescaped, and the position after it."""
    if glob[position] == "\\" and position + 1 < len(glob):
        return glob[position + 1], position + 2
    return glob[position], position + 1
