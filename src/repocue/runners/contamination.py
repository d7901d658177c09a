"""Whether an agent that should not have had RepoCue's help took it all the same.

A run is contaminated when one of its commands calls RepoCue or reads its cache. Such a run is not comparable with
one that had only what its condition supplied.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from repocue.runners import programs
from repocue.runners.calls import Call, Reader
from repocue.runners.commands import unwrap
from repocue.runners.shell_tree import ShellSyntaxError

SCRIPTS = frozenset(("repocue", "repocue-codex-runner", "repocue-claude-runner"))
LAUNCHERS = frozenset(("uvx", "uv", "pipx", "pdm", "poetry", "hatch", "rye"))
STARTERS = frozenset(
    ("strace", "ltrace", "script", "unbuffer", "perf", "gdb", "valgrind", "watch", "parallel", "entr", "alias")
)
"""Programs that start the one they are given, in whatever place, and are no shell's business otherwise."""
LOOKUPS = frozenset(("which", "command", "type", "hash", "whereis"))
COPIERS = frozenset(("ln", "cp", "mv", "install"))
CACHE_VARIABLE = "REPOCUE_CACHE_DIR"
_IMPORT: Final = re.compile(r"\b(?:import|from)\s+repocue\b")
_CACHE_FOLDER: Final = re.compile(
    r"(?:~|\$\{?HOME\}?|/[^\s'\"]*)/(?:\.cache|Library/Caches)/repocue(?=[/\s'\"]|\Z)|\$\{?XDG_CACHE_HOME\b|/repocue-evaluate-m2-"
)
"""The user's cache folder and the harness's temporary ones, wherever they lie."""


def is_contaminated(
    commands: Iterable[str], cache_roots: Sequence[str], *, root: str = "/", home: str | None = None
) -> bool:
    """Whether any command text calls RepoCue or reaches into one of the cache folders."""
    return bool(contaminations(commands, cache_roots, root=root, home=home))


def contaminations(
    commands: Iterable[str], cache_roots: Sequence[str], *, root: str = "/", home: str | None = None
) -> tuple[str, ...]:
    """The command texts that do, in order. `root` is where commands ran; `home` is what `~` stands for.

    Looking for RepoCue (`which repocue`) is not calling it, and searching for its name is not reading its cache.
    """
    folders = _folders(cache_roots)
    return tuple(text for text in commands if _is_contaminated(text, folders, root, home))


