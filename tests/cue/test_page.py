"""docs/cue-rules.md names every warning that a cue can carry, and every view."""

from __future__ import annotations

import os
import re

import repocue
from repocue.cli.commands.cue import VIEWS

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "docs", "cue-rules.md")
SOURCES = (
    "cue",
    "git/facts.py",
    "git/warnings.py",
    "cli/commands/cue.py",
    "maintenance/status.py",
    "maintenance/transitions.py",
)


def test_the_page_names_every_warning_and_view() -> None:
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    found: set[str] = set()
    root = os.path.dirname(repocue.__file__)
    for source in SOURCES:
        path = os.path.join(root, source)
        names = [path] if path.endswith(".py") else [os.path.join(path, name) for name in os.listdir(path)]
        for name in names:
            if name.endswith(".py"):
                with open(name, encoding="utf-8") as file:
                    found |= set(re.findall(r'(?:"|=")([a-z]+(?:-[a-z]+)+)"', file.read()))
    codes = {code for code in found if not code.startswith(("rev-", "ls-", "dirty-", "refresh-", "already-"))}
    assert {"head-moved", "hidden-edits", "documents-omitted", "files-not-read"} <= codes
    for code in codes:
        assert f"`{code}`" in page or f"`{code.removesuffix('-omitted')}`" in page, code
    for view in VIEWS:
        assert f"\n| {view} |" in page, view
