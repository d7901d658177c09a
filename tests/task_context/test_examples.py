"""RepoCue's own declaration and the three example benchmarks are real: pins hold, commands print what was recorded."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from repocue.contracts import reader
from tests.support.repos import git

PROJECT = Path(__file__).parents[2]
EXAMPLES = PROJECT / "docs" / "benchmarks" / "task-context-v1"
KINDS = ("discovery", "verification", "explanation")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a stranger's clone would hold: this project's tracked files, in a repository of their own."""
    root = tmp_path_factory.mktemp("own") / "repocue"
    listed = git(PROJECT, "ls-files", "-z", "--", "src", "docs", ".repocue").split(b"\0")[:-1]
    for name in listed:
        if not (PROJECT / name.decode()).exists():
            continue
        target = root / name.decode()
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((PROJECT / name.decode()).read_bytes())
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "all")
    return str(root)


def example(kind: str) -> dict[str, Any]:
    path = EXAMPLES / f"{kind}.json"
    return reader.read(path.read_bytes(), contract="repocue/task-benchmark-1", subject=str(path))


def test_every_pin_of_our_own_declaration_holds(
    checkout: str, repocue: Callable[..., subprocess.CompletedProcess[bytes]]
) -> None:
    done = repocue("task", "check", "--format", "text", cwd=checkout)
    assert done.returncode == 0, done.stdout.decode() + "\nReview the changes, then run: repocue task pin"


@pytest.mark.parametrize("kind", KINDS)
def test_each_example_selects_sources_that_fit_its_budget(
    checkout: str, repocue: Callable[..., subprocess.CompletedProcess[bytes]], kind: str
) -> None:
    document = example(kind)
    assert document["task"]["kind"] == kind
    assert repocue("init", cwd=checkout).returncode == 0
    tokens = str(document["task_context"]["max_tokens"])
    done = repocue(
        "cue", "--view", "task", "--task-file", EXAMPLES / f"{kind}.json", "--max-tokens", tokens, cwd=checkout
    )
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout)["task"]["id"] == document["task"]["id"]


def test_the_frozen_commands_print_what_was_recorded(checkout: str) -> None:
    for command in example("verification")["verification"]["commands"]:
        argv = command["argv"]
        assert argv[0] == "git"
        done = subprocess.run(argv, cwd=checkout, capture_output=True)
        output = done.stdout + done.stderr
        assert done.returncode == command["expected_exit"], command["id"]
        assert len(output) == command["expected_output_bytes"], command["id"]
        assert "sha256:" + sha256(output).hexdigest() == command["expected_output_sha256"], command["id"]


def test_the_example_policy_illustrates_the_form_and_claims_no_price() -> None:
    policy = reader.read((EXAMPLES / "policy.json").read_bytes(), contract="repocue/task-policy-1")
    assert policy["rates"] is None
    assert "Example only" in policy["spending_conditions"]