def named_caches(reports: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Folders of caches that condition reports name: what the shipped command was told to use."""
    roots = []
    for report in reports:
        delivery = report.get("cue_delivery")
        argv = [] if delivery is None else delivery["argv"]
        roots += [after for option, after in pairwise(argv) if option == "--cache-dir"]
    return tuple(root for root in roots if root.startswith("/"))


def report_contaminations(
    commands: Iterable[Mapping[str, Any]], cache_roots: Sequence[str], root: str
) -> tuple[str, ...]:
    """The command texts of a published observation that call RepoCue or reach into a cache, in order.

    Where the user's cache lay then is not known, so its usual places count as well as `cache_roots`. `root` is the
    evaluated repository's, as the report names it.
    """
    where = root if root.startswith("/") else "/"
    texts = [command["command"] for command in commands]
    return tuple(text for text in texts if _is_report_contaminated(text, tuple(cache_roots), where))


@functools.lru_cache(maxsize=4096)
def _is_report_contaminated(text: str, caches: tuple[str, ...], root: str) -> bool:
    return bool(_CACHE_FOLDER.search(_without_handed(text, caches)) or contaminations((text,), caches, root=root))


def _without_handed(text: str, caches: Iterable[str]) -> str:
    """`text` without the files that a run of these caches' workspace was itself handed: they are there to be read.

    They lie beside the cache; those of another run are gone before it starts.
    """
    for cache in caches:
        text = re.sub(re.escape(os.path.dirname(cache)) + r"/[1-5]/(?:task\.txt|cue\.json)(?![\w.-])", "", text)
    return text


def _is_contaminated(text: str, folders: frozenset[str], root: str, home: str | None) -> bool:
    if f"${CACHE_VARIABLE}" in text or "${" + CACHE_VARIABLE in text:
        return True
    if any(_mentions(text, folder) for folder in folders):
        return True
    reader = Reader(root, lambda folder, name: _inside(folder, name, folders), home)
    try:
        reader.read(unwrap(text))
    except (ShellSyntaxError, RecursionError):
        return False
    is_looked_up = any(call.program in LOOKUPS and SCRIPTS & set(_texts(call)) for call in reader.calls)
    return any(
        _calls_repocue(call, text) or (is_looked_up and _uses_what_was_found(call)) or _reads(call, folders)
        for call in reader.calls
    )


def _texts(call: Call) -> list[str]:
    return [argument.text for argument in call.arguments]


def _calls_repocue(call: Call, text: str) -> bool:
    texts = _texts(call)
    if _is_script(call.program):
        return True
    if call.program in LAUNCHERS:
        return any(text in SCRIPTS or text.startswith("repocue@") for text in texts)
    if call.program in STARTERS:
        return any(_is_script(word) for words in texts for word in words.split("=")[-1].split()[:1])
    if call.program in COPIERS:  # under another name
        return any(_is_script(word) and os.path.basename(os.path.dirname(word)) == "bin" for word in texts)
    return call.program.startswith(("python", "pypy")) and _is_python_of_ours(texts, text)


def _is_python_of_ours(texts: list[str], text: str) -> bool:
    """Whether Python runs RepoCue: as a module, by its file, or in a program that imports it."""
    for option, value in pairwise((*texts, "")):
        name = value if re.fullmatch(r"-[A-Za-z]*m", option) else option[2:] if option.startswith("-m") else ""
        if name.split(".")[0] == "repocue":
            return True
        if re.fullmatch(r"-[A-Za-z]*c", option):
            return bool(_IMPORT.search(value))
        if not option.startswith("-"):  # its program's file; what follows is that program's own
            return _is_script(option) or option.endswith("/repocue/__main__.py")
    return bool(_IMPORT.search(text))  # it reads its program from a heredoc or a pipe


def _is_script(word: str) -> bool:
    return os.path.basename(word).removesuffix(".exe") in SCRIPTS


def _uses_what_was_found(call: Call) -> bool:
    """Whether a call's program, or what it starts or copies, is known only when the command runs."""
    return not call.program or (call.program in STARTERS | COPIERS and "" in _texts(call))


def _reads(call: Call, folders: frozenset[str]) -> bool:
    if call.program in ("cd", "pushd", "popd"):
        return False
    if call.program not in ("echo", "pwd", "true") and call.folder and _inside(None, call.folder, folders):
        return True
    return any(
        _inside(call.folder, text, folders)
        for argument in call.arguments
        for text in argument.texts
        if not programs.is_option(text)
    ) or any(_inside(folder, text, folders) for folder, text in call.paths)


def _inside(folder: str | None, text: str, folders: frozenset[str]) -> bool:
    """Whether a path lies in one of the folders, as it is spelled or once symlinks are resolved."""
    if not text or "\0" in text or len(text) > 4096 or (folder is None and not text.startswith("/")):
        return False
    path = os.path.normpath(os.path.join(folder or "/", text))
    return any(path == one or path.startswith(one + "/") for one in folders) or any(
        resolved == one or resolved.startswith(one + "/") for resolved in [_resolved(path)] for one in folders
    )


def _mentions(text: str, folder: str) -> bool:
    """Whether a text holds the folder's path, ending where a path can end."""
    at = text.find(folder)
    while at >= 0:
        after = text[at + len(folder) : at + len(folder) + 1]
        if not (after.isalnum() or after in ("-", "_", ".")) or not after:
            return True
        at = text.find(folder, at + 1)
    return False


def _folders(cache_roots: Sequence[str]) -> frozenset[str]:
    given = [os.path.normpath(os.path.abspath(root)) for root in cache_roots]
    return frozenset(folder for folder in (*given, *map(_resolved, given)) if folder != "/")


def _resolved(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path
