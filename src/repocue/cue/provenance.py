"""Where the figures of cues come from: `repocue/cue-2`, kind `provenance`.

Digests identify the state, `producer` and `language_library` what read it. Each figure has a source as in
`domain.measurement`: observed in what git or the file system said, derived from that by a rule, or estimated.
Where not all fits, figures leave from the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from repocue import __version__
from repocue.cue.fitting import Cut, Fitted, Slot, fit
from repocue.cue.subject import cue_2
from repocue.domain.measurement import DERIVED, ESTIMATED, OBSERVED

if TYPE_CHECKING:
    from repocue.cue.subject import Subject
    from repocue.domain.state import Summary

KIND: Final = "provenance"

FIGURES: Final = (
    ("branch", OBSERVED, "git status"),
    ("head", OBSERVED, "git status"),
    ("dirty", DERIVED, "git status"),
    ("freshness", DERIVED, "digests"),
    ("tracked_files", OBSERVED, "git ls-files"),
    ("present_files", DERIVED, "git status"),
    ("bytes", DERIVED, "file sizes"),
    ("documents", DERIVED, "file names"),
    ("languages", DERIVED, "file names"),
    ("top_level", DERIVED, "paths"),
    ("directories", DERIVED, "paths"),
    ("entry_points", DERIVED, "manifests, paths"),
    ("make_targets", DERIVED, "Makefile"),
    ("recent_commits", OBSERVED, "git rev-list"),
    ("changes", DERIVED, "two snapshots"),
    ("estimated_tokens", ESTIMATED, "bytes / 4"),
)
"""(name, source, what it was read from) of every figure in overview, ranked and delta cues."""


def build(subject: Subject, summary: Summary, *, max_tokens: int) -> Fitted:
    """The provenance of a snapshot's figures; raises BudgetTooSmall."""
    header = subject.header
    figures = Slot(items=FIGURES, project=_figure)
    content = {
        "producer": f"repocue {__version__}",
        "language_library": summary.language_library,
        "index_digest": header.index_digest,
        "repository_digest": header.repository_digest,
        "status_digest": header.status_digest,
        "figures": figures,
    }
    return fit(
        cue_2(subject, KIND, content, with_epoch=True),
        cuts=[Cut(slot=figures, count=len(FIGURES), code="figures-omitted")],
        max_tokens=max_tokens,
        warnings=subject.warnings,
    )


def _figure(item: tuple[str, str, str]) -> dict[str, Any]:
    name, source, origin = item
    return {"name": name, "source": source, "from": origin}
