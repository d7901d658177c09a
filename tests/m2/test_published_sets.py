"""What a run publishes, field by field, against git, the file system and what the runner saw."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
from pathlib import Path

import pytest

from repocue.contracts import reader
from tests.m2.scene import CONDITIONS, Scene, fingerprint_of_files, reports_of
from tests.support.repos import git
from tests.support.scripted_runner import observation

NAMES = {
    *("SCHEMA", "CONDITION", "RUN_INDEX", "REPOSITORY", "TASK_FILE", "CUE_FILE", "SNAPSHOT", "HEAD", "READ_ONLY"),
    *("BENCHMARK_VERSION", "OUTPUT_SCHEMA_VERSION"),
}


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


@pytest.fixture(scope="module")
def observed(shared: Scene) -> str:
    """One published set with five agent runs."""
    shared.more_env = {"REPOCUE_TASK_ARM": "task", "REPOCUE_EVAL_OLD": "1", "KEPT_FOR_THE_RUNNER": "yes"}
    return shared.published()


@pytest.fixture(scope="module")
def dry(shared: Scene) -> str:
    """One published dry run."""
    return shared.published(runner=False)


def test_a_run_prints_one_set_document_and_publishes_the_seeds_names(observed: str, shared: Scene) -> None:
    name = os.path.basename(observed)
    state = reports_of(observed)["direct"]["repository"]["state_fingerprint"]
    joined = "\0".join((shared.root, state, "snapshot-000001")).encode()
    assert name == f"project_no-model_run-01_maintenance-{hashlib.sha256(joined).hexdigest()[:24]}"
    assert sorted(os.listdir(observed)) == sorted(
        [f"project_{condition}_no-model_run-01.json" for condition in CONDITIONS]
        + ["project_basic_no-model_run-01.trace2.jsonl", "manifest.json"]
    )
    assert stat.S_IMODE(os.stat(observed).st_mode) == 0o700
    assert {stat.S_IMODE(os.stat(os.path.join(observed, name)).st_mode) for name in os.listdir(observed)} == {0o600}


def test_the_printed_document_names_the_only_set(scene: Scene) -> None:
    done = scene.evaluate(runner=False)
    document = reader.read(done.stdout, contract="repocue/evaluation-4", kind="m2-condition-set")
    path = os.path.join(scene.out, scene.sets()[0])
    assert document["report_sets"] == [{"run_index": 1, "path": path, "status": "published"}]
    assert document["report_set"] == path
    assert len(scene.sets()) == 1


def test_every_file_of_a_set_is_in_its_manifest_and_the_manifest_seals_itself(observed: str) -> None:
    data = Path(observed, "manifest.json").read_bytes()
    manifest = json.loads(data)
    seal = manifest.pop("self_sha256")
    body = json.dumps(manifest, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    assert seal == sha256(body)
    expected = [
        {"path": name, "bytes": len(content), "sha256": sha256(content)}
        for name in sorted(os.listdir(observed))
        if name != "manifest.json"
        for content in [Path(observed, name).read_bytes()]
    ]
    assert manifest == {"schema_version": "repocue/manifest-1", "files": expected}


def test_the_reports_keep_their_contract_and_are_indented(observed: str, dry: str) -> None:
    for folder in (observed, dry):
        for name in os.listdir(folder):
            if name.endswith(".json") and name != "manifest.json":
                data = Path(folder, name).read_bytes()
                reader.read_canonical(data, contract="repocue/evaluation-4", kind="m2-condition", indent=True)


def test_the_repository_member_is_what_git_says(observed: str, shared: Scene) -> None:
    root = shared.root
    for report in reports_of(observed).values():
        repository = report["repository"]
        assert repository["supplied_path"] == "."
        assert repository["resolved_root"] == root
        assert repository["name"] == "project"
        assert repository["branch"] == "main"
        assert repository["head"] == git(root, "rev-parse", "HEAD").decode().strip()
        assert repository["dirty"] is True
        assert repository["tracked_files"] == git(root, "ls-files", "-z").count(b"\0") == 6
        sizes = [os.lstat(os.path.join(root, name)).st_size for name in git(root, "ls-files").decode().split()]
        assert repository["tracked_bytes"] == sum(sizes)


def test_the_five_reports_share_one_prepared_state(observed: str) -> None:
    reports = list(reports_of(observed).values())
    for name in ("maintenance_id", "repocue_snapshot", "repository", "baseline", "update", "run_index", "generated_at"):
        assert len({json.dumps(report[name]) for report in reports}) == 1, name
    assert reports[0]["repocue_snapshot"] == "snapshot-000001"
    setups = {report["overhead"]["setup_ms"] for report in reports}
    assert len(setups) == 1
    assert all(report["overhead"]["captures_ms"] > 0 for report in reports)


def test_the_baseline_wrote_a_row_for_each_file_and_the_refresh_none(
    observed: str, shared: Scene, tmp_path: Path, repocue_exe: list[str]
) -> None:
    import subprocess

    cache = str(tmp_path / "cache")
    subprocess.run([*repocue_exe, "-C", shared.root, "init", "--cache-dir", cache], env=shared.env, check=True)
    (database,) = Path(cache).glob("*/state.db")
    with sqlite3.connect(database) as connection:
        (rows,) = connection.execute("SELECT count(*) FROM files").fetchone()
    connection.close()
    report = reports_of(observed)["direct"]
    assert report["baseline"]["materialized_file_rows"] == rows
    assert (report["baseline"]["kind"], report["baseline"]["changed"]) == ("full", True)
    assert (report["update"]["kind"], report["update"]["changed"]) == ("no-op", False)
    assert report["update"]["materialized_file_rows"] == 0
    for member in (report["baseline"], report["update"]):
        assert member["wall_duration_ms"] > member["scan_duration_ms"] > 0
        assert member["git_commands"] > 0
        assert member["database_size_bytes"] >= 4096


def test_each_condition_is_asked_once_in_the_fixed_order_by_a_process_of_its_own(observed: str, shared: Scene) -> None:
    calls = shared.calls()
    assert [call["asked"]["CONDITION"] for call in calls] == list(CONDITIONS)
    assert len({call["pid"] for call in calls}) == 5
    head = git(shared.root, "rev-parse", "HEAD").decode().strip()
    for call in calls:
        asked = call["asked"]
        assert asked["SCHEMA"] == "repocue/evaluation-runner-4"
        assert asked["RUN_INDEX"] == "1"
        assert asked["REPOSITORY"] == shared.root == call["cwd"]
        assert asked["BENCHMARK_VERSION"] == "repository-state-v2"
        assert asked["OUTPUT_SCHEMA_VERSION"] == "repocue/benchmark-answer-2"
        assert (asked["SNAPSHOT"], asked["HEAD"], asked["READ_ONLY"]) == ("snapshot-000001", head, "1")
        assert set(asked) == NAMES
        assert (call["argv"], call["stdin"], call["foreign"], call["kept"]) == ([], "", [], "yes")
        assert not asked["TASK_FILE"].startswith(shared.root)
        assert not os.path.exists(asked["TASK_FILE"])
        handed = [
            os.path.relpath(asked[name], os.path.dirname(os.path.dirname(asked["TASK_FILE"])))
            for name in ("CUE_FILE", "TASK_FILE")
            if asked[name]
        ]
        assert call["beside"] == [*handed, "lock"], "a runner found what another one was handed"
    assert len({call["task"] for call in calls}) == 1
    assert calls[0]["task"].startswith("Benchmark repository-state-v2\n")


def test_the_context_that_a_runner_is_handed_is_the_one_the_report_counts(observed: str, shared: Scene) -> None:
    reports = reports_of(observed)
    for call in shared.calls():
        cue = reports[call["asked"]["CONDITION"]]["cue"]
        supplied = "" if call["cue"] is None else call["cue"]
        assert cue["bytes"] == len(supplied.encode())
        assert cue["estimated_tokens"] == -(-cue["bytes"] // 4)
        assert cue["max_tokens"] == 500
        assert cue.get("schema_version") == (json.loads(supplied)["schema_version"] if supplied else None)
    cues = {call["asked"]["CONDITION"]: call["cue"] for call in shared.calls()}
    assert cues["direct"] is None
    kinds = {name: json.loads(text)["kind"] for name, text in cues.items() if text}
    assert kinds == {
        "placebo": "placebo",
        "basic": "overview",
        "ranked": "ranked",
        "structural-oracle": "structural-oracle",
    }
    assert json.loads(cues["placebo"])["content"] == {}
    structure = json.loads(cues["structural-oracle"])["content"]["structure"]
    assert {"run"} == {item["name"] for item in structure}
    assert {json.loads(text)["freshness"] for text in cues.values() if text} == {"dirty-but-indexed"}


def test_the_basic_context_is_what_the_shipped_command_printed_with_evidence_of_that(
    observed: str, shared: Scene, repocue_exe: list[str]
) -> None:
    import repocue

    reports = reports_of(observed)
    delivery = reports["basic"]["cue_delivery"]
    assert [name for name, report in reports.items() if report["cue_delivery"]] == ["basic"]
    (supplied,) = (call["cue"].encode() for call in shared.calls() if call["asked"]["CONDITION"] == "basic")
    assert delivery["stdout_sha256"] == sha256(supplied)
    assert delivery["stdout_bytes"] == len(supplied)
    executable = delivery["executable"]
    assert executable["path"] == delivery["argv"][0] == repocue_exe[0]
    assert executable["sha256"] == sha256(Path(executable["path"]).read_bytes())
    assert executable["version"] == repocue.__version__
    assert delivery["argv"][len(repocue_exe) :][:3] == ["-C", shared.root, "cue"]
    assert delivery["argv"][-3:] == ["--max-tokens", "500", "--quiet"]
    trace = Path(observed, delivery["trace2"]["file"]).read_bytes()
    assert delivery["trace2"]["sha256"] == sha256(trace)
    starts = [json.loads(line) for line in trace.splitlines() if json.loads(line)["event"] == "start"]
    assert delivery["trace2"]["git_processes"] == len(starts) > 0
    assert {"status", "ls-files"} <= {word for start in starts for word in start["argv"]}
    assert delivery["started_at"] <= delivery["finished_at"] <= reports["basic"]["captures"]["pre_run"]["at"]
    assert delivery["duration_ms"] > 0


def test_the_package_digest_is_over_the_installed_files(observed: str) -> None:
    import repocue

    folder = os.path.dirname(os.path.abspath(repocue.__file__))
    found = {}
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            path = os.path.join(at, name)
            found[os.path.relpath(path, folder).encode()] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    text = b"".join(b"%s\0%s\n" % (name, found[name].encode()) for name in sorted(found))
    assert reports_of(observed)["basic"]["cue_delivery"]["executable"]["package_sha256"] == sha256(text)


def test_the_observations_are_kept_as_the_runner_gave_them(observed: str, shared: Scene) -> None:
    for call in shared.calls():
        assert reports_of(observed)[call["asked"]["CONDITION"]]["runner"] == observation(call["asked"])


def test_captures_around_every_runner_agree_and_are_in_order(observed: str) -> None:
    reports = reports_of(observed)
    times = []
    for condition in CONDITIONS:
        captures = reports[condition]["captures"]
        times += [captures["pre_run"]["at"], captures["post_run"]["at"]]
        for capture in captures.values():
            assert capture["state_fingerprint"] == reports[condition]["repository"]["state_fingerprint"]
        assert captures["pre_run"]["guard_digest"] == captures["post_run"]["guard_digest"]
    assert times == sorted(times)


def test_only_the_structural_condition_has_an_analysis(observed: str) -> None:
    reports = reports_of(observed)
    cue = reports["structural-oracle"]["cue"]
    assert cue["structural_candidate_count"] == 1
    assert cue["structural_analysis_duration_ms"] > 0
    assert cue["wall_duration_ms"] > cue["structural_analysis_duration_ms"]
    assert not any("structural_candidate_count" in reports[name]["cue"] for name in CONDITIONS[:4])


def test_reports_say_what_is_not_covered(observed: str, dry: str) -> None:
    for report in (*reports_of(observed).values(), *reports_of(dry).values()):
        assert any("ignored files" in text and "put back" in text for text in report["limitations"])
    assert all(any("fixed order" in text for text in r["limitations"]) for r in reports_of(observed).values())


def test_a_dry_run_publishes_the_same_contexts_and_says_that_it_is_no_agent_evidence(dry: str, observed: str) -> None:
    assert "_no-runner_run-01_" in os.path.basename(dry)
    with_agents = reports_of(observed)
    for condition, report in reports_of(dry).items():
        assert "runner" not in report
        assert report["captures"] is None
        assert report["overhead"]["captures_ms"] == 0
        assert any("not agent evidence" in text and "not observed" in text for text in report["limitations"])
        assert report["cue"]["bytes"] == with_agents[condition]["cue"]["bytes"]
        assert report["maintenance_id"] == with_agents[condition]["maintenance_id"]


def test_neither_the_repository_nor_the_maintained_cache_is_touched(scene: Scene) -> None:
    before = fingerprint_of_files(scene.root)
    scene.published()
    assert fingerprint_of_files(scene.root) == before
    assert not os.path.exists(scene.env["XDG_CACHE_HOME"])
    assert os.listdir(scene.temporary) == []


def test_a_repository_without_a_commit_and_one_with_a_detached_head_are_evaluated(scene: Scene, tmp_path: Path) -> None:
    git(scene.root, "checkout", "-q", "--detach", "-f")
    detached = reports_of(scene.published())
    assert {report["repository"]["branch"] for report in detached.values()} == {None}
    unborn = tmp_path / "unborn"
    unborn.mkdir()
    git(str(unborn), "init", "-q", "-b", "trunk")
    (unborn / "a").write_text("a")
    reports = reports_of(scene.published("-C", str(unborn)))
    assert {report["repository"]["head"] for report in reports.values()} == {None}
    assert {report["repository"]["supplied_path"] for report in reports.values()} == {str(unborn)}
    assert scene.calls()[-1]["asked"]["HEAD"] == ""


def test_a_text_and_an_oracle_of_ones_own_are_used_and_named(scene: Scene, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("Say what this is. Ünïcode.\n")
    tool = tmp_path / "oracle"
    tool.write_text("#!/bin/sh\nprintf 'c\\ta.c\\tfunction\\tmain\\t(void)\\nbroken\\n'\n")
    tool.chmod(0o755)
    reports = reports_of(scene.published("--task-file", str(text), "--oracle-tool", str(tool), "--max-tokens", "300"))
    assert {call["task"] for call in scene.calls()} == {text.read_text()}
    for report in reports.values():
        assert any(sha256(text.read_bytes()) in limitation for limitation in report["limitations"])
        assert report["cue"]["max_tokens"] == 300
    structural = reports["structural-oracle"]
    assert structural["cue"]["structural_candidate_count"] == 1
    assert any(sha256(tool.read_bytes()) in limitation for limitation in structural["limitations"])
    assert "The structural oracle left out: record-malformed (1)." in structural["limitations"]
    cue = json.loads(scene.calls()[-1]["cue"])
    assert cue["content"]["structure"] == [
        {"language": "c", "module": "a.c", "kind": "function", "name": "main", "signature": "(void)"}
    ]


def test_names_keep_letters_digits_and_three_signs(scene: Scene) -> None:
    scene.script({"patch": {"/metadata/model": "vendor/Model 5 (größer)!"}})
    renamed = os.path.join(scene.folder, "pro ject+ü")
    os.rename(scene.root, renamed)
    scene.root = renamed
    path = scene.published("--run-index", "112")
    assert os.path.basename(path).startswith("pro-ject_vendor-Model-5-gr-er_run-112_maintenance-")
    assert "pro-ject_structural-oracle_vendor-Model-5-gr-er_run-112.json" in os.listdir(path)
