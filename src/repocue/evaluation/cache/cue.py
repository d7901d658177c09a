"""The frozen task cue, read by its contract."""

from __future__ import annotations

from typing import Any

from repocue.contracts import reader
from repocue.evaluation.cache import layout
from repocue.evaluation.cache.limits import CacheLimits


def read(data: bytes, *, limits: CacheLimits, subject: str) -> dict[str, Any]:
    """The task cue in `data`, which must be in canonical form. Raises ContractError."""
    return reader.read_canonical(
        data,
        contract=layout.CUE_VERSION,
        kind=None,
        limits=reader.Limits(max_bytes=limits.child_stdout_bytes, max_depth=limits.json_depth),
        subject=subject,
    )
