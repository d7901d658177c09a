"""The oracle on real packages: everything it reports exists by Python's own parser, and how much of all it finds."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.oracle.oracle import run
from tests.oracle.python_truth import KINDS, Comparison
from tests.support.repos import git

PACKAGES = ("click", "h11", "identify", "jinja2", "platformdirs", "rich")

# Of 8 classes, functions, methods and imports in ten thousand the oracle missed none in these packages (measured);
# the floor leaves room for other versions of them.
FLOOR = 0.995


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One repository with the source of several installed packages under src/."""
    root = tmp_path_factory.mktemp("packages")
    for name in PACKAGES:
        spec = find_spec(name)
        assert spec is not None
        assert spec.submodule_search_locations
        (folder,) = spec.submodule_search_locations
        shutil.copytree(folder, root / "src" / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    git(root, "init", "-q")
    git(root, "add", "-A")
    return root


def test_everything_reported_of_real_packages_exists_and_nearly_everything_is_found(packages: Path) -> None:
    found = run(packages)
    assert found.exit_code == 0
    assert "file-not-understood" not in found.limitations
    claims: dict[str, list[tuple[str, str, str]]] = {}
    for candidate in found.candidates:
        if candidate.language == "python":
            claims.setdefault(candidate.module, []).append((candidate.kind, candidate.name, candidate.signature))

    comparison = Comparison()
    for folder, _, names in os.walk(packages / "src"):
        for name in names:
            if name.endswith(".py"):
                path = os.path.relpath(os.path.join(folder, name), packages)
                comparison.add(path, (packages / path).read_bytes(), claims.pop(path, []))

    assert claims == {}, "candidates of files that do not exist"
    assert comparison.wrong == []
    assert sum(comparison.total.values()) > 4000
    for kind in KINDS:
        assert comparison.share(kind) >= FLOOR, (kind, comparison.missed)
    # Signatures beyond the bound of 320 bytes are left out; the definitions stay.
    left_out = sum(comparison.named.values()) - sum(comparison.stated.values())
    assert left_out <= found.limitations["signature-omitted"]


def test_the_first_candidates_of_a_package_are_its_largest_public_classes(packages: Path) -> None:
    classes = [candidate.name for candidate in run(packages).candidates if candidate.module == "src/click/core.py"]
    assert set(classes[:5]) >= {"Context", "Command", "Option", "Parameter"}
