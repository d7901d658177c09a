"""One valid document of every contract, written by hand. Tests change copies of these.

The numbers of the observation are worked out here: three commands, of which two are git, one searches and two read;
they name README.md twice and src/a.py once; two turns use 1000 + 1200 input, 0 + 900 cached input, 50 + 70 output and
20 + 30 reasoning tokens, so 2200, 900, 120, 50 and 2320 in all.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from tests.contracts import task_documents

Document = dict[str, Any]

HEAD = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
SNAPSHOT = "snapshot-000002"
ROOT = "/home/ada/project"


def digest(text: str) -> str:
    return "sha256:" + sha256(text.encode()).hexdigest()


def benchmark_answer() -> Document:
    return {
        "schema_version": "repocue/benchmark-answer-2",
        "project_purpose": "Adds numbers.",
        "git": {"branch": "main", "head": HEAD, "dirty": True, "tracked_changes": ["src/a.py"], "untracked": []},
        "primary_entry_points": [{"path": "src/a.py", "responsibility": "The command line."}],
        "major_components": [{"name": "adder", "responsibilities": ["adding"], "paths": ["src"]}],
        "important_documentation": [{"path": "README.md", "purpose": "First steps."}],
        "recent_relevant_changes": ["Carries are added."],
        "project_symbols": [
            {"name": "add", "signature": "add(a, b)", "owner": "src/a.py", "relevance": "It is what the project does."}
        ],
        "uncertainties": [],
    }


TOKEN_METRICS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")


def observation(version: int, condition: str = "basic") -> Document:
    assisted = condition != "direct"
    metrics: Document = {
        "input_tokens": 2200,
        "cached_input_tokens": 900,
        "output_tokens": 120,
        "reasoning_output_tokens": 50,
        "total_tokens": 2320,
        "execution_duration_ms": 61250.5,
        "command_executions": 3,
        "repository_files_named": 2,
        "named_file_size_proxy_bytes": 4100,
        "git_calls": 2,
        "filesystem_search_calls": 1,
        "tool_calls": 4,
    }
    statuses = dict.fromkeys(metrics, "observed")
    for name in ("repository_files_named", "named_file_size_proxy_bytes", "git_calls", "filesystem_search_calls"):
        statuses[name] = "derived"
    if assisted:
        metrics |= {
            "fallback_repository_commands": 3,
            "fallback_repository_files_named": 2,
            "fallback_named_file_size_proxy_bytes": 4100,
        }
        statuses |= dict.fromkeys(list(metrics)[-3:], "derived")
    metrics["statuses"] = statuses
    return {
        "schema_version": f"repocue/evaluation-runner-{version}",
        "condition": condition,
        "run_index": 1,
        "metadata": {
            "adapter": "scripted",
            "adapter_version": "3",
            "model": "no-model",
            "reasoning_effort": "none",
            "sandbox": "read-only",
            ("codex_version" if version == 3 else "cli_version"): "0.0.1",
            "benchmark_version": "repository-state-v2",
            "output_schema_version": "repocue/benchmark-answer-2",
            "repository_head": HEAD,
            "repocue_snapshot": SNAPSHOT,
        },
        "metrics": metrics,
        "usage_events": [
            {
                "turn": 1,
                "input_tokens": 1000,
                "cached_input_tokens": 0,
                "output_tokens": 50,
                "reasoning_output_tokens": 20,
            },
            {
                "turn": 2,
                "input_tokens": 1200,
                "cached_input_tokens": 900,
                "output_tokens": 70,
                "reasoning_output_tokens": 30,
            },
        ],
        "tokenizer_counts": [{"tokenizer": "words", "tokens": 17}],
        "commands": [
            {"command": "git status --short", "classification": "git", "files_read": []},
            {
                "command": "git grep -n add | head && cat README.md",
                "classification": "git+filesystem_search+filesystem_read",
                "files_read": ["README.md"],
            },
            {
                "command": "cat ./README.md src/a.py",
                "classification": "filesystem_read",
                "files_read": ["./README.md", "src/a.py"],
            },
        ],
        "final_response": benchmark_answer(),
        "findings": [{"category": "usage", "severity": "info", "message": "Two turns.", "evidence": "turn.completed"}],
        "limitations": ["Hidden context is not observed."],
    }


def _update(kind: str) -> Document:
    return {
        "kind": kind,
        "wall_duration_ms": 81.25,
        "scan_duration_ms": 40,
        "files_scanned": 12,
        "bytes_scanned": 0,
        "git_commands": 3,
        "changed": kind == "full",
        "database_size_bytes": 40960,
        "materialized_file_rows": 12 if kind == "full" else 0,
    }


def _cue(condition: str) -> Document:
    if condition == "direct":
        return {"bytes": 0, "estimated_tokens": 0, "max_tokens": 500, "wall_duration_ms": 0}
    cue: Document = {
        "schema_version": "repocue/1" if condition == "basic" else "repocue/cue-2",
        "bytes": 1001,
        "estimated_tokens": 251,
        "max_tokens": 500,
        "wall_duration_ms": 1.5,
    }
    if condition == "structural-oracle":
        cue |= {"structural_analysis_duration_ms": 12.5, "structural_candidate_count": 40}
    return cue


CONDITIONS = ("direct", "placebo", "basic", "ranked", "structural-oracle")


def report_3(condition: str = "basic", *, runner: bool = True) -> Document:
    digests = {name + "_digest": digest(name) for name in
               ("repocue_status", "repository", "working_tree", "porcelain_status", "binary_diff")}  # fmt: skip
    fingerprint = digest("\0".join(digests.values()))
    report: Document = {
        "schema_version": "repocue/evaluation-3",
        "kind": "m2-condition",
        "generated_at": "2026-10-09T12:30:00.123456789Z",
        "maintenance_id": "maintenance-" + digest("\0".join([ROOT, fingerprint, SNAPSHOT]))[7:31],
        "repocue_snapshot": SNAPSHOT,
        "condition": condition,
        "condition_order": CONDITIONS.index(condition) + 1,
        "run_index": 1,
        "benchmark_version": "repository-state-v2",
        "output_schema_version": "repocue/benchmark-answer-2",
        "repository": {
            "supplied_path": ".",
            "resolved_root": ROOT,
            "id": "repo-1",
            "name": "project",
            "branch": "main",
            "head": HEAD,
            "dirty": True,
            **digests,
            "state_fingerprint": fingerprint,
            "tracked_files": 12,
            "tracked_bytes": 4100,
        },
        "baseline": _update("full"),
        "update": _update("no-op"),
        "cue": _cue(condition),
        "limitations": ["Hidden context is not observed."],
    }
    if runner:
        report["runner"] = observation(3, condition)
    return report


def _capture(at: str) -> Document:
    return {"at": at, "state_fingerprint": digest("state"), "guard_digest": digest("guard")}


def report_4(condition: str = "basic", *, runner: bool = True) -> Document:
    report: Document = {
        "schema_version": "repocue/evaluation-4",
        "kind": "m2-condition",
        "generated_at": "2026-11-30T19:05:07.123Z",
        "maintenance_id": "maintenance-0123456789abcdef01234567",
        "repocue_snapshot": SNAPSHOT,
        "condition": condition,
        "condition_order": CONDITIONS.index(condition) + 1,
        "order_policy": "fixed",
        "run_index": 1,
        "benchmark_version": "repository-state-v2",
        "output_schema_version": "repocue/benchmark-answer-2",
        "repository": {
            "supplied_path": ".",
            "resolved_root": ROOT,
            "id": "repo-0123456789abcdef01234567",
            "name": "project",
            "branch": "main",
            "head": HEAD,
            "dirty": True,
            "status_digest": digest("status"),
            "repository_digest": digest("repository"),
            "untracked_content_digest": digest("untracked"),
            "state_fingerprint": digest("state"),
            "tracked_files": 12,
            "tracked_bytes": 4100,
        },
        "baseline": _update("full"),
        "update": _update("no-op"),
        "cue": _cue(condition),
        "overhead": {"setup_ms": 510.25, "captures_ms": 80},
        "captures": None,
        "cue_delivery": None,
        "limitations": ["Ignored files are not covered."],
    }
    if condition == "basic":
        report["cue_delivery"] = {
            "executable": {
                "path": "/usr/local/bin/repocue",
                "sha256": digest("program"),
                "version": "0.1.0",
                "package_sha256": digest("package"),
            },
            "argv": ["/usr/local/bin/repocue", "-C", ROOT, "cue", "--max-tokens", "500"],
            "cache_state": "current",
            "hint_state": "no-op-refreshed",
            "started_at": "2026-11-30T19:04:00.000Z",
            "finished_at": "2026-11-30T19:04:00.081Z",
            "duration_ms": 80.953,
            "exit_code": 0,
            "stdout_bytes": 1001,
            "stdout_sha256": digest("cue"),
            "trace2": {
                "file": "project_basic_no-model_run-01.trace2.jsonl",
                "sha256": digest("trace"),
                "git_processes": 3,
            },
        }
    if runner:
        report["runner"] = observation(4, condition)
        report["captures"] = {
            "pre_run": _capture("2026-11-30T19:04:01.000Z"),
            "post_run": _capture("2026-11-30T19:05:03.000Z"),
        }
    return report


def condition_set() -> Document:
    path = "/home/ada/out/project_no-runner_run-01_maintenance-0123456789abcdef01234567"
    return {
        "schema_version": "repocue/evaluation-4",
        "kind": "m2-condition-set",
        "report_sets": [{"run_index": 1, "path": path, "status": "published"}],
        "report_set": path,
    }


def qualitative_assessment() -> Document:
    return {
        "schema_version": "repocue/qualitative-assessment-2",
        "assessor": "Grace",
        "assessed_at": "2026-11-30T20:00:00.000Z",
        "response_id": digest("response"),
        "condition": "basic",
        "repository_head": HEAD,
        "state_fingerprint": digest("state"),
        "run_index": 1,
        "scores": {
            "purpose": 4,
            "architecture": 3,
            "documentation": 4,
            "recent_changes": 2,
            "structural_completeness": 0,
            "uncertainty_handling": 1,
        },
        "evidence": ["It names the adder."],
    }


def error() -> Document:
    return {
        "schema_version": "repocue/error-1",
        "code": "cache.not-initialized",
        "message": "no state is kept for this repository yet",
        "hint": None,
    }


def schema_list() -> Document:
    return {
        "schema_version": "repocue/schema-1",
        "kind": "list",
        "contracts": [{"name": "repocue/error-1", "title": "An error", "kinds": [], "use": "read-write"}],
    }


def schema_validation() -> Document:
    return {
        "schema_version": "repocue/schema-1",
        "kind": "validation",
        "file": "a.json",
        "contract": "repocue/task-1",
        "document_kind": None,
        "valid": False,
        "problems": [{"pointer": "/id", "message": "must not be empty"}],
    }


def locate_cue() -> Document:
    return {
        "schema_version": "repocue/locate-1",
        "paths": ["src/a.py", {"path": "src/b.py", "state": "untracked"}],
        "evidence": [
            {
                "path": "src/a.py",
                "words": ["add", "carry"],
                "commits": [HEAD[:8]],
                "recent_commits": 1,
                "definitions": [{"name": "add", "lines": [3, 9]}],
            }
        ],
        "index": {"source": "index", "history": "complete", "skipped": {"binary": 2}},
        "query": digest("How are carries added?")[7:15],
        "repository": "project",
        "snapshot": SNAPSHOT,
        "basis": HEAD[:8] + "+dirty",
        "freshness": "dirty-but-indexed",
        "budget": [250, 141],
        "warnings": [{"code": "changes-not-read", "count": 2}],
    }


def task_context() -> Document:
    return {
        "schema_version": "repocue/task-context-1",
        "id": "project",
        "items": [
            {
                "id": "adder",
                "kind": "component",
                "summary": "Adds two numbers.",
                "tags": ["core"],
                "sources": [
                    {"path": "src/a.py", "lines": [1, 2], "sha256": digest("def add(a, b):\n    return a + b\n")},
                    {"path": "README.md", "lines": None, "sha256": digest("# Project\n")},
                ],
            }
        ],
    }


def task(kind: str = "discovery") -> Document:
    return {
        "schema_version": "repocue/task-1",
        "id": "find-the-adder",
        "kind": kind,
        "question": "Where are numbers added?",
        "declaration": ".repocue/task-context.json",
        "selector": {"items": ["adder"], "tags": [], "kinds": [], "paths": []},
    }


def task_benchmark(kind: str = "discovery") -> Document:
    command = {
        "id": "unit-tests",
        "argv": ["python3", "-m", "unittest"],
        "expected_exit": 0,
        "expected_output_sha256": digest("OK\n"),
        "expected_output_bytes": 3,
    }
    return {
        "schema_version": "repocue/task-benchmark-1",
        "id": "adder-" + kind,
        "task": task(kind),
        "overview": {"view": "overview", "max_tokens": 500},
        "task_context": {"max_tokens": 4000},
        "sandbox": "read-only",
        "timeout_seconds": 900,
        "repeats": 3,
        "verification": {"commands": [command]} if kind == "verification" else None,
        "rubric": "Does it name the carry?" if kind == "explanation" else None,
    }


def task_policy() -> Document:
    return {
        "schema_version": "repocue/task-policy-1",
        "model": "no-model",
        "reasoning_effort": "none",
        "speed": "standard",
        "cli_version": "0.0.1",
        "account": "team",
        "rates": {
            "record_id": "prices-2026-10",
            "date": "2026-10-09",
            "account": "team",
            "model": "no-model",
            "speed": "standard",
            "unit": "credits_per_million_tokens",
            "input": "50",
            "cached_input": "2.5",
            "output": "0.00000000001",
        },
        "assessment_policy": "Two people read each explanation.",
        "spending_conditions": "One pair, then stop.",
    }


def task_answer() -> Document:
    return {
        "schema_version": "repocue/task-answer-1",
        "benchmark_id": "adder-discovery",
        "items": [{"id": "adder", "sources": ["README.md", "src/a.py#L1-L2"]}],
        "claims": [{"text": "It adds.", "sources": ["src/a.py#L1-L2"]}],
        "commands": [{"id": "unit-tests", "exit_code": 0}],
        "uncertainties": ["The carry."],
    }


def task_cue() -> Document:
    code, readme = "def add(a, b):\n    return a + b\n", "# Project\n"
    cue: Document = {
        "schema_version": "repocue/task-cue-1",
        "kind": "task",
        "declaration": {
            "path": ".repocue/task-context.json",
            "contract": "repocue/task-context-1",
            "id": "project",
            "sha256": digest("declaration"),
        },
        "items": [
            {
                "id": "adder",
                "kind": "component",
                "summary": "Adds two numbers.",
                "tags": ["core"],
                "sources": ["README.md", "src/a.py#L1-L2", "src/a.py#L2-L2"],
            }
        ],
        "blocks": [
            {
                "id": "README.md",
                "path": "README.md",
                "first_line": 1,
                "last_line": 1,
                "sha256": digest(readme),
                "text": readme,
            },
            {
                "id": "src/a.py#L1-L2",
                "path": "src/a.py",
                "first_line": 1,
                "last_line": 2,
                "sha256": digest(code),
                "text": code,
            },
        ],
        "sources": [
            {"id": "README.md", "block": "README.md", "sha256": digest(readme)},
            {"id": "src/a.py#L1-L2", "block": "src/a.py#L1-L2", "sha256": digest(code)},
            {"id": "src/a.py#L2-L2", "block": "src/a.py#L1-L2", "sha256": digest("    return a + b\n")},
        ],
        "task": {"id": "find-the-adder", "kind": "discovery", "question": "Where are numbers added?"},
        "repository": {
            "id": "repo-0123456789abcdef01234567",
            "name": "project",
            "branch": "main",
            "head": HEAD,
            "dirty": False,
        },
        "snapshot": SNAPSHOT,
        "basis": {
            "status_digest": digest("status"),
            "repository_digest": digest("repository"),
            "observed_at": "2026-11-30T19:04:00.000Z",
        },
        "freshness": "current",
        "budget": {"max_tokens": 4000, "estimated_tokens": 0},
        "warnings": [],
    }
    return measured(cue)


def measured(cue: Document) -> Document:
    """`cue` with its own estimate: three digits here, so the size is that with 0 and two bytes more."""
    cue["budget"]["estimated_tokens"] = 0
    size = len(text_of(cue)) + 2
    cue["budget"]["estimated_tokens"] = -(-size // 4)
    assert 100 <= cue["budget"]["estimated_tokens"] <= 999
    return cue


def text_of(document: Any) -> bytes:
    """Compact JSON text plus LF, by Python's own encoder."""
    import json

    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def task_observation() -> Document:
    base = observation(4, "direct")
    metrics = {name: base["metrics"][name] for name in TOKEN_METRICS}
    metrics |= {"execution_duration_ms": 61250.5, "command_executions": 1, "tool_calls": 1}
    metrics["statuses"] = dict.fromkeys(metrics, "observed")
    return {
        "schema_version": "repocue/task-runner-1",
        "arm": "task",
        "repeat": 1,
        "metadata": {
            "adapter": "scripted",
            "adapter_version": "1",
            "cli_version": "0.0.1",
            "model": "no-model",
            "reasoning_effort": "none",
            "speed": "standard",
            "sandbox": "read-only",
            "stream_format": "none",
            "head": HEAD,
            "snapshot": SNAPSHOT,
        },
        "usage_events": base["usage_events"],
        "metrics": metrics,
        "commands": [
            {
                "id": "item_2",
                "command_id": "unit-tests",
                "text": "bash -lc 'python3 -m unittest'",
                "argv": ["python3", "-m", "unittest"],
                "completed": True,
                "exit_code": 0,
                "output_sha256": digest("OK\n"),
                "output_bytes": 3,
                "output_complete": True,
            },
            {
                "id": None,
                "command_id": None,
                "text": "sleep 100 | cat",
                "argv": None,
                "completed": False,
                "exit_code": None,
                "output_sha256": None,
                "output_bytes": None,
                "output_complete": False,
            },
        ],
        "final_response": task_answer(),
        "findings": [],
        "limitations": [],
    }


