"""The state that requests are about: what a capture of the repository says of it, as contracts hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repocue.git.evidence import Capture


def basis_of(capture: Capture) -> dict[str, str]:
    """`{status_digest, repository_digest, state_fingerprint, observed_at}`."""
    return {
        "status_digest": capture.observation.status_digest,
        "repository_digest": capture.observation.repository_digest,
        "state_fingerprint": capture.state_fingerprint,
        "observed_at": capture.at,
    }
