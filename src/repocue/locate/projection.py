"""`repocue/locate-1`: paths first, as many as fit, then in as few bytes as can be what they were made from.

At a budget of a hundred tokens every byte of the frame is a byte less for paths. So identifiers are abbreviated
(eight hexadecimal digits) and the budget is a pair. A larger budget never shows less: the paths shown are always a
prefix of the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from repocue.contracts.canonical import document
from repocue.domain.state import Warning
from repocue.domain.tokens import estimate
from repocue.errors import BudgetTooSmall

SCHEMA_VERSION: Final = "repocue/locate-1"
ABBREVIATED: Final = 8


class Frame(NamedTuple):
    """What stands around the paths, already judged."""

    repository: str
    snapshot: str
    head: str | None
    is_dirty: bool
    freshness: str
    warnings: tuple[Warning, ...]


class Located(NamedTuple):
    """The document's exact bytes, what it cost and how many paths it names."""

    document: bytes
    estimated_tokens: int
    named: int


def query_id(query: str) -> str:
    """The first eight hexadecimal digits of the SHA-256 of the query's UTF-8 bytes."""
    return sha256(query.encode()).hexdigest()[:ABBREVIATED]


def basis_of(frame: Frame) -> str:
    """`<first digits of HEAD>` or `unborn`, and `+dirty` where anything differs from it."""
    return (frame.head[:ABBREVIATED] if frame.head else "unborn") + ("+dirty" if frame.is_dirty else "")


def build(
    frame: Frame,
    query: str,
    paths: Sequence[Any],
    *,
    max_tokens: int,
    evidence: Sequence[dict[str, Any]] = (),
    index: dict[str, Any] | None = None,
) -> Located:
    """The document with the longest prefix of `paths` that fits, then of `evidence`; raises BudgetTooSmall.

    A path is a text, or an object with its state where the work tree's content differs from the index's. With `index`
    (an explained answer) each shown path's evidence is added while budget is left.
    """

    def make(shown: int, explained: int) -> tuple[bytes, int]:
        members: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "paths": list(paths[:shown])}
        if index is not None:
            members["evidence"] = list(evidence[:explained])
            members["index"] = index
        members["query"] = query_id(query)
        members["repository"] = frame.repository
        members["snapshot"] = frame.snapshot
        members["basis"] = basis_of(frame)
        members["freshness"] = frame.freshness
        tokens = 1
        while True:
            members["budget"] = [max_tokens, tokens]
            members["warnings"] = [_warning(warning) for warning in frame.warnings]
            data = document(members)
            if estimate(len(data)) == tokens:
                return data, tokens
            tokens = estimate(len(data))

    least = make(0, 0)[1]
    if least > max_tokens:
        raise BudgetTooSmall(
            f"The smallest locate cue takes {least} estimated tokens; the budget is {max_tokens}.",
            needed_tokens=least,
            hint=f"Allow at least {least} tokens (--max-tokens {least}).",
        )
    if index is None or not evidence:
        shown = _longest(len(paths), lambda count: make(count, 0)[1] <= max_tokens)
        return Located(*make(shown, 0), shown)
    # A path with its evidence is worth more than one more path: both grow together, then paths take what is left.
    explained = _longest(min(len(paths), len(evidence)), lambda count: make(count, count)[1] <= max_tokens)
    shown = _longest(len(paths), lambda count: make(count, min(explained, count))[1] <= max_tokens)
    return Located(*make(shown, min(explained, shown)), shown)


def _longest(total: int, fits: Callable[[int], bool]) -> int:
    """The greatest count up to `total` that fits, where 0 does and no longer one does once one does not."""
    low, high = 0, total
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _warning(warning: Warning) -> dict[str, Any]:
    return {"code": warning.code} if warning.count is None else {"code": warning.code, "count": warning.count}
