"""Task cues as evaluations use them: that one is the cue of a task, and what it delivers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from repocue.errors import EvaluationError

if TYPE_CHECKING:
    from repocue.contracts.types.task import Task

USABLE: Final = ("current", "dirty-but-indexed")
"""The freshness of a cue that describes the repository as it was."""


def check_for(cue: Mapping[str, Any], task: Task, max_tokens: int) -> None:
    """Raises EvaluationError, code ``evaluation.cue``, unless the cue delivers this task within this budget from a
    snapshot that describes the repository as it was."""
    expected = {"id": task.id, "kind": task.kind, "question": task.question}
    faults = []
    if cue["task"] != expected:
        faults.append("it is the cue of another task")
    if cue["declaration"]["path"] != task.declaration:
        faults.append(f"its items come from {cue['declaration']['path']}, not from {task.declaration}")
    if cue["budget"]["max_tokens"] != max_tokens:
        faults.append(f"its budget is {cue['budget']['max_tokens']}, not {max_tokens}")
    if cue["freshness"] not in USABLE:
        faults.append(f"its freshness is {cue['freshness']}")
    if faults:
        raise EvaluationError(
            f"The task cue cannot be used: {'; '.join(faults)}.",
            code="evaluation.cue",
            hint="The cue executable must be this version of RepoCue, and the repository must rest meanwhile.",
        )


def required_items(cue: Mapping[str, Any]) -> dict[str, list[str]]:
    """What a discovery must find: the selected items and all their sources."""
    return {item["id"]: item["sources"] for item in cue["items"]}


def delivered_sources(cue: Mapping[str, Any]) -> list[str]:
    """The ids of all delivered sources, bytewise sorted."""
    return sorted((source["id"] for source in cue["sources"]), key=str.encode)
