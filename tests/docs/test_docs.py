"""Docs cannot lie: every session in them is run again, and every example of a command is one that it takes.

A session is a ```console block. It runs on a terminal in a checkout with the shape of pallets/click (166 files), the
blocks of one page one after another. Figures that differ from run to run (durations, times, the test's own folders) are
made alike on both sides, and `…` stands for anything: within a line, or for whole lines on a line of its own.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from hashlib import sha256
from pathlib import Path

import click
import pytest

from repocue.cli.app import SECTIONS, Command, Group, repocue_command
from tests.contracts import documents
from tests.support.repos import RepoBuilder, corpus_repository, git
from tests.support.terminal import on_terminal

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pages() -> list[str]:
    """README.md and the hand-written pages under docs/ that hold a session."""
    found = ["README.md", "ARCHITECTURE.md"]
    for folder, _, names in os.walk(os.path.join(PROJECT, "docs")):
        found += [os.path.relpath(os.path.join(folder, name), PROJECT) for name in names if name.endswith(".md")]
    return sorted(page for page in found if BLOCK.search(read(page)))


def read(page: str) -> str:
    return Path(PROJECT, page).read_text(encoding="utf-8")


def steps(block: str) -> list[tuple[str, str]]:
    """(command, what the page says it prints) of one block."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif found and found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1] = (found[-1][0] + "\n" + line, "")
        else:
            command, output = found[-1]
            found[-1] = (command, output + line + "\n")
    return found


ALIKE = (
    (re.compile(r" *[0-9]+(\.[0-9]+)? ms\b"), " N ms"),
    (re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}Z"), "TIME"),
    (re.compile(r"\brepo-[0-9a-f]{24}\b"), "REPO"),
    (re.compile(r"sha256:[0-9a-f]{64}\b"), "DIGEST"),
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
)


def alike(text: str) -> str:
    for pattern, replacement in ALIKE:
        text = pattern.sub(replacement, text)
    return text


def pattern_of(expected: str) -> str:
    """The regular expression that a page's output stands for."""
    lines = [
        r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line).replace("…", ".*") + r"\n"
        for line in alike(expected).splitlines()
    ]
    return "".join(lines)


def with_repocue(tmp_path: Path, env: dict[str, str], repocue_exe: list[str]) -> dict[str, str]:
    """`env` with a `repocue` on PATH that shows no progress bars, which a slow machine would add to what is printed."""
    tools = tmp_path / "bin"
    tools.mkdir()
    script = tools / "repocue"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(repocue_exe)} --quiet "$@"\n')
    script.chmod(0o755)
    return {**env, "PATH": f"{tools}{os.pathsep}{env['PATH']}"}


@pytest.fixture
def checkout(tmp_path: Path) -> str:
    return corpus_repository("click", tmp_path / "click")


@pytest.mark.parametrize("page", pages())
def test_every_session_on_a_page_prints_what_the_page_says(
    page: str, checkout: str, tmp_path: Path, env: dict[str, str], repocue_exe: list[str]
) -> None:
    env = with_repocue(tmp_path, env, repocue_exe)
    for block in BLOCK.findall(read(page)):
        for command, expected in steps(block):
            _, shown = on_terminal(["bash", "-c", command], cwd=checkout, env=env)
            shown = alike(shown.replace(checkout, "/home/ada/click").replace(env["HOME"], "/home/ada"))
            assert re.fullmatch(pattern_of(expected), shown), f"$ {command}\n{shown}"


def test_the_readme_holds_a_session() -> None:
    assert "README.md" in pages()


def commands() -> list[tuple[str, str]]:
    """(command path, example) of every example of every command."""
    found: list[tuple[str, str]] = []
    pending = [click.Context(repocue_command, info_name="repocue")]
    while pending:
        context = pending.pop()
        if isinstance(context.command, Command | Group):
            found += [(context.command_path, example) for example in context.command.examples]
        if isinstance(context.command, click.Group):
            for name in context.command.list_commands(context):
                child = context.command.get_command(context, name)
                assert child is not None
                pending.append(click.Context(child, parent=context, info_name=name))
    return sorted(found)


