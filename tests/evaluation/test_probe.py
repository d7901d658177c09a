"""`repocue evaluate` measures RepoCue on a repository that is left as it was, and claims nothing else."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from repocue.contracts import reader
from repocue.errors import EvaluationError
from repocue.evaluation.probe import Probe, evaluate
from repocue.git import worktree
from tests.support.repos import RepoBuilder, git

Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def root(tmp_path: Path) -> str:
    """Two commits, one edited file and an untracked one."""
    builder = RepoBuilder(tmp_path / "repository")
    builder.commit("one", {"README.md": "# Adder\n", "src/add.py": "def add(a, b):\n    return a + b\n"})
    root = builder.commit("two", {"docs/use.md": "Add.\n"}).build()
    Path(root, "src", "add.py").write_text("def add(*values):\n    return sum(values)\n")
    Path(root, "notes.txt").write_text("untracked\n")
    return root


def everything_in(folder: str) -> dict[str, tuple[int, int, bytes]]:
    """(mode, mtime in ns, bytes) of every file, git's own included."""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            info = os.lstat(path)
            found[path] = (info.st_mode, info.st_mtime_ns, Path(path).read_bytes())
    return found


def sources(document: Any) -> Iterator[tuple[Any, str]]:
    """Every (value, source) in a document."""
    if isinstance(document, dict):
        if set(document) == {"value", "source"}:
            yield document["value"], document["source"]
        for member in document.values():
            yield from sources(member)


