"""What can be wrong with a document: a JSON pointer and a message a person can act on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from repocue.contracts import canonical
from repocue.errors import ContractError

_SHOWN_CHARACTERS = 120


class Problem(NamedTuple):
    """One fault. `pointer` is a JSON pointer (RFC 6901), "" for the whole document; `message` does not repeat it."""

    pointer: str
    message: str


def token(name: str | int) -> str:
    """One reference token of a JSON pointer with its leading slash."""
    return "/" + str(name).replace("~", "~0").replace("/", "~1")


def pointer(path: Iterable[str | int]) -> str:
    """The JSON pointer of a path of member names and array positions."""
    return "".join(map(token, path))


def shown(text: str) -> str:
    """`text` for use inside a one-line message: control characters and lone surrogates escaped, long text cut."""
    if len(text) > _SHOWN_CHARACTERS:
        text = text[:_SHOWN_CHARACTERS] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def literal(value: Any) -> str:
    """A value as JSON for use inside a message, cut where it is long."""
    return shown(canonical.compact(value).decode())


def contract_error(
    problems: Sequence[Problem], *, code: str, subject: str, hint: str | None = None, at_least: bool = False
) -> ContractError:
    """The error for `problems` (not empty): the first in full, the others counted.

    `subject` names the document in the message, for example its contract and file.
    """
    first = problems[0]
    where = f" at {shown(first.pointer)}" if first.pointer else ""
    more = len(problems) - 1
    rest = f" (and {more}{' or more' if at_least else ''} other problem{'s' * (more > 1)})" if more else ""
    return ContractError(
        f"{subject}{where}: {first.message}{rest}", pointer=first.pointer, code="contract." + code, hint=hint
    )
