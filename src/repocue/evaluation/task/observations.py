"""Whether a runner's observation is about what was asked. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from repocue.evaluation.task import layout

if TYPE_CHECKING:
    from repocue.evaluation.task.frozen import Prepared


def faults_of(observation: Mapping[str, Any], prepared: Prepared, arm: layout.Arm) -> list[str]:
    """In what an observation, which keeps its contract, differs from the request; empty where in nothing.

    The policy decides model, effort, speed and CLI version, the benchmark the sandbox (CONTRACTS, "Runner protocol").
    """
    metadata, policy = observation["metadata"], prepared.policy
    expected = {
        "snapshot": prepared.record["snapshot"],
        "head": prepared.record["head"] or "",
        "sandbox": prepared.benchmark.sandbox,
    }
    if policy is not None:
        expected |= {
            "model": policy.model,
            "reasoning_effort": policy.reasoning_effort,
            "speed": policy.speed,
            "cli_version": policy.cli_version,
        }
    faults = [
        f"it names {name} {metadata[name]!r}, but {value!r} was asked for"
        for name, value in expected.items()
        if metadata[name] != value
    ]
    for name, value in (("arm", arm), ("repeat", prepared.repeat)):
        if observation[name] != value:
            faults.append(f"it is of {name} {observation[name]!r}, not {value!r}")
    return faults
