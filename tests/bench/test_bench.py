"""`make bench` measures, judges by its bounds and says of every peer what became of it. Figures are not tested here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.bounds import Verdict, condition_ms, everyday_ms, init_ms, peak_mib
from bench.repositories import clone, tracked_files
from tests.support.repos import RepoBuilder, git

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def test_the_bounds_are_those_of_the_architecture_page() -> None:
    page = Path(PROJECT, "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert "| `cue`, `status`, a `refresh` that finds nothing | 1.6 S + 1.4 P |" in page
    assert everyday_ms(10, 100) == 1.6 * 10 + 1.4 * 100
    assert "| `init` | 4 S + 2 P |" in page
    assert init_ms(10, 100) == 4 * 10 + 2 * 100
    assert "| peak memory | 40 MiB + 0.8 KiB for each tracked file |" in page
    assert peak_mib(1024) == 40 + 0.8
    assert "own time for each condition, agent, oracle and untracked bytes excluded | 5 S + 5 P |" in page
    assert condition_ms(10, 100) == 5 * 10 + 5 * 100


def test_a_bound_is_missed_only_beyond_it() -> None:
    assert Verdict(what="x", measured=24, bound=24, unit="KiB").holds
    assert not Verdict(what="x", measured=24.1, bound=24, unit="KiB").holds


def test_a_repository_of_yours_is_measured_on_a_settled_clone(tmp_path: Path) -> None:
    root = RepoBuilder(tmp_path / "mine").commit("one", {"a": "1", "b/c": "2"}).build()
    (tmp_path / "work").mkdir()
    copied = clone(root, str(tmp_path / "work"))
    assert tracked_files(copied) == 2
    assert git(copied, "diff-files", "--name-only") == b""
    assert os.stat(os.path.join(copied, "a")).st_mtime < os.stat(os.path.join(copied, ".git", "index")).st_mtime - 30


@pytest.mark.skipif(
    not os.access(os.path.join(os.path.dirname(sys.executable), "repocue"), os.X_OK), reason="repocue is not installed"
)
def test_one_round_prints_every_figure_bound_and_peer(tmp_path: Path, env: dict[str, str]) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, script in (("repomix", "echo packed"), ("gitingest", "echo broken >&2; exit 3")):
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    path = f"{tools}{os.pathsep}{env['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--rounds", "1", "--only", "click"],
        cwd=PROJECT,
        env={**env, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stderr
    assert "click: 166 tracked files" in done.stdout
    for name in ("S: git status", "P: python, imports", "cue", "status", "refresh", "init"):
        assert f"\n  {name} " in done.stdout
    verdicts = [line for line in done.stdout.splitlines() if line.startswith(("  kept ", "  MISSED "))]
    assert len(verdicts) >= 9
    assert (done.returncode == 0) == ("every bound is kept" in done.stdout) == all("kept" in line for line in verdicts)
    assert "repomix (packs the tree, no contents): first " in done.stdout
    assert "gitingest: no figure (" in done.stdout
    assert "exited 3: broken" in done.stdout
    for name in ("aider", "codegraph"):
        assert f"{name}: " in done.stdout
