"""The prompt that a runner submits, byte for byte.

For a condition: the benchmark text; with supplied context also one fixed instruction, the same for every assisted
condition, and the cue's exact bytes. For a task: the task file, which holds the instruction already, and the cue.
"""

from __future__ import annotations

from functools import cache

from repocue.errors import EvaluationError
from repocue.runners.protocol import EvaluationRequest, TaskRequest

SEPARATOR = b"\n\n"
INSTRUCTION = "assisted-instruction.txt"


@cache
def assisted_instruction() -> bytes:
    """Use the supplied context first; inspect the repository whenever it does not suffice. No final line end."""
    from importlib.resources import files

    return (files("repocue") / "data" / "prompts" / INSTRUCTION).read_bytes().rstrip(b"\n")


def evaluation_prompt(request: EvaluationRequest) -> bytes:
    """The bytes for standard input of the agent. Raises EvaluationError for a file that cannot be read or is empty."""
    task = read_file(request.task_file, "the benchmark text")
    if request.cue_file is None:
        return task
    return SEPARATOR.join((task, assisted_instruction(), read_file(request.cue_file, "the cue")))


def task_prompt(request: TaskRequest) -> bytes:
    """The task file, two line ends, the cue: exactly what a summary rebuilds. Raises EvaluationError."""
    return SEPARATOR.join((read_file(request.task_file, "the task"), read_file(request.cue_file, "the cue")))


def read_file(path: str, what: str) -> bytes:
    """A file's bytes, which must not be empty. Raises EvaluationError."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise EvaluationError(f"cannot read {what} {path!r}: {error.strerror}", code="runner.file") from error
    if not data.strip():
        raise EvaluationError(f"{what} {path!r} is empty", code="runner.file")
    return data
