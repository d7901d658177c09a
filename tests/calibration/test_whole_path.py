"""The whole way: what `evaluate-m2` publishes with a scripted runner is imported and reported by the commands."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from repocue.contracts import reader
from tests.m2.conftest import build
from tests.m2.scene import Scene


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, repocue_exe: list[str]) -> Scene:
    """A dirty repository and one published run of it; no test changes either."""
    made = build(tmp_path_factory.mktemp("real"), repocue_exe)
    made.published()
    return made


@pytest.fixture
def scene(published: Scene, tmp_path: Path) -> Scene:
    """The same, initialized in a cache of the test's own."""
    made = dataclasses.replace(published, more_env={"REPOCUE_CACHE_DIR": str(tmp_path / "kept")})
    assert run(made, "init").returncode == 0
    return made


def run(scene: Scene, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*scene.exe, *arguments],
        cwd=scene.root,
        env=scene.environment(),
        capture_output=True,
    )


def answer(scene: Scene, *arguments: str, contract: str) -> dict[str, Any]:
    done = run(scene, *arguments)
    assert done.returncode == 0, done.stderr
    return reader.read(done.stdout, contract=contract)


def test_a_published_run_is_imported_and_reported(scene: Scene) -> None:
    imported = answer(scene, "calibration", "import", "--report-set", scene.out, contract="repocue/calibration-1")
    (one,) = imported["sets"]
    assert (one["outcome"], one["counts"], one["report_version"]) == ("imported", True, 4)
    reports = {
        report["condition"]: report
        for report in (json.loads(path.read_bytes()) for path in Path(one["folder"]).glob("*.json"))
        if "condition" in report
    }
    report = answer(scene, "report", contract="repocue/report-1")
    (group,) = report["agent_evidence"]["groups"]
    assert report["agent_evidence"]["status"] == "exploratory"
    (pair,) = group["pairs"]
    for side, condition in (("direct", "direct"), ("assisted", "basic")):
        metrics = reports[condition]["runner"]["metrics"]
        assert pair["metrics"]["total_tokens"][side] == metrics["total_tokens"]
        assert pair["metrics"]["execution_duration_ms"][side] == metrics["execution_duration_ms"]
    assert pair["cue_ms"] == reports["basic"]["cue_delivery"]["duration_ms"]
    assert pair["cue_delivery"] == "established"
    shown = answer(scene, "calibration", "show", one["id"], contract="repocue/calibration-1")
    assert shown["evidence"]["state_fingerprint"] == reports["direct"]["repository"]["state_fingerprint"]
    again = answer(scene, "calibration", "import", "--report-set", scene.out, contract="repocue/calibration-1")
    assert [row["outcome"] for row in again["sets"]] == ["already-imported"]


def test_the_text_forms_say_what_happened(scene: Scene) -> None:
    text = ("--format", "text")
    assert b"Imported 1 of 1 sets" in run(scene, "calibration", "import", "--report-set", scene.out, *text).stdout
    assert b"Nothing was imported" in run(scene, "calibration", "import", "--report-set", scene.out, *text).stdout
    assert b"calibration-000001" in run(scene, "calibration", "list", *text).stdout
    assert b"total_tokens" in run(scene, "calibration", "show", "calibration-000001", *text).stdout
    assert b"Removed calibration-000001" in run(scene, "calibration", "remove", "calibration-000001", *text).stdout
    assert b"No calibration is stored" in run(scene, "calibration", "list", *text).stdout
