"""The event stream of `claude -p --output-format stream-json --verbose`.

A turn runs from `system/init` to `result`; a fresh run is one turn, and a session that woke up again for a background
task has more. The `result` alone carries usage and answer. It may say `subtype: "success"` beside `is_error: true`,
so both are checked. As in every adapter, whatever could lose or double a turn is an error.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from repocue.runners.claude import usage as claude_usage
from repocue.runners.findings import Finding, grouped, info, one_line, warning, writable
from repocue.runners.jsonl import Line, Members, StreamError, read, repetitions, type_of
from repocue.runners.observed import SHELL, AgentCommand, AgentStream
from repocue.runners.usage import UsageEvent

SHELL_TOOL = "Bash"
ANSWER_TOOL = "StructuredOutput"
"""The tool by which a structured answer is given: the answer itself, not a call that looks at the repository."""

PATH_TOOLS = {"Read": "file_path", "NotebookRead": "notebook_path", "Grep": "path", "Glob": "path", "LS": "path"}
"""Tools that look at files themselves, and the member of their input that names a path."""

SYNTHETIC = "<synthetic>"


@dataclass(slots=True)
class _Run:
    """What the lines so far have established."""

    is_open: bool = False
    turns: int = 0
    usage: list[UsageEvent] = field(default_factory=list)
    session: dict[str, int | None] | None = None
    request_usages: dict[str, object] = field(default_factory=dict)
    tools: dict[str, Members] = field(default_factory=dict)
    results: dict[str, Members] = field(default_factory=dict)
    denied: set[str] = field(default_factory=set)
    result: Members | None = None
    has_thought: bool = False
    models: list[str] = field(default_factory=list)
    version: str | None = None
    retries: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    orphans: int = 0
    found: list[Finding] = field(default_factory=list)


def read_stream(data: bytes) -> AgentStream:
    """The run that the bytes of standard output describe; `answer` is the structured answer's JSON text.

    Raises StreamError for anything but turns that each ended in one successful result, UsageError for usage that
    cannot be true.
    """
    run = _Run()
    for line in read(data):
        run.repeated.extend(repetitions(line.event))
        _take(run, line)
    if run.is_open:
        raise StreamError("the event stream ends without the result of its last turn")
    if run.result is None:
        raise StreamError("the event stream has no result")
    commands = [_command(run, identifier, tool) for identifier, tool in run.tools.items() if _is_listed(tool)]
    ran = [command for command in commands if command.identifier not in run.denied]
    calls = [
        identifier
        for identifier, tool in run.tools.items()
        if identifier in run.results and identifier not in run.denied and tool.get("name") != ANSWER_TOOL
    ]
    answer = _answer(run)
    return AgentStream(
        usage=tuple(run.usage),
        commands=tuple(sorted(ran, key=lambda command: not command.is_completed)),
        answer=answer,
        tool_calls=len(calls),
        findings=tuple(_findings(run, ran)),
        models=tuple(dict.fromkeys(run.models)),
        cli_version=run.version,
    )


def failure(data: bytes) -> str | None:
    """The program's own last word on why it failed, from a stream that may be cut anywhere; None if it has none."""
    word = None
    for raw in data.split(b"\n"):
        try:
            line = next(read(raw), None)
        except StreamError:
            continue
        if line is not None and line.event.get("type") == "result" and line.event.get("is_error"):
            word = _reason(line.event)
    return word


def _take(run: _Run, line: Line) -> None:
    event, number = line.event, line.number
    kind = type_of(line)
    if kind == "system":
        _take_system(run, event, number)
        return
    if kind not in ("assistant", "user", "result"):
        run.found.append(info("unknown-event", f"The stream holds an unknown event {kind}."))
        return
    if not run.is_open:
        raise StreamError(f"line {number}: a {kind} event stands outside any turn")
    if kind == "assistant":
        _take_assistant(run, _message(event, number), number)
    elif kind == "user":
        _take_user(run, _message(event, number), number)
    else:
        _take_result(run, event, number)


