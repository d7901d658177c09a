"""`repocue rebaseline`: a new epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from repocue.cli import output
from repocue.cli.app import Command
from repocue.cli.options import common_options

if TYPE_CHECKING:
    from repocue.cli.options import Invocation


@click.command(cls=Command, examples=("repocue rebaseline --label v2 --reason 'after the migration'",))
@click.option("--label", metavar="TEXT", help="A short name for the new epoch.")
@click.option("--reason", metavar="TEXT", help="Why it is opened.")
@common_options
def command(invocation: Invocation, label: str | None, reason: str | None) -> None:
    """Open a new epoch with a full baseline.

    Everything is observed afresh and nothing of the last scan is reused. The epoch so far is superseded, and kept.
    """
    from repocue.maintenance import lifecycle

    with output.progress(invocation) as progress:
        result = lifecycle.rebaseline(invocation.request(progress), label, reason)
    output.emit(invocation, result.document(), _text)


def _text(document: dict[str, Any]) -> str:
    from repocue.cli.maintenance_text import operation

    return operation(document)
