"""Which targets a Makefile states outright: a pure, bounded reading that executes and expands nothing.

A target counts when its name is written as such: not made by a variable, pattern, wildcard or suffix rule, not
inside `define`, and not a mere target-specific variable. Names that begin with `.` and hold no `/` are left out, as
make leaves them out when it looks for a default goal. Both branches of a conditional count, since nothing is evaluated.
"""

from __future__ import annotations

import re
from typing import Final

NAMES: Final = ("GNUmakefile", "makefile", "Makefile")
"""The file names that GNU make looks for, in its order."""

MAX_NAME_BYTES: Final = 100

_DIRECTIVES: Final = frozenset(
    (
        *("include", "-include", "sinclude", "export", "unexport", "override"),
        *("private", "undefine", "vpath", "load", "-load"),
    )
)
_CONDITIONALS: Final = frozenset(("ifeq", "ifneq", "ifdef", "ifndef", "else", "endif"))
_ASSIGNMENT: Final = re.compile(r"\s*(?:(?:override|export|unexport|private)\s+)*[^\s:#=?+!;]+\s*(?::{1,3}|[?+!])?=")
_PREFIX: Final = re.compile(r"\.RECIPEPREFIX\s*(?::{1,3}|\?)?=\s*(.?)")
_UNREAL: Final = re.compile(r"[$%*?\[\]\\()\x00-\x1f\x7f]")


def targets(data: bytes) -> list[str]:
    """The names of the targets stated in a Makefile, each once, in the order of appearance.

    Lines that are not UTF-8 state nothing; names longer than `MAX_NAME_BYTES` are left out.
    """
    found: dict[str, None] = {}
    prefix = "\t"
    depth = 0
    for line in _logical_lines(data.decode("utf-8", "surrogateescape")):
        words = line.split(None, 2)
        first = words[0] if words else ""
        if depth:
            depth += _opens_define(words) - (first == "endef")
            continue
        if line.startswith(prefix) or not words or first.startswith("#"):
            continue
        if _opens_define(words):
            depth = 1
            continue
        if changed := _PREFIX.match(line):
            prefix = changed[1] or "\t"
            continue
        if first in _CONDITIONALS or (first in _DIRECTIVES and not line.split(first, 1)[1].lstrip().startswith(":")):
            continue
        for name in _stated(line):
            if _is_real(name):
                found[name] = None
    return list(found)


def _logical_lines(text: str) -> list[str]:
    """Lines with backslash-continued ones joined by a space, as make does outside recipes."""
    lines: list[str] = []
    pending: list[str] = []
    for line in text.split("\n"):
        line = line.removesuffix("\r")
        trailing = len(line) - len(line.rstrip("\\"))
        if trailing % 2:
            pending.append(line[:-1])
        elif pending:
            lines.append(" ".join([*pending, line]))
            pending = []
        else:
            lines.append(line)
    if pending:
        lines.append(" ".join(pending))
    return lines


def _opens_define(words: list[str]) -> bool:
    """Whether these first words of a line begin a `define` (and not an assignment to a variable of that name)."""
    while words and words[0] in ("override", "export", "private"):
        words = words[1:] if len(words) < 3 else [*words[1:2], *words[2].split(None, 1)]
    return len(words) > 1 and words[0] == "define" and words[1][:1] not in ("=", ":", "?", "+")


def _stated(line: str) -> list[str]:
    """The words before the rule's colon, or none where the line is no rule."""
    depth = 0
    words: list[str] = []
    word: list[str] = []
    previous = ""
    for position, char in enumerate(line):
        if previous == "\\":
            word.append(char)
            previous = ""
            continue
        if char in "({" and (previous == "$" or depth):
            depth += 1
        elif char in ")}" and depth:
            depth -= 1
        if depth == 0:
            if char == "#" or char == "=":
                return []
            if char == ":":
                words.append("".join(word).removesuffix("&"))
                rest = line[position + 1 :].lstrip(":")
                return [] if rest.startswith("=") or _ASSIGNMENT.match(rest.split(";", 1)[0]) else words
            if char.isspace():
                words.append("".join(word))
                word = []
                previous = ""
                continue
        word.append(char)
        previous = char
    return []


def _is_real(name: str) -> bool:
    if not name or name == "&" or _UNREAL.search(name) or (name.startswith(".") and "/" not in name):
        return False
    try:
        return len(name.encode()) <= MAX_NAME_BYTES
    except UnicodeEncodeError:
        return False
