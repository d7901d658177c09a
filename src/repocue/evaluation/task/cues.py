"""The two cues that are compared: that each is one, and that it is what the benchmark asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from repocue.contracts import canonical, reader, registry
from repocue.errors import EvaluationError
from repocue.evaluation.shared import basis, task_cues
from repocue.evaluation.task import layout
from repocue.evaluation.task.limits import TaskLimits

if TYPE_CHECKING:
    from repocue.contracts.types.task import TaskBenchmark
    from repocue.git.evidence import Capture
    from repocue.git.worktree import Worktree

_VIEWS: Final = {"overview": (layout.OVERVIEW_VERSION, "overview"), "locate": (layout.LOCATE_VERSION, None)}
"""The contract and kind of each view of the overview arm."""

_SHORT_HEAD: Final = 8
"""How many digits of HEAD a locate cue shows."""


def check_offered(benchmark: TaskBenchmark) -> None:
    """Raises EvaluationError, code ``evaluation.view``, where this version makes no cue of the overview arm's view."""
    view = benchmark.overview.view
    if not registry.is_known(_VIEWS[view][0]):
        raise EvaluationError(
            f"The benchmark's overview arm asks for the view {view}, which this version of RepoCue does not offer.",
            code="evaluation.view",
            hint="Use the view overview, or a version of RepoCue that has it.",
        )


def arguments(benchmark: TaskBenchmark, arm: layout.Arm, benchmark_file: str) -> list[str]:
    """The arguments of the `cue` command that makes an arm's cue."""
    if arm == "task":
        options = ["--view", "task", "--task-file", benchmark_file]
        return ["cue", *options, "--max-tokens", str(benchmark.task_context.max_tokens)]
    view = benchmark.overview.view
    options = ["--view", view, *(["--task-file", benchmark_file] if view == "locate" else [])]
    return ["cue", *options, "--max-tokens", str(benchmark.overview.max_tokens)]


def read(data: bytes, benchmark: TaskBenchmark, arm: layout.Arm, *, limits: TaskLimits, subject: str) -> dict[str, Any]:
    """The cue in `data`, in canonical form, and the one that the benchmark asks for in this arm.

    Raises ContractError, or EvaluationError (code ``evaluation.cue``) for the cue of something else.
    """
    contract, kind = (layout.CUE_VERSION, None) if arm == "task" else _VIEWS[benchmark.overview.view]
    cue = reader.read_canonical(
        data,
        contract=contract,
        kind=kind,
        limits=reader.Limits(max_bytes=limits.child_stdout_bytes, max_depth=limits.json_depth),
        subject=subject,
    )
    if arm == "task":
        task_cues.check_for(cue, benchmark.task, benchmark.task_context.max_tokens)
    else:
        _check_overview(cue, benchmark)
    return cue


def prefix_digest(cue: Mapping[str, Any]) -> str:
    """The digest of what stands before `task` in a task cue: declaration, items, blocks and sources, whatever the task
    and the state of the repository are."""
    names = list(cue)
    return canonical.digest_of({name: cue[name] for name in names[: names.index("task")]})


def check_state(
    cue: Mapping[str, Any],
    benchmark: TaskBenchmark,
    arm: layout.Arm,
    operation: Mapping[str, Any],
    worktree: Worktree,
    capture: Capture,
) -> None:
    """Raises EvaluationError, code ``evaluation.cue``, unless cue, the refresh's `operation` and our own observation
    speak of one state of one repository."""
    if arm == "task" or benchmark.overview.view == "overview":
        basis.check_cue(f"{arm} cue", cue, operation, worktree, capture)
        return
    head = capture.observation.head
    expected = {  # a locate cue says these in few words
        "repository": worktree.name,
        "snapshot": operation["snapshot"],
        "basis": "unborn" if head is None else head[:_SHORT_HEAD],
    }
    found = {name: cue[name] for name in expected} | {"basis": cue["basis"].removesuffix("+dirty")}
    if differing := [name for name, value in expected.items() if found[name] != value]:
        raise EvaluationError(
            f"The overview cue does not describe the repository as it is: {', '.join(differing)} differ.",
            code="evaluation.cue",
            hint="Prepare again while nothing else works in the repository or its cache.",
        )


def _check_overview(cue: Mapping[str, Any], benchmark: TaskBenchmark) -> None:
    budget = cue["budget"]
    max_tokens = budget["max_tokens"] if benchmark.overview.view == "overview" else budget[0]
    faults = []
    if max_tokens != benchmark.overview.max_tokens:
        faults.append(f"its budget is {max_tokens}, not {benchmark.overview.max_tokens}")
    if cue["freshness"] not in task_cues.USABLE:
        faults.append(f"its freshness is {cue['freshness']}")
    if faults:
        raise EvaluationError(
            f"The overview cue cannot be used: {'; '.join(faults)}.",
            code="evaluation.cue",
            hint="The repository must rest while an evaluation is prepared.",
        )
