"""An attempt is reserved once, journaled before anything starts, and complete only when sealed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from repocue.errors import EvaluationError, EvidenceError
from repocue.evaluation.shared import attempt, files

JOURNAL_VERSION = "repocue/test-journal-1"
ATTEMPT_VERSION = "repocue/test-attempt-1"
JOURNAL = {"schema_version": JOURNAL_VERSION, "name": "one"}
HEADER = {"schema_version": ATTEMPT_VERSION, "outcome": "complete"}


def examined(parent: Path, name: str = "one") -> attempt.Evidence:
    return attempt.examine(str(parent), name, journal_version=JOURNAL_VERSION, attempt_version=ATTEMPT_VERSION)


def complete_attempt(parent: Path) -> attempt.Attempt:
    made = attempt.reserve(str(parent), "one", JOURNAL)
    made.write("answer.json", b"{}\n")
    evidence = made.make_folder("evidence")
    stream = files.open_new(os.path.join(evidence, "stdout"))
    stream.write(b"raw")
    files.close_synced(stream)
    made.complete(HEADER)
    return made


def test_a_complete_attempt_is_read_back_with_its_journal_header_and_files(tmp_path: Path) -> None:
    assert examined(tmp_path).state == "absent"
    complete_attempt(tmp_path)
    evidence = examined(tmp_path)
    assert (evidence.state, evidence.journal, evidence.header) == ("complete", JOURNAL, HEADER)
    assert evidence.read("evidence/stdout", limit_bytes=10) == b"raw"


def test_an_attempt_is_reserved_once_and_the_second_try_changes_nothing(tmp_path: Path) -> None:
    attempt.reserve(str(tmp_path), "one", JOURNAL)
    before = (tmp_path / "one" / "journal.json").read_bytes()
    with pytest.raises(EvaluationError) as caught:
        attempt.reserve(str(tmp_path), "one", {**JOURNAL, "name": "other"})
    assert caught.value.code == "evaluation.attempted"
    assert (tmp_path / "one" / "journal.json").read_bytes() == before
    assert os.listdir(tmp_path / "one") == ["journal.json"]


@pytest.mark.parametrize("kind", ["file", "dangling link"])
def test_anything_of_the_attempts_name_counts_as_attempted(tmp_path: Path, kind: str) -> None:
    if kind == "file":
        (tmp_path / "one").write_bytes(b"")
    else:
        (tmp_path / "one").symlink_to("nowhere")
    with pytest.raises(EvaluationError) as caught:
        attempt.reserve(str(tmp_path), "one", JOURNAL)
    assert caught.value.code == "evaluation.attempted"
    assert examined(tmp_path).state == "altered"


def test_an_attempt_that_never_ended_is_incomplete_and_its_files_count_for_nothing(tmp_path: Path) -> None:
    made = attempt.reserve(str(tmp_path), "one", JOURNAL)
    made.write("answer.json", b"{}\n")
    evidence = examined(tmp_path)
    assert (evidence.state, evidence.journal, evidence.header) == ("incomplete", JOURNAL, None)
    with pytest.raises(EvidenceError):
        evidence.read("answer.json", limit_bytes=10)


def test_a_folder_reserved_by_a_process_that_died_at_once_is_incomplete(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    assert examined(tmp_path).state == "incomplete"


def test_a_journal_altered_in_an_unfinished_attempt_is_noticed(tmp_path: Path) -> None:
    attempt.reserve(str(tmp_path), "one", JOURNAL)
    path = tmp_path / "one" / "journal.json"
    path.write_bytes(path.read_bytes().replace(b"one", b"two"))
    evidence = examined(tmp_path)
    assert (evidence.state, evidence.journal) == ("altered", None)
    assert [problem.path for problem in evidence.problems] == ["journal.json"]


def test_every_flipped_byte_of_a_complete_attempt_is_found_and_named(tmp_path: Path) -> None:
    complete_attempt(tmp_path)
    for name in ("journal.json", "answer.json", "evidence/stdout", "attempt.json"):
        path = tmp_path / "one" / name
        data = path.read_bytes()
        for position in range(len(data)):
            path.write_bytes(data[:position] + bytes([data[position] ^ 4]) + data[position + 1 :])
            evidence = examined(tmp_path)
            assert evidence.state == "altered"
            assert name in [problem.path for problem in evidence.problems]
        path.write_bytes(data)
    assert examined(tmp_path).state == "complete"


def test_a_file_added_after_the_end_or_taken_away_is_found(tmp_path: Path) -> None:
    complete_attempt(tmp_path)
    (tmp_path / "one" / "evidence" / "late").write_bytes(b"")
    (tmp_path / "one" / "answer.json").unlink()
    assert [str(problem) for problem in examined(tmp_path).problems] == [
        "answer.json (missing)",
        "evidence/late (unlisted)",
    ]


KILLED_AT = """
import os, signal, sys
from repocue.evaluation.shared import attempt, files
left = [int(sys.argv[1])]
def watched(function):
    def call(*arguments, **named):
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        return function(*arguments, **named)
    return call
for name in ("mkdir", "open", "rename", "fsync"):
    setattr(os, name, watched(getattr(os, name)))
made = attempt.reserve(sys.argv[2], "one", {"schema_version": "repocue/test-journal-1", "name": "one"})
print("launched", flush=True)
made.write("answer.json", b"{}\\n")
made.complete({"schema_version": "repocue/test-attempt-1", "outcome": "complete"})
"""


def test_killed_before_any_system_call_an_attempt_is_absent_incomplete_or_complete_and_never_launched_unjournaled(
    tmp_path: Path,
) -> None:
    states = []
    for instant in range(100):
        parent = tmp_path / str(instant)
        parent.mkdir()
        done = subprocess.run([sys.executable, "-c", KILLED_AT, str(instant), str(parent)], capture_output=True)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        evidence = examined(parent)
        states.append(evidence.state)
        if b"launched" in done.stdout:
            assert evidence.journal == JOURNAL
        if evidence.state != "absent":
            with pytest.raises(EvaluationError, match="attempted already"):
                attempt.reserve(str(parent), "one", JOURNAL)
        if done.returncode == 0:
            break
    assert states[0] == "absent"
    assert states[-1] == "complete"
    assert states == sorted(states, key=["absent", "incomplete", "complete"].index)
    assert states.count("incomplete") > 10
