"""Report sets on disk: publishing one by one rename, and recognising one that an earlier invocation published."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from repocue.contracts import canonical, reader
from repocue.contracts.jsontext import Limits
from repocue.contracts.rules.report_set import check_report_set
from repocue.errors import EvaluationError, EvidenceError
from repocue.evaluation.m2 import naming
from repocue.evaluation.m2.reports import KIND, VERSION
from repocue.evaluation.shared import files, manifest
from repocue.evaluation.shared.publishing import Staging
from repocue.scoring.measurements import stated_oracle, stated_text

if TYPE_CHECKING:
    from repocue.evaluation.m2.inputs import Inputs
    from repocue.evaluation.m2.limits import M2Limits


def publish(
    output: str, reports: Sequence[Mapping[str, Any]], *, trace: bytes, trace_file: str, model: str | None
) -> str:
    """Let the five reports, the trace and their manifest appear as one folder; returns its path.

    Raises EvaluationError; then nothing is visible.
    """
    first = reports[0]
    repository, run_index = first["repository"]["name"], first["run_index"]
    with Staging(output, naming.set_name(repository, model, run_index, first["maintenance_id"])) as staging:
        for report in reports:
            name = naming.report_name(repository, report["condition"], model, run_index)
            staging.write(name, canonical.document(report, indent=True))
        staging.write(trace_file, trace)
        manifest.write(staging.folder, naming.MANIFEST, {"schema_version": naming.MANIFEST_VERSION})
        return staging.publish()


def require_free(inputs: Inputs, repository: str, model: str | None, run_index: int, maintenance_id: str) -> None:
    """Raises EvaluationError, code ``evaluation.exists``, where this set is published already: before an agent works
    for nothing. A model that is called like none would make a set that passes for a dry run; it is refused."""
    if model is not None and naming.part(model) == naming.NO_RUNNER:
        raise EvaluationError(
            f"The runner names its model {model!r}, which is how dry runs are named; nothing was published.",
            code="runner.model",
        )
    path = os.path.join(inputs.output, naming.set_name(repository, model, run_index, maintenance_id))
    if os.path.lexists(path):
        raise EvaluationError(
            f"{files.shown(path)} exists already; evidence is never overwritten.",
            code="evaluation.exists",
            hint="Use another --run-index or --output-directory, or --resume to keep what is published.",
        )


def find(inputs: Inputs, repository: str, run_index: int, maintenance_id: str) -> str | None:
    """The path of the set that an earlier invocation published for this run of this state, verified; else None.

    A dry run resumes dry runs, and one with a runner sets with agent runs, of whatever model. Raises EvidenceError
    where the set is altered, EvaluationError where it was made with other options or where there are several.
    """
    try:
        names = sorted(os.listdir(inputs.output))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise EvaluationError(
            f"{files.shown(inputs.output)} cannot be read: {error.strerror}.", code="evaluation.path"
        ) from error
    found = []
    for name in names:
        model = naming.model_of_set(name, repository, run_index, maintenance_id)
        if model is not None and (model == naming.NO_RUNNER) == (inputs.runner is None):
            found.append(os.path.join(inputs.output, name))
    if len(found) > 1:
        raise EvaluationError(
            f"Run {run_index} is published for several models in {files.shown(inputs.output)}; which one to resume"
            " cannot be told.",
            code="evaluation.resume",
            hint="Use an output directory for each model.",
        )
    if not found:
        return None
    _check_options(found[0], read(found[0], limits=inputs.given.limits), inputs)
    return found[0]


def read(folder: str, *, limits: M2Limits) -> tuple[dict[str, Any], ...]:
    """The five reports of a published set, after manifest, contracts and their agreement were checked.

    Raises EvidenceError or ContractError.
    """
    document = manifest.verify(folder, naming.MANIFEST, schema_version=naming.MANIFEST_VERSION)
    reports = [
        reader.read_canonical(
            files.read_file(os.path.join(folder, entry.path), limit_bytes=limits.report_bytes),
            contract=VERSION,
            kind=KIND,
            indent=True,
            limits=Limits(max_bytes=limits.report_bytes, max_depth=limits.runner_json_depth + 1),
            subject=files.shown(os.path.join(folder, entry.path)),
        )
        for entry in manifest.entries_of(document, where=naming.MANIFEST)
        if entry.path.endswith(".json")
    ]
    check_report_set(reports, subject=f"the report set {files.shown(folder)}")
    return tuple(reports)


def _check_options(folder: str, reports: Sequence[Mapping[str, Any]], inputs: Inputs) -> None:
    given = inputs.given
    stated = [text for report in reports for text in report["limitations"]]
    report = reports[0]
    wanted = {
        "order": given.order,
        "context budget": given.max_tokens,
        "runner": inputs.runner is not None,
        "benchmark text": inputs.custom_task_sha256,
        "oracle": inputs.oracle.sha256,
    }
    found = {
        "order": report["order_policy"],
        "context budget": report["cue"]["max_tokens"],
        "runner": "runner" in report,
        "benchmark text": stated_text(stated),
        "oracle": stated_oracle(stated),
    }
    differing = [name for name, value in wanted.items() if found[name] != value]
    if differing:
        raise EvidenceError(
            f"{files.shown(folder)} cannot be resumed: it was made with another {', '.join(differing)}.",
            code="evaluation.resume",
            hint="Give the same options, or another --output-directory.",
        )
