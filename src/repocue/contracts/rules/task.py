"""The rules of declarations, tasks, task benchmarks and policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from repocue.contracts.problems import Problem, literal
from repocue.contracts.registry import Context
from repocue.contracts.rules.common import not_in_future, path_problem, repeated, under


def context(document: Mapping[str, Any], _context: Context) -> Iterator[Problem]:
    """The rules of `repocue/task-context-1`:

    - Items' ids stand once each, and a source once in its item. No two different sources have one id: a file's name may
      end as a range does.
    - Paths are relative and spelled as git shows them; the first line is not after the last.
    """
    yield from repeated(document["items"], "/items", "the item", "id")
    meant: dict[str, tuple[str, tuple[int, ...]]] = {}
    for position, item in enumerate(document["items"]):
        seen: set[tuple[str, tuple[int, ...]]] = set()
        for number, source in enumerate(item["sources"]):
            where = f"/items/{position}/sources/{number}"
            yield from path_problem(source["path"], where + "/path")
            lines = source["lines"]
            if lines is not None and lines[0] > lines[1]:
                yield Problem(where + "/lines", f"the first line, {lines[0]}, lies after the last, {lines[1]}")
            key = (source["path"], tuple(lines or ()))
            if key in seen:
                yield Problem(where, "this source stands twice in its item")
            seen.add(key)
            name = source["path"] + (f"#L{lines[0]}-L{lines[1]}" if lines else "")
            if meant.setdefault(name, key) != key:
                yield Problem(where, f"{literal(name)} is the id of another source already, a whole file or a range")


def task(document: Mapping[str, Any], _context: Context) -> Iterator[Problem]:
    """The rules of `repocue/task-1`:

    - declaration is relative and spelled as git shows it; the selector names at least one thing.
    """
    yield from path_problem(document["declaration"], "/declaration")
    if not any(document["selector"].values()):
        yield Problem("/selector", "selects nothing: items, tags, kinds and paths are all empty")


def benchmark(document: Mapping[str, Any], context: Context) -> Iterator[Problem]:
    """The rules of `repocue/task-benchmark-1`:

    - The task keeps its own rules.
    - verification is there exactly for a verification task; its commands' ids stand once each, and each names a
      program. An explanation task has a rubric.
    """
    yield from under("/task", task(document["task"], context))
    kind, verification = document["task"]["kind"], document["verification"]
    if (verification is not None) != (kind == "verification"):
        yield Problem("/verification", f"is there exactly for a verification task; this one is of kind {kind}")
    if kind == "explanation" and document["rubric"] is None:
        yield Problem("/rubric", "must not be null: an explanation is judged by a rubric")
    if verification is not None:
        yield from repeated(verification["commands"], "/verification/commands", "the command", "id")
        for position, command in enumerate(verification["commands"]):
            if not command["argv"][0]:
                yield Problem(f"/verification/commands/{position}/argv/0", "must not be empty: it names the program")


def policy(document: Mapping[str, Any], context: Context) -> Iterator[Problem]:
    """The rules of `repocue/task-policy-1`:

    - Rates are dated no later than today (UTC). Rates for another account, model or speed are no fault: they price
      nothing.
    """
    yield from not_in_future(document["rates"], "/rates", context.today)
