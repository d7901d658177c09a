"""One process, timed from outside: wall clock, processor time and peak memory of its whole tree."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one process took. `peak_bytes` is the largest of it and the children it waited for."""

    wall_ms: float
    cpu_ms: float
    peak_bytes: int


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
    runs: list[Run] = field(default_factory=list)

    @property
    def wall_ms(self) -> float:
        """The median wall time."""
        return statistics.median(run.wall_ms for run in self.runs)

    @property
    def peak_mib(self) -> float:
        """The largest peak of all runs."""
        return max(run.peak_bytes for run in self.runs) / 2**20


class Failed(Exception):
    """A timed process did not exit 0; the message holds what it said."""


def run(argv: Sequence[str], *, cwd: str, env: Mapping[str, str], timeout_s: float = 600) -> Run:
    """Time one process whose answer is thrown away; raises Failed where it does not exit 0 in time."""
    with tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(argv, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=errors)
        alarm = threading.Timer(timeout_s, process.kill)
        alarm.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall_ms = (time.perf_counter() - started) * 1000
        alarm.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip()
    if process.returncode != 0:
        raise Failed(f"{' '.join(argv)} exited {process.returncode}: {said}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Run(wall_ms=wall_ms, cpu_ms=(usage.ru_utime + usage.ru_stime) * 1000, peak_bytes=usage.ru_maxrss * unit)


def interleave(operations: Sequence[Operation], *, rounds: int, env: Mapping[str, str]) -> None:
    """Run every operation once a round, after one round that only warms caches up."""
    for number in range(rounds + 1):
        for operation in operations:
            if number % operation.every:
                continue
            if operation.before is not None:
                operation.before()
            result = run(operation.argv, cwd=operation.cwd, env=env)
            if number:
                operation.runs.append(result)
