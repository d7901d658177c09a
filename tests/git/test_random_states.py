"""Law: after any edits, with or without what earlier scans kept, an observation is what git itself says."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repocue.domain.state import Known
from repocue.git.scan import observe
from repocue.git.worktree import find
from tests.git.conftest import known_of
from tests.support.git_oracle import check
from tests.support.repos import RepoBuilder, Symlink, git

NAMES = ("a.txt", "b.txt", "d/a.txt", "d/e/c.bin", "link", ".gitattributes", "d/.gitattributes")
TEXTS = (
    b"",
    b"text\n",
    b"lines\r\nwith\r\ncr\r\n",
    b"\0binary\r\n",
    b"* text=auto\n",
    b"*.txt text eol=crlf\n",
    b"*.txt -text\n*.bin filter=up\n",
)

Step = tuple[str, str, int]

steps = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("write", "write", "write", "delete", "chmod", "symlink", "folder", "repository", "touch"),
                *("add", "add", "add-all", "intend", "unstage", "remove", "commit", "switch", "conflict", "reset"),
                *("assume-unchanged", "no-assume-unchanged", "skip-worktree", "no-skip-worktree", "autocrlf", "scan"),
            ]
        ),
        st.sampled_from(NAMES),
        st.integers(0, len(TEXTS) - 1),
    ),
    max_size=10,
)


class World:
    """One repository to which steps are done. A step that git refuses changes nothing."""

    def __init__(self, root: str, env: dict[str, str]) -> None:
        self.root = root
        self.env = env
        self.known: Known | None = None
        self.hides = False

    def git(self, *arguments: str, stdin: bytes | None = None) -> bytes:
        return git(self.root, *arguments, stdin=stdin, env=self.env, ok=tuple(range(256)))

    def clear(self, path: str) -> None:
        """Remove whatever stands at `path` and whatever stands in the way of its folders."""
        whole = os.path.join(self.root, path)
        parent = os.path.dirname(whole)
        while not os.path.isdir(parent) or os.path.islink(parent):
            if os.path.lexists(parent):
                os.remove(parent)
            parent = os.path.dirname(parent)
        if os.path.isdir(whole) and not os.path.islink(whole):
            shutil.rmtree(whole)
        elif os.path.lexists(whole):
            os.remove(whole)
        os.makedirs(os.path.dirname(whole), exist_ok=True)

    def do(self, step: Step) -> None:
        kind, path, number = step
        whole = os.path.join(self.root, path)
        if kind in ("write", "delete", "symlink", "folder", "repository"):
            self.clear(path)
            if kind == "write":
                Path(whole).write_bytes(TEXTS[number])
            elif kind == "symlink":
                os.symlink(f"target{number}", whole)
            elif kind == "repository":
                shutil.copytree(f"{self.root}/../nested", whole)
            elif kind == "folder":
                os.mkdir(whole)
                Path(whole, "inside").write_bytes(TEXTS[number])
        elif kind in ("chmod", "touch"):
            if os.path.isfile(whole) and not os.path.islink(whole):
                os.chmod(whole, 0o755 if number % 2 else 0o644) if kind == "chmod" else os.utime(
                    whole, (number, number)
                )
        elif kind in ("assume-unchanged", "no-assume-unchanged", "skip-worktree", "no-skip-worktree"):
            self.hides = True
            self.git("update-index", f"--{kind}", path)
        elif kind == "conflict":
            oids = [self.git("hash-object", "-w", "--stdin", stdin=text).decode().strip() for text in TEXTS[:3]]
            held = [stage for stage in (1, 2, 3) if (number + 1) & 1 << (stage - 1)]
            lines = [f"0 {'0' * 40}\t{path}\n"] + [f"100644 {oids[stage - 1]} {stage}\t{path}\n" for stage in held]
            self.git("update-index", "--index-info", stdin="".join(lines).encode())
        elif kind == "autocrlf":
            self.git("config", "core.autocrlf", ("true", "input", "false")[number % 3])
        elif kind == "scan":
            self.known = known_of(observe(find(self.root, self.env), self.env, known=self.known))
        else:
            arguments = {
                "add": ("add", "--", path),
                "add-all": ("add", "-A"),
                "intend": ("add", "-N", "--", path),
                "unstage": ("reset", "-q", "--", path),
                "remove": ("rm", "-q", "--cached", "--", path),
                "commit": ("commit", "-q", "-m", "step"),
                "switch": ("checkout", "-q", "-b", f"branch{number}"),
                "reset": ("reset", "-q", ("--soft", "--mixed", "--hard")[number % 3], "HEAD"),
            }[kind]
            self.git(*arguments)


@pytest.fixture
def world(tmp_path: Path, env: dict[str, str]) -> Callable[[], World]:
    """`world()`: a fresh copy of the same small repository."""
    files = {"a.txt": b"text\n", "b.txt": b"crlf\r\n", "d/a.txt": b"x\n", "d/e/c.bin": b"\0", "link": Symlink("a.txt")}
    template = RepoBuilder(tmp_path / "template").commit("one", files).build()
    git(template, "config", "filter.up.clean", "tr a-z A-Z")
    RepoBuilder(tmp_path / "nested").commit("one", {"inside": "x\n"}).build()
    count = [0]

    def fresh() -> World:
        count[0] += 1
        root = str(tmp_path / f"w{count[0]}")
        shutil.copytree(template, root, symlinks=True)
        return World(root, env)

    return fresh


def law(world: World, edits: list[Step]) -> None:
    for step in edits:
        world.do(step)
    found = find(world.root, world.env)
    kept = observe(found, world.env, known=world.known)
    fresh = observe(found, world.env)
    check(fresh, world.root, world.env, hidden=world.hides)
    same = {"cost": None, "observed_at": "", "contents": {}, "entries": None}
    assert kept._replace(**same) == fresh._replace(**same)
    assert kept.entries() == fresh.entries()
    shutil.rmtree(world.root)


@given(edits=steps)
@settings(max_examples=40)
def test_any_edits(world: Callable[[], World], edits: list[Step]) -> None:
    law(world(), edits)


@pytest.mark.deep
@given(edits=steps)
@settings(max_examples=600, derandomize=False)
def test_any_edits_at_length(world: Callable[[], World], edits: list[Step]) -> None:
    law(world(), edits)
