"""One document for every way to break a contract: what is changed, and the pointer its message must have.

The whole messages stand beside the documents in tests/golden/contracts/refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.contracts import documents
from tests.contracts.documents import Document

Change = Callable[[Document], Any]


class Refusal(NamedTuple):
    """A named fault: `change` breaks the document `base` of `documents.ALL` in one place."""

    base: str
    name: str
    pointer: str
    change: Change


def put(pointer: str, value: Any) -> Change:
    """Set the value at a pointer; its parent exists."""

    def change(document: Document) -> None:
        parent, last = _parent(document, pointer)
        parent[last] = value

    return change


def drop(pointer: str) -> Change:
    def change(document: Document) -> None:
        parent, last = _parent(document, pointer)
        del parent[last]

    return change


def both(*changes: Change) -> Change:
    def change(document: Document) -> None:
        for one in changes:
            one(document)

    return change


def remeasured(change: Change) -> Change:
    """A change to a task cue whose size and estimate are made right again."""
    return both(change, documents.measured)


def twice(pointer: str) -> Change:
    """Repeat the first item of an array at its end."""

    def change(document: Document) -> None:
        parent, last = _parent(document, pointer)
        parent[last].append(parent[last][0])

    return change


def swapped(pointer: str) -> Change:
    """Exchange the first two items of an array."""

    def change(document: Document) -> None:
        parent, last = _parent(document, pointer)
        items = parent[last]
        items[0], items[1] = items[1], items[0]

    return change


def _parent(document: Document, pointer: str) -> tuple[Any, Any]:
    *steps, last = pointer.split("/")[1:]
    value: Any = document
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value, int(last) if isinstance(value, list) else last


OTHER = documents.digest("something else")


def _observation(base: str) -> list[Refusal]:
    """What breaks an observation of either version."""
    cases: list[tuple[str, str, Change]] = [
        ("turn-out-of-order", "/usage_events/1/turn", put("/usage_events/1/turn", 3)),
        ("turns-swapped", "/usage_events/0/turn", swapped("/usage_events")),
        ("cached-over-input-in-an-event", "/usage_events/0/cached_input_tokens", both(
            put("/usage_events/0/cached_input_tokens", 1001), put("/metrics/cached_input_tokens", 1901))),
        ("input-is-not-the-sum", "/metrics/input_tokens", both(
            put("/metrics/input_tokens", 2201), put("/metrics/total_tokens", 2321))),
        ("cached-is-not-the-sum", "/metrics/cached_input_tokens", put("/metrics/cached_input_tokens", 899)),
        ("output-is-not-the-sum", "/metrics/output_tokens", both(
            put("/metrics/output_tokens", 121), put("/metrics/total_tokens", 2321))),
        ("reasoning-is-not-the-sum", "/metrics/reasoning_output_tokens", put("/metrics/reasoning_output_tokens", 0)),
        ("total-adds-the-cached-tokens-again", "/metrics/total_tokens", put("/metrics/total_tokens", 3220)),
        ("sum-beyond-the-largest-counter", "/usage_events", both(
            put("/usage_events/0/input_tokens", 2**53 - 1), put("/metrics/total_tokens", 2**53 - 1))),
        ("no-completed-turn", "/usage_events", put("/usage_events", [])),
        ("value-marked-not-observed", "/metrics/statuses/git_calls",
            put("/metrics/statuses/git_calls", "not_observed")),
        ("value-without-a-status", "/metrics/tool_calls", drop("/metrics/statuses/tool_calls")),
        ("status-without-a-value", "/metrics/statuses/git_calls", drop("/metrics/git_calls")),
        ("unknown-status", "/metrics/statuses/input_tokens", put("/metrics/statuses/input_tokens", "guessed")),
        ("token-status-missing", "/metrics/statuses", drop("/metrics/statuses/total_tokens")),
        ("command-count", "/metrics/command_executions", put("/metrics/command_executions", 2)),
        ("git-call-count", "/metrics/git_calls", put("/metrics/git_calls", 1)),
        ("search-call-count", "/metrics/filesystem_search_calls", put("/metrics/filesystem_search_calls", 2)),
        ("file-count-takes-two-spellings-for-two-files", "/metrics/repository_files_named",
            put("/metrics/repository_files_named", 3)),
        ("fewer-tool-calls-than-commands", "/metrics/tool_calls", put("/metrics/tool_calls", 2)),
        ("absolute-file", "/commands/1/files_read/0", put("/commands/1/files_read/0", "/etc/passwd")),
        ("file-outside-the-repository", "/commands/2/files_read/0",
            put("/commands/2/files_read/0", "src/../../README.md")),
        ("classification-in-another-order", "/commands/1/classification",
            put("/commands/1/classification", "filesystem_read+git")),
        ("more-fallback-commands-than-commands", "/metrics/fallback_repository_commands",
            put("/metrics/fallback_repository_commands", 4)),
        ("more-fallback-files-than-files", "/metrics/fallback_repository_files_named",
            put("/metrics/fallback_repository_files_named", 3)),
        ("more-fallback-bytes-than-bytes", "/metrics/fallback_named_file_size_proxy_bytes",
            put("/metrics/fallback_named_file_size_proxy_bytes", 4101)),
        ("fallback-without-context", "/metrics/fallback_repository_commands", put("/condition", "direct")),
        ("unknown-condition", "/condition", put("/condition", "control")),
        ("run-index-zero", "/run_index", put("/run_index", 0)),
        ("another-benchmark", "/metadata/benchmark_version", put("/metadata/benchmark_version", "repository-state-v1")),
        ("empty-model", "/metadata/model", put("/metadata/model", "")),
        ("answer-of-another-contract", "/final_response/schema_version",
            put("/final_response/schema_version", "repocue/benchmark-answer-1")),
        ("answer-missing", "", drop("/final_response")),
        ("negative-counter", "/usage_events/0/output_tokens", put("/usage_events/0/output_tokens", -50)),
        ("fractional-counter", "/metrics/input_tokens", put("/metrics/input_tokens", 2200.5)),
        ("counter-written-as-a-fraction", "/metrics/input_tokens", put("/metrics/input_tokens", 2200.0)),
        ("boolean-counter", "/metrics/tool_calls", put("/metrics/tool_calls", True)),
        ("negative-duration", "/metrics/execution_duration_ms", put("/metrics/execution_duration_ms", -0.5)),
        ("unknown-member", "/metrics/cost", put("/metrics/cost", 1)),
    ]  # fmt: skip
    return [Refusal(base, *case) for case in cases]


REFUSALS: list[Refusal] = [
    *_observation("evaluation-runner-3"),
    *_observation("evaluation-runner-4"),
    Refusal("evaluation-runner-3", "counter-absent", "/usage_events/1", drop("/usage_events/1/cached_input_tokens")),
    Refusal("evaluation-runner-3", "counter-null", "/usage_events/1/output_tokens",
            put("/usage_events/1/output_tokens", None)),
    Refusal("evaluation-runner-3", "total-absent", "/metrics", drop("/metrics/total_tokens")),
    Refusal("evaluation-runner-3", "member-of-version-4", "/metadata/service_tier",
            put("/metadata/service_tier", "fast")),
    Refusal("evaluation-runner-4", "partial-sum-as-total", "/metrics/cached_input_tokens",
            drop("/usage_events/1/cached_input_tokens")),
    Refusal("evaluation-runner-4", "null-turn-in-a-total", "/metrics/reasoning_output_tokens",
            put("/usage_events/0/reasoning_output_tokens", None)),
    Refusal("evaluation-runner-4", "known-aggregate-left-out", "/metrics", both(
        drop("/metrics/cached_input_tokens"), put("/metrics/statuses/cached_input_tokens", "not_observed"))),
    Refusal("evaluation-runner-4", "known-total-left-out", "/metrics", both(
        put("/metrics/total_tokens", None), put("/metrics/statuses/total_tokens", "not_observed"))),
    Refusal("evaluation-runner-4", "reasoning-over-output", "/usage_events/0/reasoning_output_tokens", both(
        put("/usage_events/0/reasoning_output_tokens", 51), put("/metrics/reasoning_output_tokens", 81))),
    Refusal("evaluation-runner-4", "cache-write-over-input", "/usage_events/0/cache_write_input_tokens",
            put("/usage_events/0/cache_write_input_tokens", 1001)),
    Refusal("evaluation-runner-4", "cache-write-without-its-turns", "/metrics/cache_write_input_tokens", both(
        put("/metrics/cache_write_input_tokens", 5), put("/metrics/statuses/cache_write_input_tokens", "observed"))),
    Refusal("evaluation-runner-4", "two-program-versions", "/metadata/codex_version",
            put("/metadata/codex_version", "0.0.1")),
    Refusal("evaluation-runner-4.unknown", "unknown-aggregate-not-marked", "/metrics/statuses/input_tokens",
            put("/metrics/statuses/input_tokens", "observed")),
    Refusal("evaluation-runner-4.unknown", "zero-for-unknown", "/metrics/output_tokens", both(
        put("/metrics/output_tokens", 0), put("/metrics/statuses/output_tokens", "observed"))),
    Refusal("evaluation-runner-4.unknown", "total-of-unknown-parts", "/metrics/total_tokens", both(
        put("/metrics/total_tokens", 1050), put("/metrics/statuses/total_tokens", "derived"))),
    # --- reports
    Refusal("evaluation-3", "runner-of-version-4", "/runner/schema_version",
            put("/runner/schema_version", "repocue/evaluation-runner-4")),
    Refusal("evaluation-3", "order", "/condition_order", put("/condition_order", 2)),
    Refusal("evaluation-3", "runner-of-another-condition", "/runner/condition", put("/runner/condition", "ranked")),
    Refusal("evaluation-3", "runner-of-another-run", "/runner/run_index", put("/runner/run_index", 2)),
    Refusal("evaluation-3", "runner-on-another-head", "/runner/metadata/repository_head",
            put("/runner/metadata/repository_head", "")),
    Refusal("evaluation-3", "runner-on-another-snapshot", "/runner/metadata/repocue_snapshot",
            put("/runner/metadata/repocue_snapshot", "snapshot-000001")),
    Refusal("evaluation-3", "runner-breaks-its-own-rules", "/runner/metrics/total_tokens",
            put("/runner/metrics/total_tokens", 0)),
    Refusal("evaluation-3", "fingerprint-missing", "/repository", drop("/repository/state_fingerprint")),
    Refusal("evaluation-3", "time-without-zone", "/generated_at", put("/generated_at", "2026-10-09T12:30:00")),
    Refusal("evaluation-3", "impossible-date", "/generated_at", put("/generated_at", "2026-02-30T12:30:00Z")),
    Refusal("evaluation-3", "digest-in-capitals", "/repository/repository_digest",
            put("/repository/repository_digest", "sha256:" + "A" * 64)),
    Refusal("evaluation-3", "baseline-is-no-op", "/baseline/kind", put("/baseline/kind", "no-op")),
    Refusal("evaluation-4.basic", "runner-of-version-3", "/runner/schema_version",
            put("/runner/schema_version", "repocue/evaluation-runner-3")),
    Refusal("evaluation-4.basic", "fixed-order-broken", "/condition_order", put("/condition_order", 2)),
    Refusal("evaluation-4.basic", "position-six", "/condition_order", put("/condition_order", 6)),
    Refusal("evaluation-4.basic", "cue-of-another-contract", "/cue/schema_version",
            put("/cue/schema_version", "repocue/cue-2")),
    Refusal("evaluation-4.basic", "cue-contract-absent", "/cue/schema_version", drop("/cue/schema_version")),
    Refusal("evaluation-4.basic", "cue-estimate", "/cue/estimated_tokens", put("/cue/estimated_tokens", 250)),
    Refusal("evaluation-4.basic", "cue-over-budget", "/cue/estimated_tokens", put("/cue/max_tokens", 250)),
    Refusal("evaluation-4.basic", "cue-empty", "/cue/bytes", both(
        put("/cue/bytes", 0), put("/cue/estimated_tokens", 0), put("/cue_delivery/stdout_bytes", 0))),
    Refusal("evaluation-4.basic", "oracle-without-oracle", "/cue/structural_candidate_count",
            put("/cue/structural_candidate_count", 3)),
    Refusal("evaluation-4.direct", "direct-with-a-cue", "/cue/bytes", both(
        put("/cue/bytes", 4), put("/cue/estimated_tokens", 1))),
    Refusal("evaluation-4.direct", "direct-with-a-cue-contract", "/cue/schema_version",
            put("/cue/schema_version", "repocue/1")),
    Refusal("evaluation-4.basic", "captures-missing", "/captures", put("/captures", None)),
    Refusal("evaluation-4.basic", "repository-modified", "/captures/post_run/state_fingerprint",
            put("/captures/post_run/state_fingerprint", OTHER)),
    Refusal("evaluation-4.basic", "ref-modified", "/captures/post_run/guard_digest",
            put("/captures/post_run/guard_digest", OTHER)),
    Refusal("evaluation-4.basic", "run-began-on-another-state", "/captures/pre_run/state_fingerprint", both(
        put("/captures/pre_run/state_fingerprint", OTHER), put("/captures/post_run/state_fingerprint", OTHER))),
    Refusal("evaluation-4.basic", "captures-backwards", "/captures/post_run/at",
            put("/captures/post_run/at", "2026-11-30T19:04:00.999Z")),
    Refusal("evaluation-4.dry", "captures-without-a-runner", "/captures",
            lambda d: d.update(captures=documents.report_4()["captures"])),
    Refusal("evaluation-4.basic", "delivery-missing", "/cue_delivery", put("/cue_delivery", None)),
    Refusal("evaluation-4.direct", "delivery-for-direct", "/cue_delivery",
            lambda d: d.update(cue_delivery=documents.report_4()["cue_delivery"] | {"stdout_bytes": 0})),
    Refusal("evaluation-4.basic", "delivery-of-another-size", "/cue_delivery/stdout_bytes",
            put("/cue_delivery/stdout_bytes", 1002)),
    Refusal("evaluation-4.basic", "delivery-backwards", "/cue_delivery/finished_at",
            put("/cue_delivery/finished_at", "2026-11-30T19:03:59.999Z")),
    Refusal("evaluation-4.basic", "cue-finished-after-the-capture", "/cue_delivery/finished_at",
            put("/cue_delivery/finished_at", "2026-11-30T19:04:01.001Z")),
    Refusal("evaluation-4.basic", "cue-command-failed", "/cue_delivery/exit_code", put("/cue_delivery/exit_code", 1)),
    Refusal("evaluation-4.basic", "time-with-microseconds", "/generated_at",
            put("/generated_at", "2026-11-30T19:05:07.123456Z")),
    Refusal("evaluation-4.basic", "time-in-another-zone", "/generated_at",
            put("/generated_at", "2026-11-30T19:05:07.123+01:00")),
    Refusal("evaluation-4.basic", "abbreviated-head", "/repository/head", put("/repository/head", "4b825dc")),
    Refusal("evaluation-4.basic", "version-3-member", "/repository/binary_diff_digest",
            put("/repository/binary_diff_digest", OTHER)),
    Refusal("evaluation-4.basic", "unknown-kind", "/kind", put("/kind", "m2-report")),
    Refusal("evaluation-4.basic", "kind-missing", "", drop("/kind")),
    Refusal("evaluation-4.m2-condition-set", "only-set-not-named", "/report_set", put("/report_set", None)),
    Refusal("evaluation-4.m2-condition-set", "one-run-twice", "/report_sets", both(
        twice("/report_sets"), put("/report_set", None))),
    # --- versions
    Refusal("evaluation-4.basic", "newer-version", "/schema_version", put("/schema_version", "repocue/evaluation-5")),
    Refusal("evaluation-3", "forgotten-version", "/schema_version", put("/schema_version", "repocue/evaluation-1")),
    Refusal("task-1", "unknown-contract", "/schema_version", put("/schema_version", "repocue/tasks-1")),
    Refusal("task-1", "foreign-contract", "/schema_version", put("/schema_version", "other/task-1")),
    Refusal("task-1", "version-missing", "", drop("/schema_version")),
    Refusal("task-1", "version-is-a-number", "/schema_version", put("/schema_version", 1)),
    # --- assessments
    Refusal("qualitative-assessment-2", "score-five", "/scores/purpose", put("/scores/purpose", 5)),
    Refusal("qualitative-assessment-2", "half-a-score", "/scores/purpose", put("/scores/purpose", 3.5)),
    Refusal("qualitative-assessment-2", "no-evidence", "/evidence", put("/evidence", [])),
    Refusal("qualitative-assessment-2", "empty-evidence", "/evidence/0", put("/evidence/0", "")),
    Refusal("qualitative-assessment-2", "date-null", "/assessed_at", put("/assessed_at", None)),
    Refusal("task-evaluation-1", "attempt-judged-twice", "/entries/1/attempt", twice("/entries")),
    Refusal("task-evaluation-1", "attempt-of-no-arm", "/entries/0/attempt",
            put("/entries/0/attempt", "task-eval-adder/3-task")),
    Refusal("cache-evaluation-1.assessment-bundle", "step-judged-twice", "/entries/1/step", twice("/entries")),
    # --- tasks
    Refusal("task-context-1", "item-twice", "/items/1/id", twice("/items")),
    Refusal("task-context-1", "source-twice", "/items/0/sources/2", twice("/items/0/sources")),
    Refusal("task-context-1", "no-source", "/items/0/sources", put("/items/0/sources", [])),
    Refusal("task-context-1", "lines-backwards", "/items/0/sources/0/lines", put("/items/0/sources/0/lines", [2, 1])),
    Refusal("task-context-1", "line-zero", "/items/0/sources/0/lines/0", put("/items/0/sources/0/lines", [0, 1])),
    Refusal("task-context-1", "three-lines", "/items/0/sources/0/lines", put("/items/0/sources/0/lines", [1, 2, 3])),
    Refusal("task-context-1", "absolute-path", "/items/0/sources/0/path", put("/items/0/sources/0/path", "/a.py")),
    Refusal("task-context-1", "path-leaves", "/items/0/sources/0/path", put("/items/0/sources/0/path", "../a.py")),
    Refusal("task-context-1", "path-not-as-git-shows-it", "/items/0/sources/0/path",
            put("/items/0/sources/0/path", '"a.py"')),
    Refusal("task-context-1", "two-line-summary", "/items/0/summary", put("/items/0/summary", "a\nb")),
    Refusal("task-context-1", "id-in-capitals", "/items/0/id", put("/items/0/id", "Adder")),
    Refusal("task-1", "empty-selector", "/selector", put("/selector/items", [])),
    Refusal("task-1", "declaration-outside", "/declaration", put("/declaration", "../task-context.json")),
    Refusal("task-1", "unknown-item-kind", "/selector/kinds/0", put("/selector/kinds", ["thing"])),
    Refusal("task-benchmark-1.discovery", "commands-for-a-discovery", "/verification",
            lambda d: d.update(verification=documents.task_benchmark("verification")["verification"])),
    Refusal("task-benchmark-1.verification", "no-commands-for-a-verification", "/verification",
            put("/verification", None)),
    Refusal("task-benchmark-1.verification", "command-twice", "/verification/commands/1/id",
            twice("/verification/commands")),
    Refusal("task-benchmark-1.verification", "output-of-a-mebibyte", "/verification/commands/0/expected_output_bytes",
            put("/verification/commands/0/expected_output_bytes", 2**20)),
    Refusal("task-benchmark-1.verification", "no-program", "/verification/commands/0/argv/0",
            put("/verification/commands/0/argv/0", "")),
    Refusal("task-benchmark-1.explanation", "no-rubric-for-an-explanation", "/rubric", put("/rubric", None)),
    Refusal("task-benchmark-1.discovery", "task-selects-nothing", "/task/selector", put("/task/selector/items", [])),
    Refusal("task-policy-1", "price-of-tomorrow", "/rates/date", put("/rates/date", "2026-12-01")),
    Refusal("task-policy-1", "impossible-day", "/rates/date", put("/rates/date", "2026-02-29")),
    Refusal("task-policy-1", "price-with-13-digits", "/rates/input", put("/rates/input", "1234567890123")),
    Refusal("task-policy-1", "price-with-a-sign", "/rates/input", put("/rates/input", "-1")),
    Refusal("task-policy-1", "price-with-an-exponent", "/rates/input", put("/rates/input", "1e2")),
    Refusal("task-policy-1", "price-as-a-number", "/rates/input", put("/rates/input", 50)),
    Refusal("task-answer-1", "item-twice", "/items/1/id", twice("/items")),
    Refusal("task-answer-1", "source-twice", "/claims/0/sources/1", twice("/claims/0/sources")),
    Refusal("task-answer-1", "command-twice", "/commands/1/id", twice("/commands")),
    Refusal("task-answer-1", "no-id", "/benchmark_id", put("/benchmark_id", "Adder discovery")),
    Refusal("task-answer-1", "exit-code-256", "/commands/0/exit_code", put("/commands/0/exit_code", 256)),
    Refusal("task-answer-1", "empty-claim", "/claims/0/text", put("/claims/0/text", " ")),
    Refusal("task-answer-1", "empty-uncertainty", "/uncertainties/0", put("/uncertainties/0", "")),
    Refusal("task-answer-1", "empty-source", "/items/0/sources/0", put("/items/0/sources/0", "")),
    Refusal("cache-answer-1", "commands", "/commands", put("/commands", [])),
    Refusal("task-cue-1", "estimate", "/budget/estimated_tokens", put("/budget/estimated_tokens", 1)),
    Refusal("task-cue-1", "over-budget", "/budget/estimated_tokens", remeasured(put("/budget/max_tokens", 100))),
    Refusal("task-cue-1", "block-altered", "/blocks/0/sha256", remeasured(put("/blocks/0/text", "# project\n"))),
    Refusal("task-cue-1", "block-cut", "/blocks/1/text", remeasured(put("/blocks/1/text", "def add(a, b):\n"))),
    Refusal("task-cue-1", "blocks-unsorted", "/blocks/1", swapped("/blocks")),
    Refusal("task-cue-1", "block-of-another-name", "/blocks/0/id", remeasured(both(
        put("/blocks/0/id", "README"), put("/sources/0/block", "README")))),
    Refusal("task-cue-1", "sources-unsorted", "/sources", swapped("/sources")),
    Refusal("task-cue-1", "source-in-no-block", "/sources/1/block", remeasured(put("/sources/1/block", "src/b.py"))),
    Refusal("task-cue-1", "source-outside-its-block", "/sources/2/block", remeasured(both(
        put("/sources/2/id", "src/a.py#L2-L3"), put("/items/0/sources/2", "src/a.py#L2-L3")))),
    Refusal("task-cue-1", "source-altered", "/sources/2/sha256", put("/sources/2/sha256", OTHER)),
    Refusal("task-cue-1", "source-of-no-item", "/sources/2", remeasured(drop("/items/0/sources/2"))),
    Refusal("task-cue-1", "item-without-its-source", "/items/0/sources/2", remeasured(drop("/sources/2"))),
    Refusal("task-runner-1", "completed-count", "/metrics/command_executions", put("/metrics/command_executions", 2)),
    Refusal("task-runner-1", "exit-of-an-unfinished-command", "/commands/1/exit_code",
            put("/commands/1/exit_code", 0)),
    Refusal("task-runner-1", "digest-without-a-size", "/commands/0/output_sha256",
            both(put("/commands/0/output_bytes", None), put("/commands/0/output_complete", False))),
    Refusal("task-runner-1", "cut-output-called-complete", "/commands/0/output_complete",
            put("/commands/0/output_bytes", 2**20)),
    Refusal("task-runner-1", "unfinished-output-called-complete", "/commands/1/output_complete", both(
        put("/commands/1/output_complete", True), put("/commands/1/output_bytes", 0),
        put("/commands/1/output_sha256", documents.digest("")))),
    Refusal("task-runner-1", "answer-breaks-its-own-rules", "/final_response/items/1/id",
            twice("/final_response/items")),
    # --- cache
    Refusal("cache-benchmark-1", "verification-task", "/task/kind", put("/task/kind", "verification")),
    Refusal("cache-benchmark-1", "unknown-model", "/model", put("/model", "claude-sonnet-9")),
    Refusal("cache-benchmark-1", "another-api-version", "/api_version", put("/api_version", "2026-10-21")),
    Refusal("cache-benchmark-1", "step-twice", "/steps/4/id", put("/steps/4/id", "baseline-a")),
    Refusal("cache-benchmark-1", "prompt-twice", "/prompts/2/id", twice("/prompts")),
    Refusal("cache-benchmark-1", "prompt-missing", "/steps/4/prompt", put("/steps/4/prompt", "c")),
    Refusal("cache-benchmark-1", "probe-in-a-cycle", "/steps/4/cycle", put("/steps/4/cycle", 1)),
    Refusal("cache-benchmark-1", "cycle-null-in-a-pair", "/steps/0/cycle", put("/steps/0/cycle", None)),
    Refusal("cache-benchmark-1", "cycles-with-a-gap", "/steps", both(
        *[put(f"/steps/{n}/cycle", 2) for n in range(4)])),
    Refusal("cache-benchmark-1", "arms-in-another-order", "/steps", both(
        put("/steps/2/prompt", "b"), put("/steps/3/prompt", "a"))),
    Refusal("cache-benchmark-1", "rates-of-another-model", "/rates/model", put("/rates/model", "claude-opus-4-7")),
    Refusal("cache-benchmark-1", "price-of-tomorrow", "/rates/date", put("/rates/date", "2026-12-01")),
    Refusal("cache-benchmark-1", "too-many-output-tokens", "/max_output_tokens", put("/max_output_tokens", 32001)),
    Refusal("cache-benchmark-1", "too-much-context", "/max_context_tokens", put("/max_context_tokens", 2097153)),
    Refusal("cache-benchmark-1", "33-steps", "/steps",
            lambda d: d["steps"].extend({"id": f"p{n}", "arm": "probe", "cycle": None, "prompt": "a"}
                                        for n in range(28))),
    Refusal("cache-request-1", "estimate", "/estimated_tokens", put("/estimated_tokens", 1000)),
    Refusal("cache-request-1", "cycle-null", "/cycle", put("/cycle", None)),
    Refusal("cache-observation-1", "http-before-the-attempt", "/http_started_at", both(
        put("/http_started_at", "2026-11-30T19:03:59.999Z"), put("/duration_ms", 8001))),
    Refusal("cache-observation-1", "http-after-the-attempt", "/http_finished_at", both(
        put("/http_finished_at", "2026-11-30T19:04:09.001Z"), put("/duration_ms", 7751))),
    Refusal("cache-observation-1", "http-backwards", "/http_finished_at", both(
        put("/http_finished_at", "2026-11-30T19:04:01.249Z"), put("/duration_ms", 0))),
    Refusal("cache-observation-1", "attempt-backwards", "/finished_at",
            put("/finished_at", "2026-11-30T19:03:00.000Z")),
    Refusal("cache-observation-1", "duration", "/duration_ms", put("/duration_ms", 6751)),
    Refusal("cache-observation-1", "duration-alone-null", "/duration_ms", put("/duration_ms", None)),
    Refusal("cache-observation-1", "status-without-a-request", "/status", both(
        *[put(f"/{name}", None) for name in ("http_started_at", "http_finished_at", "duration_ms", "response",
                                             "request_id")],
        put("/request_bytes_written", 0), put("/request_complete", False))),
    Refusal("cache-observation-1", "bytes-without-a-request", "/request_bytes_written", both(
        *[put(f"/{name}", None) for name in ("http_started_at", "http_finished_at", "duration_ms", "response",
                                             "request_id", "status")])),
    Refusal("cache-observation-1", "body-without-a-status", "/response", put("/status", None)),
    Refusal("cache-observation-1", "withheld-body-in-a-file", "/response/file", put("/response/withheld", True)),
    Refusal("error-1", "code-with-spaces", "/code", put("/code", "cache busy")),
]  # fmt: skip
