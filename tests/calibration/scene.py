"""A repository with a maintained cache, and report sets that are about exactly its state.

Version 4's digests are those that git's room computes, which has tests of its own; version 3's are computed here, from
git's answers and the definitions of that version. `tests/calibration/test_whole_path.py` imports what `evaluate-m2`
itself published.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from repocue.calibration.importing import ImportResult, Inputs, import_sets
from repocue.git import evidence
from repocue.git.worktree import find
from repocue.maintenance import lifecycle
from repocue.maintenance.request import Request
from repocue.store import calibrations
from repocue.store.calibrations import Calibration, Opinion
from repocue.store.database import open_state
from tests.maintenance.support import NOW_MS, request
from tests.support import m2_sets
from tests.support.m2_sets import Agent, turn
from tests.support.repos import RepoBuilder, git

Document = dict[str, Any]
FILES = {"README.md": "# Adder\n", "src/a.py": "def add(a, b):\n    return a + b\n"}


@dataclass(frozen=True, kw_only=True)
class Scene:
    """`root` is the repository, `cache` its maintained cache, `sets` an empty folder beside it."""

    root: str
    cache: str
    sets: str
    env: Mapping[str, str]

    def request(self, *, elapsed_ms: float | None = 12.5, now_ms: int = NOW_MS) -> Request:
        return request(self.root, self.cache, self.env, elapsed_ms=elapsed_ms, now_ms=now_ms)

    def state(self, version: int = 4) -> Document:
        """The `repository` members of a report about this state."""
        return state_3(self.root, self.env) if version == 3 else state_4(self.root, self.env)

    def fresh(self, folder: Path) -> Scene:
        """The same repository with a copy of the cache, and an empty folder for sets."""
        made = dataclasses.replace(self, cache=str(folder / "cache"), sets=str(folder / "sets"))
        shutil.copytree(self.cache, made.cache)
        os.makedirs(made.sets)
        return made

    def reports(self, *, version: int = 4, **options: Any) -> list[Document]:
        """Five reports about this state; `repository` replaces members of it, and fingerprints of version 3 follow."""
        repository = {**self.state(version), **options.pop("repository", {})}
        if version == 3:
            del repository["state_fingerprint"]
        return m2_sets.reports(version=version, repository=repository, **options)

    def write(self, *, name: str | None = None, **options: Any) -> str:
        """A published set of `reports`."""
        return m2_sets.write(self.sets, self.reports(**options), name=name)

    def load(self, *folders: str, **more: Any) -> ImportResult:
        """Import sets, all of this scene's by default."""
        return import_sets(self.request(), Inputs(report_sets=folders or [self.sets], **more))

    def stored(self) -> list[Calibration]:
        with open_state(self.request().state_path, mode="read") as database:
            return calibrations.calibrations(database)

    def opinions(self) -> list[Opinion]:
        with open_state(self.request().state_path, mode="read") as database:
            return list(calibrations.opinions(database))


def make(folder: Path, env: Mapping[str, str], *, dirty: bool = False) -> Scene:
    """A scene with one commit, initialized; with `dirty`, one edited and one untracked file."""
    root = RepoBuilder(folder / "adder").commit("first", FILES).build()
    if dirty:
        Path(root, "src/a.py").write_text("def add(a, b):\n    return b + a\n")
        Path(root, "new.txt").write_text("new\n")
    made = Scene(root=root, cache=str(folder / "cache"), sets=str(folder / "sets"), env=env)
    os.makedirs(made.sets)
    lifecycle.init(made.request(elapsed_ms=80.0))
    return made


def _common(root: str) -> Document:
    listed = git(root, "ls-files", "-z").decode().split("\0")[:-1]
    head = git(root, "rev-parse", "--verify", "-q", "HEAD", ok=(0, 1)).decode().strip()
    branch = git(root, "symbolic-ref", "-q", "--short", "HEAD", ok=(0, 1)).decode().strip()
    return {
        "supplied_path": ".",
        "resolved_root": root,
        "id": "repo-" + sha256(root.encode()).hexdigest()[:24],
        "name": os.path.basename(root),
        "branch": branch or None,
        "head": head or None,
        "dirty": bool(git(root, "status", "--porcelain", "-uall")),
        "tracked_files": len(listed),
        "tracked_bytes": sum(os.path.getsize(os.path.join(root, name)) for name in listed),
    }


def state_4(root: str, env: Mapping[str, str]) -> Document:
    found = evidence.capture(find(root, env), env)
    return {
        **_common(root),
        "status_digest": found.observation.status_digest,
        "repository_digest": found.observation.repository_digest,
        "untracked_content_digest": found.untracked_content_digest,
        "state_fingerprint": found.state_fingerprint,
    }


def digest(data: bytes) -> str:
    return "sha256:" + sha256(data).hexdigest()


def state_3(root: str, env: Mapping[str, str]) -> Document:
    """By the definitions of version 3; the names here hold no character that its JSON escapes."""
    common = _common(root)

    def paths(*arguments: str) -> list[str]:
        return sorted(git(root, *arguments, "-z").decode().split("\0")[:-1])

    names = ("--name-only", "--no-renames")
    lists = {
        "staged": paths("diff", "--cached", *names),
        "unstaged": paths("diff", *names),
        "untracked": paths("ls-files", "--others", "--exclude-standard"),
    }
    status = {
        "branch": common["branch"],
        "head": common["head"],
        **lists,
        "index_digest": digest(git(root, "ls-files", "--stage", "-z")),
    }
    diff = ("diff", "--binary", "--no-ext-diff")
    found = {
        "repocue_status_digest": digest(json.dumps(status, separators=(",", ":")).encode()),
        "repository_digest": digest(b"that tool's own"),
        "working_tree_digest": digest(json.dumps(lists, separators=(",", ":")).encode()),
        "porcelain_status_digest": digest(git(root, "status", "--porcelain=v1", "-z", "--untracked-files=all")),
        "binary_diff_digest": digest(git(root, *diff, "--cached", "--") + b"\0" + git(root, *diff, "--")),
    }
    return {**common, **found, "state_fingerprint": digest("\0".join(found.values()).encode())}


def agents(direct: Sequence[int], basic: Sequence[int], run: int) -> dict[str, Agent]:
    """Agents whose direct and basic runs use these input tokens, by run from 1, and 100 output tokens."""
    return {
        "direct": Agent(turns=[turn(direct[run - 1], 0, 100, 20)], duration_ms=1000.0 * run),
        "basic": Agent(turns=[turn(basic[run - 1], 0, 100, 20)], duration_ms=700.0 * run),
    }


def three_runs(scene: Scene, direct: Sequence[int], basic: Sequence[int], **options: Any) -> list[str]:
    """Three sets with `agents`."""
    return [scene.write(run_index=run, agents=agents(direct, basic, run), **options) for run in (1, 2, 3)]
