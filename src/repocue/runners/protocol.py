"""What a harness asks of a runner: the two protocols' environments, parsed and checked.

A runner is started afresh in the repository's root without arguments. `REPOCUE_EVAL_*` asks for one run of a condition
(`repocue/evaluation-runner-4`), `REPOCUE_TASK_*` for one arm of a task comparison (`repocue/task-runner-1`). It prints
exactly one observation and exits 0; anything else is a failure, and what it wrote to standard error is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from repocue.domain.measurement import MAX_COUNTER
from repocue.errors import EvaluationError

EVALUATION_CONTRACT = "repocue/evaluation-runner-4"
TASK_CONTRACT = "repocue/task-runner-1"
BENCHMARK = "repository-state-v2"
ANSWER_CONTRACT = "repocue/benchmark-answer-2"
TASK_ANSWER_CONTRACT = "repocue/task-answer-1"

CONDITIONS = ("direct", "placebo", "basic", "ranked", "structural-oracle")
ARMS = ("overview", "task")

EVALUATION_PREFIX = "REPOCUE_EVAL_"
TASK_PREFIX = "REPOCUE_TASK_"
EVALUATION_NAMES = (
    "SCHEMA",
    "CONDITION",
    "RUN_INDEX",
    "REPOSITORY",
    "TASK_FILE",
    "CUE_FILE",
    "BENCHMARK_VERSION",
    "OUTPUT_SCHEMA_VERSION",
    "SNAPSHOT",
    "HEAD",
    "READ_ONLY",
)
TASK_NAMES = (
    "SCHEMA",
    "ARM",
    "REPEAT",
    "REPOSITORY",
    "TASK_FILE",
    "CUE_FILE",
    "ANSWER_SCHEMA_FILE",
    "POLICY_FILE",
    "EVIDENCE_DIR",
    "SNAPSHOT",
    "HEAD",
    "READ_ONLY",
)


class RunnerEnvironmentError(EvaluationError):
    """The environment is no request of either protocol. The message names the variable."""

    default_code = "runner.environment"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRequest:
    """One run of one condition. `cue_file` is None exactly for `direct`; `head` is None when unborn."""

    condition: str
    run_index: int
    repository: str
    task_file: str
    cue_file: str | None
    snapshot: str
    head: str | None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> EvaluationRequest:
        """Parse the `REPOCUE_EVAL_*` variables. Raises RunnerEnvironmentError."""
        given = _Variables(environ, EVALUATION_PREFIX)
        given.must_be("SCHEMA", EVALUATION_CONTRACT)
        given.must_be("BENCHMARK_VERSION", BENCHMARK)
        given.must_be("OUTPUT_SCHEMA_VERSION", ANSWER_CONTRACT)
        given.must_be("READ_ONLY", "1")
        condition = given.one_of("CONDITION", CONDITIONS)
        cue_file = given.get("CUE_FILE", may_be_empty=True) or None
        if (cue_file is None) != (condition == "direct"):
            raise RunnerEnvironmentError(
                f"{EVALUATION_PREFIX}CUE_FILE is {'empty' if cue_file is None else 'set'} for condition {condition}; "
                "it is empty for direct and for no other"
            )
        return cls(
            condition=condition,
            run_index=given.number("RUN_INDEX", MAX_COUNTER),
            repository=given.get("REPOSITORY"),
            task_file=given.get("TASK_FILE"),
            cue_file=cue_file,
            snapshot=given.get("SNAPSHOT"),
            head=given.get("HEAD", may_be_empty=True) or None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRequest:
    """One arm of a task comparison. Raw streams go to `evidence_dir` as they come; `head` is None when unborn."""

    arm: str
    repeat: int
    repository: str
    task_file: str
    cue_file: str
    answer_schema_file: str
    policy_file: str
    evidence_dir: str
    snapshot: str
    head: str | None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> TaskRequest:
        """Parse the `REPOCUE_TASK_*` variables. Raises RunnerEnvironmentError."""
        given = _Variables(environ, TASK_PREFIX)
        given.must_be("SCHEMA", TASK_CONTRACT)
        given.must_be("READ_ONLY", "1")
        return cls(
            arm=given.one_of("ARM", ARMS),
            repeat=given.number("REPEAT", 99),
            repository=given.get("REPOSITORY"),
            task_file=given.get("TASK_FILE"),
            cue_file=given.get("CUE_FILE"),
            answer_schema_file=given.get("ANSWER_SCHEMA_FILE"),
            policy_file=given.get("POLICY_FILE"),
            evidence_dir=given.get("EVIDENCE_DIR"),
            snapshot=given.get("SNAPSHOT"),
            head=given.get("HEAD", may_be_empty=True) or None,
        )


def request_from(environ: Mapping[str, str]) -> EvaluationRequest | TaskRequest:
    """The request that an environment holds, of whichever protocol. Raises RunnerEnvironmentError."""
    asks_evaluation = EVALUATION_PREFIX + "SCHEMA" in environ
    asks_task = TASK_PREFIX + "SCHEMA" in environ
    if asks_evaluation and asks_task:
        raise RunnerEnvironmentError(
            f"both {EVALUATION_PREFIX}SCHEMA and {TASK_PREFIX}SCHEMA are set; a run answers one harness"
        )
    if asks_task:
        return TaskRequest.from_environment(environ)
    if asks_evaluation:
        return EvaluationRequest.from_environment(environ)
    raise RunnerEnvironmentError(
        f"neither {EVALUATION_PREFIX}SCHEMA nor {TASK_PREFIX}SCHEMA is set",
        hint="A runner is started by `repocue evaluate-m2 --runner` or `repocue evaluate-task --runner`.",
    )


class _Variables:
    def __init__(self, environ: Mapping[str, str], prefix: str) -> None:
        self._environ = environ
        self._prefix = prefix

    def get(self, name: str, *, may_be_empty: bool = False) -> str:
        value = self._environ.get(self._prefix + name)
        if value is None:
            raise RunnerEnvironmentError(f"{self._prefix}{name} is not set")
        if not value and not may_be_empty:
            raise RunnerEnvironmentError(f"{self._prefix}{name} is empty")
        return value

    def must_be(self, name: str, wanted: str) -> None:
        value = self.get(name)
        if value != wanted:
            raise RunnerEnvironmentError(f"{self._prefix}{name} is {value!r}; this runner answers {wanted!r} alone")

    def one_of(self, name: str, allowed: tuple[str, ...]) -> str:
        value = self.get(name)
        if value not in allowed:
            raise RunnerEnvironmentError(f"{self._prefix}{name} is {value!r}, none of {', '.join(allowed)}")
        return value

    def number(self, name: str, largest: int) -> int:
        value = self.get(name)
        if not (value.isascii() and value.isdecimal() and len(value) <= 16 and 1 <= int(value) <= largest):
            raise RunnerEnvironmentError(f"{self._prefix}{name} is {value!r}, no number from 1 to {largest}")
        return int(value)
