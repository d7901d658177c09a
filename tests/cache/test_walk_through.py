"""The documented walk-through, command by command, on RepoCue's own declaration; the examples and figures beside it."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from repocue.contracts import reader
from repocue.evaluation.cache.limits import DEFAULT_LIMITS
from repocue.evaluation.shared import answers, task_cues
from tests.cache import samples
from tests.cache.provider import Authority, Peer, Provider
from tests.cache.test_summary import READS, WRITES, bundle
from tests.support.environment import isolated_environment
from tests.support.repos import RepoBuilder, git

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "prompt-cache-evaluation.md"
EXAMPLES = ROOT / "docs" / "benchmarks" / "prompt-cache-v1"
DECLARATION = ".repocue/task-context.json"


def walk_through() -> list[str]:
    """The page's shell blocks that are marked as part of it."""
    blocks = re.findall(
        r"^```sh\n# walk-through\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert len(blocks) == 2
    return blocks


def source_id(source: dict[str, Any]) -> str:
    return str(source["path"]) + ("" if source["lines"] is None else "#L{}-L{}".format(*source["lines"]))


def selected(benchmark: dict[str, Any]) -> dict[str, list[str]]:
    """The items that the example's tags take from the project's declaration, worked out here."""
    declaration = json.loads((ROOT / DECLARATION).read_bytes())
    tags = set(benchmark["task"]["selector"]["tags"])
    return {
        item["id"]: [source_id(source) for source in item["sources"]]
        for item in declaration["items"]
        if tags & set(item["tags"])
    }


@pytest.fixture
def own_checkout(tmp_path: Path, repocue_exe: list[str]) -> tuple[str, dict[str, str]]:
    """The project's declaration and its sources as they are, committed and pinned, with an initialised cache; and an
    environment in which `repocue` is on PATH."""
    declaration = json.loads((ROOT / DECLARATION).read_bytes())
    paths = {source["path"] for item in declaration["items"] for source in item["sources"]}
    files = {path: (ROOT / path).read_bytes() for path in {DECLARATION, *paths}}
    root = RepoBuilder(tmp_path / "checkout").commit("RepoCue", files).build()
    (tmp_path / "bin").mkdir()
    wrapper = tmp_path / "bin" / "repocue"
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(repocue_exe)} "$@"\n')
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "home").mkdir()
    environment = isolated_environment(str(tmp_path / "home"))
    environment["PATH"] = os.pathsep.join([str(tmp_path / "bin"), os.path.dirname(sys.executable), environment["PATH"]])
    subprocess.run(["repocue", "task", "pin"], cwd=root, env=environment, check=True, capture_output=True)
    if git(root, "status", "--porcelain"):
        git(root, "commit", "-q", "-a", "-m", "Pin")
    subprocess.run(["repocue", "init"], cwd=root, env=environment, check=True, capture_output=True)
    return root, environment


