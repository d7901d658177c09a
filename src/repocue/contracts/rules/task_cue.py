"""The rules of a task cue: original bytes once each, found again by their ids and digests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from repocue.contracts import canonical
from repocue.contracts.problems import Problem, literal
from repocue.contracts.registry import Context
from repocue.contracts.rules.common import path_problem, repeated
from repocue.domain import paths, tokens

_LINES = re.compile(r"#L([1-9][0-9]{0,15})-L([1-9][0-9]{0,15})", re.ASCII)


class _Range(NamedTuple):
    """`PATH#L<first>-L<last>`; both lines 0 for a whole file, `PATH`."""

    path: bytes
    first: int
    last: int


def task_cue(cue: Mapping[str, Any], _context: Context) -> Iterator[Problem]:
    """The rules of `repocue/task-cue-1`:

    - Items are sorted by id, blocks by path and first line, sources by path, first and last line; each stands once.
    - A block's text has its lines and its digest; blocks do not overlap; only an empty file has no lines.
    - A source lies in its block and has its digest; every source belongs to an item, and an item's sources exist.
    - estimated_tokens is the estimate of the document's own size, and within the budget.
    """
    yield from path_problem(cue["declaration"]["path"], "/declaration/path")
    ids = [item["id"] for item in cue["items"]]
    if ids != sorted(ids):
        yield Problem("/items", "are not sorted by id")
    yield from repeated(cue["items"], "/items", "the item", "id")
    yield from _block_problems(cue["blocks"])
    yield from _source_problems(cue)
    budget = cue["budget"]
    estimate = tokens.estimate(len(canonical.document(cue)))
    if budget["estimated_tokens"] != estimate:
        yield Problem("/budget/estimated_tokens", f"must be {estimate}, the estimate of this document's own size")
    if budget["estimated_tokens"] > budget["max_tokens"]:
        yield Problem("/budget/estimated_tokens", f"exceeds the budget of {budget['max_tokens']}")


def _block_problems(blocks: list[Mapping[str, Any]]) -> Iterator[Problem]:
    yield from repeated(blocks, "/blocks", "the block", "id")
    before: _Range | None = None
    for position, block in enumerate(blocks):
        where = f"/blocks/{position}"
        yield from path_problem(block["path"], where + "/path")
        first, last, path = block["first_line"], block["last_line"], block["path"]
        if (first is None) != (last is None):
            yield Problem(where + "/last_line", "first_line and last_line are null together, for an empty file")
            continue
        if first is not None and last < first:
            yield Problem(where + "/last_line", f"lies before the first line, {first}")
        if block["id"] not in (path, f"{path}#L{first}-L{last}"):
            yield Problem(where + "/id", f"must be {literal(path)} or end in #L{first}-L{last}")
        lines = 0 if first is None else last - first + 1
        if len(_lines(block["text"])) != lines:
            yield Problem(where + "/text", f"must have {lines} lines, not {len(_lines(block['text']))}")
        if block["sha256"] != canonical.digest(block["text"].encode()):
            yield Problem(where + "/sha256", "is not the digest of the text")
        here = _Range(_raw(path), first or 0, last or 0)
        if before is not None:
            if (here.path, here.first) < (before.path, before.first):
                yield Problem(where, "blocks are not sorted by path and first line")
            elif here.path == before.path and here.first <= before.last:
                yield Problem(where, "overlaps the block before it; overlapping ranges are merged")
        before = here


def _source_problems(cue: Mapping[str, Any]) -> Iterator[Problem]:
    blocks = {block["id"]: block for block in cue["blocks"]}
    sources = cue["sources"]
    yield from repeated(sources, "/sources", "the source", "id")
    spans: list[_Range] = []
    for position, source in enumerate(sources):
        where = f"/sources/{position}"
        block = blocks.get(source["block"])
        if block is None:
            yield Problem(where + "/block", f"no block has the id {literal(source['block'])}")
            continue
        span = _span(source["id"], block)
        if span is None:
            yield Problem(where + "/block", f"the block {literal(block['id'])} does not hold this source")
            continue
        spans.append(span)
        first = block["first_line"] or 0
        text = "".join(_lines(block["text"])[span.first - first : span.last - first + 1])
        if source["sha256"] != canonical.digest(text.encode()):
            yield Problem(where + "/sha256", "is not the digest of the source's bytes in its block")
    if spans != sorted(spans):
        yield Problem("/sources", "are not sorted by path, first and last line")
    yield from _item_problems(cue["items"], sources)


def _item_problems(items: list[Mapping[str, Any]], sources: list[Mapping[str, Any]]) -> Iterator[Problem]:
    known = {source["id"] for source in sources}
    used: set[str] = set()
    for position, item in enumerate(items):
        for number, name in enumerate(item["sources"]):
            used.add(name)
            if name not in known:
                yield Problem(f"/items/{position}/sources/{number}", f"no source has the id {literal(name)}")
    for position, source in enumerate(sources):
        if source["id"] not in used:
            yield Problem(f"/sources/{position}", "no item has this source")


def _span(source_id: str, block: Mapping[str, Any]) -> _Range | None:
    """Where a source lies in its block's file, or None where the block does not hold it."""
    path = block["path"]
    first, last = block["first_line"] or 0, block["last_line"] or 0
    if source_id == path:
        return _Range(_raw(path), first, last)
    match = _LINES.fullmatch(source_id.removeprefix(path)) if source_id.startswith(path) else None
    if match is None or not first:
        return None
    span = _Range(_raw(path), int(match[1]), int(match[2]))
    return span if first <= span.first <= span.last <= last else None


def _lines(text: str) -> list[str]:
    """The lines of a text, each up to and including its LF."""
    *ended, rest = text.split("\n")
    return [line + "\n" for line in ended] + ([rest] if rest else [])


def _raw(path: str) -> bytes:
    try:
        return paths.raw(path)
    except ValueError:  # reported as a path problem already
        return path.encode()
