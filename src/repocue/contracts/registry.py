"""Which contracts exist, and which rules each has beside its schema.

A contract is known when its schema is packaged. Its runtime rules are pure functions under `contracts.rules`, named
here and imported when a document of that contract is first checked.

To add a contract: put `<name>-<n>.schema.json` under `data/schemas` (closed objects, `title` and `description`s,
`schema_version` first, then `kind`; several kinds are a root `oneOf` of `$defs`), name its rules below if it has any,
add a document to `tests/contracts/documents.py`, and let `make docs` write its page.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from repocue.contracts import schemas
from repocue.contracts.problems import Problem, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What rules may know beside the document. `today` is the UTC date YYYY-MM-DD; None leaves date rules out."""

    today: str | None = None


NO_CONTEXT = Context()

Rule = Callable[[Mapping[str, Any], Context], Iterator[Problem]]

_RULES = {
    "repocue/cache-answer-1": "answers:cache_answer",
    "repocue/cache-benchmark-1": "cache:benchmark",
    "repocue/cache-evaluation-1": "assessments:bundle",
    "repocue/cache-observation-1": "cache:observation",
    "repocue/cache-request-1": "cache:request",
    "repocue/evaluation-3": "evaluation:version_3",
    "repocue/evaluation-4": "evaluation:version_4",
    "repocue/evaluation-runner-3": "runner:version_3",
    "repocue/evaluation-runner-4": "runner:version_4",
    "repocue/task-1": "task:task",
    "repocue/task-answer-1": "answers:task_answer",
    "repocue/task-benchmark-1": "task:benchmark",
    "repocue/task-context-1": "task:context",
    "repocue/task-cue-1": "task_cue:task_cue",
    "repocue/task-evaluation-1": "assessments:bundle",
    "repocue/task-policy-1": "task:policy",
    "repocue/task-runner-1": "task_runner:observation",
}

IMPORT_ONLY = frozenset({"repocue/evaluation-3", "repocue/evaluation-runner-3"})
"""Versions that are read and never written."""


@functools.cache
def rule(contract: str) -> Rule | None:
    """The runtime rules of a contract, or None where the schema says everything."""
    name = _RULES.get(contract)
    if name is None:
        return None
    from importlib import import_module

    module, _, function = name.partition(":")
    found: Rule = getattr(import_module("repocue.contracts.rules." + module), function)
    return found


def is_known(contract: str) -> bool:
    """Whether a document that names this contract can be read."""
    return contract in schemas.contract_names()


def why_unknown(contract: str) -> str:
    """A sentence that refuses a contract by name: a newer version, a forgotten one, or nothing of ours."""
    name = shown(contract)
    parts = schemas.family(contract)
    if parts is None:
        return f'"{name}" names no contract of RepoCue'
    known = [
        version
        for other in schemas.contract_names()
        for base, version in [schemas.family(other) or ("", 0)]
        if base == parts[0]
    ]
    if not known:
        return f'"{name}" names a contract that this version of RepoCue does not know'
    newest = max(known)
    spelling = f"repocue/{parts[0]}-{newest}" if parts[0] else f"repocue/{newest}"
    if parts[1] > newest:
        return f'"{name}" is newer than this version of RepoCue reads; the newest it knows is {spelling}'
    return f'"{name}" is a version that RepoCue does not read; the newest it knows is {spelling}'
