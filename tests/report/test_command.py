"""`repocue report` as a command: its forms, its file, and what it leaves alone."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repocue.contracts import reader
from repocue.errors import RepoCueError
from repocue.maintenance import lifecycle
from repocue.report import material, publishing
from repocue.report.document import report
from repocue.report.window import Window
from repocue.store import history
from tests.calibration.scene import Scene, make, three_runs
from tests.support.terminal import on_terminal

Repocue = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def calibrated(tmp_path: Path, env: dict[str, str]) -> Scene:
    """A scene with three imported pairs: total tokens 1100, 2100, 3100 direct and 1000, 1600, 3200 assisted."""
    made = make(tmp_path / "scene", env)
    three_runs(made, (1000, 2000, 3000), (900, 1500, 3100))
    made.load()
    return made


def options(scene: Scene) -> list[str]:
    return ["-C", scene.root, "--cache-dir", scene.cache]


def test_the_answer_is_one_document_of_its_contract(calibrated: Scene, repocue: Repocue) -> None:
    done = repocue(*options(calibrated), "report", "--consumers", "7")
    assert (done.returncode, done.stderr) == (0, b"")
    document = reader.read(done.stdout, contract="repocue/report-1")
    (group,) = document["agent_evidence"]["groups"]
    # 1100 - 1000 = 100, 2100 - 1600 = 500, 3100 - 3200 = -100.
    assert group["metrics"]["total_tokens"]["difference"] == {"median": 100, "min": -100, "max": 500}
    # H is 80 ms from the scene; at seven consumers pair 2 costs 7 * 2000 or 80 + 7 * (1400 + 80.953): 3553.329 apart.
    seven = next(one for one in group["scenarios"] if one["consumers"] == 7)
    assert seven["totals"]["execution_duration_ms"]["saving"]["median"] == 3553.329
    assert document["maintenance"]["database_bytes"] > 0
    assert document["validation_cost"]["duration_ms"] > 0


def test_a_refresh_within_a_cue_counts_once_and_the_cue_is_the_rest(
    tmp_path: Path, env: dict[str, str], repocue: Repocue
) -> None:
    made = make(tmp_path, env)
    Path(made.root, "README.md").write_text("# Changed\n")
    assert repocue(*options(made), "cue", "--refresh").returncode == 0
    found = json.loads(repocue(*options(made), "report").stdout)["maintenance"]
    assert [(run["kind"], run["trigger"], run["outcome"]) for run in found["runs"]] == [
        ("init", "command", "published"),
        ("refresh", "cue", "published"),
    ]
    assert [run["view"] for run in found["cue_runs"]] == ["overview"]
    assert found["current_epoch"]["duration_ms"] == pytest.approx(sum(run["duration_ms"] for run in found["runs"]))


def test_on_a_terminal_it_is_text_that_says_what_is_estimated(
    calibrated: Scene, env: dict[str, str], repocue_exe: list[str]
) -> None:
    code, shown = on_terminal([*repocue_exe, *options(calibrated), "report"], cwd=calibrated.root, env=env)
    assert code == 0
    assert "Agent evidence: descriptive" in shown
    assert "Estimated totals" in shown
    assert "Break-even, estimated" in shown
    assert "Not observed, and not estimated" in shown


def test_without_calibration_the_text_shows_no_saving(tmp_path: Path, env: dict[str, str], repocue: Repocue) -> None:
    made = make(tmp_path, env)
    text = repocue(*options(made), "report", "--format", "text").stdout.decode()
    assert "Agent evidence: unavailable" in text
    assert "saving" not in text
    assert "Break-even" not in text


def test_brackets_and_escapes_in_a_name_are_shown_and_not_obeyed(
    tmp_path: Path, env: dict[str, str], repocue: Repocue
) -> None:
    made = make(tmp_path / "[red]x\x1b[31m", env)
    text = repocue("-C", made.root, "--cache-dir", made.cache, "report", "--format", "text").stdout.decode()
    assert "[red]" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_file_is_replaced_whole_and_nothing_is_printed(
    calibrated: Scene, repocue: Repocue, tmp_path: Path, form: str
) -> None:
    path = tmp_path / "report.out"
    path.write_text("the old one")
    path.chmod(0o640)
    reading = path.open()
    done = repocue(*options(calibrated), "report", "--format", form, "--output", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert reading.read() == "the old one"  # whoever had it open keeps it whole
    reading.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    if form == "json":
        reader.read(path.read_bytes(), contract="repocue/report-1")
    else:
        assert "Agent evidence: descriptive" in path.read_text()
    assert set(os.listdir(tmp_path)) == {"scene", "report.out"}


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    os.mkdir(tmp_path / "published")
    (tmp_path / "latest").symlink_to("published/report.json")
    publishing.write(str(tmp_path / "latest"), b"one\n")
    publishing.write(str(tmp_path / "latest"), b"two\n")
    assert (tmp_path / "latest").is_symlink()
    assert (tmp_path / "published" / "report.json").read_bytes() == b"two\n"


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    publishing.write(str(path), b"old\n")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("repocue.report.publishing.os.fsync", full)
    with pytest.raises(RepoCueError) as caught:
        publishing.write(str(path), b"new\n")
    assert caught.value.code == "report.output"
    assert "No space left" in caught.value.message
    assert path.read_bytes() == b"old\n"
    assert os.listdir(tmp_path) == ["report.json"]


@pytest.mark.parametrize("where", ["missing/report.json", "."])
def test_a_place_that_cannot_hold_a_file_is_one_clear_error(
    calibrated: Scene, repocue: Repocue, tmp_path: Path, where: str
) -> None:
    done = repocue(*options(calibrated), "report", "--output", tmp_path / where)
    assert done.returncode == 1
    assert json.loads(done.stderr)["code"] == "report.output"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--consumers", "0"), "usage"),
        (("--consumers", "1000001"), "usage"),
        (("--since", "2026-11-30T10:00"), "report.cutoff"),
        (("--since", "2026-11-30", "--until", "2026-11-29"), "report.window"),
    ],
)
def test_arguments_that_cannot_be_meant_are_usage_errors(
    calibrated: Scene, repocue: Repocue, arguments: tuple[str, ...], code: str
) -> None:
    done = repocue(*options(calibrated), "report", *arguments)
    assert (done.returncode, json.loads(done.stderr)["code"]) == (2, code)


def test_a_repository_without_a_record_is_refused(tmp_path: Path, env: dict[str, str], repocue: Repocue) -> None:
    made = make(tmp_path, env)
    done = repocue("-C", made.root, "--cache-dir", tmp_path / "other", "report")
    assert (done.returncode, json.loads(done.stderr)["code"]) == (1, "cache.not-initialized")


def test_what_is_published_during_a_report_is_all_in_it_or_not_at_all(
    calibrated: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two of the report's own statements a refresh publishes, and a pair is removed and others imported."""
    before = report(calibrated.request(), Window(), ())
    original = history.cue_runs

    def meanwhile(database: Any) -> Any:
        lifecycle.refresh(calibrated.request())
        calibrated.load(assisted="ranked")
        return original(database)

    monkeypatch.setattr("repocue.store.history.cue_runs", meanwhile)
    during = material.read(calibrated.request())
    monkeypatch.undo()
    assert (len(during.runs), len(during.calibrations)) == (1, 3)
    after = report(calibrated.request(), Window(), ())
    assert len(after["maintenance"]["runs"]) == len(before["maintenance"]["runs"]) + 1
    assert [len(one["pairs"]) for one in after["agent_evidence"]["groups"]] == [3, 3]


