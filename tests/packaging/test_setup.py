"""Setting up: the right Python or a clear word about it, and exact versions of everything."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PIN = re.compile(r"([a-z0-9][a-z0-9-]*)==([0-9][0-9a-z.+]*)( ; .+)?")


def venv(target: Path, path: str, **env: str) -> subprocess.CompletedProcess[str]:
    script = str(PROJECT / "tools" / "venv.sh")
    return subprocess.run(
        ["/bin/sh", script, str(target)], env={"PATH": path, **env}, capture_output=True, text=True, cwd=target.parent
    )


def fake_python(folder: Path, *, new_enough: bool, has_ensurepip: bool) -> None:
    """A `python3` that answers the two questions the script asks of a candidate."""
    folder.mkdir()
    script = folder / "python3"
    version = "exit 0" if new_enough else "exit 1"
    ensurepip = "exit 0" if has_ensurepip else "exit 1"
    script.write_text(f'#!/bin/sh\ncase "$2" in *version_info*) {version};; *ensurepip*) {ensurepip};; esac\nexit 9\n')
    script.chmod(0o755)


def test_without_a_new_enough_python_the_message_says_what_is_needed(tmp_path: Path) -> None:
    for name, path in (("none", "/nonexistent"), ("old", str(tmp_path / "old"))):
        if name == "old":
            fake_python(tmp_path / "old", new_enough=False, has_ensurepip=True)
        done = venv(tmp_path / "venv", path)
        assert done.returncode == 1
        assert "Python 3.11 or newer" in done.stderr
        assert "PYTHON=" in done.stderr
        assert not (tmp_path / "venv").exists()


def test_without_ensurepip_the_message_names_the_package_to_install(tmp_path: Path) -> None:
    fake_python(tmp_path / "bin", new_enough=True, has_ensurepip=False)
    done = venv(tmp_path / "venv", str(tmp_path / "bin"))
    assert done.returncode == 1
    assert "ensurepip" in done.stderr
    assert "python3-venv" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_a_named_python_is_used_before_any_other(tmp_path: Path) -> None:
    named = tmp_path / "named"
    named.write_text('#!/bin/sh\nif [ "$1" = -m ]; then echo "$@" >"$0.asked"; fi\n')
    named.chmod(0o755)
    done = venv(tmp_path / "venv", "/usr/bin:/bin", PYTHON=str(named))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "named.asked").read_text() == f"-m venv {tmp_path / 'venv'}\n"


def project() -> dict[str, Any]:
    with open(PROJECT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)


def locked(name: str) -> dict[str, str]:
    """Name to version of every line of a lock file; each must be an exact pin and nothing else."""
    found = {}
    for line in (PROJECT / "requirements" / f"{name}.lock").read_text().splitlines():
        match = PIN.fullmatch(line)
        assert match, f"{name}.lock: {line!r} is not an exact pin"
        found[match[1]] = match[2]
    return found


def names(requirements: list[Any]) -> set[str]:
    return {
        re.split(r"[^A-Za-z0-9._-]", entry, maxsplit=1)[0].lower().replace("_", "-").replace(".", "-")
        for entry in requirements
        if isinstance(entry, str)
    }


def test_every_dependency_is_pinned_and_the_same_everywhere() -> None:
    runtime, build, dev = locked("runtime"), locked("build"), locked("dev")
    declared = project()
    assert names(declared["project"]["dependencies"]) <= set(runtime)
    assert names(declared["dependency-groups"]["build"]) <= set(build)
    for group in declared["dependency-groups"].values():
        assert names(group) <= set(dev)
    for some in (runtime, build):
        assert {name: dev[name] for name in some} == some


@pytest.mark.skipif(
    not os.access(os.path.join(os.path.dirname(sys.executable), "hatchling"), os.X_OK),
    reason="hatchling is not installed",
)
def test_the_wheel_holds_every_file_of_the_package_and_its_scripts(tmp_path: Path) -> None:
    import zipfile

    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=PROJECT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
        (entry_points,) = (archive.read(name).decode() for name in held if name.endswith("/entry_points.txt"))
        (metadata,) = (archive.read(name).decode() for name in held if name.endswith("/METADATA"))
    source = PROJECT / "src"
    wanted = {
        str(path.relative_to(source))
        for path in (source / "repocue").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert any(name.startswith("repocue/data/schemas/") for name in wanted)
    assert {name for name in held if name.startswith("repocue/")} == wanted
    for script, target in project()["project"]["scripts"].items():
        assert f"{script} = {target}" in entry_points
    assert "License-Expression: MIT" in metadata
