"""Sizes at the edge: very long paths, files larger than memory would like, very many files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repocue.git.evidence import capture
from repocue.git.folder import Folder
from repocue.git.scan import observe
from repocue.git.sizes import sizes
from repocue.git.worktree import find
from tests.git.conftest import Observe, known_of, let_the_clock_tick
from tests.support.git_oracle import check, entries
from tests.support.repos import RepoBuilder, git

GIBIBYTE = 1 << 30


def test_a_path_of_4000_bytes(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    """With the root's own path before it, no kernel would take it: it is reached relative to the root."""
    folder = "/".join(["d" * 199] * 19)
    long = f"{folder}/{'f' * (4000 - len(folder) - 1)}"
    untracked = f"{folder}/u"
    assert len(long) == 4000
    root = RepoBuilder(tmp_path / ("r" * 100)).commit("one", {long: "text\n", "short": "x\n"}).build(checkout=False)
    git(root, "reset", "-q", "--hard", env=env)
    seen = observe(find(root, env), env)
    assert seen.dirty == ()
    assert sizes(find(root, env), env) == {long: 5, "short": 2}
    with Folder(os.fsencode(root)) as at:
        handle = os.open(folder, os.O_RDONLY, dir_fd=at._handle)  # to write where the room only reads
        for name, text in (("f" * (4000 - len(folder) - 1), b"edited\n"), ("u", b"new\n")):
            descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, dir_fd=handle)
            os.write(descriptor, text)
            os.close(descriptor)
        os.close(handle)
        assert at.read(long.encode(), 100) == b"edited\n"
    seen = observe(find(root, env), env)
    oid = git(root, "hash-object", "--stdin", stdin=b"edited\n", env=env).decode().strip()
    assert [tuple(file) for file in seen.dirty] == [(long, ".M", "100644", oid, 7)]
    assert [tuple(path) for path in seen.untracked] == [(untracked, "file")]
    assert capture(find(root, env), env).untracked[0].digest is not None


def test_a_path_longer_than_any_call_takes_is_read_step_by_step(tmp_path: Path) -> None:
    names = ["d" * 200] * 40
    handle = os.open(tmp_path, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=handle)
        deeper = os.open(name, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = deeper
    descriptor = os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=handle)
    os.write(descriptor, b"deep\n")
    os.close(descriptor)
    os.symlink("target", "link", dir_fd=handle)
    os.close(handle)
    base = "/".join(names).encode()
    assert len(base) > 8000
    with Folder(os.fsencode(tmp_path)) as at:
        assert at.read(base + b"/file", 100) == b"deep\n"
        assert at.lstat(base + b"/file").st_size == 5
        assert at.readlink(base + b"/link") == b"target"
        with pytest.raises(FileNotFoundError):
            at.lstat(base + b"/missing")


def sparse(path: Path, size_bytes: int) -> None:
    """A file of zeros that takes no room on disk."""
    with path.open("wb") as file:
        file.truncate(size_bytes)


def large_and_dirty(look: Observe, root: str, env: dict[str, str], size_bytes: int) -> None:
    sparse(Path(root, "large"), size_bytes)
    let_the_clock_tick(os.path.join(root, "large"))
    seen = look(root)
    check(seen, root, env)
    assert seen.cost.bytes_read == size_bytes
    again = look(root, known_of(seen))
    assert (again.dirty, again.cost.bytes_read) == (seen.dirty, 0)


def test_a_dirty_file_beyond_gits_big_file_threshold_is_read_once_and_stored_nowhere(
    look: Observe, tmp_path: Path, env: dict[str, str]
) -> None:
    """git streams such a file to a pack instead of memory; here it is only hashed."""
    root = RepoBuilder(tmp_path).commit("one", {"large": "small\n"}).build()
    git(root, "config", "core.bigFileThreshold", "16m")
    large_and_dirty(look, root, env, 64 << 20)


