"""One process measured from outside: wall clock, processor time and peak memory of its tree.

The kernel counts the memory of the process that a child was forked from as the child's own until it has become another
program. So the child is started by a launcher, an interpreter that has loaded nothing, whose few MiB are the least
that any figure can be; the launcher also takes the times, right around the child's life.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import IO, NamedTuple

from repocue.domain.measurement import milliseconds
from repocue.errors import EvaluationError

_LAUNCHER = """
import os, sys, time
report, program = int(sys.argv[1]), sys.argv[2]
os.set_inheritable(report, False)
begun = time.monotonic()
try:
    child = os.posix_spawnp(program, sys.argv[2:], os.environ)
except OSError as error:
    os.write(report, os.fsencode(error.strerror))
    sys.exit(1)
_, status, usage = os.wait4(child, 0)
wall = time.monotonic() - begun
os.write(report, b"%d %r %r %d" % (status, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss))
"""


class Measured(NamedTuple):
    """What one process took. `exit_code` is negative for a signal, as in `subprocess`."""

    exit_code: int
    wall_duration_ms: float
    cpu_duration_ms: float
    """User and system time of the process and of all it waited for."""
    peak_memory_bytes: int
    """Of the process, or of the largest one that it waited for."""


def run_measured(
    argv: Sequence[str],
    *,
    cwd: str,
    environ: Mapping[str, str],
    stdout: IO[bytes] | int,
    stderr: IO[bytes] | int,
    timeout_s: float | None = None,
) -> Measured:
    """Run `argv` to its end with no standard input.

    Raises EvaluationError where it cannot be started, and where it is not over in time (then it is killed).
    """
    reading, writing = os.pipe()
    try:
        with subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(writing), *argv],
            cwd=cwd,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            pass_fds=(writing,),
            process_group=None if timeout_s is None else 0,
        ) as process:
            try:
                process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise EvaluationError(f"{argv[0]} was not done within {timeout_s:g} s and was ended") from None
        os.set_blocking(reading, False)
        report = os.read(reading, 4096)
    except BlockingIOError:
        report = b"its launcher was ended"
    finally:
        os.close(reading)
        os.close(writing)
    try:
        status, wall_s, cpu_s, peak = report.split()
        exit_code = os.waitstatus_to_exitcode(int(status))
    except ValueError:
        reason = report.decode("utf-8", "backslashreplace")
        raise EvaluationError(f"{argv[0]} could not be started: {reason}") from None
    return Measured(
        exit_code=exit_code,
        wall_duration_ms=milliseconds(float(wall_s)),
        cpu_duration_ms=milliseconds(float(cpu_s)),
        peak_memory_bytes=int(peak) * (1 if sys.platform == "darwin" else 1024),
    )
