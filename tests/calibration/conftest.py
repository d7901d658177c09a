"""Scenes, each made once a module and copied for each test that imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.calibration import scene as scenes
from tests.calibration.scene import Scene
from tests.support.environment import isolated_environment


@pytest.fixture(scope="session")
def clean_original(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("clean")
    return scenes.make(folder, isolated_environment(str(folder)))


@pytest.fixture(scope="session")
def dirty_original(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("dirty")
    return scenes.make(folder, isolated_environment(str(folder)), dirty=True)


@pytest.fixture
def scene(clean_original: Scene, tmp_path: Path) -> Scene:
    """A clean repository, which no test may change; cache and sets are the test's own."""
    return clean_original.fresh(tmp_path)


@pytest.fixture
def dirty(dirty_original: Scene, tmp_path: Path) -> Scene:
    """The same with one edited and one untracked file."""
    return dirty_original.fresh(tmp_path)