def _bundle(contract: str, subject: str, subject_value: str, request: str) -> Document:
    return {
        "schema_version": contract,
        "kind": "assessment-bundle",
        "assessor": "Grace",
        "assessed_at": None,
        "entries": [
            {
                subject: subject_value,
                "benchmark_sha256": digest("benchmark"),
                "rubric_sha256": digest("rubric"),
                request: digest("request"),
                "response_sha256": digest("response"),
                "answer_sha256": digest("answer"),
                "source_ids": ["README.md"],
                "state_fingerprint": digest("state"),
                "correctness": "correct",
                "compliance": "compliant",
                "evidence": ["Names the carry."],
            }
        ],
    }


def task_assessments() -> Document:
    attempt = "task-eval-adder-explanation-overview-first-r01-0123456789ab/2-task"
    return _bundle("repocue/task-evaluation-1", "attempt", attempt, "prompt_sha256")


def cache_assessments() -> Document:
    return _bundle("repocue/cache-evaluation-1", "step", "cache-a", "request_sha256")


def cache_benchmark() -> Document:
    return {
        "schema_version": "repocue/cache-benchmark-1",
        "id": "adder-cache",
        "task": task(),
        "model": "claude-sonnet-5-5",
        "api_version": "2023-06-01",
        "ttl": "5m",
        "system": "Answer from the sources.",
        "max_output_tokens": 2000,
        "max_context_tokens": 20000,
        "prompts": [{"id": "a", "text": "Where?"}, {"id": "b", "text": "Why there?"}],
        "steps": [
            {"id": "baseline-a", "arm": "baseline", "cycle": 1, "prompt": "a"},
            {"id": "baseline-b", "arm": "baseline", "cycle": 1, "prompt": "b"},
            {"id": "cache-a", "arm": "cache", "cycle": 1, "prompt": "a"},
            {"id": "cache-b", "arm": "cache", "cycle": 1, "prompt": "b"},
            {"id": "late", "arm": "probe", "cycle": None, "prompt": "a"},
        ],
        "required_pairs": 1,
        "rates": {
            "record_id": "prices-2026-11",
            "date": "2026-11-01",
            "model": "claude-sonnet-5-5",
            "api_version": "2023-06-01",
            "unit": "usd_per_million_tokens",
            "input": "2",
            "cache_write_5m": "2.50",
            "cache_write_1h": "4",
            "cache_read": "0.10",
            "output": "10",
        },
        "rubric": None,
    }


