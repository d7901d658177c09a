"""Blinding answers of published sets, and the way back, as commands."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from repocue.contracts import reader
from repocue.errors import ContractError, EvaluationError, EvidenceError, RepoCueError
from repocue.evaluation.m2.blind import blind, unblind
from repocue.evaluation.m2.blind_places import checkout_at
from tests.m2_summary.scenes import CONDITIONS, save, three_runs
from tests.support.m2_sets import Agent, write_set
from tests.support.repos import RepoBuilder, git

Document = dict[str, Any]
Run = Callable[..., CompletedProcess[bytes]]


def load(path: str | os.PathLike[str]) -> Document:
    found: Document = json.loads(Path(path).read_bytes())
    return found


def filled(form: str, assessor: str = "Grace", **more: Any) -> Document:
    """The form, filled in: answer number n (by id) gets n % 5 for its purpose."""
    scores = load(form)
    for number, entry in enumerate(scores["entries"]):
        entry |= {"scores": dict.fromkeys(entry["scores"], 3) | {"purpose": number % 5}, "evidence": ["README.md"]}
    return {**scores, "assessor": assessor, **more}


def test_answers_go_out_without_conditions_and_come_back_as_assessments(tmp_path: Path, repocue: Run) -> None:
    """The whole way through the commands, to a summary that knows which assessments were blinded."""
    three_runs(tmp_path / "sets")
    done = repocue("evaluate-m2", "blind", "--report-set", "sets", "--output-directory", "blinded", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    blinded = reader.read(done.stdout, contract="repocue/blinding-1", kind="blinded")
    assert blinded["answers"] == 15
    bundle = Path(blinded["bundle"]).read_bytes()
    assert blinded["bundle_sha256"] == "sha256:" + sha256(bundle).hexdigest()
    ids = [entry["response_id"] for entry in json.loads(bundle)["entries"]]
    assert ids == sorted(ids)
    assert len(set(ids)) == 15

    handed_over = Path(blinded["answers_directory"])
    assert sorted(os.listdir(handed_over)) == ["answers.json", "guide.txt", "manifest.json", "scores.json"]
    told = b"".join(path.read_bytes() for path in handed_over.iterdir() if path.name != "guide.txt")
    for secret in (b"direct", b"placebo", b"ranked", b"oracle", b"run-0", b"run_index", b"no-model", b"scripted"):
        assert secret not in told, secret
    key = Path(blinded["key"])
    assert not key.is_relative_to(handed_over)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
    conditions = [entry["condition"] for entry in load(key)["entries"]]
    assert sorted(conditions) == sorted(CONDITIONS * 3)

    (scores,) = save(tmp_path / "in", [filled(blinded["scores_form"], assessed_at="2026-11-30T20:00:00.000Z")])
    arguments = ("--key", str(key), "--scores", scores, "--output-directory", "assessed")
    done = repocue("evaluate-m2", "unblind", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    unblinded = reader.read(done.stdout, contract="repocue/blinding-1", kind="unblinded")
    assert unblinded["not_scored"] == []
    made = [load(path) for path in unblinded["assessments"]]
    assert all(one["assessed_at"] == "2026-11-30T20:00:00.000Z" for one in made)
    assert {(one["condition"], one["run_index"]) for one in made} == {(c, n) for c in CONDITIONS for n in (1, 2, 3)}
    assert [one["scores"]["purpose"] for one in made] == [n % 5 for n in range(15)]

    found = unblinded["assessments_directory"]
    given = ("--report-set", "sets", "--assessment", found, "--key", str(key))
    done = repocue("evaluate-m2", "summary", *given, cwd=tmp_path)
    group = json.loads(done.stdout)["repositories"][0]["groups"][0]
    assert group["completeness"]["assessed_blinded"] == 15


def test_two_exports_of_the_same_answers_have_nothing_in_common_that_tells_them_apart(tmp_path: Path) -> None:
    """Ids come from the system's randomness, so neither order nor id follows from the reports."""
    folder = write_set(tmp_path / "sets", agents={c: Agent(git={"branch": c * 2}) for c in CONDITIONS})
    orders = set()
    seen: set[str] = set()
    for number in range(8):
        made = blind([folder], os.fspath(tmp_path / str(number)))
        entries = load(made["bundle"])["entries"]
        orders.add(tuple(entry["answer"]["git"]["branch"] for entry in entries))
        seen |= {entry["response_id"] for entry in entries}
    assert len(seen) == 40
    assert len(orders) > 1


