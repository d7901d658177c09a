"""Law: a damaged stream gives a valid observation or one clear error, and never a wrong total.

The captured streams are cut at every byte, their lines swapped, dropped and doubled, their numbers replaced. What is
still accepted must have the totals of an independent reading with Python's own `json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.errors import RepoCueError
from repocue.runners.claude import events as claude
from repocue.runners.codex import events as codex
from repocue.runners.observed import AgentStream
from repocue.runners.usage import totals

CASES = Path(__file__).parent.parent / "data" / "cases"
STREAMS = [
    *((codex, path) for path in sorted((CASES / "codex-jsonl").glob("*.jsonl"))),
    *((claude, path) for path in sorted((CASES / "claude-jsonl").glob("*.jsonl"))),
]
IDS = [f"{path.parent.name}/{path.stem}" for _, path in STREAMS]
REPLACEMENTS = ["0", "-1", "7", "1.5", "1e400", "9007199254740992", "true", "null", '"3"', "1" * 4400]


def expected_totals(data: bytes) -> list[dict[str, int]]:
    """What the totals may be, computed without the code under test: the declared ones, or fewer."""
    for line in reversed(data.decode().splitlines()):
        event = json.loads(line) if line.strip() else {}
        if event.get("type") == "turn.completed":
            usage = event["usage"]
            return [with_total({name: value for name, value in usage.items() if value is not None})]
        if event.get("type") == "result":
            by_model = event["model_usage_since_last_result"] or event["modelUsage"]
            return [claude_totals(by_model), {}]
    return []


def claude_totals(by_model: dict[str, Any]) -> dict[str, int]:
    (usage,) = by_model.values()
    read, made = usage.get("cacheReadInputTokens"), usage.get("cacheCreationInputTokens")
    parts = [usage.get("inputTokens"), read, made]
    known = {
        "input_tokens": None if None in parts else sum(parts),
        "cached_input_tokens": read,
        "cache_write_input_tokens": made,
        "output_tokens": usage.get("outputTokens"),
        "reasoning_output_tokens": usage.get("thinkingTokens"),
    }
    return with_total({name: value for name, value in known.items() if value is not None})


def with_total(known: dict[str, int]) -> dict[str, int]:
    if "input_tokens" in known and "output_tokens" in known:
        return known | {"total_tokens": known["input_tokens"] + known["output_tokens"]}
    return known


def outcome(reader: ModuleType, data: bytes) -> AgentStream | None:
    """What was read, or None after one clear error. Any other exception is a failure of the law."""
    try:
        stream: AgentStream = reader.read_stream(data)
        totals(stream.usage)
    except RepoCueError as error:
        return None if error.message and "\n" not in error.message else pytest.fail(f"not one clear line: {error!r}")
    assert len(stream.usage) >= 1
    return stream


def check(reader: ModuleType, data: bytes) -> None:
    reader.failure(data)
    stream = outcome(reader, data)
    if stream is not None:
        assert totals(stream.usage) in expected_totals(data)


def cuts(data: bytes, step: int) -> Iterator[bytes]:
    for end in range(0, len(data), step):
        yield data[:end]


@pytest.mark.parametrize(("reader", "path"), STREAMS, ids=IDS)
def test_a_stream_cut_between_lines_is_whole_or_an_error(reader: ModuleType, path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    whole = outcome(reader, b"".join(lines))
    for count in range(len(lines)):
        assert outcome(reader, b"".join(lines[:count])) is None, f"{count} of {len(lines)} lines"
    assert outcome(reader, b"".join(lines)[:-1]) == whole


@pytest.mark.parametrize(("reader", "path"), STREAMS, ids=IDS)
def test_a_stream_cut_inside_a_line_is_an_error(reader: ModuleType, path: Path) -> None:
    data = path.read_bytes()
    for cut in cuts(data[:-1], max(1, len(data) // 40)):
        assert outcome(reader, cut) is None


@pytest.mark.deep
@pytest.mark.parametrize(("reader", "path"), STREAMS, ids=IDS)
def test_a_stream_cut_at_every_byte_is_an_error(reader: ModuleType, path: Path) -> None:
    data = path.read_bytes()
    for cut in cuts(data[:-1], 1):
        assert outcome(reader, cut) is None
        reader.failure(cut)


def swapped(lines: list[bytes], one: int, other: int) -> list[bytes]:
    made = list(lines)
    made[one], made[other] = made[other], made[one]
    return made


LINE_MUTATIONS: dict[str, Callable[[list[bytes], int, int], list[bytes]]] = {
    "dropped": lambda lines, one, _: lines[:one] + lines[one + 1 :],
    "doubled": lambda lines, one, _: lines[: one + 1] + lines[one:],
    "doubled at the end": lambda lines, one, _: [*lines, lines[one]],
    "swapped": swapped,
}


@pytest.mark.parametrize("mutation", LINE_MUTATIONS)
@pytest.mark.parametrize(("reader", "path"), STREAMS, ids=IDS)
def test_lines_dropped_doubled_or_swapped_never_change_a_total(reader: ModuleType, path: Path, mutation: str) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    for one in range(len(lines)):
        for other in range(one + 1, len(lines)) if mutation == "swapped" else [one]:
            check(reader, b"".join(LINE_MUTATIONS[mutation](lines, one, other)))


@pytest.mark.parametrize("reader", [codex, claude], ids=["codex", "claude"])
def test_a_turn_that_stands_twice_is_an_error_not_twice_the_tokens(reader: ModuleType) -> None:
    path = CASES / f"{reader.__name__.split('.')[-2]}-jsonl" / "ok.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    assert outcome(reader, b"".join([*lines, lines[-1]])) is None
    assert outcome(reader, b"".join([*lines, *lines])) is None


def number_mutations(data: bytes, every: int) -> Iterator[bytes]:
    text = data.decode()
    for index, match in enumerate(re.finditer(r"(?<=[:\[,])-?[0-9]+(?:\.[0-9]+)?(?=[,}\]])", text)):
        if index % every == 0:
            for replacement in REPLACEMENTS:
                yield (text[: match.start()] + replacement + text[match.end() :]).encode()


def check_numbers(reader: ModuleType, data: bytes, every: int) -> None:
    for mutated in number_mutations(data, every):
        stream = outcome(reader, mutated)
        if stream is None:
            continue
        # a number that Python itself cannot read stands outside usage, else it had been refused
        if b"1" * 4400 not in mutated:
            assert totals(stream.usage) in expected_totals(mutated) or stream.usage[0].counters().keys() < {
                *totals(outcome_of_original(reader, data).usage)
            }


def outcome_of_original(reader: ModuleType, data: bytes) -> AgentStream:
    stream = outcome(reader, data)
    assert stream is not None
    return stream


@pytest.mark.parametrize(("reader", "path"), STREAMS, ids=IDS)
def test_replaced_numbers_are_refused_or_read_as_they_stand(reader: ModuleType, path: Path) -> None:
    check_numbers(reader, path.read_bytes(), every=4)


@pytest.mark.deep
@pytest.mark.parametrize(("reader", "path"), STREAMS, ids=IDS)
def test_every_replaced_number_is_refused_or_read_as_it_stands(reader: ModuleType, path: Path) -> None:
    check_numbers(reader, path.read_bytes(), every=1)


@given(data=st.data())
def test_any_few_damages_together_end_in_an_observation_or_one_error(data: st.DataObject) -> None:
    reader, path = data.draw(st.sampled_from(STREAMS))
    mutated = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(0, len(mutated) - 1)))
        kind = data.draw(st.sampled_from(["flip", "cut out", "repeat", "garbage"]))
        length = data.draw(st.integers(1, 200))
        if kind == "flip" and mutated:
            mutated[at] ^= data.draw(st.integers(1, 255))
        elif kind == "cut out":
            del mutated[at : at + length]
        elif kind == "repeat":
            mutated[at:at] = mutated[at : at + length]
        else:
            mutated[at:at] = data.draw(st.binary(max_size=20))
    stream = outcome(reader, bytes(mutated))
    reader.failure(bytes(mutated))
    if stream is not None:
        made = totals(stream.usage)
        if {"input_tokens", "output_tokens"} <= made.keys():
            assert made["total_tokens"] == made["input_tokens"] + made["output_tokens"]
        assert made.get("cached_input_tokens", 0) <= made.get("input_tokens", 2**53)
