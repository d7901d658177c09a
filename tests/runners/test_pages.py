"""The pages on runners cannot lie: their example runs, and their table of commands is what the classifier says."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from repocue.contracts.rules.runner import Expected, read_observation
from repocue.runners import Classifier
from repocue.runners.protocol import EVALUATION_NAMES
from tests.support import agents
from tests.support.environment import isolated_environment

PROJECT = Path(__file__).parent.parent.parent
DOCS = PROJECT / "docs"
EXAMPLE = DOCS / "examples" / "runner.py"
AGENTS_PAGE = (DOCS / "agents.md").read_text(encoding="utf-8")
RUNNER_PAGE = (DOCS / "write-a-runner.md").read_text(encoding="utf-8")

SCRIPTED_AGENT = """#!/bin/sh
cat > prompt-it-got
cat reply
exit "$(cat code)"
"""


def test_the_page_shows_the_example_as_it_is_in_at_most_forty_lines() -> None:
    (shown,) = re.findall(r"```python\n(.*?)```", RUNNER_PAGE, re.DOTALL)
    assert shown == EXAMPLE.read_text(encoding="utf-8")
    assert len(shown.splitlines()) <= 40


@pytest.mark.parametrize("condition", ["direct", "ranked"])
def test_the_example_runs_an_agent_and_prints_one_valid_observation(tmp_path: Path, condition: str) -> None:
    root = agents.small_repository(tmp_path / "repo")
    place = Path(root)
    answer = agents.benchmark_answer(root)
    reply = {"answer": answer, "model": "scripted", "usage": {"input": 100, "output": 7}}
    (tmp_path / "agent").write_text(SCRIPTED_AGENT)
    (tmp_path / "agent").chmod(0o755)
    (place / "reply").write_text(json.dumps(reply))
    (place / "code").write_text("0")
    env = isolated_environment(str(tmp_path)) | agents.evaluation_environment(tmp_path, root, condition)
    env |= {"MY_AGENT": str(tmp_path / "agent"), "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    ran = agents.run_runner([sys.executable, str(EXAMPLE)], env, root)
    expected = Expected(condition=condition, run_index=1, head=agents.head(root), snapshot=agents.SNAPSHOT)
    observation = read_observation(ran.stdout, expected=expected)
    assert observation["final_response"] == answer
    assert observation["metrics"]["total_tokens"] == 107
    assert observation["metrics"]["statuses"]["cached_input_tokens"] == "not_observed"
    assert "command_executions" not in observation["metrics"]
    prompt = (place / "prompt-it-got").read_bytes()
    assert prompt == agents.TASK if condition == "direct" else prompt.endswith(agents.CUE)
    (place / "code").write_text("3")
    assert agents.run_runner([sys.executable, str(EXAMPLE)], env, root).error.startswith("the agent exited with code 3")
    (place / "code").write_text("0")
    (place / "reply").write_text(json.dumps(reply | {"answer": {}}))
    assert "final_response" in agents.run_runner([sys.executable, str(EXAMPLE)], env, root).error


def test_every_variable_of_the_protocol_is_on_the_page() -> None:
    for name in EVALUATION_NAMES:
        assert f"`REPOCUE_EVAL_{name}`" in RUNNER_PAGE


def test_the_table_of_commands_is_what_the_classifier_says(tmp_path: Path) -> None:
    root = agents.small_repository(tmp_path / "repo")
    section = AGENTS_PAGE.partition("| text | class | files named |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(.*)` \| (\S+) \| (.*?) ?\|$", section, re.MULTILINE)
    assert len(rows) >= 15
    classifier = Classifier(root)
    for text, classification, files in rows:
        made = classifier.shell(text.replace("\\|", "|"))
        assert (made.classification, ", ".join(file.path for file in made.files)) == (classification, files), text


def test_every_finding_has_a_row_on_the_page() -> None:
    sources = "".join(
        path.read_text(encoding="utf-8") for path in (PROJECT / "src" / "repocue" / "runners").rglob("*.py")
    )
    made = set(re.findall(r"\b(?:info|warning)\(\s*\"([a-z-]+)\"", sources))
    assert len(made) > 15
    listed = set(re.findall(r"`([a-z-]+)`", AGENTS_PAGE.partition("## What a finding means")[2].partition("\n## ")[0]))
    assert made == listed
