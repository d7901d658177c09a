"""M2 report sets written by hand from their contracts, versions 3 and 4; nothing of the product makes them.

::

    folder = write_set(parent, version=4, run_index=2, agents={"basic": Agent(turns=[turn(900, 100, 50)])})

Every number that follows from others is computed here: sums over turns, counts of commands, sizes, digests, the seal.
`change` may alter each finished report (and so make it inconsistent on purpose) before it is written.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from tests.contracts import documents

Document = dict[str, Any]
CONDITIONS = documents.CONDITIONS
COUNTERS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
TRACE = b'{"event":"start","sid":"a"}\n{"event":"start","sid":"b"}\n{"event":"exit","sid":"a"}\n'
TRACE_PROCESSES = 2
COMMANDS = (
    ("git status --short", "git", ()),
    ("cat README.md", "filesystem_read", ("README.md",)),
    ("make", "other", ()),
)


def turn(
    input_tokens: int | None, cached: int | None = 0, output: int | None = 0, reasoning: int | None = 0
) -> dict[str, int]:
    """One completed turn; None leaves a counter out, as version 4 may."""
    values = zip(COUNTERS, (input_tokens, cached, output, reasoning), strict=True)
    return {name: value for name, value in values if value is not None}


@dataclass(frozen=True, kw_only=True)
class Agent:
    """What one condition's scripted agent used and said.

    `commands` are (text, classification, files read). `values` replaces or, by None, removes metrics; `statuses`
    replaces statuses. `answer` replaces the answer, `git` members of its `git`.
    """

    turns: Sequence[Mapping[str, int]] = field(default_factory=lambda: [turn(1000, 400, 100, 20)])
    duration_ms: float | None = 1000.5
    commands: Sequence[tuple[str, str, Sequence[str]]] = COMMANDS
    size_proxy_bytes: int | None = 4100
    values: Mapping[str, Any] = field(default_factory=dict)
    statuses: Mapping[str, str] = field(default_factory=dict)
    findings: Sequence[Mapping[str, str]] = ()
    answer: Mapping[str, Any] | None = None
    git: Mapping[str, Any] = field(default_factory=dict)


def digest(data: bytes) -> str:
    return "sha256:" + sha256(data).hexdigest()


def text(value: Any, *, indent: int | None = 2) -> bytes:
    """A document by Python's own encoder, in the form in which reports are kept."""
    separators = None if indent else (",", ":")
    return json.dumps(value, ensure_ascii=False, indent=indent, separators=separators).encode() + b"\n"


def observation(
    version: int, condition: str, agent: Agent, report: Mapping[str, Any], more: Mapping[str, Any]
) -> Document:
    """The runner's observation in `report`; `more` replaces or, by None, removes members of its metadata."""
    found = documents.observation(version, condition)
    repository = report["repository"]
    metadata = {**found["metadata"], "repository_head": repository["head"] or "", **more}
    metadata["repocue_snapshot"] = report["repocue_snapshot"]
    answer = copy.deepcopy(dict(agent.answer)) if agent.answer else documents.benchmark_answer()
    if agent.answer is None:
        state = {name: repository[name] for name in ("branch", "head", "dirty")}
        answer["git"] = {**state, "tracked_changes": [], "untracked": []}
    answer["git"] = {**answer["git"], **agent.git}
    return {
        **found,
        "run_index": report["run_index"],
        "metadata": {name: value for name, value in metadata.items() if value is not None},
        "metrics": _metrics(condition, agent),
        "usage_events": [{"turn": number, **event} for number, event in enumerate(agent.turns, start=1)],
        "tokenizer_counts": [],
        "commands": [
            {"command": command, "classification": kind, "files_read": list(files)}
            for command, kind, files in agent.commands
        ],
        "final_response": answer,
        "findings": [dict(finding) for finding in agent.findings],
    }


