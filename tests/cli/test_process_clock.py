"""The process clock counts from the moment the kernel made the process (ARCHITECTURE §6)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's /proc for the expected values")

REPORT = (
    "from repocue.cli import process_clock as c; import json, time;"
    "now = lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME); before = now(); e = c.elapsed_ms(); after = now();"
    "print(json.dumps([c.METHOD, before, e, after, open('/proc/self/stat').read()]))"
)


def _report(before_import: str = "") -> tuple[str, float, float, float, float]:
    """(method, elapsed ms, least and most it may be by the kernel's tick, most it may be by our own clock)."""
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", before_import + REPORT], check=True, capture_output=True)
    around_ms = (time.monotonic() - started) * 1000
    method, before_ns, elapsed_ms, after_ns, stat = json.loads(done.stdout)
    tick_ms = 1000 / os.sysconf("SC_CLK_TCK")
    start_ms = int(stat.rpartition(")")[2].split()[19]) * tick_ms
    # Rounding to a microsecond is the only slack.
    return (
        method,
        elapsed_ms,
        before_ns / 1e6 - start_ms - tick_ms - 0.001,
        after_ns / 1e6 - start_ms + 0.001,
        around_ms,
    )


def test_the_start_lies_in_the_kernels_tick_and_within_what_the_parent_saw() -> None:
    method, elapsed_ms, least_ms, most_ms, around_ms = _report()
    assert method == "linux-schedstat"
    assert least_ms <= elapsed_ms <= most_ms
    assert 0 < elapsed_ms < around_ms


def test_time_spent_blocked_before_the_clock_is_loaded_is_counted() -> None:
    _, elapsed_ms, least_ms, _, around_ms = _report("import time; time.sleep(0.05); ")
    assert elapsed_ms >= least_ms
    assert 40 <= elapsed_ms < around_ms


def test_without_the_schedulers_statistics_the_tick_alone_is_used_and_named() -> None:
    without = (
        "import builtins, io; real = builtins.open\n"
        "def no_schedstat(path, *a, **k):\n"
        "    if path == '/proc/self/schedstat': raise FileNotFoundError(path)\n"
        "    return real(path, *a, **k)\n"
        "builtins.open = no_schedstat\n"
    )
    method, elapsed_ms, least_ms, most_ms, _ = _report(without)
    assert method == "linux-start-tick"
    assert least_ms <= elapsed_ms <= most_ms


def test_without_proc_the_time_computed_so_far_is_the_lower_bound_that_is_used() -> None:
    without = (
        "import builtins; real = builtins.open\n"
        "def no_proc(path, *a, **k):\n"
        "    if path == '/proc/self/stat': builtins.open = real; raise FileNotFoundError(path)\n"
        "    return real(path, *a, **k)\n"
        "builtins.open = no_proc\n"
    )
    method, elapsed_ms, _, most_ms, around_ms = _report(without)
    assert method == "monotonic-after-cpu-time"
    assert 0 < elapsed_ms <= min(most_ms, around_ms)
