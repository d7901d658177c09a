"""`repocue evaluate-task`: an overview against the original sources a task needs; its summary is a subcommand."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

import repocue
from repocue.cli import options, output
from repocue.cli.app import Group
from repocue.cli.options import common_options, evidence_options
from repocue.cli.subcommands import refuse_options
from repocue.errors import UsageError

if TYPE_CHECKING:
    from repocue.cli.options import Invocation


@click.group(
    "evaluate-task",
    cls=Group,
    invoke_without_command=True,
    subcommand_metavar="[COMMAND [ARGS]...]",
    examples=(
        "repocue evaluate-task --task-file task.json --output-directory ../evidence",
        "repocue evaluate-task --task-file task.json --policy-file policy.json --output-directory ../evidence"
        " --runner ./my-runner --order overview-first --repeat 1",
    ),
)
@click.option("--task-file", metavar="FILE", help="The benchmark, a repocue/task-benchmark-1 document.  [required]")
@click.option(
    "--output-directory", metavar="DIR", help="Where the prepared folder is made; outside the repository.  [required]"
)
@click.option(
    "--policy-file",
    metavar="FILE",
    help="What may run and be spent, a repocue/task-policy-1 document; needed with --runner.",
)
@click.option(
    "--runner", metavar="EXE", help="The program that runs the agent once for each arm.  [default: none, prepare only]"
)
@click.option(
    "--order",
    type=click.Choice(("overview-first", "task-first")),
    help="Which arm runs first.  [default: as the schedule of nine pairs has it]",
)
@click.option("--repeat", type=click.IntRange(1, 99), default=1, show_default=True, help="Which repetition this is.")
@click.pass_context
@common_options
def command(
    ctx: click.Context,
    invocation: Invocation,
    task_file: str | None,
    output_directory: str | None,
    policy_file: str | None,
    runner: str | None,
    order: str | None,
    repeat: int,
) -> None:
    """Compare an agent that gets an overview with one that gets the original sources its task needs.

    Without --runner nothing is asked of an agent: refresh, overview cue and task cue run as processes on the
    initialised cache, and everything that both arms would be given is frozen in a folder of its own. That the inputs
    are ready is all this establishes.

    With --runner one ordered pair is performed after that, each arm once. Every attempt is journaled before its runner
    starts and stays, whatever becomes of it; nothing is retried or continued, and the second arm is not started where
    the first attempt is not complete. An attempt that is not complete ends with exit code 1.
    """
    if ctx.invoked_subcommand is not None:
        refuse_options(ctx)
        return
    for name, value in (("--task-file", task_file), ("--output-directory", output_directory)):
        if not value:
            raise UsageError(f"evaluate-task needs {name}.", hint="See repocue evaluate-task --help.")
    _run(
        invocation,
        runner,
        task_file=task_file,
        output_directory=output_directory,
        policy_file=policy_file,
        order=order,
        repeat=repeat,
    )


def _run(invocation: Invocation, runner: str | None, **given: Any) -> None:
    from repocue.cli import evaluate_task_text
    from repocue.cli.executable import own_command
    from repocue.cli.interrupts import ending_cleanly
    from repocue.errors import EvaluationError
    from repocue.evaluation.task.prepare import Preparation
    from repocue.evaluation.task.run import evaluate

    with ending_cleanly(), output.progress(invocation) as progress:
        outcome = evaluate(
            Preparation(
                worktree=invocation.worktree(),
                command=own_command(),
                cache_dir=os.path.abspath(invocation.cache_dir or options.cache_root(invocation.environ)),
                environ=invocation.environ,
                version=repocue.__version__,
                now_ms=options.now_ms,
                progress=progress,
                **given,
            ),
            runner,
        )
    output.emit(invocation, outcome.document, evaluate_task_text.prepared)
    if not outcome.is_complete:
        last = outcome.document["attempts"][-1]
        raise EvaluationError(
            f"Attempt {last['attempt']} is not complete: {last['reason']}",
            code="evaluation.attempt-failed",
            hint="The attempt is kept and is not repeated; the pair counts as it is.",
        )


@command.command(
    "summary",
    examples=("repocue evaluate-task summary --input-directory ../evidence",),
)
@click.option(
    "--input-directory",
    "input_directories",
    metavar="DIR",
    multiple=True,
    required=True,
    help="A prepared folder, or a folder that holds some (repeatable).",
)
@click.option(
    "--assessment-file",
    metavar="FILE",
    help="Independent assessments of the answers, a repocue/task-evaluation-1 bundle.",
)
@evidence_options
def summary(invocation: Invocation, input_directories: tuple[str, ...], assessment_file: str | None) -> None:
    """Recompute scores, tokens, credits and verdicts from frozen and captured evidence.

    Nothing is run and nothing is written. Every frozen file is made again from its parts, prompts too, and every
    provider stream is read again. Savings are stated only where all three repeats of a benchmark were delivered whole,
    completed, correct and independently assessed as compliant.
    """
    from repocue.cli import evaluate_task_text
    from repocue.evaluation.task.summary import summarize

    document = summarize(input_directories, assessment_file=assessment_file)
    output.emit(invocation, document, evaluate_task_text.summary)
