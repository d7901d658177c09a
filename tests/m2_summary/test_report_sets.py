"""Reading published report sets: both versions, and every way in which one can be damaged."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from repocue.errors import ContractError, EvaluationError, EvidenceError, RepoCueError
from repocue.evaluation.m2.blind import blind
from repocue.scoring import report_folders
from repocue.scoring.report_set import parse
from tests.m2_summary.scenes import summary
from tests.support import m2_sets
from tests.support.m2_sets import CONDITIONS, seal, write, write_set


def files(folder: str) -> dict[str, bytes]:
    return {name: Path(folder, name).read_bytes() for name in sorted(os.listdir(folder))}


def edit(folder: str, condition: str, change: Callable[[dict[str, Any]], None], *, reseal: bool = True) -> None:
    """Alter one report; with `reseal` the manifest is made to fit, as somebody who means it would."""
    (path,) = [path for path in Path(folder).glob("*.json") if f"_{condition}_" in path.name]
    report = json.loads(path.read_bytes())
    change(report)
    path.write_bytes(m2_sets.text(report))
    if reseal and Path(folder, "manifest.json").exists():
        seal(folder)


@pytest.mark.parametrize("version", [3, 4])
def test_a_set_is_read_with_its_version_and_the_digests_of_exactly_its_bytes(version: int, tmp_path: Path) -> None:
    folder = write_set(tmp_path, version=version, run_index=2)
    stored = report_folders.load(folder)
    found = stored.set
    assert (stored.folder, found.name) == (folder, os.path.basename(folder))
    assert (found.version, found.run_index, found.is_dry) == (version, 2, False)
    assert [report.condition for report in found.reports] == list(CONDITIONS)
    for report in found.reports:
        data = Path(folder, report.name).read_bytes()
        assert report.sha256 == "sha256:" + sha256(data).hexdigest()
        assert report.size_bytes == len(data)
        assert report.document == json.loads(data)
    assert found.report("ranked").document["condition"] == "ranked"
    assert found.metadata is not None
    assert found.metadata["model"] == "no-model"
    if version == 4:
        manifest = Path(folder, "manifest.json").read_bytes()
        assert found.manifest_sha256 == "sha256:" + sha256(manifest).hexdigest()
        assert [name.endswith(".trace2.jsonl") for name in found.others] == [True]
    else:
        assert (found.manifest_sha256, found.others) == (None, ())


def test_a_dry_run_is_a_set_without_agents(tmp_path: Path) -> None:
    found = report_folders.load(write_set(tmp_path, runner=False)).set
    assert (found.is_dry, found.metadata) == (True, None)


def test_a_sets_digest_follows_its_reports_and_not_their_names(tmp_path: Path) -> None:
    folder = write_set(tmp_path, version=3)
    first = report_folders.load(folder).set
    for number, name in enumerate(sorted(os.listdir(folder))):
        os.rename(os.path.join(folder, name), os.path.join(folder, f"{number}.json"))
    renamed = shutil.copytree(folder, tmp_path / "elsewhere")
    assert report_folders.load(os.fspath(renamed)).set.digest == first.digest
    path = tmp_path / "elsewhere" / "0.json"
    path.write_bytes(path.read_bytes() + b"\n")
    assert report_folders.load(os.fspath(renamed)).set.digest != first.digest


def test_version_3_keeps_whatever_spelling_its_bytes_have(tmp_path: Path) -> None:
    folder = write_set(tmp_path, version=3)
    for path in Path(folder).iterdir():
        path.write_bytes(json.dumps(json.loads(path.read_bytes()), indent=7).encode())
    assert report_folders.load(folder).set.version == 3


def test_every_flipped_bit_of_a_sealed_set_is_found(tmp_path: Path) -> None:
    folder = write_set(tmp_path)
    contents = files(folder)
    assert parse("set", contents).version == 4
    for name, data in contents.items():
        for position in range(0, len(data), max(1, len(data) // 12)):
            altered = bytearray(data)
            altered[position] ^= 1
            with pytest.raises((EvidenceError, ContractError)):
                parse("set", {**contents, name: bytes(altered)})


def test_a_missing_a_surplus_and_a_renamed_file_are_named(tmp_path: Path) -> None:
    contents = files(write_set(tmp_path))
    trace = next(name for name in contents if name.endswith(".jsonl"))
    basic = next(name for name in contents if "_basic_" in name and name.endswith(".json"))
    for name in (trace, basic):
        with pytest.raises(EvidenceError, match="missing") as caught:
            parse("set", {path: data for path, data in contents.items() if path != name})
        assert name in caught.value.message
    with pytest.raises(EvidenceError, match=r"notes\.txt \(unlisted\)"):
        parse("set", {**contents, "notes.txt": b"mine"})
    with pytest.raises(EvidenceError, match="altered"):
        parse("set", {**contents, basic: contents[basic] + b" "})
    with pytest.raises(EvidenceError, match=r"manifest\.json is missing") as caught:
        parse("set", {path: data for path, data in contents.items() if path != "manifest.json"})
    assert caught.value.code == "evidence.missing"


def test_a_manifest_that_was_made_to_fit_does_not_hide_another_form_or_another_trace(tmp_path: Path) -> None:
    folder = write_set(tmp_path)
    (path,) = Path(folder).glob("*_direct_*.json")
    path.write_bytes(json.dumps(json.loads(path.read_bytes()), indent=3).encode() + b"\n")
    seal(folder)
    with pytest.raises(EvidenceError, match="not in the form in which RepoCue writes it"):
        report_folders.load(folder)

    folder = write_set(tmp_path, run_index=2)
    (trace,) = Path(folder).glob("*.jsonl")
    trace.write_bytes(m2_sets.TRACE + b'{"event":"start","sid":"c"}\n')
    seal(folder)
    with pytest.raises(EvidenceError, match=r"is not what .* names by digest"):
        report_folders.load(folder)
    trace.unlink()
    seal(folder)
    with pytest.raises(EvidenceError, match="trace of the basic context, is missing"):
        report_folders.load(folder)


def test_a_report_that_counts_other_git_processes_than_its_trace_is_refused(tmp_path: Path) -> None:
    folder = write_set(tmp_path)
    edit(folder, "basic", lambda report: report["cue_delivery"]["trace2"].update(git_processes=3))
    with pytest.raises(EvidenceError, match="shows 2 git processes; the report of the basic condition says 3"):
        report_folders.load(folder)


REFUSED: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "another prepared state": (
        lambda report: report.update(maintenance_id="maintenance-ffffffffffffffffffffffff"),
        "one prepared state",
    ),
    "another version": (lambda report: report.update(schema_version="repocue/evaluation-5"), "newer than this version"),
    "no contract": (lambda report: report.pop("schema_version"), "schema_version"),
    "an unknown member": (lambda report: report.update(mood="good"), "unknown member"),
    "a sum that is wrong": (
        lambda report: report["runner"]["metrics"].update(total_tokens=1),
        "must be 1100, input plus output",
    ),
    "another model": (lambda report: report["runner"]["metadata"].update(model="other"), "in condition"),
    "no agent run": (
        lambda report: (report.pop("runner"), "captures" in report and report.update(captures=None)),
        "five agent runs or none",
    ),
    "the condition twice": (
        lambda report: report.update(condition="ranked", condition_order=4),
        "was asked for|must be",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("version", [3, 4])
def test_a_report_that_breaks_its_contract_or_its_set_is_refused_by_name(
    name: str, version: int, tmp_path: Path
) -> None:
    change, message = REFUSED[name]
    folder = write_set(tmp_path, version=version)
    edit(folder, "placebo", change)
    with pytest.raises(ContractError, match=message) as caught:
        report_folders.load(folder)
    assert os.path.basename(folder) in caught.value.message


def places(value: Any, where: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value inside a document."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for name, part in parts for found in [(*where, name), *places(part, (*where, name))]]


STRANGE = (None, -1, 0, 1.5, 2**53, "", "x", [], {}, True, 1e300, "\u202e", ["a"])


@pytest.mark.parametrize("seed", range(2))
def test_any_value_anywhere_is_read_or_refused_with_one_clear_error(seed: int, tmp_path: Path) -> None:
    """A value of one report is removed or replaced, as a hand or a disk may do it; a summary never breaks over it."""
    chance = random.Random(seed)
    refused = []
    for number in range(60):
        made = m2_sets.reports(version=chance.choice((3, 4)))
        report = chance.choice(made)
        *way, last = chance.choice([place for place in places(report) if "trace2" not in place])
        holder = report
        for step in way:
            holder = holder[step]
        if chance.random() < 0.2:
            del holder[last]
        else:
            holder[last] = chance.choice(STRANGE)
        try:
            folder = write(tmp_path / str(number), made, name="set")
        except (KeyError, TypeError, AttributeError, ValueError):
            continue  # what names the files was spoilt
        try:
            assert summary(folder)["report_sets"]
        except RepoCueError as error:
            refused.append(error.message)
    assert len(refused) > 30
    assert all("set" in message for message in refused)


def test_versions_are_not_mixed_and_an_incomplete_set_is_none(tmp_path: Path) -> None:
    three = m2_sets.reports(version=3)
    four = m2_sets.reports(version=4)
    with pytest.raises(ContractError, match="versions are not mixed"):
        report_folders.load(write(tmp_path / "mixed", [*three[:4], four[4]]))
    with pytest.raises(ContractError, match="/structural-oracle: the report of this condition is missing"):
        report_folders.load(write(tmp_path / "four", three[:4]))


def test_version_3_names_files_that_nothing_vouches_for(tmp_path: Path) -> None:
    folder = write_set(tmp_path, version=3)
    Path(folder, "notes.txt").write_text("mine")
    Path(folder, "assessment.json").write_bytes(m2_sets.text(m2_sets.documents.qualitative_assessment()))
    assert report_folders.load(folder).set.others == ("assessment.json", "notes.txt")
    Path(folder, "other.json").write_text("{}")
    with pytest.raises(ContractError, match=r"other\.json"):
        report_folders.load(folder)


def test_a_folder_is_a_set_or_holds_sets_and_what_belongs_to_none_is_named(tmp_path: Path) -> None:
    parent = tmp_path / "out"
    first, second = write_set(parent, run_index=1), write_set(parent, run_index=2)
    (parent / "notes.txt").write_text("mine")
    (parent / "empty").mkdir()
    shutil.copytree(first, parent / ".set.0123456789ab.partial")
    found = report_folders.find([os.fspath(parent), second, f"{first}/"])
    assert found.sets == (first, second)
    assert found.unknown == tuple(f"{parent}/{name}" for name in (".set.0123456789ab.partial", "empty", "notes.txt"))
    with pytest.raises(EvaluationError, match="is no report set and holds none"):
        report_folders.find([os.fspath(parent / "empty")])
    with pytest.raises(EvidenceError, match="does not exist"):
        report_folders.find([os.fspath(tmp_path / "gone")])
    with pytest.raises(EvidenceError, match="Not a directory"):
        report_folders.find([os.fspath(parent / "notes.txt")])


def test_blinded_answers_and_saved_summaries_beside_sets_are_no_sets(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "out")
    made = blind([folder], os.fspath(tmp_path / "out"))
    (tmp_path / "out" / "summary.json").write_text(json.dumps({"schema_version": "repocue/m2-summary-1"}))
    found = report_folders.find([os.fspath(tmp_path / "out")])
    assert found.sets == (folder,)
    expected = [made["answers_directory"], os.path.dirname(made["key"]), f"{tmp_path}/out/summary.json"]
    assert sorted(found.unknown) == sorted(expected)
    assert summary(tmp_path / "out")["unknown_entries"] == list(found.unknown)


def test_a_set_that_lost_its_reports_is_still_told_to_be_damaged(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "out")
    write_set(tmp_path / "out", run_index=2)
    for path in Path(folder).glob("*.json"):
        if path.name != "manifest.json":
            path.unlink()
    with pytest.raises(EvidenceError, match=r"\(missing\)"):
        summary(tmp_path / "out")


def test_links_fifos_and_strange_names_are_refused_without_a_traceback(tmp_path: Path) -> None:
    def damaged(spoil: Callable[[str], None]) -> RepoCueError:
        folder = write_set(tmp_path, name=f"set-{len(list(tmp_path.iterdir()))}")
        spoil(folder)
        with pytest.raises(RepoCueError) as caught:
            report_folders.load(folder)
        assert caught.value.message.isprintable()
        return caught.value

    link = damaged(lambda folder: os.symlink("/etc/hostname", os.path.join(folder, "more.json")))
    assert "more.json cannot be read" in link.message
    linked = damaged(lambda folder: os.symlink("/etc", os.path.join(folder, "more")))
    assert "more is not a regular file" in linked.message
    pipe = damaged(lambda folder: os.mkfifo(os.path.join(folder, "pipe.json")))
    assert "pipe.json is not a regular file" in pipe.message
    name = damaged(lambda folder: Path(os.fsdecode(os.fsencode(folder) + b"/\xff\n.txt")).write_text(""))
    assert "(unlisted)" in name.message


def test_a_set_may_be_reached_through_a_link_and_by_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_set(tmp_path)
    os.symlink(folder, tmp_path / "link")
    monkeypatch.chdir(folder)
    assert report_folders.load(".").set.name == os.path.basename(folder)
    found = report_folders.find([".", os.fspath(tmp_path / "link")])
    assert len(found.sets) == 1
