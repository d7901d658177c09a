"""Processes are measured as themselves, not as what started them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from repocue.errors import EvaluationError
from repocue.evaluation.shared.measuring import Measured, run_measured

MIB = 1 << 20


def measure(*argv: str, cwd: str = "/", timeout_s: float | None = None) -> Measured:
    return run_measured(
        argv,
        cwd=cwd,
        environ={"PATH": "/usr/bin:/bin"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout_s=timeout_s,
    )


def test_peak_memory_is_the_childs_own_however_large_its_starter_is() -> None:
    ballast = bytearray(300 * MIB)
    small = measure(sys.executable, "-I", "-S", "-c", "pass")
    assert len(ballast) == 300 * MIB
    assert MIB < small.peak_memory_bytes < 60 * MIB
    large = measure(sys.executable, "-I", "-S", "-c", f"print(len(bytearray({200 * MIB})))")
    assert large.peak_memory_bytes > 200 * MIB


def test_the_memory_and_processor_time_of_a_childs_child_count_too() -> None:
    inner = f"x = bytearray({150 * MIB}); sum(range(10**7))"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-I', '-S', '-c', {inner!r}], check=True)"
    taken = measure(sys.executable, "-I", "-S", "-c", outer)
    assert taken.exit_code == 0
    assert taken.peak_memory_bytes > 150 * MIB
    assert taken.cpu_duration_ms > 10  # ten million additions


def test_exit_codes_and_signals_are_told_apart() -> None:
    assert measure("sh", "-c", "exit 7").exit_code == 7
    assert measure("sh", "-c", "kill -9 $$").exit_code == -9


def test_streams_and_arguments_are_handed_through(tmp_path: Path) -> None:
    with open(tmp_path / "out", "wb") as out, open(tmp_path / "err", "wb") as err:
        script = 'printf "%s|" "$@" "$PWD" "$A" "$(cat)"; echo bad >&2'
        run_measured(
            ["sh", "-c", script, "sh", "a b", "-I", ""],
            cwd=str(tmp_path),
            environ={"PATH": "/usr/bin:/bin", "A": "1"},
            stdout=out,
            stderr=err,
        )
    assert (tmp_path / "out").read_bytes() == f"a b|-I||{tmp_path}|1||".encode()
    assert (tmp_path / "err").read_bytes() == b"bad\n"


def test_a_program_that_is_not_there_and_one_that_does_not_end_are_errors() -> None:
    with pytest.raises(EvaluationError, match="no-such-program could not be started: No such file"):
        measure("no-such-program")
    with pytest.raises(EvaluationError, match=r"not done within 0\.2 s"):
        measure("sleep", "600", timeout_s=0.2)
