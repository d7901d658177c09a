"""The event stream of `codex exec --json`, read as the seed's "Codex Adapter" demands.

The order of a normal run is `thread.started`, notices, `turn.started`, items, `turn.completed`. Anything that would
let a turn be lost or counted twice is an error: a stream that does not begin with its thread, a turn that starts
inside another, completes without having started or never ends, an item that ends twice, a failed turn. A top-level
`error` event is not final (the program prints one for every reconnect), and an item of type `error` is a notice.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from repocue.runners.codex import usage as codex_usage
from repocue.runners.findings import Finding, grouped, info, one_line, warning, writable
from repocue.runners.jsonl import Line, Members, StreamError, read, repetitions, type_of
from repocue.runners.observed import AgentCommand, AgentStream
from repocue.runners.usage import UsageEvent

TOOL_ITEMS = ("command_execution", "mcp_tool_call", "web_search", "file_change", "collab_tool_call")
"""Items that are one tool call each. `todo_list` is not: it shows a list's state, not the calls that changed it."""

QUIET_ITEMS = ("agent_message", "reasoning", "todo_list", "error")


@dataclass(slots=True)
class _Run:
    """What the lines so far have established."""

    has_thread: bool = False
    open_turn: int | None = None
    turns: int = 0
    usage: list[UsageEvent] = field(default_factory=list)
    started: dict[str, Members] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    unfinished: list[Members] = field(default_factory=list)
    commands: list[AgentCommand] = field(default_factory=list)
    answer: str | None = None
    tool_calls: int = 0
    subagent_calls: int = 0
    notices: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)


def read_stream(data: bytes) -> AgentStream:
    """The run that the bytes of standard output describe.

    Raises StreamError for anything but one thread whose every turn completed, UsageError for usage that cannot be
    true.
    """
    run = _Run()
    for line in read(data):
        run.repeated.extend(repetitions(line.event))
        _take(run, line)
    if run.open_turn is not None:
        raise StreamError(f"the event stream ends inside turn {run.open_turn}, which neither completed nor failed")
    if not run.usage:
        raise StreamError("the event stream has no completed turn")
    commands = (*run.commands, *(_command(item, is_completed=False) for item in run.unfinished))
    usage = tuple(run.usage)
    return AgentStream(
        usage=usage,
        commands=commands,
        answer=run.answer,
        tool_calls=run.tool_calls,
        findings=(*codex_usage.doubts(usage), *_findings(run)),
    )


def failure(data: bytes) -> str | None:
    """The program's own last word on why it failed, from a stream that may be cut anywhere; None if it has none."""
    word = None
    for raw in data.split(b"\n"):
        try:
            event = next(read(raw), None)
        except StreamError:
            continue
        if event is None:
            continue
        message: object = None
        if event.event.get("type") == "turn.failed":
            error = event.event.get("error")
            message = error.get("message") if isinstance(error, Members) else None
        elif event.event.get("type") == "error":
            message = event.event.get("message")
        if isinstance(message, str) and message.strip():
            word = one_line(message)
    return word


def _take(run: _Run, line: Line) -> None:
    event, number = line.event, line.number
    kind = type_of(line)
    if not run.has_thread and kind != "thread.started":
        raise StreamError(f"the event stream begins with {kind!r}, not with its thread: its beginning is missing")
    if kind == "thread.started":
        if run.has_thread:
            raise StreamError(f"line {number} starts a second thread")
        run.has_thread = True
    elif kind == "turn.started":
        if run.open_turn is not None:
            raise StreamError(f"line {number} starts a turn inside turn {run.open_turn}")
        run.turns += 1
        run.open_turn = run.turns
    elif kind == "turn.completed":
        if run.open_turn is None:
            raise StreamError(f"line {number} completes a turn that did not start")
        run.usage.append(codex_usage.read_usage(event, run.open_turn, number))
        run.open_turn = None
        run.unfinished += [item for item in run.started.values() if item.get("type") == "command_execution"]
        run.started.clear()
        run.ended.clear()  # whether another turn counts its items on is the program's affair
    elif kind == "turn.failed":
        error = event.get("error")
        message = error.get("message") if isinstance(error, Members) else None
        reason = one_line(message) if isinstance(message, str) and message.strip() else "no reason was given"
        raise StreamError(f"the turn failed: {reason}")
    elif kind == "error":
        run.errors.append(_text(event.get("message")))
    elif kind in ("item.started", "item.updated", "item.completed"):
        _take_item(run, kind, event, number)
    else:
        run.unknown.append(f"event {kind}")


