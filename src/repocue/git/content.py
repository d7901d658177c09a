"""Reading content: blobs through one `cat-file --batch`, work-tree files relative to the root's handle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from repocue.domain.paths import display, raw
from repocue.errors import GitFailed, RepositoryError
from repocue.git.folder import Folder
from repocue.git.process import PROMISED

if TYPE_CHECKING:
    from repocue.git.process import Git
    from repocue.git.worktree import Worktree

READ_LIMIT_BYTES = 256 << 20
"""The default bound on all that one call reads."""


class Blob(NamedTuple):
    """A blob's id and bytes."""

    oid: str
    data: bytes


def blob(git: Git, oid: str, *, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
    """The bytes of one blob. Raises GitFailed where it is not there, not a blob or larger than `limit_bytes`."""
    found = blobs(git, [oid], limit_bytes=limit_bytes)
    if oid not in found:
        raise GitFailed(f"the repository holds no blob {oid}", code="git.no-object")
    return found[oid]


def blobs(git: Git, oids: Sequence[str], *, limit_bytes: int = READ_LIMIT_BYTES) -> dict[str, bytes]:
    """The bytes of blobs by id, without those that are missing (in a partial clone too) or something else."""
    answers = _batch(git, [oid.encode() for oid in oids], limit_bytes)
    return {oid: found.data for oid, found in zip(oids, answers, strict=True) if found is not None}


def read_head(
    git: Git, paths: Iterable[str], *, revision: str = "HEAD", limit_bytes: int = READ_LIMIT_BYTES
) -> dict[str, Blob]:
    """The blobs at `paths` in a commit, by path; a path that is none there is left out. No filter is applied.

    `revision` is HEAD or, better, the commit id that an observation gave. One git process, and one more for each path
    that contains a line break. Raises GitFailed where all together exceed `limit_bytes`.
    """
    found: dict[str, Blob] = {}
    plain: list[str] = []
    for path in paths:
        if b"\n" in raw(path):  # a request is a line
            name = git.run("rev-parse", "-q", "--verify", revision.encode() + b":" + raw(path), ok=(0, 1))
            answer = _batch(git, [name.strip()], limit_bytes)[0] if name else None
            if answer is not None:
                found[path] = answer
        else:
            plain.append(path)
    answers = _batch(git, [revision.encode() + b":" + raw(path) for path in plain], limit_bytes)
    found.update((path, answer) for path, answer in zip(plain, answers, strict=True) if answer is not None)
    return found


def read_work_tree(worktree: Worktree, path: str, *, limit_bytes: int) -> bytes:
    """The first `limit_bytes` of a regular file of the work tree, as they are there.

    Raises RepositoryError (`repository.unreadable`) where it is missing, unreadable or not a regular file: a symbolic
    link is never followed.
    """
    try:
        with Folder(worktree.root) as folder:
            return folder.read(raw(path), limit_bytes)
    except OSError as error:
        raise RepositoryError(f"{path} cannot be read: {error.strerror}", code="repository.unreadable") from None


def _batch(git: Git, names: Sequence[bytes], limit_bytes: int) -> list[Blob | None]:
    """What `cat-file --batch` says to each name; None where it is not a blob that is here.

    In a partial clone git ends at the first object that it would have to fetch: then the rest is asked again.
    """
    answers: list[Blob | None] = []
    while len(answers) < len(names):
        rest = names[len(answers) :]
        child = git.start("cat-file", "--batch", stdin=b"\n".join(rest) + b"\n", limit_bytes=limit_bytes, ok=(0, 128))
        git.finish(child)
        answers += _answers(child.output(), rest)
        if child.process.returncode:
            if PROMISED not in child.errors:
                raise git.failure(child)
            answers.append(None)
    return answers


def _answers(output: bytes, names: Sequence[bytes]) -> list[Blob | None]:
    """The answers in `output`, one for each name from the first on, as far as it goes."""
    answers: list[Blob | None] = []
    position = 0
    for name in names:
        if position == len(output):
            break
        end = output.find(b"\n", position)
        line = output[position:end]
        position = end + 1
        if line in (name + b" missing", name + b" ambiguous"):
            answers.append(None)
            continue
        words = line.split(b" ")
        if end < 0 or len(words) != 3 or not words[2].isdigit():
            raise GitFailed(f"git cat-file gave an answer that is not understood: {display(line[:200])}")
        size = int(words[2])
        data = output[position : position + size]
        position += size + 1
        answers.append(Blob(words[0].decode(), data) if words[1] == b"blob" else None)
    return answers
