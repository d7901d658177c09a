"""`repocue metrics`: what keeping the picture has cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from repocue.cli import output
from repocue.cli.app import Command
from repocue.cli.options import common_options

if TYPE_CHECKING:
    from repocue.cli.options import Invocation


@click.command(cls=Command, examples=("repocue metrics", "repocue metrics --format json"))
@common_options
def command(invocation: Invocation) -> None:
    """List every maintenance run and cue on record, and the size of the database.

    The text form shows the totals and the last runs; the JSON form has all of them. The repository is not looked at.
    """
    from repocue.maintenance.metrics import metrics

    output.emit(invocation, metrics(invocation.request()).document(), _text)


def _text(document: dict[str, Any]) -> Any:
    from repocue.cli.maintenance_text import metrics

    return metrics(document)
