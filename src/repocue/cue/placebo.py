"""The placebo: branch, HEAD, dirty state, snapshot and freshness, and no content (seed, "M2 Conditions")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from repocue.cue.fitting import Fitted, fit
from repocue.cue.subject import cue_2

if TYPE_CHECKING:
    from repocue.cue.subject import Subject

KIND: Final = "placebo"


def build(subject: Subject, *, max_tokens: int) -> Fitted:
    """The placebo of a snapshot in `repocue/cue-2`; raises BudgetTooSmall."""
    return fit(cue_2(subject, KIND, {}), max_tokens=max_tokens, warnings=subject.warnings)