def _metrics(condition: str, agent: Agent) -> Document:
    found: Document = {}
    for name in (*COUNTERS, "cache_write_input_tokens"):
        counts = [event.get(name) for event in agent.turns]
        known = [count for count in counts if count is not None]
        if counts and len(known) == len(counts):
            found[name] = sum(known)
    if "input_tokens" in found and "output_tokens" in found:
        found["total_tokens"] = found["input_tokens"] + found["output_tokens"]
    files = {name for _, _, named in agent.commands for name in named}
    classes = [kind.split("+") for _, kind, _ in agent.commands]
    found |= {
        "execution_duration_ms": agent.duration_ms,
        "command_executions": len(agent.commands),
        "repository_files_named": len(files),
        "named_file_size_proxy_bytes": agent.size_proxy_bytes,
        "git_calls": sum("git" in kinds for kinds in classes),
        "filesystem_search_calls": sum("filesystem_search" in kinds for kinds in classes),
        "tool_calls": len(agent.commands),
    }
    if condition != "direct":
        found |= {
            "fallback_repository_commands": sum(kinds != ["other"] for kinds in classes),
            "fallback_repository_files_named": len(files),
            "fallback_named_file_size_proxy_bytes": agent.size_proxy_bytes,
        }
    found |= agent.values
    found = {name: value for name, value in found.items() if value is not None}
    derived = ("repository_files_named", "named_file_size_proxy_bytes", "git_calls", "filesystem_search_calls")
    statuses = {name: "derived" if name in derived or name.startswith("fallback") else "observed" for name in found}
    for name in (*COUNTERS, "total_tokens"):
        statuses.setdefault(name, "not_observed")
    return {**found, "statuses": {**statuses, **agent.statuses}}