@pytest.mark.deep
def test_a_dirty_sparse_file_of_3_gibibytes(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    root = RepoBuilder(tmp_path).commit("one", {"large": "small\n"}).build()
    large_and_dirty(look, root, env, 3 * GIBIBYTE)


def test_an_untracked_sparse_file_of_3_gibibytes_is_not_read_by_an_observation(
    look: Observe, simple: str, env: dict[str, str]
) -> None:
    sparse(Path(simple, "large"), 3 * GIBIBYTE)
    seen = look(simple)
    check(seen, simple, env)
    assert [tuple(path) for path in seen.untracked] == [("large", "file")]
    assert seen.cost.bytes_read == 0


@pytest.mark.deep
def test_an_untracked_sparse_file_of_3_gibibytes_is_hashed_once_as_evidence(simple: str, env: dict[str, str]) -> None:
    sparse(Path(simple, "large"), 3 * GIBIBYTE)
    let_the_clock_tick(os.path.join(simple, "large"))
    first = capture(find(simple, env), env)
    assert first.bytes_read == 3 * GIBIBYTE
    assert first.untracked[0].digest == "sha256:" + THREE_GIBIBYTES_OF_ZEROS
    second = capture(find(simple, env), env, earlier=first)
    assert (second.bytes_read, second.state_fingerprint) == (0, first.state_fingerprint)


THREE_GIBIBYTES_OF_ZEROS = "305b66a59d15b252092fbda9d09711230c429f351897cbd430e7b55a35fd3b97"
"""`head -c 3G /dev/zero | sha256sum`"""


def test_sizes_above_4_gibibytes_are_exact_though_the_index_cannot_hold_them(
    tmp_path: Path, env: dict[str, str]
) -> None:
    """A filter makes a small blob of a huge file, as file-store extensions do."""
    root = RepoBuilder(tmp_path).commit("one", {".gitattributes": "*.bin filter=pointer\n"}).build()
    git(root, "config", "filter.pointer.clean", "echo pointer")  # the input is left unread
    sparse(Path(root, "a.bin"), 5 * GIBIBYTE + 7)
    git(root, "add", "a.bin", env=env)
    assert b"size: 1073741831\t" in git(root, "ls-files", "--debug", "a.bin", env=env)  # modulo 2^32
    seen = observe(find(root, env), env)
    assert [tuple(file) for file in seen.dirty] == [
        ("a.bin", "A.", "100644", entries(root, env=env)[1][1], 5 * GIBIBYTE + 7)
    ]
    assert sizes(find(root, env), env)["a.bin"] == 5 * GIBIBYTE + 7


def many_files(look: Observe, tmp_path: Path, env: dict[str, str], count: int) -> None:
    files = {f"d{number // 500}/f{number}": b"%d\n" % (number % 7) for number in range(count)}
    root = RepoBuilder(tmp_path).commit("one", files).build()
    Path(root, "d0/f1").write_text("edited\n")
    os.remove(os.path.join(root, "d1/f501"))
    seen = observe(find(root, env), env)
    check(seen, root, env)
    assert seen.cost.files_scanned == count
    again = observe(find(root, env), env, known=known_of(seen))
    assert again.repository_digest == seen.repository_digest
    assert len(sizes(find(root, env), env)) == count - 1


def test_3_thousand_files(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    many_files(look, tmp_path, env, 3_000)


@pytest.mark.deep
def test_100_thousand_files(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    many_files(look, tmp_path, env, 100_000)


def test_thousands_of_dirty_files_are_identified_together(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    files = {f"d{number // 500}/f{number}": b"%d\n" % number for number in range(1000)}
    root = RepoBuilder(tmp_path).commit("one", files).build()
    for name in files:
        with open(os.path.join(root, name), "ab") as file:
            file.write(b"more\n")
    seen = observe(find(root, env), env)
    check(seen, root, env)
    assert len(seen.dirty) == 1000
    assert seen.cost.git_processes == 6
