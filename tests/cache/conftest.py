"""The tests' own certificate authority, made once."""

from __future__ import annotations

import pytest

from tests.cache.provider import Authority


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(str(tmp_path_factory.mktemp("ca")))