def reports(
    *,
    version: int = 4,
    run_index: int = 1,
    runner: bool = True,
    order: Sequence[str] = CONDITIONS,
    agents: Mapping[str, Agent] | None = None,
    repository: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    snapshot: str = documents.SNAPSHOT,
    maintenance_id: str | None = None,
    max_tokens: int = 500,
    cue_bytes: Mapping[str, int] | None = None,
    baseline_ms: float = 81.25,
    update_ms: float = 20.5,
    delivery_ms: float = 80.953,
    delivery: Mapping[str, Any] | None = None,
    changed_paths: Mapping[str, Sequence[str]] | None = None,
    change: Callable[[Document], None] | None = None,
) -> list[Document]:
    """The five reports of a set, in the order of the conditions.

    `order` is the order in which runners started; another than the seed's is the balanced policy, which version 4 has.
    `repository` replaces members of the reports' `repository`, `delivery` those of `cue_delivery`; version 3's
    fingerprint and both versions' maintenance id follow unless they are given.
    """
    state = _repository(version, repository or {}, runner=runner)
    joined = "\0".join([state["resolved_root"], state["state_fingerprint"], snapshot])
    identity = maintenance_id or "maintenance-" + digest(joined.encode())[7:31]
    made = []
    for condition in CONDITIONS:
        report = (documents.report_3 if version == 3 else documents.report_4)(condition, runner=runner)
        report |= {
            "maintenance_id": identity,
            "repocue_snapshot": snapshot,
            "condition_order": list(order).index(condition) + 1,
            "run_index": run_index,
            "repository": copy.deepcopy(state),
        }
        report["baseline"]["wall_duration_ms"] = baseline_ms
        report["update"]["wall_duration_ms"] = update_ms
        size = 0 if condition == "direct" else (cue_bytes or {}).get(condition, 1001)
        report["cue"] |= {"bytes": size, "estimated_tokens": -(-size // 4), "max_tokens": max_tokens}
        if version == 4:
            report["order_policy"] = "fixed" if tuple(order) == CONDITIONS else "balanced"
            if report["captures"]:
                for capture in report["captures"].values():
                    capture["state_fingerprint"] = state["state_fingerprint"]
        if changed_paths is not None:
            report["changed_paths"] = {name: list(paths) for name, paths in changed_paths.items()}
        if report.get("cue_delivery"):
            report["cue_delivery"] |= {"duration_ms": delivery_ms, "stdout_bytes": size, **(delivery or {})}
        if runner:
            agent = (agents or {}).get(condition, Agent())
            report["runner"] = observation(version, condition, agent, report, metadata or {})
        if change is not None:
            change(report)
        made.append(report)
    return made


def _repository(version: int, given: Mapping[str, Any], *, runner: bool) -> Document:
    state: Document = documents.report_3()["repository"] if version == 3 else documents.report_4()["repository"]
    state |= {"dirty": False, **given}
    if version == 3 and "state_fingerprint" not in given:
        names = ("repocue_status", "repository", "working_tree", "porcelain_status", "binary_diff")
        state["state_fingerprint"] = digest("\0".join(state[name + "_digest"] for name in names).encode())
    return state


def safe(part: str) -> str:
    """A part of a published name: what is no letter, digit, `.`, `_` or `-` becomes one `-`; edges are trimmed."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "\0" for c in part)
    return "-".join(filter(None, kept.split("\0"))).strip("-")


def folder_name(report: Mapping[str, Any]) -> str:
    return f"{_stem(report, None)}_{report['maintenance_id']}"


def file_name(report: Mapping[str, Any], ending: str = ".json") -> str:
    return _stem(report, report["condition"]) + ending


def _stem(report: Mapping[str, Any], condition: str | None) -> str:
    model = report["runner"]["metadata"]["model"] if "runner" in report else "no-runner"
    parts = [safe(report["repository"]["name"]), *([condition] if condition else []), safe(model)]
    return "_".join([*parts, f"run-{report['run_index']:02}"])


def write(
    parent: str | os.PathLike[str], made: Sequence[Document], *, trace: bytes = TRACE, name: str | None = None
) -> str:
    """Write finished reports as a published set below `parent`, and return its folder; version 4 is sealed."""
    folder = os.path.join(os.fspath(parent), name or folder_name(made[0]))
    os.makedirs(folder)
    contents: dict[str, bytes] = {}
    for report in made:
        delivery = report.get("cue_delivery")
        if delivery is not None:
            processes = len({line for line in trace.splitlines() if b'"start"' in line})
            file = file_name(report, ".trace2.jsonl")
            delivery["trace2"] = {"file": file, "sha256": digest(trace), "git_processes": processes}
            contents[file] = trace
        contents[file_name(report)] = text(report)
    for file, data in contents.items():
        _write(folder, file, data)
    if any(report["schema_version"] == "repocue/evaluation-4" for report in made):
        seal(folder)
    return folder


def write_set(parent: str | os.PathLike[str], *, name: str | None = None, **options: Any) -> str:
    """`reports` and `write` in one: the folder of a published set."""
    return write(parent, reports(**options), name=name)


def seal(folder: str) -> None:
    """Write `manifest.json` over whatever lies in `folder` now, replacing one that is there."""
    entries = []
    for name in sorted(os.listdir(folder), key=os.fsencode):
        if name != "manifest.json":
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            entries.append({"path": name, "bytes": len(data), "sha256": digest(data)})
    body: Document = {"schema_version": "repocue/manifest-1", "files": entries}
    _write(folder, "manifest.json", text({**body, "self_sha256": digest(text(body, indent=None))}, indent=None))


def assessments(made: Iterable[Document], **more: Any) -> list[Document]:
    """One valid assessment of every report's answer; `more` replaces members."""
    found = []
    for report in made:
        answer = report["runner"]["final_response"]
        assessment = documents.qualitative_assessment()
        assessment |= {
            "response_id": digest(text(answer, indent=None)[:-1]),
            "condition": report["condition"],
            "repository_head": report["repository"]["head"],
            "state_fingerprint": report["repository"]["state_fingerprint"],
            "run_index": report["run_index"],
        }
        found.append({**assessment, **more})
    return found


def _write(folder: str, name: str, data: bytes) -> None:
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)
