"""Looking at a declaration as it stands in the work tree: for `repocue task list`, `check` and `pin`.

Here a declaration that is not yet committed is shown and checked as well, and said to be so; only a cue insists that
it is HEAD's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from repocue.cue.task import checking, pins
from repocue.cue.task.blocks import Place
from repocue.cue.task.loading import (
    DECLARATION_LIMIT_BYTES,
    DIRTY,
    OK,
    UNTRACKED,
    Declaration,
    Files,
    Found,
    changed_paths,
    committed,
    find,
    parse,
)
from repocue.domain.paths import raw
from repocue.errors import RepositoryError, TaskContextError

if TYPE_CHECKING:
    from repocue.git.worktree import Worktree

Progress = Callable[[str, int, "int | None"], None]

_NOBODY: Final = "0" * 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """A declaration and the state of everything it names. `rewritten` counts pins that were changed, or is None."""

    declaration: Declaration
    status: str
    found: dict[tuple[str, str], Found]
    head: str | None
    rewritten: int | None = None

    def document(self, kind: str, *, selected: set[str] | None = None) -> dict[str, Any]:
        """The `repocue/task-check-1` document of this kind."""
        return checking.document(
            kind,
            self.declaration,
            self.status,
            self.found,
            head=self.head,
            selected=selected,
            rewritten=self.rewritten,
        )


def inspect(
    worktree: Worktree, environ: Mapping[str, str], path: str, *, progress: Progress | None = None
) -> Inspection:
    """The declaration at `path`, relative to the repository's root as git shows it, and the state of its sources.

    Raises TaskContextError where there is no such file or no commit, ContractError.
    """
    from repocue.git.process import Git
    from repocue.git.scan import observe

    declaration = parse(_read(worktree, path), path)
    git = Git.of(worktree, environ)
    before = observe(worktree, environ, progress=progress)
    files = Files(git=git, head=committed(before.head))
    files.read([path, *(source.path for item in declaration.context.items for source in item.sources)])
    found = find(files, declaration.context.items, before)
    at_head = files.lines.get(path)
    if at_head is None:
        status = UNTRACKED
    else:
        status = DIRTY if path in changed_paths(before) or b"".join(at_head) != declaration.data else OK
    return Inspection(declaration=declaration, status=status, found=found, head=before.head)


def pin(worktree: Worktree, environ: Mapping[str, str], path: str, *, progress: Progress | None = None) -> Inspection:
    """Rewrite the pins of the declaration in the work tree from HEAD's bytes, atomically.

    Raises TaskContextError, and changes nothing, where a source is anything but ok or drifted, or where the
    declaration changed meanwhile.
    """
    seen = inspect(worktree, environ, path, progress=progress)
    bad = sorted({f"{entry.place.id} ({entry.status})" for entry in seen.found.values() if not entry.can_be_pinned})
    if bad:
        raise TaskContextError(
            f"nothing was pinned, because these sources do not stand as HEAD has them: {', '.join(bad)}",
            code="task-context.not-pinned",
            hint="Commit or restore them, or mend their paths and lines; then pin again.",
        )
    wanted: dict[tuple[int, int], str] = {}
    for i, item in enumerate(seen.declaration.context.items):
        for j, entry in enumerate(item.sources):
            source = seen.found[item.id, Place.of(entry).id].source
            if source is not None and source.sha256 != entry.sha256:
                wanted[i, j] = source.sha256
    if wanted:
        _replace(worktree, path, seen.declaration.data, pins.rewrite(seen.declaration.data, wanted))
        after = inspect(worktree, environ, path, progress=progress)
    else:
        after = seen
    return Inspection(
        declaration=after.declaration, status=after.status, found=after.found, head=after.head, rewritten=len(wanted)
    )


def _read(worktree: Worktree, path: str) -> bytes:
    from repocue.contracts.rules.common import path_fault
    from repocue.git.content import read_work_tree

    fault = path_fault(path)
    if fault:
        raise TaskContextError(f"the declaration's path {fault}", code="task-context.no-declaration")
    try:
        return read_work_tree(worktree, path, limit_bytes=DECLARATION_LIMIT_BYTES + 1)
    except RepositoryError as error:
        raise TaskContextError(
            f"there is no declaration: {error.message}",
            code="task-context.no-declaration",
            hint="Name another one with --declaration; 'repocue schema show repocue/task-context-1' shows its form.",
        ) from None


def _unwritable(path: str, error: OSError) -> TaskContextError:
    return TaskContextError(f"{path} cannot be rewritten: {error.strerror}", code="task-context.unwritable")


def _replace(worktree: Worktree, path: str, expected: bytes, data: bytes) -> None:
    """Put `data` in the place of the declaration, which must still hold `expected`; its mode is kept."""
    target = os.path.join(worktree.root, raw(path))
    temporary = target + b".repocue-new"
    try:
        mode = os.stat(target, follow_symlinks=False).st_mode & 0o7777
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        if _read(worktree, path) != expected:
            raise TaskContextError(
                f"{path} was changed while it was being pinned", code="task-context.moved", hint="Pin again."
            )
        os.replace(temporary, target)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)
