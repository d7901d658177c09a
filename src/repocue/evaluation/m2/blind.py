"""Answers leave for an assessor without their conditions, and scores come back as assessments.

`blind` publishes two folders: one to hand over, with the answers, an empty form and a guide, and one with the key,
which stays behind. Each is sealed and appears by one rename; the key is there before the answers are. Nothing is
overwritten, and nothing is written into an evaluated checkout or a published set. `unblind` publishes one folder of
assessments.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from repocue.contracts import canonical, reader
from repocue.errors import EvaluationError
from repocue.evaluation.m2 import naming
from repocue.evaluation.m2.blind_places import checked_output
from repocue.evaluation.m2.summary_inputs import MANIFEST, read_key
from repocue.evaluation.shared import files, manifest
from repocue.evaluation.shared.publishing import Staging
from repocue.scoring import blind as rules
from repocue.scoring import report_folders
from repocue.scoring.response import Response

CONTRACT: Final = "repocue/blinding-1"
MAX_SCORES_BYTES: Final = 1024 * 1024
ANSWERS_FILE: Final = "answers.json"
FORM_FILE: Final = "scores.json"
GUIDE_FILE: Final = "guide.txt"
KEY_FILE: Final = "key.json"


def blind(
    report_sets: Sequence[str], output_directory: str, *, random_id: Callable[[], str] = lambda: secrets.token_hex(16)
) -> dict[str, Any]:
    """Blind the answers of all named sets; returns the `repocue/blinding-1` document of kind "blinded".

    Raises EvidenceError and ContractError where a set cannot be used, EvaluationError where there is no answer, where
    one run is there twice, or where the output directory cannot be used.
    """
    stored, _ = report_folders.load_all(report_sets)
    sets = [one.set for one in stored]
    output = checked_output(output_directory, sets=stored)
    responses = [
        response
        for one in sets
        for report in one.reports
        if (response := Response.of_report(report.document, source=f"{one.name}/{report.name}")) is not None
    ]
    made = rules.blind(responses, [random_id() for _ in responses])
    bundle = reader.read_canonical(made.bundle, contract=rules.ANSWERS, indent=True)
    bundle_sha256 = canonical.digest(made.bundle)
    form = rules.blank_scores(bundle, bundle_sha256)
    name = f"blind-{bundle_sha256.removeprefix('sha256:')[:12]}"
    files.make_parents(output)
    _refuse_existing(output, f"{name}-key", f"{name}-answers")
    key = _publish(output, f"{name}-key", {KEY_FILE: made.key})
    answers = _publish(
        output,
        f"{name}-answers",
        {ANSWERS_FILE: made.bundle, GUIDE_FILE: _guide()},
        open_file=FORM_FILE,
        open_data=form,
    )
    document = {
        "schema_version": CONTRACT,
        "kind": "blinded",
        "answers_directory": answers,
        "bundle": os.path.join(answers, ANSWERS_FILE),
        "bundle_sha256": bundle_sha256,
        "scores_form": os.path.join(answers, FORM_FILE),
        "guide": os.path.join(answers, GUIDE_FILE),
        "key": os.path.join(key, KEY_FILE),
        "answers": len(responses),
        "limitations": list(rules.LIMITATIONS),
    }
    reader.check(document, contract=CONTRACT, kind="blinded")
    return document


def unblind(key_file: str, scores_files: Sequence[str], output_directory: str) -> dict[str, Any]:
    """Turn scores into assessments; returns the `repocue/blinding-1` document of kind "unblinded".

    Raises ContractError and EvidenceError where key or scores cannot be used or do not belong together, and
    EvaluationError where a file cannot be read, scores are given twice, or the output directory cannot be used.
    """
    key = read_key(key_file)
    names = {entry["repository"] for entry in key["entries"]}
    output = checked_output(output_directory, beside=key_file, repositories=names)
    contents: dict[str, bytes] = {}
    not_scored = []
    assessors: dict[str, str] = {}
    for path in dict.fromkeys(map(os.path.abspath, scores_files)):
        scores = _scores(path)
        assessor = scores["assessor"]
        if assessor in assessors:
            raise EvaluationError(
                f"{files.shown(assessors[assessor])} and {files.shown(path)} are both by {assessor!r}.",
                code="evaluation.repeated-scores",
                hint="Give one scores file for each assessor.",
            )
        assessors[assessor] = path
        result = rules.unblind(key, scores)
        scored = [entry for entry in key["entries"] if entry["response_id"] not in result.not_scored]
        by_id = {entry["response_id"]: entry for entry in scored}
        for entry, assessment in zip(scores["entries"], result.assessments, strict=True):
            name = _name(by_id[entry["response_id"]], len(assessors), assessor)
            contents[name] = canonical.document(assessment, indent=True)
        if result.not_scored:
            not_scored.append({"scores": files.shown(path), "response_ids": list(result.not_scored)})
    if not contents:
        raise EvaluationError("The scores score no answer.", code="evaluation.nothing-to-unblind")
    for name, data in contents.items():
        reader.read(data, contract="repocue/qualitative-assessment-2", subject=name)
    files.make_parents(output)
    digest = canonical.digest_of([[name, canonical.digest(data)] for name, data in contents.items()])
    folder = _publish(output, f"assessments-{digest.removeprefix('sha256:')[:12]}", contents)
    document = {
        "schema_version": CONTRACT,
        "kind": "unblinded",
        "assessments_directory": folder,
        "assessments": [os.path.join(folder, name) for name in contents],
        "not_scored": not_scored,
    }
    reader.check(document, contract=CONTRACT, kind="unblinded")
    return document


def _publish(
    output: str, name: str, contents: Mapping[str, bytes], *, open_file: str | None = None, open_data: bytes = b""
) -> str:
    """A sealed folder. `open_file` is for somebody to change, so the seal leaves it out."""
    with Staging(output, name) as staging:
        for path, data in contents.items():
            staging.write(path, data)
        if open_file is not None:
            staging.write(open_file, open_data)
        left_out = () if open_file is None else (open_file,)
        manifest.write(staging.folder, MANIFEST, {"schema_version": naming.MANIFEST_VERSION}, leave_out=left_out)
        return staging.publish()


def _refuse_existing(output: str, *names: str) -> None:
    """Both names must be free before the first is taken."""
    for name in names:
        path = os.path.join(output, name)
        if os.path.lexists(path):
            raise EvaluationError(
                f"{files.shown(path)} exists already; evidence is never overwritten.", code="evaluation.exists"
            )


def _name(entry: Mapping[str, Any], number: int, assessor: str) -> str:
    """A file's name: what was judged, by whom, and enough of the blind id to tell equal names apart."""
    parts = (naming.part(entry["repository"]), entry["condition"], naming.run_part(entry["run_index"]))
    return "_".join((*parts, f"{number}-{naming.part(assessor)}", entry["response_id"][:12])) + ".json"


def _scores(path: str) -> dict[str, Any]:
    data = files.read_given(path, limit_bytes=MAX_SCORES_BYTES, what="scores file")
    return reader.read(data, contract=rules.SCORES_DOCUMENT, subject=files.shown(path))


def _guide() -> bytes:
    from importlib.resources import files as resources

    return (resources("repocue") / "data" / "benchmarks" / "assessment-guide.txt").read_bytes()
