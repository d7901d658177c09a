"""From bytes to plain values, strictly (ARCHITECTURE §5): the steps that need no contract.

In this order: size limit, no byte order mark, strict UTF-8, depth limit (before any parser could recurse), then
Python's `json` with hooks. Refused with a JSON pointer: duplicate members, NaN and infinities (numbers such as
`1e400` too), numbers that would silently become zero (`1e-400`), integers beyond ±(2^53 - 1), and escapes of half
a surrogate pair, which no UTF-8 text could carry on. A number written with a fraction or an exponent stays a float.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from repocue.contracts.problems import Problem, contract_error, shown, token
from repocue.domain.measurement import MAX_COUNTER
from repocue.errors import ContractError

_BOM = b"\xef\xbb\xbf"
_FOREIGN_BOMS = (b"\xff\xfe", b"\xfe\xff")
# A string that never ends is taken as running to the end of the text: the parser will say so, and the search stays
# linear whatever the bytes are.
_BRACKETS_OUTSIDE_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_MAX_INTEGER_DIGITS = len(str(MAX_COUNTER))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on one JSON text. `max_depth` counts nested arrays and objects; `[[1]]` has depth 2."""

    max_bytes: int = 16 * 1024 * 1024
    max_depth: int = 64


DEFAULT_LIMITS = Limits()


def read_json(data: bytes, *, limits: Limits = DEFAULT_LIMITS, subject: str = "the document") -> Any:
    """The one JSON value in `data`, as dict, list, str, int, float, bool or None.

    This is also the lenient mode, for what a provider sent: it knows no members, so extension members pass, and
    everything named above still fails. Raises ContractError; `subject` names the text in its message.
    """
    text = _decode(data, limits, subject)
    _check_depth(data, limits, subject)
    import json

    hooks = _Hooks()
    try:
        value = json.loads(
            text,
            object_pairs_hook=hooks.members,
            parse_constant=hooks.constant,
            parse_float=hooks.real,
            parse_int=hooks.integer,
        )
    except json.JSONDecodeError as error:
        raise _error(
            f"{subject} is not JSON: {_sentence(error.msg)} at line {error.lineno}, column {error.colno}", "syntax"
        ) from None
    if hooks.found_defect or _SURROGATE_ESCAPE.search(text):
        defect = _first_defect(value, "")
        if defect is not None:
            code, problem = defect
            raise contract_error([problem], code=code, subject=subject)
    return value


def _decode(data: bytes, limits: Limits, subject: str) -> str:
    if len(data) > limits.max_bytes:
        raise _error(f"{subject} has {len(data)} bytes; at most {limits.max_bytes} are read", "size")
    if data.startswith(_BOM):
        raise _error(f"{subject} begins with a byte order mark; JSON here is UTF-8 without one", "encoding")
    if data.startswith(_FOREIGN_BOMS):
        raise _error(f"{subject} is UTF-16 or UTF-32; JSON here is UTF-8", "encoding")
    try:
        return data.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        raise _error(f"{subject} is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}", "encoding") from None


def _check_depth(data: bytes, limits: Limits, subject: str) -> None:
    if data.count(b"[") + data.count(b"{") <= limits.max_depth:
        return
    depth = 0
    for match in _BRACKETS_OUTSIDE_STRINGS.finditer(data):
        first = data[match.start()]
        if first in b"[{":
            depth += 1
            if depth > limits.max_depth:
                raise _error(
                    f"{subject} nests arrays and objects more than {limits.max_depth} levels deep"
                    f" (at byte {match.start()})",
                    "depth",
                )
        elif first in b"]}":
            depth -= 1


class _Duplicated(dict[str, Any]):
    """An object in which `name` stood more than once."""

    __slots__ = ("name",)
    name: str


class _BadNumber:
    """Stands where a number cannot be kept as it was written."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message


class _Hooks:
    """What `json` calls. Defects are left in place, so that a walk afterwards knows their pointer."""

    __slots__ = ("found_defect",)

    def __init__(self) -> None:
        self.found_defect = False

    def members(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) == len(pairs):
            return result
        self.found_defect = True
        duplicated = _Duplicated(result)
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                duplicated.name = name
                break
            seen.add(name)
        return duplicated

    def constant(self, text: str) -> _BadNumber:
        return self._bad(f"{text} is not a JSON number")

    def integer(self, text: str) -> int | _BadNumber:
        if len(text) <= _MAX_INTEGER_DIGITS + 1:  # one more for a sign; longer text need not be converted to be refused
            value = int(text)
            if -MAX_COUNTER <= value <= MAX_COUNTER:
                return value
        return self._bad(f"the integer {shown(text)} is beyond ±{MAX_COUNTER} and cannot be kept exactly")

    def real(self, text: str) -> float | _BadNumber:
        value = float(text)
        if value - value != 0:
            return self._bad(f"the number {shown(text)} is too large to be kept")
        if value == 0 and text.lower().partition("e")[0].strip("-0."):
            return self._bad(f"the number {shown(text)} is too small to be kept: it would become zero")
        return value

    def _bad(self, message: str) -> _BadNumber:
        self.found_defect = True
        return _BadNumber(message)


def _first_defect(value: Any, where: str) -> tuple[str, Problem] | None:
    """(error code, problem) of the first defect in document order. Recursion is bounded by the depth limit."""
    if isinstance(value, _BadNumber):
        return "number", Problem(where, value.message)
    if isinstance(value, str):
        return ("text", Problem(where, _HALF_PAIR)) if _has_half_pair(value) else None
    if isinstance(value, dict):
        for name in value:
            if _has_half_pair(name):
                return "text", Problem(where, "in a member's name, " + _HALF_PAIR)
        if isinstance(value, _Duplicated):
            message = "this member stands more than once in its object"
            return "duplicate-member", Problem(where + token(value.name), message)
        parts: Iterable[tuple[str | int, Any]] = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    else:
        return None
    for name, part in parts:
        defect = _first_defect(part, where + token(name))
        if defect:
            return defect
    return None


_HALF_PAIR = "the text holds half a surrogate pair (an escape from \\ud800 to \\udfff standing alone)"


def _has_half_pair(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _error(message: str, code: str) -> ContractError:
    return ContractError(message, pointer=None, code="contract." + code)


def _sentence(text: str) -> str:
    return text[:1].lower() + text[1:]
