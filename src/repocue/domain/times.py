"""Wall-clock times in contracts: RFC 3339, UTC, milliseconds, `Z`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z\Z")


def rfc3339(epoch_ms: int) -> str:
    """`2026-11-30T19:05:07.123Z` for milliseconds since 1970-01-01 UTC."""
    moment = _EPOCH + timedelta(milliseconds=epoch_ms)
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def epoch_ms(text: str) -> int:
    """The inverse of `rfc3339`; raises ValueError for any other spelling."""
    if not _FORM.match(text):
        raise ValueError(f"not an RFC 3339 UTC time with milliseconds: {text!r}")
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(milliseconds=1)