def test_every_cost_is_reported_with_its_source_and_agent_evidence_is_not_observed(repocue: Run, root: str) -> None:
    done = repocue("evaluate", "--max-tokens", "300", cwd=root)
    assert (done.returncode, done.stderr) == (0, b"")
    document = reader.read(done.stdout, contract="repocue/evaluation-probe-1")
    assert document["agent_evidence"]["status"] == "not_observed"
    assert set(sources(document["agent_evidence"])) == {(None, "not_observed")}
    for step in ("baseline", "no_op_refresh", "cue"):
        costs = document[step]["costs"]
        assert costs["wall_duration_ms"]["value"] > 0
        assert costs["cpu_duration_ms"]["value"] > 0
        assert costs["peak_memory_bytes"]["value"] > 1 << 20
        assert costs["database_bytes"]["value"] > 0
        assert {source for _, source in sources(costs)} <= {"observed", "estimated"}
    for step in ("baseline", "no_op_refresh"):
        costs = document[step]["costs"]
        # A command ends its own clock before it is gone, and starts it no earlier than we did.
        assert costs["scan_duration_ms"]["value"] <= costs["recorded_duration_ms"]["value"]
        assert costs["recorded_duration_ms"]["value"] <= costs["wall_duration_ms"]["value"]
        assert costs["git_processes"]["value"] >= 2
        assert costs["files_scanned"]["value"] == 4  # three tracked files and one untracked
    assert document["no_op_refresh"]["costs"]["changed_files"] == {"value": 0, "source": "observed"}
    cue = document["cue"]["costs"]
    assert 0 < cue["output_bytes"]["value"] <= 4 * 300
    assert cue["estimated_tokens"] == {"value": -(-cue["output_bytes"]["value"] // 4), "source": "estimated"}


def test_repository_and_maintained_cache_are_left_as_they_were(repocue: Run, root: str, env: dict[str, str]) -> None:
    assert repocue("init", cwd=root).returncode == 0
    repository, cache = everything_in(root), everything_in(env["XDG_CACHE_HOME"])
    assert cache
    assert repocue("evaluate", cwd=root).returncode == 0
    assert everything_in(root) == repository
    assert everything_in(env["XDG_CACHE_HOME"]) == cache


def test_a_maintained_cache_that_cannot_even_be_opened_does_not_matter(
    repocue: Run, root: str, env: dict[str, str], tmp_path: Path
) -> None:
    blocked = tmp_path / "no-folder"
    blocked.write_text("a file")
    done = repocue("evaluate", cwd=root, env={**env, "REPOCUE_CACHE_DIR": str(blocked)})
    assert done.returncode == 0
    refused = repocue("evaluate", "--cache-dir", str(tmp_path), cwd=root)
    assert refused.returncode == 2
    assert repocue("--cache-dir", str(tmp_path), "evaluate", cwd=root).returncode == 2


def test_temporary_files_are_gone_afterwards(repocue: Run, root: str, env: dict[str, str], tmp_path: Path) -> None:
    for arguments in (["--temporary-root", str(tmp_path / "named")], []):
        folder = tmp_path / ("named" if arguments else "from-environment")
        folder.mkdir()
        done = repocue("evaluate", *arguments, cwd=root, env={**env, "TMPDIR": str(folder)})
        assert done.returncode == 0
        assert os.listdir(folder) == []


def test_a_temporary_root_inside_the_repository_is_refused_and_nothing_is_written(repocue: Run, root: str) -> None:
    before = everything_in(root)
    for inside in (root, os.path.join(root, "src"), os.path.join(root, ".git"), os.path.join(root, "not", "yet")):
        done = repocue("evaluate", "--temporary-root", inside, cwd=root)
        assert done.returncode == 1
        assert json.loads(done.stderr)["code"] == "evaluation.inside-checkout"
    assert everything_in(root) == before


def test_a_missing_temporary_root_is_one_clear_error(repocue: Run, root: str, tmp_path: Path) -> None:
    done = repocue("evaluate", "--temporary-root", str(tmp_path / "missing"), cwd=root)
    assert done.returncode == 1
    assert "--temporary-root" in json.loads(done.stderr)["hint"]


def test_the_text_form_shows_the_three_steps_and_says_that_no_agent_ran(repocue: Run, root: str) -> None:
    done = repocue("evaluate", "--format", "text", cwd=root)
    text = done.stdout.decode()
    assert done.returncode == 0
    for expected in ("full baseline", "no-op refresh", "overview cue", "Agent evidence: not observed", "about "):
        assert expected in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("kind", ["bare", "none", "missing"])
def test_what_cannot_be_evaluated_is_one_clear_error(kind: str, repocue: Run, tmp_path: Path) -> None:
    path = tmp_path / "place"
    if kind != "missing":
        path.mkdir()
    if kind == "bare":
        git(path, "init", "-q", "--bare")
    done = repocue("evaluate", "-C", str(path))
    assert done.returncode == 1
    code = json.loads(done.stderr)["code"]
    assert code == {"bare": "repository.bare", "none": "repository.none", "missing": "repository.not-found"}[kind]


def probe(root: str, env: dict[str, str], tmp_path: Path, command: list[str]) -> Probe:
    return Probe(
        worktree=worktree.find(root, env),
        command=command,
        version="1",
        environ=env,
        temporary_root=str(tmp_path),
        max_tokens=500,
        now_ms=lambda: 1_700_000_000_000,
    )


def shell(tmp_path: Path, repocue_exe: list[str], before: str) -> list[str]:
    """A command that runs `before`, then RepoCue with the same arguments."""
    script = tmp_path / "command"
    script.write_text(f'#!/bin/sh\n{before}\nexec {shlex.join(repocue_exe)} "$@"\n')
    script.chmod(0o755)
    return [str(script)]


@pytest.mark.parametrize(
    "change",
    [
        "echo more >>notes.txt",  # an untracked file's bytes alone
        "git tag measured",  # a ref alone
        "git config measured.by me",  # configuration alone
    ],
)
def test_a_repository_that_changes_meanwhile_is_not_reported(
    change: str, root: str, env: dict[str, str], tmp_path: Path, repocue_exe: list[str]
) -> None:
    command = shell(tmp_path, repocue_exe, f'case "$1" in cue) cd {shlex.quote(root)} && {change};; esac')
    with pytest.raises(EvaluationError) as raised:
        evaluate(probe(root, env, tmp_path, command))
    assert raised.value.code == "evaluation.repository-changed"


def test_a_step_that_fails_says_which_and_why(
    root: str, env: dict[str, str], tmp_path: Path, repocue_exe: list[str]
) -> None:
    command = shell(tmp_path, repocue_exe, 'case "$1" in refresh) set -- status --nonsense;; esac')
    with pytest.raises(EvaluationError, match=r"the no-op refresh failed \(exit code 2\): .*--nonsense") as raised:
        evaluate(probe(root, env, tmp_path, command))
    assert raised.value.code == "evaluation.step-failed"
    command = shell(tmp_path, repocue_exe, "echo out of paper >&2; exit 9")
    with pytest.raises(EvaluationError, match=r"the baseline failed \(exit code 9\): out of paper"):
        evaluate(probe(root, env, tmp_path, command))
    with pytest.raises(EvaluationError, match="could not be started"):
        evaluate(probe(root, env, tmp_path, [str(tmp_path / "missing")]))
    assert sorted(os.listdir(tmp_path)) == ["command", "repository"]


def test_the_same_facts_as_git_gives_are_in_the_document(repocue: Run, root: str) -> None:
    document = json.loads(repocue("evaluate", cwd=root).stdout)
    assert document["repository"]["head"] == git(root, "rev-parse", "HEAD").decode().strip()
    assert document["repository"]["branch"] == git(root, "symbolic-ref", "--short", "HEAD").decode().strip()
    assert document["repository"]["dirty"] is True
    assert document["captures"]["before"] | {"at": ""} == document["captures"]["after"] | {"at": ""}
