"""The rules of a runner observation, versions 3 and 4 (facts of version 3, "Runtime rules beyond the shape").

`version_3` and `version_4` hold an observation against itself; `Expected` against what was asked of the runner;
`check_same_runner` the five observations of one set against each other.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repocue.contracts.jsontext import DEFAULT_LIMITS, Limits
from repocue.contracts.problems import Problem, contract_error, literal, token
from repocue.contracts.registry import Context
from repocue.contracts.rules import usage
from repocue.domain import paths

VERSION_3 = "repocue/evaluation-runner-3"
VERSION_4 = "repocue/evaluation-runner-4"

_FALLBACKS = ("fallback_repository_commands", "fallback_repository_files_named", "fallback_named_file_size_proxy_bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What was asked of a runner. `head` is None when unborn; `contract` is the runner contract that was wanted."""

    condition: str
    run_index: int
    head: str | None
    snapshot: str
    contract: str = VERSION_4
    benchmark_version: str = "repository-state-v2"
    output_schema_version: str = "repocue/benchmark-answer-2"


def read_observation(
    data: bytes, *, expected: Expected, limits: Limits = DEFAULT_LIMITS, subject: str = "the runner's output"
) -> dict[str, Any]:
    """The one observation in a runner's complete stdout; raises ContractError, also for surplus output."""
    from repocue.contracts.reader import read_json

    document = read_json(data, limits=limits, subject=subject)
    check_observation(document, expected=expected, subject=subject)
    result: dict[str, Any] = document
    return result


def check_observation(document: Any, *, expected: Expected | None = None, subject: str | None = None) -> None:
    """Hold a parsed observation to its version's schema and rules and, where given, to what was asked.

    Without `expected` both versions pass; with it the contract must be the one that was wanted. Raises ContractError.
    """
    from repocue.contracts.reader import check

    contract = check(document, contract=expected.contract if expected else (VERSION_3, VERSION_4), subject=subject)
    faults = list(expectation_problems(document, expected)) if expected else []
    if faults:
        raise contract_error(faults, code="expectation", subject=f"{subject} ({contract})" if subject else contract)


def expectation_problems(document: Mapping[str, Any], expected: Expected) -> Iterator[Problem]:
    """Where a valid observation is not the one that was asked for."""
    metadata = document["metadata"]
    asked = (
        ("/condition", document["condition"], expected.condition),
        ("/run_index", document["run_index"], expected.run_index),
        ("/metadata/repository_head", metadata["repository_head"], expected.head or ""),
        ("/metadata/repocue_snapshot", metadata["repocue_snapshot"], expected.snapshot),
        ("/metadata/benchmark_version", metadata["benchmark_version"], expected.benchmark_version),
        ("/metadata/output_schema_version", metadata["output_schema_version"], expected.output_schema_version),
    )
    for where, found, wanted in asked:
        if found != wanted:
            yield Problem(where, f"{literal(wanted)} was asked for, not {literal(found)}")


def check_same_runner(observations: Sequence[Mapping[str, Any]]) -> None:
    """Raise ContractError where the metadata of one set's observations drifts between conditions."""
    faults = list(drift_problems(observations))
    if faults:
        raise contract_error(faults, code="runner-drift", subject="the runner's metadata changed between conditions")


