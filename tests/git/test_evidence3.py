"""Version-3 digests are those of the commands and texts that their description names."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest

from repocue.git import evidence3
from repocue.git.worktree import find
from tests.support.git_oracle import split, untouched
from tests.support.repos import RepoBuilder, git


def hashed(data: bytes) -> str:
    return "sha256:" + sha256(data).hexdigest()


@pytest.fixture
def root(tmp_path: Path, env: dict[str, str]) -> str:
    names = {
        "plain": "a\n",
        "less<&>more": "b\n",
        "line\u2028separator\u2029": "c\n",
        'quote"back\\': "d\n",
        "gone": "e\n",
    }
    path = RepoBuilder(tmp_path / "r").commit("one", names).build()
    for name in names:
        if name != "gone":
            Path(path, name).write_bytes(b"edited\0binary\n")
    os.remove(os.path.join(path, "gone"))
    git(path, "add", "plain", "less<&>more", env=env)
    Path(path, "plain").write_text("again\n")
    Path(path, "untracked\ttab").write_text("x")
    return path


def test_every_digest_is_recomputed(root: str, env: dict[str, str]) -> None:
    with untouched(root):
        found = evidence3.read(find(root, env), env)
    assert found.porcelain_status_digest == hashed(git(root, "status", "--porcelain=v1", "-z", "--untracked-files=all"))
    cached = git(root, "diff", "--binary", "--no-ext-diff", "--cached", "--")
    assert found.binary_diff_digest == hashed(cached + b"\0" + git(root, "diff", "--binary", "--no-ext-diff", "--"))
    index = hashed(git(root, "ls-files", "--stage", "-z"))
    assert found.index_digest == index
    head = git(root, "rev-parse", "HEAD").decode().strip()
    staged = '["less\\u003c\\u0026\\u003emore","plain"]'
    unstaged = '["gone","line\\u2028separator\\u2029","plain","quote\\"back\\\\"]'
    lists = f'"staged":{staged},"unstaged":{unstaged},"untracked":["untracked\\ttab"]'
    assert found.working_tree_digest == hashed(f"{{{lists}}}".encode())
    status = f'{{"branch":"main","head":"{head}",{lists},"index_digest":"{index}"}}'
    assert found.repocue_status_digest == hashed(status.encode())
    joined = "\0".join(
        (
            found.repocue_status_digest,
            "sha256:declared",
            found.working_tree_digest,
            found.porcelain_status_digest,
            found.binary_diff_digest,
        )
    )
    assert found.state_fingerprint("sha256:declared") == hashed(joined.encode())
    assert (found.branch, found.head, found.is_dirty) == ("main", head, True)


def test_an_unborn_or_detached_head_is_null(tmp_path: Path, env: dict[str, str]) -> None:
    root = RepoBuilder(tmp_path).build()
    found = evidence3.read(find(root, env), env)
    empty = '"staged":[],"unstaged":[],"untracked":[]'
    index = hashed(b"")
    assert found.repocue_status_digest == hashed(
        f'{{"branch":"main","head":null,{empty},"index_digest":"{index}"}}'.encode()
    )
    git(root, "commit", "-q", "--allow-empty", "-m", "one", env=env)
    git(root, "checkout", "-q", "--detach", env=env)
    found = evidence3.read(find(root, env), env)
    head = git(root, "rev-parse", "HEAD").decode().strip()
    assert found.repocue_status_digest == hashed(
        f'{{"branch":null,"head":"{head}",{empty},"index_digest":"{index}"}}'.encode()
    )
    assert not found.is_dirty


def test_a_name_that_is_not_utf8_is_written_with_replacement_characters(tmp_path: Path, env: dict[str, str]) -> None:
    root = RepoBuilder(tmp_path).build()
    for name in (b"b\xff\xfe<", "a\ufffd".encode()):
        with open(os.path.join(os.fsencode(root), name), "wb"):
            pass
    found = evidence3.read(find(root, env), env)
    lists = '"staged":[],"unstaged":[],"untracked":["a\ufffd","b\\ufffd\\ufffd\\u003c"]'
    assert found.working_tree_digest == hashed(f"{{{lists}}}".encode())


def test_a_maintenance_id_names_root_fingerprint_and_snapshot() -> None:
    expected = sha256(b"/r\0sha256:f\0snapshot-000001").hexdigest()[:24]
    assert evidence3.maintenance_id("/r", "sha256:f", "snapshot-000001") == f"maintenance-{expected}"


def test_the_lists_are_those_of_the_named_commands_in_a_conflict(tmp_path: Path, env: dict[str, str]) -> None:
    builder = RepoBuilder(tmp_path).commit("base", {"a": "base\n"}).commit("theirs", {"a": "t\n"}, branch="side")
    root = builder.commit("ours", {"a": "o\n"}).build()
    git(root, "merge", "side", ok=(1,), env=env)
    found = evidence3.read(find(root, env), env)
    names = ("--name-only", "--no-renames", "-z")
    listed = [sorted(split(git(root, "diff", *more, *names))) for more in (("--cached",), ())]
    staged, unstaged = ("[" + ",".join(f'"{path.decode()}"' for path in paths) + "]" for paths in listed)
    assert found.working_tree_digest == hashed(f'{{"staged":{staged},"unstaged":{unstaged},"untracked":[]}}'.encode())
