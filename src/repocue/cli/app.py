"""The command line as a whole: which commands exist, and one run of one of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

import repocue
from repocue.cli import errors_out, output
from repocue.cli.options import Session, session_options
from repocue.errors import RepoCueError

if TYPE_CHECKING:
    from collections.abc import Sequence

SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Keep the picture", ("init", "status", "refresh", "rebaseline", "metrics")),
    ("Hand it to an agent", ("cue", "task")),
    (
        "Measure what it is worth",
        ("evaluate", "evaluate-m2", "evaluate-task", "evaluate-cache", "calibration", "report"),
    ),
    ("Read the contracts", ("schema",)),
)
"""The commands in the order in which help and reference show them."""

EXIT_CODES = "Exit codes: 0 done, 1 the operation failed, 2 usage, 3 --exit-code says stale, 130 interrupted."


class Command(click.Command):
    """A command that shows `examples`, complete command lines, in its help; the docs' tests run them."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)
        super().format_epilog(ctx, formatter)


class Group(click.Group):
    """A command with subcommands, and `examples` as `Command` has them."""

    command_class = Command

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)
        super().format_epilog(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        names = self.list_commands(ctx)
        write_commands("Commands", [(name, self.get_command(ctx, name)) for name in names], formatter)


def write_commands(
    title: str, commands: Sequence[tuple[str, click.Command | None]], formatter: click.HelpFormatter
) -> None:
    """Append a section of commands, each with the whole first sentence of its help; click itself would cut it."""
    rows = [(name, command.get_short_help_str(limit=1000)) for name, command in commands if command is not None]
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows)


def write_examples(examples: Sequence[str], formatter: click.HelpFormatter) -> None:
    """Append an "Examples" section, each line as it would be typed."""
    if not examples:
        return
    with formatter.section("Examples"):
        for example in examples:
            formatter.write(f"{'':{formatter.current_indent}}{example}\n")


class LazyGroup(click.Group):
    """The top level: loads the module of the one command that is run, and no other."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        present = set(_modules())
        known = [name for _, names in SECTIONS for name in names if name in present]
        return known + sorted(present.difference(known))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _modules():
            return None
        from importlib import import_module

        module = import_module("repocue.cli.commands." + cmd_name.replace("-", "_"))
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        present = self.list_commands(ctx)
        for title, names in SECTIONS:
            write_commands(title, [(name, self.get_command(ctx, name)) for name in names if name in present], formatter)


def _modules() -> list[str]:
    """The names of all commands: one module each beside this one."""
    folder = os.path.join(os.path.dirname(__file__), "commands")
    return [name[:-3].replace("_", "-") for name in os.listdir(folder) if name.endswith(".py") and name[0] != "_"]


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EXIT_CODES,
)
@session_options
@click.version_option(repocue.__version__, prog_name="repocue", message="%(prog)s %(version)s")
def repocue_command() -> None:
    """Keep a small, current picture of a git repository, cue it to coding agents, and measure what that saves."""


def run(arguments: list[str]) -> int:
    """Run one command line; returns the exit code and never raises.

    Errors go to stderr as text or as a `repocue/error-1` line; a reader that closed our stdout is no error.
    """
    session = Session()
    try:
        try:
            return _run(arguments, session)
        except OSError as error:
            if _is_from_printing(error):
                raise output.unwritten(error) from error
            output.flush()
            raise
    except output.ReaderGone:
        return 0
    except click.exceptions.Exit as request:
        return request.exit_code
    except (KeyboardInterrupt, click.Abort):
        return errors_out.report(errors_out.Interrupted(), session)
    except click.ClickException as error:
        return errors_out.report(errors_out.from_click(error), session)
    except RepoCueError as error:
        return errors_out.report(error, session)
    except Exception as error:  # noqa: BLE001 - the last boundary: even our own fault is one clear error
        return errors_out.report(errors_out.internal(error), session)


def _is_from_printing(error: OSError) -> bool:
    """Whether click failed to print help, version or completions: an unbuffered stream fails there, not at a flush."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code is click.echo.__code__


def _run(arguments: list[str], session: Session) -> int:
    if "_REPOCUE_COMPLETE" in os.environ:  # the shell asks for completions
        repocue_command.main(arguments, prog_name="repocue")
    try:
        with repocue_command.make_context("repocue", arguments, obj=session) as context:
            result = repocue_command.invoke(context)
    finally:
        output.flush()
    return result if isinstance(result, int) else 0
