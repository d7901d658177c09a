"""The tests' own certificate authority, made once, and a repository to evaluate."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cache.provider import Authority
from tests.cache.scene import Scene
from tests.support.environment import isolated_environment


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(str(tmp_path_factory.mktemp("ca")))


@pytest.fixture
def scene(tmp_path: Path, repocue_exe: list[str]) -> Scene:
    """A fresh repository with an initialised cache."""
    home = tmp_path / "home"
    home.mkdir()
    return Scene(folder=tmp_path, exe=repocue_exe, env=isolated_environment(str(home))).build()