def cache_request() -> Document:
    return {
        "schema_version": "repocue/cache-request-1",
        "step": "cache-a",
        "arm": "cache",
        "cycle": 1,
        "prompt": "a",
        "body_sha256": digest("body"),
        "body_bytes": 4001,
        "estimated_tokens": 1001,
        "reusable_identity": digest("identity"),
    }


def _basis() -> Document:
    return {
        "status_digest": digest("status"),
        "repository_digest": digest("repository"),
        "state_fingerprint": digest("state"),
        "observed_at": "2026-11-30T19:04:00.000Z",
    }


def cache_observation() -> Document:
    return {
        "schema_version": "repocue/cache-observation-1",
        "step": "cache-a",
        "started_at": "2026-11-30T19:04:00.000Z",
        "finished_at": "2026-11-30T19:04:09.000Z",
        "http_started_at": "2026-11-30T19:04:01.250Z",
        "http_finished_at": "2026-11-30T19:04:08.000Z",
        "duration_ms": 6750,
        "request_bytes_written": 4321,
        "request_complete": True,
        "status": 200,
        "request_id": "req_1",
        "response": {"file": "response.json", "bytes": 900, "sha256": digest("response"), "withheld": False},
        "basis_before": _basis(),
        "basis_after": _basis(),
        "outcome": "complete",
        "reason": None,
    }


