"""Scenes: a fresh one for tests that spoil it, and one prepared for all that only run a condition."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.m2.scene import Prepared, Scene
from tests.support.environment import isolated_environment


def build(folder: Path, exe: list[str]) -> Scene:
    (folder / "home").mkdir()
    return Scene(folder=folder, exe=exe, env=isolated_environment(str(folder / "home"))).build()


@pytest.fixture
def scene(tmp_path: Path, repocue_exe: list[str]) -> Scene:
    """A fresh repository, which a test may change."""
    return build(tmp_path, repocue_exe)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, repocue_exe: list[str]) -> Scene:
    """One repository for the tests of a module that leave it as it is."""
    return build(tmp_path_factory.mktemp("shared"), repocue_exe)


@pytest.fixture(scope="module")
def prepared(shared: Scene) -> Iterator[Prepared]:
    """One prepared set on the shared repository; any number of conditions can be run with it."""
    with shared.prepared() as found:
        yield found
