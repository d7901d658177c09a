"""Golden documents of `repocue task` and of the task cue, as the commands print them on one fixed repository.

Written anew only with REPOCUE_REMAKE_GOLDEN=task in the environment; then the difference is read before it is
committed.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from repocue.contracts import reader
from tests.support.repos import RepoBuilder
from tests.task_context.declarations import PATH, declaration, item, source

Run = Callable[..., subprocess.CompletedProcess[bytes]]

FOLDER = Path(__file__).parent.parent / "golden" / "task"
REMAKE = os.environ.get("REPOCUE_REMAKE_GOLDEN") == "task"

CODE, LATIN = b"one\ntwo\nthree\nfour\nfive\n", b"caf\xe9\n"
COMMANDS = {
    "list": (("task", "list", "--tag", "code"), 0, "repocue/task-check-1"),
    "check": (("task", "check"), 1, "repocue/task-check-1"),
    "pin": (("task", "pin", "--declaration", "drifted.json"), 0, "repocue/task-check-1"),
    "cue": (("cue", "--view", "task", "--tag", "code", "--max-tokens", "1000"), 0, "repocue/task-cue-1"),
}
"""Name of the document: the command, its exit code, the contract."""


@pytest.fixture
def root(tmp_path: Path, repocue: Run) -> str:
    """Every status but dirty and untracked: the repository is its one commit."""
    files = {"src/a.py": CODE, "README.md": b"# Project\n", "latin.txt": LATIN, "empty": b""}
    kept = declaration(
        item("main", source("src/a.py", CODE, (1, 2)), source("src/a.py", CODE, (2, 4)), tags=("code", "core")),
        item("all", source("src/a.py", CODE), source("empty", b""), kind="document", tags=("code",)),
        item(
            "bad",
            source("README.md", b"# Other\n"),
            source("gone.txt", b""),
            source("latin.txt", LATIN),
            source("src/a.py", CODE, (5, 9)),
            kind="decision",
        ),
    )
    drifted = declaration(item("about", source("README.md", b"# Other\n")), name="drifted")
    made = RepoBuilder(tmp_path / "project").commit("first", {**files, PATH: kept, "drifted.json": drifted}).build()
    assert repocue("init", cwd=made).returncode == 0
    return made


def settled(document: bytes) -> bytes:
    """The document with what differs from machine to machine replaced by values of the same form and length."""
    document = re.sub(rb'"repo-[0-9a-f]{24}"', b'"repo-0123456789abcdef01234567"', document)
    return re.sub(rb'("observed_at":\s*)"[^"]*"', rb'\1"2026-11-30T19:05:07.123Z"', document)


def test_the_documents_are_the_golden_ones(root: str, repocue: Run) -> None:
    """The cue comes first: pinning another declaration makes the repository dirty."""
    for name in ("cue", "list", "check", "pin"):
        arguments, code, _ = COMMANDS[name]
        done = repocue(*arguments, cwd=root)
        assert (done.returncode, done.stderr) == (code, b""), name
        path = FOLDER / f"{name}.json"
        if REMAKE:
            FOLDER.mkdir(exist_ok=True)
            path.write_bytes(settled(done.stdout))
        assert settled(done.stdout) == path.read_bytes(), name


@pytest.mark.parametrize("name", COMMANDS)
def test_a_golden_document_keeps_its_contract(name: str) -> None:
    contract = COMMANDS[name][2]
    assert reader.read_canonical((FOLDER / f"{name}.json").read_bytes(), contract=contract)


def test_no_golden_document_is_left_over() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.json" for name in COMMANDS}
