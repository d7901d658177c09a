"""The ranked cue: `repocue/cue-2`, kind `ranked` (seed, "Experimental Ranked Selection").

The policy is experimental and fixed: at most 12 documents, in the ranked order; directories of depth one, then of
depth two. Where not all fits, depth-two directories leave first, then low-ranked documents, Makefile targets,
recent commit subjects and depth-one directories, at the very last entry points; each list loses its last item first.

`Selection` holds the lists and their order of removal, so that the structural cue can add its candidates to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from repocue.cue.fitting import Cut, Fitted, Slot, fit
from repocue.cue.subject import cue_2

if TYPE_CHECKING:
    from repocue.cue.subject import Subject
    from repocue.domain.facts import RankedFacts
    from repocue.domain.state import Summary

KIND: Final = "ranked"
MAX_DOCUMENTS: Final = 12


class Selection(NamedTuple):
    """The ranked content of one snapshot before fitting.

    `content` is the template of the content, `before_directories` the cuts up to recent commits, `depth_one` and
    `entry_points` the two after them.
    """

    content: dict[str, Any]
    before_directories: tuple[Cut, ...]
    depth_one: Cut
    entry_points: Cut

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """The seed's whole order of removal."""
        return (*self.before_directories, self.depth_one, self.entry_points)


def select(summary: Summary, facts: RankedFacts) -> Selection:
    """What the policy admits of a snapshot and of the facts that were read from the same state."""
    documents = Slot(items=summary.documents[:MAX_DOCUMENTS])
    entry_points = Slot(items=facts.entry_points)
    make_targets = Slot(items=facts.make_targets)
    recent_commits = Slot(items=facts.recent_commits)
    depth_one, depth_two = summary.directories
    directories = Slot(items=depth_one + depth_two)
    return Selection(
        content={
            "tracked_files": summary.tracked_files,
            "present_files": summary.present_files,
            "bytes": summary.size_bytes,
            "documents": documents,
            "entry_points": entry_points,
            "make_targets": make_targets,
            "recent_commits": recent_commits,
            "directories": directories,
        },
        before_directories=(
            Cut(
                slot=directories,
                count=len(depth_two),
                code="depth-two-directories-omitted",
                beyond=summary.depth_two_total - len(depth_two),
            ),
            Cut(
                slot=documents,
                count=len(documents.items),
                code="documents-omitted",
                beyond=summary.documents_total - len(documents.items),
            ),
            Cut(
                slot=make_targets,
                count=len(make_targets.items),
                code="make-targets-omitted",
                beyond=facts.make_targets_total - len(make_targets.items),
            ),
            Cut(slot=recent_commits, count=len(recent_commits.items), code="recent-commits-omitted"),
        ),
        depth_one=Cut(slot=directories, count=len(depth_one), code="depth-one-directories-omitted"),
        entry_points=Cut(
            slot=entry_points,
            count=len(entry_points.items),
            code="entry-points-omitted",
            beyond=facts.entry_points_total - len(entry_points.items),
        ),
    )


def build(subject: Subject, summary: Summary, facts: RankedFacts, *, max_tokens: int) -> Fitted:
    """The ranked cue of a snapshot; raises BudgetTooSmall."""
    selection = select(summary, facts)
    return fit(
        cue_2(subject, KIND, selection.content),
        cuts=selection.cuts,
        max_tokens=max_tokens,
        warnings=(*subject.warnings, *facts.warnings),
    )
