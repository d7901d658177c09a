"""Documents made by hypothesis: any value of a schema, then settled so that it keeps the runtime rules as well.

The rules are worked out here a second time, from their descriptions, and not with the code under test.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from repocue.contracts import schemas
from tests.contracts.documents import CONDITIONS, Document, digest, measured

_TEXT = st.text(st.characters(codec="utf-8"), max_size=6)
_DIGEST_PATTERN = "^sha256:[0-9a-f]{64}$"
_COUNTERS = st.one_of(st.integers(0, 9), st.integers(0, 10**12))


def values(schema: dict[str, Any], definitions: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Any value that `schema` accepts; small, so that many can be made."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        if name.rpartition(".")[2] == "counter":
            return _COUNTERS  # sums stay within what a counter may hold
        return st.deferred(lambda: values(definitions[name], definitions))
    if "anyOf" in schema:
        return st.one_of([values(branch, definitions) for branch in schema["anyOf"]])
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return st.one_of([_of_type(name, schema, definitions) for name in types])


def _of_type(name: str, schema: dict[str, Any], definitions: dict[str, Any]) -> st.SearchStrategy[Any]:
    if name == "object":
        members = {key: values(member, definitions) for key, member in schema.get("properties", {}).items()}
        required = {key: member for key, member in members.items() if key in schema.get("required", [])}
        optional = {key: member for key, member in members.items() if key not in required}
        return st.fixed_dictionaries(required, optional=optional)
    if name == "array":
        least = schema.get("minItems", 0)
        most = min(schema.get("maxItems", least + 3), least + 3)
        items = values(schema["items"], definitions)
        return st.lists(items, min_size=least, max_size=most, unique_by=str if schema.get("uniqueItems") else None)
    if name == "string":
        return _strings(schema)
    if name == "integer":
        least = schema.get("minimum", 0)
        most = schema.get("maximum", 2**53 - 1)
        return st.integers(least, min(most, least + 50)) | st.integers(least, most)
    if name == "number":
        return st.integers(0, 10**6) | st.floats(0, 1e9)
    return {"boolean": st.booleans(), "null": st.none()}[name]


def _strings(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    if schema.get("format") == "date-time":
        start = datetime(2026, 1, 1, tzinfo=UTC)
        return st.integers(0, 300 * 86400_000).map(
            lambda ms: (start + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds")[:23] + "Z"
        )
    if schema.get("format") == "date":
        return st.dates(date(2000, 1, 1), date(2026, 11, 30)).map(str)
    pattern = schema.get("pattern")
    if pattern == _DIGEST_PATTERN:
        return st.sampled_from([digest(letter) for letter in "abcd"])
    if pattern is not None:
        return st.from_regex(pattern, fullmatch=True)
    return _TEXT.filter(bool) if schema.get("minLength") else _TEXT


def documents_of(contract: str, kind: str | None = None) -> st.SearchStrategy[Document]:
    """Documents that keep the schema and the rules of a contract."""
    schema = schemas.for_kind(contract, kind)
    definitions = schema.get("$defs", {})
    plain = values({key: part for key, part in schema.items() if key not in ("$schema", "$id")}, definitions)
    settle = SETTLE.get(contract.removeprefix("repocue/"))
    return plain if settle is None else plain.map(settle)


# --- the rules, once more

_TOKENS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
_PATHS = ("a", "./a", "b/c", "b//c", "b/x/../c", "ü")


def _settle_usage(document: Document, optional: bool) -> None:
    events, metrics = document["usage_events"], document["metrics"]
    for number, event in enumerate(events, 1):
        event["turn"] = number
        for part, whole in (
            ("cached_input_tokens", "input_tokens"),
            ("cache_write_input_tokens", "input_tokens"),
            ("reasoning_output_tokens", "output_tokens"),
        ):
            if event.get(part) is not None and event.get(whole) is not None:
                event[part] = min(event[part], event[whole])
    for name in (*_TOKENS, "cache_write_input_tokens"):
        seen = [event.get(name) for event in events]
        total = None if not seen or None in seen else sum(seen)
        if name == "cache_write_input_tokens" and (total is None or name not in metrics):
            metrics.pop(name, None)
        elif total is None and optional and len(events) % 2:
            metrics.pop(name, None)  # absent and null both mean unknown
        else:
            metrics[name] = total
    known = metrics.get("input_tokens"), metrics.get("output_tokens")
    metrics["total_tokens"] = None if None in known else sum(known)


def _settle_statuses(metrics: Document) -> None:
    statuses = metrics["statuses"]
    for name in [*metrics, *statuses]:
        if name == "statuses":
            continue
        if metrics.get(name) is None:
            statuses[name] = "not_observed"
        elif statuses.get(name, "not_observed") == "not_observed":
            statuses[name] = "derived"


def settle_observation(document: Document) -> Document:
    version = int(document["schema_version"][-1])
    _settle_usage(document, optional=version == 4)
    metrics, commands = document["metrics"], document["commands"]
    for command in commands:
        command["files_read"] = [_PATHS[len(path) % len(_PATHS)] for path in command["files_read"]]
    named = {os.path.normpath(path) for command in commands for path in command["files_read"]}
    counts = {
        "command_executions": len(commands),
        "git_calls": sum(command["classification"].startswith("git") for command in commands),
        "filesystem_search_calls": sum("search" in command["classification"] for command in commands),
        "repository_files_named": len(named),
    }
    for name, count in counts.items():
        if metrics.get(name) is not None:
            metrics[name] = count
    if metrics.get("tool_calls") is not None:
        metrics["tool_calls"] += len(commands)
    limits = {
        "fallback_repository_commands": len(commands),
        "fallback_repository_files_named": len(named),
        "fallback_named_file_size_proxy_bytes": metrics.get("named_file_size_proxy_bytes"),
    }
    for name, limit in limits.items():
        if document["condition"] == "direct":
            metrics.pop(name, None)
        elif metrics.get(name) is not None and limit is not None:
            metrics[name] = min(metrics[name], limit)
    _settle_statuses(metrics)
    if "cli_version" in document["metadata"]:
        document["metadata"].pop("codex_version", None)
    return document


def _settle_runner(report: Document) -> None:
    runner = report.get("runner")
    if runner is None:
        return
    runner["condition"] = report["condition"]
    runner["run_index"] = report["run_index"]
    runner["metadata"]["repository_head"] = report["repository"]["head"] or ""
    runner["metadata"]["repocue_snapshot"] = report["repocue_snapshot"]
    settle_observation(runner)


def settle_report(report: Document) -> Document:
    report["condition_order"] = CONDITIONS.index(report["condition"]) + 1
    _settle_runner(report)
    if report["schema_version"] == "repocue/evaluation-3":
        return report
    cue, condition = report["cue"], report["condition"]
    cue["bytes"] = 0 if condition == "direct" else cue["bytes"] + 1
    cue["estimated_tokens"] = (cue["bytes"] + 3) // 4
    cue["max_tokens"] += cue["estimated_tokens"]
    cue.pop("schema_version", None)
    if condition != "direct":
        cue["schema_version"] = "repocue/1" if condition == "basic" else "repocue/cue-2"
    if condition != "structural-oracle":
        cue.pop("structural_analysis_duration_ms", None)
        cue.pop("structural_candidate_count", None)
    start, finish, before, after = (f"2026-11-30T10:00:0{second}.000Z" for second in (1, 2, 2, 3))
    report["captures"] = None
    if "runner" in report:
        capture = {"state_fingerprint": report["repository"]["state_fingerprint"], "guard_digest": digest("guard")}
        report["captures"] = {"pre_run": {"at": before, **capture}, "post_run": {"at": after, **capture}}
    if condition != "basic":
        report["cue_delivery"] = None
    elif report["cue_delivery"] is None:
        report["cue_delivery"] = {
            "executable": {"path": "r", "sha256": digest("r"), "version": "0", "package_sha256": digest("p")},
            "argv": ["r"],
            "cache_state": "current",
            "hint_state": "none",
            "duration_ms": 1,
            "exit_code": 0,
            "stdout_sha256": digest("o"),
            "trace2": {"file": "t", "sha256": digest("t"), "git_processes": 0},
        }
    if report["cue_delivery"] is not None:
        report["cue_delivery"] |= {"started_at": start, "finished_at": finish, "stdout_bytes": cue["bytes"]}
    return report


def _settle_condition_report(document: Document) -> Document:
    if document["kind"] == "m2-condition":
        return settle_report(document)
    sets = document["report_sets"]
    for number, entry in enumerate(sets, 1):
        entry["run_index"] = number
    document["report_set"] = sets[0]["path"] if len(sets) == 1 else None
    return document


def _number(items: list[Document], member: str = "id") -> None:
    for number, item in enumerate(items):
        item[member] = f"{number}-of-several"


def _settle_task(document: Document) -> Document:
    document["declaration"] = "docs/ä b.json"
    if not any(document["selector"].values()):
        document["selector"]["tags"] = ["core"]
    return document


def _settle_context(document: Document) -> Document:
    _number(document["items"])
    for item in document["items"]:
        for number, source in enumerate(item["sources"]):
            source["path"] = f"src/{number}.py"
            if source["lines"] is not None:
                source["lines"].sort()
    return document


def _settle_task_benchmark(document: Document) -> Document:
    task = _settle_task(document["task"])
    if document["verification"] is not None:
        task["kind"] = "verification"
        _number(document["verification"]["commands"])
        for command in document["verification"]["commands"]:
            command["argv"][0] = "true"
    elif task["kind"] == "verification":
        task["kind"] = "discovery"
    if task["kind"] == "explanation":
        document["rubric"] = document["rubric"] or "Is it right?"
    return document


def _settle_answer(document: Document) -> Document:
    document["benchmark_id"] = "a-benchmark"
    _number(document["items"])
    for part in [*document["items"], *document["claims"]]:
        part["sources"] = [f"src/{number}.py" for number, _ in enumerate(part["sources"])]
    for claim in document["claims"]:
        claim["text"] = f"It is {claim['text']}."
    document["uncertainties"] = [f"Is it {text}?" for text in document["uncertainties"]]
    _number(document.get("commands", []))
    for command in document.get("commands", []):
        command["exit_code"] %= 256
    return document


def _settle_task_observation(document: Document) -> Document:
    _settle_usage(document, optional=True)
    completed = 0
    for command in document["commands"]:
        size = command["output_bytes"]
        if size is None:
            command["output_sha256"] = None
        else:
            command["output_sha256"] = digest("output")
        if not command["completed"]:
            command["exit_code"] = None
        command["output_complete"] = command["completed"] and size is not None and size < 1_048_576
        completed += command["completed"]
    metrics = document["metrics"]
    if metrics.get("command_executions") is not None:
        metrics["command_executions"] = completed
    if metrics.get("tool_calls") is not None:
        metrics["tool_calls"] += completed
    _settle_statuses(metrics)
    if document["final_response"] is not None:
        _settle_answer(document["final_response"])
    return document


def _settle_bundle(document: Document) -> Document:
    if document["kind"] == "assessment-bundle":
        for number, entry in enumerate(document["entries"]):
            if "step" in entry:
                entry["step"] = f"step-{number}"
            else:
                entry["attempt"] = f"task-eval-{number}/2-task"
    return document


def _settle_cache_benchmark(document: Document) -> Document:
    task = _settle_task(document["task"])
    if task["kind"] == "verification":
        task["kind"] = "explanation"
    _number(document["prompts"])
    names = [prompt["id"] for prompt in document["prompts"]]
    steps = []
    for cycle in range(1, 1 + len(document["steps"]) // 2):
        steps += [{"arm": arm, "cycle": cycle, "prompt": name} for arm in ("cache", "baseline") for name in names]
    steps.append({"arm": "probe", "cycle": None, "prompt": names[-1]})
    _number(steps)
    document["steps"] = steps
    if document["rates"] is not None:
        document["rates"]["model"] = document["model"]
    return document


def _settle_request(document: Document) -> Document:
    document["cycle"] = None if document["arm"] == "probe" else 1
    document["estimated_tokens"] = (document["body_bytes"] + 3) // 4
    return document


def _settle_cache_observation(document: Document) -> Document:
    names = ("started_at", "http_started_at", "http_finished_at", "finished_at")
    times = sorted(document[name] or "2026-05-05T05:05:05.050Z" for name in names)
    document |= dict(zip(names, times, strict=True))
    if document["duration_ms"] is None:
        document |= {"http_started_at": None, "http_finished_at": None, "status": None, "response": None}
        document |= {"request_id": None, "request_bytes_written": 0, "request_complete": False}
        return document
    first, last = (datetime.fromisoformat(document[name]) for name in names[1:3])
    document["duration_ms"] = (last - first) // timedelta(milliseconds=1)
    if document["status"] is None:
        document["response"] = None
    if document["response"] is not None:
        document["response"]["file"] = None if document["response"]["withheld"] else "response"
    return document


def _settle_task_cue(document: Document) -> Document:
    """Whole files, one for each item, or none."""
    document["declaration"]["path"] = "context.json"
    items = document["items"]
    _number(items)
    document["blocks"], document["sources"] = [], []
    for number, item in enumerate(items):
        lines = item["summary"].count("x") + number
        text, path = "line\n" * lines, f"src/{number}.py"
        span = (1, lines) if lines else (None, None)
        block = {"id": path, "path": path, "first_line": span[0], "last_line": span[1]}
        document["blocks"].append(block | {"sha256": digest(text), "text": text})
        document["sources"].append({"id": path, "block": path, "sha256": digest(text)})
        item["sources"] = [path]
    document["budget"]["max_tokens"] = 10**6
    return measured(document)


SETTLE: dict[str, Callable[[Document], Document]] = {
    "cache-answer-1": _settle_answer,
    "cache-benchmark-1": _settle_cache_benchmark,
    "cache-evaluation-1": _settle_bundle,
    "cache-observation-1": _settle_cache_observation,
    "cache-request-1": _settle_request,
    "evaluation-3": settle_report,
    "evaluation-4": _settle_condition_report,
    "evaluation-runner-3": settle_observation,
    "evaluation-runner-4": settle_observation,
    "task-1": _settle_task,
    "task-answer-1": _settle_answer,
    "task-benchmark-1": _settle_task_benchmark,
    "task-context-1": _settle_context,
    "task-cue-1": _settle_task_cue,
    "task-evaluation-1": _settle_bundle,
    "task-runner-1": _settle_task_observation,
}
