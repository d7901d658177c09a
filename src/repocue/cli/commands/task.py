"""`repocue task`: the declaration of what tasks need, its pins, and what a selector takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from repocue.cli import output
from repocue.cli.app import Group
from repocue.cli.options import common_options
from repocue.cli.task_options import DECLARATION, TaskOptions, check_text, task_options

if TYPE_CHECKING:
    from repocue.cli.options import Invocation
    from repocue.cue.task.inspecting import Inspection


@click.group(cls=Group)
def command() -> None:
    """Verify and list the items and original sources that a tracked declaration keeps for tasks.

    The declaration names items with their sources: tracked files, whole or by lines, each pinned by the digest of its
    bytes at HEAD. `repocue cue --view task` delivers those bytes.
    """


@command.command(
    "list",
    examples=("repocue task list", "repocue task list --tag git --kind invariant"),
)
@task_options(with_question=False)
@common_options
def list_items(invocation: Invocation, **typed: Any) -> None:
    """Show the declaration's items, and which of them a selector takes."""
    options = TaskOptions(**typed)
    task = options.resolve() if options.selects else None
    declaration = task.declaration if task is not None else options.declaration or DECLARATION
    check_text(declaration=declaration)
    with output.progress(invocation) as progress:
        found = _inspect(invocation, declaration, progress)
    selected = None
    if task is not None:
        from repocue.cue.task.selection import select

        selected = {item.id for item in select(found.declaration.context, task.selector)}
    _emit(invocation, found.document("list", selected=selected))


@command.command("check", examples=("repocue task check", "repocue task check --declaration docs/context.json"))
@click.option("--declaration", metavar="FILE", default=DECLARATION, show_default=True, help="The declaration.")
@common_options
def check(invocation: Invocation, declaration: str) -> int:
    """Verify every pin, and show what drifted. Exits 1 where a source could not be delivered as pinned."""
    check_text(declaration=declaration)
    with output.progress(invocation) as progress:
        found = _inspect(invocation, declaration, progress)
    document = found.document("check")
    _emit(invocation, document)
    return 0 if document["ok"] else 1


@command.command("pin", examples=("repocue task pin", "repocue task pin && git diff .repocue/task-context.json"))
@click.option("--declaration", metavar="FILE", default=DECLARATION, show_default=True, help="The declaration.")
@common_options
def pin(invocation: Invocation, declaration: str) -> None:
    """Rewrite the pins from HEAD's bytes, and nothing else in the declaration.

    This is the one command that writes to the repository: the declaration in the work tree, which you then review and
    commit. Every source must stand as HEAD has it.
    """
    check_text(declaration=declaration)
    with output.progress(invocation) as progress:
        from repocue.cue.task.inspecting import pin as rewrite

        request = invocation.request(progress)
        found = rewrite(request.worktree, request.environ, declaration, progress=progress)
    _emit(invocation, found.document("pin"))


def _inspect(invocation: Invocation, declaration: str, progress: Any) -> Inspection:
    from repocue.cue.task.inspecting import inspect

    request = invocation.request(progress)
    return inspect(request.worktree, request.environ, declaration, progress=progress)


def _emit(invocation: Invocation, document: dict[str, Any]) -> None:
    from repocue.cli.task_text import text

    output.emit(invocation, document, text)
