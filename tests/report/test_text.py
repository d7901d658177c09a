"""The text form says what its figures are: over how many pairs, estimated or not, and what is missing."""

from __future__ import annotations

import io

from rich.console import Console

from repocue.cli.report_text import report
from repocue.report.window import window
from tests.report import made


def text(document: made.Document) -> str:
    out = io.StringIO()
    Console(file=out, width=110).print(report(document))
    return "\n".join(" ".join(line.split()) for line in out.getvalue().splitlines())


def test_medians_stand_beside_their_coverage_and_differences_beside_their_range() -> None:
    shown = text(made.rich())
    assert "tokens, total 3/5 5,500 4,500 900 (-200 … 1,500) 18.0 %" in shown
    assert "Left out as estimates: 1 value; the JSON form shows them, labelled." in shown
    # Five pairs have a direct cost and three a saving: the table says so.
    assert "1 5,300 [n=5] 4,500 900 (-200 … 1,500) 3/5" in shown


def test_a_zero_of_version_3_is_marked_where_it_shows() -> None:
    shown = text(made.rich())
    assert "cached? 1/1 0" in shown
    assert "? holds a zero of version 3, which may stand for a counter that was left out." in shown
    assert "?" not in text(made.exploratory())


def test_an_unknown_part_makes_its_total_unavailable_in_words() -> None:
    shown = text(made.unknown_maintenance())
    assert "maintenance unknown for epoch-000002: 1 baseline, 4 refreshes" in shown
    assert "Break-even: unavailable, a part of the total is not known." in shown
    assert "- (4/5)" in shown


def test_what_is_excluded_and_who_scored_when_is_said() -> None:
    shown = text(made.rich())
    assert "Excluded: calibration-000001: its epoch is superseded (epoch-000001)" in shown
    assert "Excluded: calibration-000007: a run had more than its condition supplies (direct)" in shown
    assert "Linus, date unknown, on basic of run 1 (snapshot-000003): purpose 1" in shown


def test_the_window_is_stated_in_utc() -> None:
    shown = text(made.document(made.material(), window(None, "2026-11-30")))
    assert "window from the beginning up to, not including, 2026-12-01T00:00:00.000Z (UTC)" in shown


def test_without_calibrations_nothing_speaks_of_a_saving() -> None:
    shown = text(made.bare())
    assert "Agent evidence: unavailable" in shown
    assert "saving" not in shown
    assert "break-even" not in shown.lower()
