"""Running an oracle: its environment, its bounds, its end, and what is refused."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from repocue.cue.structural import parse
from repocue.errors import EvaluationError
from repocue.evaluation import oracle
from repocue.evaluation.oracle import external_tool, packaged_tool, run_oracle, trusted_path
from tests.oracle.oracle import FOLDER, TOOL
from tests.oracle.oracle import run as run_directly
from tests.support.repos import Entry, File, RepoBuilder

ToolMaker = Callable[[str], str]


@pytest.fixture
def root(tmp_path: Path) -> bytes:
    files = {"src/a.py": "class A(Base):\n    def m(self): pass\n", "bad.py": "def f(: pass\n", "README.md": "# A\n"}
    return os.fsencode(RepoBuilder(tmp_path / "r").commit("one", files).build())


@pytest.fixture
def tool(tmp_path: Path) -> ToolMaker:
    """`tool(script)`: the path of an executable shell script outside the repository."""

    def make(script: str) -> str:
        path = tmp_path / "tools" / "oracle"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return str(path)

    return make


def test_the_packaged_oracle_gives_what_it_gives_by_hand(root: bytes, env: dict[str, str]) -> None:
    done = run_oracle(packaged_tool(), root, env)
    by_hand = run_directly(os.fsdecode(root))
    assert (done.stdout, done.stderr) == (by_hand.stdout, by_hand.stderr)
    assert [candidate.name for candidate in parse(done.stdout, done.stderr).candidates] == ["A", "A.m"]
    evidence = done.to_json()
    assert evidence["path"] == TOOL
    assert evidence["argv"] == ["bash", TOOL]
    assert evidence["stdout_sha256"] == "sha256:" + sha256(by_hand.stdout).hexdigest()
    assert evidence["stdout_bytes"] == len(by_hand.stdout)
    assert evidence["stderr_sha256"] == "sha256:" + sha256(by_hand.stderr).hexdigest()
    assert evidence["duration_ms"] > 0


def test_the_digest_of_the_packaged_oracle_covers_all_of_its_programs() -> None:
    whole = b""
    for name in sorted(os.listdir(FOLDER)):
        if name.endswith((".awk", ".bash")):
            data = Path(FOLDER, name).read_bytes()
            whole += name.encode() + b"\0" + str(len(data)).encode() + b"\0" + data
    assert packaged_tool().sha256 == "sha256:" + sha256(whole).hexdigest()


def test_an_executable_of_the_users_runs_in_the_root_without_keys(
    root: bytes, env: dict[str, str], tool: ToolMaker
) -> None:
    path = tool('pwd; env; echo "$#"; printf "limitation\\tx\\t1\\n" >&2')
    environ = env | {"ANTHROPIC_API_KEY": "secret", "GIT_DIR": "/elsewhere", "GH_TOKEN": "secret"}
    done = run_oracle(external_tool(path, root), root, environ)
    first, *variables, count = done.stdout.decode().splitlines()
    assert (first, count) == (os.fsdecode(root), "0")
    assert "secret" not in done.stdout.decode()
    assert not [line for line in variables if line.startswith("GIT_DIR=")]
    assert "LC_ALL=C" in variables
    assert done.stderr == b"limitation\tx\t1\n"
    assert done.tool.sha256 == "sha256:" + sha256(Path(path).read_bytes()).hexdigest()


def test_an_oracle_that_fails_is_an_error_with_its_own_last_words(
    root: bytes, env: dict[str, str], tool: ToolMaker
) -> None:
    with pytest.raises(EvaluationError) as caught:
        run_oracle(external_tool(tool("echo first >&2; echo 'no awk here.' >&2; exit 7"), root), root, env)
    assert caught.value.code == "oracle.failed"
    assert caught.value.message == "The structural oracle exited with code 7: no awk here."


def test_an_oracle_that_hangs_is_ended_with_everything_it_started(
    root: bytes, env: dict[str, str], tool: ToolMaker, tmp_path: Path
) -> None:
    path = tool(f"setsid sleep 600 & echo $! >{tmp_path}/child; sleep 600")
    with pytest.raises(EvaluationError) as caught:
        run_oracle(external_tool(path, root), root, env, timeout_s=1)
    assert "ran longer than it may" in caught.value.message
    child = int((tmp_path / "child").read_text())
    try:
        stat = Path(f"/proc/{child}/stat").read_text()
    except FileNotFoundError:
        return
    assert stat.rpartition(")")[2].split()[0] == "Z"  # dead; only its parent has not asked yet


def test_an_oracle_that_prints_too_much_is_ended(root: bytes, env: dict[str, str], tool: ToolMaker) -> None:
    with pytest.raises(EvaluationError) as caught:
        run_oracle(external_tool(tool("yes"), root), root, env, stdout_limit_bytes=100_000)
    assert "printed more than stdout may hold" in caught.value.message
    with pytest.raises(EvaluationError) as caught:
        run_oracle(external_tool(tool("yes >&2"), root), root, env)
    assert "printed more than stderr may hold" in caught.value.message


def test_the_bounds_are_the_documented_ones() -> None:
    assert (oracle.TIMEOUT_S, oracle.STDOUT_LIMIT_BYTES, oracle.STDERR_LIMIT_BYTES) == (120.0, 16 << 20, 1 << 20)


@pytest.mark.parametrize("name", ["missing", "folder", "plain"])
def test_what_is_no_executable_file_is_refused(name: str, root: bytes, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain").write_text("x")
    with pytest.raises(EvaluationError) as caught:
        external_tool(str(tmp_path / name), root)
    assert caught.value.code == "oracle.not-executable"


def test_an_oracle_inside_the_repository_is_refused_also_behind_a_link(root: bytes, tmp_path: Path) -> None:
    inside = Path(os.fsdecode(root), "oracle.sh")
    inside.write_text("#!/bin/sh\n")
    inside.chmod(0o755)
    (tmp_path / "link").symlink_to(inside)
    for path in (inside, tmp_path / "link", Path(os.fsdecode(root), "..", "r", "oracle.sh")):
        with pytest.raises(EvaluationError) as caught:
            external_tool(str(path), root)
        assert caught.value.code == "oracle.inside-repository"


def test_the_repository_supplies_no_program_whatever_path_says(tmp_path: Path, env: dict[str, str]) -> None:
    evil = File(f"#!/bin/sh\necho ran >>{tmp_path}/ran\n".encode(), "100755")
    files: dict[str, Entry] = dict.fromkeys(("bash", "git", "awk", "sort", "env", "bin/bash"), evil)
    files["a.py"] = "class A: pass\n"
    root = os.fsencode(RepoBuilder(tmp_path / "r").commit("one", files).build())
    (tmp_path / "link").symlink_to(os.fsdecode(root) + "/bin")
    for search in (".", "", "bin", os.fsdecode(root), os.fsdecode(root) + "/bin", str(tmp_path / "link")):
        done = run_oracle(packaged_tool(), root, env | {"PATH": f"{search}:{env['PATH']}"})
        assert done.stdout == b"python\ta.py\tclass\tA\t\n"
    assert not (tmp_path / "ran").exists()
    assert trusted_path("/usr/bin:relative::/bin", root) == "/usr/bin:/bin"
