"""What a deterministic scorer checked: git facts in the agents' answers against the snapshot's basis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from repocue.domain.measurement import DERIVED, NOT_OBSERVED
from repocue.report.html.drawing import Area, draw
from repocue.report.html.figure import Cell, Figure, Table
from repocue.report.html.numbers import exact
from repocue.report.html.text import plain, words

MOST_IN_SQUARE: Final = 99

_FIELDS: Final = ("all_fields", "branch", "head", "dirty", "tracked_changes", "untracked")

_HEADINGS: Final = ("all", "branch", "HEAD", "dirty", "tracked", "untracked")

_NONE_SCORED: Final = "No answer was scored against the repository's state. That says nothing about right or wrong."


class Share(NamedTuple):
    """How many of some scored answers got one field right, in one condition."""

    condition: str
    heading: str
    right: int
    scored: int

    @property
    def text(self) -> str:
        """`4/5`; whole percent, rounded down, where that is too long; a dash where nothing could be scored."""
        if not self.scored:
            return "–"
        if self.scored > MOST_IN_SQUARE:
            return f"{self.right * 100 // self.scored}%"
        return f"{self.right}/{self.scored}"


def deterministic_figures(scores: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Figure]:
    """Git facts in the agents' answers against the snapshot's basis: one figure a group."""
    groups = list(dict.fromkeys(str(each["group"]) for rows in scores.values() for each in rows))
    if not groups:
        return [
            Figure(
                id="deterministic",
                title="Deterministic scores",
                description=_NONE_SCORED,
                sources=(NOT_OBSERVED,),
                absent=_NONE_SCORED,
            )
        ]
    return [
        _deterministic(
            [(plain(name), each) for name, rows in scores.items() for each in rows if each["group"] == group],
            "Deterministic scores" + (f", {words(group)}" if len(groups) > 1 else ""),
            f"deterministic-{number}",
        )
        for number, group in enumerate(groups, start=1)
    ]


def _deterministic(scores: Sequence[tuple[str, Mapping[str, Any]]], title: str, identifier: str) -> Figure:
    shares = [
        Share(condition, heading, each[field]["correct"], each[field]["scored"])
        for condition, each in scores
        for field, heading in zip(_FIELDS, _HEADINGS, strict=True)
    ]
    if not any(share.scored for share in shares):
        return Figure(
            id=identifier, title=title, description=_NONE_SCORED, sources=(NOT_OBSERVED,), absent=_NONE_SCORED
        )
    conditions = [condition for condition, _ in scores]
    totals = [
        f"{condition} {each['all_fields']['correct']} of {each['all_fields']['scored']}" for condition, each in scores
    ]
    description = f"Right fields of all scored ones: {'; '.join(totals)}."
    columns = ("Condition", "Answers", "Comparable answers", *(words(field).capitalize() for field in _FIELDS))
    return Figure(
        id=identifier,
        title=title,
        description=description,
        sources=(DERIVED,),
        table=Table(
            caption="Right answers of the scored ones, by field",
            columns=columns,
            numeric=(False,) + (True,) * (len(columns) - 1),
            rows=[
                (
                    Cell(condition),
                    Cell(exact(each["of"]), each["of"]),
                    Cell(exact(each["answers"]), each["answers"]),
                    *(_right(each[field]) for field in _FIELDS),
                )
                for condition, each in scores
            ],
        ),
        charts=[("any", _matrix(shares, conditions, identifier, title, description))],
        caption="Right answers of the scored ones. The fuller a square, the more are right; a dashed one could not be "
        "scored. Wrong but valid answers stay in every cost above.",
    )


def _matrix(shares: Sequence[Share], conditions: Sequence[str], identifier: str, title: str, description: str) -> str:
    rows = [
        {
            "condition": share.condition,
            "field": share.heading,
            "share": share.right / share.scored if share.scored else None,
            "text": share.text,
            "weight": 700 if share.right < share.scored else 400,
        }
        for share in shares
    ]
    area = Area(204, 30 * len(conditions), 112, 24, 46, 4)
    place: dict[str, Any] = {
        "y": {
            "field": "condition",
            "type": "nominal",
            "sort": list(conditions),
            "scale": {"domain": list(conditions), "padding": 0.08},
            "axis": {"title": None, "labelOverlap": False, "labelLimit": 1000},
        },
        "x": {
            "field": "field",
            "type": "nominal",
            "sort": list(_HEADINGS),
            "scale": {"domain": list(_HEADINGS), "padding": 0.08},
            "axis": {
                "title": None,
                "orient": "top",
                "labelAngle": -32,
                "labelAlign": "left",
                "labelPadding": 4,
                "labelOverlap": False,
                "labelFontSize": 11,
            },
        },
    }
    scored = [row for row in rows if row["share"] is not None]
    unscored = [row for row in rows if row["share"] is None]
    layers = [
        {
            "data": {"values": scored},
            "mark": {"type": "rect", "color": "var(--complete)", "cornerRadius": 2},
            "encoding": place
            | {
                "fillOpacity": {
                    "field": "share",
                    "type": "quantitative",
                    "scale": {"domain": [0, 1], "range": [0.04, 0.3]},
                    "legend": None,
                }
            },
        },
        {
            "data": {"values": unscored},
            "mark": {"type": "rect", "fill": None, "stroke": "var(--muted)", "strokeDash": [2, 3], "cornerRadius": 2},
            "encoding": place,
        },
        *(
            {
                "data": {"values": [row for row in rows if row["weight"] == weight]},
                "mark": {"type": "text", "fontWeight": weight, "fontSize": 11},
                "encoding": place | {"text": {"field": "text"}},
            }
            for weight in (400, 700)
        ),
    ]
    return draw(layers, area=area, name=f"{identifier}-any", title=title, description=description)


def _right(field: Mapping[str, Any]) -> Cell:
    if not field["scored"]:
        return Cell("not scored", None, NOT_OBSERVED)
    return Cell(f"{exact(field['correct'])} of {exact(field['scored'])}", field["correct"])