def words(example: str) -> list[list[str]]:
    """The arguments of every `repocue` in an example line, without pipes and redirections."""
    found: list[list[str]] = []
    for word in shlex.split(re.sub(r"[0-9]?>+\s*\S+", "", example)):
        if word == "repocue":
            found.append([])
        elif word in ("|", "||", "&&", ";"):
            found.append([])  # until the next `repocue` these are someone else's words
        elif found:
            found[-1].append(word)
    return [arguments for arguments in found if arguments and arguments[0] in {n for _, ns in SECTIONS for n in ns}]


@pytest.mark.parametrize(("path", "example"), commands(), ids=lambda value: value)
def test_every_example_is_one_that_its_command_takes(
    path: str, example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    calls = words(example)
    assert calls
    assert any(["repocue", *call][: len(path.split())] == path.split() for call in calls)
    for call in calls:
        context = click.Context(repocue_command, info_name="repocue")
        command: click.Command = repocue_command
        rest = call
        while isinstance(command, click.Group) and rest and command.get_command(context, rest[0]):
            found = command.get_command(context, rest[0])
            assert found is not None
            command, rest = found, rest[1:]
        command.make_context(command.name or "", rest, parent=context)


EVERYDAY = ("init", "status", "refresh", "rebaseline", "metrics", "cue", "evaluate", "schema")


def test_the_everyday_examples_run(tmp_path: Path, env: dict[str, str], repocue_exe: list[str]) -> None:
    declaration = {
        "schema_version": "repocue/task-context-1",
        "id": "example",
        "items": [
            {
                "id": "readme",
                "kind": "document",
                "summary": "What this is.",
                "tags": ["contracts"],
                "sources": [{"path": "README.md", "lines": None, "sha256": f"sha256:{sha256(b'# R').hexdigest()}"}],
            }
        ],
    }
    files = {"README.md": b"# R", ".repocue/task-context.json": json.dumps(declaration)}
    root = RepoBuilder(tmp_path / "path" / "to" / "repository").commit("one", files).build()
    env = with_repocue(tmp_path, env, repocue_exe)
    assert on_terminal(["repocue", "init", "-C", root], cwd=tmp_path, env=env)[0] == 0
    git(root, "commit", "-q", "--allow-empty", "-m", "two")
    Path(root, "task.json").write_text(json.dumps(documents.ALL["task-1"]()))
    ran = 0
    for name in EVERYDAY:
        for path, example in commands():
            if path.split()[1:2] != [name]:
                continue
            where = tmp_path if "path/to" in example else Path(root)
            code, shown = on_terminal(["bash", "-c", example], cwd=where, env=env)
            assert code in (0, 3), f"{example}\n{shown}"
            ran += 1
    assert ran >= len(EVERYDAY)


def test_the_readme_leads_to_every_page_and_the_changelog_names_every_command() -> None:
    readme = read("README.md")
    pages = [page for page in os.listdir(os.path.join(PROJECT, "docs")) if page.endswith(".md")]
    assert pages
    assert [page for page in sorted(pages) if f"](docs/{page})" not in readme] == []
    changes = read("CHANGELOG.md")
    named = " ".join(re.findall(r"`[^`]+`", changes))
    assert [name for _, names in SECTIONS for name in names if not re.search(rf"`(repocue )?{name}[` ]", named)] == []


def test_every_link_between_pages_leads_somewhere() -> None:
    all_pages = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"]
    for folder, _, names in os.walk(os.path.join(PROJECT, "docs")):
        all_pages += [os.path.relpath(os.path.join(folder, name), PROJECT) for name in names if name.endswith(".md")]
    for page in all_pages:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", read(page)):
            if "://" not in target:
                path = os.path.join(PROJECT, os.path.dirname(page), target)
                assert os.path.exists(path), f"{page} links to {target}"
