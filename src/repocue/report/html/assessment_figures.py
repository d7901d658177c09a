"""What people judged: opinions with a name, apart from cost and from facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from repocue.domain.measurement import NOT_OBSERVED, OBSERVED
from repocue.report.html.drawing import Area, draw
from repocue.report.html.figure import Cell, Figure, Mark, Table
from repocue.report.html.numbers import exact, times
from repocue.report.html.pairs import short_digest
from repocue.report.html.text import moment, plain, words

HIGHEST_SCORE: Final = 4

MOST_ASSESSMENTS: Final = 200
"""More assessments than this are tabled as counts of equal scores."""

_LOOKS: Final = {
    "direct": ("var(--direct)", "circle", "circle direct"),
    "basic": ("var(--assisted)", "diamond", "diamond assisted"),
    "placebo": ("var(--muted)", "square", "square other"),
    "ranked": ("var(--maintenance)", "triangle-up", "triangle refresh"),
    "structural-oracle": ("var(--baseline)", "triangle-down", "triangle down baseline"),
}

_OTHER: Final = ("var(--muted)", "square", "square other")


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


def _look(condition: str) -> tuple[str, str, str]:
    """A condition's colour, the shape of its marks, and the classes of its legend mark."""
    return _LOOKS.get(condition, _OTHER)


def _scale(conditions: Sequence[str], what: str) -> dict[str, Any]:
    return {"domain": list(conditions), "range": [_look(name)[0 if what == "color" else 1] for name in conditions]}
