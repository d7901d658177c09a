"""Cutoffs of a report. Pure.

A cutoff is an RFC 3339 time, which states its zone, or a date, which is that day in UTC. `since` takes in what began at
that time or later; `until` what began before that time. As a date, `until` takes in the whole day.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

from repocue.domain.times import rfc3339
from repocue.errors import UsageError

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?"
    r"(?:([Zz])|([+-])([0-9]{2}):([0-9]{2}))"
)
_ZONELESS = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_MS = 86_400_000


class Window(NamedTuple):
    """Milliseconds since 1970-01-01 UTC: from `since_ms` on, up to but without `until_ms`; None is unbounded."""

    since_ms: int | None = None
    until_ms: int | None = None

    def holds(self, started_at_ms: int) -> bool:
        """Whether what began then lies in the window."""
        return (self.since_ms is None or started_at_ms >= self.since_ms) and self.is_before_end(started_at_ms)

    def is_before_end(self, started_at_ms: int) -> bool:
        """Whether what began then lies before the window's end, whatever its beginning."""
        return self.until_ms is None or started_at_ms < self.until_ms

    def to_json(self) -> dict[str, str | None]:
        """The resolved cutoffs as times in UTC."""
        return {
            "since": None if self.since_ms is None else rfc3339(self.since_ms),
            "until": None if self.until_ms is None else rfc3339(self.until_ms),
        }


def window(since: str | None, until: str | None) -> Window:
    """The window between two cutoffs as they were typed. Raises UsageError."""
    first = None if since is None else _cutoff("--since", since, is_end=False)
    last = None if until is None else _cutoff("--until", until, is_end=True)
    if first is not None and last is not None and first >= last:
        raise UsageError(
            f"--since {since} does not lie before --until {until}",
            code="report.window",
            hint="Nothing can lie in this window.",
        )
    return Window(first, last)


def _cutoff(option: str, text: str, *, is_end: bool) -> int:
    """Whole milliseconds; a finer cutoff is raised to the next one, which takes in the same whole milliseconds.

    A cutoff that no document can state, outside of the years 1 to 9999 in UTC, is a UsageError like any other.
    """
    if _ZONELESS.fullmatch(text):
        raise UsageError(
            f"{option} {text} does not say in which time zone",
            code="report.cutoff",
            hint="Write 2026-11-30T19:05:07Z, an offset such as +01:00, or a date alone, which is a day in UTC.",
        )
    try:
        if match := _DATE.fullmatch(text):
            day = datetime(*map(int, match.groups()), tzinfo=UTC)  # type: ignore[misc,arg-type]  # year, month, day
            return _statable(_milliseconds(day) + (_DAY_MS if is_end else 0))
        if match := _TIME.fullmatch(text):
            return _statable(_time(match))
    except OverflowError as error:
        raise UsageError(
            f"{option} {text} lies, or ends, outside of the years 1 to 9999 in UTC",
            code="report.cutoff",
            hint="Leave the option out for a window without this end.",
        ) from error
    except ValueError as error:
        raise UsageError(f"{option} {text} is no time: {error}", code="report.cutoff") from error
    raise UsageError(
        f"{option} {text!r} is neither a date nor an RFC 3339 time",
        code="report.cutoff",
        hint="Write 2026-11-30 or 2026-11-30T19:05:07Z.",
    )


def _statable(moment_ms: int) -> int:
    """The same moment; raises OverflowError where documents cannot state it."""
    rfc3339(moment_ms)
    return moment_ms


def _time(match: re.Match[str]) -> int:
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    fraction, zulu, sign, offset_hours, offset_minutes = match.groups()[6:]
    zone: timezone = UTC
    if not zulu:
        if int(offset_hours) > 23 or int(offset_minutes) > 59:
            raise ValueError("the offset is out of range")
        offset = timedelta(hours=int(offset_hours), minutes=int(offset_minutes))
        zone = timezone(-offset if sign == "-" else offset)
    # A leap second is written :60 and belongs to the second that follows.
    leap, second = (1, 59) if second == 60 else (0, second)
    whole: int = _milliseconds(datetime(year, month, day, hour, minute, second, tzinfo=zone)) + 1000 * leap
    if not fraction:
        return whole
    digits = fraction[1:]
    divisor: int = 10 ** len(digits)
    return whole + -(-int(digits) * 1000 // divisor)


def _milliseconds(moment: datetime) -> int:
    """Since 1970-01-01 UTC; `moment` has whole seconds."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)