def test_the_documented_walk_through_ends_in_a_verdict(
    own_checkout: tuple[str, dict[str, str]], authority: Authority, tmp_path: Path
) -> None:
    root, environment = own_checkout
    benchmark = json.loads((EXAMPLES / "discovery.json").read_bytes())
    benchmark["rates"] = samples.rates(benchmark["model"])
    (tmp_path / "benchmark.json").write_bytes(samples.encoded(benchmark))
    required = selected(benchmark)
    answer = {
        "schema_version": "repocue/cache-answer-1",
        "benchmark_id": benchmark["id"],
        "items": [{"id": name, "sources": sources} for name, sources in required.items()],
        "claims": [{"text": "It is so.", "sources": sources[:1]} for sources in required.values()],
        "uncertainties": [],
    }

    def script(peer: Peer) -> None:
        request = json.loads(peer.read_request().partition(b"\r\n\r\n")[2])
        first, second = request["messages"][0]["content"]
        asked = json.loads(second["text"])["prompt"]["id"]
        usage = samples.usage() if "cache_control" not in first else WRITES if asked == "a" else READS
        peer.respond(samples.encoded(samples.message(json.dumps(answer), usage=usage, model=request["model"])))

    first, second = walk_through()
    with Provider(authority.server(), script) as provider:
        variables = {
            "benchmark": str(tmp_path / "benchmark.json"),
            "evidence": str(tmp_path / "evidence"),
            "endpoint": f"--endpoint {provider.url()} --endpoint-ca {authority.file}",
            "assessment": str(tmp_path / "assessment.json"),
            "ANTHROPIC_API_KEY": "sk-ant-loopback-fixture-only-0123456789",
        }
        done = subprocess.run(
            ["sh", "-euc", first], cwd=root, env=environment | variables, capture_output=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        assert not provider.failures
        assert len(provider.requests) == 4
    *observations, summary = [json.loads(line) for line in done.stdout.splitlines()]
    assert [seen["outcome"] for seen in observations] == ["complete"] * 4
    assert [step["reasons"] for step in summary["steps"]] == [[]] * 4
    assert summary["pairs"][0]["quality"] == {"delivery": True, "correctness": True, "compliance": None}
    bundle(summary, tmp_path / "assessment.json")
    prepared = json.loads((tmp_path / "evidence.json").read_bytes())["prepared_directory"]
    done = subprocess.run(
        ["sh", "-euc", second],
        cwd="/",
        env=environment | variables | {"prepared": prepared},
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    verdict = json.loads(done.stdout)["verdict"]
    assert verdict == {"status": "savings", "reasons": ["median-difference-usd: 0.0014 over 1 complete cycles"]}
    assert git(root, "status", "--porcelain") == b""


@pytest.mark.parametrize("name", ["discovery", "explanation"])
def test_the_example_benchmarks_are_prepared_on_the_projects_own_declaration(
    name: str, own_checkout: tuple[str, dict[str, str]], tmp_path: Path
) -> None:
    root, environment = own_checkout
    done = subprocess.run(
        [
            *("repocue", "evaluate-cache", "prepare"),
            *("--benchmark-file", str(EXAMPLES / f"{name}.json")),
            *("--output-directory", str(tmp_path / "evidence")),
        ],
        cwd=root,
        env=environment,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [warning.partition(":")[0] for warning in document["warnings"]] == ["rates-missing"]
    with open(os.path.join(document["prepared_directory"], "cue.json"), "rb") as file:
        cue = json.load(file)
    benchmark = json.loads((EXAMPLES / f"{name}.json").read_bytes())
    assert {key: sorted(value) for key, value in task_cues.required_items(cue).items()} == {
        key: sorted(value) for key, value in selected(benchmark).items()
    }


def test_the_illustrative_answer_keeps_its_contract_answers_the_example_and_says_what_it_is() -> None:
    data = (EXAMPLES / "answer-illustrative.json").read_bytes()
    answer = reader.read(data, contract="repocue/cache-answer-1")
    benchmark = json.loads((EXAMPLES / "discovery.json").read_bytes())
    assert answer["benchmark_id"] == benchmark["id"]
    assert answers.discovery_faults(answer, selected(benchmark)) == []
    assert all("Illustrative" in claim["text"] for claim in answer["claims"])


def test_the_examples_have_no_rates_and_tell_the_model_the_benchmarks_id() -> None:
    for name in ("discovery", "explanation"):
        benchmark = json.loads((EXAMPLES / f"{name}.json").read_bytes())
        assert benchmark["rates"] is None
        assert benchmark["id"] in benchmark["system"]


def test_the_page_states_the_bounds_that_hold() -> None:
    text = PAGE.read_text(encoding="utf-8").replace(" ", "")
    send = DEFAULT_LIMITS.send
    for row in (
        f"|requestbody|{send.request_bytes}bytes|",
        f"|responsebody|{send.response_body_bytes}bytes|",
        f"|responseheaderfields|{send.header_fields},together{send.header_bytes}bytes|",
        f"|namelook-up,connectingandTLS|{send.connect_s:.0f}s|",
        f"|wholerequest|{send.request_s:.0f}s|",
        f"|benchmarkfile,assessmentfile|{DEFAULT_LIMITS.benchmark_bytes}byteseach|",
        f"|steps|{DEFAULT_LIMITS.steps}|",
        f"|sources|{DEFAULT_LIMITS.sources},each{DEFAULT_LIMITS.source_bytes}bytes|",
        f"|`max_output_tokens`|{DEFAULT_LIMITS.max_output_tokens}|",
        f"|`max_context_tokens`|{DEFAULT_LIMITS.max_context_tokens}|",
        f"|counters|{2**53 - 1}|",
        f"|JSONdepth|{DEFAULT_LIMITS.json_depth}|",
        f"|arefreshorcueprocess|{DEFAULT_LIMITS.child_s:.0f}s,{DEFAULT_LIMITS.child_stdout_bytes}bytesofoutput|",
    ):
        assert row in text


def test_every_link_of_the_page_leads_to_something() -> None:
    for page in (PAGE, EXAMPLES / "README.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), target
