"""The four-repository corpus: at 500 tokens the ranked cue keeps every depth-one directory (seed, "Experimental
Ranked Selection")."""

from __future__ import annotations

import functools
import json
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from repocue.cue import overview, ranked
from repocue.domain.entry_points import conventional
from repocue.domain.facts import RankedFacts
from repocue.domain.state import FileRow, Summary
from repocue.maintenance.summary import summarize
from tests.cue import samples
from tests.support.repos import corpus, corpus_repository, git

NAMES = ("click", "datasette", "ansible", "test262")


@functools.cache
def paths_of(name: str) -> tuple[str, ...]:
    return tuple(path for _, _, path in corpus(name))


@functools.cache
def summary_of(name: str) -> Summary:
    rows = []
    for mode, size, path in corpus(name):
        oid = sha256(path.encode()).hexdigest()[:40]
        rows.append(FileRow(path, mode, oid, (), mode, oid, size, ".."))
    return summarize(rows)


def depth_one(name: str) -> list[str]:
    """Straight from the path list."""
    return sorted({path.split("/")[0] for path in paths_of(name) if "/" in path}, key=str.encode)


def rich_facts(name: str) -> RankedFacts:
    """The list's own entry points, beside as many targets and as long subjects as the bounds admit."""
    points = conventional(paths_of(name))
    return samples.facts(
        entry_points=tuple(points[:12]),
        entry_points_total=len(points),
        make_targets=tuple(f"target-{number}" for number in range(40)),
        make_targets_total=400,
        recent_commits=tuple(f"{number}" + "x" * 199 for number in range(5)),
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_ranked_cue_keeps_every_depth_one_directory_at_500_tokens(name: str) -> None:
    fitted = ranked.build(samples.subject(), summary_of(name), rich_facts(name), max_tokens=500)
    document = json.loads(fitted.document)
    expected = depth_one(name)
    assert document["content"]["directories"][: len(expected)] == expected
    assert len(fitted.document) <= 2000
    assert len(document["content"].get("documents", [])) <= 12


@pytest.mark.parametrize("name", NAMES)
def test_the_overview_names_the_folders_with_most_files_at_500_tokens(name: str) -> None:
    fitted = overview.build(samples.subject(), summary_of(name), max_tokens=500)
    shown = json.loads(fitted.document)["content"]["top_level"]
    counts: dict[str, int] = {}
    for path in paths_of(name):
        key = path.split("/")[0] + "/" if "/" in path else path
        counts[key] = counts.get(key, 0) + 1
    expected = sorted(counts.items(), key=lambda item: (-item[1], item[0].encode()))
    assert [(entry["path"], entry["files"]) for entry in shown] == expected[: len(shown)]
    assert len(shown) >= min(len(expected), 24)


Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.mark.parametrize(
    "name", ["click", "datasette", *(pytest.param(name, marks=pytest.mark.deep) for name in ("ansible", "test262"))]
)
def test_the_command_keeps_them_too_on_a_repository_of_that_shape(name: str, tmp_path: Path, repocue: Run) -> None:
    root = corpus_repository(name, tmp_path / name, max_file_bytes=256)
    assert repocue("init", cwd=root).returncode == 0
    document: dict[str, Any] = json.loads(repocue("cue", "--view", "ranked", cwd=root).stdout)
    expected = depth_one(name)
    assert document["content"]["directories"][: len(expected)] == expected
    assert document["content"]["tracked_files"] == len(git(root, "ls-files").splitlines())
    assert document["content"]["recent_commits"] == [f"The shape of {name}"]
