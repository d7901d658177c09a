"""`repocue evaluate-m2`: one agent under five conditions; its summary and blinded assessment are subcommands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from repocue.cli import options, output
from repocue.cli.app import Group
from repocue.cli.options import cacheless_options
from repocue.cli.subcommands import refuse_options
from repocue.errors import UsageError

if TYPE_CHECKING:
    from repocue.cli.options import Invocation

_SUBCOMMANDS = ("summary", "blind", "unblind")
_SUBCOMMANDS_MODULE = "repocue.cli.commands._evaluate_m2_summary"
_DEFAULT_TOKENS = 500
_DEFAULT_TIMEOUT_S = 1800


class _Group(Group):
    """Loads the subcommands' module only where one of them is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in _SUBCOMMANDS if self.get_command(ctx, name) is not None]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _SUBCOMMANDS:
            return None
        from importlib import import_module
        from importlib.util import find_spec

        if find_spec(_SUBCOMMANDS_MODULE) is None:
            return None
        command: click.Command | None = getattr(import_module(_SUBCOMMANDS_MODULE), cmd_name, None)
        return command


@click.group(
    "evaluate-m2",
    cls=_Group,
    invoke_without_command=True,
    subcommand_metavar="[COMMAND [ARGS]...]",
    examples=(
        "repocue evaluate-m2 --output-directory ../evidence",
        "repocue evaluate-m2 --output-directory ../evidence --runner repocue-codex-runner --runs 3",
        "repocue evaluate-m2 --output-directory ../evidence --runner ./my-runner --runs 5 --order balanced --resume",
    ),
)
@click.option(
    "--output-directory", metavar="DIR", help="Publish the report sets in DIR, outside the repository.  [required]"
)
@click.option(
    "--runner",
    metavar="EXE",
    help="The program that runs the agent once for each condition.  [default: none, a dry run]",
)
@click.option("--task-file", metavar="FILE", help="The benchmark's text.  [default: the packaged one]")
@click.option("--oracle-tool", metavar="EXE", help="The structural oracle.  [default: the packaged one]")
@click.option(
    "--max-tokens",
    type=click.IntRange(1, 2_097_152),
    default=_DEFAULT_TOKENS,
    show_default=True,
    help="Budget of every context, in estimated tokens.",
)
@click.option("--run-index", type=click.IntRange(min=1), default=1, show_default=True, help="Which repetition this is.")
@click.option(
    "--runs",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="Make so many sets, with consecutive run indexes.",
)
@click.option("--resume", is_flag=True, help="Skip the runs that are published in the output directory already.")
@click.option(
    "--order",
    type=click.Choice(("fixed", "balanced")),
    default="fixed",
    show_default=True,
    help="The order of the conditions: always the same, or rotated by run index.",
)
@click.option("--temporary-root", metavar="DIR", help="Make temporary folders in DIR.  [default: $TMPDIR, else /tmp]")
@click.option(
    "--timeout",
    "timeout_s",
    metavar="SECONDS",
    type=float,
    default=_DEFAULT_TIMEOUT_S,
    show_default=True,
    help="How long one runner may take.",
)
@click.pass_context
@cacheless_options
def command(ctx: click.Context, invocation: Invocation, **given: Any) -> None:
    """Run one agent under five conditions on one repository state, and publish five reports together.

    A full baseline, a refresh and the contexts of all conditions are made first, in a temporary cache. Then a fresh
    runner process is started for each condition, between two fingerprints of the repository: direct (no context),
    placebo (which state it is), basic (the overview), ranked (ranked facts) and structural-oracle (those and what
    an oracle finds in the sources). If anything fails or the repository changes, nothing of that run is published
    and its index can be used again.

    Without --runner nothing is asked of an agent: contexts and their costs are measured and published as a dry run,
    which is no agent evidence.
    """
    if ctx.invoked_subcommand is not None:
        refuse_options(ctx)
        return
    if not given["output_directory"]:
        raise UsageError(
            "evaluate-m2 needs --output-directory.", hint="Name a folder outside the repository for the report sets."
        )
    _run(invocation, given)


def _run(invocation: Invocation, given: dict[str, Any]) -> None:
    from contextlib import ExitStack

    from repocue.cli import evaluate_m2_text
    from repocue.cli.executable import own_command
    from repocue.cli.interrupts import ending_cleanly
    from repocue.evaluation.m2.experiment import begin
    from repocue.evaluation.m2.inputs import Given

    given["temporary_root"] = options.temporary_root(given["temporary_root"], invocation.environ)
    with ending_cleanly():
        wanted = Given(
            worktree=invocation.worktree(),
            supplied_path=invocation.repository,
            command=own_command(),
            environ=invocation.environ,
            now_ms=options.now_ms,
            known_caches=_known_caches(invocation),
            **given,
        )
        with ExitStack() as stack:
            with output.progress(invocation) as progress:
                experiment = stack.enter_context(begin(wanted, progress))
            if not invocation.quiet:
                _show(evaluate_m2_text.plan(experiment.plan))
            with output.progress(invocation) as progress:
                finished = experiment.run(progress)
    output.emit(invocation, finished.document, lambda document: evaluate_m2_text.finished(document, finished.reports))


def _show(text: str) -> None:
    """Text for whoever waits, on stderr, so that stdout holds the answer alone."""
    click.echo(text.encode("utf-8", "backslashreplace"), err=True)


def _known_caches(invocation: Invocation) -> list[str]:
    """The maintained cache, which no agent may read; none where no cache folder can be chosen."""
    from repocue.errors import CacheError

    try:
        return [options.cache_root(invocation.environ)]
    except CacheError:
        return []
