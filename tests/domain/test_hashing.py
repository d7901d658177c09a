"""Digests are hashlib's own, whichever implementation makes them."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.domain.hashing import LARGE_BYTES, sha256


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_a_small_text_has_hashlibs_digest(data: bytes, more: bytes) -> None:
    ours, theirs = sha256(data), hashlib.sha256(data)
    assert ours.digest() == theirs.digest()
    copy = ours.copy()
    copy.update(more)
    theirs.update(more)
    assert copy.hexdigest() == theirs.hexdigest()


@pytest.mark.parametrize("size", [0, LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 1])
def test_a_text_of_any_size_has_hashlibs_digest(size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    assert sha256(data[:size]).hexdigest() == hashlib.sha256(data[:size]).hexdigest()


def test_a_small_text_loads_no_library_and_a_large_one_does() -> None:
    script = (
        "import sys; from repocue.domain.hashing import LARGE_BYTES, sha256;"
        "sha256(b'x'); print('_hashlib' in sys.modules); sha256(bytes(LARGE_BYTES)); print('hashlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
