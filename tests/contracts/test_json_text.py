"""Reading JSON text: every way in which text can be no JSON that a contract may carry, with its JSON pointer."""

from __future__ import annotations

import json
import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.contracts.jsontext import DEFAULT_LIMITS, Limits, read_json
from repocue.errors import ContractError


def refused(data: bytes, limits: Limits = DEFAULT_LIMITS) -> ContractError:
    with pytest.raises(ContractError) as caught:
        read_json(data, limits=limits)
    return caught.value


def test_the_default_limits_are_16_mebibytes_and_64_levels() -> None:
    assert Limits(max_bytes=16_777_216, max_depth=64) == DEFAULT_LIMITS


def test_values_keep_their_types_and_members_their_order() -> None:
    value = read_json(b'{"b":1,"a":[1.0,1e3,-0.0,true,null,"\\u00e9\\ud83d\\ude00"],"c":9007199254740991}')
    assert list(value) == ["b", "a", "c"]
    assert [type(part) for part in value["a"]] == [float, float, float, bool, type(None), str]
    assert value["a"] == [1.0, 1000.0, 0.0, True, None, "é😀"]
    assert math.copysign(1, value["a"][2]) == -1
    assert value["c"] == 2**53 - 1


@pytest.mark.parametrize(
    ("data", "code", "pointer", "words"),
    [
        (b'\xef\xbb\xbf{"a":1}', "encoding", None, "byte order mark"),
        ('{"a":1}'.encode("utf-16"), "encoding", None, "UTF-16"),
        (b'{"a":"\xff"}', "encoding", None, "byte 6 is 0xff"),
        (b'{"a":"\xed\xa0\x80"}', "encoding", None, "byte 6 is 0xed"),  # a surrogate in UTF-8's clothing
        (b'{"a":"\xc0\xaf"}', "encoding", None, "byte 6 is 0xc0"),  # an overlong slash
        (b"", "syntax", None, "line 1, column 1"),
        (b"{}\n{}", "syntax", None, "line 2, column 1"),
        (b'{"a":1,}', "syntax", None, "column 8"),
        (b"{'a':1}", "syntax", None, "column 2"),
        (b'{"a":01}', "syntax", None, "column 7"),
        (b'{"a":+1}', "syntax", None, "column 6"),
        (b'{"a":.5}', "syntax", None, "column 6"),
        (b'{"a":"\t"}', "syntax", None, "column 7"),
        (b'{"a":1}//', "syntax", None, "column 8"),
        (b'\xc2\xa0{"a":1}', "syntax", None, "column 1"),  # a no-break space is no JSON white space
        (b'{"a":"x', "syntax", None, "column 6"),
        (b'{"a":1,"b":2,"a":1}', "duplicate-member", "/a", "more than once"),
        (b'{"x":[{"a/b":{"~":1,"~":2}}]}', "duplicate-member", "/x/0/a~1b/~0", "more than once"),
        (b'{"a":1,"\\u0061":2}', "duplicate-member", "/a", "more than once"),
        (b'{"x":{"":1,"":1}}', "duplicate-member", "/x/", "more than once"),
        (b'{"a":[1,NaN]}', "number", "/a/1", "NaN is not a JSON number"),
        (b'{"a":Infinity}', "number", "/a", "Infinity"),
        (b'{"a":-Infinity}', "number", "/a", "-Infinity"),
        (b'{"a":1e400}', "number", "/a", "too large"),
        (b'{"a":-1e400}', "number", "/a", "too large"),
        (b'{"a":1e-400}', "number", "/a", "would become zero"),
        (b'{"a":-0.0000001e-999}', "number", "/a", "would become zero"),
        (b'{"a":9007199254740992}', "number", "/a", "beyond"),
        (b'{"a":-9007199254740992}', "number", "/a", "beyond"),
        (b'{"a":' + b"9" * 10_000 + b"}", "number", "/a", "beyond"),
        (b'{"a":"\\ud800"}', "text", "/a", "half a surrogate pair"),
        (b'{"a":["\\udc00\\ud800"]}', "text", "/a/0", "half a surrogate pair"),
        (b'{"x":{"\\ud800":1}}', "text", "/x", "in a member's name"),
        (b'{"x":{"\\ud800":1,"\\ud800":2}}', "text", "/x", "in a member's name"),
    ],
)
def test_bad_text_is_refused_with_its_place(data: bytes, code: str, pointer: str | None, words: str) -> None:
    error = refused(data)
    assert (error.code, error.pointer) == ("contract." + code, pointer)
    assert words in error.message
    assert len(error.message) < 400


