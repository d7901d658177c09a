"""The real agent programs of `make test-agents`, and harness-like requests for the adapters that drive them."""

from __future__ import annotations

import glob
import json
import os
import re
import select
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.repos import RepoBuilder, git

TOOLS = Path(__file__).parent.parent.parent / "tools" / "agents.sh"
CODEX_PATTERN = "node_modules/@openai/codex-*/vendor/*/bin/codex"
CLAUDE_PATTERN = "node_modules/@anthropic-ai/claude-code/bin/claude.exe"
SNAPSHOT = "snapshot-000001"
TASK = b"Look at this repository and answer.\n"
CUE = b'{"schema_version":"repocue/1","kind":"overview"}\n'
RUNNER_TIMEOUT_S = 120


def pinned(name: str) -> str:
    """The version that `tools/agents.sh` installs."""
    match = re.search(rf"^{name.upper()}=(\S+)$", TOOLS.read_text(), re.MULTILINE)
    assert match is not None
    return match[1]


def binary(name: str, pattern: str) -> str:
    """The installed program; skips, or fails where the agents are required, when it is not there."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.environ.get("REPOCUE_TEST_AGENTS_DIR") or os.path.join(cache, "repocue-test-agents")
    found = sorted(glob.glob(os.path.join(folder, f"{name}-{pinned(name)}", pattern)))
    if found:
        return found[0]
    message = f"{name} {pinned(name)} is not installed under {folder}; run `make test-agents`"
    if os.environ.get("REPOCUE_REQUIRE_AGENTS") == "1":
        pytest.fail(message)
    pytest.skip(message)


def codex_binary() -> str:
    """The real Codex CLI."""
    return binary("codex", CODEX_PATTERN)


def claude_binary() -> str:
    """The real Claude Code."""
    return binary("claude", CLAUDE_PATTERN)


def wrapper(path: Path, program: str, subcommand: str, flags: Sequence[str]) -> str:
    """A script that starts `program` with `flags` after `subcommand`: how tests point it at their own provider."""
    shown = shlex.join(flags)
    path.write_text(
        f'#!/bin/sh\nif [ "$1" = {shlex.quote(subcommand)} ]; then\n  shift\n'
        f'  exec {shlex.quote(program)} {shlex.quote(subcommand)} {shown} "$@"\nfi\nexec {shlex.quote(program)} "$@"\n'
    )
    path.chmod(0o755)
    return str(path)


def small_repository(folder: Path) -> str:
    """One commit on `main`: README.md (6 bytes) and src/app.py (12 bytes)."""
    builder = RepoBuilder(folder)
    builder.commit("first", {"README.md": b"hello\n", "src/app.py": b"print('hi')\n"})
    return builder.build()


def head(root: str) -> str:
    """HEAD's full id, as git says it."""
    return git(root, "rev-parse", "HEAD").decode().strip()


def benchmark_answer(root: str, **changes: Any) -> dict[str, Any]:
    """A whole benchmark answer, right about the git state of `small_repository`."""
    answer: dict[str, Any] = {
        "schema_version": "repocue/benchmark-answer-2",
        "project_purpose": "greets",
        "git": {"branch": "main", "head": head(root), "dirty": False, "tracked_changes": [], "untracked": []},
        "primary_entry_points": [{"path": "src/app.py", "responsibility": "prints"}],
        "major_components": [],
        "important_documentation": [{"path": "README.md", "purpose": "says hello"}],
        "recent_relevant_changes": ["first"],
        "project_symbols": [],
        "uncertainties": [],
    }
    return answer | changes


def task_answer(**changes: Any) -> dict[str, Any]:
    """A whole task answer."""
    answer: dict[str, Any] = {
        "schema_version": "repocue/task-answer-1",
        "benchmark_id": "b",
        "items": [],
        "claims": [],
        "commands": [],
        "uncertainties": [],
    }
    return answer | changes


