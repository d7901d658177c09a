"""Canonical JSON text and digests.

Canonical means: UTF-8, nothing escaped that JSON does not demand, members in the order the contract fixes
(that is, the insertion order of the mapping), no insignificant white space in the compact form, two spaces of
indentation in the indented one. A *document* is that text plus one LF; sizes, token estimates and digests of
documents are over exactly those bytes (CONTRACTS, head). Digests of parts are over the compact text without LF.
"""

from __future__ import annotations

from typing import Any

import msgspec

from repocue.domain.hashing import sha256

_encoder = msgspec.json.Encoder()


def compact(value: Any) -> bytes:
    """The compact canonical text of `value`, without a final LF."""
    return _encoder.encode(value)


def indented(value: Any) -> bytes:
    """The indented canonical text of `value`, without a final LF."""
    return msgspec.json.format(_encoder.encode(value), indent=2)


def document(value: Any, *, indent: bool = False) -> bytes:
    """The canonical document: the compact or indented text plus one LF."""
    return (indented(value) if indent else compact(value)) + b"\n"


def digest(data: bytes) -> str:
    """`sha256:<64 hex>` of exactly these bytes."""
    return "sha256:" + sha256(data).hexdigest()


def digest_of(value: Any) -> str:
    """The digest of the compact canonical text of `value`."""
    return digest(compact(value))
