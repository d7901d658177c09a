"""A task runner that is plainly no agent: it does what a script tells it, and says it in the Codex CLI's form.

Run as a program. `$SCRIPTED_TASK_RUNNER` names a JSON file: an object from arm (or "*") to steps::

    {"*": {"answer": {...}}, "task": {"write": {"README.md": "other"}, "exit": 3}}

Steps: `record` (append how it was called to a file), `answer` (the final message, an object or a text), `usage` (lists
of input, cached, output and reasoning tokens, one for each turn), `commands` (objects of argv, exit, output; `text`
instead of argv), `format` (stream_format), `keep` (names of the streams that are kept), `prompt` (text that is kept
instead of the prompt), `stream` (bytes as text that are kept instead of the stream), `write` (path to text), `git`
(argument lists), `link` (make a symbolic link in the evidence), `touch` (make a file), `hang`, `spill` (print so many
bytes), `raw` (print this instead of an observation), `patch` (pointer to value), `stderr`, `signal`, `exit`. Nothing of
the package is imported.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from hashlib import sha256
from typing import Any

PREFIX = "REPOCUE_TASK_"
USAGE = [[1000, 400, 50, 10], [500, 100, 30, 0]]
NAMES = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")


def events(steps: dict[str, Any]) -> list[dict[str, Any]]:
    """The stream of one thread: a turn for each usage, commands and the answer in the last one."""
    lines: list[dict[str, Any]] = [{"type": "thread.started", "thread_id": "0"}]
    turns = steps.get("usage", USAGE)
    for number, usage in enumerate(turns, 1):
        lines.append({"type": "turn.started"})
        if number == len(turns):
            for place, command in enumerate(steps.get("commands", [])):
                item = {
                    "id": f"item_{place}",
                    "type": "command_execution",
                    "command": text_of(command),
                    "aggregated_output": command["output"],
                    "exit_code": command["exit"],
                    "status": "completed" if command["exit"] == 0 else "failed",
                }
                lines.append({"type": "item.completed", "item": item})
            if steps.get("answer") is not None:
                answer = steps["answer"]
                text = answer if isinstance(answer, str) else json.dumps(answer)
                item = {"id": "item_last", "type": "agent_message", "text": text}
                lines.append({"type": "item.completed", "item": item})
        counters = dict(zip(NAMES, usage, strict=True)) | {"cache_write_input_tokens": 0}
        lines.append({"type": "turn.completed", "usage": counters})
    return lines


def text_of(command: dict[str, Any]) -> str:
    if "text" in command:
        return str(command["text"])
    return "/bin/bash -lc " + shlex.quote(shlex.join(command["argv"]))


def observation(asked: dict[str, str], steps: dict[str, Any], policy: dict[str, Any]) -> dict[str, Any]:
    paid = policy["paid"] or {"cli_version": "0", "model": "m", "reasoning_effort": "e", "speed": "standard"}
    turns = steps.get("usage", USAGE)
    sums = {name: sum(usage[place] for usage in turns) for place, name in enumerate(NAMES)}
    metrics: dict[str, Any] = {
        **sums,
        "cache_write_input_tokens": 0,
        "total_tokens": sums["input_tokens"] + sums["output_tokens"],
    }
    metrics["statuses"] = {name: "derived" if name == "total_tokens" else "observed" for name in metrics}
    answer = steps.get("answer")
    return {
        "schema_version": "repocue/task-runner-1",
        "arm": asked["ARM"],
        "repeat": int(asked["REPEAT"]),
        "metadata": {
            "adapter": "scripted-task-runner",
            "adapter_version": "1",
            "cli_version": paid["cli_version"],
            "model": paid["model"],
            "reasoning_effort": paid["reasoning_effort"],
            "speed": paid["speed"],
            "sandbox": policy["sandbox"],
            "stream_format": steps.get("format", "codex-exec-json"),
            "head": asked["HEAD"],
            "snapshot": asked["SNAPSHOT"],
        },
        "usage_events": [
            {"turn": number, **dict(zip(NAMES, usage, strict=True)), "cache_write_input_tokens": 0}
            for number, usage in enumerate(turns, 1)
        ],
        "metrics": metrics,
        "commands": [
            {
                "id": f"item_{place}",
                "command_id": None,
                "text": text_of(command),
                "argv": command.get("argv"),
                "completed": True,
                "exit_code": command["exit"],
                "output_sha256": "sha256:" + sha256(command["output"].encode()).hexdigest(),
                "output_bytes": len(command["output"].encode()),
                "output_complete": len(command["output"].encode()) < 1048576,
            }
            for place, command in enumerate(steps.get("commands", []))
        ],
        "final_response": answer if isinstance(answer, dict) else None,
        "findings": [],
        "limitations": ["This is a script and no agent."],
    }


def patched(document: Any, changes: dict[str, Any]) -> Any:
    for pointer, value in changes.items():
        *parents, last = pointer.split("/")[1:]
        at = document
        for name in parents:
            at = at[int(name)] if isinstance(at, list) else at[name]
        if isinstance(at, list):
            at[int(last)] = value
        else:
            at[last] = value
    return document


def main() -> None:
    asked = {name[len(PREFIX) :]: value for name, value in os.environ.items() if name.startswith(PREFIX)}
    with open(os.environ["SCRIPTED_TASK_RUNNER"], encoding="utf-8") as file:
        script = json.load(file)
    steps = {**script.get("*", {}), **script.get(asked["ARM"], {})}
    if "record" in steps:
        record(steps["record"], asked)
    prompt = read(asked["TASK_FILE"]) + b"\n\n" + read(asked["CUE_FILE"])
    policy = json.loads(read(asked["POLICY_FILE"]))
    stream = "".join(json.dumps(event) + "\n" for event in events(steps))
    kept = {
        "stdin": steps["prompt"].encode() if "prompt" in steps else prompt,
        "provider-stdout": steps.get("stream", stream).encode("latin-1" if "stream" in steps else "utf-8"),
        "provider-stderr": b"warning: made up\n",
    }
    for name in steps.get("keep", list(kept)):
        with open(os.path.join(asked["EVIDENCE_DIR"], name), "wb") as out:
            out.write(kept[name])
    sys.stderr.write(steps.get("stderr", ""))
    sys.stderr.flush()
    for path, text in steps.get("write", {}).items():
        with open(path, "w", encoding="utf-8") as out_text:
            out_text.write(text)
    for arguments in steps.get("git", []):
        subprocess.run(["git", *arguments], check=True, stdout=subprocess.DEVNULL)
    if "link" in steps:
        os.symlink("/etc/passwd", os.path.join(asked["EVIDENCE_DIR"], steps["link"]))
    if "touch" in steps:
        open(steps["touch"], "x").close()
    while steps.get("hang"):
        signal.pause()
    printed = sys.stdout.buffer
    printed.write(b" " * steps.get("spill", 0))
    if "raw" in steps:
        printed.write(steps["raw"].encode("latin-1"))
    else:
        printed.write(json.dumps(patched(observation(asked, steps, policy), steps.get("patch", {}))).encode())
    printed.flush()
    if "signal" in steps:
        os.kill(os.getpid(), steps["signal"])
    os._exit(steps.get("exit", 0))


def record(path: str, asked: dict[str, str]) -> None:
    """Append what this process was given and what lies on disk by now, one JSON line."""
    attempt = os.path.dirname(asked["EVIDENCE_DIR"])
    call = {
        "asked": asked,
        "argv": sys.argv[1:],
        "cwd": os.getcwd(),
        "names": sorted(os.listdir(attempt)),
        "journal": read(os.path.join(attempt, "journal.json")).decode(),
        "task": read(asked["TASK_FILE"]).decode(),
        "cue": read(asked["CUE_FILE"]).decode(),
        "foreign": sorted(name for name in os.environ if name.startswith("REPOCUE_EVAL_")),
        "key": os.environ.get("SOME_API_KEY"),
    }
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(call) + "\n")


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


if __name__ == "__main__":
    main()