def cache_answer() -> Document:
    answer = task_answer() | {"schema_version": "repocue/cache-answer-1"}
    del answer["commands"]
    return answer


def cache_summary() -> Document:
    usage = {
        "input_tokens": 30,
        "cache_creation_input_tokens": 1000,
        "ephemeral_5m_input_tokens": 1000,
        "ephemeral_1h_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 100,
        "thinking_tokens": None,
    }
    return {
        "schema_version": "repocue/cache-evaluation-1",
        "kind": "summary",
        "benchmark": {
            "id": "adder-cache",
            "sha256": digest("benchmark"),
            "model": "claude-sonnet-5-5",
            "api_version": "2023-06-01",
            "ttl": "5m",
            "required_pairs": 1,
            "rates_record": "list-2026-11",
        },
        "steps": [
            {
                "id": "cache-a",
                "arm": "cache",
                "cycle": 1,
                "status": "complete",
                "usage": usage,
                "usd": "0.00356",
                "last_access": {"step": "baseline-a", "http_started_at": "2026-11-30T19:03:00.000Z", "gap_ms": 61250},
                "duration_ms": 2750,
                "reasons": [],
                "binding": {
                    "benchmark_sha256": digest("benchmark"),
                    "rubric_sha256": None,
                    "request_sha256": digest("request"),
                    "response_sha256": digest("response"),
                    "answer_sha256": digest("answer"),
                    "source_ids": ["README.md"],
                    "state_fingerprint": digest("state"),
                },
            },
            {
                "id": "late",
                "arm": "probe",
                "cycle": None,
                "status": "not-attempted",
                "usage": dict.fromkeys(usage),
                "usd": None,
                "last_access": None,
                "duration_ms": None,
                "reasons": ["It was not run."],
                "binding": None,
            },
        ],
        "pairs": [
            {
                "cycle": 1,
                "complete": False,
                "baseline_usd": None,
                "cache_usd": "0.00356",
                "difference_usd": "-0.001",
                "initial_request_usd": "0.00356",
                "subsequent_requests_usd": None,
                "observed_reuse_count": 0,
                "quality": {"delivery": True, "correctness": None, "compliance": None},
            }
        ],
        "inventory": {"known_usd": "0.00356", "complete_usd": None},
        "verdict": {"status": "not-established", "reasons": ["No pair is complete."]},
        "not_observed": ["account billing"],
        "limitations": ["Estimates are not invoices."],
    }


