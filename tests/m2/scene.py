"""A repository to evaluate, a scripted runner beside it, and evaluate-m2 on both: as a command and as a library."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.repos import File, RepoBuilder, Symlink, git

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNNER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "support", "scripted_runner.py")
CONDITIONS = ("direct", "placebo", "basic", "ranked", "structural-oracle")


@dataclass(slots=True)
class Scene:
    """`root` is the repository, `out` where sets are published, `temporary` where workspaces are made."""

    folder: Path
    exe: list[str]
    env: dict[str, str]
    root: str = ""
    runner: str = ""
    more_env: dict[str, str] = field(default_factory=dict)

    @property
    def out(self) -> str:
        return str(self.folder / "out")

    @property
    def temporary(self) -> str:
        return str(self.folder / "tmp")

    @property
    def calls_file(self) -> str:
        return str(self.folder / "calls.jsonl")

    def build(self) -> Scene:
        """Two commits, three tracked files and a link; one staged, one unstaged and one untracked change."""
        builder = RepoBuilder(self.folder / "project")
        builder.commit(
            "first",
            {
                "README.md": "# Project\n",
                "src/app.py": "def run(name: str) -> int:\n    return 0\n",
                "Makefile": "all:\n\ttrue\n",
                ".gitignore": "*.log\n",
            },
        )
        builder.commit("second", {"run.sh": File(b"#!/bin/sh\n", mode="100755"), "link": Symlink("README.md")})
        self.root = builder.build()
        self.write("Makefile", "all:\n\tfalse\n")
        git(self.root, "add", "Makefile")
        self.write("run.sh", "#!/bin/sh\nexit 0\n")
        self.write("notes.txt", "untracked\n")
        self.write("build.log", "ignored\n")
        self.runner = str(self.folder / "runner")
        Path(self.runner).write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {RUNNER} "$@"\n')
        os.chmod(self.runner, 0o755)
        self.script()
        os.mkdir(self.temporary)
        return self

    def write(self, name: str, text: str) -> None:
        Path(self.root, name).write_text(text)

    def script(self, steps: Mapping[str, Any] | None = None, **by_condition: Any) -> None:
        """What the runner does: `steps` in every condition, and beside it what a condition has of its own."""
        script = {"*": {"record": self.calls_file, **(steps or {})}}
        script |= {name.replace("_", "-"): value for name, value in by_condition.items()}
        (self.folder / "script.json").write_text(json.dumps(script))

    def environment(self) -> dict[str, str]:
        return {
            **self.env,
            "SCRIPTED_RUNNER": str(self.folder / "script.json"),
            "TMPDIR": self.temporary,
            **self.more_env,
        }

    def command(self, *arguments: str, runner: bool = True) -> list[str]:
        """The command line of one evaluation."""
        given = ["--runner", self.runner] if runner else []
        return [*self.exe, "evaluate-m2", "--output-directory", self.out, *given, *arguments]

    def evaluate(self, *arguments: str, runner: bool = True) -> subprocess.CompletedProcess[bytes]:
        """Run one evaluation in the repository."""
        return subprocess.run(
            self.command(*arguments, runner=runner),
            cwd=self.root,
            env=self.environment(),
            capture_output=True,
            timeout=120,
        )

    def published(self, *arguments: str, runner: bool = True) -> str:
        """Run one evaluation that must pass; the path of its only set."""
        done = self.evaluate(*arguments, runner=runner)
        assert done.returncode == 0, done.stderr
        path = json.loads(done.stdout)["report_set"]
        assert isinstance(path, str)
        return path

    def calls(self) -> list[dict[str, Any]]:
        """How the runner was called, in order."""
        try:
            return [json.loads(line) for line in Path(self.calls_file).read_text().splitlines()]
        except FileNotFoundError:
            return []

    def sets(self) -> list[str]:
        """Everything in the output directory, hidden names too."""
        return sorted(os.listdir(self.out)) if os.path.isdir(self.out) else []

    def given(self, **changes: Any) -> Any:
        """The library's input for the same evaluation."""
        from repocue.evaluation.m2.inputs import Given
        from repocue.git.worktree import find

        environ = self.environment()
        members: dict[str, Any] = {
            "worktree": find(self.root, environ),
            "supplied_path": self.root,
            "output_directory": self.out,
            "temporary_root": self.temporary,
            "command": self.exe,
            "environ": environ,
            "now_ms": lambda: 1_764_529_507_123,
            "runner": self.runner,
        }
        return Given(**members | changes)

    @contextmanager
    def prepared(self, **changes: Any) -> Iterator[Prepared]:
        """One prepared set and its workspace, so that conditions can be run one by one."""
        from repocue.evaluation.m2 import delivery, preparation, workspace
        from repocue.evaluation.m2.inputs import check

        inputs = check(self.given(**changes))
        with workspace.Workspace(self.temporary, inputs.given.worktree.id) as space:
            executable = delivery.identify(inputs.given, self.temporary)
            yield Prepared(inputs, preparation.prepare(inputs, executable, space, lambda step: None, None), space)


class Prepared:
    """A prepared set of which single conditions can be run."""

    def __init__(self, inputs: Any, prepared: Any, space: Any) -> None:
        self.inputs = inputs
        self.prepared = prepared
        self.space = space

    def run(self, condition: str = "ranked", *, earlier: Sequence[Mapping[str, Any]] = (), **changes: Any) -> Any:
        """One condition's outcome; `changes` are to what was given (`timeout_s`, `limits`)."""
        from dataclasses import replace

        from repocue.evaluation.m2.condition import run_condition

        shutil.rmtree(self.space.path("1"), ignore_errors=True)
        inputs = replace(self.inputs, given=replace(self.inputs.given, **changes)) if changes else self.inputs
        return run_condition(
            inputs,
            self.prepared,
            self.space,
            runner=inputs.runner,
            run_index=1,
            condition=condition,
            position=1,
            earlier=earlier,
        )


def reports_of(folder: str) -> dict[str, dict[str, Any]]:
    """The five reports of a published set, by condition."""
    found = {}
    for name in os.listdir(folder):
        if name.endswith(".json") and name != "manifest.json":
            report = json.loads(Path(folder, name).read_bytes())
            found[report["condition"]] = report
    assert sorted(found) == sorted(CONDITIONS)
    return found


def error_of(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    """The error that ended a failed evaluation: the last line on stderr, after the plan."""
    assert (done.returncode, done.stdout) == (1, b""), done.stderr
    error: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
    assert error["schema_version"] == "repocue/error-1"
    return error


def fingerprint_of_files(root: str) -> dict[str, tuple[int, bytes]]:
    """Mode and bytes of every file in a folder, `.git` included, to show that nothing of it changed."""
    found = {}
    for at, _, names in os.walk(root):
        for name in names:
            path = os.path.join(at, name)
            info = os.lstat(path)
            data = os.fsencode(os.readlink(path)) if stat.S_ISLNK(info.st_mode) else Path(path).read_bytes()
            found[os.path.relpath(path, root)] = (info.st_mode, data)
    return found


def alive(pid: int) -> bool:
    """Whether a process with this id runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False
