"""`repocue report`: what maintenance cost, what agents used, and what both project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from repocue.cli import output
from repocue.cli.app import Command
from repocue.cli.options import common_options_with

if TYPE_CHECKING:
    from repocue.cli.options import Invocation

_MAX_CONSUMERS = 1_000_000


@click.command(
    cls=Command,
    examples=(
        "repocue report",
        "repocue report --consumers 25 --since 2026-11-01 --until 2026-11-30",
        "repocue report --format html --output report.html",
    ),
)
@click.option(
    "--consumers",
    metavar="N",
    type=click.IntRange(1, _MAX_CONSUMERS),
    multiple=True,
    help="Project for N consumers as well as for 1, 2, 3, 5 and 10; may be repeated.",
)
@click.option(
    "--since",
    metavar="TIME",
    help="Leave out runs and cues that began before TIME: RFC 3339 with its zone, or a date in UTC.",
)
@click.option(
    "--until",
    metavar="TIME",
    help="Leave out runs and cues that began at TIME or later; a date takes in that whole day in UTC.",
)
@click.option(
    "--output",
    "path",
    metavar="FILE",
    help="Write the report to FILE, replacing it whole, instead of printing it.",
)
@common_options_with("html")
def command(
    invocation: Invocation, consumers: tuple[int, ...], since: str | None, until: str | None, path: str | None
) -> None:
    """Report what maintaining cost, what agents used with and without a cue, and when that pays.

    Maintenance is what this cache recorded. Agent evidence comes from imported calibrations alone: without any it is
    unavailable, and no saving is shown. Totals for several consumers are estimates. Nothing is started but git, to find
    the repository, and nothing is changed.

    A window leaves the current epoch's cost, which totals need, whole from its beginning up to --until.
    """
    from repocue.report.document import report
    from repocue.report.window import window

    cutoffs = window(since, until)
    document = report(invocation.request(), cutoffs, consumers)
    if invocation.format == "html":
        from repocue.report.html.page import render

        _put(path, render(document))
    elif path is not None:
        _put(path, output.for_file(invocation, document, _text))
    else:
        output.emit(invocation, document, _text)


def _put(path: str | None, data: bytes) -> None:
    if path is None:
        output.write(data)
        return
    from repocue.report.publishing import write

    write(path, data)


def _text(document: dict[str, Any]) -> Any:
    from repocue.cli.report_text import report as text

    return text(document)
