"""Which stored pairs count, and why others do not. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from repocue.calibration.sets import DIRECT

if TYPE_CHECKING:
    from repocue.store.calibrations import Calibration

EPOCH_SUPERSEDED: Final = "epoch-superseded"
CONTAMINATED: Final = "contaminated"

VERSION_3_ZERO: Final = (
    "Version 3: a zero may stand for a counter that the agent's program left out; it cannot be told from an observed"
    " one. ambiguous_zeros names values that are such a zero, hold one or are made from one."
)
VERSION_3_DELIVERY: Final = (
    "Version 3: that the cue was there before the agent started is not established, and its full cost is not known."
)
VERSION_3_REPOSITORY: Final = (
    "Version 3: the repository digest is the writing tool's own and was not recomputed; it is equal in the five reports"
    " and enters the fingerprint as declared."
)
VERSION_3_UNTRACKED: Final = "Version 3: contents of untracked files are not covered by its fingerprint."
VERSION_3: Final = (VERSION_3_ZERO, VERSION_3_DELIVERY, VERSION_3_REPOSITORY, VERSION_3_UNTRACKED)


class Exclusion(NamedTuple):
    """Why a stored pair does not count; `detail` is the superseded epoch, or the contaminated conditions."""

    reason: str
    detail: str


def exclusion(stored: Calibration, current_epoch: str) -> Exclusion | None:
    """None where the pair counts in `current_epoch`."""
    if stored.epoch != current_epoch:
        return Exclusion(EPOCH_SUPERSEDED, stored.epoch)
    pair = stored.pair
    conditions = [name for name in (DIRECT, pair.identity.assisted) if pair.is_contaminated(name)]
    return Exclusion(CONTAMINATED, ", ".join(conditions)) if conditions else None
