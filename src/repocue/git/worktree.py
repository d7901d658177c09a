"""Finding the work tree that a path belongs to."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

from repocue.domain.ids import repository_id
from repocue.domain.paths import display
from repocue.errors import GitFailed, RepositoryError
from repocue.git.process import Git, ownership_error

_MARK = "--repocue-next"
"""rev-parse prints options that it does not know; a path may contain line breaks, so each is followed by this."""


class Worktree(NamedTuple):
    """One git work tree. All paths are absolute and resolved. Make it with keywords."""

    root: bytes
    git_dir: bytes
    """The work tree's own git folder; a linked work tree's lies below the common one's `worktrees/`."""
    common_dir: bytes
    object_format: str
    """sha1 or sha256."""
    index_path: bytes
    is_shallow: bool
    git_options: tuple[bytes, ...] = ()
    """Options that name git folder and work tree, where git started in the root would not find this git folder."""

    @property
    def name(self) -> str:
        """The root folder's name."""
        return display(os.path.basename(self.root) or self.root)

    @property
    def id(self) -> str:
        """`repo-<24 hex>`, from the root's path."""
        return repository_id(self.root)


def find(path: str, environ: Mapping[str, str], *, meanwhile: Callable[[], object] | None = None) -> Worktree:
    """The work tree that contains `path`, a folder. One git process; `meanwhile` is called while it works.

    Raises RepositoryError: `repository.not-found` (no such folder), `repository.none` (no git work tree there),
    `repository.bare`, `repository.ownership` (git's safe.directory refuses it), `repository.unreadable`; and GitFailed
    where git is missing, too old, or fails in another way.
    """
    where = os.fsencode(path)
    if not os.path.isdir(where):
        raise _no_folder(where)
    git = Git(where, environ)
    child = git.start(
        "rev-parse",
        "--is-bare-repository",
        "--is-inside-git-dir",
        "--is-shallow-repository",
        "--show-object-format",
        "--path-format=absolute",
        "--git-dir",
        _MARK,
        "--git-common-dir",
        _MARK,
        "--git-path",
        "index",
        _MARK,
        "--show-toplevel",
        ok=(0, 128),
        limit_bytes=1 << 20,
    )
    try:
        if meanwhile is not None:
            meanwhile()
        git.finish(child, timeout_s=60)
    finally:
        child.end()
    output = child.output()
    if child.process.returncode:
        raise _refused(where, git, output, child.errors)
    lines = output.split(b"\n", 4)
    if len(lines) != 5 or b"--" in (lines[2][:2], lines[3][:2], lines[4][:2]):
        git.check_version()
        raise GitFailed(f"git rev-parse gave an answer that is not understood: {display(output[:200])}")
    git_dir, common_dir, index_path, root = lines[4][:-1].split(f"\n{_MARK}\n".encode())
    root = os.path.realpath(root)
    git_dir = os.path.realpath(git_dir)
    return Worktree(
        root=root,
        git_dir=git_dir,
        common_dir=os.path.realpath(common_dir),
        object_format=lines[3].decode(),
        index_path=index_path,
        is_shallow=lines[2] == b"true",
        git_options=() if _leads_to(root, git_dir) else (b"--git-dir=" + git_dir, b"--work-tree=" + root),
    )


def _leads_to(root: bytes, git_dir: bytes) -> bool:
    """Whether git, started in `root`, finds `git_dir` by itself (not so where `core.worktree` points elsewhere)."""
    entry = os.path.join(root, b".git")
    if os.path.isdir(entry):
        return os.path.realpath(entry) == git_dir
    try:
        with open(entry, "rb") as file:
            text = file.read(1 << 16)
    except OSError:
        return False
    target = text.removeprefix(b"gitdir: ").rstrip(b"\r\n")
    return text.startswith(b"gitdir: ") and os.path.realpath(os.path.join(root, target)) == git_dir


def _shown(where: bytes) -> str:
    """`where` in a message: absolute, since "." means nothing to who reads a log."""
    try:
        return display(os.path.abspath(where) if where else where)
    except OSError:  # the working directory is gone
        return display(where)


def _no_folder(where: bytes) -> RepositoryError:
    try:
        os.stat(where)
    except PermissionError:
        return RepositoryError(f"{_shown(where)} cannot be reached: permission denied", code="repository.unreadable")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or "not a path"
        return RepositoryError(
            f"{_shown(where)} is no folder: {reason}",
            code="repository.not-found",
            hint="Name an existing folder inside a git work tree.",
        )
    return RepositoryError(
        f"{_shown(where)} is not a folder",
        code="repository.not-found",
        hint="Name a folder inside a git work tree.",
    )


def _refused(where: bytes, git: Git, output: bytes, errors: bytes) -> RepositoryError:
    """Why git found no work tree at `where`."""
    if b"dubious ownership" in errors or b"unsafe repository" in errors:
        return ownership_error(where, errors)
    said = display(b" ".join(errors.removeprefix(b"fatal: ").split()))
    if output.startswith(b"true\n"):
        return RepositoryError(
            f"{_shown(where)} is a bare repository: it has no work tree",
            code="repository.bare",
            hint="Use a clone or a linked work tree of it.",
        )
    if output.startswith(b"false\ntrue\n"):
        return RepositoryError(
            f"{_shown(where)} lies inside git's own folder",
            code="repository.none",
            hint="Name a folder of the work tree.",
        )
    if errors.startswith(b"fatal: not a git repository"):
        hidden = _unreadable_git_folder(where)
        if hidden is not None:
            return RepositoryError(f"{display(hidden)} cannot be read: permission denied", code="repository.unreadable")
        return RepositoryError(
            f"{_shown(where)} is not inside a git work tree",
            code="repository.none",
            hint="Run git init there, or name another folder with -C.",
        )
    git.check_version()
    return RepositoryError(f"git cannot read the repository at {_shown(where)}: {said}", code="repository.unreadable")


def _unreadable_git_folder(where: bytes) -> bytes | None:
    """The `.git` above `where` that exists and may not be read: git itself then says that there is none."""
    folder = os.path.realpath(where)
    while True:
        entry = os.path.join(folder, b".git")
        if os.path.lexists(entry) and not os.access(entry, os.R_OK | (os.X_OK if os.path.isdir(entry) else 0)):
            return entry
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
