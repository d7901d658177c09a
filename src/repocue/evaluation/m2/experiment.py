"""A whole M2 experiment: check everything, prepare, show the plan, run five conditions a set, publish each set.

::

    with begin(given, progress) as experiment:
        show(experiment.plan)
        outcome = experiment.run(progress)

Nothing is kept of a run that fails, and everything of the runs before it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from repocue.contracts import reader
from repocue.contracts.rules.evaluation import CONDITIONS
from repocue.domain.paths import display
from repocue.evaluation.m2 import delivery, naming, preparation, published, reports, workspace
from repocue.evaluation.m2.condition import Outcome, run_condition
from repocue.evaluation.m2.inputs import Given, Inputs, check, require_places
from repocue.evaluation.m2.order import is_balanced, order_of
from repocue.evaluation.shared import files
from repocue.git import evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from repocue.evaluation.m2.delivery import Executable
    from repocue.evaluation.m2.inputs import Progress
    from repocue.evaluation.m2.preparation import Prepared
    from repocue.evaluation.m2.workspace import Workspace
    from repocue.git.evidence import Capture

SNAPSHOT = "snapshot-000001"
"""What the first snapshot of a new cache is called; a set's contexts are always made from it."""

_STEPS = 8
"""Of every set: seven of preparation, and publishing."""
_DRY_STEPS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is about to happen, before any agent runs.

    `orders` are (run index, conditions in starting order) of the runs still to be made; `skipped` the runs that are
    published already. `contexts` are (condition, contract or None, bytes, estimated tokens), empty where no run is
    left. `leftovers` are paths that interrupted runs left.
    """

    repository: str
    output: str
    runner: str | None
    max_tokens: int
    timeout_s: float
    order_policy: str
    is_balanced: bool
    orders: Sequence[tuple[int, tuple[str, ...]]]
    skipped: Sequence[int]
    contexts: Sequence[tuple[str, str | None, int, int]]
    leftovers: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The printed document, and by run index the reports of the sets that were published now."""

    document: dict[str, Any]
    reports: Mapping[int, Sequence[Mapping[str, Any]]] = field(repr=False)


@contextmanager
def begin(given: Given, progress: Progress | None) -> Iterator[Experiment]:
    """Check all inputs, then prepare the first set that is to be made.

    Left in whatever way, nothing temporary remains and nothing that was started runs on. Raises what the steps raise.
    """
    inputs = check(given)
    left = workspace.leftovers(inputs.temporary_root, inputs.output)
    files.make_parents(inputs.output)
    files.make_parents(inputs.temporary_root)
    with ExitStack() as stack:
        experiment = Experiment(inputs, stack, left)
        experiment.prepare_first(progress)
        yield experiment


