"""`repocue evaluate-m2 summary`, `blind` and `unblind`: what published sets show, and having answers judged blindly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from repocue.cli import output
from repocue.cli.app import Command
from repocue.cli.options import evidence_options

if TYPE_CHECKING:
    from repocue.cli.options import Invocation

_report_sets = click.option(
    "--report-set",
    "report_sets",
    metavar="DIR",
    multiple=True,
    required=True,
    help="A published report set, or a folder that holds some; may be repeated.",
)


@click.command(
    "summary",
    cls=Command,
    examples=(
        "repocue evaluate-m2 summary --report-set ../evidence",
        "repocue evaluate-m2 summary --report-set ../evidence --assessment ../scores --key ../keys/key.json",
    ),
)
@_report_sets
@click.option(
    "--assessment",
    "assessments",
    metavar="PATH",
    multiple=True,
    help="A qualitative assessment, or a folder of them as unblind writes it; may be repeated.",
)
@click.option(
    "--key",
    "keys",
    metavar="FILE",
    multiple=True,
    help="A key that blind wrote: it shows which assessments were blinded; may be repeated.",
)
@evidence_options
def summary(
    invocation: Invocation, report_sets: tuple[str, ...], assessments: tuple[str, ...], keys: tuple[str, ...]
) -> None:
    """Say what published report sets show, repository by repository, and what is missing.

    Nothing is run or written. Every figure stands beside the number of runs it is over; nothing is pooled that was
    not measured the same way, and estimated or contaminated values enter no statistics. Without three runs of all five
    conditions and a blinded assessment of every answer, no verdict is given.
    """
    from repocue.evaluation.m2.summary import summarize
    from repocue.evaluation.m2.summary_inputs import Inputs

    given = Inputs(report_sets=report_sets, assessment_files=assessments, key_files=keys)
    with output.progress(invocation) as progress:
        document = summarize(given, progress=progress)
    output.emit(invocation, document, _summary_text)


@click.command(
    "blind",
    cls=Command,
    examples=("repocue evaluate-m2 blind --report-set ../evidence --output-directory ../blinded",),
)
@_report_sets
@click.option(
    "--output-directory",
    metavar="DIR",
    required=True,
    help="Where both folders are made; outside the repositories and the report sets.",
)
@evidence_options
def blind(invocation: Invocation, report_sets: tuple[str, ...], output_directory: str) -> None:
    """Export the answers of report sets under random ids, without their conditions, for an assessor.

    Two folders are made: one to hand over, with the answers, a form for the scores and a guide, and one with the key,
    which stays behind until the scores are in. Answers are not altered; one that speaks of its own context may
    tell what it was given.
    """
    from repocue.evaluation.m2.blind import blind as make

    document = make(report_sets, output_directory)
    output.emit(invocation, document, _blinding_text)


@click.command(
    "unblind",
    cls=Command,
    examples=(
        "repocue evaluate-m2 unblind --key ../keys/key.json --scores scores.json --output-directory ../assessments",
    ),
)
@click.option("--key", "key", metavar="FILE", required=True, help="The key that blind wrote with these answers.")
@click.option(
    "--scores",
    "scores",
    metavar="FILE",
    multiple=True,
    required=True,
    help="The form, filled in; may be repeated, one for each assessor.",
)
@click.option("--output-directory", metavar="DIR", required=True, help="Where the folder of assessments is made.")
@evidence_options
def unblind(invocation: Invocation, key: str, scores: tuple[str, ...], output_directory: str) -> None:
    """Turn the scores of blinded answers into assessments that summary and calibration bind by digest.

    Each assessment carries the digest and the identity of the answer it is of, its assessor, and the date if one was
    given: a missing date stays unknown.
    """
    from repocue.evaluation.m2.blind import unblind as make

    document = make(key, scores, output_directory)
    output.emit(invocation, document, _blinding_text)


def _summary_text(document: dict[str, Any]) -> Any:
    from repocue.cli.evaluate_m2_summary_text import summary as text

    return text(document)


def _blinding_text(document: dict[str, Any]) -> str:
    from repocue.cli.evaluate_m2_summary_text import blinding

    return blinding(document)
