"""Processes are few, bounded, given what they need and no more, and their failures are ours to explain."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from repocue.errors import GitFailed, RepositoryError
from repocue.git.environment import git_environment
from repocue.git.process import Git
from repocue.git.scan import observe
from repocue.git.worktree import find
from tests.support.repos import File, RepoBuilder, git


def fake_git(folder: Path, body: str) -> dict[str, str]:
    """An environment in which `git` is this shell script."""
    folder.mkdir(exist_ok=True)
    script = folder / "git"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)
    return {"PATH": f"{folder}:/bin:/usr/bin"}


def test_the_environment_is_a_keep_list_with_fixed_settings() -> None:
    caller = {
        "PATH": "/bin",
        "HOME": "/home/a",
        "XDG_CONFIG_HOME": "/home/a/.c",
        "GIT_TRACE2_EVENT": "/tmp/trace",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "ANTHROPIC_API_KEY": "secret",
        "OPENAI_API_KEY": "secret",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "SSH_AUTH_SOCK": "/tmp/agent",
        "GIT_DIR": "/elsewhere",
        "GIT_SSH_COMMAND": "steal",
        "GIT_EXTERNAL_DIFF": "steal",
        "GIT_PAGER": "less",
        "LANG": "de_DE.UTF-8",
        "LC_ALL": "de_DE.UTF-8",
        "GIT_OPTIONAL_LOCKS": "1",
        "GIT_GLOB_PATHSPECS": "1",
    }
    assert git_environment(caller) == {
        "PATH": "/bin",
        "HOME": "/home/a",
        "XDG_CONFIG_HOME": "/home/a/.c",
        "GIT_TRACE2_EVENT": "/tmp/trace",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "LC_ALL": "C",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }


def test_configuration_in_the_environment_is_kept_without_credentials() -> None:
    caller = {
        "GIT_CONFIG_COUNT": "3",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        "GIT_CONFIG_VALUE_0": "Authorization: secret",
        "GIT_CONFIG_KEY_1": "Safe.directory",
        "GIT_CONFIG_VALUE_1": "*",
        "GIT_CONFIG_KEY_2": "core.autocrlf",
        "GIT_CONFIG_VALUE_2": "true",
    }
    found = git_environment(caller)
    assert {name: value for name, value in found.items() if "CONFIG" in name} == {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "Safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        "GIT_CONFIG_KEY_1": "core.autocrlf",
        "GIT_CONFIG_VALUE_1": "true",
    }
    assert "GIT_CONFIG_COUNT" not in git_environment({"GIT_CONFIG_COUNT": "many"})


def test_programs_that_a_repository_configures_are_not_run(simple: str, tmp_path: Path, env: dict[str, str]) -> None:
    """fsmonitor and hooks run in the observed repository's name; an edited file makes all processes of a scan run."""
    spy = tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\necho ran >> {tmp_path}/evidence\n")
    spy.chmod(0o755)
    hooks = Path(simple, ".git/hooks")
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "pre-auto-gc"):
        (hooks / name).write_text(spy.read_text())
        (hooks / name).chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "core.sshCommand", "credential.helper"):
        git(simple, "config", key, str(spy))
    git(simple, "config", "alias.status", f"!{spy}")
    Path(simple, "README.md").write_text("edited\n")
    seen = observe(find(simple, env), env)
    assert seen.dirty[0].content_id is not None
    assert not (tmp_path / "evidence").exists()


def test_a_scan_counts_its_processes_as_git_itself_does(simple: str, tmp_path: Path, env: dict[str, str]) -> None:
    traced = {**env, "GIT_TRACE2_EVENT": str(tmp_path / "trace")}
    seen = observe(find(simple, env), traced)
    assert (tmp_path / "trace").read_text().count('"event":"start"') == seen.cost.git_processes == 2
    Path(simple, "README.md").write_text("edited\n")
    (tmp_path / "trace").unlink()
    seen = observe(find(simple, env), traced)
    assert (tmp_path / "trace").read_text().count('"event":"start"') == seen.cost.git_processes == 6


def test_a_failing_process_is_one_error_with_what_git_said(simple: str, env: dict[str, str]) -> None:
    with pytest.raises(GitFailed) as raised:
        Git(simple, env).run("rev-parse", "--verify", "no-such-revision")
    assert raised.value.code == "git.failed"
    assert "git rev-parse failed with exit code 128" in raised.value.message
    assert "Needed a single revision" in raised.value.message
    assert simple in raised.value.message


