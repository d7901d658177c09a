"""Kinds of fault that users reported of tools like this one, tried on the command as it is installed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.repos import RepoBuilder, git

Run = Callable[..., subprocess.CompletedProcess[bytes]]

FILES = {"README.md": "r\n", "src/a.py": "a = 1\n", "src/b.py": "b = 1\n", "docs/c.md": "# C\n"}


@pytest.fixture
def root(tmp_path: Path, repocue: Run) -> str:
    path = RepoBuilder(tmp_path / "r").commit("first", FILES).build()
    answer(repocue, path, "init")
    return path


def answer(repocue: Run, folder: str, *arguments: str) -> Any:
    """The JSON that the command answers with in `folder`."""
    done = repocue(*arguments, cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


def head(root: str) -> str:
    return git(root, "rev-parse", "HEAD").decode().strip()


def warnings(cue: Any) -> list[str]:
    return [warning["code"] for warning in cue["warnings"]]


def test_a_no_change_refresh_advances_the_basis_commit(root: str, repocue: Run) -> None:
    before = answer(repocue, root, "cue")
    git(root, "commit", "-q", "--allow-empty", "-m", "nothing changed")
    assert head(root) != before["repository"]["head"]
    answer(repocue, root, "refresh")
    after = answer(repocue, root, "cue")
    assert (after["repository"]["head"], after["freshness"], warnings(after)) == (head(root), "current", [])
    assert after["basis"]["repository_digest"] == before["basis"]["repository_digest"]


def test_a_refresh_in_a_subfolder_hides_no_other_stale_file(root: str, repocue: Run) -> None:
    for path in ("src/a.py", "docs/c.md"):
        Path(root, path).write_text("changed\n")
    git(root, "commit", "-q", "-a", "-m", "second")
    answer(repocue, os.path.join(root, "src"), "refresh")
    delta = answer(repocue, root, "cue", "--view", "delta", "--since", "snapshot-000001")
    changed = git(root, "diff", "--name-only", "HEAD~", "HEAD").decode().split()
    assert [change["path"] for change in delta["content"]["changes"] if "path" in change] == changed
    assert (delta["repository"]["head"], delta["freshness"]) == (head(root), "current")


@pytest.mark.parametrize("view", ["overview", "ranked", "provenance", "placebo"])
def test_no_answer_says_fresh_and_stale_at_once(root: str, repocue: Run, view: str) -> None:
    fresh = answer(repocue, root, "cue", "--view", view)
    assert (fresh["freshness"], warnings(fresh)) == ("current", [])
    Path(root, "src/a.py").write_text("a = 2\n")
    done = repocue("cue", "--view", view, cwd=root)
    if view == "ranked":  # it reads the work tree, which is no longer that of the snapshot
        assert (done.returncode, done.stdout) == (1, b"")
        return
    stale = json.loads(done.stdout)
    assert (stale["freshness"], warnings(stale)) == ("refresh-needed", ["working-tree-changed"])


def test_the_moment_on_a_cue_is_that_of_its_capture_and_not_of_its_printing(tmp_path: Path, repocue: Run) -> None:
    root = RepoBuilder(tmp_path / "r").commit("first", FILES).build()
    start = datetime.now(UTC)
    answer(repocue, root, "init")
    captured = datetime.now(UTC)
    old = head(root)
    git(root, "commit", "-q", "--allow-empty", "-m", "second")
    for _ in range(2):
        cue = answer(repocue, root, "cue")
        moment = datetime.fromisoformat(cue["basis"]["observed_at"])
        # the moment has whole milliseconds
        assert start.replace(microsecond=start.microsecond // 1000 * 1000) <= moment <= captured
        assert (cue["repository"]["head"], warnings(cue)) == (old, ["head-moved"])
        assert cue["basis"].keys() == {"status_digest", "repository_digest", "observed_at"}
    assert answer(repocue, root, "cue", "--refresh")["basis"]["observed_at"] > cue["basis"]["observed_at"]


def test_after_renames_and_copies_a_refresh_ends_where_a_rebuild_does(root: str, repocue: Run, tmp_path: Path) -> None:
    git(root, "mv", "src/a.py", "docs/a.py")  # moved
    git(root, "mv", "src/b.py", "src/a.py")  # into the place of the one before
    Path(root, "copy.md").write_text(FILES["README.md"])
    git(root, "add", "copy.md")
    git(root, "commit", "-q", "-m", "moved and copied")
    answer(repocue, root, "refresh")
    rebuilt = str(tmp_path / "rebuilt")
    answer(repocue, root, "--cache-dir", rebuilt, "init")
    for view, member in (("provenance", "index_digest"), ("overview", "top_level")):
        kept = answer(repocue, root, "cue", "--view", view)["content"]
        assert kept == answer(repocue, root, "--cache-dir", rebuilt, "cue", "--view", view)["content"]
        assert kept[member]
    listed = git(root, "ls-files").decode().split()
    assert answer(repocue, root, "cue")["content"]["tracked_files"] == len(listed) == 5


def test_a_token_count_of_a_cue_is_called_an_estimate_and_names_its_rule(root: str, repocue: Run) -> None:
    done = repocue("cue", "--view", "provenance", cwd=root)
    cue = json.loads(done.stdout)
    assert cue["budget"] == {"max_tokens": 500, "estimated_tokens": -(-len(done.stdout) // 4)}
    counts = [figure for figure in cue["content"]["figures"] if "tokens" in figure["name"]]
    assert counts == [{"name": "estimated_tokens", "source": "estimated", "from": "bytes / 4"}]