def _take_system(run: _Run, event: Members, number: int) -> None:
    subtype = event.get("subtype")
    if subtype == "init":
        if run.is_open:
            raise StreamError(f"line {number} starts a turn inside turn {run.turns}")
        run.is_open = True
        run.turns += 1
        version, model = event.get("claude_code_version"), event.get("model")
        run.version = version if isinstance(version, str) and version else run.version
        if isinstance(model, str):
            run.models.append(writable(model))
    elif subtype == "api_retry":
        status, error = event.get("error_status"), event.get("error")
        run.retries.append(f"{'no status' if status is None else status}: {error}")
    elif subtype == "permission_denied":
        identifier, tool = event.get("tool_use_id"), event.get("tool_name")
        if isinstance(identifier, str):
            run.denied.add(identifier)
        used = run.tools.get(identifier) if isinstance(identifier, str) else None
        given = used.get("input") if used is not None else None
        text = given.get("command") if isinstance(given, Members) else None
        run.found.append(
            warning(
                "denied",
                f"Claude Code denied a use of its tool {tool}; it did not run.",
                text if isinstance(text, str) else None,
            )
        )


def _take_assistant(run: _Run, message: Members, number: int) -> None:
    model = message.get("model")
    if model == SYNTHETIC:
        return
    if isinstance(model, str):
        run.models.append(writable(model))
    identifier = message.get("id")
    run.request_usages[identifier if isinstance(identifier, str) else f"line {number}"] = message.get("usage")
    if "usage" in message.repeated:
        raise StreamError(f"line {number}: usage stands twice in one message")
    for block in _blocks(message):
        kind = block.get("type")
        if kind in ("thinking", "redacted_thinking"):
            run.has_thought = True
        elif kind == "tool_use":
            tool = block.get("id")
            if not isinstance(tool, str):
                raise StreamError(f"line {number}: a tool use has no id")
            if tool in run.tools:
                raise StreamError(f"line {number}: tool use {tool} stands twice in the stream")
            run.tools[tool] = block


def _take_user(run: _Run, message: Members, number: int) -> None:
    for block in _blocks(message):
        if block.get("type") != "tool_result":
            continue
        tool = block.get("tool_use_id")
        if not isinstance(tool, str):
            raise StreamError(f"line {number}: a tool result names no tool use")
        if tool in run.results:
            raise StreamError(f"line {number}: tool use {tool} has two results")
        run.results[tool] = block
        run.orphans += tool not in run.tools


def _take_result(run: _Run, event: Members, number: int) -> None:
    if event.get("is_error") is not False or event.get("subtype") != "success":
        raise StreamError(f"the run failed: {_reason(event)}")
    for name in ("modelUsage", "model_usage_since_last_result", "structured_output", "is_error", "subtype"):
        if name in event.repeated:
            raise StreamError(f"line {number}: {name} stands twice in one result")
    run.is_open = False
    run.result = event
    run.usage.append(_turn_usage(run, event, f"line {number}: usage"))
    run.request_usages.clear()


def _turn_usage(run: _Run, event: Members, where: str) -> UsageEvent:
    recent, session = event.get("model_usage_since_last_result"), event.get("modelUsage")
    missing = claude_usage.missing_counters(run.request_usages.values())
    if missing:
        run.found.append(
            warning(
                "usage-missing",
                f"The provider sent no {', '.join(sorted(missing))} for a request of turn {run.turns}; the result "
                "counts it as zero, so what needs it is unknown.",
            )
        )
    if recent is None and (session is None or run.turns > 1):
        run.found.append(warning("usage-absent", f"The result of turn {run.turns} carries no usage by model."))
        return UsageEvent(turn=run.turns)
    sums = claude_usage.sum_models(session if recent is None else recent, where)
    before = run.session
    run.session = sums if before is None else claude_usage.add(before, sums, where)
    if recent is not None and session is not None:
        whole = claude_usage.sum_models(session, where)
        if any(None not in (whole[name], run.session[name]) and whole[name] != run.session[name] for name in whole):
            run.found.append(
                warning(
                    "usage-contradictory",
                    f"The result of turn {run.turns} gives usage since the last result that does not add up to that "
                    "of the session; neither is used.",
                )
            )
            return UsageEvent(turn=run.turns)
    made = claude_usage.to_event(run.turns, sums, missing, where)
    models = session if recent is None else recent
    if isinstance(models, Members) and len(models) > 1:
        run.found.append(warning("several-models", f"Several models answered: {', '.join(map(writable, models))}."))
    if made.counters() and not any(made.counters().values()):
        run.found.append(
            warning(
                "usage-all-zero",
                f"Every counter of turn {run.turns} is zero: Claude Code writes zeros when the provider sent no usage.",
            )
        )
    if run.has_thought and made.reasoning_output_tokens == 0:
        run.found.append(warning("reasoning-zero", "The model thought, but its thinking tokens are reported as zero."))
    return made


