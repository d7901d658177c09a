"""What a command loads: everyday commands stay light (ARCHITECTURE, sections 2 and 10)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repos import RepoBuilder

HEAVY = {"rich", "jinja2", "h11", "ssl", "jsonschema_rs", "vl_convert", "asyncio", "concurrent.futures", "logging"}

LOADED = (
    "import os, sys\n"
    "from repocue.cli.app import run\n"
    "code = run(sys.argv[1:])\n"
    "os.write(2, '\\n'.join([str(code), *sys.modules]).encode())\n"
)


@pytest.fixture
def initialized(tmp_path: Path, env: dict[str, str]) -> str:
    root = RepoBuilder(tmp_path / "r").commit("one", {"README.md": "# R\n", "a.py": "a\n", "Makefile": "a:\n"}).build()
    done = subprocess.run([sys.executable, "-m", "repocue", "init"], cwd=root, env=env, capture_output=True)
    assert done.returncode == 0, done.stderr
    return root


def loaded_by(arguments: list[str], root: str, env: dict[str, str]) -> set[str]:
    """The names of all modules in memory when the command has ended."""
    done = subprocess.run([sys.executable, "-c", LOADED, *arguments], cwd=root, env=env, capture_output=True)
    code, *modules = done.stderr.decode().splitlines()
    assert code == "0", done.stderr
    return set(modules)


@pytest.mark.parametrize(
    "arguments",
    [
        ["cue"],
        ["cue", "--view", "ranked"],
        ["cue", "--view", "placebo"],
        ["cue", "--view", "provenance"],
        ["cue", "--view", "delta", "--since", "snapshot-000001"],
        ["cue", "--since", "snapshot-000001"],
        ["cue", "--refresh"],
        ["status"],
        ["refresh"],
        ["metrics"],
    ],
    ids=" ".join,
)
def test_everyday_commands_load_nothing_heavy(arguments: list[str], initialized: str, env: dict[str, str]) -> None:
    modules = loaded_by(arguments, initialized, env)
    assert "repocue.cli.app" in modules
    assert not HEAVY & modules


@pytest.mark.parametrize("command", ["cue", "status", "refresh"])
def test_the_everyday_commands_leave_out_what_start_up_would_feel(
    command: str, initialized: str, env: dict[str, str]
) -> None:
    # OpenSSL takes 2 ms to load and dataclasses half a ms with every class; the bounds leave about 20 ms in all.
    assert not {"_hashlib", "dataclasses", "pathlib", "json", "tempfile"} & loaded_by([command], initialized, env)


def test_text_on_request_does_load_what_it_needs_and_no_more(initialized: str, env: dict[str, str]) -> None:
    assert not {"jinja2", "h11", "ssl", "jsonschema_rs", "vl_convert"} & loaded_by(
        ["status", "--format", "text"], initialized, env
    )


def test_help_loads_no_room(initialized: str, env: dict[str, str]) -> None:
    rooms = {
        "git",
        "store",
        "maintenance",
        "cue",
        "evaluation",
        "calibration",
        "report",
        "runners",
        "scoring",
        "locate",
    }
    modules = loaded_by(["--help"], initialized, env)
    assert not {
        name
        for name in modules
        if name.split(".")[0] == "repocue" and name.split(".")[1:2] and name.split(".")[1] in rooms
    }
