"""Times of one attempt that a stepped wall clock cannot put out of order (CONTRACTS, `cache-observation-1`)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Literal

from repocue.domain.times import rfc3339

_LISTEN_S: Final = 0.2
"""How soon a wish to end is heard."""


class AttemptClock:
    """Reads the wall clock once; every later time is that plus what a monotonic clock measured since."""

    __slots__ = ("_begun_ms", "_begun_s", "_monotonic")

    def __init__(
        self, wall_ms: Callable[[], int] | None = None, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._monotonic = monotonic
        self._begun_ms = time.time_ns() // 1_000_000 if wall_ms is None else wall_ms()
        self._begun_s = monotonic()

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC."""
        return self._begun_ms + int((self._monotonic() - self._begun_s) * 1000)

    def now(self) -> str:
        """The same as contracts write it."""
        return rfc3339(self.now_ms())


class Deadline:
    """A moment on the monotonic clock by which something must be over, or an earlier wish to end it.

    `cancelled` is asked between waits, so that a signal handler which only sets a flag ends work at a known point.
    """

    __slots__ = ("_at_s", "_cancelled", "_monotonic")

    def __init__(
        self,
        seconds: float,
        cancelled: Callable[[], bool] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._monotonic = monotonic
        self._cancelled = cancelled
        self._at_s = monotonic() + seconds

    def within(self, seconds: float) -> Deadline:
        """A deadline `seconds` from now, but never later than this one, that ends by the same wish."""
        return Deadline(min(seconds, self.remaining_s()), self._cancelled, self._monotonic)

    def remaining_s(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self._at_s - self._monotonic())

    def wait_s(self) -> float:
        """How long to wait at most before `why_over` is asked again."""
        left = self.remaining_s()
        return left if self._cancelled is None else min(left, _LISTEN_S)

    def wait_ms(self) -> int:
        """`wait_s` for poll: whole milliseconds, at least one."""
        return int(self.wait_s() * 1000) + 1

    def why_over(self) -> Literal["deadline", "interrupted"] | None:
        """Why work must end now; None while it may go on."""
        if self._cancelled is not None and self._cancelled():
            return "interrupted"
        return "deadline" if self._monotonic() >= self._at_s else None
