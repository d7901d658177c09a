"""The tree of a shell text: simple commands, grouped by the scopes that a `cd` or an assignment lives in.

Control structures lose their conditions' meaning and keep their commands. Nothing is expanded: a word keeps its parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

MAX_DEPTH = 40
"""How deep substitutions, groups and structures may nest before a text counts as unreadable."""


class ShellSyntaxError(ValueError):
    """The text is no complete shell text (an open quote or structure), or nests deeper than is read."""


class Part(NamedTuple):
    """A piece of a word. `kind`: text, variable (its name), commands (a substitution), unknown."""

    kind: str
    text: str
    is_quoted: bool
    commands: tuple[Node, ...] = ()


Word = tuple[Part, ...]


class Redirect(NamedTuple):
    """`operator` and its target; `document` is a here-document's text, None for other redirections."""

    operator: str
    target: Word
    document: str | None


@dataclass(slots=True)
class Simple:
    """A simple command: assignments, words and redirections in order."""

    assignments: list[tuple[str, Word]] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Pipeline:
    """Commands joined by `|`; each runs in a scope of its own."""

    commands: list[Node]


@dataclass(slots=True)
class Group:
    """Commands in sequence. `has_scope` for `( )`, background commands and substitutions."""

    commands: list[Node]
    has_scope: bool
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Loop:
    """`for name in words`: the body runs with the variable set to each word."""

    name: str
    words: list[Word]
    body: Group


Node = Simple | Pipeline | Group | Loop
