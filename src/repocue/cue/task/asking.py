"""The task a cue answers: from a file, or from options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from repocue.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from repocue.contracts.types.task import Task

TASK: Final = "repocue/task-1"
BENCHMARKS: Final = ("repocue/task-benchmark-1", "repocue/cache-benchmark-1")
FILE_LIMIT_BYTES: Final = 1 << 20
OPTIONS_ID: Final = "command-line"
OPTIONS_QUESTION: Final = "What do the selected sources say?"


def from_file(data: bytes, subject: str) -> Task:
    """The `repocue/task-1` in `data`, alone or as the `task` of a benchmark. Raises ContractError."""
    from repocue.contracts import reader

    limits = reader.Limits(max_bytes=FILE_LIMIT_BYTES)
    document = reader.read(data, contract=(TASK, *BENCHMARKS), limits=limits, subject=subject)
    return _convert(document if document["schema_version"] == TASK else document["task"], subject)


def from_options(
    *,
    declaration: str,
    items: Sequence[str],
    tags: Sequence[str],
    kinds: Sequence[str],
    globs: Sequence[str],
    question: str | None,
) -> Task:
    """The task that the options describe, held to the same contract as a file. Raises UsageError."""
    from repocue.contracts import reader
    from repocue.errors import ContractError

    document = {
        "schema_version": TASK,
        "id": OPTIONS_ID,
        "kind": "discovery",
        "question": question or OPTIONS_QUESTION,
        "declaration": declaration,
        "selector": {
            "items": sorted(set(items)),
            "tags": sorted(set(tags)),
            "kinds": sorted(set(kinds)),
            "paths": sorted(set(globs)),
        },
    }
    try:
        reader.check(document, contract=TASK, subject="the task that the options describe")
    except ContractError as error:
        hint = "Name items with --item, --tag, --kind or --glob, or give a --task-file."
        raise UsageError(error.message, code="usage.task", hint=hint) from None
    return _convert(document, "the task that the options describe")


def _convert(document: dict[str, Any], subject: str) -> Task:
    from repocue.contracts import reader
    from repocue.contracts.types.task import Task

    return reader.convert(document, Task, subject=subject)
