"""Identifiers: repositories, snapshots, epochs, and the form every user-given id must have."""

from __future__ import annotations

import re

from repocue.domain.hashing import sha256

ID_PATTERN = r"[a-z0-9][a-z0-9._-]{0,63}"
_ID = re.compile(ID_PATTERN + r"\Z")


def repository_id(root: bytes) -> str:
    """`repo-<24 hex>` of the resolved root's path bytes (ARCHITECTURE §1)."""
    return "repo-" + sha256(root).hexdigest()[:24]


def snapshot_id(number: int) -> str:
    """`snapshot-000001` for 1; more digits when they are needed."""
    return f"snapshot-{number:06d}"


def epoch_id(number: int) -> str:
    """`epoch-000001` for 1."""
    return f"epoch-{number:06d}"


def calibration_id(number: int) -> str:
    """`calibration-000001` for 1."""
    return f"calibration-{number:06d}"


def snapshot_number(identifier: str) -> int | None:
    """The number in a snapshot id, or None where the text is not one in its only spelling."""
    return _number("snapshot", identifier)


def calibration_number(identifier: str) -> int | None:
    """The number in a calibration id, or None where the text is not one in its only spelling."""
    return _number("calibration", identifier)


def _number(name: str, identifier: str) -> int | None:
    match = re.fullmatch(name + r"-([0-9]{6,15})", identifier, re.ASCII)
    if not match:
        return None
    number = int(match[1])
    return number if number and f"{name}-{number:06d}" == identifier else None


def is_id(text: str) -> bool:
    """Whether `text` has the form of an id in our contracts: `[a-z0-9][a-z0-9._-]{0,63}`."""
    return bool(_ID.match(text))
