"""The names of files and contracts in a prepared folder (CONTRACTS, "Folders").

::

    task-eval-<benchmark id>-<order>-r<NN>-<12 hex>/
        manifest.json  preparation.json  benchmark.json  policy.json  [paid-policy.json]  task.txt
        answer-schema.json  cue-overview.json  cue-task.json  refresh.json
        attempts/1-<arm>/  attempts/2-<arm>/
            journal.json
            input/     task.txt  cue.json  answer-schema.json  policy.json     what the runner was handed
            evidence/  stdin  provider-stdout  provider-stderr                 what the adapter streamed
            runner-stdout  runner-stderr  attempt.json
"""

from __future__ import annotations

import re
from typing import Final, Literal

from repocue.domain.ids import ID_PATTERN

Arm = Literal["overview", "task"]
Order = Literal["overview-first", "task-first"]

ARMS: Final[tuple[Arm, ...]] = ("overview", "task")
ORDERS: Final[tuple[Order, ...]] = ("overview-first", "task-first")

MANIFEST: Final = "manifest.json"
PREPARATION: Final = "preparation.json"
BENCHMARK: Final = "benchmark.json"
POLICY: Final = "policy.json"
PAID_POLICY: Final = "paid-policy.json"
TASK: Final = "task.txt"
ANSWER_SCHEMA: Final = "answer-schema.json"
REFRESH: Final = "refresh.json"
CUES: Final[dict[Arm, str]] = {"overview": "cue-overview.json", "task": "cue-task.json"}
ATTEMPTS: Final = "attempts"

INPUT: Final = "input"
CUE: Final = "cue.json"
EVIDENCE: Final = "evidence"
STDIN: Final = "stdin"
PROVIDER_STDOUT: Final = "provider-stdout"
PROVIDER_STDERR: Final = "provider-stderr"
RUNNER_STDOUT: Final = "runner-stdout"
RUNNER_STDERR: Final = "runner-stderr"

COMPLETE: Final = "complete"
"""The outcome of an attempt whose runner ended well with one valid observation of what was asked, in an unchanged
repository; any other outcome names what went wrong."""

MANIFEST_VERSION: Final = "repocue/manifest-1"
PREPARATION_VERSION: Final = "repocue/task-preparation-1"
BENCHMARK_VERSION: Final = "repocue/task-benchmark-1"
POLICY_VERSION: Final = "repocue/task-policy-1"
ATTEMPT_VERSION: Final = "repocue/task-attempt-1"
OBSERVATION_VERSION: Final = "repocue/task-runner-1"
EVALUATION_VERSION: Final = "repocue/task-evaluation-1"
ANSWER_VERSION: Final = "repocue/task-answer-1"
CUE_VERSION: Final = "repocue/task-cue-1"
OVERVIEW_VERSION: Final = "repocue/1"
LOCATE_VERSION: Final = "repocue/locate-1"

FOLDER: Final = re.compile(rf"task-eval-{ID_PATTERN}-(?:overview|task)-first-r[0-9]{{2}}-[0-9a-f]{{12}}", re.ASCII)
"""What the name of a prepared folder looks like."""


def folder_name(benchmark: str, order: Order, repeat: int, token: str) -> str:
    """The name of a prepared folder; `token` is 12 random hex digits."""
    return f"task-eval-{benchmark}-{order}-r{repeat:02d}-{token}"


def arms(order: Order) -> tuple[Arm, Arm]:
    """The arms in the order in which they run."""
    return ("overview", "task") if order == "overview-first" else ("task", "overview")


def attempt_names(order: Order) -> dict[Arm, str]:
    """The names of both attempts, first one first."""
    return {arm: f"{position}-{arm}" for position, arm in enumerate(arms(order), 1)}
