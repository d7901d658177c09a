"""Manifests: which files a folder of evidence holds, sealed so that a flipped byte anywhere is found (CONTRACTS).

A sealed document is canonical text plus LF whose last member, `self_sha256`, is the digest of the same document
(canonical text plus LF) without that member. `files` are ``{path, bytes, sha256}`` of every other file of the folder,
sorted by the bytes of the path. Digests prove that evidence agrees with itself; they are no signature.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import pairwise
from typing import Any, Final, NamedTuple

import msgspec

from repocue.contracts import canonical
from repocue.errors import EvidenceError
from repocue.evaluation.shared import files

SEAL: Final = "self_sha256"
MAX_SEALED_BYTES: Final = 4 * 1024 * 1024
_CHUNK_BYTES: Final = 1024 * 1024


class FileEntry(NamedTuple):
    """One file of a folder. `path` is relative, with ``/``; `sha256` is ``sha256:<64 hex>``."""

    path: str
    bytes: int
    sha256: str

    def to_json(self) -> dict[str, str | int]:
        """The entry as manifests hold it."""
        return {"path": self.path, "bytes": self.bytes, "sha256": self.sha256}


class Problem(NamedTuple):
    """One way in which a folder differs from what was sealed.

    `what` is altered, missing, unlisted (a file that the manifest does not know) or not-a-file.
    """

    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path} ({self.what})"


def sealed(document: Mapping[str, Any]) -> bytes:
    """The document's bytes with its own digest as last member. `document` must not have that member yet."""
    if SEAL in document:
        raise ValueError(f"{SEAL} is written by the seal itself")
    return canonical.document({**document, SEAL: canonical.digest(canonical.document(document))})


def opened(data: bytes, *, where: str) -> dict[str, Any]:
    """The document in `data`, checked against its own seal; `where` names the file in messages.

    Raises EvidenceError unless `data` is byte for byte what `sealed` writes.
    """
    value: dict[str, Any] = {}
    try:
        value = msgspec.json.decode(data, type=dict)
        intact = canonical.document(value) == data and next(reversed(value), None) == SEAL
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        intact = False
    claimed = value.pop(SEAL, None)
    if not intact or claimed != canonical.digest(canonical.document(value)):
        raise EvidenceError(
            f"{where} is not in canonical form or does not match its own digest.", code="evidence.altered"
        )
    return value


def read_sealed(folder: str, name: str, *, schema_version: str) -> dict[str, Any]:
    """The sealed document `name` of `folder`, without its seal.

    Raises EvidenceError: code ``evidence.missing``, ``evidence.altered``, or ``evidence.version`` for another contract.
    """
    path = os.path.join(folder, name)
    document = opened(files.read_file(path, limit_bytes=MAX_SEALED_BYTES), where=files.shown(path))
    found = document.get("schema_version")
    if found != schema_version:
        raise EvidenceError(f"{files.shown(path)} is {found!r}, not {schema_version!r}.", code="evidence.version")
    return document


def list_files(folder: str, *, leave_out: tuple[str, ...]) -> list[FileEntry]:
    """Entries of every file below `folder` except the names in `leave_out` (directly in it), sorted.

    Raises EvidenceError where something that is not a regular file stands there.
    """
    entries = []
    for path, is_file in files.names_below(folder, leave_out=leave_out).items():
        if not is_file:
            raise EvidenceError(f"{files.shown(os.path.join(folder, path))} is not a regular file.")
        if not path.isprintable():  # also: bytes that are no UTF-8, which no JSON can hold
            raise EvidenceError(f"{files.shown(os.path.join(folder, path))} has a name that no manifest can hold.")
        entries.append(_entry(folder, path))
    return entries


def write(folder: str, name: str, header: Mapping[str, Any], *, leave_out: tuple[str, ...] = ()) -> None:
    """Seal `folder`: write `name`, which is `header`, then `files`, then the seal.

    `leave_out` are names in `folder` that the manifest does not cover. It is the last file written there.
    """
    entries = list_files(folder, leave_out=(name, *leave_out))
    data = sealed({**header, "files": [entry.to_json() for entry in entries]})
    files.write_new(os.path.join(folder, name), data)


def entries_of(document: Mapping[str, Any], *, where: str) -> list[FileEntry]:
    """The `files` of a manifest, checked for form, order and uniqueness. Raises EvidenceError."""
    try:
        entries = msgspec.convert(document.get("files"), list[_Entry], strict=True)
    except msgspec.ValidationError as error:
        raise EvidenceError(f"{where} lists no files in the form of a manifest: {error}.") from error
    paths = [os.fsencode(entry.path) for entry in entries]
    if any(first >= second for first, second in pairwise(paths)):
        raise EvidenceError(f"{where} lists files out of order or twice.")
    return [FileEntry(entry.path, entry.bytes, entry.sha256) for entry in entries]


def problems(folder: str, entries: Iterable[FileEntry], *, leave_out: tuple[str, ...]) -> list[Problem]:
    """Every difference between what stands in `folder` and `entries`, sorted by path; empty when there is none."""
    expected = {entry.path: entry for entry in entries}
    present = files.names_below(folder, leave_out=leave_out)
    found = [Problem(path, "missing") for path in expected.keys() - present.keys()]
    for path, is_file in present.items():
        if not is_file:
            found.append(Problem(path, "not-a-file"))
        elif path not in expected:
            found.append(Problem(path, "unlisted"))
        elif _entry(folder, path) != expected[path]:
            found.append(Problem(path, "altered"))
    return sorted(found, key=lambda problem: os.fsencode(problem.path))


def verify(folder: str, name: str, *, schema_version: str, leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    """The manifest `name` of `folder`, after every file it covers was compared; raises EvidenceError naming each
    file that differs (code ``evidence.altered``)."""
    document = read_sealed(folder, name, schema_version=schema_version)
    where = files.shown(os.path.join(folder, name))
    differing = problems(folder, entries_of(document, where=where), leave_out=(name, *leave_out))
    if differing:
        named = ", ".join(f"{files.shown(problem.path)} ({problem.what})" for problem in differing[:5])
        more = f" and {len(differing) - 5} more" if len(differing) > 5 else ""
        raise EvidenceError(
            f"{files.shown(folder)} is not what {name} sealed: {named}{more}.",
            code="evidence.altered",
            hint="Evidence is used unaltered or not at all; prepare anew, or restore the folder from a copy.",
        )
    return document


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    bytes: int
    sha256: str


def _entry(folder: str, path: str) -> FileEntry:
    """Size and digest of one file, read in pieces: raw streams may be large."""
    where = os.path.join(folder, path)
    hasher, size = sha256(), 0
    try:
        descriptor = os.open(where, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0))
        with open(descriptor, "rb", buffering=0) as file:
            while chunk := file.read(_CHUNK_BYTES):
                hasher.update(chunk)
                size += len(chunk)
    except OSError as error:
        raise EvidenceError(f"{files.shown(where)} cannot be read: {error.strerror or error}.") from error
    return FileEntry(path, size, "sha256:" + hasher.hexdigest())
