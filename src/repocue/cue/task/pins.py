"""Rewriting the pins of a declaration, and nothing else in it.

The new digests go over the old ones in the text itself: white space, member order, line ends and everything that the
reader does not look at stay byte for byte.
"""

from __future__ import annotations

import json
import re
from typing import Final

_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"[^ \t\r\n,\]}]+")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')

Span = tuple[int, int]
Pointer = tuple[str | int, ...]

PIN: Final = "sha256"


def rewrite(data: bytes, pins: dict[tuple[int, int], str]) -> bytes:
    """`data`, a valid declaration, with the pin of source j of item i replaced by `pins[i, j]`."""
    text = data.decode("utf-8")
    spans = _Spans(text).found
    pieces: list[str] = []
    position = 0
    for (start, end), pin in sorted((spans["items", i, "sources", j, PIN], pin) for (i, j), pin in pins.items()):
        pieces += [text[position:start], json.dumps(pin)]
        position = end
    return "".join([*pieces, text[position:]]).encode("utf-8")


class _Spans:
    """Where the strings of a JSON text stand, by pointer. The text must be valid JSON without duplicate members."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self.found: dict[Pointer, Span] = {}
        self._value(())

    def _value(self, pointer: Pointer) -> None:
        opening = self._peek()
        if opening == "{":
            self._object(pointer)
        elif opening == "[":
            self._array(pointer)
        elif opening == '"':
            self.found[pointer] = self._take(_STRING)
        else:
            self._take(_SCALAR)

    def _object(self, pointer: Pointer) -> None:
        self._position += 1
        while self._peek() != "}":
            start, end = self._take(_STRING)
            self._peek()
            self._position += 1  # the colon
            self._value((*pointer, json.loads(self._text[start:end])))
            self._skip_comma()
        self._position += 1

    def _array(self, pointer: Pointer) -> None:
        self._position += 1
        number = 0
        while self._peek() != "]":
            self._value((*pointer, number))
            number += 1
            self._skip_comma()
        self._position += 1

    def _skip_comma(self) -> None:
        if self._peek() == ",":
            self._position += 1

    def _peek(self) -> str:
        self._position = self._match(_SPACE).end()
        return self._text[self._position]

    def _take(self, pattern: re.Pattern[str]) -> Span:
        match = self._match(pattern)
        self._position = match.end()
        return match.span()

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self._text, self._position)
        if match is None:
            raise ValueError(f"not valid JSON at character {self._position}")
        return match
