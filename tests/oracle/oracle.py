"""Running the packaged oracle in tests, with whichever awk is wanted."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

from tests.support.environment import isolated_environment

FOLDER = str(files("repocue") / "data" / "oracle")
TOOL = os.path.join(FOLDER, "structural-oracle.bash")
BASH = shutil.which("bash") or "/bin/bash"
PROGRAMS = ("bash", "git", "grep", "awk", "sort")
AWKS = ("mawk", "gawk", "original-awk")


class Candidate(NamedTuple):
    """One line of the oracle's output."""

    language: str
    module: str
    kind: str
    name: str
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one run of the oracle gave."""

    exit_code: int
    stdout: bytes
    stderr: bytes

    @property
    def candidates(self) -> list[Candidate]:
        """The records, each of which must have five fields."""
        lines = self.stdout.decode("utf-8", "surrogateescape").split("\n")
        assert lines.pop() == "", "the last line is not ended"
        return [Candidate(*line.split("\t")) for line in lines]

    @property
    def limitations(self) -> dict[str, int]:
        """The limitations; anything else on standard error fails."""
        found = {}
        for line in self.stderr.decode().splitlines():
            word, code, count = line.split("\t")
            assert word == "limitation"
            assert code not in found
            found[code] = int(count)
        assert list(found) == sorted(found)
        return found

    def of(self, module: str) -> list[tuple[str, str, str]]:
        """(kind, name, signature) of one file's candidates, in rank order."""
        return [(c.kind, c.name, c.signature) for c in self.candidates if c.module == module]


def run(root: str | os.PathLike[str], *arguments: str, env: Mapping[str, str] | None = None, tool: str = TOOL) -> Run:
    """Run the oracle in `root`."""
    environment = isolated_environment("/nonexistent") if env is None else env
    done = subprocess.run([BASH, tool, *arguments], cwd=root, env=environment, capture_output=True, timeout=300)
    return Run(exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr)


def only(folder: str | os.PathLike[str], *, awk: str | None = None, **instead: str) -> dict[str, str]:
    """An environment whose PATH holds the oracle's five programs and nothing else.

    `awk` names another awk; `instead` gives other programs by path.
    """
    os.makedirs(folder, exist_ok=True)
    for program in PROGRAMS:
        found = instead.get(program) or shutil.which((awk or "awk") if program == "awk" else program)
        assert found is not None, program
        link = os.path.join(folder, program)
        if not os.path.lexists(link):
            os.symlink(found, link)
    return isolated_environment("/nonexistent", PATH=os.fspath(folder))
