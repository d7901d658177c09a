"""The text form says what its figures are: over how many pairs, estimated or not, and what is missing."""

from __future__ import annotations

import dataclasses
import io

import pytest
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
    assert "? holds, or is made from, a zero of version 3, which may stand for a counter that was left out." in shown
    assert "?" not in text(made.exploratory())


def test_a_total_with_a_zero_of_version_3_behind_it_is_marked_too() -> None:
    found = made.rich()
    found["agent_evidence"]["groups"][1]["metrics"]["total_tokens"]["ambiguous_zeros"] = 1
    assert "Estimated totals: tokens, total?" in text(found)
    assert "Estimated totals: tokens, total?" not in text(made.rich())


@pytest.mark.parametrize("member", [field.name for field in dataclasses.fields(made.BASIC)])
def test_no_two_groups_read_alike(member: str) -> None:
    value = getattr(made.BASIC, member)
    changed = value + 1 if isinstance(value, int) else "sha256:" + "0" * 64 if value is None else f"{value} other"
    values = made.amounts(2000, 2000.0)
    both = [
        made.stored(number, made.pair(str(number), number, values, values, identity=identity))
        for number, identity in enumerate((made.BASIC, dataclasses.replace(made.BASIC, **{member: changed})), start=1)
    ]
    shown = text(made.document(made.material(calibrations=both, opinions=()))).split("\ngroup-")[1:3]
    first, second = (part.split("medians")[0].split(",", 1)[1] for part in shown)
    assert first != second


def test_a_break_even_over_some_pairs_says_of_how_many_a_part_is_unknown() -> None:
    # Of the five pairs of the first group one has an estimated and one a missing total.
    assert " of 3 pairs; of 2 more a part is not known." in text(made.rich())
    assert "more a part is not known" not in text(made.exploratory())


def test_a_break_even_count_is_not_rounded_away() -> None:
    found = made.exploratory()
    counts = {"finite": 2, "of": 2, "median": 1234567.5, "min": 1234567, "max": 1234568}
    found["agent_evidence"]["groups"][0]["break_even"]["total_tokens"] = counts
    assert "1,234,568 consumers (from 1,234,567 to 1,234,568), in 2 of 2 pairs." in text(found)
    assert "e+06" not in text(found)


def test_what_is_not_zero_never_reads_as_zero() -> None:
    found = made.exploratory()
    metric = found["agent_evidence"]["groups"][0]["metrics"]["execution_duration_ms"]
    metric["difference"] = {"median": -0.04, "min": -0.04, "max": -0.04}
    metric["percent_median"] = -0.004
    found["maintenance"]["current_epoch"]["duration_ms"] = 0.25
    shown = text(found)
    assert "-0.04 -0.004 %" in shown
    assert "maintenance 0.2 ms" in shown


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
