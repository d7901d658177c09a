"""Blobs and files are read as they are: no filter, no link followed, no more than was asked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repocue.errors import GitFailed, RepositoryError
from repocue.git.content import Blob, blob, blobs, read_head, read_work_tree
from repocue.git.process import Git
from repocue.git.sizes import sizes
from repocue.git.worktree import find
from tests.support.git_oracle import entries
from tests.support.repos import RepoBuilder, Submodule, Symlink, git


@pytest.fixture
def root(tmp_path: Path) -> str:
    files = {
        b"a.txt": b"lf\n",
        b"empty": b"",
        b"binary": bytes(range(256)),
        b"with\nbreak": b"broken\n",
        b"missing\nlooking missing": b"there\n",
        b"\xff": b"not utf-8\n",
        b"-dash": b"dash\n",
        b"sub/deep": b"deep\n",
        b"link": Symlink("a.txt"),
        b"module": Submodule("1" * 40),
    }
    return RepoBuilder(tmp_path / "r").commit("one", files).build()


def test_blobs_of_a_commit_are_read_by_path_in_one_process(root: str, env: dict[str, str]) -> None:
    runner = Git(root, env)
    found = read_head(
        runner, ["a.txt", "empty", "binary", '"\\377"', "-dash", "sub/deep", "link", "module", "sub", "no"]
    )
    assert runner.processes == 1
    assert {path: got.data for path, got in found.items()} == {
        "a.txt": b"lf\n",
        "empty": b"",
        "binary": bytes(range(256)),
        '"\\377"': b"not utf-8\n",
        "-dash": b"dash\n",
        "sub/deep": b"deep\n",
        "link": b"a.txt",
    }
    ids = {path: oid for _, oid, _, path in entries(root)}
    assert found["sub/deep"].oid == ids[b"sub/deep"]


def test_names_with_line_breaks_are_asked_for_one_by_one(root: str, env: dict[str, str]) -> None:
    names = ["with\nbreak", "missing\nlooking missing", "not\nthere", "a.txt"]
    found = read_head(Git(root, env), names)
    assert {path: got.data for path, got in found.items()} == {
        "with\nbreak": b"broken\n",
        "missing\nlooking missing": b"there\n",
        "a.txt": b"lf\n",
    }


def test_a_commit_is_read_whatever_head_and_work_tree_are_now(root: str, env: dict[str, str]) -> None:
    first = git(root, "rev-parse", "HEAD").decode().strip()
    Path(root, "a.txt").write_bytes(b"crlf\r\n")
    git(root, "commit", "-q", "-a", "-m", "two", env=env)
    Path(root, "a.txt").write_bytes(b"edited\n")
    assert read_head(Git(root, env), ["a.txt"], revision=first)["a.txt"].data == b"lf\n"
    assert read_head(Git(root, env), ["a.txt"])["a.txt"].data == b"crlf\r\n"


def test_blobs_by_id(root: str, env: dict[str, str]) -> None:
    ids = {path: oid for _, oid, _, path in entries(root)}
    tree = git(root, "rev-parse", "HEAD^{tree}").decode().strip()
    assert blob(Git(root, env), ids[b"binary"]) == bytes(range(256))
    assert blobs(Git(root, env), [ids[b"empty"], "0" * 40, tree]) == {ids[b"empty"]: b""}
    assert blobs(Git(root, env), []) == {}
    with pytest.raises(GitFailed) as raised:
        blob(Git(root, env), "0" * 40)
    assert raised.value.code == "git.no-object"


def test_reading_is_bounded(root: str, env: dict[str, str]) -> None:
    with pytest.raises(GitFailed) as raised:
        read_head(Git(root, env), ["binary"], limit_bytes=200)
    assert raised.value.code == "git.output-too-large"
    assert read_work_tree(find(root, env), "binary", limit_bytes=10) == bytes(range(10))


def test_an_unborn_head_holds_nothing(tmp_path: Path, env: dict[str, str]) -> None:
    root = RepoBuilder(tmp_path).build()
    assert read_head(Git(root, env), ["a", "b"]) == {}


def test_a_partial_clones_missing_blobs_are_missing_and_not_fetched(
    root: str, tmp_path: Path, env: dict[str, str]
) -> None:
    git(root, "config", "uploadpack.allowFilter", "true")
    clone = str(tmp_path / "clone")
    git(tmp_path, "clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{root}", clone, env=env)
    git(clone, "cat-file", "-e", "HEAD:sub/deep", env=env)  # this one is fetched
    found = read_head(Git(clone, env), ["a.txt", "sub/deep", "binary", "empty"])
    assert {path: got.data for path, got in found.items()} == {"sub/deep": b"deep\n"}


def test_work_tree_files_are_read_but_links_folders_and_fifos_are_not(root: str, env: dict[str, str]) -> None:
    os.mkfifo(os.path.join(root, "fifo"))
    found = find(root, env)
    assert read_work_tree(found, "a.txt", limit_bytes=100) == b"lf\n"
    assert read_work_tree(found, '"\\377"', limit_bytes=100) == b"not utf-8\n"
    for name in ("link", "sub", "fifo", "missing", "a.txt/below"):
        with pytest.raises(RepositoryError) as raised:
            read_work_tree(found, name, limit_bytes=100)
        assert raised.value.code == "repository.unreadable"
        assert name in raised.value.message


def test_replace_refs_do_not_change_what_is_read(root: str, env: dict[str, str]) -> None:
    ids = {path: oid for _, oid, _, path in entries(root)}
    git(root, "replace", ids[b"a.txt"], ids[b"binary"], env=env)
    assert read_head(Git(root, env), ["a.txt"]) == {"a.txt": Blob(ids[b"a.txt"], b"lf\n")}


def test_sizes_are_those_of_the_files(root: str, env: dict[str, str]) -> None:
    os.remove(os.path.join(root, "a.txt"))
    os.remove(os.path.join(root, "-dash"))
    os.mkfifo(os.path.join(root, "-dash"))
    found = find(root, env)
    whole = sizes(found, env)
    base = os.fsencode(root)
    assert whole == {
        path: os.lstat(os.path.join(base, name)).st_size
        for path, name in (
            ("binary", b"binary"),
            ("empty", b"empty"),
            ("link", b"link"),
            ("missing\nlooking missing", b"missing\nlooking missing"),
            ("sub/deep", b"sub/deep"),
            ("with\nbreak", b"with\nbreak"),
            ('"\\377"', b"\xff"),
        )
    } | {"module": 0}
    assert sizes(found, env, paths=["binary", "a.txt", "nowhere"]) == {"binary": 256}
