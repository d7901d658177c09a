"""`repocue evaluate-m2 summary` as a command: its contract, its errors, and that it starts and writes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import jsonschema_rs
import pytest

from repocue.contracts import reader, schemas
from tests.m2_summary.scenes import three_runs
from tests.support.m2_sets import Agent, write_set
from tests.support.terminal import on_terminal

Run = Callable[..., CompletedProcess[bytes]]


def error_of(done: CompletedProcess[bytes]) -> dict[str, Any]:
    assert done.stdout == b""
    (line,) = done.stderr.splitlines()
    found: dict[str, Any] = reader.read(line, contract="repocue/error-1")
    return found


def test_off_a_terminal_the_answer_is_one_document_of_its_contract(tmp_path: Path, repocue: Run) -> None:
    three_runs(tmp_path)
    done = repocue("evaluate-m2", "summary", "--report-set", tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == 1
    document = reader.read_canonical(done.stdout, contract="repocue/m2-summary-1")
    assert [one["run_index"] for one in document["report_sets"]] == [1, 2, 3]
    schema = json.dumps(schemas.joined("repocue/m2-summary-1"))
    assert jsonschema_rs.Draft202012Validator(json.loads(schema)).is_valid(document)
    again = repocue("evaluate-m2", "summary", "--report-set", tmp_path, "--report-set", tmp_path)
    assert again.stdout == done.stdout


def test_on_a_terminal_the_answer_is_text(tmp_path: Path, repocue_exe: list[str], env: dict[str, str]) -> None:
    three_runs(tmp_path / "sets")
    code, shown = on_terminal(
        [*repocue_exe, "evaluate-m2", "summary", "--report-set", "sets", "--quiet"], cwd=tmp_path, env=env, columns=80
    )
    assert code == 0
    assert "By position" in shown
    assert max(len(line.rstrip("\r")) for line in shown.split("\n")) <= 80


WATCHED = """
import os, sys
started = []
def watch(event, arguments):
    if event.startswith(("subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "socket.")):
        started.append(event)
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        started.append(f"{event} {arguments[0]}")
    if event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.utime"):
        started.append(event)
sys.dont_write_bytecode = True
sys.addaudithook(watch)
from repocue.cli.app import run
code = run(sys.argv[1:])
assert not started, started
sys.exit(code)
"""


def test_a_summary_starts_no_process_and_writes_nothing(tmp_path: Path, env: dict[str, str]) -> None:
    three_runs(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, "evaluate-m2", "summary", "--report-set", str(tmp_path)],
        env={**env, "PATH": "/nonexistent"},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (["summary"], "usage", 2),
        (["summary", "--report-set", "gone"], "evidence.missing", 1),
        (["summary", "--report-set", "empty"], "evaluation.no-report-set", 1),
        (["summary", "--report-set", "sets", "--key", "gone"], "evaluation.file", 1),
        (["--runs", "2", "summary", "--report-set", "sets"], "usage", 2),
        (["summary", "--report-set", "sets", "--cache-dir", "x"], "usage", 2),
        (["blind", "--report-set", "sets"], "usage", 2),
        (["unblind", "--key", "gone", "--scores", "gone", "--output-directory", "out"], "evaluation.file", 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_clear_error(
    arguments: list[str], code: str, exit_code: int, tmp_path: Path, repocue: Run
) -> None:
    write_set(tmp_path / "sets")
    (tmp_path / "empty").mkdir()
    done = repocue("evaluate-m2", *arguments, cwd=tmp_path)
    assert (error_of(done)["code"], done.returncode) == (code, exit_code)
    assert sorted(os.listdir(tmp_path)) == ["empty", "sets"]


def test_a_damaged_set_is_named_and_nothing_is_summarised(tmp_path: Path, repocue: Run) -> None:
    folders = three_runs(tmp_path)
    os.truncate(next(Path(folders[1]).glob("*_basic_*.json")), 100)
    error = error_of(repocue("evaluate-m2", "summary", "--report-set", tmp_path))
    assert error["code"] == "evidence.altered"
    assert os.path.basename(folders[1]) in error["message"]
    assert error["hint"]


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, repocue_exe: list[str], env: dict[str, str]) -> None:
    write_set(tmp_path, agents={"basic": Agent(findings=[])})
    command = [*repocue_exe, "evaluate-m2", "summary", "--report-set", str(tmp_path), "--format", "text"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 0)