def test_a_process_that_hangs_is_ended_in_time(tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(GitFailed) as raised:
        Git(tmp_path.as_posix(), fake_git(tmp_path / "bin", "exec sleep 600")).run("status", timeout_s=0.2)
    assert raised.value.code == "git.timeout"
    assert time.monotonic() - started < 60


def test_a_process_that_prints_without_end_is_ended(tmp_path: Path) -> None:
    with pytest.raises(GitFailed) as raised:
        Git(tmp_path.as_posix(), fake_git(tmp_path / "bin", "exec yes")).run("status", limit_bytes=1 << 20)
    assert raised.value.code == "git.output-too-large"


def test_endless_complaints_are_drained_and_cut(tmp_path: Path) -> None:
    env = fake_git(tmp_path / "bin", "head -c 3000000 /dev/zero | tr '\\0' e >&2; echo done")
    runner = Git(tmp_path.as_posix(), env)
    child = runner.start("status")
    runner.finish(child)
    assert child.output() == b"done\n"
    assert 1 << 20 <= len(child.errors) < 2 << 20


def test_a_process_that_is_killed_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(GitFailed) as raised:
        Git(tmp_path.as_posix(), fake_git(tmp_path / "bin", "kill -SEGV $$")).run("status")
    assert f"signal {signal.SIGSEGV.value}" in raised.value.message


def test_a_process_that_does_not_read_its_input_is_judged_by_its_exit_code(tmp_path: Path) -> None:
    env = fake_git(tmp_path / "bin", "exec 0<&-; echo done")
    assert Git(tmp_path.as_posix(), env).run("cat-file", stdin=b"x" * (8 << 20)) == b"done\n"


def test_large_input_and_output_flow_at_the_same_time(tmp_path: Path) -> None:
    data = bytes(range(256)) * (32 << 10)
    assert Git(tmp_path.as_posix(), fake_git(tmp_path / "bin", "exec cat")).run("x", stdin=data) == data


def test_when_one_of_several_processes_fails_none_is_left_running(tmp_path: Path) -> None:
    env = fake_git(tmp_path / "bin", 'case "$*" in *slow*) exec sleep 600;; *) exec yes;; esac')
    runner = Git(tmp_path.as_posix(), env)
    slow, loud = runner.start("slow"), runner.start("loud", limit_bytes=100)
    with pytest.raises(GitFailed):
        runner.finish(slow, loud)
    assert slow.process.returncode == loud.process.returncode == -signal.SIGKILL


def test_a_root_that_is_gone_is_not_a_missing_git(tmp_path: Path, env: dict[str, str]) -> None:
    with pytest.raises(RepositoryError) as raised:
        Git(str(tmp_path / "gone"), env).run("status")
    assert raised.value.code == "repository.not-found"


def test_an_answer_of_git_status_that_is_not_understood_is_an_error(
    simple: str, tmp_path: Path, env: dict[str, str]
) -> None:
    found = find(simple, env)
    body = 'case "$*" in *status*) printf "9 unknown\\0";; esac'
    with pytest.raises(GitFailed, match="not understood"):
        observe(found, {**env, **fake_git(tmp_path / "bin", body)})


def test_progress_is_told_while_git_works_and_before_files_are_read(simple: str, env: dict[str, str]) -> None:
    Path(simple, "README.md").write_text("edited\n")
    told: list[tuple[str, int, int | None]] = []
    observe(find(simple, env), env, progress=lambda *step: told.append(step))
    assert ("content", 0, 1) in told
    assert {stage for stage, _, _ in told} == {"listing", "content"}


def test_a_git_before_2_36_is_asked_without_the_option_it_does_not_know(
    simple: str, tmp_path: Path, env: dict[str, str]
) -> None:
    real = next(path for folder in env["PATH"].split(":") if os.access(path := os.path.join(folder, "git"), os.X_OK))
    body = f'case "$*" in *--sparse*) echo "error: unknown option" >&2; exit 129;; *) exec {real} "$@";; esac'
    old = {**env, "PATH": f"{tmp_path / 'bin'}:{env['PATH']}"}
    fake_git(tmp_path / "bin", body)
    seen = observe(find(simple, old), old)
    assert seen.index_digest == observe(find(simple, env), env).index_digest


def test_two_different_repositories_may_share_an_environment(tmp_path: Path, env: dict[str, str]) -> None:
    roots = [RepoBuilder(tmp_path / name).commit("one", {name: name}).build() for name in "ab"]
    assert [observe(find(root, env), env).entries()[0].path for root in roots] == ["a", "b"]


def test_a_program_called_git_inside_the_repository_is_never_started(tmp_path: Path) -> None:
    program = File(b"#!/bin/sh\ntouch OWNED\n", mode="100755")
    root = RepoBuilder(tmp_path / "r").commit("first", {"git": program}).build()
    caller = {**os.environ, "PATH": os.pathsep.join(["", ".", "./", os.environ["PATH"]])}
    assert Git(root, caller).run("rev-parse", "--is-inside-work-tree").strip() == b"true"
    assert not os.path.exists(os.path.join(root, "OWNED"))