def manifest() -> Document:
    return {
        "schema_version": "repocue/manifest-1",
        "files": [
            {"path": "benchmark.json", "bytes": 1200, "sha256": digest("benchmark")},
            {"path": "requests/cache-a.json", "bytes": 4000, "sha256": digest("request")},
        ],
        "self_sha256": digest("manifest"),
    }


def cache_journal() -> Document:
    return {
        "schema_version": "repocue/cache-journal-1",
        "step": "cache-a",
        "arm": "cache",
        "cycle": 1,
        "request_sha256": digest("request"),
        "request_bytes": 4000,
        "reusable_identity": digest("identity"),
        "endpoint": "https://127.0.0.1:8443/v1/messages",
        "loopback": True,
        "started_at": "2026-11-30T19:04:01.000Z",
        "repocue_version": "0.1.0",
        "self_sha256": digest("journal"),
    }


def cache_preparation() -> Document:
    process = {
        "argv": ["repocue", "cue", "--view", "task", "--task-file", "<benchmark>"],
        "started_at": "2026-11-30T19:00:01.000Z",
        "duration_ms": 96.25,
        "exit_code": 0,
        "stdout_bytes": 2400,
        "stdout_sha256": digest("cue"),
        "estimated_tokens": 600,
    }
    return {
        "schema_version": "repocue/cache-preparation-1",
        "kind": "record",
        "prepared_at": "2026-11-30T19:00:02.000Z",
        "repocue_version": "0.1.0",
        "repository": {"id": "repo-0123456789abcdef01234567", "name": "project", "root": ROOT},
        "basis": {
            "status_digest": digest("status"),
            "repository_digest": digest("repository"),
            "state_fingerprint": digest("state"),
            "observed_at": "2026-11-30T19:00:01.500Z",
        },
        "snapshot": SNAPSHOT,
        "benchmark_sha256": digest("benchmark"),
        "answer_schema_sha256": digest("schema"),
        "cue_sha256": digest("cue"),
        "reusable_identity": digest("identity"),
        "processes": {"refresh": process, "cue": process},
    }


