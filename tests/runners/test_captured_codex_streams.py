"""Every captured Codex stream, beside what it must be read as, worked out by hand from what the provider had sent.

The scripted provider's requests: 1000 in / 0 cached / 50 out / 20 reasoning, then 1200 / 900 / 30 / 3 and 1500 / 1100 /
40 / 7, in the runs that made three; the CLI prints the sum of a turn's requests, and zeros for what was not sent.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from repocue.runners.codex.events import failure, read_stream
from repocue.runners.jsonl import StreamError
from repocue.runners.usage import totals

CASES = Path(__file__).parent.parent / "data" / "cases" / "codex-jsonl"
HELLO = '{"answer": "hello", "n": 3}'


class Expected(NamedTuple):
    """input, cached, cache write, output, reasoning; the total; commands as (unwrapped text, exit code)."""

    counters: tuple[int, int, int, int, int]
    total: int
    commands: tuple[tuple[str, int], ...]
    answer: str | None
    tool_calls: int
    findings: tuple[str, ...]


STATUS = ("/bin/bash -lc 'git status --short'", 0)
README = ("/bin/bash -lc 'cat README.md'", 0)

GOOD = {
    # three requests: 1000+1200+1500 in, 0+900+1100 cached, 50+30+40 out, 20+3+7 reasoning
    "ok": Expected((3700, 2000, 0, 120, 30), 3820, (STATUS, README), HELLO, 2, ("notice",)),
    "cmd_fail": Expected(
        (1510, 1100, 0, 45, 7),
        1555,
        (("/bin/bash -lc 'nosuchprogram --x'", 127), ("/bin/bash -lc 'exit 3'", 3)),
        HELLO,
        2,
        ("notice", "every-command-failed"),
    ),
    # "two" was asked for second and came first; order of completion is what the stream holds
    "cmd_parallel": Expected(
        (1510, 1100, 0, 45, 7),
        1555,
        (("/bin/bash -lc 'echo two'", 0), ("/bin/bash -lc 'sleep 1; echo one'", 0)),
        HELLO,
        2,
        ("notice",),
    ),
    # the cut request (1200 in) is in no usage, but its command had run
    "cut_then_ok_retry": Expected((2500, 1100, 0, 90, 27), 2590, (STATUS, README), HELLO, 2, ("notice", "reconnect")),
    "item_mcp": Expected((1510, 1100, 0, 45, 7), 1555, (), HELLO, 1, ("notice", "no-commands")),
    "item_todo": Expected((1520, 1100, 0, 50, 7), 1570, (), HELLO, 0, ("notice", "no-commands")),
    # the item's `id` stands twice in both of its events
    "item_web_search": Expected((10, 0, 0, 5, 0), 15, (), HELLO, 1, ("notice", "no-commands", "repeated-member")),
    "no_final_message": Expected((10, 0, 0, 5, 0), 15, (), None, 0, ("notice", "no-commands")),
    "schema_misfit": Expected((10, 0, 0, 5, 0), 15, (), "not json at all", 0, ("notice", "no-commands")),
    "two_messages": Expected((1510, 1100, 0, 45, 7), 1555, (STATUS,), HELLO, 1, ("notice",)),
    "usage_cache_write": Expected((500, 100, 77, 6, 2), 506, (), HELLO, 0, ("notice", "no-commands")),
    # explicit zeros stay observed, whatever the provider had left out
    "usage_cached_missing": Expected((2500, 0, 0, 90, 25), 2590, (STATUS,), HELLO, 1, ("notice",)),
    "usage_reasoning_missing": Expected((2500, 30, 0, 90, 0), 2590, (STATUS,), HELLO, 1, ("notice",)),
    "usage_null": Expected((0, 0, 0, 0, 0), 0, (STATUS,), HELLO, 1, ("usage-all-zero", "notice")),
    "usage_omitted_first_only": Expected((1500, 1100, 0, 40, 7), 1540, (STATUS,), HELLO, 1, ("notice",)),
}

BAD = {
    "http500_second_request": "the turn failed: We’re currently experiencing high demand, which may cause temporary "
    "errors.",
    "response_failed_context": "the turn failed: Codex ran out of room in the model's context window. Start a new "
    "thread or clear earlier history before retrying.",
    "killed_sigterm": "the event stream ends inside turn 1, which neither completed nor failed",
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
    assert totals(stream.usage)["total_tokens"] == expected.total
    assert tuple((command.text, command.exit_code) for command in stream.commands) == expected.commands
    assert all(command.is_completed for command in stream.commands)
    assert stream.answer == expected.answer
    assert stream.tool_calls == expected.tool_calls
    assert tuple(finding.category for finding in stream.findings) == expected.findings


@pytest.mark.parametrize("name", BAD)
def test_a_captured_failure_is_one_clear_error(name: str) -> None:
    data = (CASES / f"{name}.jsonl").read_bytes()
    with pytest.raises(StreamError) as caught:
        read_stream(data)
    assert caught.value.message == BAD[name]
    said = failure(data)
    assert said is None if name == "killed_sigterm" else BAD[name] == f"the turn failed: {said}"


def test_outputs_and_failures_of_commands_are_kept() -> None:
    first, second = read_stream((CASES / "cmd_fail.jsonl").read_bytes()).commands
    assert first.output == "/bin/bash: line 1: nosuchprogram: command not found\n"
    assert second.output == ""
    assert first.has_failed
    assert second.has_failed
