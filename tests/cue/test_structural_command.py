"""`repocue cue --view structural`: the packaged oracle, another one, and a repository that does not stay."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repocue.contracts import reader
from tests.cli.test_start_up import HEAVY, loaded_by
from tests.oracle.oracle import run as run_directly
from tests.support.repos import Entry, File, RepoBuilder, git

Repocue = Callable[..., subprocess.CompletedProcess[bytes]]

FILES: dict[str, Entry] = {
    "README.md": "# Project\n",
    "pyproject.toml": '[project]\nname = "p"\n[project.scripts]\np = "p.cli:main"\n',
    "src/p/cli.py": "import os\n\n\nclass Runner(object):\n    def run(self, *, fast: bool = False) -> int: ...\n",
    "bin/tool.sh": "#!/bin/bash\n. lib/x.sh\nmain() {\n  :\n}\n",
    "tests/test_p.py": "def test_p(): pass\n",
    "bad.py": "def f(: pass\n",
}


@pytest.fixture
def root(tmp_path: Path, repocue: Repocue) -> str:
    made = RepoBuilder(tmp_path / "r").commit("one", FILES).build()
    assert repocue("init", cwd=made).returncode == 0
    return made


@pytest.fixture
def tool(tmp_path: Path) -> Callable[[str], str]:
    def make(script: str) -> str:
        path = tmp_path / "oracle"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return str(path)

    return make


def error(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    assert (done.returncode, done.stdout) == (1, b"")
    found: dict[str, Any] = json.loads(done.stderr)
    return found


def test_the_view_shows_what_the_packaged_oracle_found_in_its_order(root: str, repocue: Repocue) -> None:
    done = repocue("cue", "--view", "structural", "--max-tokens", "2000", cwd=root)
    assert (done.returncode, done.stderr) == (0, b"")
    document = reader.read(done.stdout, contract="repocue/cue-2", kind="structural-oracle")
    content = document["content"]
    expected = [
        {name: value for name, value in candidate._asdict().items() if name != "signature" or value}
        for candidate in run_directly(root).candidates
    ]
    assert content["structure"] == expected
    assert expected[0] == {
        "language": "python",
        "module": "src/p/cli.py",
        "kind": "class",
        "name": "Runner",
        "signature": "(object)",
    }
    assert content["entry_points"] == ["p=p.cli:main", "bin/tool.sh"]
    assert document["warnings"] == [{"code": "structure-incomplete", "count": 1}]
    assert document["freshness"] == "current"
    again = repocue("cue", "--view", "structural", "--max-tokens", "2000", cwd=root)
    assert again.stdout == done.stdout


def test_the_run_is_recorded_under_its_view(root: str, repocue: Repocue) -> None:
    done = repocue("cue", "--view", "structural", cwd=root)
    metrics = json.loads(repocue("metrics", "--format", "json", cwd=root).stdout)
    (run,) = [entry for entry in metrics["cue_runs"] if entry["view"] == "structural"]
    assert run["bytes"] == len(done.stdout)


def test_uncommitted_changes_that_are_in_the_snapshot_are_read(root: str, repocue: Repocue) -> None:
    Path(root, "src/p/cli.py").write_text("class Changed: pass\n")
    done = repocue("cue", "--view", "structural", "--refresh", "--max-tokens", "2000", cwd=root)
    document = json.loads(done.stdout)
    assert document["freshness"] == "dirty-but-indexed"
    assert document["content"]["structure"][0]["name"] == "Changed"


def test_another_oracle_may_be_named(root: str, repocue: Repocue, tool: Callable[[str], str]) -> None:
    path = tool(r"printf 'go\tmain.go\tfunction\tmain\t()\nnonsense\n'; printf 'limitation\tparser-gave-up\t4\n' >&2")
    for name in (path, os.path.relpath(path, root)):
        done = repocue("cue", "--view", "structural", "--oracle-tool", name, cwd=root)
        document = json.loads(done.stdout)
        assert document["content"]["structure"] == [
            {"language": "go", "module": "main.go", "kind": "function", "name": "main", "signature": "()"}
        ]
        assert document["warnings"] == [{"code": "structure-incomplete", "count": 5}]


def test_a_repository_that_the_oracle_changes_gives_no_cue(
    root: str, repocue: Repocue, tool: Callable[[str], str]
) -> None:
    done = repocue("cue", "--view", "structural", "--oracle-tool", tool("echo x >>README.md"), cwd=root)
    assert error(done)["code"] == "repository.moved"
    assert "while the oracle read it" in error(done)["message"]
    stale = repocue("cue", "--view", "structural", cwd=root)
    assert error(stale)["code"] == "repository.moved"


def test_an_oracle_that_fails_or_may_not_run_gives_one_error(
    root: str, repocue: Repocue, tool: Callable[[str], str]
) -> None:
    failed = repocue("cue", "--view", "structural", "--oracle-tool", tool("echo why >&2; exit 3"), cwd=root)
    assert error(failed)["code"] == "oracle.failed"
    assert "why" in error(failed)["message"]
    inside = Path(root, "inside.sh")
    inside.write_text("#!/bin/sh\n")
    inside.chmod(0o755)
    git(root, "add", "inside.sh")
    repocue("refresh", cwd=root)
    refused = repocue("cue", "--view", "structural", "--oracle-tool", "inside.sh", cwd=root)
    assert error(refused)["code"] == "oracle.inside-repository"
    missing = repocue("cue", "--view", "structural", "--oracle-tool", "missing", cwd=root)
    assert error(missing)["code"] == "oracle.not-executable"


def test_the_option_has_no_meaning_in_another_view(root: str, repocue: Repocue) -> None:
    done = repocue("cue", "--oracle-tool", "x", cwd=root)
    assert done.returncode == 2
    assert json.loads(done.stderr)["code"] == "usage"


def test_a_hostile_repository_supplies_no_program_to_the_view(tmp_path: Path, repocue: Repocue) -> None:
    evil = File(f"#!/bin/sh\ntouch {tmp_path}/ran\n".encode(), "100755")
    files: dict[str, Entry] = dict.fromkeys(("bash", "awk", "sort"), evil)
    hostile = RepoBuilder(tmp_path / "h").commit("one", {**files, "a.py": "class A: pass\n"}).build()
    repocue("init", cwd=hostile)
    done = repocue("cue", "--view", "structural", cwd=hostile)
    assert [entry["name"] for entry in json.loads(done.stdout)["content"]["structure"]] == ["A"]
    assert not (tmp_path / "ran").exists()


def test_the_view_stays_light(root: str, env: dict[str, str]) -> None:
    assert not loaded_by(["cue", "--view", "structural"], root, env) & HEAVY
