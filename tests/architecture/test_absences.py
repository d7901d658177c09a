"""What ARCHITECTURE.md says is absent is absent (its section 2)."""

from __future__ import annotations

import os
import re
import tokenize

import pytest

import repocue

PACKAGE = os.path.dirname(repocue.__file__)

NAMES = re.compile(
    r"\b(codex|claude|anthropic|openai|chatgpt|gpt|gemini|mistral|llama|qwen|deepseek|grok|copilot|aider|cline|"
    r"sonnet|opus|haiku|tiktoken|sentencepiece|[co][l12]00k(_base)?|bpe)\b",
    re.IGNORECASE,
)


def _modules(*rooms: str) -> list[str]:
    found = []
    for room in rooms:
        start = os.path.join(PACKAGE, room)
        if os.path.isfile(start):
            found.append(start)
        for folder, _, names in os.walk(start):
            found += [os.path.join(folder, name) for name in names if name.endswith(".py")]
    return sorted(found)


@pytest.mark.parametrize("room", ["domain", "git", "store", "maintenance", "cue"])
def test_the_core_names_no_agent_model_or_tokenizer(room: str) -> None:
    modules = _modules(room)
    assert modules, f"no room {room}"
    for path in modules:
        with open(path, encoding="utf-8") as file:
            found = [f"{path}:{number}: {line.strip()}" for number, line in enumerate(file, 1) if NAMES.search(line)]
        assert not found


def _names(path: str) -> list[tuple[str, str]]:
    """(name, name before its dot or "") of every identifier in a module; strings and comments left out."""
    found = []
    before: list[str] = ["", ""]
    with open(path, "rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.NAME:
                owner = before[0] if before[1] == "." else ""
                found.append((token.string, owner))
            before = [before[1], token.string]
    return found


LIBRARY = [
    path
    for path in _modules(*os.listdir(PACKAGE))
    if not path.startswith(os.path.join(PACKAGE, "cli") + os.sep)
    and not path.startswith(os.path.join(PACKAGE, "data") + os.sep)
    # Programs of their own: the adapters' entry points, `python -m`'s, and the guard that stands before a runner.
    and os.path.basename(path) not in ("main.py", "__main__.py", "guard.py")
]


def test_the_library_neither_prints_nor_exits_nor_reads_the_environment_or_the_home_folder() -> None:
    assert len(LIBRARY) > 20
    forbidden = {
        ("print", ""),
        ("environ", "os"),
        ("getenv", "os"),
        ("expanduser", "path"),
        ("exit", "sys"),
        ("_exit", "os"),
    }
    found = [
        f"{os.path.relpath(path, PACKAGE)}: {owner}.{name}".replace(": .", ": ")
        for path in LIBRARY
        for name, owner in _names(path)
        if (name, owner) in forbidden
    ]
    assert not found


def test_every_room_says_what_it_is_for() -> None:
    rooms = [name for name in os.listdir(PACKAGE) if os.path.isfile(os.path.join(PACKAGE, name, "__init__.py"))]
    assert "domain" in rooms
    for room in rooms:
        with open(os.path.join(PACKAGE, room, "__init__.py"), encoding="utf-8") as file:
            assert file.read().startswith('"""'), room
