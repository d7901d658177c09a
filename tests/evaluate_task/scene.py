"""A repository with a declaration, its initialised cache, and task comparisons of it with the scripted runner."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from repocue.evaluation.task.limits import DEFAULT_LIMITS, TaskLimits
from repocue.evaluation.task.prepare import Preparation
from repocue.evaluation.task.run import perform
from repocue.evaluation.task.summary import summarize
from repocue.git.worktree import find
from tests.support.repos import RepoBuilder, git
from tests.task_context import declarations

RUNNER = os.path.join(os.path.dirname(__file__), "task_runner.py")

README = b"# Sample\n\nIt counts arguments.\n"
MAIN = b"import sys\n\n\ndef main():\n    print(len(sys.argv))\n"
SOURCES = ["README.md", "src/main.py#L1-L1", "src/main.py#L4-L5"]
REQUIRED = {"about": ["README.md"], "main": ["src/main.py#L1-L1", "src/main.py#L4-L5"]}
SHOWN = "It counts arguments.\n"
COMMANDS = [
    {"id": "readme", "argv": ["git", "show", "HEAD:README.md"], "exit": 0, "output": README.decode()},
    {"id": "absent", "argv": ["git", "grep", "-l", "nowhere to be found"], "exit": 1, "output": ""},
]
CAPTURES = {"discovery": "sample-discovery", "verification": "sample-verification", "explanation": "sample-explanation"}
RUBRIC = "Says that it counts its arguments: “len(sys.argv)”."
RATES = {
    "record_id": "sample-credits",
    "date": "2026-11-01",
    "account": "a test",
    "model": "no-model",
    "speed": "standard",
    "unit": "credits_per_million_tokens",
    "input": "125",
    "cached_input": "12.5",
    "output": "1000",
}


def digest(data: str | bytes) -> str:
    return "sha256:" + sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def benchmark(kind: str = "explanation", **changes: Any) -> dict[str, Any]:
    commands = [
        {
            "id": one["id"],
            "argv": one["argv"],
            "expected_exit": one["exit"],
            "expected_output_sha256": digest(str(one["output"])),
            "expected_output_bytes": len(str(one["output"]).encode()),
        }
        for one in COMMANDS
    ]
    return {
        "schema_version": "repocue/task-benchmark-1",
        "id": f"sample-{kind}",
        "task": {
            "schema_version": "repocue/task-1",
            "id": f"the-{kind}",
            "kind": kind,
            "question": "What does the sample do, {really}?",
            "declaration": declarations.PATH,
            "selector": {"items": [], "tags": ["core"], "kinds": [], "paths": []},
        },
        "overview": {"view": "overview", "max_tokens": 500},
        "task_context": {"max_tokens": 2000},
        "sandbox": "read-only",
        "timeout_seconds": 60,
        "repeats": 3,
        "verification": {"commands": commands} if kind == "verification" else None,
        "rubric": RUBRIC if kind == "explanation" else None,
    } | changes


def policy(**changes: Any) -> dict[str, Any]:
    return {
        "schema_version": "repocue/task-policy-1",
        "model": "no-model",
        "reasoning_effort": "high",
        "speed": "standard",
        "cli_version": "0.0.1",
        "account": "a test",
        "rates": RATES,
        "assessment_policy": "Grace assesses.",
        "spending_conditions": "Nothing is spent.",
    } | changes


def answer(kind: str = "explanation", **changes: Any) -> dict[str, Any]:
    """The right answer, with sets in an order of its own."""
    return {
        "schema_version": "repocue/task-answer-1",
        "benchmark_id": f"sample-{kind}",
        "items": [{"id": name, "sources": REQUIRED[name][::-1]} for name in ("main", "about")],
        "claims": [{"text": "It counts its arguments.", "sources": ["src/main.py#L4-L5", "README.md"]}],
        "commands": [{"id": one["id"], "exit_code": one["exit"]} for one in COMMANDS] if kind == "verification" else [],
        "uncertainties": [],
    } | changes


def steps(kind: str = "explanation", **changes: Any) -> dict[str, Any]:
    """A run in which everything goes right."""
    made: dict[str, Any] = {"answer": answer(kind)}
    if kind == "verification":
        made["commands"] = [{name: one[name] for name in ("argv", "exit", "output")} for one in COMMANDS]
    return made | changes


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.stdout)

    @property
    def error(self) -> Any:
        """The last line of stderr, an error document."""
        return json.loads(self.stderr.splitlines()[-1])


@dataclass
class Scene:
    """Commands against one repository; everything lies in `folder`."""

    folder: Path
    exe: list[str]
    env: dict[str, str]
    root: str = ""
    runner: str = ""
    made: dict[str, str] = field(default_factory=dict)

    def build(self) -> Scene:
        """Make repository, cache and runner."""
        items = [
            declarations.item("about", declarations.source("README.md", README), kind="document", tags=("core",)),
            declarations.item(
                "main",
                declarations.source("src/main.py", MAIN, (1, 1)),
                declarations.source("src/main.py", MAIN, (4, 5)),
                kind="entry-point",
                tags=("core",),
            ),
            declarations.item("other", declarations.source("notes.txt", b"notes\n"), tags=("rest",)),
        ]
        files = {
            "README.md": README,
            "src/main.py": MAIN,
            "notes.txt": b"notes\n",
            declarations.PATH: declarations.declaration(*items),
        }
        self.root = RepoBuilder(self.folder / "repository").commit("one", files).build()
        program = self.folder / "runner"
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -S {shlex.quote(RUNNER)} "$@"\n')
        program.chmod(0o755)
        self.runner = str(program)
        assert self.repocue("init", "-C", self.root).code == 0
        return self

    def repocue(self, *arguments: str, env: Mapping[str, str] | None = None) -> Result:
        done = subprocess.run(
            [*self.exe, *arguments],
            env=self.env | dict(env or {}),
            cwd=str(self.folder),
            capture_output=True,
            timeout=120,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def file(self, name: str, document: Any) -> str:
        path = self.folder / name
        path.write_bytes(json.dumps(document, indent=1, ensure_ascii=False).encode())
        return str(path)

    def evaluate(
        self,
        *more: str,
        kind: str = "explanation",
        output: str | None = None,
        env: Mapping[str, str] | None = None,
        paid: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> Result:
        """`evaluate-task`, with a policy where `paid` is one."""
        options = ["--task-file", self.file("benchmark.json", benchmark(kind, **changes))]
        if paid is not None:
            options += ["--policy-file", self.file("policy.json", paid)]
        options += ["--output-directory", output or str(self.folder / "evidence")]
        return self.repocue("evaluate-task", "-C", self.root, *options, *more, env=env)

    def prepared(self, kind: str = "explanation", repeat: int = 1, **more: Any) -> str:
        """A folder that was prepared with a policy, made once for each set of arguments. Copy it before running it."""
        key = repr((kind, repeat, sorted(more.items())))
        if key not in self.made:
            order = more.pop("order", None)
            options = ["--repeat", str(repeat), *(["--order", order] if order else [])]
            result = self.evaluate(*options, kind=kind, paid=more.pop("paid", policy()), **more)
            assert result.code == 0, result.stderr
            self.made[key] = result.document["prepared_directory"]
        return self.made[key]

    def copied(self, parent: Path, kind: str = "explanation", repeat: int = 1, **more: Any) -> str:
        """A copy of a prepared folder below `parent`, for one test to run and to spoil."""
        folder = self.prepared(kind, repeat, **more)
        return shutil.copytree(folder, os.path.join(parent, os.path.basename(folder)))

    def perform(
        self,
        folder: str,
        script: Mapping[str, Any],
        *,
        limits: TaskLimits = DEFAULT_LIMITS,
        environ: Mapping[str, str] | None = None,
        runner: str | None = None,
    ) -> list[dict[str, Any]]:
        """The pair of a prepared folder, in this process; `script` is the runner's, by arm."""
        path = folder + ".script.json"
        Path(path).write_text(json.dumps(script))
        variables = self.env | {"SCRIPTED_TASK_RUNNER": path} | dict(environ or {})
        given = Preparation(
            worktree=find(self.root, variables),
            task_file="",
            policy_file=None,
            output_directory="",
            order=None,
            repeat=1,
            command=[],
            cache_dir="",
            environ=variables,
            version="test",
            now_ms=lambda: 0,
            limits=limits,
        )
        return perform(given, folder, runner or self.runner)

    def ran(self, parent: Path, kind: str = "explanation", script: Mapping[str, Any] | None = None, **more: Any) -> str:
        """A folder whose pair was performed."""
        folder = self.copied(parent, kind, **more)
        self.perform(folder, script if script is not None else {"*": steps(kind)})
        return folder

    def head(self) -> str:
        return git(self.root, "rev-parse", "HEAD").decode().strip()


def summary(*folders: str, bundle: Any = None, **more: Any) -> dict[str, Any]:
    """The summary of folders, in this process; `bundle` is an assessment bundle."""
    if bundle is not None:
        path = folders[0] + ".assessments.json"
        Path(path).write_text(json.dumps(bundle))
        more["assessment_file"] = path
    return summarize(folders, **more)


def attempts(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The attempts of a summary's only pair, by arm."""
    (pair,) = document["pairs"]
    return {one["arm"]: one for one in pair["attempts"]}


def bundle(*documents: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """Favourable assessments of every answer in some summaries."""
    return {
        "schema_version": "repocue/task-evaluation-1",
        "kind": "assessment-bundle",
        "assessor": "Grace",
        "assessed_at": "2026-11-30T20:00:00.000Z",
        "entries": [
            {
                "attempt": one["attempt"],
                **one["binding"],
                "correctness": "correct" if pair["task_kind"] == "explanation" else None,
                "compliance": "compliant",
                "evidence": ["It says so."],
            }
            | changes
            for document in documents
            for pair in document["pairs"]
            for one in pair["attempts"]
            if one["binding"] is not None
        ],
    }
