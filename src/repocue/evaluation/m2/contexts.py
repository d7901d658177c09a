"""The contexts that the harness builds itself: placebo, ranked and structural-oracle, each by the shared fitter.

Whatever is read from the repository on the way (live facts, the oracle's answer) lies between two observations that are
equal to the snapshot; where they are not, nothing is built (seed, "Preparation and Isolation").
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from repocue.cue import placebo, ranked, structural
from repocue.cue.subject import CUE_2, Subject, drift
from repocue.domain.measurement import milliseconds
from repocue.errors import EvaluationError, RepositoryMoved
from repocue.evaluation.oracle import run_oracle
from repocue.git.facts import read_facts
from repocue.git.process import Git
from repocue.git.scan import observe
from repocue.maintenance.reading import load_current
from repocue.maintenance.transitions import location_warnings
from repocue.maintenance.verdict import is_same_state, judge

if TYPE_CHECKING:
    from repocue.cue.fitting import Fitted
    from repocue.domain.facts import RankedFacts
    from repocue.domain.state import Observation, Summary
    from repocue.evaluation.oracle import OracleTool
    from repocue.maintenance.request import Request
    from repocue.store.snapshots import Current


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """What the structural oracle took and gave. `limitations` are (code, count) of what it left out."""

    duration_ms: float
    candidates: int
    limitations: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What one condition supplies: the exact bytes, none for `direct`.

    `contract` is None exactly there. `wall_duration_ms` is how long the harness took to have it, a diagnostic that is
    no cost of any condition.
    """

    condition: str
    contract: str | None
    document: bytes
    wall_duration_ms: float
    analysis: Analysis | None = None


DIRECT = Context(condition="direct", contract=None, document=b"", wall_duration_ms=0.0)
"""Nothing was built, which took no time."""


class Builder:
    """Builds contexts of the current snapshot of a cache that nobody else writes.

    Every method raises EvaluationError (code ``evaluation.repository-changed``) where the repository is not in the
    snapshot's state, BudgetTooSmall where the context cannot be that small, and what git and the oracle raise.
    """

    def __init__(self, request: Request, *, max_tokens: int) -> None:
        self._request = request
        self._max_tokens = max_tokens
        with load_current(request) as reading:
            self.current: Current = reading.current
            self.summary: Summary = reading.summary
        self._read: tuple[RankedFacts, Observation] | None = None
        self._facts_s = 0.0

    def placebo(self) -> Context:
        """The control: which state it is, and no content."""
        return self._timed(
            placebo.KIND, lambda: placebo.build(self._subject(self._observe()), max_tokens=self._max_tokens)
        )

    def ranked(self) -> Context:
        """The ranked facts."""

        def build() -> Fitted:
            facts, after = self._facts()
            return ranked.build(self._subject(after), self.summary, facts, max_tokens=self._max_tokens)

        return self._timed(ranked.KIND, build)

    def structural(self, tool: OracleTool) -> Context:
        """The ranked facts and the oracle's candidates. The oracle runs between two checks of the snapshot.

        Facts that were read already are used again, and the time that reading them took counts here too.
        """
        found: list[Analysis] = []
        earlier_s = self._facts_s

        def build() -> Fitted:
            facts, _ = self._facts()
            run = run_oracle(tool, self._request.worktree.root, self._request.environ)
            after = self._observe()
            structure = structural.parse(run.stdout, run.stderr)
            found.append(
                Analysis(
                    duration_ms=run.duration_ms,
                    candidates=len(structure.candidates),
                    limitations=structure.limitations,
                )
            )
            return structural.build(self._subject(after), self.summary, facts, structure, max_tokens=self._max_tokens)

        return replace(self._timed(structural.KIND, build, earlier_s=earlier_s), analysis=found[0])

    def _timed(self, condition: str, build: Callable[[], Fitted], *, earlier_s: float = 0.0) -> Context:
        begun = time.perf_counter()
        try:
            fitted = build()
        except RepositoryMoved as error:
            raise changed(f"while the {condition} context was built") from error
        return Context(
            condition=condition,
            contract=CUE_2,
            document=fitted.document,
            wall_duration_ms=milliseconds(earlier_s + time.perf_counter() - begun),
        )

    def _facts(self) -> tuple[RankedFacts, Observation]:
        """The live facts, read once, and the observation that was made right after."""
        if self._read is None:
            request, current = self._request, self.current
            begun = time.perf_counter()
            self._read = read_facts(request.worktree, request.environ, header=current.header, known=current.known)
            self._facts_s = time.perf_counter() - begun
        return self._read

    def _observe(self) -> Observation:
        """The repository now, which must be in the snapshot's state."""
        request = self._request
        git = Git.of(request.worktree, request.environ)
        now = observe(request.worktree, request.environ, known=self.current.known, git=git)
        if not is_same_state(self.current, now):
            raise RepositoryMoved("it left the snapshot's state")
        return now

    def _subject(self, now: Observation) -> Subject:
        request, header = self._request, self.current.header
        freshness = judge(self.current, now)
        return Subject(
            repository_id=request.worktree.id,
            repository_name=request.worktree.name,
            header=header,
            freshness=freshness,
            drift=drift(header, freshness, now, (*now.warnings, *location_warnings(request))),
        )


def changed(when: str) -> EvaluationError:
    """The error that ends a run because the repository is no longer what was prepared."""
    return EvaluationError(
        f"The repository changed {when}; nothing was published.",
        code="evaluation.repository-changed",
        hint="Run it again while nothing else works in the repository; the same run index can be used.",
    )
