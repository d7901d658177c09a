"""What a summary is made from: report sets, and the assessments and keys that were named beside them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from repocue.contracts import reader
from repocue.errors import EvaluationError
from repocue.evaluation.shared import files, manifest
from repocue.scoring.assessment import Source

ASSESSMENT: Final = "repocue/qualitative-assessment-2"
KEY: Final = "repocue/blind-key-1"
MANIFEST: Final = "manifest.json"
MAX_ASSESSMENT_BYTES: Final = 1024 * 1024
MAX_KEY_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Paths as they were given.

    `report_sets` are folders of sets or parents of such; `assessment_files` are assessments or folders of them, as
    `unblind` writes; `key_files` are the keys that show which of these were blinded.
    """

    report_sets: Sequence[str]
    assessment_files: Sequence[str] = ()
    key_files: Sequence[str] = ()

    def assessments(self) -> list[Source]:
        """Every assessment, each file once. Raises ContractError, EvaluationError and EvidenceError."""
        paths = [path for given in self.assessment_files for path in _expanded(given)]
        return [Source(files.shown(path), _assessment(path)) for path in dict.fromkeys(map(os.path.realpath, paths))]

    def keys(self) -> list[dict[str, Any]]:
        """Every key. Raises as `read_key` does."""
        return [read_key(path) for path in dict.fromkeys(map(os.path.realpath, self.key_files))]


def read_key(path: str) -> dict[str, Any]:
    """A blind key; where a manifest lies beside it, the folder must be as it was sealed.

    Raises ContractError, EvaluationError where the file cannot be read, and EvidenceError where it was altered.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.lexists(os.path.join(folder, MANIFEST)):
        manifest.verify(folder, MANIFEST, schema_version="repocue/manifest-1")
    data = files.read_given(path, limit_bytes=MAX_KEY_BYTES, what="key")
    return reader.read(data, contract=KEY, subject=files.shown(path))


def _expanded(given: str) -> Iterator[str]:
    """The file itself, or the assessments in a folder, which must be as it was sealed where it has a manifest."""
    if not os.path.isdir(given):
        yield given
        return
    if os.path.lexists(os.path.join(given, MANIFEST)):
        manifest.verify(given, MANIFEST, schema_version="repocue/manifest-1")
    names = [name for name in sorted(os.listdir(given)) if name.endswith(".json") and name != MANIFEST]
    if not names:
        raise EvaluationError(
            f"{files.shown(given)} holds no assessment.",
            code="evaluation.no-assessment",
            hint="Name a file, or the folder that unblind wrote.",
        )
    yield from (os.path.join(given, name) for name in names)


def _assessment(path: str) -> dict[str, Any]:
    data = files.read_given(path, limit_bytes=MAX_ASSESSMENT_BYTES, what="assessment")
    return reader.read(
        data,
        contract=ASSESSMENT,
        limits=reader.Limits(max_bytes=MAX_ASSESSMENT_BYTES),
        subject=files.shown(path),
    )
