"""Usage categories are disjoint, checked against each other, and unknown stays unknown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.errors import ContractError
from repocue.evaluation.cache.usage import UNKNOWN, Ttl, read
from tests.cache import samples


def lifetimes(usage: dict[str, Any], ttl: Ttl | None) -> tuple[int | None, int | None]:
    found = read(usage, ttl=ttl)
    return found.ephemeral_5m_input_tokens, found.ephemeral_1h_input_tokens


def with_writes(total: int | None, five: int | None = None, hour: int | None = None) -> dict[str, Any]:
    return samples.usage(
        cache_creation_input_tokens=total,
        cache_creation={"ephemeral_5m_input_tokens": five, "ephemeral_1h_input_tokens": hour},
    )


def test_every_category_is_taken_over_as_it_was_reported() -> None:
    usage = samples.usage(
        cache_creation_input_tokens=30,
        cache_creation={"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 10},
        cache_read_input_tokens=7,
        output_tokens_details={"thinking_tokens": 4},
    )
    assert read(usage, ttl="5m").to_json() == {
        "input_tokens": 1200,
        "cache_creation_input_tokens": 30,
        "ephemeral_5m_input_tokens": 20,
        "ephemeral_1h_input_tokens": 10,
        "cache_read_input_tokens": 7,
        "output_tokens": 150,
        "thinking_tokens": 4,
    }


@pytest.mark.parametrize("usage", [None, {}])
def test_no_usage_is_unknown_in_every_category(usage: dict[str, Any] | None) -> None:
    assert read(usage, ttl="5m") == UNKNOWN
    assert set(UNKNOWN.to_json().values()) == {None}


@pytest.mark.parametrize(
    "name", ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"]
)
@pytest.mark.parametrize("how", ["absent", "null"])
def test_a_missing_counter_is_unknown_while_the_others_are_kept_also_zeros(name: str, how: str) -> None:
    usage = samples.usage()
    if how == "absent":
        del usage[name]
    else:
        usage[name] = None
    found = read(usage, ttl="5m").to_json()
    assert found.pop(name) is None
    assert None not in found.values()


@pytest.mark.parametrize(
    ("total", "five", "hour", "ttl", "expected"),
    [
        # both reported: taken as they are, whatever the request named
        (30, 20, 10, "5m", (20, 10)),
        (30, 0, 30, "5m", (0, 30)),
        (30, 20, 10, None, (20, 10)),
        # none reported: all of it has the one lifetime that was asked for
        (30, None, None, "5m", (30, 0)),
        (30, None, None, "1h", (0, 30)),
        (30, None, None, None, (None, None)),
        # nothing written is nothing in either lifetime
        (0, None, None, None, (0, 0)),
        (0, None, None, "1h", (0, 0)),
        (0, 0, None, None, (0, 0)),
        # one reported, and it is all
        (30, 30, None, None, (30, 0)),
        (30, None, 30, "5m", (0, 30)),
        # one reported, and the rest can only have the lifetime that was asked for
        (30, None, 10, "5m", (20, 10)),
        (30, 10, None, "1h", (10, 20)),
        (30, None, 0, "5m", (30, 0)),
        # one reported, and the rest has a lifetime nobody asked for: not certain
        (30, 10, None, "5m", (10, None)),
        (30, None, 10, "1h", (None, 10)),
        (30, 10, None, None, (10, None)),
        # no aggregate: nothing can be filled in
        (None, None, None, "5m", (None, None)),
        (None, 20, None, "5m", (20, None)),
        (None, 20, 10, "5m", (20, 10)),
        (None, 0, None, "1h", (0, None)),
    ],
)
def test_an_absent_lifetime_is_filled_in_only_where_nothing_else_is_possible(
    total: int | None, five: int | None, hour: int | None, ttl: Ttl | None, expected: tuple[int | None, int | None]
) -> None:
    assert lifetimes(with_writes(total, five, hour), ttl) == expected


def test_an_absent_or_null_cache_creation_object_is_two_absent_lifetimes() -> None:
    usage = samples.usage(cache_creation_input_tokens=30, cache_creation=None)
    assert lifetimes(usage, "1h") == (0, 30)
    del usage["cache_creation"]
    assert lifetimes(usage, "5m") == (30, 0)


@pytest.mark.parametrize(
    ("total", "five", "hour"), [(30, 20, 9), (30, 20, 11), (30, 31, None), (30, None, 31), (0, 1, None), (0, 0, 1)]
)
def test_lifetimes_that_contradict_their_aggregate_are_refused(total: int, five: int | None, hour: int | None) -> None:
    with pytest.raises(ContractError) as caught:
        read(with_writes(total, five, hour), ttl="5m")
    assert caught.value.pointer == "/usage/cache_creation"


def test_thinking_is_a_part_of_output_and_more_of_it_is_refused() -> None:
    assert (
        read(samples.usage(output_tokens=5, output_tokens_details={"thinking_tokens": 5}), ttl=None).thinking_tokens
        == 5
    )
    with pytest.raises(ContractError, match="6, more than the output of 5"):
        read(samples.usage(output_tokens=5, output_tokens_details={"thinking_tokens": 6}), ttl=None)
    unknown = samples.usage(output_tokens=None, output_tokens_details={"thinking_tokens": 6})
    assert read(unknown, ttl=None).output_tokens is None


BAD = [-1, True, False, "5", 1.0, 1e3, 2**53, 2**60, [], {}]


@pytest.mark.parametrize("value", BAD, ids=repr)
@pytest.mark.parametrize(
    "path",
    [
        ("input_tokens",),
        ("cache_creation_input_tokens",),
        ("cache_read_input_tokens",),
        ("output_tokens",),
        ("cache_creation", "ephemeral_5m_input_tokens"),
        ("cache_creation", "ephemeral_1h_input_tokens"),
        ("output_tokens_details", "thinking_tokens"),
    ],
    ids="/".join,
)
def test_an_unsafe_counter_is_refused_with_its_pointer(path: tuple[str, ...], value: Any) -> None:
    usage = json.loads(json.dumps(samples.usage()))
    inner = usage
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    with pytest.raises(ContractError) as caught:
        read(usage, ttl="5m")
    assert caught.value.pointer == "/usage/" + "/".join(path)


@pytest.mark.parametrize("name", ["cache_creation", "output_tokens_details"])
def test_a_part_that_is_no_object_is_refused(name: str) -> None:
    with pytest.raises(ContractError):
        read(samples.usage(**{name: [1]}), ttl="5m")


COUNT = st.integers(0, 2**53 - 1)


@given(
    five=st.none() | st.integers(0, 1000),
    hour=st.none() | st.integers(0, 1000),
    total=st.none() | st.integers(0, 2000),
    ttl=st.sampled_from([None, "5m", "1h"]),
)
def test_known_lifetimes_always_add_up_and_reported_numbers_are_never_changed(
    five: int | None, hour: int | None, total: int | None, ttl: Ttl | None
) -> None:
    try:
        found = read(with_writes(total, five, hour), ttl=ttl)
    except ContractError:
        assert total is not None
        assert (five or 0) + (hour or 0) != total
        return
    assert found.cache_creation_input_tokens == total
    assert five is None or found.ephemeral_5m_input_tokens == five
    assert hour is None or found.ephemeral_1h_input_tokens == hour
    parts = (found.ephemeral_5m_input_tokens, found.ephemeral_1h_input_tokens)
    if total is not None and None not in parts:
        assert sum(part for part in parts if part is not None) == total


@given(total=COUNT, ttl=st.sampled_from(["5m", "1h"]))
def test_the_largest_counters_are_kept_exactly(total: int, ttl: Ttl) -> None:
    assert lifetimes(with_writes(total), ttl) == ((total, 0) if ttl == "5m" else (0, total))


def test_complete_means_every_priced_category_and_access_any_write_or_read() -> None:
    assert read(samples.usage(cache_creation_input_tokens=None), ttl=None).is_complete
    assert not read(samples.usage(cache_read_input_tokens=None), ttl=None).is_complete
    assert not read(samples.usage(), ttl=None).has_cache_access
    assert read(samples.usage(cache_read_input_tokens=1), ttl=None).has_cache_access
    assert read(with_writes(30), ttl=None).has_cache_access
    assert read(with_writes(None, 30), ttl=None).has_cache_access
