"""JSON lines as agents print them: strict about being JSON, tolerant of repeated members.

A repeated member does not lose a run (a real program writes `id` twice in one event), but whoever reads numbers out
of an object must refuse one that repeats members: `Members.repeated` tells.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from repocue.errors import EvaluationError


class StreamError(EvaluationError):
    """An agent's event stream cannot be read, or contradicts itself. The message names the line."""

    default_code = "runner.stream"


class Members(dict[str, Any]):
    """A JSON object. Of a repeated member the first value is kept, and its name is listed in `repeated`."""

    __slots__ = ("repeated",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__()
        repeated = []
        for name, value in pairs:
            if name in self:
                repeated.append(name)
            else:
                self[name] = value
        self.repeated: tuple[str, ...] = tuple(repeated)


class Line(NamedTuple):
    """One line's object and its 1-based number in the stream."""

    number: int
    event: Members


def read(data: bytes) -> Iterator[Line]:
    """The objects of a JSON lines stream, in order; blank lines are passed over.

    Raises StreamError for bytes that are not UTF-8, text that is not exactly one JSON object a line, NaN and
    infinities, and nesting or numbers beyond what can be read.
    """
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if raw.strip():
            yield Line(number, _object(raw, number))


def type_of(line: Line) -> str:
    """The event's type, which it must name once; raises StreamError."""
    kind = line.event.get("type")
    if not isinstance(kind, str):
        raise StreamError(f"line {line.number} of the event stream has no type")
    if "type" in line.event.repeated:
        raise StreamError(f"line {line.number} of the event stream names its type twice")
    return kind


def repetitions(value: object) -> Iterator[str]:
    """The names of members that repeat anywhere inside `value`."""
    if isinstance(value, Members):
        yield from value.repeated
        for inner in value.values():
            yield from repetitions(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from repetitions(inner)


def _object(raw: bytes, number: int) -> Members:
    try:
        value = _decoder.decode(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise StreamError(f"line {number} of the event stream is not UTF-8") from None
    except RecursionError:
        raise StreamError(f"line {number} of the event stream is nested too deeply") from None
    except ValueError as error:  # JSONDecodeError, a constant that JSON does not have, an overlong integer
        raise StreamError(f"line {number} of the event stream is not JSON: {error}") from None
    if not isinstance(value, Members):
        raise StreamError(f"line {number} of the event stream is not a JSON object")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


_decoder = json.JSONDecoder(object_pairs_hook=Members, parse_constant=_no_constant)
