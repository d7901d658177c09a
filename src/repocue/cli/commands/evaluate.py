"""`repocue evaluate`: what RepoCue itself costs here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import repocue
from repocue.cli import options, output
from repocue.cli.app import Command
from repocue.cli.options import cacheless_options

if TYPE_CHECKING:
    from repocue.cli.options import Invocation


@click.command(cls=Command, examples=("repocue evaluate", "repocue evaluate --format json >probe.json"))
@click.option(
    "--max-tokens",
    type=click.IntRange(1, options.MAX_TOKENS),
    default=500,
    show_default=True,
    help="Budget of the cue, in estimated tokens.",
)
@click.option("--temporary-root", metavar="DIR", help="Make the temporary cache in DIR.  [default: $TMPDIR, else /tmp]")
@cacheless_options
def command(invocation: Invocation, max_tokens: int, temporary_root: str | None) -> None:
    """Measure what RepoCue itself costs on a repository.

    A full baseline, a refresh that finds nothing and an overview cue are run as processes in a temporary cache; the
    maintained cache is not opened, and the repository is fingerprinted before and after. No agent runs, so the answer
    says what a cue costs, not what it saves.
    """
    from repocue.cli.executable import own_command
    from repocue.evaluation.probe import Probe, evaluate

    with output.progress(invocation) as progress:
        document = evaluate(
            Probe(
                worktree=invocation.worktree(),
                command=own_command(),
                version=repocue.__version__,
                environ=invocation.environ,
                temporary_root=options.temporary_root(temporary_root, invocation.environ),
                max_tokens=max_tokens,
                now_ms=options.now_ms,
                progress=progress,
            )
        )
    output.emit(invocation, document, _text)


def _text(document: dict[str, Any]) -> str:
    from repocue.cli.evaluate_text import probe

    return probe(document)
