"""What a user gave, checked as a whole before anything is made or run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from repocue.contracts import canonical
from repocue.domain.measurement import MAX_COUNTER
from repocue.errors import EvaluationError, UsageError
from repocue.evaluation import oracle
from repocue.evaluation.m2.limits import DEFAULT_LIMITS, DEFAULT_TIMEOUT_S, MAX_CONTEXT_TOKENS, MAX_RUNS, MAX_TIMEOUT_S
from repocue.evaluation.m2.order import POLICIES
from repocue.evaluation.shared import executables, files, isolation

if TYPE_CHECKING:
    from repocue.evaluation.m2.limits import M2Limits
    from repocue.evaluation.m2.order import OrderPolicy
    from repocue.evaluation.oracle import OracleTool
    from repocue.git.worktree import Worktree

Progress = Callable[[str, int, "int | None"], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """An M2 experiment as it was asked for.

    `supplied_path`, `output_directory`, `temporary_root`, `task_file`, `runner` and `oracle_tool` are as typed.
    `command` starts the shipped RepoCue; `known_caches` are cache folders that no agent may read. `runner` None is a
    dry run. `now_ms` is the wall clock.
    """

    worktree: Worktree
    supplied_path: str
    output_directory: str
    temporary_root: str
    command: Sequence[str]
    environ: Mapping[str, str]
    now_ms: Callable[[], int]
    runner: str | None = None
    task_file: str | None = None
    oracle_tool: str | None = None
    max_tokens: int = 500
    run_index: int = 1
    runs: int = 1
    resume: bool = False
    order: OrderPolicy = "fixed"
    timeout_s: float = DEFAULT_TIMEOUT_S
    known_caches: Sequence[str] = ()
    limits: M2Limits = DEFAULT_LIMITS


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The same, checked: absolute real paths outside the checkout, executables found, the benchmark's text read.

    `custom_task_sha256` is None for the packaged text.
    """

    given: Given
    output: str
    temporary_root: str
    runner: str | None
    oracle: OracleTool
    task: bytes
    custom_task_sha256: str | None

    @property
    def run_indexes(self) -> range:
        """The consecutive runs that were asked for."""
        return range(self.given.run_index, self.given.run_index + self.given.runs)


def check(given: Given) -> Inputs:
    """Check everything; nothing is created, started or written. Raises UsageError or EvaluationError."""
    _check_numbers(given)
    output = _folder(given, given.output_directory, "output directory")
    temporary_root = _folder(given, given.temporary_root, "temporary root")
    runner = None if given.runner is None else executables.find(given.runner, given.environ, "runner")
    oracle_tool = _oracle(given)
    task, custom = _task(given)
    return Inputs(
        given=given,
        output=output,
        temporary_root=temporary_root,
        runner=runner,
        oracle=oracle_tool,
        task=task,
        custom_task_sha256=custom,
    )


def _check_numbers(given: Given) -> None:
    if given.order not in POLICIES:
        raise UsageError(f"The order {given.order!r} is none of {', '.join(POLICIES)}.")
    bounds = (
        ("--max-tokens", given.max_tokens, 1, MAX_CONTEXT_TOKENS),
        ("--runs", given.runs, 1, MAX_RUNS),
        ("--run-index", given.run_index, 1, MAX_COUNTER - MAX_RUNS),
    )
    for name, value, least, most in bounds:
        if not least <= value <= most:
            raise UsageError(f"{name} is {value}; it must be from {least} to {most}.")
    if not 0 < given.timeout_s <= MAX_TIMEOUT_S:
        raise UsageError(f"--timeout is {given.timeout_s:g}; it must be above 0 and at most {MAX_TIMEOUT_S:g} seconds.")


def _folder(given: Given, path: str, what: str) -> str:
    """The real path of a folder, outside the checkout, that exists or can be made."""
    if not path:
        raise UsageError(f"The {what} has no name.")
    real = isolation.outside(given.worktree, path, what=what)
    above = real
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    if not os.path.isdir(above):
        raise EvaluationError(
            f"The {what} {files.shown(real)} cannot be used: {files.shown(above)} is not a folder.",
            code="evaluation.path",
        )
    if not os.access(above, os.W_OK | os.X_OK):
        raise EvaluationError(
            f"The {what} {files.shown(real)} cannot be used: {files.shown(above)} cannot be written.",
            code="evaluation.path",
        )
    return real


def require_places(inputs: Inputs) -> None:
    """Raises EvaluationError where output directory or temporary root lead elsewhere than when they were checked.

    A runner can have put a link into the repository in their place.
    """
    places = ((inputs.output, "output directory"), (inputs.temporary_root, "temporary root"))
    for path, what in places:
        if isolation.outside(inputs.given.worktree, path, what=what) != path:
            raise EvaluationError(
                f"The {what} {files.shown(path)} was replaced by a link; nothing was published.", code="evaluation.path"
            )


def _oracle(given: Given) -> OracleTool:
    if given.oracle_tool is None:
        return oracle.packaged_tool()
    return oracle.external_tool(executables.find(given.oracle_tool, given.environ, "oracle tool"), given.worktree.root)


def _task(given: Given) -> tuple[bytes, str | None]:
    """The benchmark's text, and its digest where it is not the packaged one."""
    if given.task_file is None:
        return packaged_task(), None
    data = files.read_given(given.task_file, limit_bytes=given.limits.task_bytes, what="task file")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = ""
    if not text.strip() or "\0" in text:
        raise EvaluationError(
            f"The task file {files.shown(given.task_file)} is no text: it must be UTF-8, without NUL and not empty.",
            code="evaluation.file",
        )
    return data, None if data == packaged_task() else canonical.digest(data)


def packaged_task() -> bytes:
    """The text of the benchmark `repository-state-v2`."""
    from importlib.resources import files as resources

    return (resources("repocue") / "data" / "benchmarks" / "repository-state-v2.txt").read_bytes()
