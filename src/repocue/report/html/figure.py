"""What a figure is: a chart with its title, description and table, or the plain word that there is nothing to draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from repocue.report.html.numbers import exact


class Cell(NamedTuple):
    """One cell: what is shown, the exact number behind it, and where the number comes from.

    `value` is None for text. `source` is a measurement's source, or empty where the column or caption says it. With
    `upper` the cell is a range from the one number to the other.
    """

    text: str
    value: float | None = None
    source: str = ""
    upper: tuple[str, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table; the first cell of each row is its header. `numeric` says for each column whether it holds numbers."""

    caption: str
    columns: Sequence[str]
    numeric: Sequence[bool]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


class Mark(NamedTuple):
    """One entry of a legend. `shape` is a class of the style sheet."""

    shape: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of the page.

    `charts` holds (class, SVG): `wide` and `narrow` forms of one chart, of which the style sheet shows the one that
    fits, or a single `any`. Where nothing was observed it is empty and `absent` says why.
    """

    id: str
    title: str
    description: str
    sources: Sequence[str]
    table: Table | None = None
    charts: Sequence[tuple[str, str]] = ()
    legend: Sequence[Mark] = ()
    caption: str = ""
    absent: str = ""
    wide: bool = False
    tall: bool = False


NOTHING = Cell("not observed", None, "not_observed")
"""The cell of a value that is not known. It never shows a zero."""


def span(low: float, high: float, form: Callable[[float], str], source: str = "") -> Cell:
    """The cell of a range; of one number where both ends are the same."""
    return Cell(form(low), low, source, None if low == high else (form(high), high))


def measured(value: float | None, source: str = "") -> Cell:
    """The cell of a value, or of one that was not observed."""
    return NOTHING if value is None else Cell(exact(value), value, source)


class Fact(NamedTuple):
    """One line of a list of facts."""

    label: str
    text: str
