"""Commits as `git log` tells them: message and touched paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from repocue.domain.paths import display
from repocue.errors import GitFailed

if TYPE_CHECKING:
    from repocue.git.process import Git

MAX_COMMITS: Final = 15_000
"""The history that is read: the newest commits. Older ones weigh little, and 50 000 take git alone three seconds."""
MAX_OUTPUT_BYTES: Final = 64 << 20
"""Six times what 15 000 ordinary commits take; a history of more is not read at all, and that is said."""
_FORMAT = "--format=%x00%m%H%x00%ct%x00%B%x00"


class Logged(NamedTuple):
    """One commit; `side` is "<" where it is only in the left one of two compared histories, ">" else."""

    side: str
    oid: str
    time_s: int
    message: str
    paths: tuple[str, ...]


def read(git: Git, *revisions: str, limit: int = MAX_COMMITS, timeout_s: float = 600.0) -> Iterator[Logged]:
    """The commits that `revisions` name, newest first, at most `limit`. Raises GitFailed.

    A merge has no paths: what it brings in, its own commits told.
    """
    output = git.run(
        "log",
        "-z",
        "--name-only",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--no-mailmap",
        "--no-show-signature",
        "--no-notes",
        "--encoding=UTF-8",
        "--ignore-submodules=none",
        _FORMAT,
        f"--max-count={limit}",
        *revisions,
        "--",
        settings=(
            "-c",
            "log.diffMerges=separate",
            "-c",
            "log.follow=false",
            "-c",
            "log.showRoot=true",
            "-c",
            "diff.orderFile=/dev/null",
        ),
        timeout_s=timeout_s,
        limit_bytes=MAX_OUTPUT_BYTES,
    )
    return parse(output)


def parse(output: bytes) -> Iterator[Logged]:
    """The commits in such an answer. Raises GitFailed where it is not one.

    A commit begins with an empty field, which no path is; nothing in a message or path can hold the separator.
    """
    fields = output.split(b"\0")
    at, end = 0, len(fields) - 1
    while at + 3 < len(fields):
        if fields[at] or not fields[at + 2].isdigit():
            raise GitFailed("git log gave an answer that is not understood")
        head = fields[at + 1].decode("ascii", "replace")
        message = fields[at + 3].decode("utf-8", "replace")
        time_s = int(fields[at + 2])
        at += 5  # an empty field ends the format
        paths = []
        if at < end and fields[at][:1] == b"\n":
            paths.append(display(fields[at][1:]))
            at += 1
            while at < end and fields[at]:
                paths.append(display(fields[at]))
                at += 1
        yield Logged(head[:1], head[1:], time_s, message, tuple(paths))
