"""The three documents of maintenance: golden, valid, and in one fixed member order.

Written anew only with REPOCUE_REMAKE_GOLDEN=maintenance in the environment; then the difference is read before it is
committed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from repocue.contracts import canonical, reader
from repocue.maintenance import lifecycle
from repocue.maintenance.metrics import metrics
from repocue.maintenance.recording import record_cue_run
from repocue.maintenance.status import status
from tests.maintenance.support import NOW_MS, request, write
from tests.support.repos import RepoBuilder, git

FOLDER = Path(__file__).parent.parent / "golden" / "maintenance"
REMAKE = os.environ.get("REPOCUE_REMAKE_GOLDEN") == "maintenance"


def settled(document: bytes, root: str, cache: Path, repository_id: str) -> bytes:
    """The document with what differs from run to run replaced by values of the same form."""
    text = document.decode()
    text = text.replace(str(cache), "/cache").replace(root, "/home/ada/project")
    text = text.replace(repository_id, "repo-0123456789abcdef01234567")
    text = re.sub(r'("observed_at": )"[^"]*"', r'\1"2026-11-30T19:05:07.123Z"', text)
    text = re.sub(r'("scan_duration_ms": )[0-9.]+', r"\g<1>4.5", text)
    text = re.sub(r'("bytes": )[0-9]+(,\s*"log_bytes": )[0-9]+', r"\g<1>53248\g<2>0", text)
    return text.encode()


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    """Every kind of answer in one history, each as it is printed."""
    from tests.support.environment import isolated_environment

    folder = tmp_path_factory.mktemp("documents")
    env = isolated_environment(str(folder))
    root = RepoBuilder(folder / "project").commit("first", {"README.md": "read\n", "src/a.py": "a = 1\n"}).build()
    of = request(root, folder / "cache", env)
    made = {"operation-1.initialized": lifecycle.init(of).document()}
    made["operation-1.already-initialized"] = lifecycle.init(of).document()
    made["status-1.current"] = status(of).document()
    made["operation-1.unchanged"] = lifecycle.refresh(request(root, folder / "cache", env, elapsed_ms=None)).document()
    write(root, "src/a.py", "a = 22\n")
    write(root, "new.py", "new\n")
    git(root, "mv", "README.md", "READ.md")
    made["status-1.refresh-needed"] = status(of).document()
    made["operation-1.published"] = lifecycle.refresh(of, "hook").document()
    made["status-1.dirty-but-indexed"] = status(of).document()
    git(root, "checkout", "-q", "--detach")
    made["operation-1.rebaselined"] = lifecycle.rebaseline(of, "v2", "a reason").document()
    record_cue_run(
        of,
        view="overview",
        snapshot="snapshot-000003",
        freshness="dirty-but-indexed",
        size_bytes=1999,
        estimated_tokens=500,
        max_tokens=500,
        duration_ms=61.5,
        started_at_ms=NOW_MS,
    )
    made["metrics-1"] = metrics(of).document()
    return {
        name: settled(canonical.document(document, indent=True), root, folder / "cache", of.worktree.id)
        for name, document in made.items()
    }


NAMES = (
    "operation-1.initialized",
    "operation-1.already-initialized",
    "operation-1.unchanged",
    "operation-1.published",
    "operation-1.rebaselined",
    "status-1.current",
    "status-1.refresh-needed",
    "status-1.dirty-but-indexed",
    "metrics-1",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_document_is_what_it_was_when_its_version_was_fixed(documents: Mapping[str, bytes], name: str) -> None:
    path = FOLDER / f"{name}.json"
    if REMAKE:
        path.write_bytes(documents[name])
    assert documents[name] == path.read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_a_document_keeps_its_contract(documents: Mapping[str, bytes], name: str) -> None:
    contract = f"repocue/{name.partition('.')[0]}"
    assert reader.read(documents[name], contract=contract)["schema_version"] == contract
    assert reader.read((FOLDER / f"{name}.json").read_bytes(), contract=contract)


def test_every_golden_document_is_looked_at(documents: Mapping[str, bytes]) -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.json" for name in NAMES}
    assert set(documents) == set(NAMES)