def evaluation_environment(folder: Path, root: str, condition: str) -> dict[str, str]:
    """The variables of the evaluation protocol for one condition, with its files."""
    (folder / "task.txt").write_bytes(TASK)
    (folder / "cue.json").write_bytes(CUE)
    return {
        "REPOCUE_EVAL_SCHEMA": "repocue/evaluation-runner-4",
        "REPOCUE_EVAL_CONDITION": condition,
        "REPOCUE_EVAL_RUN_INDEX": "1",
        "REPOCUE_EVAL_REPOSITORY": root,
        "REPOCUE_EVAL_TASK_FILE": str(folder / "task.txt"),
        "REPOCUE_EVAL_CUE_FILE": "" if condition == "direct" else str(folder / "cue.json"),
        "REPOCUE_EVAL_BENCHMARK_VERSION": "repository-state-v2",
        "REPOCUE_EVAL_OUTPUT_SCHEMA_VERSION": "repocue/benchmark-answer-2",
        "REPOCUE_EVAL_SNAPSHOT": SNAPSHOT,
        "REPOCUE_EVAL_HEAD": head(root),
        "REPOCUE_EVAL_READ_ONLY": "1",
    }


def task_environment(
    folder: Path, root: str, *, arm: str = "task", task: bytes = TASK, policy: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """The variables of the task protocol for one arm, with its files; the evidence folder is `folder/evidence`."""
    from repocue.contracts import canonical, schemas

    evidence = folder / "evidence"
    evidence.mkdir()
    (folder / "task.txt").write_bytes(task)
    (folder / "cue.json").write_bytes(CUE)
    (folder / "policy.json").write_text(json.dumps(policy))
    (folder / "schema.json").write_bytes(canonical.document(schemas.for_provider("repocue/task-answer-1")))
    return {
        "REPOCUE_TASK_SCHEMA": "repocue/task-runner-1",
        "REPOCUE_TASK_ARM": arm,
        "REPOCUE_TASK_REPEAT": "2",
        "REPOCUE_TASK_REPOSITORY": root,
        "REPOCUE_TASK_TASK_FILE": str(folder / "task.txt"),
        "REPOCUE_TASK_CUE_FILE": str(folder / "cue.json"),
        "REPOCUE_TASK_ANSWER_SCHEMA_FILE": str(folder / "schema.json"),
        "REPOCUE_TASK_POLICY_FILE": str(folder / "policy.json"),
        "REPOCUE_TASK_EVIDENCE_DIR": str(evidence),
        "REPOCUE_TASK_SNAPSHOT": SNAPSHOT,
        "REPOCUE_TASK_HEAD": head(root),
        "REPOCUE_TASK_READ_ONLY": "1",
    }


def paid_policy(**changes: Any) -> dict[str, Any]:
    """A frozen policy whose paid side is whole."""
    paid = {
        "schema_version": "repocue/task-policy-1",
        "model": "fake-model",
        "reasoning_effort": "high",
        "speed": "standard",
        "cli_version": "0.0.0",
        "account": "test",
        "rates": None,
        "assessment_policy": "none",
        "spending_conditions": "none",
    }
    return {"sandbox": "read-only", "paid": paid | changes}


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a runner process left."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def observation(self) -> dict[str, Any]:
        assert self.code == 0, self.stderr
        document: dict[str, Any] = json.loads(self.stdout)
        return document

    @property
    def error(self) -> str:
        """The one line of a failure, beside which nothing was printed."""
        assert self.code == 1, self.stdout
        assert self.stdout == b""
        return self.stderr.splitlines()[0]


def run_runner(command: Sequence[str], env: Mapping[str, str], root: str) -> Ran:
    """Run a runner as a harness does: in the repository, without arguments, without input."""
    done = subprocess.run(
        command, cwd=root, env=dict(env), stdin=subprocess.DEVNULL, capture_output=True, timeout=RUNNER_TIMEOUT_S
    )
    return Ran(code=done.returncode, stdout=done.stdout, stderr=done.stderr.decode())


def categories(observation: Mapping[str, Any]) -> list[str]:
    """The categories of an observation's findings."""
    return [finding["category"] for finding in observation["findings"]]


def processes(marker: bytes) -> list[int]:
    """The ids of processes whose command line holds `marker`."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    if marker in file.read():
                        found.append(int(name))
            except OSError:
                continue
    return found


def wait_for(condition: Callable[[], object]) -> object:
    """Look again and again, for at most 30 s; the last look."""
    for _ in range(3000):
        seen = condition()
        if seen:
            return seen
        select.select([], [], [], 0.01)
    return condition()


def program_in(root: str, program: str) -> int:
    """The id of the one process that runs that very file in `root`: other tests may run it elsewhere."""
    found = []
    for pid in processes(b""):
        try:
            is_it = os.path.samefile(f"/proc/{pid}/exe", program) and os.path.samefile(f"/proc/{pid}/cwd", root)
        except OSError:
            continue
        if is_it:
            found.append(pid)
    assert found, f"{program} does not run in {root}"
    return min(found)
