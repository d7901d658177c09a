"""The rules for Claude Code's streams, one at a time, on streams written for the rule."""

from __future__ import annotations

import json
from typing import Any

import pytest

from repocue.domain.measurement import MAX_COUNTER
from repocue.runners.claude.events import failure, read_stream
from repocue.runners.jsonl import StreamError
from repocue.runners.streams import READERS
from repocue.runners.usage import UsageError, totals

INIT = {"type": "system", "subtype": "init", "model": "m", "claude_code_version": "2"}


def model_usage(plain: int = 1, out: int = 2, read: int = 3, made: int = 4, thought: int = 0) -> dict[str, int]:
    return {
        "inputTokens": plain,
        "outputTokens": out,
        "cacheReadInputTokens": read,
        "cacheCreationInputTokens": made,
        "thinkingTokens": thought,
    }


def result(recent: Any = None, session: Any = None, **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "result", "subtype": "success", "is_error": False, "result": "text"}
    if recent is not None:
        made["model_usage_since_last_result"] = recent
    if session is not None:
        made["modelUsage"] = session
    return made | changes


def assistant(*blocks: dict[str, Any], usage: Any = ..., model: str = "m", identifier: str = "msg") -> dict[str, Any]:
    message = {"id": identifier, "model": model, "content": list(blocks)}
    whole = {"input_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 1}
    return {"type": "assistant", "message": message | ({"usage": whole if usage is ... else usage})}


def used(identifier: str, text: str = "ls") -> dict[str, Any]:
    return {"type": "tool_use", "id": identifier, "name": "Bash", "input": {"command": text}}


def returned(identifier: str, text: str = "", is_error: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": identifier, "content": text, "is_error": is_error}
    return {"type": "user", "message": {"content": [block]}}


def stream(*events: dict[str, Any]) -> bytes:
    return "".join(json.dumps(event) + "\n" for event in events).encode()


def categories(data: bytes) -> list[str]:
    return [finding.category for finding in read_stream(data).findings if finding.category != "no-commands"]


def test_input_is_the_sum_of_the_three_disjoint_parts() -> None:
    read = read_stream(stream(INIT, result({"m": model_usage(100, 20, 30, 4, 5)})))
    assert read.usage[0].to_json() == {
        "turn": 1,
        "input_tokens": 134,
        "cached_input_tokens": 30,
        "cache_write_input_tokens": 4,
        "output_tokens": 20,
        "reasoning_output_tokens": 5,
    }
    assert totals(read.usage)["total_tokens"] == 154


def test_several_models_are_added_up_and_told() -> None:
    both = {"m": model_usage(100, 20, 0, 0), "small": model_usage(7, 1, 0, 0)}
    read = read_stream(stream(INIT, result(both)))
    assert (read.usage[0].input_tokens, read.usage[0].output_tokens) == (107, 21)
    assert "several-models" in [finding.category for finding in read.findings]


def test_a_session_of_two_turns_counts_each_since_the_last_result() -> None:
    first, second = model_usage(10, 1, 0, 0), model_usage(5, 2, 0, 0)
    data = stream(
        INIT, result({"m": first}, {"m": first}), INIT, result({"m": second}, {"m": model_usage(15, 3, 0, 0)})
    )
    read = read_stream(data)
    assert [event.input_tokens for event in read.usage] == [10, 5]
    assert totals(read.usage)["total_tokens"] == 15 + 3
    assert "usage-several-turns" in categories(data)


def test_figures_that_do_not_add_up_are_not_used() -> None:
    data = stream(INIT, result({"m": model_usage(10)}, {"m": model_usage(11)}))
    assert read_stream(data).usage[0].to_json() == {"turn": 1}
    assert categories(data) == ["usage-contradictory"]


def test_one_turn_may_give_the_sessions_figures_alone_but_a_later_one_may_not() -> None:
    alone = stream(INIT, result(None, {"m": model_usage(10, 1, 0, 0)}))
    assert read_stream(alone).usage[0].input_tokens == 10
    later = stream(INIT, result(None, {"m": model_usage(10)}), INIT, result(None, {"m": model_usage(30)}))
    assert [event.to_json() for event in read_stream(later).usage][1] == {"turn": 2}
    assert totals(read_stream(later).usage) == {}
    assert "usage-absent" in categories(later)
    assert read_stream(stream(INIT, result())).usage[0].to_json() == {"turn": 1}


def test_an_omitted_counter_is_unknown_and_so_is_the_input_that_needs_it() -> None:
    usage = {name: value for name, value in model_usage(10, 2, 3, 4).items() if name != "cacheReadInputTokens"}
    read = read_stream(stream(INIT, result({"m": usage})))
    assert read.usage[0].to_json() == {
        "turn": 1,
        "cache_write_input_tokens": 4,
        "output_tokens": 2,
        "reasoning_output_tokens": 0,
    }
    assert totals(read.usage).get("total_tokens") is None


def test_no_models_at_all_is_unknown_usage() -> None:
    assert read_stream(stream(INIT, result({}))).usage[0].to_json() == {"turn": 1}


@pytest.mark.parametrize("usage", [None, {}])
def test_a_request_without_usage_makes_the_totals_unknown_although_the_result_has_numbers(usage: Any) -> None:
    data = stream(INIT, assistant(usage=usage), result({"m": model_usage(10)}))
    assert read_stream(data).usage[0].to_json() == {"turn": 1}
    assert "usage-missing" in categories(data)


def test_a_request_without_cache_counters_makes_what_needs_them_unknown() -> None:
    data = stream(INIT, assistant(usage={"input_tokens": 5, "output_tokens": 1}), result({"m": model_usage(10, 2)}))
    assert read_stream(data).usage[0].to_json() == {"turn": 1, "output_tokens": 2, "reasoning_output_tokens": 0}


def test_a_request_that_the_program_made_up_needs_no_usage() -> None:
    data = stream(INIT, assistant(usage=None, model="<synthetic>"), result({"m": model_usage(1, 2, 0, 0)}))
    assert read_stream(data).usage[0].input_tokens == 1


def test_explicit_zeros_are_observed_with_a_finding() -> None:
    data = stream(INIT, result({"m": model_usage(0, 0, 0, 0)}))
    assert totals(read_stream(data).usage)["total_tokens"] == 0
    assert categories(data) == ["usage-all-zero"]


@pytest.mark.parametrize("value", [-1, 1.0, True, "1", MAX_COUNTER + 1, []])
@pytest.mark.parametrize("name", ["inputTokens", "cacheReadInputTokens", "outputTokens", "thinkingTokens"])
def test_what_is_no_counter_is_an_error(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=name):
        read_stream(stream(INIT, result({"m": model_usage() | {name: value}})))


@pytest.mark.parametrize("usage", [[], "x", 3, {"m": []}, {"m": None}])
def test_usage_that_is_no_map_of_models_is_an_error(usage: Any) -> None:
    with pytest.raises(UsageError, match="is not an object"):
        read_stream(stream(INIT, result(usage)))


def test_sums_beyond_counters_are_errors() -> None:
    with pytest.raises(UsageError, match="above 2\\^53-1"):
        read_stream(stream(INIT, result({"m": model_usage(MAX_COUNTER, 0, 1, 0)})))
    with pytest.raises(UsageError, match="above 2\\^53-1"):
        read_stream(stream(INIT, result({"a": model_usage(MAX_COUNTER, 0, 0, 0), "b": model_usage(1, 0, 0, 0)})))


def test_thinking_above_output_is_an_error() -> None:
    with pytest.raises(UsageError, match="reasoning_output_tokens 3 exceeds output_tokens 2"):
        read_stream(stream(INIT, result({"m": model_usage(out=2, thought=3)})))


@pytest.mark.parametrize(
    "text",
    [
        '{"m":{"inputTokens":1,"inputTokens":1}}',
        '{"m":{"inputTokens":1},"m":{"inputTokens":1}}',
    ],
)
def test_a_repeated_member_inside_usage_is_an_error(text: str) -> None:
    line = '{"type":"result","subtype":"success","is_error":false,"model_usage_since_last_result":' + text + "}\n"
    with pytest.raises(UsageError, match="repeats"):
        read_stream(stream(INIT) + line.encode())


@pytest.mark.parametrize("name", ["is_error", "subtype", "structured_output", "modelUsage"])
def test_a_result_that_says_a_thing_twice_is_an_error(name: str) -> None:
    whole = {"subtype": '"success"', "is_error": "false", "structured_output": "{}", "modelUsage": "{}"}
    members = ",".join(f'"{key}":{value}' for key, value in [*whole.items(), (name, whole[name])])
    with pytest.raises(StreamError, match=f"{name} stands twice"):
        read_stream(stream(INIT) + ('{"type":"result",' + members + "}").encode())


def test_a_repeated_member_elsewhere_is_told() -> None:
    data = b'{"type":"system","subtype":"init","x":1,"x":2}\n' + stream(result({"m": model_usage()}))
    assert categories(data) == ["repeated-member"]


def test_an_answer_that_repeats_a_member_is_none() -> None:
    line = b'{"type":"result","subtype":"success","is_error":false,"structured_output":{"a":1,"a":2}}\n'
    read = read_stream(stream(INIT) + line)
    assert read.answer is None
    assert "answer-repeats-member" in [finding.category for finding in read.findings]


GOOD = result({"m": model_usage()})


@pytest.mark.parametrize(
    ("events", "word"),
    [
        ([], "no result"),
        ([INIT], "ends without the result"),
        ([GOOD], "outside any turn"),
        ([INIT, GOOD, GOOD], "outside any turn"),
        ([INIT, INIT, GOOD], "starts a turn inside turn 1"),
        ([INIT, GOOD, INIT], "ends without the result"),
        ([INIT, GOOD, assistant()], "outside any turn"),
        ([assistant(), INIT, GOOD], "outside any turn"),
        ([INIT, assistant(used("t")), assistant(used("t")), GOOD], "stands twice"),
        ([INIT, assistant(used("t")), returned("t"), returned("t"), GOOD], "has two results"),
        ([INIT, {"type": "assistant"}, GOOD], "exactly one message"),
        ([INIT, {"type": 3}, GOOD], "has no type"),
        ([INIT, assistant({"type": "tool_use"}), GOOD], "has no id"),
        ([INIT, result(is_error=True, result="API Error")], "the run failed: API Error"),
        ([INIT, result(is_error=None)], "the run failed"),
        ([INIT, result(subtype="error_max_budget_usd", result=None)], "the run failed: error_max_budget_usd"),
        ([INIT, result(is_error=True, result="a\nb", api_error_status=529)], r"the run failed: a b \(status 529\)"),
    ],
)
def test_events_out_of_order_or_form_are_errors(events: list[dict[str, Any]], word: str) -> None:
    with pytest.raises(StreamError, match=word):
        read_stream(stream(*events))


def test_commands_are_tool_uses_with_their_results() -> None:
    read = read_stream(
        stream(
            INIT,
            assistant(used("a", "git status"), used("b", "ls"), used("c", "sleep 9")),
            returned("b", "Exit code 2\nno", is_error=True),
            returned("a", "fine"),
            GOOD,
        )
    )
    assert [(one.text, one.is_completed, one.has_failed, one.output, one.exit_code) for one in read.commands] == [
        ("git status", True, False, "fine", None),
        ("ls", True, True, "Exit code 2\nno", None),
        ("sleep 9", False, False, None, None),
    ]
    assert read.tool_calls == 2
    assert "unfinished-command" in [finding.category for finding in read.findings]


def test_commands_that_all_failed_are_told() -> None:
    data = stream(INIT, assistant(used("a")), returned("a", "no", is_error=True), GOOD)
    assert categories(data) == ["every-command-failed"]


def test_a_result_without_its_use_and_an_unknown_event_are_told() -> None:
    data = stream(INIT, returned("x"), {"type": "weather"}, GOOD)
    assert sorted(categories(data)) == ["orphan-result", "unknown-event"]


def test_the_answer_is_the_structured_one_as_json() -> None:
    assert read_stream(stream(INIT, result(structured_output={"a": ["ü", 1, None]}))).answer == '{"a": ["ü", 1, null]}'
    assert read_stream(stream(INIT, GOOD)).answer is None


def test_the_last_word_of_a_failed_run_is_found_even_in_a_broken_stream() -> None:
    data = stream(INIT, result(is_error=True, result="API Error: 401")) + b"{broken"
    assert failure(data) == "API Error: 401"
    assert failure(stream(INIT, GOOD)) is None


def test_kept_streams_have_a_reader_by_the_name_of_their_format() -> None:
    assert READERS["claude-stream-json"](stream(INIT, GOOD)) == read_stream(stream(INIT, GOOD))
    assert set(READERS) == {"codex-exec-json", "claude-stream-json"}
