"""`repocue/task-check-1`: how a declaration's sources stand to their pins, and what a selector takes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from repocue.cue.task.loading import CONTRACT, DIRTY, DRIFTED, MISSING, NOT_UTF8, OK, OUT_OF_RANGE, UNTRACKED

if TYPE_CHECKING:
    from collections.abc import Collection

    from repocue.cue.task.loading import Declaration, Found

TASK_CHECK_1: Final = "repocue/task-check-1"
STATUSES: Final = (OK, DRIFTED, DIRTY, UNTRACKED, MISSING, OUT_OF_RANGE, NOT_UTF8)


def document(
    kind: str,
    declaration: Declaration,
    declaration_status: str,
    found: dict[tuple[str, str], Found],
    *,
    head: str | None,
    selected: Collection[str] | None = None,
    rewritten: int | None = None,
) -> dict[str, Any]:
    """The answer of `task check`, `task list` or `task pin` (`kind`: check, list, pin).

    `selected` are the ids of the selected items, None where no selector was given; `rewritten` counts the pins that
    `task pin` changed. `actual` is the digest of a source's bytes at HEAD, null where it has none.
    """
    counts = Counter(entry.status for entry in found.values())
    return {
        "schema_version": TASK_CHECK_1,
        "kind": kind,
        "declaration": {
            "path": declaration.path,
            "contract": CONTRACT,
            "id": declaration.context.id,
            "sha256": declaration.sha256,
            "status": declaration_status,
        },
        "head": head,
        "ok": is_ok(declaration_status, found),
        "counts": {
            "items": len(declaration.context.items),
            "selected": None if selected is None else len(selected),
            "sources": len(found),
            **{status.replace("-", "_"): counts[status] for status in STATUSES},
            "rewritten": rewritten,
        },
        "items": [
            {
                "id": item.id,
                "kind": item.kind,
                "summary": item.summary,
                "tags": sorted(item.tags),
                "selected": None if selected is None else item.id in selected,
                "sources": [_source(entry) for (item_id, _), entry in found.items() if item_id == item.id],
            }
            for item in sorted(declaration.context.items, key=lambda item: item.id)
        ],
    }


def is_ok(declaration_status: str, found: dict[tuple[str, str], Found]) -> bool:
    """Whether everything could be delivered: the declaration is clean and every source as pinned."""
    return declaration_status == OK and all(entry.status == OK for entry in found.values())


def _source(entry: Found) -> dict[str, Any]:
    source = entry.source
    return {
        "id": entry.place.id,
        "status": entry.status,
        "pin": entry.pin,
        "actual": None if source is None else source.sha256,
        "bytes": None if source is None else len(source.data),
    }
