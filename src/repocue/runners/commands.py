"""Commands that agents ran, classified by what their text says they do (seed, "Codex Adapter").

Everything here is derived from command text. It is neither a count of git processes nor of bytes: the size proxy is
the sum of the current sizes of the files that the text names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from repocue.runners import programs, shell
from repocue.runners.calls import Reader
from repocue.runners.named_files import NamedFile, NamedFiles
from repocue.runners.observed import SHELL, AgentCommand
from repocue.runners.shell_tree import ShellSyntaxError, Simple
from repocue.runners.words import literal

OTHER = "other"
MAX_TEXT_CHARACTERS = 1_000_000
"""A longer text is not read as shell."""

TOOL_CLASSES = {
    "Read": programs.READ,
    "NotebookRead": programs.READ,
    "Grep": programs.SEARCH,
    "Glob": programs.SEARCH,
    "LS": programs.SEARCH,
}
"""An agent's own tools for looking at files, by what they do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """One command with what its text says.

    `text` is unwrapped (`bash -lc '…'` is what the agent's program adds). `classification` is "other" or one or more
    of git, filesystem_search, filesystem_read joined by "+". `files` are the real repository files named, empty for
    "other". `is_readable` is False where the text is no complete shell text.
    """

    text: str
    classification: str
    files: tuple[NamedFile, ...]
    is_readable: bool = True

    def to_json(self) -> dict[str, object]:
        """The contract's form of an M2 observation's command."""
        return {
            "command": self.text,
            "classification": self.classification,
            "files_read": [file.path for file in self.files],
        }


class Classifier:
    """Classifies command texts that ran in the repository at `root`; `home` is what a leading `~` stands for."""

    def __init__(self, root: str, home: str | None = None) -> None:
        self._files = NamedFiles(root)
        self._home = home

    def command(self, command: AgentCommand) -> Classified:
        """Classify one command of an agent, by its text or by the tool it used."""
        return self.shell(command.text) if command.tool == SHELL else self.tool(command)

    def shell(self, text: str) -> Classified:
        """Classify shell text."""
        inner = unwrap(text)
        reader = Reader(self._files.root, lambda folder, name: self._files.find(folder, name) is not None, self._home)
        try:
            if len(inner) > MAX_TEXT_CHARACTERS:
                raise ShellSyntaxError("the text is too long")
            reader.read(inner)
        except (ShellSyntaxError, RecursionError):
            return Classified(text=inner, classification=OTHER, files=(), is_readable=False)
        kinds = {kind for call in reader.calls for kind in call.kinds}
        named: dict[str, NamedFile] = {}
        for call in reader.calls:
            for folder, name in call.paths if call.kinds else ():
                file = self._files.find(folder, name)
                if file is not None:
                    named.setdefault(file.path, file)
        return Classified(text=inner, classification=joined(kinds), files=tuple(named.values()))

    def tool(self, command: AgentCommand) -> Classified:
        """Classify the use of a tool that looks at files itself."""
        kind = TOOL_CLASSES.get(command.tool)
        file = self._files.find(self._files.root, command.path) if command.path and kind else None
        return Classified(
            text=command.text, classification=joined({kind} if kind else ()), files=(file,) if file is not None else ()
        )


def joined(kinds: Iterable[str]) -> str:
    """The classification that a set of classes makes."""
    present = set(kinds)
    return "+".join(kind for kind in programs.CLASSES if kind in present) or OTHER


def size_proxy_bytes(commands: Sequence[Classified]) -> int:
    """The sum of the sizes of the distinct files that all the commands name."""
    return sum({file.path: file.size_bytes for command in commands for file in command.files}.values())


def files_named(commands: Sequence[Classified]) -> int:
    """How many distinct files all the commands name."""
    return len({file.path for command in commands for file in command.files})


def unwrap(text: str) -> str:
    """The script inside `bash -lc '…'`, which agents' programs wrap around what the agent asked for."""
    arguments = _literal_words(text)
    if (
        arguments is not None
        and len(arguments) == 3
        and arguments[0].rpartition("/")[2] in programs.SHELLS
        and arguments[1] in ("-c", "-lc", "-cl", "-ic", "-lic")
        and arguments[2].strip()
    ):
        return arguments[2]
    return text


def argv(text: str) -> tuple[str, ...] | None:
    """Program and arguments, after unwrapping, of a text that is one plain command; None for any other text.

    Plain means: no expansion, redirection, assignment or operator, so that the words are exactly what ran.
    """
    return _literal_words(unwrap(text))


def _literal_words(text: str) -> tuple[str, ...] | None:
    try:
        nodes = shell.parse(text) if len(text) <= MAX_TEXT_CHARACTERS else []
    except (ShellSyntaxError, RecursionError):
        return None
    if len(nodes) != 1:
        return None
    node = nodes[0]
    if not isinstance(node, Simple) or node.assignments or node.redirects:
        return None
    words = [literal(word) for word in node.words]
    known = tuple(word for word in words if word is not None)
    return known if len(known) == len(words) else None
