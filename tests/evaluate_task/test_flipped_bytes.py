"""A byte changed anywhere in what was frozen or in a complete attempt is found, and named by its path."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from repocue.errors import RepoCueError
from tests.evaluate_task.scene import Scene, attempts, steps, summary

FLIPS = 6
"""Positions of each file: both ends, and some in between."""


@pytest.fixture(scope="module")
def ran(shared: Scene, tmp_path_factory: pytest.TempPathFactory) -> str:
    return shared.ran(tmp_path_factory.mktemp("ran"), "verification", {"*": steps("verification", stderr="said\n")})


def files_of(folder: str) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


def positions(size: int, random_: random.Random, count: int) -> list[int]:
    return sorted({0, size - 1, *(random_.randrange(size) for _ in range(count - 2))})


def check_flips(folder: str, count: int) -> int:
    untouched = summary(folder)
    random_ = random.Random(20261130)
    done = 0
    for name in files_of(folder):
        path = Path(folder, name)
        data = path.read_bytes()
        for place in positions(len(data), random_, count):
            path.write_bytes(data[:place] + bytes([data[place] ^ 1 << random_.randrange(8)]) + data[place + 1 :])
            if name.startswith("attempts/"):
                found = attempts(summary(folder))
                arm = name.split("/")[1][2:]
                assert found[arm]["status"] == "incomplete", (name, place)
                assert found[arm]["facts"] == dict.fromkeys(found[arm]["facts"]), (name, place)
                inner = name.removeprefix("attempts/")
                (reason,) = found[arm]["reasons"]
                assert reason.startswith("evidence-altered: "), (name, place)
                # where the list of files is what was changed, nothing else can be told from it
                assert f"attempts/{inner} (altered)" in reason, (name, place, reason)
                other = "task" if arm == "overview" else "overview"
                assert found[other] == attempts(untouched)[other], (name, place)
            else:
                with pytest.raises(RepoCueError) as raised:
                    summary(folder)
                assert name in raised.value.message, (name, place, raised.value.message)
            done += 1
        path.write_bytes(data)
    assert summary(folder) == untouched
    return done


def test_a_flipped_byte_of_every_file_is_found(ran: str) -> None:
    names = files_of(ran)
    assert len([name for name in names if not name.startswith("attempts/")]) == 10
    # each attempt: journal, 4 inputs, 3 streams of evidence, 2 of the runner, attempt.json
    assert len([name for name in names if name.startswith("attempts/")]) == 22
    assert check_flips(ran, FLIPS) > 32 * 3


@pytest.mark.deep
def test_many_flipped_bytes_of_every_file_are_found(ran: str) -> None:
    assert check_flips(ran, 80) > 32 * 40


@pytest.mark.parametrize("name", ["evidence/provider-stdout", "runner-stdout", "input/cue.json"])
def test_a_removed_or_added_file_marks_its_attempt(shared: Scene, tmp_path: Path, name: str) -> None:
    folder = shared.ran(tmp_path)
    place = os.path.join(folder, "attempts", "1-overview")
    os.unlink(os.path.join(place, name))
    assert f"attempts/1-overview/{name} (missing)" in attempts(summary(folder))["overview"]["reasons"][0]
    Path(place, name).write_bytes(b"other")
    Path(place, "surplus").write_bytes(b"")
    reason = attempts(summary(folder))["overview"]["reasons"][0]
    assert f"attempts/1-overview/{name} (altered)" in reason
    assert "attempts/1-overview/surplus (unlisted)" in reason


def test_a_lost_first_attempt_is_missed_and_what_does_not_belong_is_named(shared: Scene, tmp_path: Path) -> None:
    folder = shared.ran(tmp_path)
    os.rename(os.path.join(folder, "attempts", "1-overview"), os.path.join(folder, "attempts", "1-overview-old"))
    Path(tmp_path, "executable.txt").write_text("kept by the operator\n")
    document = summary(str(tmp_path))
    found = attempts(document)["overview"]
    assert found["status"] == "incomplete"
    assert found["reasons"][0].startswith("attempt-missing")
    assert document["unknown_entries"] == [
        "executable.txt",
        os.path.basename(folder) + ".script.json",
        os.path.basename(folder) + "/attempts/1-overview-old",
    ]


def test_a_resealed_folder_whose_parts_do_not_make_one_another_is_refused(shared: Scene, tmp_path: Path) -> None:
    from repocue.evaluation.shared import manifest

    for name, old, new in (
        ("task.txt", b"Change nothing", b"Change all you"),
        ("policy.json", b'"repeats":3', b'"repeats":4'),
        ("paid-policy.json", b"Grace assesses.", b"Nobody assesses"),
        ("preparation.json", b'"order":"overview-first"', b'"order":"task-first"'),
        ("preparation.json", b'"baseline":null', b'"baseline": null'),
        ("cue-task.json", b"It counts arguments.", b"It counts arguments!"),
    ):
        folder = shared.copied(tmp_path / name.replace(".", "-") / str(len(old)))
        path = Path(folder, name)
        assert old in path.read_bytes()
        path.write_bytes(path.read_bytes().replace(old, new))
        os.unlink(os.path.join(folder, "manifest.json"))
        manifest.write(folder, "manifest.json", {"schema_version": "repocue/manifest-1"}, leave_out=("attempts",))
        with pytest.raises(RepoCueError) as raised:
            summary(folder)
        assert ".json" in raised.value.message or ".txt" in raised.value.message


def test_a_resealed_attempt_that_contradicts_what_was_frozen_is_marked(shared: Scene, tmp_path: Path) -> None:
    """Edits that keep every digest right are only found where they contradict something."""
    import json

    from repocue.evaluation.shared import manifest

    folder = shared.ran(tmp_path, script={"*": steps(exit=7)})
    place = os.path.join(folder, "attempts", "1-overview")
    sealed = json.loads(Path(place, "attempt.json").read_bytes())
    for name in ("files", "self_sha256"):
        del sealed[name]
    os.unlink(os.path.join(place, "attempt.json"))
    manifest.write(place, "attempt.json", sealed | {"outcome": "complete", "reason": None})
    found = attempts(summary(folder))["overview"]
    assert found["status"] == "incomplete"
    assert "the runner did not end well" in found["reasons"][0]
