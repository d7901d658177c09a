"""The options that choose a task's items, shared by `repocue cue --view task` and `repocue task list`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from repocue.errors import UsageError

if TYPE_CHECKING:
    from repocue.contracts.types.task import Task

DECLARATION = ".repocue/task-context.json"


class TaskOptions(NamedTuple):
    """What was typed of a task; None and () where nothing was. Make it with keywords."""

    task_file: str | None
    declaration: str | None
    items: tuple[str, ...]
    tags: tuple[str, ...]
    kinds: tuple[str, ...]
    globs: tuple[str, ...]
    question: str | None = None

    @property
    def is_given(self) -> bool:
        """Whether any of these options was used."""
        return any(self)

    @property
    def selects(self) -> bool:
        """Whether the options choose items, by file or one by one."""
        return bool(self.task_file or self.items or self.tags or self.kinds or self.globs)

    def resolve(self) -> Task:
        """The task; raises UsageError, ContractError."""
        from repocue.cue.task import asking

        check_text(**self._replace(task_file=None)._asdict())
        if self.task_file is None:
            return asking.from_options(
                declaration=self.declaration or DECLARATION,
                items=self.items,
                tags=self.tags,
                kinds=self.kinds,
                globs=self.globs,
                question=self.question,
            )
        if any(self._replace(task_file=None)):
            raise UsageError(
                "--task-file already says what is selected and asked.",
                hint="Leave out --declaration, --item, --tag, --kind, --glob and --question, or the file.",
            )
        return asking.from_file(read_bounded(self.task_file, asking.FILE_LIMIT_BYTES), self.task_file)


def check_text(**options: Any) -> None:
    """Raise UsageError for an option whose bytes are no UTF-8: what it names could not stand in any JSON."""
    for name, value in options.items():
        for text in (value,) if isinstance(value, str) else value or ():
            if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
                option = "--" + name.removesuffix("s") if name in ("items", "tags", "kinds", "globs") else f"--{name}"
                raise UsageError(
                    f"{option} is not UTF-8: {text}",
                    code="usage.encoding",
                    hint="Write a path of other bytes as git shows it, in quotes and with escapes.",
                )


def read_bounded(path: str, limit_bytes: int) -> bytes:
    """The bytes of a file that a person named; raises UsageError where it cannot be read or is larger."""
    try:
        with open(path, "rb") as file:
            data = file.read(limit_bytes + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", code="usage.file") from None
    if len(data) > limit_bytes:
        raise UsageError(f"{path} is larger than {limit_bytes} bytes", code="usage.file")
    return data


def task_options(*, with_question: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options; their names are those of `TaskOptions`' members."""
    options = [
        click.option("--task-file", metavar="FILE", help="A task, alone or inside a task or cache benchmark."),
        click.option("--declaration", metavar="FILE", help=f"The tracked declaration.  [default: {DECLARATION}]"),
        click.option("--item", "items", metavar="ID", multiple=True, help="Select an item by its id (repeatable)."),
        click.option("--tag", "tags", metavar="TAG", multiple=True, help="Select items with any of these tags."),
        click.option("--kind", "kinds", metavar="KIND", multiple=True, help="Select items of any of these kinds."),
        click.option(
            "--glob", "globs", metavar="GLOB", multiple=True, help="Select items with a source path that matches."
        ),
    ]
    if with_question:
        options.append(click.option("--question", metavar="TEXT", help="What is asked."))

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate
