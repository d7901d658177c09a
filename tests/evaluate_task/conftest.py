"""One repository for all tests that leave it as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evaluate_task.scene import Scene
from tests.support.environment import isolated_environment


def build_scene(folder: Path, exe: list[str]) -> Scene:
    (folder / "home").mkdir()
    return Scene(folder=folder, exe=exe, env=isolated_environment(str(folder / "home"))).build()


@pytest.fixture
def scene(tmp_path: Path, repocue_exe: list[str]) -> Scene:
    """A fresh repository with an initialised cache, for tests that change it."""
    return build_scene(tmp_path, repocue_exe)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, repocue_exe: list[str]) -> Scene:
    return build_scene(tmp_path_factory.mktemp("shared"), repocue_exe)
