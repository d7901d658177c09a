"""Times of one attempt are in order whatever the wall clock does."""

from __future__ import annotations

from repocue.evaluation.shared.clock import AttemptClock, Deadline


def test_later_times_are_the_first_wall_reading_plus_what_passed() -> None:
    seconds = iter([100.0, 100.0, 100.25, 103.9999])
    clock = AttemptClock(wall_ms=lambda: 1_764_529_507_123, monotonic=lambda: next(seconds))
    assert [clock.now(), clock.now(), clock.now()] == [
        "2025-11-30T19:05:07.123Z",
        "2025-11-30T19:05:07.373Z",
        "2025-11-30T19:05:11.122Z",
    ]


def test_the_wall_clock_is_read_once() -> None:
    readings = iter([1_000])
    clock = AttemptClock(wall_ms=lambda: next(readings), monotonic=lambda: 0.0)
    assert [clock.now_ms(), clock.now_ms()] == [1_000, 1_000]


def test_a_deadline_is_over_at_its_moment_and_an_inner_one_never_later() -> None:
    now = [0.0]
    outer = Deadline(10, monotonic=lambda: now[0])
    inner = outer.within(4)
    assert outer.within(40).remaining_s() == 10
    now[0] = 4.0
    assert (inner.why_over(), inner.remaining_s()) == ("deadline", 0.0)
    assert (outer.why_over(), outer.remaining_s()) == (None, 6.0)
    now[0] = 11.0
    assert (outer.why_over(), outer.remaining_s(), outer.wait_ms()) == ("deadline", 0.0, 1)


def test_a_wish_to_end_is_heard_within_a_fraction_of_a_second_and_named() -> None:
    wishes = [False]
    deadline = Deadline(900, lambda: wishes[0], monotonic=lambda: 0.0)
    assert deadline.wait_s() <= 0.5
    assert deadline.why_over() is None
    wishes[0] = True
    assert deadline.why_over() == deadline.within(1).why_over() == "interrupted"
