"""Running an external agent once, and saying truthfully what was observed.

What an adapter's author needs is here: parse the request, build the observation, write it. The rest of the room is
process supervision, the reading of agents' event streams and command texts, and the adapters for Codex and Claude Code.

::

    request = request_from(os.environ)
    observation = build_observation(request, metadata=Metadata(...), usage=[UsageEvent(turn=1)], answer={...})
    write(observation, sys.stdout.buffer)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repocue.runners.commands import Classified, Classifier
    from repocue.runners.findings import Finding, info, warning
    from repocue.runners.observation import Metadata, build_observation, write
    from repocue.runners.observed import AgentCommand
    from repocue.runners.prompt import evaluation_prompt, task_prompt
    from repocue.runners.protocol import EvaluationRequest, RunnerEnvironmentError, TaskRequest, request_from
    from repocue.runners.supervision import Ended, Evidence, NotStarted, Supervisor
    from repocue.runners.task_observation import TaskMetadata, build_task_observation
    from repocue.runners.usage import UsageError, UsageEvent, totals

_HOMES = {
    "commands": ("Classified", "Classifier"),
    "findings": ("Finding", "info", "warning"),
    "observation": ("Metadata", "build_observation", "write"),
    "observed": ("AgentCommand",),
    "prompt": ("evaluation_prompt", "task_prompt"),
    "protocol": ("EvaluationRequest", "RunnerEnvironmentError", "TaskRequest", "request_from"),
    "supervision": ("Ended", "Evidence", "NotStarted", "Supervisor"),
    "task_observation": ("TaskMetadata", "build_task_observation"),
    "usage": ("UsageError", "UsageEvent", "totals"),
}
"""Which module holds what is offered here; it is imported when it is first asked for."""

__all__ = [
    "AgentCommand",
    "Classified",
    "Classifier",
    "Ended",
    "EvaluationRequest",
    "Evidence",
    "Finding",
    "Metadata",
    "NotStarted",
    "RunnerEnvironmentError",
    "Supervisor",
    "TaskMetadata",
    "TaskRequest",
    "UsageError",
    "UsageEvent",
    "build_observation",
    "build_task_observation",
    "evaluation_prompt",
    "info",
    "request_from",
    "task_prompt",
    "totals",
    "warning",
    "write",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module("repocue.runners." + home), name)
    raise AttributeError(f"module 'repocue.runners' has no attribute {name!r}")
