"""Which items a task needs (CONTRACTS, "Task context").

An item is selected when the selector's `items` names it, or when it matches every non-empty one of `tags`, `kinds`
and `paths` (any member of each). Required ids and sources are the selected items and all their sources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from repocue.cue.task.globs import matches
from repocue.errors import TaskContextError

if TYPE_CHECKING:
    from repocue.contracts.types.task import Item, Selector, TaskContext


def select(context: TaskContext, selector: Selector) -> tuple[Item, ...]:
    """The selected items, sorted by id.

    Raises TaskContextError for an id that the declaration does not have, and where nothing is selected.
    """
    known = {item.id for item in context.items}
    unknown = sorted(set(selector.items) - known)
    if unknown:
        raise TaskContextError(
            f"the declaration {context.id} has no item {', '.join(unknown)}",
            code="task-context.unknown-item",
            hint="'repocue task list' shows its items.",
        )
    if not (selector.items or selector.tags or selector.kinds or selector.paths):
        raise TaskContextError(
            "the selector is empty: it names no item, tag, kind or path",
            code="task-context.empty-selector",
            hint="Name at least one with --item, --tag, --kind or --glob.",
        )
    chosen = [item for item in context.items if item.id in selector.items or _matches(item, selector)]
    if not chosen:
        raise TaskContextError(
            f"no item of the declaration {context.id} matches {_words(selector)}",
            code="task-context.empty-selection",
            hint="'repocue task list' shows its items with their tags, kinds and sources.",
        )
    return tuple(sorted(chosen, key=lambda item: item.id))


def _matches(item: Item, selector: Selector) -> bool:
    if not (selector.tags or selector.kinds or selector.paths):
        return False
    return (
        (not selector.tags or not set(selector.tags).isdisjoint(item.tags))
        and (not selector.kinds or item.kind in selector.kinds)
        and (not selector.paths or _has_path(item, selector.paths))
    )


def _has_path(item: Item, globs: tuple[str, ...]) -> bool:
    return any(matches(glob, source.path) for glob in globs for source in item.sources)


def _words(selector: Selector) -> str:
    parts = [("tags", selector.tags), ("kinds", selector.kinds), ("paths", selector.paths)]
    return " and ".join(f"{name} {', '.join(values)}" for name, values in parts if values)
