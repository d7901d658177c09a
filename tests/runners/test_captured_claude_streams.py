"""Every captured Claude Code stream, beside what it must be read as, worked out by hand.

The contract's input = input + cache reads + cache creation of `model_usage_since_last_result`.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from repocue.runners.claude.events import failure, read_stream
from repocue.runners.jsonl import StreamError
from repocue.runners.usage import totals

CASES = Path(__file__).parent.parent / "data" / "cases" / "claude-jsonl"
Counters = tuple[int | None, int | None, int | None, int | None, int | None]


class Expected(NamedTuple):
    """input, cached, cache write, output, reasoning; the total, None where unknown."""

    counters: Counters
    total: int | None
    commands: tuple[str, ...]
    answer: str | None
    tool_calls: int
    findings: tuple[str, ...]


GOOD = {
    # 250 + 2000 + 2050; four assistant events carry three different usages that must not be summed
    "ok": Expected((4300, 2000, 2050, 37, 0), 4337, ("git status --short",), None, 1, ()),
    "schema": Expected((4300, 2000, 2050, 37, 0), 4337, ("git status --short",), '{"answer": "hello", "n": 3}', 1, ()),
    # 300 + 4000 + 100; the model never gave the structured answer, and the program called that a success
    "schema_ignored": Expected((4400, 4000, 100, 24, 0), 4424, (), None, 0, ("no-commands",)),
    # 400 + 4000 + 2100: the cut try counts, and so does its output (43, not the 38 of `usage`)
    "cut_then_ok": Expected((6500, 4000, 2100, 43, 0), 6543, ("git status --short",), None, 1, ("retry",)),
    # 350 + 2000 + 50; what was denied did not run
    "denied_tool": Expected((2400, 2000, 50, 22, 0), 2422, (), None, 0, ("denied", "denied", "no-commands")),
    # 71150 + 2000 + 50: `usage` says 1150 and leaves the child out
    "subagent": Expected((73200, 2000, 50, 713, 0), 73913, (), None, 1, ("no-commands", "sub-agents")),
    "thinking": Expected((4300, 2000, 2050, 37, 0), 4337, ("git status --short",), None, 1, ("reasoning-zero",)),
    # the result says zero, but the assistant events show that no usage was sent: unknown, not zero
    "usage_null": Expected((None, None, None, None, None), None, ("git status --short",), None, 1, ("usage-missing",)),
}

BAD = {
    "http500": "the run failed: API Error: 500 fake 500. This is a server-side issue, usually temporary — try again "
    "in a moment. If it persists, check your inference gateway (127.0.0.1:9). (status 500)",
    "killed_sigterm": "the event stream ends without the result of its last turn",
}


def test_every_captured_stream_has_an_expectation() -> None:
    assert {path.stem for path in CASES.glob("*.jsonl")} == GOOD.keys() | BAD.keys()


@pytest.mark.parametrize("name", GOOD)
def test_a_captured_stream_is_read_as_the_provider_determined(name: str) -> None:
    expected = GOOD[name]
    stream = read_stream((CASES / f"{name}.jsonl").read_bytes())
    assert len(stream.usage) == 1
    only = stream.usage[0]
    assert (
        only.input_tokens,
        only.cached_input_tokens,
        only.cache_write_input_tokens,
        only.output_tokens,
        only.reasoning_output_tokens,
    ) == expected.counters
    assert totals(stream.usage).get("total_tokens") == expected.total
    assert tuple(command.text for command in stream.commands) == expected.commands
    assert stream.answer == expected.answer
    assert stream.tool_calls == expected.tool_calls
    assert tuple(finding.category for finding in stream.findings) == expected.findings
    assert stream.models == ("claude-sonnet-4-5",)
    assert stream.cli_version == "2.1.332"


@pytest.mark.parametrize("name", BAD)
def test_a_captured_failure_is_one_clear_error(name: str) -> None:
    data = (CASES / f"{name}.jsonl").read_bytes()
    with pytest.raises(StreamError) as caught:
        read_stream(data)
    assert caught.value.message == BAD[name]
    said = failure(data)
    assert said is None if name == "killed_sigterm" else BAD[name] == f"the run failed: {said}"