def test_a_report_starts_one_git_process_and_changes_nothing(
    calibrated: Scene, repocue: Repocue, env: dict[str, str], tmp_path: Path
) -> None:
    state = calibrated.request().state_path
    before = Path(state).read_bytes()
    status = os.stat(calibrated.root + "/.git/index")
    trace = tmp_path / "trace"
    assert repocue(*options(calibrated), "report", env={**env, "GIT_TRACE2_EVENT": str(trace)}).returncode == 0
    events = [json.loads(line) for line in trace.read_text().splitlines()]
    assert [event["argv"][-1] for event in events if event["event"] == "start"] != []
    assert len({event["sid"] for event in events}) == 1
    assert Path(state).read_bytes() == before
    assert os.stat(calibrated.root + "/.git/index") == status


def test_json_needs_neither_terminal_nor_page_nor_chart_library(calibrated: Scene, env: dict[str, str]) -> None:
    program = (
        "import sys; from repocue.cli.app import run; code = run(sys.argv[1:]);"
        "print(sorted({'rich', 'jinja2', 'vl_convert', 'h11', 'ssl', 'jsonschema_rs'} & set(sys.modules)),"
        " file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *options(calibrated), "report"], env=env, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "[]\n")


def test_a_cache_of_before_calibrations_is_brought_up_to_date(
    tmp_path: Path, env: dict[str, str], repocue: Repocue
) -> None:
    import sqlite3

    made = make(tmp_path, env)
    with sqlite3.connect(made.request().state_path) as connection:
        connection.execute("DROP TABLE calibrations")
        connection.execute("DROP TABLE calibration_assessments")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    assert json.loads(repocue(*options(made), "report").stdout)["agent_evidence"]["status"] == "unavailable"
    made.write()
    assert [one.outcome for one in made.load().sets] == ["imported"]


def test_a_thousand_pairs_are_one_report(calibrated: Scene, repocue: Repocue) -> None:
    from repocue.store import calibrations
    from repocue.store.database import open_state
    from tests.report.made import amounts, pair

    with open_state(calibrated.request().state_path, mode="write") as database, database.writing(durable=False):
        for number in range(1000):
            found = pair(str(number), 1, amounts(1000 + number, 1.5), amounts(1000, 1.5))
            calibrations.add(database, found, epoch=1, snapshot=1, imported_at_ms=0)
    document = json.loads(repocue(*options(calibrated), "report").stdout)
    group = document["agent_evidence"]["groups"][1]
    assert len(group["pairs"]) == 1000
    assert group["metrics"]["total_tokens"]["difference"] == {"median": 499.5, "min": 0, "max": 999}


def test_a_record_that_changed_while_it_was_read_without_locks_is_not_reported(
    calibrated: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    from repocue.errors import CacheBusy
    from repocue.store.database import Database

    monkeypatch.setattr(Database, "is_settled", lambda _: False)
    with pytest.raises(CacheBusy):
        material.read(calibrated.request())


def test_the_page_goes_to_a_file_too(calibrated: Scene, repocue: Repocue, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    done = repocue(*options(calibrated), "report", "--format", "html", "--output", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert path.read_bytes().startswith(b"<!doctype html>")
