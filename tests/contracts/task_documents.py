"""Documents of a task comparison: what preparation and attempts write, made by hand."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

Document = dict[str, Any]

FOLDER = "task-eval-adder-explanation-overview-first-r01-0123456789ab"


def digest(text: str) -> str:
    return "sha256:" + sha256(text.encode()).hexdigest()


def _basis() -> Document:
    return {
        "status_digest": digest("status"),
        "repository_digest": digest("repository"),
        "state_fingerprint": digest("state"),
        "observed_at": "2026-11-30T19:00:01.500Z",
        "guard_digest": digest("guard"),
    }


def _prompt(arm: str) -> Document:
    return {
        "arm": arm,
        "cue_sha256": digest(f"{arm} cue"),
        "prompt_sha256": digest(f"{arm} prompt"),
        "prompt_bytes": 4001,
        "estimated_tokens": 1001,
    }


def _process(*argv: str) -> Document:
    return {
        "argv": ["repocue", *argv],
        "started_at": "2026-11-30T19:00:01.000Z",
        "duration_ms": 96.25,
        "exit_code": 0,
        "stdout_bytes": 2400,
        "stdout_sha256": digest("cue"),
        "estimated_tokens": 600,
    }


def _paid() -> Document:
    return {
        "schema_version": "repocue/task-policy-1",
        "model": "no-model",
        "reasoning_effort": "high",
        "speed": "standard",
        "cli_version": "0.0.1",
        "account": "a test",
        "rates": None,
        "assessment_policy": "Grace assesses.",
        "spending_conditions": "Nothing is spent.",
    }


def prepared() -> Document:
    return {
        "schema_version": "repocue/task-preparation-1",
        "kind": "prepared",
        "prepared_directory": f"/home/ada/evidence/{FOLDER}",
        "benchmark_id": "adder-explanation",
        "task_kind": "explanation",
        "order": "overview-first",
        "repeat": 1,
        "pair": 1,
        "has_policy": True,
        "prompts": [_prompt("overview"), _prompt("task")],
        "attempts": [
            {"attempt": "1-overview", "arm": "overview", "outcome": "complete", "reason": None, "duration_ms": 61250.5},
            {
                "attempt": "2-task",
                "arm": "task",
                "outcome": "not-started",
                "reason": "cannot start 'runner'",
                "duration_ms": None,
            },
        ],
        "establishes": "One ordered pair was attempted.",
        "warnings": ["rates-missing: the policy has no rates, so no credits can be computed"],
    }


def record() -> Document:
    return {
        "schema_version": "repocue/task-preparation-1",
        "kind": "record",
        "prepared_at": "2026-11-30T19:00:02.000Z",
        "repocue_version": "0.1.0",
        "benchmark_id": "adder-explanation",
        "order": "overview-first",
        "repeat": 1,
        "repository": {"id": "repo-0123456789abcdef01234567", "name": "project", "root": "/home/ada/project"},
        "prepared_directory": f"/home/ada/evidence/{FOLDER}",
        "cache_directory": "/home/ada/.cache/repocue",
        "basis": _basis(),
        "head": "1" * 40,
        "snapshot": "snapshot-000001",
        "benchmark_sha256": digest("benchmark"),
        "policy_sha256": digest("policy"),
        "task_sha256": digest("task"),
        "answer_schema_sha256": digest("schema"),
        "cue_prefix_sha256": digest("prefix"),
        "prompts": [_prompt("overview"), _prompt("task")],
        "sources": [{"id": "adder.py#L1-L3", "sha256": digest("adder")}],
        "processes": {
            "baseline": None,
            "refresh": _process("refresh"),
            "overview": _process("cue", "--view", "overview"),
            "task": _process("cue", "--view", "task", "--task-file", "<benchmark>"),
        },
    }


def policy() -> Document:
    return {
        "schema_version": "repocue/task-preparation-1",
        "kind": "policy",
        "sandbox": "read-only",
        "timeout_seconds": 900,
        "repeats": 3,
        "overview": {"view": "overview", "max_tokens": 500},
        "task_context": {"max_tokens": 4000},
        "paid": _paid(),
    }


def journal() -> Document:
    return {
        "schema_version": "repocue/task-attempt-1",
        "kind": "journal",
        "arm": "overview",
        "order": "overview-first",
        "repeat": 1,
        "benchmark_sha256": digest("benchmark"),
        "policy_sha256": digest("policy"),
        "cue_sha256": digest("overview cue"),
        "prompt_sha256": digest("overview prompt"),
        "prompt_bytes": 4001,
        "runner": {"path": "/usr/local/bin/repocue-codex-runner", "sha256": digest("runner")},
        "started_at": "2026-11-30T19:01:00.000Z",
        "repocue_version": "0.1.0",
        "self_sha256": digest("journal"),
    }


def attempt() -> Document:
    return {
        "schema_version": "repocue/task-attempt-1",
        "kind": "attempt",
        "arm": "overview",
        "started_at": "2026-11-30T19:01:00.000Z",
        "finished_at": "2026-11-30T19:02:02.000Z",
        "runner": {
            "started_at": "2026-11-30T19:01:00.200Z",
            "duration_ms": 61250.5,
            "exit_code": None,
            "signal": 9,
            "stopped": "timeout",
            "left_behind": 0,
            "survivors": 0,
        },
        "basis_before": _basis(),
        "basis_after": None,
        "outcome": "timeout",
        "reason": "the runner ran longer than it may and was killed after 61.3 s",
        "further": ["repository-unreadable: after the runner ended: it is gone"],
        "files": [{"path": "journal.json", "bytes": 800, "sha256": digest("journal file")}],
        "self_sha256": digest("attempt"),
    }


ALL: dict[str, Callable[[], Document]] = {
    "task-attempt-1.attempt": attempt,
    "task-attempt-1.journal": journal,
    "task-preparation-1.policy": policy,
    "task-preparation-1.prepared": prepared,
    "task-preparation-1.record": record,
}
"""A name and a maker of each."""