def _answer(run: _Run) -> str | None:
    result = run.result or Members([])
    if "structured_output" not in result:
        return None
    answer = result["structured_output"]
    if any(True for _ in repetitions(answer)):
        run.found.append(warning("answer-repeats-member", "The structured answer repeats a member; it is no answer."))
        return None
    return json.dumps(answer, ensure_ascii=False)


def _is_listed(tool: Members) -> bool:
    return tool.get("name") == SHELL_TOOL or tool.get("name") in PATH_TOOLS


def _command(run: _Run, identifier: str, tool: Members) -> AgentCommand:
    name, given, result = tool["name"], tool.get("input"), run.results.get(identifier)
    inputs = given if isinstance(given, Members) else Members([])
    has_failed = result is not None and result.get("is_error") is True
    output = _result_text(result) if result is not None else None
    if name == SHELL_TOOL:
        text, shell_path = inputs.get("command"), None
    else:
        text = f"{name} {json.dumps(given, ensure_ascii=False, separators=(',', ':'))}"
        shell_path = inputs.get(PATH_TOOLS[name])
    return AgentCommand(
        identifier=identifier,
        text=writable(text) if isinstance(text, str) and text.strip() else "(no text)",
        is_completed=result is not None,
        exit_code=None,
        output=output,
        has_failed=has_failed,
        tool=SHELL if name == SHELL_TOOL else str(name),
        path=writable(shell_path) if isinstance(shell_path, str) else None,
        is_output_whole=False,  # trimmed, both streams put one after the other, and shortened when long
    )


def _result_text(result: Members) -> str | None:
    content = result.get("content")
    if isinstance(content, str):
        return writable(content)
    if isinstance(content, list):
        texts = [block.get("text") for block in content if isinstance(block, Members)]
        return writable("".join(text for text in texts if isinstance(text, str)))
    return None


def _findings(run: _Run, commands: list[AgentCommand]) -> list[Finding]:
    found = list(run.found)
    for text, count in grouped(run.retries):
        found.append(
            warning(
                "retry",
                f"Claude Code repeated a request {count} times; tokens of a cut try may or may not be counted.",
                text,
            )
        )
    found.extend(
        warning("unfinished-command", "A command left no result before the run ended.", command.text)
        for command in commands
        if not command.is_completed
    )
    completed = [command for command in commands if command.is_completed]
    if completed and all(command.has_failed for command in completed):
        found.append(
            warning("every-command-failed", f"All {len(completed)} completed commands failed.", completed[0].output)
        )
    if not commands:
        found.append(info("no-commands", "No command was seen."))
    stats = (run.result or Members([])).get("subagent_stats")
    spawned = stats.get("spawned") if isinstance(stats, Members) else None
    if isinstance(spawned, int) and spawned > 0:
        found.append(
            warning(
                "sub-agents", f"{spawned} sub-agents ran; their tokens are included, their commands may be missing."
            )
        )
    if len(run.usage) > 1:
        found.append(info("usage-several-turns", f"The session completed {len(run.usage)} turns; totals add them up."))
    if run.orphans:
        found.append(warning("orphan-result", f"{run.orphans} tool results belong to no tool use in the stream."))
    for name, count in grouped(run.repeated):
        found.append(info("repeated-member", f"The member {name!r} repeats inside an event ({count} in all)."))
    return found


def _message(event: Members, number: int) -> Members:
    message = event.get("message")
    if not isinstance(message, Members) or "message" in event.repeated:
        raise StreamError(f"line {number}: the {event['type']} event does not hold exactly one message")
    return message


def _blocks(message: Members) -> list[Members]:
    content = message.get("content")
    return [block for block in content if isinstance(block, Members)] if isinstance(content, list) else []


def _reason(event: Members) -> str:
    said = event.get("result")
    status = event.get("api_error_status")
    where = event.get("terminal_reason") or event.get("subtype")
    text = one_line(said) if isinstance(said, str) and said.strip() else f"{where}"
    return f"{text} (status {status})" if status is not None else text
