"""What several contracts' rules share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from repocue.contracts.problems import Problem, literal, token
from repocue.domain import paths


def under(prefix: str, problems: Iterable[Problem]) -> Iterator[Problem]:
    """The problems of a part, with their pointers seen from the whole."""
    for problem in problems:
        yield Problem(prefix + problem.pointer, problem.message)


def repeated(values: Sequence[Any], where: str, what: str, member: str | None = None) -> Iterator[Problem]:
    """A fault for each value that stood before in the list at `where`; `member` names the compared member."""
    seen: dict[Any, int] = {}
    for position, value in enumerate(values):
        key = value[member] if member else value
        if key in seen:
            place = f"{where}/{position}" + (token(member) if member else "")
            yield Problem(place, f"{what} {literal(str(key))} stands twice, first at {where}/{seen[key]}")
        else:
            seen[key] = position


def path_fault(text: str) -> str | None:
    """Why `text` is no path of a repository file in its only spelling, or None.

    Relative, as git shows it (quoted where it must be), with no empty part, `.` or `..`.
    """
    try:
        raw = paths.raw(text)
    except ValueError:
        return f"{literal(text)} is not spelled as git shows a path"
    if not raw or b"\0" in raw:
        return "is no path"
    if raw.startswith(b"/"):
        return f"{literal(text)} is absolute; paths are relative to the repository's root"
    if any(part in (b"", b".", b"..") for part in raw.split(b"/")):
        return f'{literal(text)} has an empty part, "." or ".."; write the path as git shows it'
    return None


def path_problem(text: str, where: str) -> Iterator[Problem]:
    """A fault at `where` if `text` is no path of a repository file."""
    fault = path_fault(text)
    if fault:
        yield Problem(where, fault)


def not_in_future(rates: Mapping[str, Any] | None, where: str, today: str | None) -> Iterator[Problem]:
    """A fault if a price record is dated after `today` (UTC, YYYY-MM-DD; None: not checked)."""
    if rates is not None and today is not None and rates["date"] > today:
        yield Problem(where + "/date", f"{rates['date']} lies in the future; today is {today} (UTC)")
