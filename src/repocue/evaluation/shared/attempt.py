"""Attempts: one journaled try of an external process or request (ARCHITECTURE §8).

::

    attempts/<name>/              reserved by exclusive creation: a name is tried once, whatever becomes of it
        journal.json              sealed, on disk before anything external starts
        ...                       whatever was captured
        attempt.json              sealed manifest of everything above, written last

An attempt without `attempt.json` is incomplete: visible, never resumed, and its files count for nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, Literal

from repocue.errors import EvaluationError, EvidenceError
from repocue.evaluation.shared import files, manifest

JOURNAL: Final = "journal.json"
ATTEMPT: Final = "attempt.json"

State = Literal["absent", "incomplete", "altered", "complete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A reserved attempt that this process, and no other, may fill."""

    folder: str

    def path(self, name: str) -> str:
        """Where the file `name` of this attempt lies."""
        return os.path.join(self.folder, name)

    def write(self, name: str, data: bytes) -> None:
        """Keep `data` under `name`; durable when this returns."""
        files.write_new(self.path(name), data)

    def make_folder(self, name: str) -> str:
        """Create a folder in the attempt and return its path."""
        files.make_folder(self.path(name))
        return self.path(name)

    def open_stream(self, name: str) -> BinaryIO:
        """A raw stream under `name`, visible as it grows; close it with `files.close_synced`."""
        return files.open_new(self.path(name))

    def complete(self, header: Mapping[str, Any]) -> None:
        """End the attempt: seal everything in it under `header`. Nothing can be added afterwards."""
        manifest.write(self.folder, ATTEMPT, header)


def reserve(parent: str, name: str, journal: Mapping[str, Any]) -> Attempt:
    """Reserve the attempt `name` in the folder `parent` and put `journal` on disk.

    `journal` begins with its `schema_version`. When this returns, a crash leaves a visible incomplete attempt.
    Raises EvaluationError, code ``evaluation.attempted``, where the attempt exists in whatever state; then nothing
    was written.
    """
    folder = os.path.join(parent, name)
    try:
        files.make_folder(folder)
    except EvaluationError as error:
        if error.code != "evaluation.exists":
            raise
        raise EvaluationError(
            f"{name} was attempted already; its evidence is in {files.shown(folder)}.",
            code="evaluation.attempted",
            hint="An attempt is never repeated or continued, whatever became of it; prepare anew to try again.",
        ) from None
    attempt = Attempt(folder=folder)
    attempt.write(JOURNAL, manifest.sealed(journal))
    return attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What stands in an attempt's folder.

    `journal` is None where it is missing or altered; `header` is `attempt.json` without `files` and seal, only where
    the state is complete. `problems` name the files that differ, relative to `attempts/`'s parent, when the state is
    altered.
    """

    folder: str
    state: State
    journal: dict[str, Any] | None = None
    header: dict[str, Any] | None = None
    problems: tuple[manifest.Problem, ...] = ()

    def read(self, name: str, *, limit_bytes: int) -> bytes:
        """A file of a complete attempt. Raises EvidenceError."""
        if self.state != "complete":
            raise EvidenceError(f"{files.shown(self.folder)} is not a complete attempt.")
        return files.read_file(os.path.join(self.folder, name), limit_bytes=limit_bytes)


def examine(parent: str, name: str, *, journal_version: str, attempt_version: str) -> Evidence:
    """What became of the attempt `name` in `parent`; every file of an ended one is compared with its digest.

    Never raises for what the folder holds: an altered attempt is a result, so that the others still count.
    """
    folder = os.path.join(parent, name)
    if not os.path.lexists(folder):
        return Evidence(folder=folder, state="absent")
    if os.path.islink(folder) or not os.path.isdir(folder):
        return Evidence(folder=folder, state="altered", problems=(manifest.Problem("", "not-a-folder"),))
    journal, found = _sealed_or_problem(folder, JOURNAL, journal_version)
    if not os.path.lexists(os.path.join(folder, ATTEMPT)):
        if found is not None and found.what == "missing":
            found = None  # the process ended between reserving the folder and writing into it
        return Evidence(
            folder=folder,
            state="incomplete" if found is None else "altered",
            journal=journal,
            problems=() if found is None else (found,),
        )
    differing = [] if found is None else [found]
    header, found = _sealed_or_problem(folder, ATTEMPT, attempt_version)
    if header is None:
        differing.append(found or manifest.Problem(ATTEMPT, "altered"))
    else:
        try:
            entries = manifest.entries_of(header, where=ATTEMPT)
            known = {problem.path for problem in differing}
            differing += [
                problem
                for problem in manifest.problems(folder, entries, leave_out=(ATTEMPT,))
                if problem.path not in known
            ]
        except EvidenceError:
            differing.append(manifest.Problem(ATTEMPT, "altered"))
        header.pop("files", None)
    if differing:
        return Evidence(folder=folder, state="altered", journal=journal, problems=tuple(differing))
    return Evidence(folder=folder, state="complete", journal=journal, header=header)


def _sealed_or_problem(folder: str, name: str, version: str) -> tuple[dict[str, Any] | None, manifest.Problem | None]:
    try:
        return manifest.read_sealed(folder, name, schema_version=version), None
    except EvidenceError as error:
        return None, manifest.Problem(name, "missing" if error.code == "evidence.missing" else "altered")
