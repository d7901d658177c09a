"""A `repocue/report-1` document as one HTML file. The same document gives the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from repocue.domain.measurement import NOT_OBSERVED
from repocue.report.html.assessment_figures import qualitative_figure
from repocue.report.html.cues_figure import cues_figure
from repocue.report.html.deterministic_figures import deterministic_figures
from repocue.report.html.figure import Cell, Fact, Table, measured
from repocue.report.html.groups import facts, group_sections
from repocue.report.html.numbers import human, times
from repocue.report.html.opening import keys, opening
from repocue.report.html.pairs import short_digest
from repocue.report.html.runs_figure import runs_figure
from repocue.report.html.text import moment, plain, words

if TYPE_CHECKING:
    from jinja2 import Template


def render(document: Mapping[str, Any]) -> bytes:
    """The page of a report document that satisfies its contract, in UTF-8."""
    evidence = document["agent_evidence"]
    quality = document["quality"]
    validation = document["validation_cost"]["duration_ms"]
    text = _template().render(
        css=_packaged("report.css"),
        schema=plain(document["schema_version"]),
        name=plain(document["repository"]["name"]),
        repository=facts(document["repository"]),
        window=[*_window(document["window"]), Fact("Made", plain(document["generated_at"]))],
        state=[Fact("Epoch", plain(document["epoch"])), Fact("Snapshot", plain(document["snapshot"]))],
        opening=opening(document),
        keys=keys(document),
        runs=runs_figure(document["maintenance"]["runs"]),
        cues=cues_figure(document["maintenance"]["cue_runs"]),
        epochs=_epochs(document["maintenance"]["epochs"]),
        evidence_status=plain(evidence["status"]),
        is_unavailable=evidence["status"] == "unavailable",
        groups=group_sections(evidence["groups"]),
        excluded=_excluded(evidence["pairs_excluded"]),
        deterministic=deterministic_figures(quality["deterministic"]),
        qualitative=qualitative_figure(quality["qualitative"]),
        not_observed=[plain(item) for item in document["not_observed"]],
        limitations=[plain(item) for item in document["limitations"]],
        validation=None if validation is None else human(validation, "ms"),
        validation_value=validation,
        plural=times,
    )
    return text.encode()


def _window(window: Mapping[str, Any]) -> list[Fact]:
    since, until = window.get("since"), window.get("until")
    return [
        Fact("Window from", "the beginning of the record" if since is None else plain(since)),
        Fact("Window until", "the moment the report was made" if until is None else f"{plain(until)}, without it"),
    ]


def _epochs(epochs: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        caption="Epochs: what their runs in this window took",
        columns=(
            "Epoch",
            "Status",
            "Label",
            "Opened (UTC)",
            "Superseded (UTC)",
            "Baseline runs",
            "Refreshes",
            "Failed",
            "Full duration (ms)",
            "Scans within it (ms)",
            "Git processes",
            "Files scanned",
            "Bytes read",
        ),
        numeric=(False,) * 5 + (True,) * 8,
        rows=[
            (
                Cell(plain(epoch["id"])),
                Cell(words(epoch["status"])),
                Cell("–" if epoch["label"] is None else plain(epoch["label"])),
                Cell(moment(epoch["opened_at"])),
                Cell("–" if epoch["superseded_at"] is None else moment(epoch["superseded_at"])),
                *(measured(epoch[name]) for name in ("baseline_runs", "refresh_runs", "failed_runs")),
                *(_sum(epoch[name]) for name in _SUMS),
            )
            for epoch in epochs
        ],
        note="A sum is given only where every part of it was observed.",
    )


_SUMS: Final = ("duration_ms", "scan_duration_ms", "git_processes", "files_scanned", "bytes_read")


def _sum(found: Mapping[str, Any]) -> Cell:
    if found["total"] is None:
        return Cell(f"not observed ({found['known']} of {found['of']} known)", None, NOT_OBSERVED)
    return measured(found["total"])


def _excluded(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        caption="Imported pairs that are not used, and why",
        columns=("Calibration", "Report set", "Run", "Assisted", "Reason", "Detail"),
        numeric=(False, False, True, False, False, False),
        rows=[
            (
                Cell(plain(row["calibration"])),
                Cell(short_digest(row["set"])),
                measured(row["run_index"]),
                Cell(plain(row["assisted"])),
                Cell(words(row["reason"])),
                Cell("–" if row["detail"] is None else plain(row["detail"])),
            )
            for row in rows
        ],
    )


@cache
def _template() -> Template:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(_packaged),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("report.html.jinja")


def _packaged(name: str) -> str:
    from importlib.resources import files

    return (files("repocue") / "data" / "templates" / name).read_text(encoding="utf-8")
