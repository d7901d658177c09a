"""A repository with a declaration, its initialised cache, and a prepared folder outside both."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cache import samples
from tests.support.repos import RepoBuilder

FAKE_CUE = os.path.join(os.path.dirname(__file__), "fake_cue.py")


def declaration() -> dict[str, Any]:
    return {
        "schema_version": "repocue/task-context-1",
        "id": "sample",
        "items": [
            {
                "id": "main",
                "kind": "entry-point",
                "summary": "Where it begins.",
                "tags": ["core"],
                "sources": [
                    {"path": "src/main.py", "lines": [1, 1], "sha256": samples.digest("import sys\n")},
                    {
                        "path": "src/main.py",
                        "lines": [4, 5],
                        "sha256": samples.digest(samples.lines(samples.MAIN, 4, 5)),
                    },
                ],
            },
            {
                "id": "about",
                "kind": "document",
                "summary": "What it is.",
                "tags": ["core"],
                "sources": [{"path": "README.md", "lines": None, "sha256": samples.digest(samples.README)}],
            },
            {
                "id": "other",
                "kind": "document",
                "summary": "Not selected.",
                "tags": ["rest"],
                "sources": [{"path": "notes.txt", "lines": None, "sha256": samples.digest("notes\n")}],
            },
        ],
    }


def answer(**changes: Any) -> dict[str, Any]:
    """The right answer to the scene's discovery."""
    return samples.answer(
        items=[
            {"id": "main", "sources": ["src/main.py#L4-L5", "src/main.py#L1-L1"]},
            {"id": "about", "sources": ["README.md"]},
        ],
        **changes,
    )


SOURCES = ["README.md", "src/main.py#L1-L1", "src/main.py#L4-L5"]


@dataclass(frozen=True)
class Result:
    """How a command ended; JSON where it printed some."""

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
    """Commands against one repository. `fake` starts the stand-in of `fake_cue.py`."""

    folder: Path
    exe: list[str]
    env: dict[str, str]
    root: str = ""
    fake: str = ""
    evidence: str = ""
    files: dict[str, Any] = field(default_factory=dict)

    def build(self, files: Mapping[str, Any] | None = None) -> Scene:
        """Make repository and cache."""
        tree: dict[str, Any] = {
            "README.md": samples.README,
            "src/main.py": samples.MAIN,
            "notes.txt": "notes\n",
            ".repocue/task-context.json": json.dumps(declaration(), indent=2) + "\n",
        }
        self.root = RepoBuilder(self.folder / "repository").commit("one", tree | dict(files or {})).build()
        self.evidence = str(self.folder / "evidence")
        wrapper = self.folder / "fake-repocue"
        wrapper.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE_CUE}" {" ".join(self.exe)} -- "$@"\n')
        wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
        self.fake = str(wrapper)
        assert self.repocue("init", "-C", self.root).code == 0
        return self

    def repocue(self, *arguments: str, env: Mapping[str, str] | None = None, cwd: str | None = None) -> Result:
        done = subprocess.run(
            [*self.exe, *arguments],
            env=self.env | dict(env or {}),
            cwd=cwd or str(self.folder),
            capture_output=True,
            timeout=120,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def benchmark_file(self, name: str = "benchmark.json", **changes: Any) -> str:
        path = self.folder / name
        path.write_bytes(json.dumps(samples.benchmark(**changes), indent=1).encode())
        return str(path)

    def prepare(
        self, *more: str, output: str | None = None, env: Mapping[str, str] | None = None, **changes: Any
    ) -> Result:
        return self.repocue(
            "evaluate-cache",
            "prepare",
            "-C",
            self.root,
            "--benchmark-file",
            self.benchmark_file(**changes),
            "--output-directory",
            output or self.evidence,
            "--cue-binary",
            self.fake,
            *more,
            env=env,
        )

    def prepared(self, **changes: Any) -> str:
        """The folder of a preparation that must succeed."""
        result = self.prepare(**changes)
        assert result.code == 0, result.stderr
        folder: str = result.document["prepared_directory"]
        return folder

    def summary(self, folder: str, *more: str) -> Result:
        return self.repocue("evaluate-cache", "summary", "--input-directory", folder, *more)
