"""Published M2 report sets, read and verified: five condition reports of one run, by the version they declare.

Pure: the bytes of a folder's files go in, a checked set comes out. `report_folders` finds folders and reads them.

A version-4 set is sealed: `manifest.json` lists every other file by size and digest and carries its own digest, and
every report is in the form in which RepoCue writes it. A version-3 set has no manifest; its reports are kept byte for
byte, by digest, with every value as declared. Names of files and folders decide nothing: what a report says does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

from repocue.contracts import canonical, reader, schemas
from repocue.contracts.problems import shown
from repocue.contracts.rules.evaluation import CONDITIONS
from repocue.contracts.rules.report_set import check_report_set
from repocue.errors import EvidenceError

MANIFEST: Final = "manifest.json"
MANIFEST_CONTRACT: Final = "repocue/manifest-1"
KIND: Final = "m2-condition"
VERSIONS: Final = {"repocue/evaluation-3": 3, "repocue/evaluation-4": 4}
LIMITS: Final = reader.Limits(max_bytes=128 * 1024 * 1024, max_depth=128)
"""An observation has at most 16 MiB as a runner prints it; in a report it is indented, and one level deeper."""

_UNALTERED = "Evidence is used unaltered or not at all; restore the folder from a copy, or make the set anew."


class Report(NamedTuple):
    """One condition's report: `document` as parsed, `sha256` of exactly the bytes in the file `name`."""

    name: str
    size_bytes: int
    sha256: str
    document: Mapping[str, Any]

    @property
    def condition(self) -> str:
        return str(self.document["condition"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSet:
    """Five reports, in the order of the conditions, each valid by itself and all of one prepared state.

    `name` is the folder's own name, for messages. `digest` identifies the set by content: it is the digest of
    ``[[condition, sha256 of the report], …]``, whatever files are called. `manifest_sha256` is None for a set without
    a manifest, which only version 3 may be. `others` are files that are no report: sealed ones in version 4 (the trace
    of the basic context), in version 3 whatever else lies there, which nothing vouches for and nothing relies on.
    """

    name: str
    version: int
    reports: tuple[Report, ...]
    digest: str
    manifest_sha256: str | None
    others: tuple[str, ...]

    def report(self, condition: str) -> Report:
        """The report of one of the five conditions."""
        return self.reports[CONDITIONS.index(condition)]

    @property
    def first(self) -> Mapping[str, Any]:
        """A report to take from what all five share: prepared state, run index, baseline, update, budget."""
        return self.reports[0].document

    @property
    def run_index(self) -> int:
        return int(self.first["run_index"])

    @property
    def repository(self) -> Mapping[str, Any]:
        """The prepared repository as every report states it."""
        found: Mapping[str, Any] = self.first["repository"]
        return found

    @property
    def metadata(self) -> Mapping[str, Any] | None:
        """The runner's metadata, equal in all five; None for a dry run."""
        runner = self.first.get("runner")
        return None if runner is None else runner["metadata"]

    @property
    def is_dry(self) -> bool:
        """Whether no runner ran: contexts and their costs are there, agent evidence is not."""
        return "runner" not in self.first


def parse(name: str, contents: Mapping[str, bytes]) -> ReportSet:
    """The set in a folder called `name` whose files are `contents`, by their path below the folder.

    Raises EvidenceError where the manifest is missing, altered or does not describe these files, where the trace of
    the basic context is not the one that its report names, or where a version-4 report is not in canonical form;
    ContractError where a report breaks its contract or the reports form no set.
    """
    manifest_sha256 = None
    if MANIFEST in contents:
        check_manifest(name, contents)
        manifest_sha256 = canonical.digest(contents[MANIFEST])
    reports = []
    others = []
    for path, data in contents.items():
        report = _report(f"{name}/{path}", path, data) if path.endswith(".json") and path != MANIFEST else None
        if report is not None:
            reports.append(report)
        elif path != MANIFEST:
            others.append(path)
    check_report_set([report.document for report in reports], subject=f"the report set {shown(name)}")
    reports.sort(key=lambda report: CONDITIONS.index(report.condition))
    version = VERSIONS[reports[0].document["schema_version"]]
    if version >= 4 and manifest_sha256 is None:
        raise EvidenceError(
            f"{shown(name)}/{MANIFEST} is missing: a version-{version} set is sealed by it.",
            code="evidence.missing",
            hint=_UNALTERED,
        )
    for report in reports:
        if version >= 4:
            _check_form(f"{name}/{report.name}", contents[report.name], report.document)
            _check_trace(name, report, contents)
    return ReportSet(
        name=name,
        version=version,
        reports=tuple(reports),
        digest=canonical.digest_of([[report.condition, report.sha256] for report in reports]),
        manifest_sha256=manifest_sha256,
        others=tuple(others),
    )


def _report(where: str, path: str, data: bytes) -> Report | None:
    """The report in a file, or None where it is a document of another contract of ours."""
    subject = shown(where)
    document = reader.read_json(data, limits=LIMITS, subject=subject)
    declared = document.get("schema_version") if isinstance(document, dict) else None
    if isinstance(declared, str):
        family = schemas.family(declared)
        if family is not None and family[0] != "evaluation":
            return None
    reader.check(document, contract=tuple(VERSIONS), kind=KIND, subject=subject)
    return Report(path, len(data), canonical.digest(data), document)


def _check_form(where: str, data: bytes, document: Mapping[str, Any]) -> None:
    if data not in (canonical.document(document, indent=True), canonical.document(document)):
        raise EvidenceError(
            f"{shown(where)} is not in the form in which RepoCue writes it.", code="evidence.altered", hint=_UNALTERED
        )


def _check_trace(name: str, report: Report, contents: Mapping[str, bytes]) -> None:
    delivery = report.document["cue_delivery"]
    if delivery is None:
        return
    trace = delivery["trace2"]
    data = contents.get(trace["file"])
    if data is None or canonical.digest(data) != trace["sha256"]:
        fault = "is missing" if data is None else f"is not what {shown(report.name)} names by digest"
        raise EvidenceError(
            f"{shown(name)}/{shown(trace['file'])}, the trace of the basic context, {fault}.",
            code="evidence.missing" if data is None else "evidence.altered",
            hint=_UNALTERED,
        )


def check_manifest(name: str, contents: Mapping[str, bytes]) -> None:
    """Raise EvidenceError unless the manifest is intact and lists exactly the other files, each as it is."""
    where = f"{shown(name)}/{MANIFEST}"
    document = reader.read_json(contents[MANIFEST], subject=where)
    reader.check(document, contract=MANIFEST_CONTRACT, subject=where)
    claimed = document.pop("self_sha256")
    intact = canonical.document({**document, "self_sha256": claimed}) == contents[MANIFEST]
    if not intact or claimed != canonical.digest(canonical.document(document)):
        raise EvidenceError(
            f"{where} is not in canonical form or does not match its own digest.",
            code="evidence.altered",
            hint=_UNALTERED,
        )
    listed = {entry["path"]: entry for entry in document["files"]}
    if any(first["path"].encode() >= second["path"].encode() for first, second in pairwise(document["files"])):
        raise EvidenceError(f"{where} lists files out of order or twice.", code="evidence.altered", hint=_UNALTERED)
    differing = _differences(listed, contents)
    if differing:
        named = ", ".join(differing[:5]) + (f" and {len(differing) - 5} more" if len(differing) > 5 else "")
        raise EvidenceError(
            f"{shown(name)} is not what {MANIFEST} sealed: {named}.", code="evidence.altered", hint=_UNALTERED
        )


def _differences(listed: Mapping[str, Mapping[str, Any]], contents: Mapping[str, bytes]) -> Sequence[str]:
    """Each path that differs, with how, in the order of the paths."""
    found: dict[str, str] = {path: "missing" for path in listed if path not in contents}
    for path, data in contents.items():
        entry = listed.get(path)
        if path == MANIFEST:
            continue
        if entry is None:
            found[path] = "unlisted"
        elif entry["bytes"] != len(data) or entry["sha256"] != canonical.digest(data):
            found[path] = "altered"
    return [f"{shown(path)} ({what})" for path, what in sorted(found.items())]
