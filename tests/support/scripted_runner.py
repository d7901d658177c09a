"""A runner that is plainly no agent: it does what a script tells it and prints a made-up observation.

Run as a program. `$SCRIPTED_RUNNER` names a JSON file: an object from condition (or "*") to steps::

    {"*": {"record": "/tmp/calls.jsonl"}, "ranked": {"write": {"README.md": "other"}, "exit": 3}}

Steps, in this order: `record` (append how it was called to a file), `stderr`, `write` (path to text, null deletes;
a path can have {TASK_FILE} and {CUE_FILE} in it), `make` (folders likewise), `link` (path to target, in its place),
`git` (argument lists), `background` (leave a process behind that holds stdout, its id goes to this file), `hang`,
`spill` (print so many bytes), `raw` (print this instead of an observation), `patch` (pointer to value, or {"$delete":
true}), `after` (more text on stdout), `signal` (send oneself), `exit`. Nothing of the package is imported.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

DELETE = {"$delete": True}


def answer() -> dict[str, Any]:
    """A benchmark answer that is valid and mostly wrong."""
    return {
        "schema_version": "repocue/benchmark-answer-2",
        "project_purpose": "made up by a script",
        "git": {"branch": "main", "head": None, "dirty": False, "tracked_changes": [], "untracked": []},
        "primary_entry_points": [],
        "major_components": [],
        "important_documentation": [],
        "recent_relevant_changes": [],
        "project_symbols": [],
        "uncertainties": ["everything"],
    }


def observation(asked: dict[str, str]) -> dict[str, Any]:
    """Two turns, two commands: 1200 + 300 input, 1000 of it cached, 80 + 20 output, 30 of it reasoning."""
    metrics: dict[str, Any] = {
        "input_tokens": 1500,
        "cached_input_tokens": 1000,
        "output_tokens": 100,
        "reasoning_output_tokens": 30,
        "total_tokens": 1600,
        "execution_duration_ms": 12.5,
        "command_executions": 2,
        "repository_files_named": 1,
        "named_file_size_proxy_bytes": 12,
        "git_calls": 1,
        "filesystem_search_calls": 0,
        "tool_calls": 2,
    }
    if asked["CONDITION"] != "direct":
        metrics |= {
            "fallback_repository_commands": 2,
            "fallback_repository_files_named": 1,
            "fallback_named_file_size_proxy_bytes": 12,
        }
    statuses = {name: "derived" if "proxy" in name or name == "total_tokens" else "observed" for name in metrics}
    return {
        "schema_version": "repocue/evaluation-runner-4",
        "condition": asked["CONDITION"],
        "run_index": int(asked["RUN_INDEX"]),
        "metadata": {
            "adapter": "scripted-runner",
            "adapter_version": "1",
            "model": "no model",
            "reasoning_effort": "none",
            "sandbox": "none",
            "benchmark_version": asked["BENCHMARK_VERSION"],
            "output_schema_version": asked["OUTPUT_SCHEMA_VERSION"],
            "repository_head": asked["HEAD"],
            "repocue_snapshot": asked["SNAPSHOT"],
        },
        "metrics": {**metrics, "statuses": statuses},
        "usage_events": [
            {
                "turn": 1,
                "input_tokens": 1200,
                "cached_input_tokens": 800,
                "output_tokens": 80,
                "reasoning_output_tokens": 30,
            },
            {
                "turn": 2,
                "input_tokens": 300,
                "cached_input_tokens": 200,
                "output_tokens": 20,
                "reasoning_output_tokens": 0,
            },
        ],
        "tokenizer_counts": [],
        "commands": [
            {"command": "git status", "classification": "git", "files_read": []},
            {"command": "cat src/app.py", "classification": "filesystem_read", "files_read": ["src/app.py"]},
        ],
        "final_response": answer(),
        "findings": [],
        "limitations": ["This is a script and no agent."],
    }


def patched(document: Any, changes: dict[str, Any]) -> Any:
    """`document` with each pointer (RFC 6901; "-" appends) set, or deleted."""
    for pointer, value in changes.items():
        *parents, last = pointer.split("/")[1:]
        at = document
        for name in parents:
            at = at[int(name)] if isinstance(at, list) else at[name]
        if value == DELETE:
            del at[int(last) if isinstance(at, list) else last]
        elif isinstance(at, list) and last == "-":
            at.append(value)
        elif isinstance(at, list):
            at[int(last)] = value
        else:
            at[last] = value
    return document


def main() -> None:
    prefix = "REPOCUE_EVAL_"
    asked = {name[len(prefix) :]: value for name, value in os.environ.items() if name.startswith(prefix)}
    with open(os.environ["SCRIPTED_RUNNER"], encoding="utf-8") as file:
        script = json.load(file)
    steps = {**script.get("*", {}), **script.get(asked["CONDITION"], {})}
    if "record" in steps:
        record(steps["record"], asked)
    sys.stderr.write(steps.get("stderr", ""))
    sys.stderr.flush()
    for given, text in steps.get("write", {}).items():
        path = given.format_map({"TASK_FILE": asked["TASK_FILE"], "CUE_FILE": asked["CUE_FILE"]})
        if text is None:
            os.unlink(path)
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    for given in steps.get("make", []):
        os.mkdir(given.format_map({"TASK_FILE": asked["TASK_FILE"]}))
    for path, target in steps.get("link", {}).items():
        os.rename(path, path + ".was")
        os.symlink(target, path)
    for arguments in steps.get("git", []):
        subprocess.run(["git", *arguments], check=True, stdout=subprocess.DEVNULL)
    if "background" in steps:
        leave_behind(steps["background"])
    while steps.get("hang"):
        signal.pause()
    out = sys.stdout.buffer
    for _ in range(steps.get("spill", 0) // 65536):
        out.write(b" " * 65536)
    if "raw" in steps:
        out.write(steps["raw"].encode("latin-1"))
    else:
        out.write(json.dumps(patched(observation(asked), steps.get("patch", {}))).encode())
    out.write(steps.get("after", "").encode())
    out.flush()
    if "signal" in steps:
        signal.signal(steps["signal"], signal.SIG_DFL) if steps["signal"] not in (9, 19) else None
        os.kill(os.getpid(), steps["signal"])
    os._exit(steps.get("exit", 0))


def record(path: str, asked: dict[str, str]) -> None:
    """Append what this process was given, one JSON line."""
    call = {
        "asked": asked,
        "argv": sys.argv[1:],
        "cwd": os.getcwd(),
        "pid": os.getpid(),
        "task": read(asked["TASK_FILE"]),
        "cue": read(asked["CUE_FILE"]) if asked["CUE_FILE"] else None,
        "foreign": sorted(name for name in os.environ if name.startswith("REPOCUE_TASK_")),
        "kept": os.environ.get("KEPT_FOR_THE_RUNNER"),
        "stdin": sys.stdin.read(),
        "beside": files_below(os.path.dirname(os.path.dirname(asked["TASK_FILE"]))),
    }
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(call) + "\n")


def files_below(folder: str) -> list[str]:
    """The relative paths of all files in a folder."""
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def leave_behind(path: str) -> None:
    """Start a process in a session of its own that keeps stdout open and ignores polite signals."""
    ready, told = os.pipe()
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        os.read(ready, 1)  # until it is named: nothing that was never there can be left behind
        return
    os.setsid()
    child = os.fork()
    if child:
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with open(path, "w", encoding="utf-8") as file:
        file.write(str(os.getpid()))
    os.write(told, b".")
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
