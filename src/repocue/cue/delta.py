"""What changed since a snapshot: kind `delta`, of the frozen `repocue/1` and of `repocue/cue-2`.

`changes` begin with those of the repository as a whole, then come files in bytewise order of their paths; where not
all fits they leave from the end. `change_count` counts all of them, shown or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from repocue.cue.fitting import Cut, Fitted, Slot, fit
from repocue.cue.subject import cue_2, repocue_1
from repocue.domain.paths import raw
from repocue.domain.state import Warning
from repocue.errors import UsageError

if TYPE_CHECKING:
    from repocue.cue.subject import Subject
    from repocue.domain.delta import Change, Delta, RepositoryChange

KIND: Final = "delta"


def build_frozen(subject: Subject, delta: Delta, *, max_tokens: int, prefix: str | None = None) -> Fitted:
    """The delta in `repocue/1`; raises BudgetTooSmall.

    With `prefix` (see `path_prefix`) only files at or below it are part of the content, and of a rename either side
    counts; how many are left out is a warning.
    """
    content, cut, warnings = _content(delta, prefix)
    return fit(
        repocue_1(subject, KIND, content),
        cuts=[cut],
        max_tokens=max_tokens,
        warnings=(*subject.warnings, *warnings),
        more=lambda tokens: {"view": KIND, "max_tokens": tokens},
    )


def build(subject: Subject, delta: Delta, *, max_tokens: int, prefix: str | None = None) -> Fitted:
    """The same delta in `repocue/cue-2`; raises BudgetTooSmall."""
    content, cut, warnings = _content(delta, prefix)
    return fit(
        cue_2(subject, KIND, content, with_epoch=True),
        cuts=[cut],
        max_tokens=max_tokens,
        warnings=(*subject.warnings, *warnings),
    )


def path_prefix(text: str) -> str:
    """A path prefix as typed, in the form that `build` takes: relative to the root, without "./" and final "/".

    The whole repository is "". It is literal text, never a pattern; a path that JSON shows C-quoted may be given so.
    Raises UsageError for a path that cannot lie in a repository.
    """
    try:
        path = raw(text)
    except ValueError:
        path = text.encode("utf-8", "surrogateescape")
    parts = [part for part in path.split(b"/") if part not in (b"", b".")]
    if not text or path.startswith(b"/") or b".." in parts or b"\0" in path:
        raise UsageError(
            f"{text!r} is no path inside the repository.",
            hint="Give a file or folder relative to the repository's root, as git shows it.",
        )
    from repocue.domain.paths import display

    return display(b"/".join(parts))


def _content(delta: Delta, prefix: str | None) -> tuple[dict[str, Any], Cut, list[Warning]]:
    files = delta.changes
    warnings = []
    if prefix:
        within = raw(prefix)
        files = tuple(change for change in files if _is_at(change, within))
        if len(files) < len(delta.changes):
            warnings.append(Warning("changes-outside-path", len(delta.changes) - len(files)))
    slot = Slot(items=(*delta.repository_changes, *files), project=_change)
    content = {
        "from_snapshot": delta.from_snapshot,
        "to_snapshot": delta.to_snapshot,
        "change_count": len(slot.items),
        "changes": slot,
    }
    return content, Cut(slot=slot, count=len(slot.items), code="changes-omitted"), warnings


def _is_at(change: Change, within: bytes) -> bool:
    for text in (change.path, change.from_path):
        if text is not None:
            path = raw(text)
            if path == within or path.startswith(within + b"/"):
                return True
    return False


def _change(change: Change | RepositoryChange) -> dict[str, Any]:
    """A file's `{kind, path, from_path?}`; the repository's `{kind, before, after}`, of its work tree only `{kind}`."""
    if change.kind == "repository.working_tree_changed":
        return {"kind": change.kind}  # before and after are digests, which say nothing to a reader
    if change.kind == "repository.branch_changed" or change.kind == "repository.head_changed":
        return {"kind": change.kind, "before": change.before, "after": change.after}
    made = {"kind": change.kind, "path": change.path}
    if change.from_path is not None:
        made["from_path"] = change.from_path
    return made
