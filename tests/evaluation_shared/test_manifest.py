"""A flipped byte anywhere in a sealed folder is found and named by path."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.errors import EvidenceError
from repocue.evaluation.shared import manifest

VERSION = "repocue/manifest-1"
HEADER = {"schema_version": VERSION, "kind": "test"}


def sealed_folder(folder: Path) -> Path:
    folder.mkdir()
    (folder / "a.json").write_bytes(b'{"x":1}\n')
    (folder / "empty").write_bytes(b"")
    (folder / "requests").mkdir()
    (folder / "requests" / "one.json").write_bytes(b"[]")
    (folder / "requests.json").write_bytes(b"[1]")
    (folder / "attempts").mkdir()
    (folder / "attempts" / "later").write_bytes(b"not covered")
    manifest.write(str(folder), "manifest.json", HEADER, leave_out=("attempts",))
    return folder


def verified(folder: Path) -> dict[str, Any]:
    return manifest.verify(str(folder), "manifest.json", schema_version=VERSION, leave_out=("attempts",))


def test_a_manifest_lists_every_other_file_sorted_and_ends_with_the_digest_of_the_rest(tmp_path: Path) -> None:
    folder = sealed_folder(tmp_path / "set")
    data = (folder / "manifest.json").read_bytes()
    document = json.loads(data)
    expected = {"a.json": b'{"x":1}\n', "empty": b"", "requests.json": b"[1]", "requests/one.json": b"[]"}
    assert document["files"] == [
        {"path": path, "bytes": len(text), "sha256": "sha256:" + sha256(text).hexdigest()}
        for path, text in expected.items()
    ]
    assert list(document) == ["schema_version", "kind", "files", "self_sha256"]
    before_seal = data[: data.index(b',"self_sha256"')] + b"}\n"
    assert document["self_sha256"] == "sha256:" + sha256(before_seal).hexdigest()
    assert verified(folder) == {name: document[name] for name in ("schema_version", "kind", "files")}


def test_every_flipped_byte_of_every_file_is_found_and_named(tmp_path: Path) -> None:
    folder = sealed_folder(tmp_path / "set")
    for name in ("a.json", "requests.json", "requests/one.json", "manifest.json"):
        path = folder / name
        data = path.read_bytes()
        for position in range(len(data)):
            for mask in (1, 32):
                path.write_bytes(data[:position] + bytes([data[position] ^ mask]) + data[position + 1 :])
                with pytest.raises(EvidenceError) as caught:
                    verified(folder)
                assert name in caught.value.message
        path.write_bytes(data)
    verified(folder)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda folder: (folder / "empty").write_bytes(b"x"), "empty (altered)"),
        (lambda folder: (folder / "empty").unlink(), "empty (missing)"),
        (lambda folder: (folder / "requests" / "two").write_bytes(b""), "requests/two (unlisted)"),
        (lambda folder: os.truncate(folder / "a.json", 3), "a.json (altered)"),
        (lambda folder: ((folder / "empty").unlink(), (folder / "empty").symlink_to("a.json")), "empty (not-a-file)"),
        (lambda folder: ((folder / "empty").unlink(), os.mkfifo(folder / "empty")), "empty (not-a-file)"),
    ],
)
def test_other_changes_are_named_by_path_and_kind(tmp_path: Path, change: Any, named: str) -> None:
    folder = sealed_folder(tmp_path / "set")
    change(folder)
    with pytest.raises(EvidenceError) as caught:
        verified(folder)
    assert named in caught.value.message
    assert caught.value.code == "evidence.altered"


def test_what_the_manifest_leaves_out_may_change(tmp_path: Path) -> None:
    folder = sealed_folder(tmp_path / "set")
    (folder / "attempts" / "later").write_bytes(b"changed")
    (folder / "attempts" / "more").mkdir()
    verified(folder)


def test_a_missing_manifest_and_one_of_another_contract_are_told_apart(tmp_path: Path) -> None:
    folder = sealed_folder(tmp_path / "set")
    with pytest.raises(EvidenceError) as caught:
        manifest.verify(str(folder), "manifest.json", schema_version="repocue/manifest-2")
    assert caught.value.code == "evidence.version"
    (folder / "manifest.json").unlink()
    with pytest.raises(EvidenceError) as caught:
        verified(folder)
    assert caught.value.code == "evidence.missing"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"null\n",
        b"[]\n",
        b"{}\n",
        b"[" * 40_000,
        b'{"a":' * 40_000,
        b'{"self_sha256":"sha256:x"}\n',
        b'{"self_sha256":"sha256:x","a":1}\n',
        b'\xef\xbb\xbf{"a":1}\n',
        b'{"a":"\\ud800","self_sha256":"x"}\n',
        b'{"a":"\xff","self_sha256":"x"}\n',
    ],
)
def test_what_is_not_sealed_is_refused_without_a_traceback(data: bytes) -> None:
    with pytest.raises(EvidenceError):
        manifest.opened(data, where="x.json")


def test_a_seal_over_other_spelling_or_duplicate_members_is_refused() -> None:
    good = manifest.sealed({"schema_version": "x", "a": 1})
    assert manifest.opened(good, where="x") == {"schema_version": "x", "a": 1}
    for other in (good[:-1], good + b"\n", good.replace(b":1", b": 1"), good.replace(b'"a":1', b'"a":2,"a":1')):
        with pytest.raises(EvidenceError):
            manifest.opened(other, where="x")


@pytest.mark.parametrize(
    "entries",
    [
        None,
        {},
        [{"path": "b", "bytes": 0, "sha256": "x"}, {"path": "a", "bytes": 0, "sha256": "x"}],
        [{"path": "a", "bytes": 0, "sha256": "x"}, {"path": "a", "bytes": 0, "sha256": "x"}],
        [{"path": "a", "bytes": True, "sha256": "x"}],
        [{"path": "a", "bytes": 0.0, "sha256": "x"}],
        [{"path": "a", "bytes": 0, "sha256": "x", "more": 1}],
        [{"path": "a", "bytes": 0}],
    ],
)
def test_a_list_of_files_in_another_form_is_refused(entries: Any) -> None:
    with pytest.raises(EvidenceError):
        manifest.entries_of({"files": entries}, where="manifest.json")


@given(
    st.dictionaries(
        st.text(max_size=8).filter(lambda key: key != manifest.SEAL),
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
            max_leaves=8,
        ),
        max_size=4,
    )
)
def test_every_sealed_document_opens_to_itself(document: dict[str, Any]) -> None:
    assert manifest.opened(manifest.sealed(document), where="x") == document


def test_a_name_that_no_manifest_can_hold_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"odd\xff")).write_bytes(b"")
    with pytest.raises(EvidenceError, match=r"odd\\xff"):
        manifest.list_files(str(tmp_path), leave_out=())
