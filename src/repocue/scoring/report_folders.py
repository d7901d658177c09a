"""Finding published report sets on disk and reading them. The only part of this room that touches files.

A folder is a set when a file directly in it says that it is a condition report, or a manifest there lists the files of
one; otherwise it is a parent, and every folder directly in it that is a set belongs to it. Whatever else lies in a
parent is named, never guessed at: folders that were not published (their names begin with a dot), folders without
reports, such as blinded answers, and files. A folder that was named itself and holds no set is read as one where it has
a ``.json`` file, so that its fault is told.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import Final, NamedTuple

from repocue.contracts.problems import shown
from repocue.errors import EvaluationError, EvidenceError
from repocue.git import trace2
from repocue.scoring.report_set import LIMITS, MANIFEST, ReportSet, parse

_OPEN: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)

_HEAD_BYTES: Final = 8192
_REPORT: Final = b'"repocue/evaluation-'
_TRACE: Final = b'.trace2.jsonl"'


class Found(NamedTuple):
    """`sets` are folders, in the order given and then by name, each once; `unknown` is what belongs to no set."""

    sets: tuple[str, ...]
    unknown: tuple[str, ...]


class Stored(NamedTuple):
    """A set and the folder that it was read from, as a path that can be shown and opened."""

    folder: str
    set: ReportSet


def find(folders: Iterable[str]) -> Found:
    """The sets that `folders` are, or hold.

    Raises EvidenceError where a folder cannot be read and EvaluationError, code ``evaluation.no-report-set``, where one
    neither is a set nor holds any.
    """
    sets: dict[str, str] = {}
    unknown: list[str] = []
    for given in folders:
        files, below = _entries(given)
        if _is_set(given, files):
            sets.setdefault(os.path.realpath(given), given)
            continue
        inside: list[str] = []
        others: list[str] = []
        for name in below:
            path = os.path.join(given, name)
            is_set = not name.startswith(".") and _is_set(path, _entries(path)[0])
            (inside if is_set else others).append(path)
        if not inside and any(name.endswith(".json") for name in files):
            sets.setdefault(os.path.realpath(given), given)
            continue
        unknown += others
        if not inside:
            raise EvaluationError(
                f"{_shown(given)} is no report set and holds none.",
                code="evaluation.no-report-set",
                hint="Name a folder that evaluate-m2 published, or the folder that such folders lie in.",
            )
        unknown += [os.path.join(given, name) for name in files]
        for path in inside:
            sets.setdefault(os.path.realpath(path), path)
    return Found(tuple(sets.values()), tuple(map(_shown, unknown)))


def load(folder: str) -> Stored:
    """Read and verify one set (`report_set.parse`), its trace of git included.

    Raises EvidenceError and ContractError as `parse` does, and EvidenceError where a file cannot be read, is no regular
    file, is larger than 128 MiB, or where the trace shows other git processes than its report says.
    """
    name, contents = contents_of(folder)
    found = parse(name, contents)
    for report in found.reports:
        delivery = report.document.get("cue_delivery")
        if delivery is not None:
            _check_processes(os.path.join(folder, delivery["trace2"]["file"]), delivery["trace2"]["git_processes"])
    return Stored(_shown(folder), found)


def load_all(folders: Iterable[str]) -> tuple[tuple[Stored, ...], tuple[str, ...]]:
    """Every set that `folders` are or hold, and the paths that belong to none. Raises as `find` and `load` do."""
    found = find(folders)
    return tuple(map(load, found.sets)), found.unknown


def contents_of(folder: str) -> tuple[str, dict[str, bytes]]:
    """A folder's own name, and the bytes of every file below it. Raises EvidenceError as `load` does for files."""
    name = os.path.basename(os.path.realpath(folder))
    return _shown(name), {path: _read(os.path.join(folder, path)) for path in _files_below(folder)}


def _check_processes(path: str, declared: int) -> None:
    _, processes = trace2.read(path)
    if processes != declared:
        raise EvidenceError(
            f"{_shown(path)} shows {processes} git processes; the report of the basic condition says {declared}.",
            code="evidence.altered",
        )


def _is_set(folder: str, files: Iterable[str]) -> bool:
    """Whether a folder with these files means to be a set. What cannot be looked into counts, so that it is told."""
    names = [name for name in files if name.endswith(".json")]
    for name in sorted(names, key=lambda name: name == MANIFEST):
        try:
            with open(os.open(os.path.join(folder, name), _OPEN), "rb") as file:
                head = file.read(_HEAD_BYTES)
                if name != MANIFEST and _REPORT not in head:
                    head += file.read(LIMITS.max_bytes)
        except OSError:
            return True
        if (_TRACE if name == MANIFEST else _REPORT) in head:
            return True
    return False


def _entries(folder: str) -> tuple[list[str], list[str]]:
    """The names directly in a folder, sorted: what is no folder, and folders."""
    files: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                (folders if entry.is_dir(follow_symlinks=True) else files).append(entry.name)
    except FileNotFoundError as error:
        raise EvidenceError(f"{_shown(folder)} does not exist.", code="evidence.missing") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise EvidenceError(f"{_shown(folder)} cannot be read: {reason}.") from error
    return sorted(files, key=os.fsencode), sorted(folders, key=os.fsencode)


def _files_below(folder: str) -> list[str]:
    """Every path below a folder that is no folder, relative, with ``/``, sorted bytewise."""
    found: list[str] = []
    pending = [""]
    while pending:
        prefix = pending.pop()
        files, folders = _entries(os.path.join(folder, prefix))
        found += [prefix + name for name in files]
        for name in folders:
            if os.path.islink(os.path.join(folder, prefix, name)):
                raise EvidenceError(f"{_shown(os.path.join(folder, prefix, name))} is not a regular file.")
            pending.append(prefix + name + "/")
    return sorted(found, key=os.fsencode)


def _read(path: str) -> bytes:
    try:
        with open(os.open(path, _OPEN), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise EvidenceError(f"{_shown(path)} is not a regular file.")
            data = file.read(LIMITS.max_bytes + 1)
    except OSError as error:
        raise EvidenceError(f"{_shown(path)} cannot be read: {error.strerror or error}.") from error
    if len(data) > LIMITS.max_bytes:
        raise EvidenceError(f"{_shown(path)} is larger than {LIMITS.max_bytes} bytes.", code="evidence.too-large")
    return data


def _shown(path: str) -> str:
    """A path in a message or document: valid, printable text whatever its bytes are."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else shown(c) for c in text) or "'' (an empty name)"
