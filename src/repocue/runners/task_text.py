"""The frozen commands inside a task file: one line each, written here and found again by adapters.

A task file is the text that both arms of a comparison get. A verification lists its commands in it, so that the agent
knows their ids and an adapter can tell which of the commands that ran is which.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from repocue.contracts import canonical
from repocue.domain.ids import ID_PATTERN

_LINE = re.compile(rf"^- command ({ID_PATTERN}): (\[.*\])$", re.MULTILINE)


class FrozenCommand(NamedTuple):
    """A command of a benchmark: its id, and the program with its arguments."""

    identifier: str
    argv: tuple[str, ...]


def command_line(identifier: str, argv: Sequence[str]) -> str:
    """The line that states one frozen command, without a line end."""
    return f"- command {identifier}: {canonical.compact(list(argv)).decode()}"


def frozen_commands(task: bytes) -> tuple[FrozenCommand, ...]:
    """The commands that a task file states, in order; a line of another form states none."""
    found = []
    for identifier, text in _LINE.findall(task.decode("utf-8", "replace")):
        try:
            argv = json.loads(text)
        except ValueError:
            continue
        if argv and all(isinstance(one, str) for one in argv):
            found.append(FrozenCommand(identifier, tuple(argv)))
    return tuple(found)
