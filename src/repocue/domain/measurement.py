"""Measured values and where they come from (ARCHITECTURE, section 6).

Unknown is never zero: a value that was not observed is None beside `NOT_OBSERVED`.
"""

from __future__ import annotations

from typing import Final, Literal

Source = Literal["observed", "derived", "estimated", "not_observed"]

OBSERVED: Final = "observed"
DERIVED: Final = "derived"
ESTIMATED: Final = "estimated"
NOT_OBSERVED: Final = "not_observed"

MAX_COUNTER: Final = 2**53 - 1
"""The largest integer a contract may carry; larger ones are errors, not approximations."""


def milliseconds(seconds: float) -> float:
    """Milliseconds at microsecond precision, the form of every duration we write."""
    return round(seconds * 1000, 3)


def measured(value: float | int | None, source: Source) -> dict[str, float | int | str | None]:
    """The JSON form `{value, source}`; a missing value is always `not_observed`."""
    return {"value": value, "source": source if value is not None else NOT_OBSERVED}
