"""`repocue refresh`: bring the snapshot up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from repocue.cli import output
from repocue.cli.app import Command
from repocue.cli.options import common_options

if TYPE_CHECKING:
    from repocue.cli.options import Invocation
    from repocue.store.runs import Trigger


@click.command(cls=Command, examples=("repocue refresh", "repocue refresh --trigger hook"))
@click.option(
    "--trigger",
    type=click.Choice(("command", "hook", "watch", "evaluation")),
    default="command",
    show_default=True,
    help="What to record as having asked for this run.",
)
@common_options
def command(invocation: Invocation, trigger: Trigger) -> None:
    """Bring the snapshot up to date.

    A new snapshot is published only where the repository's indexed state changed; the run and what it cost are recorded
    either way. Nothing is written into the repository.
    """
    with output.progress(invocation) as progress:
        request = invocation.request(progress, loading="repocue.maintenance.lifecycle")
        from repocue.maintenance import lifecycle

        result = lifecycle.refresh(request, trigger)
        from repocue.cli import locating

        locating.extend(request, result.header, quiet=invocation.quiet)
    output.emit(invocation, result.document(), _text)


def _text(document: dict[str, Any]) -> str:
    from repocue.cli.maintenance_text import operation

    return operation(document)
