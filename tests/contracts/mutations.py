"""Every single change to a document that a strict reader must refuse, as the text that results.

A mutation is (name, pointer of the changed value, text). What a change means is decided by the JSON type of the value
alone, so nothing here knows a contract; `HARMLESS` lists, by hand, the changes that leave a valid document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from repocue.contracts.problems import token
from tests.contracts.documents import Document, text_of

_MARK = "@@@ here @@@"
_DEEP = b"[" * 65 + b"]" * 65


class Mutation(NamedTuple):
    """One change and the text it gives."""

    name: str
    pointer: str
    data: bytes


def mutations(document: Document) -> Iterator[Mutation]:
    """All single changes of `document`, one for each kind of change and place where it can be made."""
    whole = text_of(document)
    yield Mutation("byte-order-mark", "", b"\xef\xbb\xbf" + whole)
    yield Mutation("trailing-value", "", whole + b"{}")
    yield Mutation("trailing-comma", "", whole.rstrip()[:-1] + b",}")
    yield Mutation("cut", "", whole.rstrip()[:-1])
    yield Mutation("nothing", "", b"")
    yield Mutation("an-array-of-it", "", b"[" + whole + b"]")
    yield Mutation("utf-16", "", whole.decode().encode("utf-16"))
    for pointer, value, replaced in _values(document):
        yield from _of_any(pointer, value, replaced)
        if isinstance(value, dict):
            yield from _of_object(pointer, value, replaced)


def _of_any(pointer: str, value: Any, replaced: Any) -> Iterator[Mutation]:
    """Changes of one value: another type, and for numbers another number."""
    for name, raw in _others(value):
        yield Mutation(name, pointer, replaced(raw))
    if pointer:
        yield Mutation("deep-nesting", pointer, replaced(_DEEP))
    if isinstance(value, str):
        yield Mutation("invalid-utf-8", pointer, replaced(b'"' + value.encode()[:1] + b'\xff"'))
        yield Mutation("half-a-surrogate-pair", pointer, replaced(b'"\\ud83d"'))
        yield Mutation("control-character", pointer, replaced(b'"a\tb"'))


def _others(value: Any) -> Iterator[tuple[str, bytes]]:
    if isinstance(value, bool) or value is None:
        yield from (("an-object", b'{"":0}'), ("negative", b"-1"))
        if value is None:
            yield "a-boolean", b"true"
    elif isinstance(value, int | float):
        yield from (("a-string", b'"1"'), ("a-boolean", b"true"), ("an-array", b"[]"))
        yield "negative", b"%d" % (-300 - int(value))
        yield "fractional", json.dumps(value + 0.5).encode()
        yield "with-a-zero-fraction", b"%d.0" % int(value)
        yield "with-an-exponent", b"%de0" % int(value)
        yield "two-to-the-53", b"9007199254740992"
        yield "thousands-of-digits", b"1" * 5000
        yield "nan", b"NaN"
        yield "infinite", b"-Infinity"
        yield "huge-exponent", b"1e400"
        yield "tiny-exponent", b"1e-400"
        yield "leading-zero", b"01"
    elif isinstance(value, str):
        yield from (("an-array", b"[]"), ("a-number", b"7"), ("a-boolean", b"true"))
    elif isinstance(value, list):
        yield from (("an-object", b"{}"), ("a-string", b'"x"'), ("a-number", b"7"))
    else:
        yield from (("an-array", b"[]"), ("a-string", b'"x"'), ("a-number", b"7"))


def _of_object(pointer: str, value: Document, replaced: Any) -> Iterator[Mutation]:
    """Changes of an object's members."""
    yield Mutation("member-added", pointer, replaced(_json({**value, "extra": 1})))
    for name, member in value.items():
        place = pointer + token(name)
        rest = {key: part for key, part in value.items() if key != name}
        yield Mutation("member-removed", place, replaced(_json(rest)))
        yield Mutation("member-renamed", place, replaced(_json({**rest, name + "_": member})))
        again = b"," + _json(name) + b":" + _json(member) + b"}"
        yield Mutation("member-duplicated", place, replaced(_json(value)[:-1] + again))


def _values(document: Document) -> Iterator[tuple[str, Any, Any]]:
    """(pointer, value, function from raw JSON to the document's text with that in the value's place)."""

    def walk(value: Any, pointer: str, rebuild: Any) -> Iterator[tuple[str, Any, Any]]:
        yield pointer, value, lambda raw: text_of(rebuild(_MARK)).replace(_json(_MARK), raw)
        if isinstance(value, dict):
            for name, member in value.items():

                def with_member(part: Any, name: str = name) -> Any:
                    return rebuild({**value, name: part})

                yield from walk(member, pointer + token(name), with_member)
        elif isinstance(value, list):
            for number, item in enumerate(value):

                def with_item(part: Any, number: int = number) -> Any:
                    return rebuild([*value[:number], part, *value[number + 1 :]])

                yield from walk(item, pointer + token(number), with_item)

    yield from walk(document, "", lambda whole: whole)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


_FRACTIONS = ("fractional", "with-a-zero-fraction", "with-an-exponent")

HARMLESS: list[tuple[str, tuple[str, ...], str]] = [
    # A duration may have a fraction; but one that is derived from two times equals their difference.
    (r"(?!cache-observation).*", _FRACTIONS, r".*_ms"),
    (r"cache-observation-1", _FRACTIONS[1:], r"/duration_ms"),
    # Members that may be absent.
    (r"evaluation-.*", ("member-removed",), r".*/metadata/(codex|cli)_version"),
    (r"evaluation-.*|task-runner-1", ("member-removed",), r".*/findings/\d+/evidence"),
    (r"evaluation-3.*", ("member-removed",), r"/cue/schema_version"),
    (r"evaluation-4.dry", ("member-removed",), r"/cue/structural_\w+"),
    (r"evaluation-3.*", ("member-removed",), r"/runner"),
    (r"qualitative-assessment-2", ("member-removed",), r"/assessed_at"),
    (r"evaluation-runner-4.unknown", ("member-removed",), r"/usage_events/0/(?!turn).*|/metrics/total_tokens"),
    (r"locate-1", ("member-removed",), r"/evidence|/index|/index/skipped(/\w+)?|/warnings/\d+/count"),
    # A path may stand alone: that is a file whose content is the index's.
    (r"locate-1", ("a-string",), r"/paths/\d+"),
    # Version 3 leaves the repository object open.
    (r"evaluation-3.*", ("member-added",), r"/repository"),
    # What is unknown may become known.
    (r"cache-evaluation-1.summary", ("a-boolean",), r"/pairs/\d+/quality/\w+"),
]
"""(documents, mutations, pointers), as regular expressions, of changes that leave a valid document."""


def is_harmless(document: str, mutation: Mutation) -> bool:
    """Whether `HARMLESS` lists this mutation of this document."""
    return any(
        re.fullmatch(documents, document) and mutation.name in names and re.fullmatch(pointers, mutation.pointer)
        for documents, names, pointers in HARMLESS
    )
