"""`repocue evaluate-cache`: explicit prompt-cache experiments, one request at a time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

import repocue
from repocue.cli import options, output
from repocue.cli.app import Group
from repocue.cli.options import common_options, evidence_options

if TYPE_CHECKING:
    from repocue.cli.options import Invocation

KEY_VARIABLE = "ANTHROPIC_API_KEY"


@click.group("evaluate-cache", cls=Group)
def command() -> None:
    """Measure what an explicit prompt cache saves, with exact bytes and one request at a time.

    prepare freezes every request and sends nothing; run sends exactly one of them, once, and needs the provider's key
    in ANTHROPIC_API_KEY; summary recomputes usage, quality and cost from the frozen files.
    """


@command.command(
    "prepare",
    examples=("repocue evaluate-cache prepare --benchmark-file cache.json --output-directory ../evidence",),
)
@click.option(
    "--benchmark-file", metavar="FILE", required=True, help="The benchmark, a repocue/cache-benchmark-1 document."
)
@click.option(
    "--output-directory",
    metavar="DIR",
    required=True,
    help="Where the prepared folder is made; outside the repository.",
)
@click.option(
    "--cue-binary", metavar="EXE", help="The RepoCue that refreshes and makes the task cue.  [default: this one]"
)
@common_options
def prepare(invocation: Invocation, benchmark_file: str, output_directory: str, cue_binary: str | None) -> None:
    """Freeze benchmark, task cue and the exact bytes of every request; send nothing.

    Needs no key. The cache must be initialised; it is refreshed, and the declaration's sources must be as pinned. The
    answer names the prepared folder and each step's request with the identity of what a cache could reuse of it.
    """
    from repocue.cli.executable import own_command
    from repocue.evaluation.cache.prepare import Preparation
    from repocue.evaluation.cache.prepare import prepare as make

    with output.progress(invocation) as progress:
        document = make(
            Preparation(
                worktree=invocation.worktree(),
                benchmark_file=benchmark_file,
                output_directory=output_directory,
                command=[_executable(cue_binary)] if cue_binary else own_command(),
                cache_dir=os.path.abspath(invocation.cache_dir or options.cache_root(invocation.environ)),
                environ=invocation.environ,
                version=repocue.__version__,
                now_ms=options.now_ms,
                progress=progress,
            )
        )
    output.emit(invocation, document, _prepared_text)


@command.command(
    "run",
    examples=(
        "repocue evaluate-cache run --input-directory ../evidence/cache-eval-sample-0123456789ab --step baseline-a",
    ),
)
@click.option("--input-directory", metavar="DIR", required=True, help="The prepared folder.")
@click.option("--step", metavar="ID", required=True, help="The step to send: the first that was not attempted yet.")
@click.option(
    "--endpoint", metavar="URL", help="The provider's own URL, which is the default, or an https loopback fixture."
)
@click.option(
    "--endpoint-ca", metavar="FILE", help="Trust only the certificates in FILE; only with a loopback --endpoint."
)
@evidence_options
def run(invocation: Invocation, input_directory: str, step: str, endpoint: str | None, endpoint_ca: str | None) -> None:
    """Send one prepared request, once, and keep what happened.

    The attempt is reserved before sources and state are checked, and stays whatever becomes of it: nothing is retried.
    The key is read from ANTHROPIC_API_KEY after that and is kept nowhere. The answer is the attempt's observation; an
    attempt that is not complete ends with exit code 1.
    """
    from repocue.errors import EvaluationError
    from repocue.evaluation.cache import layout
    from repocue.evaluation.cache import run as runs

    destination, context = _destination(endpoint, endpoint_ca)
    with _deferred_interrupt() as interrupted, output.progress(invocation) as progress:
        if progress is not None:
            progress(f"Step {step}", 0, None)
        observation = runs.run(
            runs.Run(
                prepared_directory=input_directory,
                step=step,
                endpoint=destination,
                context=context,
                key=lambda: invocation.environ.get(KEY_VARIABLE),
                environ=invocation.environ,
                version=repocue.__version__,
                cancelled=interrupted,
            )
        )
    output.emit(invocation, observation, _observation_text)
    if interrupted():
        raise KeyboardInterrupt
    if observation["outcome"] != layout.COMPLETE:
        raise EvaluationError(
            f"Step {step} is not complete: {observation['reason']}",
            code="evaluation.step-failed",
            hint="The attempt is kept and is not repeated; the next step can still be run.",
        )


@command.command(
    "summary",
    examples=("repocue evaluate-cache summary --input-directory ../evidence/cache-eval-sample-0123456789ab",),
)
@click.option("--input-directory", metavar="DIR", required=True, help="The prepared folder.")
@click.option(
    "--assessment-file",
    metavar="FILE",
    help="Independent assessments of the answers, a repocue/cache-evaluation-1 bundle.",
)
@evidence_options
def summary(invocation: Invocation, input_directory: str, assessment_file: str | None) -> None:
    """Recompute usage, quality and cost of all steps and pairs from the frozen files.

    Nothing is run, sent or written. Savings are stated only where reads were observed and every paired answer was
    delivered, correct and independently assessed as compliant.
    """
    from repocue.evaluation.cache.summary import summarize

    document = summarize(input_directory, assessment_file=assessment_file)
    output.emit(invocation, document, _summary_text)


def _executable(name: str) -> str:
    """The executable as a path that means the same in another working directory."""
    return os.path.abspath(name) if os.sep in name else name


def _destination(endpoint: str | None, endpoint_ca: str | None) -> tuple[Any, Any]:
    """The endpoint and a TLS context for it, before anything is reserved."""
    from repocue.errors import EvaluationError, UsageError
    from repocue.evaluation.cache import endpoint as endpoints
    from repocue.evaluation.cache import tls

    destination = endpoints.parse(endpoint)
    if endpoint_ca is not None and not destination.is_loopback:
        raise UsageError(
            "--endpoint-ca is for a loopback --endpoint; the provider's certificate is checked as the system does.",
            code="usage.endpoint-ca",
        )
    try:
        return destination, tls.context(endpoint_ca)
    except tls.NoTrustStore:
        raise EvaluationError(
            "No certificate authorities are found on this machine, so no provider can be trusted.",
            code="evaluation.no-trust-store",
            hint="Install the system's CA certificates (on Debian: ca-certificates).",
        ) from None


class _deferred_interrupt:  # noqa: N801 - used as a function: `with _deferred_interrupt() as interrupted`
    """Within it, SIGINT and SIGTERM only set a flag, so that a request ends at a known point and is recorded.

    A second SIGINT interrupts as ever: then the attempt ends wherever it is.
    """

    def __init__(self) -> None:
        self._wanted = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Any:
        import signal

        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._want)
        return lambda: self._wanted

    def _want(self, number: int, _frame: Any) -> None:
        import signal

        if self._wanted and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._wanted = True

    def __exit__(self, *_: object) -> None:
        import signal

        for number, handler in self._before.items():
            signal.signal(number, handler)


def _prepared_text(document: dict[str, Any]) -> Any:
    from repocue.cli.evaluate_cache_text import prepared

    return prepared(document)


def _observation_text(document: dict[str, Any]) -> Any:
    from repocue.cli.evaluate_cache_text import observation

    return observation(document)


def _summary_text(document: dict[str, Any]) -> Any:
    from repocue.cli.evaluate_cache_text import summary as text

    return text(document)
