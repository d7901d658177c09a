"""Foreign text on the page: names of repositories, folders and people, as they are and unable to mislead. Pure.

Markup is the template's business (it escapes everything). Here control characters, which HTML and SVG cannot carry,
and characters that turn the reading direction of what follows become visible escapes.
"""

from __future__ import annotations

import re
from typing import Final

_UNSAFE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff]"
)


def plain(text: object) -> str:
    """The text with every control, direction and surrogate character as `\\xNN` or `\\uNNNN`."""
    return _UNSAFE.sub(_escape, str(text))


def words(name: object) -> str:
    """A member's or a reason's name as words: `epoch-superseded` becomes `epoch superseded`."""
    return plain(name).replace("_", " ").replace("-", " ")


def short(text: object, longest: int, position: int) -> str:
    """A label that fits its column; where it is cut, its position among the labels keeps it unlike every other."""
    shown = plain(text)
    end = f"… ({position + 1})"
    return shown if len(shown) <= longest else shown[: longest - len(end)] + end


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def moment(text: object) -> str:
    """A contract's time, to the second: `2026-11-30 19:05:07`."""
    return plain(text)[:19].replace("T", " ")
