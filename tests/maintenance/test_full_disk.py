"""A full file system, and a file-size limit, give one clear error and the old state."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from repocue.errors import CacheFull
from repocue.maintenance import lifecycle
from tests.maintenance.support import request, rows, runs, write
from tests.support.repos import RepoBuilder


@pytest.fixture
def root(tmp_path: Path) -> str:
    files = {f"folder-{number % 40:02d}/a-rather-long-file-name-{number:05d}.py": "x\n" for number in range(3000)}
    return RepoBuilder(tmp_path / "r").commit("first", files).build()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1.5 MiB."""
    where = tmp_path / "disk"
    where.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1536k", "none", str(where)], capture_output=True)
    if done.returncode:
        pytest.skip("no file system can be mounted here; the file-size limit is tested all the same")
    yield where
    subprocess.run(["umount", str(where)], check=True)


def fill(disk: Path) -> None:
    """Write until nothing more fits."""
    with open(disk / "filler", "wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while file.write(b"\0" * size):
                    pass
            except OSError:
                continue


def test_no_room_for_a_first_state_leaves_nothing_behind(root: str, small_disk: Path, env: Mapping[str, str]) -> None:
    (small_disk / "filler").write_bytes(b"\0" * 1_300_000)
    of = request(root, small_disk, env)
    with pytest.raises(CacheFull) as error:
        lifecycle.init(of)
    assert error.value.code == "cache.full"
    assert os.listdir(of.cache.folder(of.worktree.id)) == ["state.lock"]
    (small_disk / "filler").unlink()
    assert lifecycle.init(of).outcome == "initialized"


def test_no_room_for_the_next_snapshot_keeps_the_old_one(root: str, small_disk: Path, env: Mapping[str, str]) -> None:
    of = request(root, small_disk, env)
    lifecycle.init(of)
    before = rows(of)
    for number in range(0, 3000, 2):
        write(root, f"folder-{number % 40:02d}/a-rather-long-file-name-{number:05d}.py", "edited\n")
    fill(small_disk)
    for operation in (lifecycle.refresh, lifecycle.rebaseline, lifecycle.refresh):
        with pytest.raises(CacheFull):
            operation(of)
    (small_disk / "filler").unlink()
    assert rows(of) == before
    result = lifecycle.refresh(of)
    assert (result.outcome, result.header.snapshot) == ("published", "snapshot-000002")
    assert [run.outcome for run in runs(of)] == ["published", "published"]


@pytest.mark.parametrize("command", ["init", "refresh", "rebaseline"])
def test_a_file_size_limit_is_told_from_a_broken_disk(
    root: str, tmp_path: Path, env: Mapping[str, str], repocue_exe: list[str], command: str
) -> None:
    of = request(root, tmp_path / "cache", env)
    before = None
    if command != "init":
        lifecycle.init(of)
        before = rows(of)
        for number in range(0, 3000, 2):
            write(root, f"folder-{number % 40:02d}/a-rather-long-file-name-{number:05d}.py", "edited\n")
    done = subprocess.run(
        [*repocue_exe, "-C", root, "--cache-dir", str(tmp_path / "cache"), command],
        env=env,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)),
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert b'"code":"cache.full"' in done.stderr
    if before is None:
        assert not os.path.exists(of.state_path)
    else:
        assert rows(of) == before
    assert (lifecycle.init if before is None else lifecycle.refresh)(of).is_published
