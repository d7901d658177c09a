"""The text that both arms get, and the whole prompts (CONTRACTS, "Runner protocol"). Pure.

A prompt is the task text, two line ends and a cue, byte for byte. The submitted bytes themselves exist in attempts
only; here is what they must be.
"""

from __future__ import annotations

from typing import Final

from repocue.contracts import canonical
from repocue.contracts.types.task import TaskBenchmark
from repocue.runners.prompt import SEPARATOR, assisted_instruction
from repocue.runners.task_text import command_line

_HEAD: Final = """\
Task {task} ({kind}) of benchmark {benchmark}.

{question}

What this task needs is kept in the declaration {declaration}, tracked in this repository. Items are selected by {selector}: an item is selected when "items" names it, or when it matches every non-empty one of "tags", "kinds" and "paths" (any member of each; paths are globs over source paths)."""  # noqa: E501 - one paragraph of a prompt is one line

_RULES: Final = """\
Answer with one JSON object that fits the answer schema, and nothing else:
- benchmark_id is "{benchmark}".
- items: the selected items that you used, each by its id with the ids of its sources. A source's id is its path, or PATH#L<first>-L<last> where the declaration gives lines.
- claims: what you state, each with the ids of the selected sources it rests on; cite no other source.
- commands: {commands}
- uncertainties: what you could not settle.
Change nothing in the repository."""  # noqa: E501 - one rule of a prompt is one line

_KIND_RULES: Final = {
    "discovery": "Find every selected item with all of its sources, and no other.",
    "verification": "Run each of these commands, exactly as written, one at a time and without a pipe or redirection:",
    "explanation": "Explain from the selected sources; make no claim without one.",
}


def task_text(benchmark: TaskBenchmark) -> bytes:
    """The bytes of TASK_FILE: the same in both arms, UTF-8, without a final line end."""
    task = benchmark.task
    selector = {
        "items": list(task.selector.items),
        "tags": list(task.selector.tags),
        "kinds": list(task.selector.kinds),
        "paths": list(task.selector.paths),
    }
    head = _HEAD.format(
        task=task.id,
        kind=task.kind,
        benchmark=benchmark.id,
        question=task.question,
        declaration=task.declaration,
        selector=canonical.compact(selector).decode(),
    )
    commands = () if benchmark.verification is None else benchmark.verification.commands
    kind_rule = "\n".join([_KIND_RULES[task.kind], *(command_line(one.id, one.argv) for one in commands)])
    rules = _RULES.format(
        benchmark=benchmark.id,
        commands="each command by its id, with the exit code that you saw." if commands else "none; leave it empty.",
    )
    return "\n\n".join((head, kind_rule, rules, assisted_instruction().decode())).encode()


def prompt(task: bytes, cue: bytes) -> bytes:
    """What an adapter must submit."""
    return task + SEPARATOR + cue
