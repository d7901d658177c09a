"""Where a repository's programs begin, told from its manifests and from file names by convention.

Declared ones come first, in the order the manifest gives them: `NAME=TARGET` for the scripts of `pyproject.toml`
(`[project.scripts]`, `[project.gui-scripts]`, `[tool.poetry.scripts]`), the `[[bin]]` of `Cargo.toml` and the `bin` of
`package.json`; the `main` of `package.json` as its path. Only manifests in the root are read. Then come tracked files
whose name says it (`CONVENTIONAL`), by path depth, then bytewise. Nothing is executed, resolved or guessed further.

Manifests are somebody else's content: they are read within `MAX_MANIFEST_BYTES`, and whatever cannot be read within
the bounds is named in the answer instead of being half read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

MANIFESTS: Final[tuple[str, ...]] = ("pyproject.toml", "Cargo.toml", "package.json")
MAX_MANIFEST_BYTES: Final = 256 * 1024
MAX_ENTRY_BYTES: Final = 200
_MAX_KEY_PARTS: Final = 64
_MAX_DEPTH: Final = 4

CONVENTIONAL: Final = re.compile(
    r"""
      (?:[^/]+/)*__main__\.py
    | main\.(?:go|py|c|cc|cpp|rb|ts|js)
    | (?:app|manage|wsgi|asgi)\.py
    | (?:index|server)\.(?:js|mjs|cjs|ts)
    | cmd/(?:[^/]+/){0,2}main\.go
    | src/main\.(?:rs|py|c|cc|cpp|ts|tsx|js|jsx)
    | src/index\.(?:ts|tsx|js|jsx)
    | src/bin/[^/]+(?:\.rs|/main\.rs)
    | (?:[^/]+/)*Program\.cs
    | (?:bin|exe)/[^/.][^/.]*(?:\.(?:sh|py|rb|js|pl|php))?
    """,
    re.VERBOSE,
)
"""Whole paths of files that begin a program by convention."""

PATHSPECS: Final = (
    ":(glob)**/__main__.py",
    ":(glob)**/Program.cs",
    ":(glob)*.*",
    ":(glob)src/*.*",
    ":(glob)src/bin/**",
    ":(glob)cmd/**/main.go",
    ":(glob)bin/*",
    ":(glob)exe/*",
)
"""git pathspecs that match every conventional path (and others), and every manifest."""

_ASIDE: Final = frozenset(
    (
        *("test", "tests", "testing", "testdata", "spec", "fixtures", "bench", "benchmark", "benchmarks"),
        *("example", "examples", "sample", "samples", "doc", "docs", "vendor", "third_party", "node_modules"),
    )
)
"""Folders whose programs are beside a repository's purpose."""


def conventional(paths: Iterable[str]) -> list[str]:
    """Those of `paths` that are entry points by convention, by depth, then bytewise.

    Files below folders of tests, examples, documents or vendored code are left out, and so are those
    more than four folders deep.
    """
    found = []
    for path in paths:
        folders = path.split("/")[:-1]
        if len(folders) <= _MAX_DEPTH and CONVENTIONAL.fullmatch(path) and _ASIDE.isdisjoint(folders):
            found.append(path)
    return sorted(set(found), key=lambda path: (path.count("/"), path.encode()))


def declared(manifests: Mapping[str, bytes]) -> tuple[list[str], list[str]]:
    """What the manifests in the root declare, and the names of manifests that could not be read.

    Entries longer than `MAX_ENTRY_BYTES` or holding control characters are returned too; `is_showable` tells.
    """
    entries: dict[str, None] = {}
    unread: list[str] = []
    for name in MANIFESTS:
        if name not in manifests:
            continue
        try:
            found = _READERS[name](manifests[name])
        except (ValueError, RecursionError):
            unread.append(name)
        else:
            entries.update(dict.fromkeys(found))
    return list(entries), unread


def is_showable(entry: str) -> bool:
    """Whether an entry is short enough and free of control characters."""
    try:
        size = len(entry.encode())
    except UnicodeEncodeError:
        return False
    return size <= MAX_ENTRY_BYTES and not re.search(r"[\x00-\x1f\x7f]", entry)


def _pyproject(data: bytes) -> list[str]:
    if b"scripts" not in data:
        return []
    document = _toml(data)
    project = _table(document, "project")
    found = _pairs(_table(project, "scripts")) + _pairs(_table(project, "gui-scripts"))
    for name, value in _table(document, "tool", "poetry", "scripts").items():
        target = value if isinstance(value, str) else None
        if isinstance(value, dict):
            target = value.get("callable", value.get("reference"))
        if isinstance(target, str):
            found.append(f"{name}={target}")
    return found


def _cargo(data: bytes) -> list[str]:
    if b"bin" not in data:
        return []
    bins = _toml(data).get("bin")
    found = []
    for item in bins if isinstance(bins, list) else []:
        if isinstance(item, dict) and isinstance(name := item.get("name"), str):
            path = item.get("path")
            found.append(f"{name}={_relative(path)}" if isinstance(path, str) else f"{name}=src/bin/{name}.rs")
    return found


def _package(data: bytes) -> list[str]:
    import json  # only where a package.json exists: cues start without it

    document = json.loads(data.decode("utf-8"), parse_int=float)
    if not isinstance(document, dict):
        return []
    bins, main, name = document.get("bin"), document.get("main"), document.get("name")
    found = []
    if isinstance(bins, str) and isinstance(name, str):
        found.append(f"{name.rsplit('/', 1)[-1]}={_relative(bins)}")
    elif isinstance(bins, dict):
        found += [f"{key}={_relative(value)}" for key, value in bins.items() if isinstance(value, str)]
    if isinstance(main, str):
        found.append(_relative(main))
    return found


_READERS: Final[Mapping[str, Callable[[bytes], list[str]]]] = {
    "pyproject.toml": _pyproject,
    "Cargo.toml": _cargo,
    "package.json": _package,
}


def _toml(data: bytes) -> dict[str, Any]:
    # Python 3.11's parser takes quadratic time for a key of very many parts; no honest manifest has one.
    if any(line.count(b".") > _MAX_KEY_PARTS for line in data.splitlines()):
        raise ValueError("a line with too many dots")
    import tomllib  # only where a manifest declares something: cues start without it

    return tomllib.loads(data.decode("utf-8"))


def _table(document: Any, *keys: str) -> dict[str, Any]:
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else {}


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [f"{name}={target}" for name, target in table.items() if isinstance(target, str)]


def _relative(path: str) -> str:
    while path.startswith("./"):
        path = path[2:]
    return path
