"""Looking at a declaration as it stands in the work tree: for `repocue task list`, `check` and `pin`.

Here a declaration that is not yet committed is shown and checked as well, and said to be so; only a cue insists that
it is HEAD's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from repocue.cue.task import checking, pins, placing
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
from repocue.errors import RepositoryError, TaskContextError

if TYPE_CHECKING:
    from repocue.git.worktree import Worktree

Progress = Callable[[str, int, "int | None"], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """A declaration and the state of everything it names.

    `declaration` is HEAD's where git says that the work tree's is the same (line ends and other filters apart), else
    the work tree's; `status` says which. `rewritten` counts pins that were changed, or is None.
    """

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
    return _inspect(worktree, environ, path, _read(worktree, path), progress)


def _inspect(
    worktree: Worktree, environ: Mapping[str, str], path: str, data: bytes, progress: Progress | None
) -> Inspection:
    """`inspect` of `data`, which was read from the work tree."""
    from repocue.git.process import Git
    from repocue.git.scan import observe

    declaration = parse(data, path)
    git = Git.of(worktree, environ)
    before = observe(worktree, environ, progress=progress)
    files = Files(git=git, head=committed(before.head))
    files.read([path, *(source.path for item in declaration.context.items for source in item.sources)])
    at_head = files.lines.get(path)
    if at_head is None:
        status = UNTRACKED
    elif path in changed_paths(before):
        status = DIRTY
    else:
        status = OK
        declaration = parse(b"".join(at_head), path)  # what a cue delivers, whatever filters made of it here
        files.read(source.path for item in declaration.context.items for source in item.sources)
    found = find(files, declaration.context.items, before)
    return Inspection(declaration=declaration, status=status, found=found, head=before.head)


def pin(worktree: Worktree, environ: Mapping[str, str], path: str, *, progress: Progress | None = None) -> Inspection:
    """Rewrite the pins of the declaration in the work tree from HEAD's bytes, atomically.

    Raises TaskContextError, and changes nothing, where a source is anything but ok or drifted, or where the
    declaration changed meanwhile.
    """
    data = _read(worktree, path)
    here = parse(data, path)
    seen = _inspect(worktree, environ, path, data, progress)
    if here.context != seen.declaration.context:  # git called it unchanged: a filter, or someone, changed what it says
        raise placing.moved(path)
    bad = sorted({f"{entry.place.id} ({entry.status})" for entry in seen.found.values() if not entry.can_be_pinned})
    if bad:
        raise TaskContextError(
            f"nothing was pinned, because these sources do not stand as HEAD has them: {', '.join(bad)}",
            code="task-context.not-pinned",
            hint="Commit or restore them, or mend their paths and lines; then pin again.",
        )
    wanted: dict[tuple[int, int], str] = {}
    for i, item in enumerate(here.context.items):
        for j, entry in enumerate(item.sources):
            source = seen.found[item.id, Place.of(entry).id].source
            if source is not None and source.sha256 != entry.sha256:
                wanted[i, j] = source.sha256
    if wanted:
        new = pins.rewrite(data, wanted)
        placing.replace(worktree, path, new, is_still_expected=lambda: _read(worktree, path) == data)
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
        with placing.folder_of(worktree, path):
            return read_work_tree(worktree, path, limit_bytes=DECLARATION_LIMIT_BYTES + 1)
    except OSError as error:
        raise _no_declaration(f"{path} cannot be read: {error.strerror}") from None
    except RepositoryError as error:
        raise _no_declaration(error.message) from None


def _no_declaration(why: str) -> TaskContextError:
    return TaskContextError(
        f"there is no declaration: {why}",
        code="task-context.no-declaration",
        hint="Name another one with --declaration; 'repocue schema show repocue/task-context-1' shows its form.",
    )
