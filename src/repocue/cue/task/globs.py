"""Globs over source paths, with the meaning of git's `:(glob)` pathspecs on a whole path.

`*` and `?` stop at a slash, `**` crosses slashes where it fills a whole path part, `[...]` is one character of a
class (negated by `!` or `^`; never a slash), a backslash takes the next character as it is. A glob matches a path as
git shows it, entirely: `docs` does not match what lies in `docs/`; `docs/**` does.
"""

from __future__ import annotations

import functools
import re

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


def matches(glob: str, path: str) -> bool:
    """Whether `glob` matches the whole of `path`."""
    return _compiled(glob).fullmatch(path) is not None


@functools.lru_cache(maxsize=256)
def _compiled(glob: str) -> re.Pattern[str]:
    parts: list[str] = []
    position, length = 0, len(glob)
    while position < length:
        character = glob[position]
        if character == "*":
            end = position
            while end < length and glob[end] == "*":
                end += 1
            parts.append(_stars(glob, position, end))
            if parts[-1] == _ANY_FOLDERS:
                end += 1  # the slash belongs to it
            position = end
        elif character == "?":
            parts.append("[^/]")
            position += 1
        elif character == "[":
            piece, position = _class(glob, position)
            parts.append(piece)
        elif character == "\\" and position + 1 < length:
            parts.append(re.escape(glob[position + 1]))
            position += 2
        else:
            parts.append(re.escape(character))
            position += 1
    return re.compile("".join(parts), re.DOTALL)


_ANY_FOLDERS = "(?:.*/)?"


def _stars(glob: str, start: int, end: int) -> str:
    """The expression for a run of stars: `**` has its own meaning only as a whole path part."""
    opens = start == 0 or glob[start - 1] == "/"
    if end - start == 2 and opens:
        if end == len(glob):
            return ".*"
        if glob[end] == "/":
            return _ANY_FOLDERS
    return "[^/]*"


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
