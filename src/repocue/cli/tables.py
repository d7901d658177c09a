"""Aligned columns of plain text, for answers that are tables of evidence. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

UNKNOWN: Final = "unknown"


def table(names: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[int]) -> list[str]:
    """Aligned columns, two spaces apart; those in `left` are flush left, the others right."""
    widths = [max(len(row[place]) for row in (names, *rows)) for place in range(len(names))]
    return [
        "  ".join(
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (names, *rows)
    ]


def count(value: int | None) -> str:
    return UNKNOWN if value is None else f"{value:,}"


def said(value: bool | None) -> str:
    return UNKNOWN if value is None else "yes" if value else "no"


def printable(lines: Sequence[str]) -> str:
    """One text of the lines, with nothing in it that a terminal would obey: some of it came from outside."""
    return "\n".join(
        "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line) for line in lines
    )