def cache_prepared() -> Document:
    return {
        "schema_version": "repocue/cache-preparation-1",
        "kind": "prepared",
        "prepared_directory": "/home/ada/evidence/cache-eval-adder-cache-0123456789ab",
        "steps": [
            {
                "id": "cache-a",
                "arm": "cache",
                "request_sha256": digest("request"),
                "request_bytes": 4000,
                "reusable_identity": digest("identity"),
            }
        ],
        "warnings": ["rates-missing: without prices no cost and no verdict can be computed"],
    }


ALL: dict[str, Callable[[], Document]] = {
    "locate-1": locate_cue,
    "benchmark-answer-2": benchmark_answer,
    "cache-answer-1": cache_answer,
    "cache-benchmark-1": cache_benchmark,
    "cache-evaluation-1.assessment-bundle": cache_assessments,
    "cache-evaluation-1.summary": cache_summary,
    "cache-journal-1": cache_journal,
    "cache-observation-1": cache_observation,
    "cache-preparation-1.prepared": cache_prepared,
    "cache-preparation-1.record": cache_preparation,
    "cache-request-1": cache_request,
    "error-1": error,
    "evaluation-3": report_3,
    "evaluation-3.dry": lambda: report_3("ranked", runner=False),
    "evaluation-4.direct": lambda: report_4("direct"),
    "evaluation-4.basic": report_4,
    "evaluation-4.dry": lambda: report_4("structural-oracle", runner=False),
    "evaluation-4.m2-condition-set": condition_set,
    "evaluation-runner-3": lambda: observation(3),
    "evaluation-runner-3.direct": lambda: observation(3, "direct"),
    "evaluation-runner-4": lambda: observation(4),
    "evaluation-runner-4.unknown": lambda: unknown_observation(),
    "manifest-1": manifest,
    "qualitative-assessment-2": qualitative_assessment,
    "schema-1.list": schema_list,
    "schema-1.validation": schema_validation,
    "task-1": task,
    "task-answer-1": task_answer,
    "task-benchmark-1.discovery": task_benchmark,
    "task-benchmark-1.explanation": lambda: task_benchmark("explanation"),
    "task-benchmark-1.verification": lambda: task_benchmark("verification"),
    "task-context-1": task_context,
    "task-cue-1": task_cue,
    "task-evaluation-1": task_assessments,
    "task-policy-1": task_policy,
    "task-runner-1": task_observation,
    **task_documents.ALL,
}
"""A name and a maker of each: contract, then what tells several documents of it apart."""


def unknown_observation() -> Document:
    """Version 4 with unknown counters: turn 2 came without usage, turn 1 with an explicit null."""
    document = copy.deepcopy(observation(4, "direct"))
    document["usage_events"] = [
        {
            "turn": 1,
            "input_tokens": 1000,
            "cached_input_tokens": None,
            "output_tokens": 50,
            "cache_write_input_tokens": 7,
        },
        {"turn": 2},
    ]
    metrics = document["metrics"]
    for name in TOKEN_METRICS:
        del metrics[name]
        metrics["statuses"][name] = "not_observed"
    metrics["total_tokens"] = None
    return document
