"""Errors as a person or a program reads them, always on stderr.

On a terminal a sentence and a hint; elsewhere one line of JSON, `repocue/error-1` {code, message, hint|null}.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from repocue.contracts import canonical
from repocue.errors import RepoCueError, UsageError

if TYPE_CHECKING:
    import click

    from repocue.cli.options import Session


class Interrupted(RepoCueError):
    """The user pressed Ctrl-C. What was being written is as it was before."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("interrupted", code="interrupted")


class NoCommand(UsageError):
    """A command that has subcommands was given none. A person at a terminal is shown its help."""

    def __init__(self, error: click.exceptions.NoArgsIsHelpError) -> None:
        path = error.ctx.command_path if error.ctx is not None else "repocue"
        super().__init__(f"'{path}' needs a command.", code="usage.no-command", hint=f"See '{path} --help'.")
        self.help = error.message


def internal(error: Exception) -> RepoCueError:
    """A fault of ours, as one line; the traceback is shown when `REPOCUE_TRACEBACK` is set."""
    if os.environ.get("REPOCUE_TRACEBACK"):
        import traceback

        traceback.print_exception(error)
    return RepoCueError(
        f"internal error: {type(error).__name__}: {error}",
        code="internal",
        hint="This is a fault in RepoCue. Set REPOCUE_TRACEBACK=1 to see where, and report it.",
    )


def from_click(error: click.ClickException) -> RepoCueError:
    """click's own complaint about a command line, as one of ours."""
    import click

    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return NoCommand(error)
    message = error.format_message()
    message = message[:1].lower() + message[1:] if message[1:2].islower() else message
    hint = None
    context = getattr(error, "ctx", None)
    if context is not None:
        hint = f"See '{context.command_path} --help'."
    if isinstance(error, click.UsageError):
        return UsageError(message, hint=hint)
    return RepoCueError(message, hint=hint)


def document(error: RepoCueError) -> dict[str, object]:
    """The `repocue/error-1` document of an error."""
    return {
        "schema_version": "repocue/error-1",
        "code": error.code,
        "message": _encodable(error.message),
        "hint": None if error.hint is None else _encodable(error.hint),
    }


def _encodable(text: str) -> str:
    """The text with escapes for what no UTF-8 can hold, such as an argument's bytes that are none."""
    return text.encode("utf-8", "backslashreplace").decode()


def text(error: RepoCueError) -> str:
    """The error as a sentence, and the hint on a line of its own."""
    if isinstance(error, NoCommand):
        return f"{error.help}\n"
    from repocue.cli.tables import printable  # a message may quote what a repository or a command line holds

    lines = [*f"repocue: {error.message}".split("\n"), *([f"  hint: {error.hint}"] if error.hint else [])]
    return printable(lines) + "\n"


def report(error: RepoCueError, session: Session) -> int:
    """Print the error in the form that was asked for and return its exit code."""
    if sys.stderr is not None:
        as_text = session.format == "text" or (session.format != "json" and sys.stderr.isatty())
        data = text(error).encode("utf-8", "backslashreplace") if as_text else canonical.document(document(error))
        try:
            sys.stderr.flush()
            sys.stderr.buffer.write(data)
            sys.stderr.flush()
        except OSError:
            pass  # nobody is left to tell; the exit code still says it
    return error.exit_code
