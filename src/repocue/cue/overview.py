"""The overview: `repocue/1`, kind `overview`. Frozen; it is the `basic` condition of the experiments.

What leaves first where not all fits: the long tails of the lists (documents past the twelfth, languages past the
fifth, root entries past the twenty-fourth), then the lists themselves: documents, languages and last the root
entries, which say most about where things are. Each list loses its least item first: the lowest-ranked document, the
language with the fewest bytes, the root entry with the fewest files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from repocue.cue.fitting import Cut, Fitted, Slot, fit
from repocue.cue.subject import repocue_1
from repocue.domain.paths import sort_key

if TYPE_CHECKING:
    from repocue.cue.subject import Subject
    from repocue.domain.state import Summary

KIND: Final = "overview"
FIRST_DOCUMENTS: Final = 12
FIRST_LANGUAGES: Final = 5
FIRST_TOP_LEVEL: Final = 24


def build(subject: Subject, summary: Summary, *, max_tokens: int) -> Fitted:
    """The overview of a snapshot; raises BudgetTooSmall.

    `languages` are those with most bytes first, `top_level` those with most files first (ties by name and bytewise); a
    folder's path ends in "/". `more` names the budget at which nothing would be left out.
    """
    documents = Slot(items=summary.documents)
    languages = Slot(items=summary.languages, project=_language)
    top_level = Slot(items=sorted(summary.top_level, key=lambda item: (-item[1], sort_key(item[0]))), project=_entry)
    content = {
        "tracked_files": summary.tracked_files,
        "present_files": summary.present_files,
        "bytes": summary.size_bytes,
        "documents": documents,
        "languages": languages,
        "top_level": top_level,
    }
    tails = [
        (documents, FIRST_DOCUMENTS, "documents-omitted"),
        (languages, FIRST_LANGUAGES, "languages-omitted"),
        (top_level, FIRST_TOP_LEVEL, "top-level-omitted"),
    ]
    beyond = {documents: summary.documents_total - len(summary.documents)}
    cuts = [
        Cut(slot=slot, count=len(slot.items) - first, code=code, beyond=beyond.get(slot, 0))
        for slot, first, code in tails
    ]
    cuts += [Cut(slot=slot, count=first, code=code) for slot, first, code in tails]
    return fit(
        repocue_1(subject, KIND, content),
        cuts=cuts,
        max_tokens=max_tokens,
        warnings=subject.warnings,
        more=lambda tokens: {"view": KIND, "max_tokens": tokens},
    )


def _language(item: tuple[str, int, int]) -> dict[str, Any]:
    return {"name": item[0], "files": item[1], "bytes": item[2]}


def _entry(item: tuple[str, int]) -> dict[str, Any]:
    return {"path": item[0], "files": item[1]}
