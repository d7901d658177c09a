"""People's assessments beside an import: read, and bound to the answers of its sets by digest and identity."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from repocue.contracts import canonical, reader
from repocue.errors import CalibrationError
from repocue.scoring import report_folders, report_set
from repocue.scoring.assessment import Rejected, Source, join
from repocue.scoring.response import Response
from repocue.store.calibrations import Opinion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from repocue.scoring.report_set import ReportSet

CONTRACT: Final = "repocue/qualitative-assessment-2"
MAX_BYTES: Final = 1024 * 1024


class Bound(NamedTuple):
    """Opinions of answers in the sets, and what is bound to none of them."""

    opinions: tuple[Opinion, ...]
    rejected: tuple[Rejected, ...]


def read(paths: Iterable[str]) -> list[Source]:
    """Every assessment in the named files and folders, each file once; a folder with a manifest must be as sealed.

    Raises CalibrationError where a file cannot be read or a folder holds none, ContractError where one breaks its
    contract, EvidenceError where a sealed folder was altered.
    """
    found: dict[str, Source] = {}
    for given in paths:
        for path, data in _contents(given):
            shown = os.fsencode(path).decode("utf-8", "backslashreplace")
            limits = reader.Limits(max_bytes=MAX_BYTES)
            document = reader.read(data, contract=CONTRACT, limits=limits, subject=shown)
            found.setdefault(os.path.realpath(path), Source(shown, document))
    return list(found.values())


def bind(sets: Sequence[ReportSet], assessments: Sequence[Source]) -> Bound:
    """Each assessment with the one answer it judges; equal answers of two conditions are told apart by identity."""
    responses: list[Response] = []
    owners: dict[int, str] = {}
    for found in sets:
        for report in found.reports:
            response = Response.of_report(report.document, source=f"{found.name}/{report.name}")
            if response is not None:
                responses.append(response)
                owners[id(response)] = found.digest
    joined = join(responses, assessments)
    by_name: dict[str, Any] = {source.name: source.document for source in assessments}
    opinions = [
        Opinion(
            set_digest=owners[id(response)],
            condition=response.condition,
            assessor=judgement.assessor,
            assessed_at=judgement.assessed_at,
            response_sha256=response.digest,
            assessment_sha256=canonical.digest_of(by_name[judgement.source]),
            scores=dict(judgement.scores),
        )
        for response, judgements in joined.judgements
        for judgement in judgements
    ]
    return Bound(tuple(opinions), joined.rejected)


def _contents(given: str) -> Iterator[tuple[str, bytes]]:
    if not os.path.isdir(given):
        yield given, _read(given)
        return
    name, contents = report_folders.contents_of(given)
    if report_set.MANIFEST in contents:
        report_set.check_manifest(name, contents)
    files = [path for path in contents if path.endswith(".json") and path != report_set.MANIFEST]
    if not files:
        raise CalibrationError(
            f"{name} holds no assessment.",
            code="calibration.no-assessment",
            hint="Name a file, or the folder that evaluate-m2 unblind wrote.",
        )
    for path in files:
        yield os.path.join(given, path), contents[path]


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        shown = os.fsencode(path).decode("utf-8", "backslashreplace")
        raise CalibrationError(
            f"the assessment {shown} cannot be read: {reason}", code="calibration.assessment-file"
        ) from error
