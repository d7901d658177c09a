"""Real repositories for tests, each built by one `git fast-import`.

::

    repo = RepoBuilder(tmp_path / "r")
    repo.commit("first", {"README.md": b"hello\\n", "bin/run": File(b"#!/bin/sh\\n", mode="100755")})
    repo.commit("second", {"README.md": None, "link": Symlink("bin/run"), "sub": Submodule("1" * 40)})
    root = repo.build()  # one fast-import, then one checkout
    git(root, "status", "--porcelain")  # bytes

Names are str or bytes; commit dates count up from a fixed moment, so that ids are the same on every machine.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from tests.support.environment import isolated_environment

CORPUS = os.path.join(os.path.dirname(__file__), os.pardir, "data", "corpus")
FIRST_COMMIT_S = 1_700_000_000
"""Commit times are this plus one hour for each commit before."""


@dataclass(frozen=True, slots=True)
class File:
    """A regular file; `mode` is 100644 or 100755."""

    data: bytes
    mode: str = "100644"


@dataclass(frozen=True, slots=True)
class Symlink:
    """A symbolic link to `target`."""

    target: str | bytes


@dataclass(frozen=True, slots=True)
class Submodule:
    """A gitlink to a commit, which need not exist."""

    commit: str


Entry = bytes | str | File | Symlink | Submodule | None
"""What stands at a path; bytes and str are plain files, None deletes."""


def git(
    root: str | bytes | os.PathLike[str],
    *arguments: str | bytes,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    ok: tuple[int, ...] = (0,),
) -> bytes:
    """What `git ARGUMENTS` prints when run in `root` in an isolated environment; any exit code not in `ok` fails."""
    environment = isolated_environment(tempfile.gettempdir()) if env is None else env
    done = subprocess.run(["git", *arguments], cwd=root, env=environment, input=stdin, capture_output=True)
    if done.returncode not in ok:
        shown = b" ".join(part if isinstance(part, bytes) else part.encode() for part in arguments)
        raise AssertionError(f"git {shown!r} exited {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout


@dataclass(slots=True)
class RepoBuilder:
    """Collects commits, then builds them with one `git fast-import`. `build` may be called once."""

    root: str | os.PathLike[str]
    object_format: str = "sha1"
    branch: str = "main"
    _stream: list[bytes] = field(default_factory=list)
    _commits: int = 0

    def commit(
        self,
        message: str | bytes,
        files: Mapping[str, Entry] | Mapping[bytes, Entry],
        *,
        branch: str | None = None,
        merge: str | None = None,
    ) -> RepoBuilder:
        """Add a commit to `branch` (the builder's own by default) that changes `files` against its parent.

        The first commit of a branch other than the first starts at the builder's own branch, where that exists.
        """
        ref = b"refs/heads/" + _bytes(branch or self.branch)
        when = FIRST_COMMIT_S + 3600 * self._commits
        text = _bytes(message)
        out = self._stream
        out.append(b"commit %s\n" % ref)
        out.append(b"author Ada Author <ada@example.org> %d +0000\n" % when)
        out.append(b"committer Carl Committer <carl@example.org> %d +0000\n" % when)
        out.append(b"data %d\n%s\n" % (len(text), text))
        if branch is not None and branch != self.branch and self._commits and ref not in self._seen_refs():
            out.append(b"from refs/heads/%s\n" % _bytes(self.branch))
        if merge is not None:
            out.append(b"merge refs/heads/%s\n" % _bytes(merge))
        for name, entry in files.items():
            out.extend(_change(_bytes(name), entry))
        out.append(b"\n")
        self._commits += 1
        return self

    def _seen_refs(self) -> set[bytes]:
        return {line[7:-1] for line in self._stream[:-4] if line.startswith(b"commit ")}

    def build(self, *, checkout: bool = True, bare: bool = False, env: Mapping[str, str] | None = None) -> str:
        """Create the repository and return its real path.

        `env` must be isolated where given. `checkout=False` leaves index and work tree empty.
        """
        os.makedirs(self.root, exist_ok=True)
        root = os.path.realpath(self.root)
        flags = ["--bare"] if bare else []
        git(
            root,
            "init",
            "-q",
            f"--initial-branch={self.branch}",
            f"--object-format={self.object_format}",
            *flags,
            env=env,
        )
        if self._commits:
            stream = b"".join(self._stream) + b"done\n"
            git(root, "fast-import", "--quiet", "--done", "--date-format=raw", stdin=stream, env=env)
            if checkout and not bare:
                git(root, "reset", "-q", "--hard", env=env)
        return root


def corpus(name: str) -> Iterator[tuple[str, int, str]]:
    """(mode, size in bytes, path) of every file of `tests/data/corpus/NAME.tsv.gz`, in tree order."""
    with gzip.open(os.path.join(CORPUS, f"{name}.tsv.gz"), "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            mode, size, path = line.rstrip("\n").split("\t", 2)
            yield mode, int(size), path


def corpus_repository(
    name: str, root: str | os.PathLike[str], *, checkout: bool = True, max_file_bytes: int | None = None
) -> str:
    """A repository with the shape of a corpus list, contents of the given size (or `max_file_bytes`, if smaller)."""
    builder = RepoBuilder(root)
    files: dict[str, Entry] = {}
    for mode, size, path in corpus(name):
        if max_file_bytes is not None:
            size = min(size, max_file_bytes)
        files[path] = corpus_entry(mode, size, path)
    return builder.commit(f"The shape of {name}", files).build(checkout=checkout)


def corpus_entry(mode: str, size_bytes: int, path: str) -> Entry:
    """A deterministic entry of exactly this mode and size; contents differ from path to path."""
    if mode == "160000":
        return Submodule(sha256(path.encode()).hexdigest()[:40])
    line = b"%s %s\n" % (sha256(path.encode()).hexdigest()[:16].encode(), path.encode())
    data = (line * (size_bytes // len(line) + 1))[:size_bytes]
    if mode == "120000":
        return Symlink((b"x" * max(size_bytes, 1))[: max(size_bytes, 1)])
    return File(data, mode)


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else os.fsencode(text)


def _quoted(path: bytes) -> bytes:
    """The path as fast-import reads it: C-quoted wherever it could be misread."""
    plain = b'"' not in path and b"\n" not in path and b"\\" not in path and not path.startswith(b" ")
    if plain and all(byte >= 32 for byte in path):
        return path
    return b'"' + b"".join(b"\\%03o" % byte if byte < 32 or byte in b'"\\' else bytes([byte]) for byte in path) + b'"'


def _change(path: bytes, entry: Entry) -> Iterator[bytes]:
    name = _quoted(path)
    if entry is None:
        yield b"D %s\n" % name
    elif isinstance(entry, Submodule):
        yield b"M 160000 %s %s\n" % (entry.commit.encode(), name)
    else:
        if isinstance(entry, Symlink):
            mode, data = b"120000", _bytes(entry.target)
        elif isinstance(entry, File):
            mode, data = entry.mode.encode(), entry.data
        else:
            mode, data = b"100644", entry.encode() if isinstance(entry, str) else entry
        yield b"M %s inline %s\n" % (mode, name)
        yield b"data %d\n%s\n" % (len(data), data)
