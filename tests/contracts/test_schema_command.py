"""`repocue schema`, as a process: answers on stdout, exit codes, one error where it fails."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from repocue.contracts import schemas
from tests.contracts import documents
from tests.contracts.documents import text_of

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


def answer(done: subprocess.CompletedProcess[bytes]) -> documents.Document:
    """The one answer of a command that printed nothing else, held to its own contract's schema."""
    assert done.stderr == b""
    document: documents.Document = json.loads(done.stdout)
    jsonschema.validate(document, schemas.joined("repocue/schema-1"))
    return document


def test_the_list_names_every_contract_once_with_its_kinds(repocue: Run) -> None:
    done = repocue("schema", "list")
    assert done.returncode == 0
    contracts = {entry["name"]: entry for entry in answer(done)["contracts"]}
    assert len(contracts) == len(answer(done)["contracts"])
    assert {make()["schema_version"] for make in documents.ALL.values()} <= set(contracts)
    assert contracts["repocue/evaluation-3"]["use"] == "import-only"
    assert contracts["repocue/evaluation-4"]["kinds"] == ["m2-condition", "m2-condition-set"]
    text = repocue("schema", "list", "--format", "text").stdout.decode()
    assert [line.split()[0] for line in text.splitlines()] == list(contracts)


def test_a_shown_schema_stands_alone_in_another_validator(repocue: Run) -> None:
    done = repocue("schema", "show", "evaluation-4")
    assert (done.returncode, done.stderr) == (0, b"")
    validator = jsonschema.Draft202012Validator(json.loads(done.stdout))
    validator.check_schema(validator.schema)
    assert validator.is_valid(documents.report_4())
    assert not validator.is_valid(documents.report_3())
    assert repocue("schema", "show", "repocue/evaluation-4").stdout == done.stdout
    page = repocue("schema", "show", "evaluation-4", "--format", "text").stdout.decode()
    assert "| `cue_delivery.trace2.git_processes` | integer 0… | always |" in page


def test_an_unknown_contract_is_a_usage_error_that_names_the_newest(repocue: Run) -> None:
    done = repocue("schema", "show", "evaluation-9")
    assert (done.returncode, done.stdout) == (2, b"")
    error = json.loads(done.stderr)
    jsonschema.validate(error, schemas.joined("repocue/error-1"))
    assert (
        "is newer than this version of RepoCue reads; the newest it knows is repocue/evaluation-4" in error["message"]
    )


@pytest.mark.parametrize("name", ["evaluation-4.basic", "task-cue-1", "cache-evaluation-1.summary"])
def test_a_valid_file_is_said_to_be_valid(repocue: Run, tmp_path: Path, name: str) -> None:
    file = tmp_path / "ä document.json"
    document = documents.ALL[name]()
    file.write_bytes(text_of(document))
    done = repocue("schema", "validate", file)
    assert done.returncode == 0
    found = answer(done)
    assert (found["valid"], found["problems"], found["file"]) == (True, [], str(file))
    assert (found["contract"], found["document_kind"]) == (document["schema_version"], schema_kind(document))
    assert repocue("schema", "validate", "-", stdin=text_of(document)).returncode == 0


def schema_kind(document: documents.Document) -> str | None:
    """The kind of these three documents; a task cue's kind tells no kinds of its contract apart."""
    return document["kind"] if document["schema_version"] != "repocue/task-cue-1" else None


def test_every_fault_of_an_invalid_file_is_listed_with_its_pointer(repocue: Run) -> None:
    data = text_of(documents.task() | {"id": "", "question": 1, "more": 2})
    done = repocue("schema", "validate", "-", stdin=data)
    assert done.returncode == 1
    found = answer(done)
    assert not found["valid"]
    assert [problem["pointer"] for problem in found["problems"]] == ["/id", "/question", "/more"]
    text = repocue("schema", "validate", "-", "--format", "text", stdin=data)
    assert text.returncode == 1
    assert text.stdout.decode().splitlines()[0] == "standard input: breaks repocue/task-1"
    assert "  /question: must be a string, not a number" in text.stdout.decode().splitlines()


@pytest.mark.parametrize(
    ("data", "pointer"),
    [(b"", None), (b"{} {}", None), (b"\xff", None), (b'{"a":1,"a":2}', "/a"), (b"[" * 40_000, None), (b"[]", "")],
)
def test_text_that_is_no_document_is_invalid_and_no_traceback(repocue: Run, data: bytes, pointer: str | None) -> None:
    done = repocue("schema", "validate", "-", stdin=data)
    assert done.returncode == 1
    found = answer(done)
    assert (found["contract"], found["valid"]) == (None, False)
    assert [problem["pointer"] for problem in found["problems"]] == [pointer]


def test_prices_are_held_to_todays_date(repocue: Run) -> None:
    document = documents.task_policy()
    document["rates"]["date"] = "9999-12-31"
    found = answer(repocue("schema", "validate", "-", stdin=text_of(document)))
    assert [problem["pointer"] for problem in found["problems"]] == ["/rates/date"]


@pytest.mark.parametrize("file", ["missing.json", "."])
def test_a_file_that_cannot_be_read_is_one_error(repocue: Run, tmp_path: Path, file: str) -> None:
    done = repocue("schema", "validate", file, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert json.loads(done.stderr)["code"] == "file.unreadable"


def test_a_file_name_in_any_bytes_is_shown_as_git_would(repocue: Run, tmp_path: Path) -> None:
    name = b"\xff.json"
    (tmp_path / "x").write_bytes(text_of(documents.task()))
    (tmp_path / "x").rename(tmp_path / name.decode("utf-8", "surrogateescape"))
    assert answer(repocue("schema", "validate", name, cwd=tmp_path))["file"] == '"\\377.json"'


def test_what_the_list_prints_keeps_its_own_contract(repocue: Run) -> None:
    printed = repocue("schema", "list").stdout
    assert answer(repocue("schema", "validate", "-", stdin=printed))["contract"] == "repocue/schema-1"
