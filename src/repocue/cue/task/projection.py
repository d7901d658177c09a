"""The task cue: `repocue/task-cue-1`.

Everything before `task` depends on declaration and selection alone, so that cues of one selection share their bytes
up to there. Nothing is ever left out: a selection that does not fit is an error that says by how much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from repocue.contracts import canonical
from repocue.cue.fitting import BUDGET, WARNINGS, Fitted, fit
from repocue.cue.subject import repocue_1
from repocue.cue.task.blocks import Place, join, ordered
from repocue.cue.task.loading import CONTRACT
from repocue.errors import BudgetTooSmall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from repocue.contracts.types.task import Item, Task
    from repocue.cue.subject import Subject
    from repocue.cue.task.blocks import Source
    from repocue.cue.task.loading import Declaration, Files, Found

KIND: Final = "task"
TASK_CUE_1: Final = "repocue/task-cue-1"


def build(
    subject: Subject,
    declaration: Declaration,
    items: Sequence[Item],
    found: dict[tuple[str, str], Found],
    files: Files,
    task: Task,
    *,
    max_tokens: int,
) -> Fitted:
    """The cue of a checked selection (`loading.check_deliverable`). Raises BudgetTooSmall."""
    sources = ordered(entry.source for entry in found.values() if entry.source is not None)
    stable = _stable(declaration, items, sources, files)
    frame = repocue_1(subject, KIND, {})
    template = {
        "schema_version": TASK_CUE_1,
        "kind": KIND,
        **stable,
        "task": {"id": task.id, "kind": task.kind, "question": task.question},
        **{name: frame[name] for name in ("repository", "snapshot", "basis", "freshness")},
        "budget": BUDGET,
        "warnings": WARNINGS,
    }
    try:
        return fit(template, max_tokens=max_tokens, warnings=subject.warnings)
    except BudgetTooSmall as error:
        largest = max(stable["blocks"], key=lambda block: len(block["text"]))
        raise BudgetTooSmall(
            f"the task cue of {_count(len(items), 'item')} and {_count(len(sources), 'source')} takes"
            f" {error.needed_tokens} estimated tokens, {error.needed_tokens - max_tokens} more than the budget of"
            f" {max_tokens}; its largest block is {largest['id']} with {len(largest['text'].encode())} bytes",
            needed_tokens=error.needed_tokens,
            hint=f"Allow at least {error.needed_tokens} tokens (--max-tokens {error.needed_tokens}), or select less.",
        ) from None


def _stable(declaration: Declaration, items: Sequence[Item], sources: Sequence[Source], files: Files) -> dict[str, Any]:
    """The members that only declaration and selection decide."""
    block_of = join(sources, files.lines)
    blocks = list({block.place: block for block in (block_of[source.place] for source in sources)}.values())
    return {
        "declaration": {
            "path": declaration.path,
            "contract": CONTRACT,
            "id": declaration.context.id,
            "sha256": declaration.sha256,
        },
        "items": [
            {
                "id": item.id,
                "kind": item.kind,
                "summary": item.summary,
                "tags": sorted(item.tags),
                "sources": _source_ids(item, sources),
            }
            for item in items
        ],
        "blocks": [
            {
                "id": block.place.id,
                "path": block.place.path,
                "first_line": block.span[0] or None,
                "last_line": block.span[1] or None,
                "sha256": canonical.digest(block.data),
                "text": block.data.decode("utf-8"),
            }
            for block in blocks
        ],
        "sources": [
            {"id": source.place.id, "block": block_of[source.place].place.id, "sha256": source.sha256}
            for source in sources
        ],
    }


def _source_ids(item: Item, sources: Sequence[Source]) -> list[str]:
    own = {Place.of(entry) for entry in item.sources}
    return [source.place.id for source in sources if source.place in own]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