def test_several_assessors_and_partial_scores(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "sets")
    made = blind([folder], os.fspath(tmp_path / "out"))
    part = filled(made["scores_form"], "Ada/Byron")
    left_out = part["entries"].pop()["response_id"]
    paths = save(tmp_path / "in", [part, filled(made["scores_form"], "Grace")])
    found = unblind(made["key"], paths, os.fspath(tmp_path / "assessed"))
    assert len(found["assessments"]) == 9
    assert found["not_scored"] == [{"scores": paths[0], "response_ids": [left_out]}]
    assert all("assessed_at" not in load(path) for path in found["assessments"])
    with pytest.raises(EvaluationError, match="are both by 'Grace'"):
        unblind(made["key"], [paths[1], *save(tmp_path / "more", [load(paths[1])])], os.fspath(tmp_path / "twice"))
    assert not (tmp_path / "twice").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "sets")
    ids = iter(f"{number:032x}" for number in range(5))
    made = blind([folder], os.fspath(tmp_path / "out"), random_id=lambda: next(ids))
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    again = iter(f"{number:032x}" for number in range(5))
    with pytest.raises(EvaluationError, match="exists already; evidence is never overwritten"):
        blind([folder], os.fspath(tmp_path / "out"), random_id=lambda: next(again))
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == before
    paths = save(tmp_path / "in", [filled(made["scores_form"])])
    unblind(made["key"], paths, os.fspath(tmp_path / "assessed"))
    with pytest.raises(EvaluationError, match="exists already"):
        unblind(made["key"], paths, os.fspath(tmp_path / "assessed"))


def test_output_inside_a_checkout_its_git_folders_or_a_set_is_refused(tmp_path: Path) -> None:
    builder = RepoBuilder(tmp_path / "project")
    builder.commit("first", {"README.md": "# Project\n"})
    root = builder.build()
    git(root, "worktree", "add", "-q", "--detach", os.fspath(tmp_path / "linked"))
    repository = {"resolved_root": os.path.realpath(root)}
    linked = {"resolved_root": os.path.realpath(tmp_path / "linked"), "name": "linked"}
    one = write_set(tmp_path / "sets", repository=repository)
    two = write_set(tmp_path / "sets", repository=linked)
    os.symlink(root, tmp_path / "way-in")
    inside = (
        ([one], f"{root}/out", "work tree"),
        ([one], f"{root}/.git/out", "work tree"),
        ([one], os.fspath(tmp_path / "way-in" / "not" / "yet"), "work tree"),
        ([two], os.fspath(tmp_path / "linked" / "out"), "work tree"),
        ([two], f"{root}/.git/worktrees/linked/out", "git folder"),
        ([two], f"{root}/.git/refs/out", "common git folder"),
        ([one], os.path.join(one, "out"), "which is sealed"),
    )
    for sets, output, where in inside:
        with pytest.raises(EvaluationError, match=where):
            blind(sets, output)
        assert not os.path.lexists(output)
    expected = git(
        os.fspath(tmp_path / "linked"), "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"
    )
    found = checkout_at(os.fspath(tmp_path / "linked"))
    assert found is not None
    assert [os.path.realpath(path) for path in found[1:]] == [os.path.realpath(line) for line in expected.split()]
    assert checkout_at("/no/such/place") is None
    made = blind([one], os.fspath(tmp_path / "out"))
    scores = save(tmp_path / "in", [filled(made["scores_form"])])
    with pytest.raises(EvaluationError, match="which is sealed"):
        unblind(made["key"], scores, os.path.dirname(made["key"]))
    with pytest.raises(EvaluationError, match="lies inside the work tree"):
        unblind(made["key"], scores, f"{root}/assessed")
    assert not os.path.exists(f"{root}/assessed")


