"""The repositories that tests build are the ones they describe."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.repos import File, RepoBuilder, Submodule, Symlink, corpus, corpus_repository, git


def test_a_built_repository_has_the_modes_contents_and_history_that_were_described(tmp_path: Path) -> None:
    builder = RepoBuilder(tmp_path / "r")
    builder.commit("one", {'a\n"b\\': b"1\n", b"\xff name": "2\n", "run": File(b"#!/bin/sh\n", "100755")})
    builder.commit("two", {"link": Symlink("run"), "sub": Submodule("1" * 40), "run": None})
    builder.commit("side", {"side": "x"}, branch="side")
    root = builder.build()
    tree = git(root, "ls-tree", "-r", "-z", "HEAD").split(b"\0")[:-1]
    assert [entry[:6] + b" " + entry.split(b"\t", 1)[1] for entry in tree] == [
        b'100644 a\n"b\\',
        b"120000 link",
        b"160000 sub",
        b"100644 \xff name",
    ]
    assert git(root, "log", "--format=%s %ct", "side").splitlines() == [
        b"side 1700007200",
        b"two 1700003600",
        b"one 1700000000",
    ]
    assert git(root, "status", "--porcelain") == b""
    assert os.readlink(os.path.join(root, "link")) == "run"


@pytest.mark.parametrize("name", ["click", "datasette"])
def test_a_corpus_repository_has_every_mode_size_and_path_of_its_list(name: str, tmp_path: Path) -> None:
    root = corpus_repository(name, tmp_path / name)
    listing = git(root, "ls-tree", "-r", "-l", "-z", "HEAD").decode().split("\0")[:-1]
    found = []
    for line in listing:
        head, path = line.split("\t", 1)
        mode, _, _, size = head.split()
        found.append((mode, 0 if size == "-" else int(size), path))
    assert found == sorted(corpus(name), key=lambda entry: entry[2].encode())
    assert git(root, "status", "--porcelain") == b""
