"""Where blinded answers and assessments may be written: outside every checkout that they speak of and every set."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from repocue.domain import paths
from repocue.errors import EvaluationError
from repocue.evaluation.shared import files, isolation

if TYPE_CHECKING:
    from repocue.scoring.report_folders import Stored


class Places(NamedTuple):
    """The folders of one checkout, as far as they exist on this machine."""

    root: bytes
    git_dir: bytes
    common_dir: bytes


def checked_output(
    path: str, *, sets: Sequence[Stored] = (), beside: str | None = None, repositories: Collection[str] = ()
) -> str:
    """The real path of an output directory, which need not exist.

    `beside` is a key whose folder is sealed, so that nothing may be added to it. A key knows the evaluated
    `repositories` by name alone: a checkout around the path that has such a name counts as one of them. Raises
    EvaluationError where the path lies inside an evaluated checkout, its git folders, a published set or that folder.
    """
    real = os.path.realpath(path)
    above = real
    while (parent := os.path.dirname(above)) != above:
        if os.path.basename(above) in repositories and os.path.lexists(os.path.join(above, ".git")):
            checkout = checkout_at(above)
            if checkout is not None:
                isolation.outside(checkout, path)
        above = parent
    for root in dict.fromkeys(stored.set.repository["resolved_root"] for stored in sets):
        checkout = checkout_at(root)
        if checkout is not None:
            real = isolation.outside(checkout, path)
    sealed = [stored.folder for stored in sets]
    if beside is not None and os.path.lexists(os.path.join(os.path.dirname(os.path.abspath(beside)), "manifest.json")):
        sealed.append(os.path.dirname(os.path.abspath(beside)))
    for folder in map(os.path.realpath, sealed):
        if real == folder or real.startswith(folder + os.sep):
            raise EvaluationError(
                f"The output directory {files.shown(real)} lies inside {files.shown(folder)}, which is sealed.",
                code="evaluation.inside-evidence",
                hint="Choose another folder: evidence is not added to.",
            )
    return real


def checkout_at(resolved_root: str) -> Places | None:
    """The checkout that a report names, if it is on this machine; found without starting git.

    A linked work tree's `.git` is a file that names its git folder, whose `commondir` names the common one.
    """
    try:
        root = paths.raw(resolved_root)
    except ValueError:
        root = os.fsencode(resolved_root)
    if not os.path.isdir(root):
        return None
    git_dir = os.path.join(root, b".git")
    if os.path.isfile(git_dir):
        named = _line(git_dir)
        git_dir = os.path.join(root, named.removeprefix(b"gitdir:").strip()) if named else git_dir
    common = _line(os.path.join(git_dir, b"commondir"))
    return Places(root, git_dir, os.path.join(git_dir, common) if common else git_dir)


def _line(path: bytes) -> bytes:
    """A small file's text without its line end; nothing where there is no such file."""
    try:
        with open(path, "rb") as file:
            return file.read(65_536).strip(b"\r\n")
    except OSError:
        return b""
