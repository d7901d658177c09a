"""A response that repeats the key is recognised through every disguise, and others are let through."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.evaluation.cache.echo import breaks_off_within, is_compressed, is_telling, repeats

KEY = "sk-ant-api03-Zq7uYw0pLmN4xVbC8dEfG2hJkR5sT1aQ9oIiUyXcWvB6nMzP3"

Disguise = Callable[[str], str]


def split_by(separator: str) -> Disguise:
    return lambda key: separator.join(key[start : start + 3] for start in range(0, len(key), 3))


def base64_at(before: int, *, urlsafe: bool = False) -> Disguise:
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    return lambda key: encode(b"abc"[:before] + key.encode() + b"tail").decode()


DISGUISES: dict[str, Disguise] = {
    "plain": lambda key: key,
    "JSON escapes": lambda key: "".join(f"\\u{ord(letter):04x}" for letter in key),
    "JSON escapes in upper case": lambda key: "".join(f"\\u{ord(letter):04X}" for letter in key),
    "some JSON escapes": lambda key: key.replace("-", "\\u002d").replace("a", "\\u0061"),
    "JSON in JSON": lambda key: json.dumps(json.dumps({"k": "".join(f"\\u{ord(letter):04x}" for letter in key)})),
    "percent": lambda key: "".join(f"%{ord(letter):02x}" for letter in key),
    "percent where needed, twice": lambda key: quote(quote(key.replace("-", "%2D"), safe=""), safe=""),
    "HTML, decimal": lambda key: "".join(f"&#{ord(letter)};" for letter in key),
    "HTML, hexadecimal": lambda key: "".join(f"&#x{ord(letter):x};" for letter in key),
    "quoted printable": lambda key: "".join(f"={ord(letter):02X}" for letter in key),
    "octal": lambda key: "".join(f"\\{ord(letter):03o}" for letter in key),
    "C hexadecimal": lambda key: "".join(f"\\x{ord(letter):02x}" for letter in key),
    "ES6": lambda key: "".join(f"\\u{{{ord(letter):x}}}" for letter in key),
    "spaces": split_by(" "),
    "line breaks": split_by("\n"),
    "escaped line breaks": split_by("\\n"),
    "tabs and quotes": split_by('"\t+ "'),
    "NUL": lambda key: "\0".join(key),
    "upper case": str.upper,
    "backwards": lambda key: key[::-1],
    "base64": base64_at(0),
    "base64, one before": base64_at(1),
    "base64, two before": base64_at(2),
    "base64, other alphabet": base64_at(1, urlsafe=True),
    "base64 in lines": lambda key: split_by("\r\n")(base64_at(2)(key)),
    "base64 twice": lambda key: base64.b64encode(base64.b64encode(key.encode())).decode(),
    "basic authorization": lambda key: base64.b64encode(f"api:{key}".encode()).decode(),
    "hexadecimal": lambda key: key.encode().hex(),
    "hexadecimal in upper case, with colons": lambda key: key.encode().hex(":").upper(),
    "hexadecimal as in C": lambda key: ", ".join(f"0x{ord(letter):02x}" for letter in key),
    "decimal codes": lambda key: json.dumps(list(key.encode())),
    "all but its end": lambda key: key[: len(key) * 3 // 4],
    "its end": lambda key: key[len(key) // 4 :],
}


@pytest.mark.parametrize("name", DISGUISES)
def test_the_key_is_found_in_this_disguise(name: str) -> None:
    body = '{"type":"error","error":{"message":"not valid: ' + DISGUISES[name](KEY) + '; try again"}}'
    assert repeats(body.encode(), KEY)


@pytest.mark.parametrize("name", [name for name in DISGUISES if not name.startswith(("all but", "its end"))])
def test_a_short_key_is_found_whole(name: str) -> None:
    body = f'{{"message":"{DISGUISES[name]("test-key-7")}"}}'
    assert repeats(body.encode(), "test-key-7")


@pytest.mark.parametrize("key", ["k", "sk'\"$%", "test", "sk-ant!"])
def test_a_key_of_a_few_characters_is_found_as_it_is_and_taken_for_nothing_else(key: str) -> None:
    assert repeats(f"before{key}after".encode(), key)
    assert repeats("".join(f"\\u{ord(letter):04x}" for letter in key).encode(), key)
    assert not repeats(b"risqs, tset, dGVzdA, 74657374, s-ant", key)
    assert not is_telling(key)


KEYS = st.text(alphabet=string.ascii_letters + string.digits + "-_", min_size=20, max_size=120)


@given(key=KEYS, name=st.sampled_from(sorted(DISGUISES)), before=st.binary(max_size=40), after=st.binary(max_size=40))
def test_any_key_is_found_in_any_disguise_amid_any_bytes(key: str, name: str, before: bytes, after: bytes) -> None:
    """What cannot be part of a key stands between, as it does in every JSON text."""
    whole = key if not name.startswith(("all but", "its end")) else (key * 6)[:120]
    assert repeats(before + b'" ' + DISGUISES[name](whole).encode() + b' "' + after, whole)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b'{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"req_01"}',
        b'{"message":"your key sk-ant-api03-...MzP3 has expired"}',
        json.dumps({"text": "sk-ant- keys are 108 characters of base64url", "usage": {"input_tokens": 12}}).encode(),
    ],
)
def test_ordinary_answers_are_let_through(body: bytes) -> None:
    assert not repeats(body, KEY)


def test_a_large_answer_of_random_base64_hexadecimal_and_numbers_is_let_through() -> None:
    source = random.Random(7)
    body = json.dumps(
        {
            "signature": base64.b64encode(source.randbytes(300_000)).decode(),
            "digest": source.randbytes(300_000).hex(),
            "codes": [source.randrange(256) for _ in range(100_000)],
        }
    ).encode()
    assert not repeats(body, KEY)


def test_no_key_repeats_nothing() -> None:
    assert not repeats(b"anything", "")


def test_only_a_beginning_long_enough_to_tell_counts_as_a_cut_key() -> None:
    assert breaks_off_within(b"key: " + KEY[:16].encode(), KEY)
    assert breaks_off_within(b"key: " + KEY[:-1].encode(), KEY)
    assert not breaks_off_within(b"key: " + KEY[:15].encode(), KEY)
    assert not breaks_off_within(b"", KEY)


def test_gzip_is_recognised_by_its_first_bytes() -> None:
    assert is_compressed(b"\x1f\x8b\x08\x00")
    assert not is_compressed(b'{"a":1}')
