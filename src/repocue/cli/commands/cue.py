"""`repocue cue`: a projection of the snapshot within a budget of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from repocue.cli import output
from repocue.cli.app import Command
from repocue.cli.options import json_options
from repocue.cli.task_options import TaskOptions, task_options
from repocue.errors import RepositoryMoved, UsageError

if TYPE_CHECKING:
    from repocue.cli.options import Invocation
    from repocue.contracts.types.task import Task
    from repocue.cue.fitting import Fitted
    from repocue.cue.subject import Subject
    from repocue.domain.state import Freshness, Observation, Warning
    from repocue.locate.projection import Located
    from repocue.maintenance.reading import Reading
    from repocue.maintenance.request import Request

VIEWS = ("overview", "delta", "ranked", "structural", "provenance", "placebo", "task", "locate")
DEFAULT_TOKENS = 500
LOCATE_TOKENS = 150
MAX_TOKENS = 2_097_152


@click.command(
    cls=Command,
    examples=(
        "repocue cue",
        "repocue cue --view ranked --refresh",
        "repocue cue --since snapshot-000001 --max-tokens 1000",
        "repocue cue --view task --tag contracts --max-tokens 4000",
        "repocue cue --view locate --query 'reject a budget below one token'",
    ),
)
@click.option(
    "--view",
    type=click.Choice(VIEWS),
    help="What to show.  [default: overview, or with --since the delta in repocue/1]",
)
@click.option("--since", metavar="SNAPSHOT", help="Show what changed since a snapshot, such as snapshot-000001.")
@click.option("--path", metavar="PREFIX", help="In a delta, show only files at or below this path.")
@click.option(
    "--oracle-tool",
    metavar="EXE",
    help="In the structural view, run this program instead of the packaged oracle.",
)
@click.option("--refresh", is_flag=True, help="Refresh first; the refresh is recorded as a run of its own.")
@click.option(
    "--max-tokens",
    type=click.IntRange(1, MAX_TOKENS),
    help="The budget: ceil(bytes / 4) of the whole answer never exceeds it.  [default: 500; locate: 150]",
)
@click.option(
    "--query", metavar="TEXT", help="In the locate view, what the files are needed for; - reads it from stdin."
)
@click.option(
    "--explain", is_flag=True, help="In the locate view, say why each path is named, and where to look in it."
)
@task_options(with_question=True)
@json_options
def command(
    invocation: Invocation,
    view: str | None,
    since: str | None,
    path: str | None,
    oracle_tool: str | None,
    refresh: bool,
    max_tokens: int | None,
    query: str | None,
    explain: bool,
    **typed: Any,
) -> None:
    """Print a JSON cue of the snapshot that fits a budget of estimated tokens.

    Overview says what the repository holds; ranked adds entry points, Makefile targets and recent commits; structural
    adds to these what Python and Bash files define; delta says what changed since a snapshot; provenance where the
    figures come from; placebo only which state it is; task delivers original sources, whole, which a tracked
    declaration keeps and a task file or options select; locate names the files that a question needs, the likeliest
    first. Every cue names its snapshot and a freshness made after its
    content was read; what was left out is counted in its warnings.
    """
    if max_tokens is None:
        max_tokens = LOCATE_TOKENS if view == "locate" else DEFAULT_TOKENS
    wanted = _View(
        view=view,
        since=since,
        path=path,
        max_tokens=max_tokens,
        oracle_tool=oracle_tool,
        task=TaskOptions(**typed),
        query=query,
        explain=explain,
    )
    with output.progress(invocation) as progress:
        request = invocation.request(progress, loading="repocue.maintenance.status")
        since_ms = 0.0
        started_at_ms = request.started_at_ms()
        if refresh:
            from repocue.maintenance import lifecycle

            refreshed = lifecycle.refresh(request, "cue")
            if wanted.name == "locate":
                from repocue.cli import locating

                locating.extend(request, refreshed.header)
            since_ms = request.elapsed_ms() or 0.0
            started_at_ms = request.now_ms()
        subject, fitted = wanted.make(request)
    output.write(fitted.document)
    elapsed_ms = request.elapsed_ms()

    from repocue.maintenance.recording import record_cue_run

    not_recorded = record_cue_run(
        request,
        view=wanted.name,
        snapshot=subject.header.snapshot,
        freshness=subject.freshness,
        size_bytes=len(fitted.document),
        estimated_tokens=fitted.estimated_tokens,
        max_tokens=max_tokens,
        duration_ms=None if elapsed_ms is None else round(elapsed_ms - since_ms, 3),
        started_at_ms=started_at_ms,
    )
    if not_recorded is not None and not invocation.quiet:
        click.echo(f"repocue: warning: {not_recorded.code}: the cache could not be written", err=True)


class _View:
    """What was asked for, checked before anything is opened."""

    def __init__(
        self,
        *,
        view: str | None,
        since: str | None,
        path: str | None,
        max_tokens: int,
        oracle_tool: str | None,
        task: TaskOptions,
        query: str | None,
        explain: bool,
    ) -> None:
        self.name = view or ("overview" if since is None else "delta")
        self.is_frozen = view is None or view == "overview"
        self.since = since
        self.max_tokens = max_tokens
        if self.name == "delta" and since is None:
            raise UsageError(
                "--view delta needs --since SNAPSHOT.", hint="'repocue metrics' lists the snapshots of earlier runs."
            )
        if self.name != "delta" and since is not None:
            raise UsageError(f"--since has no meaning for --view {self.name}.", hint="Leave --view out, or use delta.")
        self.prefix: str | None = None
        if path is not None:
            if self.name != "delta":
                raise UsageError("--path has a meaning only in a delta.", hint="Add --since SNAPSHOT.")
            from repocue.cue.delta import path_prefix

            self.prefix = path_prefix(path)
        if oracle_tool is not None and self.name != "structural":
            raise UsageError("--oracle-tool has a meaning only in the structural view.", hint="Add --view structural.")
        self.oracle_tool = oracle_tool
        if self.name == "locate":
            from repocue.cli import locating

            self.query = locating.query_of(query, task)
        elif query is not None or explain:
            raise UsageError("--query and --explain have a meaning only with --view locate.")
        elif task.is_given and self.name != "task":
            raise UsageError("--task-file and the options that select items need --view task.")
        self.explain = explain
        self.task = task.resolve() if self.name == "task" else None

    def make(self, request: Request) -> tuple[Subject, Fitted | Located]:
        """The cue: content first, then the verdict on it, then the document."""
        from repocue.maintenance.reading import load_current

        with load_current(request) as reading:
            if self.name == "ranked":
                return self._ranked(request, reading)
            if self.name == "structural":
                return self._structural(request, reading)
            if self.name == "locate":
                return self._locate(request, reading)
            if self.task is not None:
                return self._task(request, reading, self.task)
            summary = reading.summary if self.name in ("overview", "provenance") else None
            delta = None if self.since is None else reading.delta(self.since)
            reading.check_settled()
        subject = _subject(request, reading, *_verdict(request, reading))
        if delta is not None:
            from repocue.cue import delta as delta_cue

            build = delta_cue.build_frozen if self.is_frozen else delta_cue.build
            return subject, build(subject, delta, max_tokens=self.max_tokens, prefix=self.prefix)
        if summary is None:
            from repocue.cue import placebo

            return subject, placebo.build(subject, max_tokens=self.max_tokens)
        if self.name == "overview":
            from repocue.cue import overview

            return subject, overview.build(subject, summary, max_tokens=self.max_tokens)
        from repocue.cue import provenance

        return subject, provenance.build(subject, summary, max_tokens=self.max_tokens)

    def _ranked(self, request: Request, reading: Reading) -> tuple[Subject, Fitted]:
        from repocue.cue import ranked
        from repocue.git.facts import read_facts
        from repocue.maintenance.verdict import judge

        summary = reading.summary
        reading.check_settled()
        facts, after = read_facts(
            request.worktree,
            request.environ,
            header=reading.header,
            known=reading.known,
            progress=request.progress,
        )
        subject = _subject(request, reading, judge(reading.current, after), after, after.warnings)
        return subject, ranked.build(subject, summary, facts, max_tokens=self.max_tokens)

    def _structural(self, request: Request, reading: Reading) -> tuple[Subject, Fitted]:
        from repocue.cue import structural
        from repocue.evaluation.oracle import external_tool, packaged_tool, run_oracle
        from repocue.git.facts import read_facts
        from repocue.maintenance.verdict import is_same_state

        root = request.worktree.root
        tool = packaged_tool() if self.oracle_tool is None else external_tool(self.oracle_tool, root)
        summary = reading.summary
        reading.check_settled()
        facts, _ = read_facts(
            request.worktree,
            request.environ,
            header=reading.header,
            known=reading.known,
            progress=request.progress,
        )
        found = run_oracle(tool, root, request.environ)
        freshness, after, warnings = _verdict(request, reading)
        if after is None or not is_same_state(reading.current, after):
            raise RepositoryMoved(
                f"The repository did not stay in the state of {reading.header.snapshot} while the oracle read it.",
                hint="Refresh and ask again: repocue cue --view structural --refresh.",
            )
        subject = _subject(request, reading, freshness, after, warnings)
        structure = structural.parse(found.stdout, found.stderr)
        return subject, structural.build(subject, summary, facts, structure, max_tokens=self.max_tokens)

    def _locate(self, request: Request, reading: Reading) -> tuple[Subject, Located]:
        from repocue.cli import locating

        reading.check_settled()
        found, freshness, observation, warnings = locating.answer(request, reading, self.query, explain=self.explain)
        subject = _subject(request, reading, freshness, observation, warnings)
        return subject, locating.build(subject, found, self.query, max_tokens=self.max_tokens, explain=self.explain)

    def _task(self, request: Request, reading: Reading, task: Task) -> tuple[Subject, Fitted]:
        from repocue.cue.task import loading, projection, selection
        from repocue.git.process import Git

        header = reading.header
        reading.check_settled()
        files = loading.Files(git=Git.of(request.worktree, request.environ), head=loading.committed(header.head))
        declaration = loading.read_declaration(files, task.declaration)
        items = selection.select(declaration.context, task.selector)
        files.read(source.path for item in items for source in item.sources)
        freshness, observation, warnings = _verdict(request, reading)
        now = loading.settled(observation, header.head)
        found = loading.find(files, items, now)
        loading.check_deliverable(declaration, found, now)
        subject = _subject(request, reading, freshness, now, warnings)
        return subject, projection.build(subject, declaration, items, found, files, task, max_tokens=self.max_tokens)


def _verdict(request: Request, reading: Reading) -> tuple[Freshness, Observation | None, tuple[Warning, ...]]:
    from repocue.maintenance.status import observe_or_warn
    from repocue.maintenance.verdict import judge

    now, warnings = observe_or_warn(request, reading.current)
    return judge(reading.current, now), now, warnings


def _subject(
    request: Request,
    reading: Reading,
    freshness: Freshness,
    observation: Observation | None,
    warnings: tuple[Warning, ...],
) -> Subject:
    from repocue.cue.subject import Subject, drift
    from repocue.maintenance.transitions import location_warnings

    return Subject(
        repository_id=request.worktree.id,
        repository_name=request.worktree.name,
        header=reading.header,
        freshness=freshness,
        drift=drift(reading.header, freshness, observation, (*warnings, *location_warnings(request))),
    )
