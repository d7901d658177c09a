"""The seed's rules for Codex streams, one at a time, on streams written for the rule."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from repocue.domain.measurement import MAX_COUNTER
from repocue.runners.codex.events import failure, read_stream
from repocue.runners.jsonl import StreamError
from repocue.runners.usage import UsageError, totals

THREAD = '{"type":"thread.started","thread_id":"t"}'
TURN = '{"type":"turn.started"}'


def completed(usage: Any = ...) -> str:
    return json.dumps({"type": "turn.completed"} | ({} if usage is ... else {"usage": usage}))


def stream(*lines: str) -> bytes:
    return "\n".join((THREAD, *lines)).encode() + b"\n"


def turns(*usages: Any) -> bytes:
    return stream(*(line for usage in usages for line in (TURN, completed(usage))))


def command(identifier: str, text: str = "ls", code: int = 0, output: str = "") -> tuple[str, str]:
    item = {"id": identifier, "type": "command_execution", "command": text, "aggregated_output": output}
    return (
        json.dumps({"type": "item.started", "item": item | {"exit_code": None, "status": "in_progress"}}),
        json.dumps(
            {
                "type": "item.completed",
                "item": item | {"exit_code": code, "status": "failed" if code else "completed"},
            }
        ),
    )


def test_an_explicit_zero_is_observed_and_an_omitted_counter_is_unknown() -> None:
    read = read_stream(turns({"input_tokens": 10, "cached_input_tokens": 0, "output_tokens": 2}))
    assert read.usage[0].to_json() == {"turn": 1, "input_tokens": 10, "cached_input_tokens": 0, "output_tokens": 2}
    assert totals(read.usage) == {"input_tokens": 10, "cached_input_tokens": 0, "output_tokens": 2, "total_tokens": 12}


@pytest.mark.parametrize("usage", [..., None, {}])
def test_a_turn_without_usage_keeps_its_event_and_the_run(usage: Any) -> None:
    read = read_stream(
        stream(
            TURN,
            *command("a"),
            '{"type":"item.completed","item":{"id":"m","type":"agent_message","text":"yes"}}',
            completed(usage),
        )
    )
    assert [event.to_json() for event in read.usage] == [{"turn": 1}]
    assert totals(read.usage) == {}
    assert read.answer == "yes"
    assert [one.text for one in read.commands] == ["ls"]


def test_an_aggregate_exists_only_when_every_turn_supplies_the_counter() -> None:
    read = read_stream(
        turns(
            {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 7, "reasoning_output_tokens": 1},
            {"input_tokens": 50, "cached_input_tokens": None, "output_tokens": 3},
        )
    )
    assert [event.to_json() for event in read.usage] == [
        {"turn": 1, "input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 7, "reasoning_output_tokens": 1},
        {"turn": 2, "input_tokens": 50, "output_tokens": 3},
    ]
    # 100 + 50 and 7 + 3; missing cached and reasoning values do not erase the total, 150 + 10
    assert totals(read.usage) == {"input_tokens": 150, "output_tokens": 10, "total_tokens": 160}
    assert "usage-several-turns" in [finding.category for finding in read.findings]


def test_a_turn_without_usage_erases_the_aggregates_but_not_the_other_turn() -> None:
    read = read_stream(turns({"input_tokens": 100, "output_tokens": 7}, None))
    assert [event.to_json() for event in read.usage] == [
        {"turn": 1, "input_tokens": 100, "output_tokens": 7},
        {"turn": 2},
    ]
    assert totals(read.usage) == {}


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (-1, "is negative"),
        (1.0, "is not an integer"),
        (1.5, "is not an integer"),
        (True, "is not an integer"),
        ("5", "is not an integer"),
        ([], "is not an integer"),
        (MAX_COUNTER + 1, "is above 2^53-1"),
    ],
)
@pytest.mark.parametrize("name", ["input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens"])
def test_what_is_no_counter_is_an_error(name: str, value: Any, word: str) -> None:
    with pytest.raises(UsageError, match=f"line 3: usage.{name} {word}".replace("^", r"\^")):
        read_stream(turns({name: value}))


@pytest.mark.parametrize("text", ["1e400", "1" * 5000, "NaN", "-Infinity"])
def test_a_number_that_no_counter_can_be_is_one_error(text: str) -> None:
    data = stream(TURN, '{"type":"turn.completed","usage":{"input_tokens":' + text + "}}")
    with pytest.raises((UsageError, StreamError)):
        read_stream(data)


@pytest.mark.parametrize("usage", [[], 5, "x", True])
def test_usage_that_is_no_object_is_an_error(usage: Any) -> None:
    with pytest.raises(UsageError, match="is not an object"):
        read_stream(turns(usage))


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ("cached_input_tokens", "input_tokens"),
        ("cache_write_input_tokens", "input_tokens"),
        ("reasoning_output_tokens", "output_tokens"),
    ],
)
def test_a_subset_above_a_known_whole_is_an_error(part: str, whole: str) -> None:
    with pytest.raises(UsageError, match=f"{part} 11 exceeds {whole} 10"):
        read_stream(turns({whole: 10, part: 11}))
    assert read_stream(turns({whole: 11, part: 11})).usage[0].to_json() == {"turn": 1} | {whole: 11, part: 11}


def test_a_cached_count_beside_an_unknown_input_is_kept() -> None:
    assert read_stream(turns({"cached_input_tokens": 11})).usage[0].to_json() == {"turn": 1, "cached_input_tokens": 11}


def test_subsets_are_never_added_to_the_total() -> None:
    usage = {"input_tokens": 10, "cached_input_tokens": 9, "cache_write_input_tokens": 1, "output_tokens": 5}
    assert totals(read_stream(turns(usage | {"reasoning_output_tokens": 4})).usage)["total_tokens"] == 15


def test_a_sum_or_a_total_beyond_counters_is_an_error() -> None:
    with pytest.raises(UsageError, match="the sum of input_tokens"):
        totals(read_stream(turns({"input_tokens": MAX_COUNTER}, {"input_tokens": 1})).usage)
    with pytest.raises(UsageError, match="the sum of total_tokens"):
        totals(read_stream(turns({"input_tokens": MAX_COUNTER, "output_tokens": 1})).usage)
    at_the_edge = totals(read_stream(turns({"input_tokens": MAX_COUNTER, "output_tokens": 0})).usage)
    assert at_the_edge["total_tokens"] == MAX_COUNTER


def test_a_repeated_member_inside_usage_is_an_error_and_outside_it_is_not() -> None:
    inside = stream(TURN, '{"type":"turn.completed","usage":{"input_tokens":1,"input_tokens":1}}')
    with pytest.raises(UsageError, match="repeats the member 'input_tokens'"):
        read_stream(inside)
    twice = stream(TURN, '{"type":"turn.completed","usage":{"input_tokens":1},"usage":{"input_tokens":2}}')
    with pytest.raises(UsageError, match="stands twice"):
        read_stream(twice)
    outside = stream(TURN, '{"type":"turn.completed","x":1,"x":2,"usage":{"input_tokens":1}}')
    read = read_stream(outside)
    assert read.usage[0].input_tokens == 1
    assert [finding.category for finding in read.findings] == ["no-commands", "repeated-member"]


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        ((completed({}),), "completes a turn that did not start"),
        ((TURN, completed({}), completed({})), "completes a turn that did not start"),
        ((TURN, TURN, completed({})), "starts a turn inside turn 1"),
        ((TURN, completed({}), TURN), "ends inside turn 2"),
        ((TURN,), "ends inside turn 1"),
        ((), "has no completed turn"),
        ((THREAD, TURN, completed({})), "starts a second thread"),
        ((command("a")[0], TURN, completed({})), "outside any turn"),
        ((TURN, completed({}), command("a")[1]), "outside any turn"),
        ((TURN, *command("a"), command("a")[1], completed({})), "goes on after it was completed"),
        ((TURN, *reversed(command("a")), completed({})), "goes on after it was completed"),
        ((TURN, command("a")[0], command("a")[0], completed({})), "starts twice"),
        ((TURN, '{"type":"turn.failed","error":{"message":"no room"}}'), "the turn failed: no room"),
        ((TURN, '{"type":"turn.failed"}'), "the turn failed: no reason was given"),
        ((TURN, "[]", completed({})), "is not a JSON object"),
        ((TURN, "{", completed({})), "is not JSON"),
        ((TURN, '{"a":1}', completed({})), "has no type"),
        ((TURN, '{"type":"turn.completed","type":"x"}'), "names its type twice"),
        ((TURN, '{"type":"item.completed","item":[]}', completed({})), "item is not an object"),
        ((TURN, '{"type":"item.completed","item":{"id":1,"type":"x"}}', completed({})), "no id or no type"),
    ],
)
def test_events_out_of_order_or_form_are_errors(lines: tuple[str, ...], word: str) -> None:
    with pytest.raises(StreamError, match=word):
        read_stream(stream(*lines))


def test_a_stream_without_its_beginning_is_an_error() -> None:
    with pytest.raises(StreamError, match="its beginning is missing"):
        read_stream("\n".join((TURN, completed({}))).encode())


def test_nesting_and_bytes_that_are_no_text_are_errors() -> None:
    with pytest.raises(StreamError, match="nested too deeply"):
        read_stream(stream('{"a":' * 100_000))
    with pytest.raises(StreamError, match="line 2 of the event stream is not UTF-8"):
        read_stream(THREAD.encode() + b'\n{"type":"\xff"}\n')


def test_a_command_without_a_completion_is_a_finding_and_keeps_its_text() -> None:
    read = read_stream(stream(TURN, *command("a"), command("b", "sleep 9")[0], completed({})))
    assert [(one.text, one.is_completed, one.exit_code) for one in read.commands] == [
        ("ls", True, 0),
        ("sleep 9", False, None),
    ]
    assert read.tool_calls == 1
    unfinished = next(finding for finding in read.findings if finding.category == "unfinished-command")
    assert unfinished.evidence == "sleep 9"


def test_a_later_turn_may_count_its_items_anew() -> None:
    read = read_stream(
        stream(
            TURN, *command("a"), command("b", "sleep 9")[0], completed({}), TURN, *command("a", "pwd"), completed({})
        )
    )
    assert [one.text for one in read.commands] == ["ls", "pwd", "sleep 9"]
    assert len(read.usage) == 2


def test_a_sandbox_in_which_every_command_failed_is_a_finding_that_quotes_it() -> None:
    output = "bwrap: Creating new namespace failed: Operation not permitted\n"
    read = read_stream(stream(TURN, *command("a", code=1, output=output), *command("b", code=1), completed({})))
    finding = next(finding for finding in read.findings if finding.category == "every-command-failed")
    assert finding.severity == "warning"
    assert finding.evidence == output.strip()


def test_errors_that_were_not_final_are_findings() -> None:
    error = '{"type":"error","message":"stream hiccup"}'
    reconnect = '{"type":"error","message":"Reconnecting... 1/5 (cut)"}'
    read = read_stream(stream(TURN, error, reconnect, error, completed({})))
    assert [(f.category, f.evidence) for f in read.findings if f.category != "no-commands"] == [
        ("error-event", "stream hiccup"),
        ("reconnect", "Reconnecting... 1/5 (cut)"),
    ]
    assert "2 times" in read.findings[0].message


def test_unknown_events_and_items_are_findings() -> None:
    item = '{"type":"item.completed","item":{"id":"q","type":"quantum"}}'
    read = read_stream(stream(TURN, '{"type":"weather"}', item, completed({})))
    assert [finding.message for finding in read.findings if finding.category == "unknown-event"] == [
        "The stream holds an unknown event weather.",
        "The stream holds an unknown item quantum.",
    ]


def test_text_that_is_no_unicode_can_still_be_written() -> None:
    read = read_stream(stream(TURN, *command("a", "echo \ud800"), completed({})))
    assert read.commands[0].text == "echo ?"


@pytest.mark.parametrize("cut", [lambda data: data, lambda data: data[:-9] + b"{"])
def test_the_last_word_of_a_failed_run_is_found_even_in_a_broken_stream(cut: Callable[[bytes], bytes]) -> None:
    data = stream(TURN, '{"type":"error","message":"idle timeout"}', '{"type":"turn.failed","error":{}}' + " " * 10)
    assert failure(cut(data)) == "idle timeout"
