"""What the shared options and the environment resolve to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest
from platformdirs.unix import Unix

from repocue.cli.options import cache_root
from repocue.errors import CacheError
from tests.support.repos import RepoBuilder

Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def root(tmp_path: Path) -> str:
    return RepoBuilder(tmp_path / "repository").commit("first", {"a": "1"}).build()


@pytest.mark.skipif(sys.platform != "linux", reason="the rules of XDG are Linux's")
@pytest.mark.parametrize(
    "environ",
    [{"HOME": "/home/ada"}, {"HOME": "/home/ada", "XDG_CACHE_HOME": "/var/ada"}, {"XDG_CACHE_HOME": "/c", "HOME": ""}],
)
def test_the_cache_folder_is_the_one_that_the_library_would_name(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert cache_root(environ) == Unix("repocue", appauthor=False).user_cache_dir


@pytest.mark.skipif(sys.platform != "linux", reason="the rules of XDG are Linux's")
def test_a_relative_cache_home_is_ignored_as_xdg_demands() -> None:
    assert cache_root({"XDG_CACHE_HOME": "relative", "HOME": "/home/ada"}) == "/home/ada/.cache/repocue"


def test_the_environment_names_a_cache_folder_before_the_platform_does() -> None:
    assert cache_root({"REPOCUE_CACHE_DIR": "here", "XDG_CACHE_HOME": "/c", "HOME": "/h"}) == "here"
    assert cache_root({"REPOCUE_CACHE_DIR": "", "XDG_CACHE_HOME": "/c", "HOME": "/h"}) == "/c/repocue"


@pytest.mark.parametrize("answer", ["relative/.cache", None])
def test_where_no_absolute_folder_can_be_found_the_error_says_how_to_name_one(
    answer: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_home(*_: object, **__: object) -> str:
        if answer is None:
            raise RuntimeError("Could not determine home directory.")
        return answer

    monkeypatch.setattr(platformdirs, "user_cache_dir", no_home)
    with pytest.raises(CacheError) as raised:
        cache_root({"HOME": "relative", "XDG_CACHE_HOME": ""})
    assert raised.value.code == "cache.no-home"
    assert "--cache-dir" in (raised.value.hint or "")


def test_the_option_goes_before_the_environment(repocue: Run, root: str, env: dict[str, str], tmp_path: Path) -> None:
    env = {**env, "REPOCUE_CACHE_DIR": str(tmp_path / "from-environment")}
    assert repocue("init", cwd=root, env=env).returncode == 0
    assert repocue("init", "--cache-dir", str(tmp_path / "from-option"), cwd=root, env=env).returncode == 0
    assert len(os.listdir(tmp_path / "from-environment")) == len(os.listdir(tmp_path / "from-option")) == 1
    assert not os.path.exists(env["XDG_CACHE_HOME"])


@pytest.mark.parametrize("option", ["--cache-dir", "-C", "--repository"])
def test_an_empty_path_is_a_usage_error_and_not_the_default(repocue: Run, root: str, option: str) -> None:
    for arguments in (["status", option, ""], [option, "", "status"]):
        done = repocue(*arguments, cwd=root)
        assert done.returncode == 2
        assert "empty" in json.loads(done.stderr)["message"]


def test_arguments_that_are_not_utf_8_are_refused_in_valid_json(repocue: Run, root: str) -> None:
    for arguments in ([b"st\xff"], [b"status", b"--\xff"], [b"status", b"-C", b"\xff"], [b"cue", b"--view", b"\xff"]):
        done = repocue(*arguments, cwd=root)
        assert done.returncode in (1, 2)
        assert json.loads(done.stderr.decode("utf-8"))["schema_version"] == "repocue/error-1"


def test_an_option_typed_twice_counts_as_typed_last(repocue: Run, root: str, tmp_path: Path) -> None:
    assert repocue("init", "-C", str(tmp_path / "missing"), "-C", root).returncode == 0
