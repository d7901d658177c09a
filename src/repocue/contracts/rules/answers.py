"""The rules of answers to task and cache benchmarks.

Their schemas stay inside what providers accept, so forms, ranges and uniqueness are asked here. An answer that
breaks them is no answer; one that keeps them may still be wrong, which is a score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from repocue.contracts.problems import Problem, literal
from repocue.contracts.registry import Context
from repocue.contracts.rules.common import repeated
from repocue.domain.ids import is_id

_MAX_EXIT_CODE = 255


def task_answer(answer: Mapping[str, Any], _context: Context) -> Iterator[Problem]:
    """The rules of `repocue/task-answer-1`:

    - benchmark_id, items' ids and commands' ids are ids; items and commands stand once each.
    - An item's and a claim's sources are not empty and stand once each; claims and uncertainties are not empty.
    - exit_code is 0 to 255.
    """
    yield from _common(answer)
    commands = answer["commands"]
    for position, command in enumerate(commands):
        yield from _id(command["id"], f"/commands/{position}/id")
        if not 0 <= command["exit_code"] <= _MAX_EXIT_CODE:
            yield Problem(
                f"/commands/{position}/exit_code", f"must be 0 to {_MAX_EXIT_CODE}, not {command['exit_code']}"
            )
    yield from repeated(commands, "/commands", "the command", "id")


def cache_answer(answer: Mapping[str, Any], _context: Context) -> Iterator[Problem]:
    """The rules of `repocue/cache-answer-1`:

    - benchmark_id and items' ids are ids; items stand once each.
    - An item's and a claim's sources are not empty and stand once each; claims and uncertainties are not empty.
    """
    yield from _common(answer)


def _common(answer: Mapping[str, Any]) -> Iterator[Problem]:
    yield from _id(answer["benchmark_id"], "/benchmark_id")
    for position, item in enumerate(answer["items"]):
        yield from _id(item["id"], f"/items/{position}/id")
        yield from _sources(item["sources"], f"/items/{position}/sources")
    yield from repeated(answer["items"], "/items", "the item", "id")
    for position, claim in enumerate(answer["claims"]):
        if not claim["text"].strip():
            yield Problem(f"/claims/{position}/text", "must not be empty")
        yield from _sources(claim["sources"], f"/claims/{position}/sources")
    for position, text in enumerate(answer["uncertainties"]):
        if not text.strip():
            yield Problem(f"/uncertainties/{position}", "must not be empty")


def _id(text: str, where: str) -> Iterator[Problem]:
    if not is_id(text):
        yield Problem(
            where, f"must be an id: a lower-case letter or digit, then up to 63 of a-z 0-9 . _ -, not {literal(text)}"
        )


def _sources(sources: list[str], where: str) -> Iterator[Problem]:
    for position, source in enumerate(sources):
        if not source:
            yield Problem(f"{where}/{position}", "must not be empty")
    yield from repeated(sources, where, "the source")
