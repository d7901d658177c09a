"""Quality, apart from cost: what a deterministic scorer checked, and what people judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from repocue.domain.measurement import DERIVED, NOT_OBSERVED, OBSERVED
from repocue.report.html.drawing import Area, draw
from repocue.report.html.figure import Cell, Figure, Mark, Table
from repocue.report.html.maintenance_figures import moment
from repocue.report.html.numbers import exact, times
from repocue.report.html.pair_figures import short_digest
from repocue.report.html.text import plain, words

HIGHEST_SCORE: Final = 4
MOST_ASSESSMENTS: Final = 200
"""More assessments than this are tabled as counts of equal scores."""

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


def qualitative_figure(assessments: Sequence[Mapping[str, Any]]) -> Figure:
    """People's scores from 0 to 4: opinions with a name, never averaged with facts."""
    title = "Assessors' scores"
    judged = [
        (each, name, value) for each in assessments for name, value in each["scores"].items() if value is not None
    ]
    if not judged:
        return Figure(
            id="qualitative",
            title=title,
            description="No assessment applies.",
            sources=(NOT_OBSERVED,),
            absent="No assessment of these answers is on record. Their quality beyond git's facts is unknown.",
        )
    names = list(dict.fromkeys(name for _, name, _ in judged))
    conditions = list(dict.fromkeys(plain(each["condition"]) for each in assessments))
    counts = Counter((plain(each["condition"]), name, value) for each, name, value in judged)
    rows = [
        {
            "condition": condition,
            "score": words(name),
            "value": value,
            "count": count,
            "text": exact(count) if count > 1 else "",
        }
        for (condition, name, value), count in sorted(
            counts.items(), key=lambda item: (item[0][1], item[0][0], item[0][2])
        )
    ]
    labels = [words(name) for name in names]
    area = Area(140, max(30, 22 * len(conditions)) * len(names), 158, 40, 6, 44)
    y = {
        "field": "score",
        "type": "nominal",
        "sort": labels,
        "scale": {"domain": labels, "paddingInner": 0.3},
        "axis": {"title": None, "labelLimit": 1000, "grid": True, "labelOverlap": False},
    }
    offset = {"field": "condition", "type": "nominal", "scale": {"domain": conditions}}
    x = {
        "field": "value",
        "type": "quantitative",
        "scale": {"domain": [0, HIGHEST_SCORE]},
        "axis": {"title": "score, 0 to 4", "values": list(range(HIGHEST_SCORE + 1)), "format": "d"},
    }
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": rows},
            "mark": {"type": "point", "filled": True, "size": 100, "opacity": 0.9},
            "encoding": {
                "y": y,
                "yOffset": offset,
                "x": x,
                "color": {
                    "field": "condition",
                    "type": "nominal",
                    "legend": None,
                    "scale": _scale(conditions, "color"),
                },
                "shape": {
                    "field": "condition",
                    "type": "nominal",
                    "legend": None,
                    "scale": _scale(conditions, "shape"),
                },
            },
        },
        {
            "data": {"values": rows},
            "mark": {"type": "text", "align": "left", "dx": 9, "fontSize": 11, "color": "var(--muted)"},
            "encoding": {"y": y, "yOffset": offset, "x": x, "text": {"field": "text"}},
        },
    ]
    assessors = sorted({plain(each["assessor"]) for each in assessments})
    description = (
        f"{times(len(assessments), 'assessment')} by {', '.join(assessors)}: "
        f"{times(len(judged), 'score')} from {min(value for *_, value in judged)} "
        f"to {max(value for *_, value in judged)}."
    )
    return Figure(
        id="qualitative",
        title=title,
        description=description,
        sources=(OBSERVED,),
        table=_assessments_table(assessments, names),
        charts=[("any", draw(layers, area=area, name="qualitative-any", title=title, description=description))],
        legend=[Mark(_look(name)[2], name) for name in conditions],
        caption="Opinions of the assessors named in the table. A number beside a mark counts equal scores.",
    )


def _assessments_table(assessments: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Table:
    if len(assessments) > MOST_ASSESSMENTS:
        return _counts_table(assessments)
    return Table(
        caption="Every assessment",
        columns=("Assessor", "Assessed", "Condition", "Report set", "Run", "Snapshot", *map(_heading, names)),
        numeric=(False, False, False, False, True, False, *(True for _ in names)),
        rows=[
            (
                Cell(plain(each["assessor"])),
                Cell("date not known", None, NOT_OBSERVED)
                if each["assessed_at"] is None
                else Cell(moment(each["assessed_at"])),
                Cell(plain(each["condition"])),
                Cell(short_digest(each["set"])),
                Cell(exact(each["run_index"]), each["run_index"]),
                Cell(plain(each["snapshot"])),
                *(Cell(exact(each["scores"][name]), each["scores"][name]) for name in names),
            )
            for each in assessments
        ],
        note="Scores belong to the answers and the snapshot that were judged. A date that is not known is not guessed.",
    )


def _counts_table(assessments: Sequence[Mapping[str, Any]]) -> Table:
    counts = Counter(
        (plain(each["assessor"]), plain(each["condition"]), name, value)
        for each in assessments
        for name, value in each["scores"].items()
    )
    return Table(
        caption=f"Equal scores of {times(len(assessments), 'assessment')}",
        columns=("Assessor", "Condition", "Judged", "Score", "Times"),
        numeric=(False, False, False, True, True),
        rows=[
            (Cell(assessor), Cell(condition), Cell(words(name)), Cell(exact(value), value), Cell(exact(count), count))
            for (assessor, condition, name, value), count in sorted(counts.items())
        ],
        note="Every single assessment with its date is in the report's JSON form.",
    )


def _heading(name: str) -> str:
    return words(name).capitalize()


_LOOKS: Final = {
    "direct": ("var(--direct)", "circle", "circle direct"),
    "basic": ("var(--assisted)", "diamond", "diamond assisted"),
    "placebo": ("var(--muted)", "square", "square other"),
    "ranked": ("var(--maintenance)", "triangle-up", "triangle refresh"),
    "structural-oracle": ("var(--baseline)", "triangle-down", "triangle down baseline"),
}
_OTHER: Final = ("var(--muted)", "square", "square other")


def _look(condition: str) -> tuple[str, str, str]:
    """A condition's colour, the shape of its marks, and the classes of its legend mark."""
    return _LOOKS.get(condition, _OTHER)


def _scale(conditions: Sequence[str], what: str) -> dict[str, Any]:
    return {"domain": list(conditions), "range": [_look(name)[0 if what == "color" else 1] for name in conditions]}
