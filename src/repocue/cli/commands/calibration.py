"""`repocue calibration`: import pairs of agent runs from published report sets, and look after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from repocue.cli import output
from repocue.cli.app import Group
from repocue.cli.options import common_options

if TYPE_CHECKING:
    from repocue.cli.options import Invocation

_ASSISTED = ("placebo", "basic", "ranked", "structural-oracle")


@click.group(cls=Group)
def command() -> None:
    """Import what agents cost with and without a cue, as numbers and digests, so that `report` can compare them.

    A pair is the direct and one assisted run of one published report set. Answers and narratives stay where they are.
    """


@command.command(
    "import",
    examples=(
        "repocue calibration import --report-set ../evidence",
        "repocue calibration import --report-set ../evidence --assisted ranked --assessment ../assessments",
    ),
)
@click.option(
    "--report-set",
    "report_sets",
    metavar="DIR",
    multiple=True,
    required=True,
    help="A published report set, or a folder that holds some; may be repeated.",
)
@click.option(
    "--assisted",
    type=click.Choice(_ASSISTED),
    default="basic",
    show_default=True,
    help="The condition that is paired with direct.",
)
@click.option(
    "--assessment",
    "assessments",
    metavar="PATH",
    multiple=True,
    help="A qualitative assessment, or a folder of them as unblind writes it; may be repeated.",
)
@common_options
def import_(invocation: Invocation, report_sets: tuple[str, ...], assisted: str, assessments: tuple[str, ...]) -> None:
    """Import the pairs of published report sets, all of them or none.

    Every set is verified whole, and its evidence is recomputed on this checkout and held against the maintained
    snapshot: a set of another state is refused, and so is a cache that needs a refresh. Importing a set again changes
    nothing. Nothing is run, and the repository is not changed.
    """
    from repocue.calibration import documents
    from repocue.calibration.importing import Inputs, import_sets

    inputs = Inputs(report_sets=report_sets, assisted=assisted, assessment_files=assessments)
    with output.progress(invocation) as progress:
        request = invocation.request(progress)
        result = import_sets(request, inputs)
    output.emit(invocation, documents.imported(request.worktree, result), _text)


@command.command("list", examples=("repocue calibration list",))
@common_options
def list_(invocation: Invocation) -> None:
    """List every imported pair, and whether it counts."""
    from repocue.calibration.keeping import list_all

    output.emit(invocation, list_all(invocation.request()), _text)


@command.command("show", examples=("repocue calibration show calibration-000001",))
@click.argument("identifier", metavar="ID")
@common_options
def show(invocation: Invocation, identifier: str) -> None:
    """Show one imported pair: every measurement with its source, its evidence, scores and assessments."""
    from repocue.calibration.keeping import show as find

    output.emit(invocation, find(invocation.request(), identifier), _text)


@command.command("remove", examples=("repocue calibration remove calibration-000001",))
@click.argument("identifier", metavar="ID")
@common_options
def remove(invocation: Invocation, identifier: str) -> None:
    """Remove one imported pair; its published set stays where it is and can be imported again."""
    from repocue.calibration.keeping import remove as take_out

    output.emit(invocation, take_out(invocation.request(), identifier), _text)


def _text(document: dict[str, Any]) -> Any:
    from repocue.cli.calibration_text import text

    return text(document)
