"""`repocue init`: the first snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from repocue.cli import output
from repocue.cli.app import Command
from repocue.cli.options import common_options

if TYPE_CHECKING:
    from repocue.cli.options import Invocation


@click.command(cls=Command, examples=("repocue init", "repocue init path/to/repository"))
@click.argument("path", required=False, metavar="[PATH]")
@click.option("--index", is_flag=True, help="Also build the index of the locate view, and have refreshes extend it.")
@common_options
def command(invocation: Invocation, path: str | None, index: bool) -> None:
    """Take the first snapshot of a repository.

    PATH is a folder in the repository's work tree (by default what -C names, else the working directory). A repository
    that has a snapshot already is left as it is. Nothing is written into the repository.
    """
    with output.progress(invocation) as progress:
        request = invocation.request(progress, repository=path, loading="repocue.maintenance.lifecycle")
        from repocue.maintenance import lifecycle

        result = lifecycle.init(request)
        if index:
            from repocue.cli import locating

            locating.extend(request, result.header, build=True)
    output.emit(invocation, result.document(), _text)


def _text(document: dict[str, Any]) -> str:
    from repocue.cli.maintenance_text import operation

    return operation(document)
