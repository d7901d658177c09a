"""Path text: how git's path bytes are written in JSON, one-to-one (ARCHITECTURE §3).

Valid UTF-8 that does not begin with `"` is shown as it is. Anything else is C-quoted, byte for byte as git prints
it with `core.quotePath=true`. So a text that begins with `"` is always a quoted one, and nothing is ambiguous.
"""

from __future__ import annotations

import re

_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_QUOTED = [
    "\\" + _ESCAPES[byte] if byte in _ESCAPES else chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
    for byte in range(256)
]
_UNQUOTED = {letter: bytes([byte]) for byte, letter in _ESCAPES.items()}
_PART = r"(?s)\\([0-3][0-7]{2}|.)|([^\\]+)"


def display(path: bytes) -> str:
    """The text of a path (or of a branch name, which git may also hold in any bytes)."""
    if not path.startswith(b'"'):
        try:
            return path.decode()
        except UnicodeDecodeError:
            pass
    return quoted(path)


def quoted(path: bytes) -> str:
    """The C-quoted form, with the enclosing quotes, whether or not the path needs it."""
    return '"' + "".join([_QUOTED[byte] for byte in path]) + '"'


def raw(text: str) -> bytes:
    """The path bytes of a text that `display` made: its exact inverse.

    Raises ValueError for a text that `display` never makes: a quoted form that is unfinished, is spelled in
    another way or need not be quoted, and text that is not Unicode.
    """
    if not text.startswith('"'):
        return text.encode()
    parts: list[bytes] = []
    for match in re.finditer(_PART, text[1:-1]):
        escape, plain = match.groups()
        if plain is not None:
            parts.append(plain.encode())
        elif len(escape) == 3:
            parts.append(bytes([int(escape, 8)]))
        else:
            parts.append(_UNQUOTED.get(escape, b""))
    path = b"".join(parts)
    if display(path) != text:
        raise ValueError(f"not the text of a path: {text!r}")
    return path


def display_all(joined: bytes) -> list[str]:
    """The texts of paths that are each ended by NUL, as git's `-z` prints them."""
    if not joined:
        return []
    if not joined.startswith(b'"') and b'\0"' not in joined:
        try:
            texts = joined.decode().split("\0")
        except UnicodeDecodeError:
            pass
        else:
            texts.pop()
            return texts
    return [display(path) for path in joined.split(b"\0")[:-1]]


def sort_key(text: str) -> bytes:
    """The key under which texts sort in git order: the path's own bytes."""
    return raw(text)
