"""Processes timed from outside, with the stopwatch of `repocue evaluate`."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from repocue.errors import EvaluationError
from repocue.evaluation.shared.measuring import Measured, run_measured


@dataclass(slots=True, kw_only=True)
class Operation:
    """A command line that is timed again and again.

    `before` runs before each timing and is not timed; it may change what the next run finds.
    """

    name: str
    argv: Sequence[str]
    cwd: str
    before: Callable[[], None] | None = None
    every: int = 1
    """Run in one of so many rounds, for operations that take long."""
    runs: list[Measured] = field(default_factory=list)

    @property
    def wall_ms(self) -> float:
        """The median wall time."""
        return statistics.median(run.wall_duration_ms for run in self.runs)

    @property
    def peak_mib(self) -> float:
        """The largest peak of all runs."""
        return max(run.peak_memory_bytes for run in self.runs) / 2**20


def floor(cwd: str) -> Operation:
    """P: a Python that imports what every command needs."""
    return Operation(
        name="P: python, imports",
        argv=[sys.executable, "-I", "-c", "import click, msgspec, sqlite3, subprocess"],
        cwd=cwd,
    )


class Failed(Exception):
    """A timed process did not exit 0; the message holds what it said."""


def run(argv: Sequence[str], *, cwd: str, env: Mapping[str, str], timeout_s: float = 600) -> Measured:
    """Time one process whose answer is thrown away; raises Failed where it does not exit 0 in time."""
    with tempfile.TemporaryFile() as errors:
        try:
            result = run_measured(
                argv, cwd=cwd, environ=env, stdout=subprocess.DEVNULL, stderr=errors, timeout_s=timeout_s
            )
        except EvaluationError as error:
            raise Failed(error.message) from error
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip()
    if result.exit_code != 0:
        raise Failed(f"{' '.join(argv)} exited {result.exit_code}: {said}")
    return result


def interleave(operations: Sequence[Operation], *, rounds: int, env: Mapping[str, str]) -> None:
    """Run every operation once a round, after one round that only warms caches up."""
    for number in range(rounds + 1):
        for operation in operations:
            if number and (number - 1) % operation.every:
                continue
            if operation.before is not None:
                operation.before()
            result = run(operation.argv, cwd=operation.cwd, env=env)
            if number:
                operation.runs.append(result)