def test_what_cannot_be_blinded_or_unblinded_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    dry = write_set(tmp_path / "sets", runner=False)
    run = write_set(tmp_path / "sets", run_index=2)
    copy = write_set(tmp_path / "copies", run_index=2)
    out = os.fspath(tmp_path / "out")

    def refused(message: str, error: type[RepoCueError], make: Callable[[], object]) -> None:
        with pytest.raises(error, match=message):
            make()

    refused("There is no answer to blind", EvaluationError, lambda: blind([dry], out))
    refused("are answers of the same run", EvaluationError, lambda: blind([run, copy], out))
    assert not os.path.exists(out)
    made = blind([dry, run], out)
    other = blind([copy], out)
    assert made["answers"] == 5
    away = os.fspath(tmp_path / "assessed")

    def given(scores: Document) -> list[str]:
        return save(tmp_path / "in", [scores])

    form = made["scores_form"]
    refused("scores/purpose", ContractError, lambda: unblind(made["key"], given(load(form) | {"assessor": "A"}), away))
    refused("The scores are of the bundle", EvidenceError, lambda: unblind(other["key"], given(filled(form)), away))
    refused("score no answer", EvaluationError, lambda: unblind(made["key"], given(filled(form, entries=[])), away))
    twice = filled(form)
    twice["entries"].append(twice["entries"][0])
    refused("is scored twice", EvidenceError, lambda: unblind(made["key"], given(twice), away))
    strange = filled(form)
    strange["entries"][0]["response_id"] = "f" * 16
    refused("is not in the bundle", EvidenceError, lambda: unblind(made["key"], given(strange), away))
    refused("cannot be read", EvaluationError, lambda: unblind(made["key"], [os.fspath(tmp_path / "gone")], away))
    Path(made["key"]).write_bytes(Path(made["key"]).read_bytes() + b"\n")
    refused(r"key\.json \(altered\)", EvidenceError, lambda: unblind(made["key"], given(filled(form)), away))
    assert not os.path.exists(away)


def test_equal_answers_of_two_conditions_keep_their_own_identity(tmp_path: Path) -> None:
    """Both have one digest; each assessment still names the condition that its blind id stands for."""
    made = blind([write_set(tmp_path / "sets")], os.fspath(tmp_path / "out"))
    conditions = {entry["response_id"]: entry["condition"] for entry in load(made["key"])["entries"]}
    assert len({entry["response_digest"] for entry in load(made["key"])["entries"]}) == 1
    scores = filled(made["scores_form"])
    found = unblind(made["key"], save(tmp_path / "in", [scores]), os.fspath(tmp_path / "assessed"))
    for entry, path in zip(scores["entries"], found["assessments"], strict=True):
        assert load(path)["condition"] == conditions[entry["response_id"]]


def test_text_forms_say_what_to_hand_over_and_what_to_keep(tmp_path: Path, repocue: Run) -> None:
    write_set(tmp_path / "sets")
    arguments = ("--report-set", "sets", "--output-directory", "out", "--format", "text")
    shown = repocue("evaluate-m2", "blind", *arguments, cwd=tmp_path).stdout.decode()
    assert shown.startswith("Blinded 5 answers. Hand over this folder:\n")
    assert "Keep this key away from the assessor" in shown
    (form,) = (tmp_path / "out").glob("*-answers/scores.json")
    (key,) = (tmp_path / "out").glob("*-key/key.json")
    (scores,) = save(tmp_path / "in", [filled(os.fspath(form))])
    arguments = ("--key", os.fspath(key), "--scores", scores, "--output-directory", "back", "--format", "text")
    shown = repocue("evaluate-m2", "unblind", *arguments, cwd=tmp_path).stdout.decode()
    assert shown.startswith("Wrote 5 assessments to\n")
