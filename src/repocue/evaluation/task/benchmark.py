"""Reading a task benchmark and its paid policy, and the policy that is frozen of both."""

from __future__ import annotations

from typing import Any

from repocue.contracts import reader
from repocue.contracts.registry import Context
from repocue.contracts.types.task import TaskBenchmark, TaskPolicy
from repocue.evaluation.task import layout, schedule
from repocue.evaluation.task.limits import TaskLimits


def read(data: bytes, *, limits: TaskLimits, subject: str) -> TaskBenchmark:
    """The benchmark in `data`. Raises ContractError."""
    document = reader.read(
        data,
        contract=layout.BENCHMARK_VERSION,
        limits=reader.Limits(max_bytes=limits.benchmark_bytes, max_depth=limits.json_depth),
        subject=subject,
    )
    return reader.convert(document, TaskBenchmark, subject=subject)


def read_policy(data: bytes, *, limits: TaskLimits, today: str | None, subject: str) -> dict[str, Any]:
    """The paid policy in `data`; `today` (YYYY-MM-DD) bounds the rates' date. Raises ContractError."""
    return reader.read(
        data,
        contract=layout.POLICY_VERSION,
        limits=reader.Limits(max_bytes=limits.policy_bytes, max_depth=limits.json_depth),
        context=Context(today=today),
        subject=subject,
    )


def frozen_policy(benchmark: TaskBenchmark, paid: dict[str, Any] | None) -> dict[str, Any]:
    """What `policy.json` holds: the benchmark's own side, and the paid one or null."""
    return {
        "schema_version": layout.PREPARATION_VERSION,
        "kind": "policy",
        "sandbox": benchmark.sandbox,
        "timeout_seconds": benchmark.timeout_seconds,
        "repeats": benchmark.repeats,
        "overview": {"view": benchmark.overview.view, "max_tokens": benchmark.overview.max_tokens},
        "task_context": {"max_tokens": benchmark.task_context.max_tokens},
        "paid": paid,
    }


def paid_policy(paid: dict[str, Any] | None) -> TaskPolicy | None:
    """The paid side as a value."""
    return None if paid is None else reader.convert(paid, TaskPolicy, subject="the policy's paid side")


def warnings(benchmark: TaskBenchmark, paid: TaskPolicy | None) -> list[str]:
    """What will keep a verdict from being reached although every contract is kept."""
    found = []
    if benchmark.repeats < schedule.REPEATS:
        found.append(
            f"pairs-unreachable: a verdict needs {schedule.REPEATS} repeats and the benchmark has {benchmark.repeats}"
        )
    if paid is not None and why_unpriced(paid) is not None:
        found.append(f"{why_unpriced(paid)}, so no credits can be computed")
    return found


def why_unpriced(policy: TaskPolicy) -> str | None:
    """Why a policy's rates price nothing, as name and sentence; None where they do (CONTRACTS, `task-policy-1`)."""
    rates = policy.rates
    if rates is None:
        return "rates-missing: the policy has no rates"
    wanted = {"account": policy.account, "model": policy.model, "speed": policy.speed}
    differing = [name for name, value in wanted.items() if getattr(rates, name) != value]
    return f"rates-differ: the rates are for another {', '.join(differing)}" if differing else None
