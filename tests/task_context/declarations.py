"""Declarations and repositories for the tests of task context."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from tests.support.repos import Entry, RepoBuilder

PATH = ".repocue/task-context.json"
Lines = tuple[int, int] | None


def pin_of(data: bytes, lines: Lines = None) -> str:
    """The pin of some bytes, by the rule alone: lines end with their LF."""
    if lines is not None:
        data = b"".join(data.splitlines(keepends=True)[lines[0] - 1 : lines[1]])  # test files end lines with LF only
    return "sha256:" + sha256(data).hexdigest()


def source(path: str, data: bytes, lines: Lines = None) -> dict[str, Any]:
    return {"path": path, "lines": list(lines) if lines else None, "sha256": pin_of(data, lines)}


def item(name: str, *sources: dict[str, Any], kind: str = "component", tags: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"id": name, "kind": kind, "summary": f"What {name} is.", "tags": list(tags), "sources": list(sources)}


def declaration(*items: dict[str, Any], name: str = "demo") -> bytes:
    document = {"schema_version": "repocue/task-context-1", "id": name, "items": list(items)}
    return (json.dumps(document, indent=2) + "\n").encode()


def repository(root: str | os.PathLike[str], files: Mapping[str, Entry], *items: dict[str, Any]) -> str:
    """A repository with these files and a declaration of these items, in one commit."""
    return RepoBuilder(root).commit("first", {**files, PATH: declaration(*items)}).build()