def test_zero_is_not_taken_for_a_number_that_became_zero() -> None:
    assert read_json(b"[0.000, 0e999, -0.0E-5, 0]") == [0.0, 0.0, 0.0, 0]


def test_the_first_defect_in_document_order_is_named() -> None:
    assert refused(b'{"a":{"b":NaN},"c":1,"c":2}').pointer == "/c"
    assert refused(b'[{"b":NaN},{"c":1,"c":2}]').pointer == "/0/b"


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_40_000_nested_containers_are_one_clear_error(opening: bytes) -> None:
    closing = b"]" if opening == b"[" else b"}"
    for data in (opening * 40_000 + b"1" + closing * 40_000, opening * 40_000):
        error = refused(data)
        assert error.code == "contract.depth"
        assert "more than 64 levels deep" in error.message


def test_depth_is_counted_exactly() -> None:
    assert read_json(b"[" * 64 + b"]" * 64)
    assert refused(b"[" * 65 + b"]" * 65).code == "contract.depth"
    assert read_json(b'{"a":[{}]}', limits=Limits(max_depth=3))
    assert refused(b'{"a":[{}]}', Limits(max_depth=2)).code == "contract.depth"
    assert read_json(b"[" + b",".join([b"[]"] * 1000) + b"]", limits=Limits(max_depth=2))


def test_brackets_inside_strings_are_no_nesting() -> None:
    text = json.dumps(["[{" * 500, '\\"[' * 100, "\\"]).encode()
    assert read_json(text, limits=Limits(max_depth=1)) == json.loads(text)


def test_an_unfinished_string_full_of_quotes_takes_linear_time() -> None:
    # Quadratic work over two million characters would take hours, so finishing is the assertion.
    assert refused(b'[[["' + b'\\"' * 1_000_000, Limits(max_depth=2)).code == "contract.depth"
    assert refused(b'["' + b'\\"' * 1_000_000 + b"[" * 70).code == "contract.syntax"


def test_size_is_counted_exactly() -> None:
    assert read_json(b'"12345678"', limits=Limits(max_bytes=10)) == "12345678"
    error = refused(b'"123456789"', Limits(max_bytes=10))
    assert error.code == "contract.size"
    assert "11 bytes; at most 10" in error.message


def test_a_deep_text_is_refused_under_a_small_recursion_limit() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(300, len(__import__("inspect").stack()) + 150))
    try:
        assert refused(b"[" * 40_000).code == "contract.depth"
    finally:
        sys.setrecursionlimit(limit)


_TEXTS = st.text(st.characters(codec="utf-8"))
_INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1)
_JSON = st.recursive(
    st.none() | st.booleans() | _INTEGERS | st.floats(allow_nan=False, allow_infinity=False) | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(_JSON, st.booleans())
def test_any_plain_value_is_read_as_python_reads_it(value: object, escaped: bool) -> None:
    text = json.dumps(value, ensure_ascii=escaped)
    assert read_json(text.encode()) == json.loads(text)


@given(st.binary(max_size=60))
def test_any_bytes_give_a_value_or_a_contract_error(data: bytes) -> None:
    try:
        value = read_json(data)
    except ContractError:
        return
    assert value == json.loads(data)
