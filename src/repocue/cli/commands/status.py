"""`repocue status`: is the snapshot still true?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from repocue.cli import output
from repocue.cli.app import Command
from repocue.cli.options import common_options

if TYPE_CHECKING:
    from repocue.cli.options import Invocation

STALE = 3


@click.command(cls=Command, examples=("repocue status", "repocue status --exit-code || repocue refresh"))
@click.option(
    "--exit-code", "exit_code", is_flag=True, help="Exit 3 unless the snapshot is known to be what the repository is."
)
@common_options
def command(invocation: Invocation, exit_code: bool) -> int:
    """Say how the repository stands to its snapshot, and what changed since.

    The freshness is current, dirty-but-indexed (the same state, with uncommitted changes), refresh-needed, or unknown
    where it cannot be told. Nothing is changed.
    """
    with output.progress(invocation) as progress:
        request = invocation.request(progress, loading="repocue.maintenance.status")
        from repocue.maintenance.status import status

        result = status(request)
    output.emit(invocation, result.document(), _text)
    return STALE if exit_code and not result.is_fresh else 0


def _text(document: dict[str, Any]) -> str:
    from repocue.cli.maintenance_text import status

    return status(document)