class Experiment:
    """One invocation's runs. `plan` is known once the first set is prepared."""

    def __init__(self, inputs: Inputs, stack: ExitStack, leftovers: Sequence[str]) -> None:
        self._inputs = inputs
        self._stack = stack
        self._leftovers = leftovers
        self._done = 0
        self._total = 0
        self._skipped: dict[int, str] = {}
        self._todo: list[int] = []
        self._state: Capture | None = None
        self._executable: Executable | None = None
        self._first: tuple[Workspace, Prepared] | None = None

    def prepare_first(self, progress: Progress | None) -> None:
        """Find out which runs are left and prepare the first of them."""
        inputs = self._inputs
        self._find_published()
        self._todo = [index for index in inputs.run_indexes if index not in self._skipped]
        steps = _STEPS + (_DRY_STEPS if inputs.runner is None else len(CONDITIONS))
        self._total = steps * len(self._todo)
        if self._todo:
            self._executable = delivery.identify(inputs.given, inputs.temporary_root)
            self._first = self._prepare(self._todo[0], progress)

    @property
    def plan(self) -> Plan:
        """What `run` will do."""
        inputs, given = self._inputs, self._inputs.given
        contexts = {} if self._first is None else self._first[1].contexts
        return Plan(
            repository=given.worktree.name,
            output=display(os.fsencode(inputs.output)),
            runner=None if inputs.runner is None else display(os.fsencode(inputs.runner)),
            max_tokens=given.max_tokens,
            timeout_s=given.timeout_s,
            order_policy=given.order,
            is_balanced=is_balanced(given.order, inputs.run_indexes),
            orders=[(index, order_of(given.order, index)) for index in self._todo],
            skipped=sorted(self._skipped),
            contexts=[
                (name, context.contract, len(context.document), -(-len(context.document) // 4))
                for name, context in contexts.items()
            ],
            leftovers=[display(os.fsencode(path)) for path in self._leftovers],
        )

    def run(self, progress: Progress | None) -> Finished:
        """Make every run that is left and publish each as it passes."""
        made: dict[int, Sequence[Mapping[str, Any]]] = {}
        paths = dict(self._skipped)
        for index in self._todo:
            space, prepared = self._first or self._prepare(index, progress)
            self._first = None
            try:
                outcomes = self._run_conditions(index, space, prepared, progress)
                made[index] = reports.build(self._inputs, prepared, index, outcomes)
                model = reports.model_of(outcomes)
                self._tell(progress, index, "Publish")
                require_places(self._inputs)
                paths[index] = published.publish(
                    self._inputs.output,
                    made[index],
                    trace=prepared.delivery.trace,
                    trace_file=naming.trace_name(prepared.repository["name"], model, index),
                    model=model,
                )
            finally:
                space.close()
        return Finished(document=self._document(paths), reports=made)

    def _find_published(self) -> None:
        """Where resuming: what is published of this state already, verified."""
        inputs, given = self._inputs, self._inputs.given
        if not given.resume:
            return
        self._state = evidence.capture(given.worktree, given.environ)
        identifier = naming.maintenance_id(display(given.worktree.root), self._state.state_fingerprint, SNAPSHOT)
        for index in inputs.run_indexes:
            path = published.find(inputs, given.worktree.name, index, identifier)
            if path is not None:
                self._skipped[index] = path

    def _prepare(self, index: int, progress: Progress | None) -> tuple[Workspace, Prepared]:
        """A workspace, entered and left with the experiment at the latest, and the set prepared in it."""
        assert self._executable is not None
        inputs = self._inputs
        space = self._stack.enter_context(workspace.Workspace(inputs.temporary_root, inputs.given.worktree.id))
        prepared = preparation.prepare(
            inputs, self._executable, space, lambda step: self._tell(progress, index, step), self._state
        )
        self._state = prepared.capture
        if inputs.runner is None:
            published.require_free(inputs, prepared.repository["name"], None, index, prepared.maintenance_id)
        return space, prepared

    def _run_conditions(
        self, index: int, space: Workspace, prepared: Prepared, progress: Progress | None
    ) -> dict[str, Outcome] | None:
        runner = self._inputs.runner
        if runner is None:
            return None
        outcomes: dict[str, Outcome] = {}
        for position, condition in enumerate(order_of(self._inputs.given.order, index), 1):
            self._tell(progress, index, f"Agent: {condition}")
            outcomes[condition] = run_condition(
                self._inputs,
                prepared,
                space,
                runner=runner,
                run_index=index,
                condition=condition,
                position=position,
                earlier=[outcome.observation for outcome in outcomes.values()],
            )
            if position == 1:  # the model is known now, and with it the set's name
                model = reports.model_of(outcomes)
                published.require_free(self._inputs, prepared.repository["name"], model, index, prepared.maintenance_id)
        return outcomes

    def _document(self, paths: Mapping[int, str]) -> dict[str, Any]:
        sets = [
            {
                "run_index": index,
                "path": display(os.fsencode(path)),
                "status": "skipped" if index in self._skipped else "published",
            }
            for index, path in sorted(paths.items())
        ]
        document = {
            "schema_version": reports.VERSION,
            "kind": "m2-condition-set",
            "report_sets": sets,
            "report_set": sets[0]["path"] if len(sets) == 1 else None,
        }
        reader.check(document, contract=reports.VERSION, kind="m2-condition-set")
        return document

    def _tell(self, progress: Progress | None, index: int, step: str) -> None:
        if progress is not None:
            progress(f"Run {index}: {step}", self._done, self._total)
        self._done += 1
