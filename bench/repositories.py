"""The repositories that are measured: built from the path lists under tests/data/corpus, or a clone of yours."""

from __future__ import annotations

import os
import time

from tests.support.repos import corpus_repository, git

CORPUS = ("click", "ansible", "test262")
"""About 170, 5 000 and 57 000 tracked files."""


def build(name: str, folder: str) -> str:
    """A repository with the shape of a corpus list, settled; returns its root."""
    return settle(corpus_repository(name, os.path.join(folder, name)))


def clone(path: str, folder: str) -> str:
    """A settled clone of the repository at `path`, so that the original is left alone; returns its root."""
    target = os.path.join(folder, os.path.basename(os.path.realpath(path)) or "repository")
    git(folder, "clone", "-q", "--no-hardlinks", os.path.realpath(path), target)
    return settle(target)


def settle(root: str) -> str:
    """Age the files and refresh the index, so that git trusts every entry's times and reads no contents."""
    aged = time.time() - 60
    for path in git(root, "ls-files", "-z").split(b"\0"):
        target = os.path.join(os.fsencode(root), path)
        if path and os.path.lexists(target):
            os.utime(target, (aged, aged), follow_symlinks=False)
    git(root, "update-index", "-q", "--refresh")
    return root


def tracked_files(root: str) -> int:
    """How many entries the index has."""
    return git(root, "ls-files", "-z").count(b"\0")
