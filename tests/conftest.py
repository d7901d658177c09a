"""Fixtures that every test may use: the installed executables, and an environment of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import HealthCheck, settings

from tests.support.environment import isolated_environment

Script = Callable[[str], list[str]]

settings.register_profile(
    "repocue",
    deadline=None,  # a loaded machine is not a failure
    max_examples=40,
    derandomize=True,  # the short suite says the same thing about the same code, every time
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("deep", parent=settings.get_profile("repocue"), max_examples=1000, derandomize=False)
settings.load_profile("deep" if os.environ.get("REPOCUE_TEST_PROFILE") == "deep" else "repocue")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long runs out unless `-m` chooses markers itself."""
    if config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("deep") or item.get_closest_marker("agents")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        chosen = set(map(id, left_out))
        items[:] = [item for item in items if id(item) not in chosen]


def _script(name: str) -> list[str]:
    beside = os.path.join(os.path.dirname(sys.executable), name)
    if os.access(beside, os.X_OK):
        return [beside]
    if name == "repocue":
        return [sys.executable, "-m", "repocue"]
    found = shutil.which(name)
    if found:
        return [found]
    raise FileNotFoundError(f"no script {name} is installed beside {sys.executable}")


@pytest.fixture(scope="session")
def script() -> Script:
    """`script(name)`: the command (a list of arguments) that starts an installed console script."""
    return _script


@pytest.fixture(scope="session")
def repocue_exe() -> list[str]:
    """The command that starts `repocue` as it is installed beside the running interpreter."""
    return _script("repocue")


@pytest.fixture
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment of its own for child processes: own HOME and cache, no git or RepoCue settings of the caller's."""
    return isolated_environment(str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def repocue(repocue_exe: list[str], env: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """`repocue(*arguments, cwd=…, env=…, stdin=b"")`: run the installed command; bytes, unchecked."""

    def run(
        *arguments: str | bytes | os.PathLike[str],
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] = env,
        stdin: bytes = b"",
        timeout_s: float = 120,
    ) -> subprocess.CompletedProcess[bytes]:
        command: Sequence[str | bytes | os.PathLike[str]] = [*repocue_exe, *arguments]
        return subprocess.run(command, cwd=cwd, env=env, input=stdin, capture_output=True, timeout=timeout_s)

    return run
