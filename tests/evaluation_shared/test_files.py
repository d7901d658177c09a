"""Files and folders of evidence appear whole or not at all, and nothing is overwritten."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from repocue.errors import EvaluationError, EvidenceError
from repocue.evaluation.shared import files
from repocue.evaluation.shared.publishing import PARTIAL, Staging


def test_a_new_file_has_exactly_its_bytes_and_is_the_owners_alone(tmp_path: Path) -> None:
    data = bytes(range(256)) * 3000
    files.write_new(str(tmp_path / "x"), data)
    assert (tmp_path / "x").read_bytes() == data
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("there", ["file", "folder", "dangling link"])
def test_what_exists_is_never_overwritten(tmp_path: Path, there: str) -> None:
    path = tmp_path / "x"
    if there == "file":
        path.write_bytes(b"old")
    elif there == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / "nowhere")
    for write in (lambda: files.write_new(str(path), b"new"), lambda: files.open_new(str(path))):
        with pytest.raises(EvaluationError) as caught:
            write()
        assert caught.value.code == "evaluation.exists"
    assert os.listdir(tmp_path) == ["x"]
    assert there != "file" or path.read_bytes() == b"old"


def test_a_write_that_fails_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError) as caught:
        files.write_new(str(tmp_path / "missing" / "x"), b"")
    assert caught.value.code == "evaluation.write-failed"
    assert "No such file" in caught.value.message
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(EvaluationError):
        files.make_parents(str(tmp_path / "file" / "below"))
    assert os.listdir(tmp_path) == ["file"]


def test_a_full_disk_leaves_neither_the_file_nor_its_sibling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EvaluationError, match="No space left"):
        files.write_new(str(tmp_path / "x"), b"data")
    assert os.listdir(tmp_path) == []


def test_a_raw_stream_is_visible_while_it_grows(tmp_path: Path) -> None:
    stream = files.open_new(str(tmp_path / "raw"))
    stream.write(b"first")
    assert (tmp_path / "raw").read_bytes() == b"first"
    files.close_synced(stream)
    assert stream.closed


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_only_regular_files_are_read_and_nothing_blocks(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    if kind == "link":
        (tmp_path / "target").write_bytes(b"data")
        path.symlink_to("target")
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(EvidenceError):
        files.read_file(str(path), limit_bytes=100)


def test_the_size_limit_of_a_read_is_exact(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"12345")
    assert files.read_file(str(tmp_path / "x"), limit_bytes=5) == b"12345"
    with pytest.raises(EvidenceError) as caught:
        files.read_file(str(tmp_path / "x"), limit_bytes=4)
    assert caught.value.code == "evidence.too-large"


def test_a_staged_folder_appears_whole_under_its_name(tmp_path: Path) -> None:
    with Staging(str(tmp_path), "set") as staging:
        staging.make_folder("deep")
        staging.write("deep/a", b"1")
        assert not (tmp_path / "set").exists()
        assert [name.endswith(PARTIAL) for name in os.listdir(tmp_path)] == [True]
        assert staging.publish() == str(tmp_path / "set")
    assert (tmp_path / "set" / "deep" / "a").read_bytes() == b"1"
    assert os.listdir(tmp_path) == ["set"]


@pytest.mark.parametrize("there", ["empty folder", "file"])
def test_publishing_over_anything_is_refused_and_leaves_it_alone(tmp_path: Path, there: str) -> None:
    with Staging(str(tmp_path), "set") as staging:
        staging.write("a", b"1")
        if there == "file":
            (tmp_path / "set").write_bytes(b"mine")
        else:
            (tmp_path / "set").mkdir()
        with pytest.raises(EvaluationError) as caught:
            staging.publish()
        assert caught.value.code == "evaluation.exists"
    assert os.listdir(tmp_path) == ["set"]
    assert (tmp_path / "set").read_bytes() == b"mine" if there == "file" else not os.listdir(tmp_path / "set")


def test_a_failure_before_publishing_leaves_nothing(tmp_path: Path) -> None:

    def interrupted() -> None:
        with Staging(str(tmp_path), "set") as staging:
            staging.write("a", b"1")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert os.listdir(tmp_path) == []
