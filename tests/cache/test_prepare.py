"""Preparation freezes what the actual refresh and task cue gave, in a folder of its own, or leaves nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from repocue.contracts import reader
from repocue.errors import BudgetTooSmall, EvaluationError, RepoCueError
from repocue.evaluation.cache import benchmark as benchmarks
from repocue.evaluation.cache import sources
from repocue.evaluation.cache.limits import DEFAULT_LIMITS, CacheLimits, SendLimits
from tests.cache import samples
from tests.cache.provider import Authority
from tests.cache.scene import SOURCES, Scene
from tests.cache.test_run import perform
from tests.support.repos import git


def read(folder: str, name: str) -> Any:
    with open(os.path.join(folder, name), "rb") as file:
        return json.load(file)


def data(folder: str, name: str) -> bytes:
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def tree(folder: str) -> list[str]:
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)


def state_of(root: str) -> dict[str, Any]:
    """Everything in the repository, its git folder included, by content, mode and modification time."""
    found = {}
    for at, _, names in os.walk(root):
        for name in names:
            path = os.path.join(at, name)
            info = os.lstat(path)
            with open(path, "rb") as file:
                found[path] = (info.st_mode, info.st_mtime_ns, sha256(file.read()).hexdigest())
    return found


# --- what is frozen


def test_the_folder_holds_exactly_the_documented_files_and_only_its_owner_can_read_them(
    prepare_once: Callable[..., str],
) -> None:
    folder = prepare_once()
    steps = ("baseline-a", "baseline-b", "cache-a", "cache-b")
    assert tree(folder) == sorted(
        ["answer-schema.json", "benchmark.json", "cue.json", "manifest.json", "preparation.json", "refresh.json"]
        + [f"requests/{step}{ending}" for step in steps for ending in (".json", ".record.json")]
    )
    assert os.listdir(os.path.join(folder, "attempts")) == []
    assert re.fullmatch(r"cache-eval-sample-[0-9a-f]{12}", os.path.basename(folder))
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert {stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) for name in tree(folder)} == {0o600}


def test_the_benchmark_is_kept_as_it_was_given_and_every_file_is_in_the_manifest(
    prepare_once: Callable[..., str], shared_scene: Scene
) -> None:
    folder = prepare_once()
    assert data(folder, "benchmark.json") == json.dumps(samples.benchmark(), indent=1).encode()
    manifest = read(folder, "manifest.json")
    assert {entry["path"]: entry["sha256"] for entry in manifest["files"]} == {
        name: samples.digest(data(folder, name)) for name in tree(folder) if name != "manifest.json"
    }
    reader.read(data(folder, "manifest.json"), contract="repocue/manifest-1")


def test_the_cue_is_what_the_cue_process_printed_and_the_requests_are_made_of_it(
    prepare_once: Callable[..., str], shared_scene: Scene
) -> None:
    folder = prepare_once()
    cue = reader.read(data(folder, "cue.json"), contract="repocue/task-cue-1")
    assert [source["id"] for source in cue["sources"]] == SOURCES
    record = read(folder, "preparation.json")
    assert (
        record["cue_sha256"] == record["processes"]["cue"]["stdout_sha256"] == samples.digest(data(folder, "cue.json"))
    )
    assert record["processes"]["cue"]["estimated_tokens"] == cue["budget"]["estimated_tokens"]
    assert record["processes"]["refresh"]["stdout_sha256"] == samples.digest(data(folder, "refresh.json"))
    assert record["processes"]["refresh"]["duration_ms"] > 0
    assert "<benchmark>" in record["processes"]["cue"]["argv"]
    for step in ("baseline-a", "baseline-b", "cache-a", "cache-b"):
        request = json.loads(data(folder, f"requests/{step}.json"))
        first, second = (json.loads(block["text"]) for block in request["messages"][0]["content"])
        assert first == {name: cue[name] for name in ("declaration", "items", "blocks", "sources")}
        assert second["prompt"]["id"] == step[-1]
        assert {name: second[name] for name in second if name != "prompt"} == {
            name: cue[name] for name in ("task", "repository", "snapshot", "basis", "freshness", "budget", "warnings")
        }
        assert ("cache_control" in request["messages"][0]["content"][0]) == step.startswith("cache")
        assert not data(folder, f"requests/{step}.json").endswith(b"\n")


def test_the_record_names_repository_basis_and_digests(prepare_once: Callable[..., str], shared_scene: Scene) -> None:
    folder = prepare_once()
    record = read(folder, "preparation.json")
    status = shared_scene.repocue("status", "-C", shared_scene.root).document
    assert record["repository"]["root"] == shared_scene.root
    assert record["repository"]["id"] == status["repository"]["id"]
    for name in ("status_digest", "repository_digest"):
        assert record["basis"][name] == status["basis"][name]
    assert record["benchmark_sha256"] == samples.digest(data(folder, "benchmark.json"))
    assert record["answer_schema_sha256"] == samples.digest(data(folder, "answer-schema.json"))


def test_what_is_printed_names_the_folder_and_every_step(scene: Scene) -> None:
    result = scene.prepare()
    reader.read(result.stdout, contract="repocue/cache-preparation-1", kind="prepared")
    folder = result.document["prepared_directory"]
    assert os.path.dirname(folder) == os.path.realpath(scene.evidence)
    assert result.document["steps"] == [
        {
            "id": step["id"],
            "arm": step["arm"],
            "request_sha256": samples.digest(data(folder, f"requests/{step['id']}.json")),
            "request_bytes": len(data(folder, f"requests/{step['id']}.json")),
            "reusable_identity": read(folder, f"requests/{step['id']}.record.json")["reusable_identity"],
        }
        for step in samples.benchmark()["steps"]
    ]
    assert len({step["reusable_identity"] for step in result.document["steps"]}) == 1
    assert result.document["warnings"] == []


def test_two_preparations_of_one_state_make_two_folders_with_the_same_requests_but_for_times(scene: Scene) -> None:
    first, second = scene.prepared(), scene.prepared()
    assert first != second
    for name in ("benchmark.json", "answer-schema.json", "cue.json", "requests/cache-a.json"):
        assert data(first, name) == data(second, name)


def test_a_commit_elsewhere_keeps_the_reusable_identity_and_a_changed_source_does_not(scene: Scene) -> None:
    first = scene.prepare().document["steps"][0]
    git(scene.root, "commit", "-q", "--allow-empty", "-m", "nothing")
    second = scene.prepare().document["steps"][0]
    assert second["reusable_identity"] == first["reusable_identity"]
    assert second["request_sha256"] != first["request_sha256"]
    with open(os.path.join(scene.root, "README.md"), "a", encoding="utf-8") as file:
        file.write("More.\n")
    git(scene.root, "commit", "-q", "-a", "-m", "more")
    assert scene.prepare().error["code"] == "evaluation.cue"  # the stand-in delivers what the declaration does not pin
    assert scene.repocue("task", "pin", "-C", scene.root).code == 0
    git(scene.root, "commit", "-q", "-a", "-m", "pinned")
    assert scene.prepare().document["steps"][0]["reusable_identity"] != first["reusable_identity"]


def test_preparation_changes_nothing_in_the_repository_and_needs_no_key(scene: Scene, tmp_path: Path) -> None:
    before = state_of(scene.root)
    log = tmp_path / "log"
    environment = {
        "FAKE_CUE_LOG": str(log),
        "ANTHROPIC_API_KEY": "sk-ant-never-handed-on",
        "GITHUB_TOKEN": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
    }
    assert scene.prepare(env=environment).code == 0
    assert state_of(scene.root) == before
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    assert [call["arguments"][0] for call in calls] == ["refresh", "cue"]
    for call in calls:
        assert not {"ANTHROPIC_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY"} & set(call["environment"])
        assert scene.root in call["arguments"]
    assert calls[1]["arguments"][calls[1]["arguments"].index("--max-tokens") + 1] == "20000"
    for name in tree(scene.evidence):
        assert b"never-handed-on" not in data(scene.evidence, name)


def test_uncommitted_work_beside_the_sources_is_no_obstacle(scene: Scene) -> None:
    with open(os.path.join(scene.root, "notes.txt"), "a", encoding="utf-8") as file:
        file.write("work in progress\n")
    folder = scene.prepared()
    assert read(folder, "cue.json")["freshness"] == "dirty-but-indexed"


def test_a_sparse_checkout_without_the_sources_is_prepared_and_run(scene: Scene, authority: Authority) -> None:
    git(scene.root, "sparse-checkout", "set", "--no-cone", "/notes.txt")
    assert sorted(os.listdir(scene.root)) == [".git", "notes.txt"]
    folder = scene.prepared()
    assert perform(scene, authority, folder, "https://127.0.0.1:1/")["outcome"] == "connect-failed"


def test_a_linked_worktree_and_a_subdirectory_are_prepared_as_the_work_tree_they_lie_in(scene: Scene) -> None:
    linked = str(scene.folder / "linked")
    git(scene.root, "worktree", "add", "-q", linked)
    assert scene.repocue("init", "-C", linked).code == 0
    scene.root = os.path.join(linked, "src")
    assert read(scene.prepared(), "preparation.json")["repository"]["root"] == os.path.realpath(linked)


def test_text_shows_which_steps_share_an_identity(shared_scene: Scene) -> None:
    result = shared_scene.prepare("--format", "text")
    rows = [line for line in result.stdout.decode().splitlines() if line.startswith(("baseline-", "cache-"))]
    assert len(rows) == 4
    assert len({row.split()[-1] for row in rows}) == 1


# --- warnings


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"rates": None}, "rates-missing"),
        ({"required_pairs": 2}, "required-pairs-unreachable"),
        ({"system": "Answer."}, "benchmark-id-not-told"),
    ],
)
def test_what_will_keep_a_verdict_from_being_reached_is_said_before_anything_is_spent(
    shared_scene: Scene, changes: dict[str, Any], name: str
) -> None:
    if "system" in changes:
        changes = changes | {"task": samples.task(question="What?"), "id": "benchmark-1"}
    result = shared_scene.prepare(**changes)
    assert result.code == 0
    assert [warning.partition(":")[0] for warning in result.document["warnings"]] == [name]


# --- what is refused, with nothing left


def left(scene: Scene) -> list[str]:
    return os.listdir(scene.evidence) if os.path.exists(scene.evidence) else []


@pytest.mark.parametrize("place", ["", "src", "new/deep", ".git/evidence", "link-in"])
def test_an_output_directory_inside_the_checkout_is_refused(scene: Scene, place: str) -> None:
    os.symlink(scene.root, scene.folder / "link-in")
    output = str(scene.folder / "link-in" / "new") if place == "link-in" else os.path.join(scene.root, place)
    before = git(scene.root, "status", "--porcelain", "--ignored")
    result = scene.prepare(output=output)
    assert (result.code, result.error["code"]) == (1, "evaluation.inside-checkout")
    assert git(scene.root, "status", "--porcelain", "--ignored") == before
    assert not os.path.exists(os.path.join(scene.root, "new"))


def test_an_uninitialised_cache_fails_and_stays_uninitialised(scene: Scene) -> None:
    empty = str(scene.folder / "empty-cache")
    result = scene.prepare("--cache-dir", empty)
    assert (result.code, result.error["code"]) == (1, "cache.not-initialized")
    assert scene.repocue("status", "-C", scene.root, "--cache-dir", empty).error["code"] == "cache.not-initialized"
    assert not os.path.exists(scene.evidence)  # made for nothing, and taken away again
    os.mkdir(scene.evidence)
    assert scene.prepare("--cache-dir", empty).code == 1
    assert left(scene) == []
    assert os.path.exists(scene.evidence)


@pytest.mark.parametrize(
    ("fault", "code", "named"),
    [
        ("other-bytes", "evaluation.source-changed", "README.md"),
        ("fewer-items", "evaluation.cue", "other items or sources"),
        ("other-summary", "evaluation.cue", "other items or sources"),
        ("other-kind", "evaluation.cue", "other items or sources"),
        ("other-tags", "evaluation.cue", "other items or sources"),
        ("other-declaration-id", "evaluation.cue", "other items or sources"),
        ("other-declaration", "evaluation.source-changed", ".repocue/task-context.json"),
        ("other-question", "evaluation.cue", "another task"),
        ("other-budget", "evaluation.cue", "20001, not 20000"),
        ("other-head", "evaluation.cue", "head"),
        ("other-snapshot", "evaluation.cue", "snapshot"),
        ("stale", "evaluation.cue", "refresh-needed"),
        ("touch-repository", "evaluation.repository-changed", "changed while"),
        ("exit", "evaluation.step-failed", "exited with code 7: it broke"),
        ("error", "budget.too-small", "too small"),
        ("not-canonical", "contract.not-canonical", "the task cue"),
        ("garbage", "contract.encoding", "the task cue"),
        ("silent", "contract.syntax", "the task cue"),
        ("flood", "evaluation.step-failed", "printed more than stdout may hold"),
    ],
)
def test_a_cue_that_is_not_the_one_asked_for_is_refused_and_nothing_is_left(
    shared_scene: Scene, tmp_path: Path, fault: str, code: str, named: str
) -> None:
    result = shared_scene.prepare(output=str(tmp_path), env={"FAKE_CUE": fault})
    if fault == "touch-repository":
        os.unlink(os.path.join(shared_scene.root, "untracked"))
    assert (result.code, result.error["code"]) == (1, code)
    assert named in result.error["message"]
    assert os.listdir(tmp_path) == []


def test_a_source_changed_in_the_work_tree_is_refused_by_name(scene: Scene) -> None:
    with open(os.path.join(scene.root, "README.md"), "a", encoding="utf-8") as file:
        file.write("x")
    result = scene.prepare()
    assert result.error["code"] == "evaluation.source-changed"
    assert "README.md" in result.error["message"]
    assert left(scene) == []


def test_an_output_directory_that_is_a_file_is_one_clear_error(shared_scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    for output, code in (("file", "evaluation.write-failed"), ("file/below", "evaluation.path")):
        result = shared_scene.prepare(output=str(tmp_path / output))
        assert (result.code, result.error["code"]) == (1, code)
    assert (tmp_path / "file").read_bytes() == b"mine"


def test_a_missing_executable_is_one_clear_error(scene: Scene) -> None:
    scene.fake = str(scene.folder / "no-such-program")
    result = scene.prepare()
    assert result.error["code"] == "process.not-started"
    assert left(scene) == []


def test_a_request_beyond_the_estimated_context_budget_is_refused_with_by_how_much(scene: Scene) -> None:
    cue_tokens = read(scene.prepared(), "cue.json")["budget"]["estimated_tokens"]
    shutil.rmtree(scene.evidence)
    result = scene.prepare(max_context_tokens=cue_tokens + 10)
    assert result.error["code"] == "budget.too-small"
    assert re.search(r"step baseline-a takes \d+ estimated tokens, \d+ more", result.error["message"])
    assert left(scene) == []


def test_a_benchmark_that_is_missing_a_folder_or_too_large_is_refused(scene: Scene) -> None:
    for name, content in (("missing.json", None), ("folder", "folder"), ("large.json", b" " * ((1 << 20) + 1))):
        path = scene.folder / name
        if content == "folder":
            path.mkdir()
        elif isinstance(content, bytes):
            path.write_bytes(content)
        result = scene.repocue(
            "evaluate-cache",
            "prepare",
            "-C",
            scene.root,
            "--benchmark-file",
            str(path),
            "--output-directory",
            scene.evidence,
        )
        assert (result.code, result.error["code"]) == (1, "evaluation.file")
    assert left(scene) == []


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"model": "claude-sonnet-9"}, "/model"),
        ({"api_version": "2026-10-21"}, "/api_version"),
        ({"ttl": "2h"}, "/ttl"),
        ({"max_output_tokens": 0}, "/max_output_tokens"),
        ({"task": samples.task("verification")}, "/task/kind"),
        ({"rates": samples.rates(date="2999-01-01")}, "/rates/date"),
        ({"rates": samples.rates("claude-opus-4-7")}, "/rates/model"),
        ({"rates": samples.rates(input="1e3")}, "/rates/input"),
        ({"rates": samples.rates(input="-1")}, "/rates/input"),
        ({"rates": samples.rates(input="1234567890.123")}, "/rates/input"),
        ({"unknown": 1}, "unknown"),
        ({"steps": samples.benchmark()["steps"][:3]}, "/steps"),
        ({"steps": [{"id": "x", "arm": "probe", "cycle": 1, "prompt": "a"}]}, "/steps/0/cycle"),
        ({"steps": [{"id": "x", "arm": "probe", "cycle": None, "prompt": "z"}]}, "/steps/0/prompt"),
        ({"steps": [{"id": "../x", "arm": "probe", "cycle": None, "prompt": "a"}]}, "/steps/0/id"),
    ],
)
def test_a_benchmark_that_breaks_its_contract_is_refused_with_the_place(
    shared_scene: Scene, changes: dict[str, Any], pointer: str
) -> None:
    output = str(shared_scene.folder / "never-made")
    result = shared_scene.prepare(output=output, **changes)
    assert result.code == 1
    assert result.error["code"].startswith("contract.")
    assert pointer in result.error["message"]
    assert not os.path.exists(output)


# --- bounds, each just inside and just outside, with small values


def benchmark_read(document: dict[str, Any], limits: CacheLimits) -> Any:
    return benchmarks.read(samples.encoded(document), limits=limits, today="2026-11-30", subject="the benchmark")


@pytest.mark.parametrize(
    ("name", "value", "inside"),
    [
        ("steps", 4, {}),
        ("max_output_tokens", 100, {"max_output_tokens": 100}),
        ("max_context_tokens", 50, {"max_context_tokens": 50}),
    ],
)
def test_numbers_of_the_benchmark_are_bounded(name: str, value: int, inside: dict[str, Any]) -> None:
    document = samples.benchmark(**inside)
    benchmark_read(document, replace(DEFAULT_LIMITS, **{name: value}))
    with pytest.raises(EvaluationError, match=name):
        benchmark_read(document, replace(DEFAULT_LIMITS, **{name: value - 1}))


def test_size_and_depth_of_the_benchmark_are_bounded() -> None:
    document = samples.benchmark()
    size = len(samples.encoded(document))
    benchmark_read(document, replace(DEFAULT_LIMITS, benchmark_bytes=size, json_depth=4))
    for limits in (replace(DEFAULT_LIMITS, benchmark_bytes=size - 1), replace(DEFAULT_LIMITS, json_depth=3)):
        with pytest.raises(RepoCueError):
            benchmark_read(document, limits)


def test_a_step_id_that_would_name_another_steps_record_is_refused() -> None:
    steps = [{"id": "x.record", "arm": "probe", "cycle": None, "prompt": "a"}]
    with pytest.raises(EvaluationError, match=r"x\.record"):
        benchmark_read(samples.benchmark(steps=steps), DEFAULT_LIMITS)


def test_number_and_size_of_sources_are_bounded() -> None:
    cue = samples.cue()
    largest = max(len(samples.README.encode()), 1)
    assert sources.source_sizes(cue) == {
        "README.md": len(samples.README.encode()),
        "README.md#L1-L1": len(b"# Sample\n"),
        "src/main.py#L1-L1": len(b"import sys\n"),
        "src/main.py#L4-L5": len(b"def main():\n    print(len(sys.argv))\n"),
    }
    sources.check_bounds(cue, replace(DEFAULT_LIMITS, sources=4, source_bytes=largest))
    with pytest.raises(EvaluationError, match="4 sources"):
        sources.check_bounds(cue, replace(DEFAULT_LIMITS, sources=3))
    with pytest.raises(EvaluationError, match=r"README\.md"):
        sources.check_bounds(cue, replace(DEFAULT_LIMITS, source_bytes=largest - 1))


def test_size_and_estimated_tokens_of_a_request_are_bounded() -> None:
    benchmark = benchmark_read(samples.benchmark(max_context_tokens=25), DEFAULT_LIMITS)
    small = replace(DEFAULT_LIMITS, send=SendLimits(request_bytes=100))
    benchmarks.check_request("x", b"x" * 100, benchmark=benchmark, limits=small)
    with pytest.raises(BudgetTooSmall, match="26 estimated tokens, 1 more"):
        benchmarks.check_request("x", b"x" * 101, benchmark=benchmark, limits=DEFAULT_LIMITS)
    with pytest.raises(EvaluationError, match="101 bytes, 1 more"):
        benchmarks.check_request("x", b"x" * 101, benchmark=benchmark, limits=small)


@pytest.fixture
def slow_cue(scene: Scene) -> Any:
    """Preparation in this process, where the time of a child can be bounded by a fraction of a second."""
    import repocue
    from repocue.evaluation.cache.prepare import Preparation, prepare
    from repocue.git import worktree

    def run(child_s: float) -> Any:
        return prepare(
            Preparation(
                worktree=worktree.find(scene.root, scene.env),
                benchmark_file=scene.benchmark_file(),
                output_directory=scene.evidence,
                command=[scene.fake],
                cache_dir=os.path.join(scene.env["XDG_CACHE_HOME"], "repocue"),
                environ=scene.env | {"FAKE_CUE": "hang"},
                version=repocue.__version__,
                now_ms=lambda: 1_796_000_000_000,
                limits=replace(DEFAULT_LIMITS, child_s=child_s),
            )
        )

    return run


def test_a_cue_that_hangs_is_killed_at_its_bound(scene: Scene, slow_cue: Any) -> None:
    with pytest.raises(EvaluationError, match="task cue ran longer than it may"):
        slow_cue(6)
    assert left(scene) == []
