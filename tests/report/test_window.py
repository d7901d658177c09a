"""What a cutoff takes in: from `since` on, and what began before `until`; a date is a day in UTC."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.domain.times import epoch_ms, rfc3339
from repocue.errors import UsageError
from repocue.report.window import window

NOON = 1_796_040_000_000
"""2026-11-30T12:00:00Z."""


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30T12:00:00Z",
        "2026-11-30T12:00:00.000Z",
        "2026-11-30t12:00:00z",
        "2026-11-30 12:00:00Z",
        "2026-11-30T13:00:00+01:00",
        "2026-11-30T06:30:00-05:30",
        "2026-11-30T11:59:60Z",
    ],
)
def test_every_spelling_of_a_moment_is_that_moment(text: str) -> None:
    assert epoch_ms("2026-11-30T12:00:00.000Z") == NOON
    assert window(text, None) == (NOON, None)
    assert window(None, text) == (None, NOON)


def test_since_takes_in_its_moment_and_until_does_not() -> None:
    found = window("2026-11-30T12:00:00Z", "2026-11-30T12:00:01Z")
    assert [found.holds(NOON + ms) for ms in (-1, 0, 999, 1000)] == [False, True, True, False]


def test_a_date_is_a_whole_day_in_utc_at_both_ends() -> None:
    found = window("2026-11-30", "2026-11-30")
    midnight = NOON - 12 * 3_600_000
    assert [found.holds(midnight + ms) for ms in (-1, 0, 86_399_999, 86_400_000)] == [False, True, True, False]
    assert found.to_json() == {"since": "2026-11-30T00:00:00.000Z", "until": "2026-12-01T00:00:00.000Z"}


def test_a_cutoff_finer_than_a_millisecond_takes_in_the_same_whole_ones() -> None:
    # Of what began at .000 and .001, since .0005 takes in the second, and until .0005 the first.
    assert window("2026-11-30T12:00:00.0005Z", None).holds(NOON + 1)
    assert not window("2026-11-30T12:00:00.0005Z", None).holds(NOON)
    assert window(None, "2026-11-30T12:00:00.0005Z").holds(NOON)
    assert not window(None, "2026-11-30T12:00:00.0005Z").holds(NOON + 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2026-11-30T12:00:00", "time zone"),
        ("2026-11-30T12:00", "time zone"),
        ("yesterday", "neither a date nor"),
        ("2026-02-30", "is no time"),
        ("2026-11-30T25:00:00Z", "is no time"),
        ("2026-11-30T12:00:00+24:00", "is no time"),
        ("2026-11-30T12:00Z", "neither a date nor"),
        ("20261130", "neither a date nor"),
        ("", "neither a date nor"),
        ("٢٠٢٦-11-30", "neither a date nor"),
    ],
)
def test_anything_else_is_a_usage_error_that_says_what(text: str, message: str) -> None:
    for arguments in ((text, None), (None, text)):
        with pytest.raises(UsageError) as caught:
            window(*arguments)
        assert message in caught.value.message


@pytest.mark.parametrize("until", ["2026-11-29", "2026-11-30T00:00:00Z"])
def test_a_window_in_which_nothing_can_lie_is_refused(until: str) -> None:
    with pytest.raises(UsageError) as caught:
        window("2026-11-30", until)
    assert caught.value.code == "report.window"


@pytest.mark.parametrize(
    ("since", "until"),
    [
        (None, "9999-12-31"),
        ("9999-12-31T23:59:60Z", None),
        ("9999-12-31T23:59:59.9999Z", None),
        (None, "9999-12-31T23:59:59-00:01"),
        ("0001-01-01T00:00:00+00:01", None),
    ],
)
def test_a_cutoff_that_no_document_can_state_is_a_usage_error(since: str | None, until: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        window(since, until).to_json()
    assert "outside of the years 1 to 9999" in caught.value.message


def test_the_first_and_the_last_cutoff_are_stated_in_four_digits() -> None:
    widest = window("0001-01-01", "9999-12-31T23:59:59.999Z")
    assert widest.to_json() == {"since": "0001-01-01T00:00:00.000Z", "until": "9999-12-31T23:59:59.999Z"}


@given(st.integers(0, 4_000_000_000_000))
def test_a_time_of_our_own_documents_is_understood_exactly(moment: int) -> None:
    assert window(rfc3339(moment), None).since_ms == moment
