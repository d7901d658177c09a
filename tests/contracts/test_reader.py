"""The steps after the text: version, kind, schema, rules, canonical form, typed values."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from repocue.contracts import canonical, reader, registry, schemas
from repocue.errors import ContractError
from tests.contracts import documents
from tests.contracts.documents import text_of


def refused(data: bytes, **options: object) -> ContractError:
    with pytest.raises(ContractError) as caught:
        reader.read(data, **{"contract": None, **options})  # type: ignore[arg-type]  # options vary by test
    return caught.value


def test_another_known_contract_is_refused_by_both_names() -> None:
    error = refused(text_of(documents.observation(3)), contract="repocue/evaluation-runner-4")
    assert error.pointer == "/schema_version"
    assert error.code == "contract.version"
    assert "repocue/evaluation-runner-4 is wanted here, not repocue/evaluation-runner-3" in error.message


def test_one_of_several_contracts_may_be_wanted() -> None:
    both = ("repocue/evaluation-runner-3", "repocue/evaluation-runner-4")
    for version in (3, 4):
        assert reader.read(text_of(documents.observation(version)), contract=both)
    assert (
        "repocue/evaluation-runner-3 or repocue/evaluation-runner-4 is wanted"
        in refused(text_of(documents.task()), contract=both).message
    )


def test_a_newer_version_is_refused_by_name_before_its_members_are_looked_at() -> None:
    error = refused(b'{"schema_version":"repocue/evaluation-9","new_member":1}', contract="repocue/evaluation-4")
    assert '"repocue/evaluation-9" is newer than this version of RepoCue reads' in error.message
    assert error.hint is not None
    assert "repocue/2" in refused(b'{"schema_version":"repocue/2"}').message


@pytest.mark.parametrize(
    "name",
    ["repocue/", "repocue/1/", "repocue/../error-1", "repocue/error-01", "repocue/error-0", "error-1", "repocue/é-1"],
)
def test_a_name_that_is_no_contract_is_refused_and_opens_no_file(name: str) -> None:
    assert refused(text_of({"schema_version": name})).code == "contract.version"


@pytest.mark.parametrize("data", [b"[]", b"null", b'"repocue/task-1"', b"7"])
def test_a_document_is_an_object(data: bytes) -> None:
    error = refused(data)
    assert error.pointer == ""
    assert "must be an object" in error.message


def test_a_kind_may_be_wanted() -> None:
    data = text_of(documents.cache_summary())
    assert reader.read(data, contract="repocue/cache-evaluation-1", kind="summary")
    error = refused(data, contract="repocue/cache-evaluation-1", kind="assessment-bundle")
    assert error.pointer == "/kind"
    assert 'must be assessment-bundle, not "summary"' in error.message


def test_messages_name_the_document_when_it_has_a_name() -> None:
    data = text_of(documents.task() | {"kind": "riddle"})
    assert refused(data, subject="task.json").message.startswith("task.json (repocue/task-1) at /kind: must be one of")
    assert refused(b"{", subject="task.json").message.startswith("task.json is not JSON")


def test_the_error_tells_the_first_fault_in_document_order_and_counts_the_rest() -> None:
    error = refused(text_of(documents.task() | {"id": "", "kind": 1, "more": 2}))
    assert error.pointer == "/id"
    assert error.message.endswith("(and 2 other problems)")
    problems = reader.problems(documents.task() | {"id": "", "kind": 1, "more": 2})
    assert [problem.pointer for problem in problems] == ["/id", "/kind", "/more"]


def test_ten_thousand_faults_are_one_short_error() -> None:
    document = documents.task() | {f"x{number}": number for number in range(10_000)}
    assert len(refused(text_of(document)).message) < 200


def test_dates_are_held_to_the_day_that_is_passed_in() -> None:
    data = text_of(documents.task_policy())
    assert reader.read(data, contract=None)
    assert reader.read(data, contract=None, context=reader.Context(today="2026-10-09"))
    assert refused(data, context=reader.Context(today="2026-10-08")).pointer == "/rates/date"


def test_only_the_canonical_bytes_of_our_own_files_are_read() -> None:
    document = documents.cache_request()
    data = canonical.document(document)
    assert reader.read_canonical(data, contract="repocue/cache-request-1") == document
    indented = canonical.document(document, indent=True)
    assert reader.read_canonical(indented, contract="repocue/cache-request-1", indent=True) == document
    for altered in (
        data[:-1],
        data + b"\n",
        data.replace(b":", b": ", 1),
        data.replace(b"cache-a", b"\\u0063ache-a"),
        indented,
    ):
        with pytest.raises(ContractError, match="not in the form in which RepoCue writes it"):
            reader.read_canonical(altered, contract="repocue/cache-request-1")


class Usage(msgspec.Struct):
    """What a provider may send: members beyond these pass."""

    input_tokens: int
    cache_read_input_tokens: int | msgspec.UnsetType | None = msgspec.UNSET


class Response(msgspec.Struct):
    usage: list[Usage]


def test_a_provider_response_may_have_extension_members_but_no_duplicates_or_unsafe_counters() -> None:
    value = reader.read_json(b'{"id":"m","usage":[{"input_tokens":3,"new":{}}]}')
    response = reader.convert(value, Response)
    assert response.usage[0].input_tokens == 3
    assert response.usage[0].cache_read_input_tokens is msgspec.UNSET
    for text, pointer in (
        (b'{"usage":[{"input_tokens":1,"new":1,"new":2}]}', "/usage/0/new"),
        (b'{"usage":[{"input_tokens":9007199254740993}]}', "/usage/0/input_tokens"),
        (b'{"usage":[{"input_tokens":1e999}]}', "/usage/0/input_tokens"),
    ):
        with pytest.raises(ContractError) as caught:
            reader.read_json(text)
        assert caught.value.pointer == pointer


@pytest.mark.parametrize("raw", ["1.0", "1e3", "true", '"3"', "null", "[]"])
def test_conversion_takes_nothing_else_for_an_integer(raw: str) -> None:
    with pytest.raises(ContractError) as caught:
        reader.convert(reader.read_json(f'{{"usage":[{{"input_tokens":{raw}}}]}}'.encode()), Response)
    assert caught.value.pointer == "/usage/0/input_tokens"


def test_absent_and_null_are_kept_apart() -> None:
    null = reader.convert({"usage": [{"input_tokens": 1, "cache_read_input_tokens": None}]}, Response)
    assert null.usage[0].cache_read_input_tokens is None


def test_importing_the_reader_loads_neither_json_nor_a_schema_validator() -> None:
    code = (
        "import sys; from repocue.contracts import reader, registry, schemas; "
        "print(sorted({'json','jsonschema_rs','importlib.resources','pathlib','tempfile'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=True)
    assert done.stdout == b"[]\n"


def test_every_rule_that_is_registered_is_found_and_belongs_to_a_known_contract() -> None:
    for contract in registry._RULES:
        assert contract in schemas.contract_names()
        assert callable(registry.rule(contract))
