"""How the page writes single numbers and foreign text."""

from __future__ import annotations

import pytest

from repocue.report.html.numbers import axis, exact, human, percent, signed, times
from repocue.report.html.text import moment, plain, short


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1234567, "1,234,567"),
        (-5, "\u22125"),
        (0.1, "0.1"),
        (1234.5678, "1,234.5678"),
        (1e-06, "0.000001"),
        (1e16, "10,000,000,000,000,000"),
        (-0.25, "\u22120.25"),
        (9007199254740991, "9,007,199,254,740,991"),
    ],
)
def test_exact_numbers_keep_every_digit(value: float, text: str) -> None:
    assert exact(value) == text


def test_signs_stand_before_differences_but_not_before_zero() -> None:
    assert [signed(value) for value in (3, 0, -3)] == ["+3", "0", "\u22123"]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "ms", "0 ms"),
        (0.4, "ms", "0.4 ms"),
        (412.3, "ms", "412 ms"),
        (1840, "ms", "1.84 s"),
        (59_999, "ms", "60 s"),
        (90_000, "ms", "1.5 min"),
        (7_200_000, "ms", "2 h"),
        (-1500, "ms", "\u22121.5 s"),
        (999, "bytes", "999 B"),
        (73_728, "bytes", "73.7 kB"),
        (2_500_000_000, "bytes", "2.5 GB"),
        (1, "tokens", "1 token"),
        (48213, "tokens", "48,213 tokens"),
        (48213.5, "tokens", "48,213.5 tokens"),
        (12, "count", "12"),
    ],
)
def test_people_s_numbers_carry_a_unit_that_suits_them(value: float, unit: str, text: str) -> None:
    assert human(value, unit).replace("\u202f", " ") == text  # type: ignore[arg-type]  # parametrised


def test_shares_have_one_decimal_place() -> None:
    assert [percent(value).replace("\u202f", " ") for value in (18, 23.529412, -0.06, 100)] == [
        "18.0 %",
        "23.5 %",
        "\u22120.1 %",
        "100.0 %",
    ]


def test_one_axis_has_one_unit_and_its_labels_keep_it() -> None:
    seconds = axis(70_000, "ms")
    assert (seconds.divisor, seconds.title) == (1000, "seconds")
    assert [seconds.short(value).replace("\u202f", " ") for value in (1250.25, -500, 0)] == [
        "+1.25 s",
        "\u22120.5 s",
        "0 s",
    ]
    assert axis(1999, "ms").title == "milliseconds"
    assert axis(5_000_000, "bytes").title == "MB"


def test_counts_agree_with_their_nouns() -> None:
    assert [times(1, "pair"), times(1000, "pair"), times(2, "refresh", "refreshes")] == [
        "1 pair",
        "1,000 pairs",
        "2 refreshes",
    ]


def test_characters_that_mislead_or_cannot_be_carried_are_spelled_out() -> None:
    assert plain("a\x00b\u202ec\ud800\ufeff\u2066") == "a\\x00b\\u202ec\\ud800\\ufeff\\u2066"
    assert plain("Zażółć 日本 <b> & \"'") == "Zażółć 日本 <b> & \"'"


def test_labels_are_cut_without_becoming_alike() -> None:
    assert short("overview", 12, 0) == "overview"
    assert [short("x" * 40, 12, place) for place in (0, 1)] == ["xxxxxxx… (1)", "xxxxxxx… (2)"]


def test_moments_are_shown_to_the_second() -> None:
    assert moment("2026-11-30T19:05:07.123Z") == "2026-11-30 19:05:07"
