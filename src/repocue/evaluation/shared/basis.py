"""The state that an evaluation is about: what a capture of the repository says of it, as contracts hold it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from repocue.errors import EvaluationError

if TYPE_CHECKING:
    from repocue.git.evidence import Capture
    from repocue.git.worktree import Worktree


def basis_of(capture: Capture) -> dict[str, str]:
    """`{status_digest, repository_digest, state_fingerprint, observed_at}`."""
    return {
        "status_digest": capture.observation.status_digest,
        "repository_digest": capture.observation.repository_digest,
        "state_fingerprint": capture.state_fingerprint,
        "observed_at": capture.at,
    }


def check_cue(
    what: str, cue: Mapping[str, Any], operation: Mapping[str, Any], worktree: Worktree, capture: Capture
) -> None:
    """Raises EvaluationError, code ``evaluation.cue``, unless the cue (`what` names it), the refresh's `operation` and
    our own observation speak of one state of one repository."""
    observation = capture.observation
    expected = {
        "repository": worktree.id,
        "snapshot": operation["snapshot"],
        "branch": observation.branch,
        "head": observation.head,
        "status_digest": observation.status_digest,
        "repository_digest": observation.repository_digest,
    }
    found = {
        "repository": cue["repository"]["id"],
        "snapshot": cue["snapshot"],
        "branch": cue["repository"]["branch"],
        "head": cue["repository"]["head"],
        "status_digest": cue["basis"]["status_digest"],
        "repository_digest": cue["basis"]["repository_digest"],
    }
    differing = [name for name, value in expected.items() if found[name] != value]
    if differing:
        raise EvaluationError(
            f"The {what} does not describe the repository as it is: {', '.join(differing)} differ.",
            code="evaluation.cue",
            hint="Prepare again while nothing else works in the repository or its cache.",
        )
