"""Reading a page's tables with the standard library's HTML parser, which knows nothing of how the page was made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Cell:
    """One cell: its text, the exact numbers behind it, and the classes of what stands in it."""

    text: str = ""
    numbers: list[str] = field(default_factory=list)
    classes: set[str] = field(default_factory=set)


@dataclass
class Table:
    """One table: its caption, and its rows without the head."""

    figure: str
    caption: str = ""
    head: list[str] = field(default_factory=list)
    rows: list[list[Cell]] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[Table] = []
        self.figure = ""
        self.where = ""
        self.part = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "figure":
            self.figure = values.get("id", "")
        elif tag == "table":
            self.tables.append(Table(self.figure))
        elif tag in ("thead", "tbody"):
            self.part = tag
        elif tag == "tr" and self.part == "tbody":
            self.tables[-1].rows.append([])
        elif tag in ("th", "td"):
            self.where = "cell" if self.part == "tbody" else "head"
            if self.where == "cell":
                self.tables[-1].rows[-1].append(Cell())
            else:
                self.tables[-1].head.append("")
        elif tag == "caption":
            self.where = "caption"
        elif self.where == "cell":
            cell = self.tables[-1].rows[-1][-1]
            cell.classes |= set(values.get("class", "").split())
            if tag == "data":
                cell.numbers.append(values["value"])

    def handle_endtag(self, tag: str) -> None:
        if tag == "figure":
            self.figure = ""
        if tag in ("th", "td", "caption"):
            self.where = ""

    def handle_data(self, data: str) -> None:
        if self.where == "caption":
            self.tables[-1].caption += data
        elif self.where == "head":
            self.tables[-1].head[-1] += data
        elif self.where == "cell":
            self.tables[-1].rows[-1][-1].text += data


def tables(page: bytes) -> Iterator[Table]:
    """All tables of a page, in its order."""
    reader = _Reader()
    reader.feed(page.decode())
    yield from reader.tables