def _take_item(run: _Run, kind: str, event: Members, number: int) -> None:
    item = event.get("item")
    if "item" in event.repeated:
        raise StreamError(f"line {number} holds two items")
    if not isinstance(item, Members):
        raise StreamError(f"line {number}: item is not an object")
    if "type" in item.repeated:
        raise StreamError(f"line {number}: the item names its type twice")
    identifier, item_type = item.get("id"), item.get("type")
    if not isinstance(identifier, str) or not isinstance(item_type, str):
        raise StreamError(f"line {number}: the item has no id or no type")
    if identifier in run.ended:
        raise StreamError(f"line {number}: item {identifier} goes on after it was completed")
    if run.open_turn is None and item_type != "error":
        raise StreamError(f"line {number}: a {item_type} item stands outside any turn")
    if kind == "item.started":
        if identifier in run.started:
            raise StreamError(f"line {number}: item {identifier} starts twice")
        run.started[identifier] = item
        return
    if kind == "item.updated":
        return
    before = run.started.pop(identifier, None)
    if before is not None and before.get("type") != item_type:
        raise StreamError(f"line {number}: item {identifier} changes its type")
    run.ended.add(identifier)
    _complete(run, item_type, item)


def _complete(run: _Run, item_type: str, item: Members) -> None:
    if item_type in TOOL_ITEMS:
        run.tool_calls += 1
    if item_type == "command_execution":
        run.commands.append(_command(item, is_completed=True))
    elif item_type == "agent_message":
        text = item.get("text")
        run.answer = text if isinstance(text, str) else None
    elif item_type == "error":
        run.notices.append(_text(item.get("message")))
    elif item_type == "collab_tool_call":
        run.subagent_calls += 1
    elif item_type not in TOOL_ITEMS and item_type not in QUIET_ITEMS:
        run.unknown.append(f"item {item_type}")


def _command(item: Members, *, is_completed: bool) -> AgentCommand:
    text, code, output = item.get("command"), item.get("exit_code"), item.get("aggregated_output")
    exit_code = code if is_completed and isinstance(code, int) and not isinstance(code, bool) else None
    return AgentCommand(
        identifier=str(item["id"]),
        text=_text(text),
        is_completed=is_completed,
        exit_code=exit_code,
        output=writable(output) if is_completed and isinstance(output, str) else None,
        has_failed=is_completed and (item.get("status") == "failed" or exit_code not in (0, None)),
    )


def _findings(run: _Run) -> list[Finding]:
    found = [info("notice", f"The Codex CLI gave notice{_times(count)}.", text) for text, count in grouped(run.notices)]
    for text, count in grouped(run.errors):
        if text.startswith("Reconnecting..."):
            found.append(
                warning(
                    "reconnect",
                    f"The Codex CLI reconnected{_times(count)}; tokens of the cut answer are not in its usage.",
                    text,
                )
            )
        else:
            found.append(warning("error-event", f"The stream holds an error that was not final{_times(count)}.", text))
    found.extend(
        warning("unfinished-command", "A command left no completion before its turn ended.", _text(item.get("command")))
        for item in run.unfinished
    )
    if run.commands and all(command.has_failed for command in run.commands):
        found.append(
            warning(
                "every-command-failed",
                f"All {len(run.commands)} completed commands failed; a sandbox that does not work looks like this.",
                run.commands[0].output,
            )
        )
    if not run.commands and not run.unfinished:
        found.append(
            info(
                "no-commands",
                "No command event was seen. Commands that the sandbox stopped or that had no host leave none.",
            )
        )
    if run.subagent_calls:
        found.append(
            warning(
                "sub-agents",
                f"{run.subagent_calls} sub-agent calls were seen; their tokens and commands are not in the stream.",
            )
        )
    for name, count in grouped(run.unknown):
        found.append(info("unknown-event", f"The stream holds an unknown {name}{_times(count)}."))
    for name, count in grouped(run.repeated):
        found.append(info("repeated-member", f"The member {name!r} repeats inside an event{_times(count)}."))
    return found


def _times(count: int) -> str:
    return "" if count == 1 else f" {count} times"


def _text(value: object) -> str:
    return writable(value) if isinstance(value, str) and value.strip() else "(no text)"
