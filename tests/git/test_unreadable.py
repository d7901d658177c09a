"""What may not be read is said, with exact counts, and never taken for unchanged, empty or absent."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.repos import RepoBuilder, git
from tests.support.unprivileged import give_away, open_folder, unprivileged_python

IMPORTS = """
import json
from repocue.errors import RepoCueError
from repocue.git.evidence import capture
from repocue.git.scan import observe
from repocue.git.worktree import find
"""
OBSERVE = """
try:
    found = find(sys.argv[1], os.environ)
    seen = observe(found, os.environ)
    print(json.dumps({
        "dirty": [list(file) for file in seen.dirty],
        "untracked": [list(path) for path in seen.untracked],
        "warnings": [list(warning) for warning in seen.warnings],
        "is_dirty": seen.is_dirty,
        "captured": [list(entry)[:3] for entry in capture(found, os.environ).untracked],
    }))
except RepoCueError as error:
    print(json.dumps({"code": error.code, "message": error.message}))
"""


@pytest.fixture
def folder() -> Iterator[str]:
    with open_folder() as path:
        yield path


def observed(root: str, env: dict[str, str]) -> dict[str, Any]:
    """What an unprivileged user's observation of `root` finds."""
    give_away(root)
    answer = json.loads(unprivileged_python(OBSERVE, root, imports=IMPORTS, env=env))
    assert isinstance(answer, dict)
    return answer


def test_an_edited_file_that_may_not_be_read(folder: str, env: dict[str, str]) -> None:
    names = ("edited", "secret", "same-but-secret")
    root = RepoBuilder(os.path.join(folder, "r")).commit("one", {name: f"{name}\n" for name in names}).build()
    Path(root, "edited").write_text("edited\nmore\n")
    Path(root, "secret").write_text("edited too\n")
    os.chmod(os.path.join(root, "secret"), 0)
    seen = observed(root, env)
    oid = git(root, "hash-object", "edited", env={**env, **TRUST}).decode().strip()
    assert seen["dirty"] == [["edited", ".M", "100644", oid, 12], ["secret", ".M", "100644", None, 11]]
    assert seen["warnings"] == [["unreadable-files", 1]]


def test_a_folder_that_may_not_be_entered_hides_tracked_files(folder: str, env: dict[str, str]) -> None:
    """git passes over them in silence on stdout; they are neither clean nor deleted but out of sight."""
    files = {"open/a": "a\n", "closed/b": "b\n", "closed/deep/c": "c\n", "listed/d": "d\n"}
    root = RepoBuilder(os.path.join(folder, "r")).commit("one", files).build()
    for name in ("closed", "listed"):
        Path(root, name, "untracked").write_text("x")
    Path(root, "open/a").write_text("edited\n")
    os.chmod(os.path.join(root, "closed"), 0)
    os.chmod(os.path.join(root, "listed"), 0o600)  # its names may be listed, but not looked at
    seen = observed(root, env)
    assert [file[:4] for file in seen["dirty"] if file[1] != ".M"] == [
        ["closed/b", ".u", "100644", None],
        ["closed/deep/c", ".u", "100644", None],
        ["listed/d", ".u", "100644", None],
    ]
    assert seen["untracked"] == [["listed/untracked", "other"]]
    assert seen["warnings"] == [["unreadable-files", 3], ["unreadable-folders", 2]]


def test_out_of_sight_files_alone_do_not_make_a_repository_dirty(folder: str, env: dict[str, str]) -> None:
    root = RepoBuilder(os.path.join(folder, "r")).commit("one", {"closed/b": "b\n", "a": "a\n"}).build()
    os.chmod(os.path.join(root, "closed"), 0)
    seen = observed(root, env)
    assert not seen["is_dirty"]
    assert seen["dirty"] == [["closed/b", ".u", "100644", None, None]]


