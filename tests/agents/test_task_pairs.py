"""Whole task comparisons through the real programs: a pair of each kind, as a user runs it, on a scripted provider."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.evaluate_task.conftest import build_scene
from tests.evaluate_task.scene import COMMANDS, RATES, Scene, answer, bundle, policy, summary
from tests.support import agents
from tests.support import fake_anthropic as anthropic
from tests.support import fake_openai as openai
from tests.support.repos import git
from tests.support.scripted_provider import Provider, Step

pytestmark = pytest.mark.agents

MODEL = "gpt-5.5"


@pytest.fixture
def scene(tmp_path: Path, repocue_exe: list[str]) -> Scene:
    made = build_scene(tmp_path, repocue_exe)
    (tmp_path / "home" / "tmp").mkdir(exist_ok=True)
    made.env["TMPDIR"] = str(tmp_path / "home" / "tmp")
    return made


Runs = Callable[..., dict[str, Any]]


@pytest.fixture
def through_codex(scene: Scene, script: Callable[[str], list[str]]) -> Runs:
    """`through_codex(kind, steps)`: the printed document of one pair, each arm answered by the next of `steps`."""

    def run(kind: str, steps: list[Step]) -> dict[str, Any]:
        paid = policy(cli_version=agents.pinned("codex"), model=MODEL, rates=RATES | {"model": MODEL})
        with Provider(steps) as provider:
            flags = openai.provider_flags(provider.url)
            variables = {
                "REPOCUE_CODEX_BIN": agents.wrapper(scene.folder / "codex", agents.codex_binary(), "exec", flags),
                openai.KEY_VARIABLE: "no-secret",
            }
            runner = script("repocue-codex-runner")[0]
            result = scene.evaluate("--runner", runner, kind=kind, paid=paid, env=variables)
        assert result.code == 0, (result.stdout, result.stderr)
        assert provider.surplus == 0
        items = [item for request in provider.requests for item in request.json["input"]]
        prompts = [part.get("text") for item in items for part in item.get("content", [])]
        folder = result.document["prepared_directory"]
        task = Path(folder, "task.txt").read_text()
        for one in result.document["prompts"]:
            assert task + "\n\n" + Path(folder, f"cue-{one['arm']}.json").read_text() in prompts
        document: dict[str, Any] = result.document
        return document

    return run


def credits(turns: list[tuple[int, int, int]]) -> Fraction:
    """The seed's formula over (input, cached, output) of each request."""
    total, cached, output = (sum(turn[place] for turn in turns) for place in range(3))
    rates = [Fraction(RATES[name]) for name in ("input", "cached_input", "output")]
    return ((total - cached) * rates[0] + cached * rates[1] + output * rates[2]) / 1_000_000


def check(document: dict[str, Any], kind: str, turns: list[tuple[int, int, int]]) -> None:
    folder = document["prepared_directory"]
    assert [one["outcome"] for one in document["attempts"]] == ["complete", "complete"]
    found = summary(folder, bundle=bundle(summary(folder)))
    (pair,) = found["pairs"]
    for one in pair["attempts"]:
        assert one["facts"] == {"provision": True, "execution": True, "correctness": True, "compliance": True}, one
        assert Fraction(one["credits"]) == credits(turns)
        assert one["runner"]["adapter"] == "repocue-codex-runner"
        assert one["runner"]["cli_version"] == agents.pinned("codex")
    (group,) = found["groups"]
    assert (group["task_kind"], group["evidence"]) == (kind, "exploratory")
    assert group["metrics"]["credits"]["difference"]["median"] == "0"


@pytest.mark.parametrize("kind", ["explanation", "discovery"])
def test_a_pair_of_answers_through_the_real_codex(scene: Scene, through_codex: Runs, kind: str) -> None:
    look = openai.answer(openai.command("cat README.md"), used=openai.usage(900, 20, cached=300))
    say = openai.answer(openai.message(json.dumps(answer(kind))), used=openai.usage(1200, 80, cached=900, reasoning=9))
    document = through_codex(kind, [look, say] * 2)
    check(document, kind, [(900, 300, 20), (1200, 900, 80)])
    assert git(scene.root, "status", "--porcelain") == b""


def test_a_pair_of_verifications_through_the_real_codex(scene: Scene, through_codex: Runs) -> None:
    texts = ["git show HEAD:README.md", "git grep -l 'nowhere to be found'"]
    runs = [openai.answer(openai.command(text), used=openai.usage(500, 10, cached=100)) for text in texts]
    say = openai.answer(openai.message(json.dumps(answer("verification"))), used=openai.usage(700, 60, cached=400))
    document = through_codex("verification", [*runs, say] * 2)
    check(document, "verification", [(500, 100, 10), (500, 100, 10), (700, 400, 60)])
    (pair,) = summary(document["prepared_directory"])["pairs"]
    assert [one["status"] for one in pair["attempts"][0]["commands"]] == ["verified"] * len(COMMANDS)


def test_a_failing_provider_fails_the_first_attempt_and_starts_no_second(
    scene: Scene, script: Callable[[str], list[str]]
) -> None:
    paid = policy(cli_version=agents.pinned("codex"), model=MODEL)
    with Provider([openai.error(500, "fake 500")]) as provider:
        flags = openai.provider_flags(provider.url)
        variables = {
            "REPOCUE_CODEX_BIN": agents.wrapper(scene.folder / "codex", agents.codex_binary(), "exec", flags),
            openai.KEY_VARIABLE: "no-secret",
        }
        result = scene.evaluate("--runner", script("repocue-codex-runner")[0], paid=paid, env=variables)
    assert result.code == 1
    assert [one["outcome"] for one in result.document["attempts"]] == ["runner-failed"]
    folder = result.document["prepared_directory"]
    assert b"turn.failed" in Path(folder, "attempts", "1-overview", "evidence", "provider-stdout").read_bytes()
    assert len(provider.requests) == 1
    (inventory,) = summary(folder)["inventory"]
    assert (inventory["adapter"], inventory["complete_total_tokens"]) == (None, None)


def test_a_pair_through_the_real_claude_code_has_tokens_and_no_credits(
    scene: Scene, script: Callable[[str], list[str]]
) -> None:
    model = "claude-opus-4-6"
    paid = policy(cli_version=agents.pinned("claude"), model=model, rates=RATES | {"model": model})
    say = anthropic.answer(
        anthropic.structured(answer("discovery")), used=anthropic.usage(50, 20, read=1000, written=10), model=model
    )
    with Provider([say, say]) as provider:
        variables = {
            "REPOCUE_CLAUDE_BIN": agents.claude_binary(),
            "ANTHROPIC_BASE_URL": provider.url,
            "ANTHROPIC_API_KEY": "no-secret",
            "CLAUDE_CODE_MAX_RETRIES": "0",
        }
        runner = script("repocue-claude-runner")[0]
        result = scene.evaluate("--runner", runner, kind="discovery", paid=paid, env=variables)
    assert result.code == 0, (result.stdout, result.stderr)
    (pair,) = summary(result.document["prepared_directory"])["pairs"]
    for one in pair["attempts"]:
        assert one["facts"]["correctness"] is True, one
        assert one["usage"]["input_tokens"] == 50 + 1000 + 10
        assert one["credits"] is None
        assert "credits-not-codex: credits exist for Codex observations only" in one["reasons"]
    assert git(scene.root, "status", "--porcelain") == b""