def drift_problems(observations: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    """A fault for each metadata member in which an observation differs from the first; absent differs from present."""
    if not observations:
        return
    first = observations[0]
    for other in observations[1:]:
        a, b = first["metadata"], other["metadata"]
        for name in dict.fromkeys([*a, *b]):
            if name not in a or name not in b or a[name] != b[name]:
                yield Problem(
                    "/metadata" + token(name),
                    f"{_member(b, name)} in condition {other['condition']}, {_member(a, name)} in {first['condition']}",
                )


def version_3(document: Mapping[str, Any], _context: Context) -> Iterator[Problem]:
    """The rules of `repocue/evaluation-runner-3`:

    - Turns are numbered 1, 2, … in order.
    - In each turn and in the totals, cached input never exceeds input.
    - A token metric is the sum of its counter over all turns.
    - total_tokens is input plus output; parts are never added to it.
    - A metric with a value has a status, which is not not_observed; a status without a value is not_observed.
    - command_executions, git_calls and filesystem_search_calls are what the commands and their classifications count;
      repository_files_named counts the distinct cleaned files; tool_calls is at least the number of commands.
    - files_read are relative and never leave the repository.
    - A direct run has no fallback metrics; those of an assisted run never exceed the run's totals.
    - On import and in a report: condition, run index, HEAD, snapshot, benchmark and answer contract are those that
      were asked for, and the metadata is the same in all five conditions.
    """
    yield from usage.usage_problems(document["usage_events"], document["metrics"], usage.LEGACY_SUBSETS)
    yield from _activity_problems(document)


def version_4(document: Mapping[str, Any], _context: Context) -> Iterator[Problem]:
    """The rules of `repocue/evaluation-runner-4`:

    - Turns are numbered 1, 2, … in order.
    - In each turn and in the totals, cached input never exceeds input, and the same holds for
      cache writes in input and reasoning in output.
    - A token metric is the sum of its counter over all turns; it exists exactly when every completed turn
      supplies the counter (the optional cache_write_input_tokens may be left out).
    - total_tokens is input plus output, and exists exactly when both are known; parts are never added to it.
    - A metric with a value has a status, which is not not_observed; a status without a value is not_observed.
    - command_executions, git_calls and filesystem_search_calls are what the commands and their classifications count;
      repository_files_named counts the distinct cleaned files; tool_calls is at least the number of commands.
    - files_read are relative and never leave the repository.
    - A direct run has no fallback metrics; those of an assisted run never exceed the run's totals.
    - metadata has cli_version or codex_version, not both.
    - On import and in a report: condition, run index, HEAD, snapshot, benchmark and answer contract are those that
      were asked for, and the metadata is the same in all five conditions.
    """
    metadata = document["metadata"]
    if "cli_version" in metadata and "codex_version" in metadata:
        yield Problem("/metadata/codex_version", "stands beside cli_version, which replaces it; give one of them")
    yield from usage.usage_problems(document["usage_events"], document["metrics"], usage.SUBSETS)
    yield from _activity_problems(document)


def cleaned(path: str) -> str:
    """A path without `.`, `..` and doubled slashes, as text; two spellings of one file are equal."""
    try:
        raw = paths.raw(path)
    except ValueError:  # text that begins with a quote and is no quoted path: taken as it stands
        raw = path.encode()
    return paths.display(posixpath.normpath(raw))


def _activity_problems(document: Mapping[str, Any]) -> Iterator[Problem]:
    """Faults between commands, metrics, statuses and the condition."""
    metrics, commands = document["metrics"], document["commands"]
    yield from usage.status_problems(metrics)
    files: set[str] = set()
    for position, command in enumerate(commands):
        for number, path in enumerate(command["files_read"]):
            clean = cleaned(path)
            raw = paths.raw(clean)
            where = f"/commands/{position}/files_read/{number}"
            if b"\0" in raw:
                yield Problem(where, "is no path")
            elif raw.startswith(b"/"):
                yield Problem(where, f"{literal(path)} is absolute; files are named relative to the repository's root")
            elif raw == b".." or raw.startswith(b"../"):
                yield Problem(where, f"{literal(path)} leaves the repository")
            files.add(clean)
    classes = [command["classification"].split("+") for command in commands]
    counted = (
        ("command_executions", len(commands), "the number of commands"),
        ("git_calls", sum("git" in names for names in classes), "the commands classified as git"),
        (
            "filesystem_search_calls",
            sum("filesystem_search" in names for names in classes),
            "the commands classified as filesystem_search",
        ),
        ("repository_files_named", len(files), "the distinct files that the commands name"),
    )
    for name, value, meaning in counted:
        declared = metrics.get(name)
        if declared is not None and declared != value:
            yield Problem("/metrics/" + name, f"must be {value}, {meaning}, not {declared}")
    tool_calls = metrics.get("tool_calls")
    if tool_calls is not None and tool_calls < len(commands):
        yield Problem(
            "/metrics/tool_calls", f"{tool_calls} is less than the {len(commands)} commands, which are tool calls"
        )
    yield from _fallback_problems(document, len(commands), len(files))


def _fallback_problems(document: Mapping[str, Any], commands: int, files: int) -> Iterator[Problem]:
    metrics = document["metrics"]
    totals = (commands, files, metrics.get("named_file_size_proxy_bytes"))
    for name, total in zip(_FALLBACKS, totals, strict=True):
        value = metrics.get(name)
        if value is None:
            continue
        if document["condition"] == "direct":
            yield Problem("/metrics/" + name, "a direct run has no supplied context to fall back from")
        elif total is not None and value > total:
            yield Problem("/metrics/" + name, f"{value} exceeds the run's total, {total}")


def _member(metadata: Mapping[str, Any], name: str) -> str:
    return literal(metadata[name]) if name in metadata else "absent"
