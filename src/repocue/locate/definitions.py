"""Definitions in source text, found by their first line: good enough to rank and point by, in any common language."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

MAX_LINES: Final = 60
"""A range ends here at the latest; a longer one points at nothing in particular."""

_DEFINITION = re.compile(
    r"^([ \t]*)(?:(?:pub(?:\([^)\n]*\))?|async|export|default|static|public|private|protected|abstract|final|unsafe"
    r"|const|extern|override|inline)[ \t]+)*"
    r"(?:def|class|fn|struct|enum|union|trait|impl(?:<[^>\n]*>)?|mod|type|interface|function|func|macro_rules!|const"
    r"|static|let|var|module|namespace|sub|proc)[ \t]+(?:\([^)\n]*\)[ \t]*)?([^\W\d]\w{1,63})",
    re.MULTILINE,
)


class Definition(NamedTuple):
    """A name and the lines it spans, 1-based, inclusive."""

    name: str
    first: int
    last: int


def names(text: str) -> list[str]:
    """The names that a text defines, in order, repeated where it repeats them."""
    return [found[1] for found in _DEFINITION.findall(text)]


def spans(text: str) -> list[Definition]:
    """Definitions with their lines: each ends before the next one that is indented no deeper, or after 60 lines."""
    found = [(match.start(2), len(match[1].expandtabs()), match[2]) for match in _DEFINITION.finditer(text)]
    lines = []
    line, at = 1, 0
    for start, indent, name in found:
        line += text.count("\n", at, start)
        at = start
        lines.append((line, indent, name))
    last = text.count("\n") + (not text.endswith("\n"))
    spans = []
    for position, (first, indent, name) in enumerate(lines):
        end = min(last, first + MAX_LINES - 1)
        for following, depth, _ in lines[position + 1 : position + 1 + MAX_LINES]:
            if depth <= indent:
                end = min(end, following - 1)
                break
        spans.append(Definition(name, first, max(first, end)))
    return spans
