"""The frame around every command: exit codes, forms of answers and errors, broken pipes, interrupts."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import pytest

from repocue.cli import app
from repocue.cli.app import SECTIONS, repocue_command
from tests.support.repos import RepoBuilder, git
from tests.support.terminal import on_terminal

Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def root(tmp_path: Path) -> str:
    return RepoBuilder(tmp_path / "repository").commit("first", {"README.md": "# A\n", "src/a.py": "a = 1\n"}).build()


def error_of(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    """The one `repocue/error-1` line that a failed command printed; nothing else may be on stderr or stdout."""
    assert done.stdout == b""
    line, end, rest = done.stderr.partition(b"\n")
    assert (end, rest) == (b"\n", b""), done.stderr
    document: dict[str, Any] = json.loads(line)
    assert list(document) == ["schema_version", "code", "message", "hint"]
    assert document["schema_version"] == "repocue/error-1"
    return document


def test_version_and_help_are_plain_text_and_exit_0(repocue: Run) -> None:
    import repocue as package

    assert repocue("--version").stdout == f"repocue {package.__version__}\n".encode()
    for arguments in (["--help"], ["-h"]):
        done = repocue(*arguments)
        assert done.returncode == 0
        assert done.stderr == b""
        assert b"Exit codes: 0 done" in done.stdout


def test_python_dash_m_is_the_same_command(repocue: Run, env: dict[str, str]) -> None:
    module = subprocess.run([sys.executable, "-m", "repocue", "--help"], env=env, capture_output=True, check=True)
    assert module.stdout == repocue("--help").stdout


def leaves() -> list[click.Context]:
    """A context for every command that has no commands below it."""
    found, pending = [], [click.Context(repocue_command, info_name="repocue", max_content_width=100)]
    while pending:
        context = pending.pop()
        if not isinstance(context.command, click.Group):
            found.append(context)
            continue
        for name in context.command.list_commands(context):
            child = context.command.get_command(context, name)
            assert child is not None
            pending.append(click.Context(child, parent=context, info_name=name, max_content_width=100))
    return found


def test_help_lists_every_command_in_its_section(repocue: Run) -> None:
    listed = repocue("--help").stdout.decode()
    for title, names in SECTIONS:
        for name in names:
            if os.path.exists(os.path.join(os.path.dirname(app.__file__), "commands", name.replace("-", "_") + ".py")):
                assert f"\n  {name} " in listed[listed.index(f"{title}:") :], name
    assert {"init", "status", "refresh", "rebaseline", "metrics", "cue", "evaluate", "schema"} <= {
        context.command_path.split()[1] for context in leaves()
    }


def test_lists_of_commands_cut_no_sentence(repocue: Run, env: dict[str, str]) -> None:
    groups = [[], ["task"], ["calibration"], ["schema"], ["evaluate-m2"], ["evaluate-task"], ["evaluate-cache"]]
    for group in groups:
        done = repocue(*group, "--help", env={**env, "COLUMNS": "60"})
        assert done.returncode == 0
        assert b"..." not in done.stdout.replace(b"[ARGS]...", b""), group


def test_every_command_has_help_with_examples(repocue: Run) -> None:
    for context in leaves():
        assert context.get_help().startswith(f"Usage: {context.command_path} "), context.command_path
        above = context.parent
        assert above is not None
        shown = context.get_help() + (above.get_help() if above.parent is not None else "")
        assert "Examples:\n" in shown, context.command_path
        assert f"\n  {context.command_path}" in shown[shown.index("Examples:\n") :], context.command_path
    assert repocue("status", "--help").stdout.decode().startswith("Usage: repocue status ")


def test_a_shell_can_complete_commands_and_options(repocue: Run, env: dict[str, str]) -> None:
    def completed(words: str, index: int) -> list[str]:
        asked = {**env, "_REPOCUE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(index)}
        return repocue(env=asked).stdout.decode().split()

    assert completed("repocue st", 1) == ["plain,status"]
    assert "plain,--exit-code" in completed("repocue status --e", 2)
    assert b"complete" in repocue(env={**env, "_REPOCUE_COMPLETE": "bash_source"}).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["stauts"], "no such command 'stauts'"),
        (["status", "--nonsense"], "--nonsense"),
        (["status", "--format", "yaml"], "yaml"),
        (["status", "one", "two"], "unexpected extra argument"),
        (["status", "--cache-dir"], "--cache-dir"),
        (["cue", "--max-tokens", "many"], "many"),
        (["cue", "--format", "text"], "text"),
        (["--format", "text", "--format", "json", "cue", "--max-tokens", "0"], "--max-tokens"),
    ],
)
def test_a_usage_error_exits_2_with_one_line_that_names_the_fault(
    repocue: Run, root: str, arguments: list[str], message: str
) -> None:
    done = repocue(*arguments, cwd=root)
    assert done.returncode == 2
    error = error_of(done)
    assert error["code"].startswith("usage")
    assert message in error["message"]


def test_a_command_that_needs_a_command_says_so_and_on_a_terminal_shows_its_help(
    repocue: Run, repocue_exe: list[str], root: str, env: dict[str, str]
) -> None:
    for words in ([], ["schema"]):
        done = repocue(*words)
        assert done.returncode == 2
        assert error_of(done)["code"] == "usage.no-command"
        code, shown = on_terminal([*repocue_exe, *words], cwd=root, env=env)
        assert code == 2
        assert shown.startswith(" ".join(["Usage: repocue", *words]) + " ")


def test_a_failed_operation_exits_1_in_json_off_a_terminal_and_in_text_when_asked(repocue: Run, root: str) -> None:
    done = repocue("status", cwd=root)
    assert done.returncode == 1
    error = error_of(done)
    assert error["code"] == "cache.not-initialized"
    in_text = repocue("status", "--format", "text", cwd=root)
    assert in_text.returncode == 1
    assert in_text.stderr.decode() == f"repocue: {error['message']}\n  hint: {error['hint']}\n"


def test_shared_options_mean_the_same_before_and_after_the_command(repocue: Run, root: str, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    assert repocue("init", "-C", root, "--cache-dir", cache).returncode == 0
    before = repocue("-C", root, "--cache-dir", cache, "--format", "json", "status")
    after = repocue("status", "-C", root, "--cache-dir", cache, "--format", "json")
    assert before.returncode == after.returncode == 0
    assert json.loads(before.stdout)["snapshot"] == json.loads(after.stdout)["snapshot"]


def test_answers_are_json_off_a_terminal_and_text_when_asked(repocue: Run, root: str) -> None:
    assert json.loads(repocue("init", cwd=root).stdout)["schema_version"] == "repocue/operation-1"
    assert json.loads(repocue("status", cwd=root).stdout)["schema_version"] == "repocue/status-1"
    text = repocue("status", "--format", "text", cwd=root)
    assert text.returncode == 0
    assert b"schema_version" not in text.stdout
    assert text.stdout.endswith(b"\n")


def test_on_a_terminal_answers_and_errors_are_text(repocue_exe: list[str], root: str, env: dict[str, str]) -> None:
    code, shown = on_terminal([*repocue_exe, "status"], cwd=root, env=env)
    assert code == 1
    assert shown.startswith("repocue: ")
    assert "\n  hint: " in shown
    code, shown = on_terminal([*repocue_exe, "init"], cwd=root, env=env)
    assert code == 0
    assert "schema_version" not in shown
    code, shown = on_terminal([*repocue_exe, "status", "--format", "json"], cwd=root, env=env)
    assert (code, json.loads(shown)["schema_version"]) == (0, "repocue/status-1")


def test_json_goes_to_stdout_alone(repocue: Run, root: str) -> None:
    for command in ("init", "status", "refresh", "metrics", "cue"):
        done = repocue(command, cwd=root)
        assert (done.returncode, done.stderr) == (0, b""), command
        assert done.stdout.count(b"\n") >= 1
        json.loads(done.stdout)


def test_a_reader_that_went_away_is_not_an_error(repocue_exe: list[str], root: str, env: dict[str, str]) -> None:
    subprocess.run([*repocue_exe, "init"], cwd=root, env=env, check=True, capture_output=True)
    for arguments in (["--help"], ["status"], ["cue"], ["status", "--format", "text"], ["metrics", "--format", "text"]):
        read_end, write_end = os.pipe()
        os.close(read_end)
        try:
            done = subprocess.run(
                [*repocue_exe, *arguments], cwd=root, env=env, stdout=write_end, stderr=subprocess.PIPE
            )
        finally:
            os.close(write_end)
        assert (done.returncode, done.stderr) == (0, b""), arguments


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_an_answer_that_cannot_be_written_is_an_error(repocue_exe: list[str], root: str, env: dict[str, str]) -> None:
    subprocess.run([*repocue_exe, "init"], cwd=root, env=env, check=True, capture_output=True)
    for arguments in (["status"], ["cue"], ["--help"], ["status", "--format", "text"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([*repocue_exe, *arguments], cwd=root, env=env, stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 1, arguments
        text = done.stderr.decode()
        assert "could not be written" in text
        assert "Traceback" not in text
        assert text.count("\n") <= 2


def test_unbuffered_streams_change_no_answer_and_no_error(
    repocue_exe: list[str], root: str, env: dict[str, str], tmp_path: Path
) -> None:
    """Containers set PYTHONUNBUFFERED; a raw stream takes what fits, and says so in a count instead of an error."""
    env = {**env, "PYTHONUNBUFFERED": "1"}
    for arguments in (["--help"], ["--version"], ["schema", "list"]):
        read_end, write_end = os.pipe()
        os.close(read_end)
        try:
            done = subprocess.run(
                [*repocue_exe, *arguments], cwd=root, env=env, stdout=write_end, stderr=subprocess.PIPE
            )
        finally:
            os.close(write_end)
        assert (done.returncode, done.stderr) == (0, b""), arguments
    answer = tmp_path / "answer"
    for arguments, room in (["--help"], 0), (["schema", "show", "repocue/evaluation-4"], 8192):
        with open(answer, "wb") as file:
            done = subprocess.run(
                ["sh", "-c", f'ulimit -f {room // 512} && exec "$@"', "sh", *repocue_exe, *arguments],
                cwd=root,
                env=env,
                stdout=file,
                stderr=subprocess.PIPE,
            )
        assert done.returncode == 1, arguments
        assert json.loads(done.stderr)["code"] == "output.failed", arguments


def test_closed_standard_streams_are_survived(repocue_exe: list[str], root: str, env: dict[str, str]) -> None:
    command = '"$@" >&-'
    done = subprocess.run(["sh", "-c", command, "sh", *repocue_exe, "init"], cwd=root, env=env, capture_output=True)
    assert done.returncode == 1
    assert "could not be written" in json.loads(done.stderr)["message"]
    for command in ('"$@" 2>&-', '"$@" <&-', '"$@" <&- 2>&-'):
        done = subprocess.run(
            ["sh", "-c", command, "sh", *repocue_exe, "status"], cwd=root, env=env, capture_output=True
        )
        assert done.returncode == 0
        assert json.loads(done.stdout)["schema_version"] == "repocue/status-1"
    done = subprocess.run(["sh", "-c", '"$@" 2>&-', "sh", *repocue_exe, "nope"], cwd=root, env=env, capture_output=True)
    assert done.returncode == 2


def test_an_interrupt_ends_with_130_and_one_line(
    repocue_exe: list[str], root: str, env: dict[str, str], tmp_path: Path
) -> None:
    """A git that never answers stands before the real one; it says through a FIFO that it has been started."""
    fifo = tmp_path / "started"
    os.mkfifo(fifo)
    tools = tmp_path / "bin"
    tools.mkdir()
    fake = tools / "git"
    fake.write_text(f'#!/bin/sh\necho started >"{fifo}"\nexec sleep 600\n')
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    started = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    process = subprocess.Popen(
        [*repocue_exe, "init"],
        cwd=root,
        env={**env, "PATH": f"{tools}{os.pathsep}{env['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert select.select([started], [], [], 60)[0], "git was never started"
    os.close(started)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == b""
    assert json.loads(errors) == {
        "schema_version": "repocue/error-1",
        "code": "interrupted",
        "message": "interrupted",
        "hint": None,
    }


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_command_that_is_told_to_end_leaves_no_git_and_no_folder_behind(
    name: str, repocue_exe: list[str], root: str, env: dict[str, str], tmp_path: Path
) -> None:
    """`timeout` and a closing terminal end one process. A filter that never answers keeps git at work on a file."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    fifo = tmp_path / "started"
    os.mkfifo(fifo)
    subprocess.run([*repocue_exe, "init"], cwd=root, env=env, check=True, capture_output=True)
    Path(root, "README.md").write_text("# A\n\nMore.\n")
    gate = tmp_path / "gate"
    gate.write_text(f'#!/bin/sh\n[ -n "$(ls "{scratch}")" ] || exec cat\necho $PPID >"{fifo}"\nexec sleep 600\n')
    gate.chmod(0o755)
    Path(root, ".git/info/attributes").write_text("README.md filter=slow\n")
    git(root, "config", "filter.slow.clean", str(gate))
    started = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    process = subprocess.Popen(
        [*repocue_exe, "refresh"],
        cwd=root,
        env={**env, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert select.select([started], [], [], 60)[0], "git was never started"
        adding = int(os.read(started, 64))
        process.send_signal(getattr(signal, name))
        output, errors = process.communicate(timeout=60)
        assert (process.returncode, output) == (130, b"")
        assert json.loads(errors)["code"] == "interrupted"
        assert os.listdir(scratch) == []
        assert not is_running(adding)
    finally:
        os.close(started)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def is_running(pid: int) -> bool:
    """Whether there is such a process that has not ended; one that nobody has waited for yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_fault_of_ours_is_one_clear_error_too(root: str, env: dict[str, str]) -> None:
    broken = (
        "import sys; from repocue.cli import app, main\n"
        "def fail(*_): raise ZeroDivisionError('division by zero')\n"
        "app.LazyGroup.get_command = fail\n"
        "main.main(['status'])\n"
    )
    done = subprocess.run([sys.executable, "-c", broken], cwd=root, env=env, capture_output=True)
    assert done.returncode == 1
    error = error_of(done)
    assert error["code"] == "internal"
    assert "ZeroDivisionError: division by zero" in error["message"]
    shown = subprocess.run(
        [sys.executable, "-c", broken], cwd=root, env={**env, "REPOCUE_TRACEBACK": "1"}, capture_output=True
    )
    assert b"Traceback (most recent call last)" in shown.stderr


def test_long_work_shows_progress_on_a_terminal_alone_and_takes_it_away(
    repocue_exe: list[str], root: str, env: dict[str, str], tmp_path: Path
) -> None:
    """A git stands before the real one and waits until something has been shown: the work is as long as it must be."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    tools = tmp_path / "bin"
    tools.mkdir()
    fake = tools / "git"
    fake.write_text(
        f'#!/bin/sh\n[ -e "{gate}" ] && read -r _ <"{gate}" && rm -f "{gate}"\nexec {shutil.which("git")} "$@"\n'
    )
    fake.chmod(0o755)
    env = {**env, "PATH": f"{tools}{os.pathsep}{env['PATH']}"}

    def open_the_gate(shown: bytes) -> None:
        if b"0:00:0" in shown and os.path.exists(gate):  # the bar's clock
            with open(gate, "w", encoding="ascii") as waiting:
                waiting.write("go\n")

    code, shown = on_terminal([*repocue_exe, "init"], cwd=root, env=env, term="xterm", seen=open_the_gate)
    assert code == 0
    assert "0:00:0" in shown
    assert shown.rindex("Took the first snapshot") > shown.rindex("0:00:0")
    assert not os.path.exists(gate)
