"""SHA-256 that costs an everyday command no library.

`hashlib` loads OpenSSL, which takes longer than all that a command hashes in a small repository; beyond a few hundred
KiB its faster code is worth that. The interpreter's own implementation, which `hashlib` itself falls back to, is
used below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from hashlib import _Hash

LARGE_BYTES = 1 << 18
"""From this size on OpenSSL is loaded."""

_small: Callable[[bytes], _Hash] | None
try:
    from _sha2 import sha256 as _small  # type: ignore[import-not-found, no-redef]  # since Python 3.12
except ImportError:
    try:
        from _sha256 import sha256 as _small  # type: ignore[import-not-found, no-redef]  # Python 3.11
    except ImportError:
        _small = None  # an interpreter built without it


def sha256(data: bytes = b"") -> _Hash:
    """A hash object as `hashlib.sha256(data)` gives. For long streams after a short beginning ask `hashlib`."""
    if _small is not None and len(data) < LARGE_BYTES:
        return _small(data)
    from hashlib import sha256 as large

    return large(data)
