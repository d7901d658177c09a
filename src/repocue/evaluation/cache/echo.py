"""Does a response repeat the key? Then its body is withheld (seed, "Contracts and limits").

Looked for are the key itself and every stretch of it that is long enough to matter, in any letter case, backwards,
or split by whatever cannot be part of it (white space, quotes, NUL, line breaks), in base64 (every alignment, both
alphabets, also base64 of base64), hexadecimal and decimal character codes; each of these also behind JSON, percent,
HTML or quoted-printable escapes, several layers deep. A key of a few characters is looked for as
it is. Nothing can find every disguise: what is found, is withheld.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Final

_STRETCH: Final = 16
"""A repeated part of the key of 2 * 16 - 1 characters or more always holds one of these whole."""

_TELLING: Final = 8
"""Fewer characters stand in ordinary texts by chance: such a key is looked for as it is and in no disguise."""

_LAYERS: Final = 3
_TAIL: Final = 16
_GZIP: Final = b"\x1f\x8b"

_ESCAPE: Final = re.compile(
    rb"\\u([0-9a-fA-F]{4})"
    rb"|\\u\{([0-9a-fA-F]{1,6})\}"
    rb"|\\x([0-9a-fA-F]{2})"
    rb"|%([0-9a-fA-F]{2})"
    rb"|&#[xX]([0-9a-fA-F]{1,6});?"
    rb"|&#([0-9]{1,7});?"
    rb"|=([0-9A-F]{2})"
    rb"|\\([0-7]{3})"
    rb"|\\(.)",
    re.DOTALL,
)
_BASES: Final = (16, 16, 16, 16, 16, 10, 16, 8)
"""Of the groups of `_ESCAPE` that hold a number, in order."""
_NOT_IN_A_KEY: Final = re.compile(rb"[^A-Za-z0-9_-]+")
_NOT_BASE64: Final = re.compile(rb"[^A-Za-z0-9+/]+")
_NOT_HEX: Final = re.compile(rb"0x|[^0-9a-f]+")
_NOT_CODES: Final = re.compile(rb"[^0-9,]+")


def repeats(body: bytes, key: str) -> bool:
    """Whether `body` holds `key`, or a long stretch of it, in any form named above."""
    if not key:
        return False
    secret = key.encode("utf-8", "surrogateescape")
    plain, base64s, hexes, codes = _needles(secret)
    for view in _views(body):
        joined = _NOT_IN_A_KEY.sub(b"", view).lower()
        if any(needle in joined for needle in plain) or secret in view:
            return True
        joined = _NOT_BASE64.sub(b"", view.replace(b"-", b"+").replace(b"_", b"/"))
        if any(needle in joined for needle in base64s):
            return True
        joined = _NOT_HEX.sub(b"", view.lower())
        if any(needle in joined for needle in hexes):
            return True
        joined = _NOT_CODES.sub(b"", view)
        if any(needle in joined for needle in codes):
            return True
    return False


def is_telling(key: str) -> bool:
    """Whether a key is long enough that a text which holds it does so for no other reason."""
    return len(_NOT_IN_A_KEY.sub(b"", key.encode("utf-8", "surrogateescape"))) >= _TELLING


def breaks_off_within(body: bytes, key: str) -> bool:
    """Whether a body that was cut off ends in what may be the beginning of `key`."""
    stripped = _NOT_IN_A_KEY.sub(b"", key.encode("utf-8", "surrogateescape"))
    end = _NOT_IN_A_KEY.sub(b"", body[-8 * len(key) - 64 :])
    return any(end.endswith(stripped[:length]) for length in range(min(_TAIL, len(stripped)), len(stripped)))


def is_compressed(body: bytes) -> bool:
    """Whether a body begins as gzip does: what it holds cannot be looked through."""
    return body.startswith(_GZIP)


def _needles(secret: bytes) -> tuple[set[bytes], set[bytes], set[bytes], set[bytes]]:
    """What to look for: plain (lower case), base64, hexadecimal, comma-separated decimal codes."""
    plain: set[bytes] = set()
    base64s: set[bytes] = set()
    hexes: set[bytes] = set()
    codes: set[bytes] = set()
    stripped = _NOT_IN_A_KEY.sub(b"", secret)
    if len(stripped) < _TELLING:
        return plain, base64s, hexes, codes
    for stretch in _stretches(stripped):
        plain |= {stretch.lower(), stretch[::-1].lower()}
    for stretch in _stretches(secret):
        base64s |= set(_base64_forms(stretch))
        hexes.add(stretch.hex().encode())
        codes.add(b",".join(b"%d" % byte for byte in stretch))
    base64s |= {form for once in (base64.b64encode(secret),) for form in _base64_forms(once)}
    return plain, base64s, hexes, codes


def _stretches(text: bytes) -> Iterator[bytes]:
    """The text itself where it is short, else its consecutive stretches of `_STRETCH` bytes."""
    if len(text) < 2 * _STRETCH:
        if text:
            yield text
        return
    for start in range(0, len(text) - _STRETCH + 1, _STRETCH):
        yield text[start : start + _STRETCH]


def _base64_forms(text: bytes) -> Iterator[bytes]:
    """What every base64 text that contains `text` at some alignment has in common, in the standard alphabet."""
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + text).rstrip(b"=")
        first = -(-before * 8 // 6)  # characters that also depend on what stands before
        last = (before + len(text)) * 8 // 6  # characters after these also depend on what follows
        if first < last:
            yield encoded[first:last]


def _views(body: bytes) -> Iterator[bytes]:
    """The body, then the body with one more layer of escapes taken off each time."""
    view = body
    yield view
    for _ in range(_LAYERS):
        unescaped = _ESCAPE.sub(_unescaped, view)
        if unescaped == view:
            return
        view = unescaped
        yield view


def _unescaped(match: re.Match[bytes]) -> bytes:
    for group, base in enumerate(_BASES, 1):
        if match[group] is not None:
            code = int(match[group], base)
            return bytes([code]) if code < 256 else b"?"
    letter = match[len(_BASES) + 1]
    return b" " if letter in b"ntrbfv0" else letter