def test_an_untracked_folder_that_may_not_be_listed(folder: str, env: dict[str, str]) -> None:
    root = RepoBuilder(os.path.join(folder, "r")).commit("one", {"a": "a\n"}).build()
    os.makedirs(os.path.join(root, "closed/inside"))
    Path(root, "closed/inside/file").write_text("x")
    Path(root, "open").write_text("x")
    os.chmod(os.path.join(root, "closed"), 0o100)
    seen = observed(root, env)
    assert seen["untracked"] == [["open", "file"]]
    assert seen["warnings"] == [["unreadable-folders", 1]]


def test_a_hidden_file_that_may_not_be_read_is_counted_once(folder: str, env: dict[str, str]) -> None:
    root = RepoBuilder(os.path.join(folder, "r")).commit("one", {"a": "a\n"}).build()
    git(root, "update-index", "--assume-unchanged", "a", env=env)
    os.chmod(os.path.join(root, "a"), 0)
    seen = observed(root, env)
    assert seen["dirty"] == [["a", ".u", "100644", None, 2]]
    assert seen["warnings"] == [["unreadable-files", 1]]


def test_a_root_that_may_be_entered_but_not_listed(folder: str, env: dict[str, str]) -> None:
    root = RepoBuilder(os.path.join(folder, "r")).commit("one", {"a": "a\n", "b": "b\n"}).build()
    Path(root, "a").write_text("edited\n")
    Path(root, "untracked").write_text("x")
    give_away(root)
    os.chmod(root, 0o311)
    seen = observed(root, env)
    assert [file[:3] for file in seen["dirty"]] == [["a", ".M", "100644"]]
    assert seen["dirty"][0][3] is not None
    assert seen["untracked"] == []
    assert seen["warnings"] == [["unreadable-folders", 1]]


def test_an_untracked_file_that_may_not_be_read_has_no_digest(folder: str, env: dict[str, str]) -> None:
    root = RepoBuilder(os.path.join(folder, "r")).commit("one", {"a": "a\n"}).build()
    Path(root, "secret").write_text("x")
    os.chmod(os.path.join(root, "secret"), 0)
    assert observed(root, env)["captured"] == [["secret", "file", None]]


def test_a_git_folder_that_may_not_be_read_is_not_taken_for_none(folder: str, env: dict[str, str]) -> None:
    root = RepoBuilder(os.path.join(folder, "r")).commit("one", {"sub/a": "a\n"}).build()
    os.chmod(os.path.join(root, ".git"), 0)
    seen = observed(root, env)
    assert seen["code"] == "repository.unreadable"
    assert os.path.join(root, ".git") in seen["message"]
    assert observed(os.path.join(root, "sub"), env)["code"] == "repository.unreadable"


def test_a_folder_that_may_not_be_entered_is_no_repository_we_can_find(folder: str, env: dict[str, str]) -> None:
    root = RepoBuilder(os.path.join(folder, "r")).commit("one", {"a": "a\n"}).build()
    give_away(root)
    os.chmod(root, 0)
    answer = json.loads(unprivileged_python(OBSERVE, root, imports=IMPORTS, env=env))
    assert answer["code"] == "repository.unreadable"
    answer = json.loads(unprivileged_python(OBSERVE, os.path.join(root, "deeper"), imports=IMPORTS, env=env))
    assert answer["code"] == "repository.unreadable"


def test_a_reported_fault_dubious_ownership_is_an_error_with_the_line_that_allows_it(
    folder: str, env: dict[str, str]
) -> None:
    root = RepoBuilder(os.path.join(folder, "r")).commit("one", {"a": "a\n"}).build()
    if os.geteuid() != 0:
        pytest.skip("only root can make another user's repository")
    code = """
try:
    find(sys.argv[1], os.environ)
except RepoCueError as error:
    print(error.code, error.message, error.hint, sep="\\n")
"""
    lines = unprivileged_python(code, root, imports=IMPORTS, env=env).decode().splitlines()
    assert lines[0] == "repository.ownership"
    assert root in lines[1]
    assert lines[2] == f"If you trust it: git config --global --add safe.directory {root}"
    trusted = {**env, **TRUST, "GIT_CONFIG_VALUE_0": root}
    assert unprivileged_python(code, root, imports=IMPORTS, env=trusted) == b""


TRUST = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
