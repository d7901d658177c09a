"""The tests' own certificate authority, made once, and a repository to evaluate."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cache.provider import Authority
from tests.cache.scene import Scene
from tests.support.environment import isolated_environment


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(str(tmp_path_factory.mktemp("ca")))


def build_scene(folder: Path, exe: list[str], **more: Any) -> Scene:
    (folder / "home").mkdir()
    return Scene(folder=folder, exe=exe, env=isolated_environment(str(folder / "home"))).build(**more)


@pytest.fixture
def scene(tmp_path: Path, repocue_exe: list[str]) -> Scene:
    """A fresh repository with an initialised cache."""
    return build_scene(tmp_path, repocue_exe)


@pytest.fixture(scope="session")
def shared_scene(tmp_path_factory: pytest.TempPathFactory, repocue_exe: list[str]) -> Scene:
    """One repository for all tests that leave it as it is."""
    return build_scene(tmp_path_factory.mktemp("shared"), repocue_exe)


@pytest.fixture(scope="session")
def prepare_once(shared_scene: Scene) -> Callable[..., str]:
    """A prepared folder for each set of benchmark changes, made when first asked for. Never run it: copy it."""
    made: dict[str, str] = {}

    def prepared(**changes: Any) -> str:
        key = repr(sorted(changes.items()))
        if key not in made:
            made[key] = shared_scene.prepared(**changes)
        return made[key]

    return prepared


@pytest.fixture
def prepared(prepare_once: Callable[..., str], tmp_path: Path) -> Callable[..., str]:
    """A copy of a prepared folder, for one test to run and spoil."""

    def copied(**changes: Any) -> str:
        return shutil.copytree(prepare_once(**changes), tmp_path / "prepared" / f"copy-{len(list(tmp_path.iterdir()))}")

    return copied
