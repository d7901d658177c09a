"""The frozen task cue: that it is one, and that it is the one the benchmark asks for."""

from __future__ import annotations

from typing import Any, Final

from repocue.contracts import reader
from repocue.contracts.types.cache import CacheBenchmark
from repocue.errors import EvaluationError
from repocue.evaluation.cache import layout
from repocue.evaluation.cache.limits import CacheLimits

_USABLE: Final = ("current", "dirty-but-indexed")


def read(data: bytes, *, limits: CacheLimits, subject: str) -> dict[str, Any]:
    """The task cue in `data`, which must be in canonical form. Raises ContractError."""
    return reader.read_canonical(
        data,
        contract=layout.CUE_VERSION,
        kind=None,
        limits=reader.Limits(max_bytes=limits.child_stdout_bytes, max_depth=limits.json_depth),
        subject=subject,
    )


def check_for(cue: dict[str, Any], benchmark: CacheBenchmark) -> None:
    """Raises EvaluationError, code ``evaluation.cue``, unless the cue delivers this benchmark's task and budget from a
    snapshot that describes the repository as it was."""
    task = benchmark.task
    expected = {"id": task.id, "kind": task.kind, "question": task.question}
    faults = []
    if cue["task"] != expected:
        faults.append("it is the cue of another task")
    if cue["declaration"]["path"] != task.declaration:
        faults.append(f"its items come from {cue['declaration']['path']}, not from {task.declaration}")
    if cue["budget"]["max_tokens"] != benchmark.max_context_tokens:
        faults.append(f"its budget is {cue['budget']['max_tokens']}, not {benchmark.max_context_tokens}")
    if cue["freshness"] not in _USABLE:
        faults.append(f"its freshness is {cue['freshness']}")
    if faults:
        raise EvaluationError(
            f"The task cue cannot be used: {'; '.join(faults)}.",
            code="evaluation.cue",
            hint="The cue executable must be this version of RepoCue, and the repository must rest meanwhile.",
        )


def required_items(cue: dict[str, Any]) -> dict[str, list[str]]:
    """What a discovery must find: the selected items and all their sources."""
    return {item["id"]: item["sources"] for item in cue["items"]}


def delivered_sources(cue: dict[str, Any]) -> list[str]:
    """The ids of all delivered sources, bytewise sorted."""
    return sorted((source["id"] for source in cue["sources"]), key=str.encode)
