"""Running an external agent once, and saying truthfully what was observed.

What an adapter's author needs is here: parse the request, build the observation, write it. The rest of the room is
process supervision, the reading of agents' event streams and command texts, and the adapters for Codex and Claude Code.

::

    request = request_from(os.environ)
    observation = build_observation(request, metadata=Metadata(...), usage=[UsageEvent(turn=1)], answer={...})
    write(observation, sys.stdout.buffer)
"""

from repocue.runners.commands import Classified, Classifier
from repocue.runners.findings import Finding, info, warning
from repocue.runners.observation import Metadata, build_observation, write
from repocue.runners.observed import AgentCommand
from repocue.runners.prompt import evaluation_prompt, task_prompt
from repocue.runners.protocol import EvaluationRequest, RunnerEnvironmentError, TaskRequest, request_from
from repocue.runners.supervision import Ended, Evidence, NotStarted, Supervisor
from repocue.runners.task_observation import TaskMetadata, build_task_observation
from repocue.runners.usage import UsageError, UsageEvent, totals

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
