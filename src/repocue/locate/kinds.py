"""What a file is, judged by its path and its first bytes: source, test or other; and what is not worth reading."""

from __future__ import annotations

import re
from typing import Final

from repocue.locate.ranking import OTHER, SOURCE, TEST

MAX_FILE_BYTES: Final = 512 * 1024
"""Larger files are listed as skipped: nearly all of them are data."""
_PROBE_BYTES = 8000
_MINIFIED_BYTES = 5000
_MINIFIED_LINE_BYTES = 400

_SUFFIXES: Final = (
    "py pyi pyx pxd rs go c h cc cpp hpp cxx java js jsx ts tsx mjs cjs kt kts swift rb php cs scala sh bash zsh fish"
    " pl pm lua r jl ex exs erl hs ml mli clj cljs vue svelte m mm sql zig nim dart fs ps1 psm1 psd1 el vim proto cu"
    " groovy v sv vhd f90 f s asm d pas tcl cr elm lisp scm rkt sol tf bzl cmake"
)
_SOURCE_SUFFIXES: Final = frozenset(_SUFFIXES.split())
_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing|testdata|specs?|__tests__|fixtures?|testutils?|bench|benches|benchmarks?|examples?)/"
    r"|(?:^|/)(?:test_|conftest\.)[^/]*$|[_.-](?:tests?|spec)\.[^/.]+$"
)
_FOREIGN = re.compile(r"(?:^|/)(?:vendor|vendored|_vendor|third_party|third-party|node_modules|bower_components)/")
_MADE = re.compile(
    r"[.-]min\.(?:js|css)$|\.(?:map|lock|svg|snap)$|(?:^|/)(?:package-lock\.json|go\.sum|pnpm-lock\.yaml)$"
)


def kind_of(path: str) -> int:
    """SOURCE, TEST or OTHER, by the path alone."""
    lower = path.lower()
    if _TEST.search(lower):
        return TEST
    name = lower.rpartition("/")[2]
    suffix = name.rpartition(".")[2] if "." in name.lstrip(".") else ""
    return SOURCE if suffix in _SOURCE_SUFFIXES or (not suffix and "/bin/" in "/" + lower) else OTHER


def kind_where_skipped(path: str, skipped: str | None) -> int:
    """The kind of a file that is known by its path alone, for `skipped`; a huge or missing one may well be source."""
    return kind_of(path) if skipped in (None, "huge", "absent") else OTHER


def skipped_by_path(path: str) -> str | None:
    """`vendored` or `generated` where the path says so."""
    lower = path.lower()
    if _FOREIGN.search(lower):
        return "vendored"
    return "generated" if _MADE.search(lower) else None


def skipped_by_content(data: bytes) -> str | None:
    """`huge`, `binary`, `minified` or `generated` where the bytes say so."""
    if len(data) > MAX_FILE_BYTES:
        return "huge"
    head = data[:_PROBE_BYTES]
    if b"\0" in head:
        return "binary"
    if len(data) > _MINIFIED_BYTES and len(data) > _MINIFIED_LINE_BYTES * (data.count(b"\n") + 1):
        return "minified"
    return "generated" if b"@generated" in head[:1000] or b"DO NOT EDIT" in head[:400] else None
