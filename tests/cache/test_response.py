"""Law: how a response is cut into pieces changes nothing, and nothing beyond a bound is ever kept."""

from __future__ import annotations

from itertools import pairwise

import h11
from hypothesis import given
from hypothesis import strategies as st

from repocue.evaluation.cache import response
from repocue.evaluation.cache.limits import SendLimits
from repocue.evaluation.cache.response import Refused, ResponseReader

LIMITS = SendLimits(response_body_bytes=40, header_bytes=160, header_fields=4)


def read(pieces: list[bytes], *, clean: bool = True) -> tuple[str | None, int | None, bytes, bool]:
    """(refusal, status, body, whether complete) after the pieces and then the end of the stream."""
    connection = response.connection(LIMITS)
    response.head_and_body(connection, "/", [("host", "h"), ("content-length", "2")], b"{}")
    reader = ResponseReader(connection, LIMITS)
    reason = None
    try:
        for piece in pieces:
            reader.feed(piece)
        if not reader.is_complete:
            reader.end(clean=clean)
    except Refused as refused:
        reason = refused.reason
    return reason, reader.status, reader.body, reader.is_complete


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % (len(data) + 1) for place in places} | {0, len(data)})
    return [data[first:last] for first, last in pairwise(ends)]


FIELDS = st.lists(
    st.sampled_from(
        [
            b"content-length: 5",
            b"content-length: 5",
            b"Content-Length: 5",
            b"content-length: 500",
            b"transfer-encoding: chunked",
            b"x: y",
            b"x: " + b"y" * 60,
            b" folded",
            b"broken",
            b"content-encoding: gzip",
        ]
    ),
    max_size=6,
)
BODIES = st.sampled_from(
    [
        b"12345",
        b"5\r\n12345\r\n0\r\n\r\n",
        b"5;e=1\r\n12345\r\n0\r\nx: y\r\n\r\n",
        b"5\r\n12345\r\n",
        b"ff\r\n" + b"x" * 255,
        b"1234",
        b"123456",
        b"x" * 80,
        b"",
    ]
)
STATUS = st.sampled_from([b"HTTP/1.1 200 OK", b"HTTP/1.1 204 No", b"HTTP/1.0 200 OK", b"HTTP/1.1 103 Hints", b"junk"])


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    head = b"\r\n".join([draw(STATUS), *draw(FIELDS)]) + b"\r\n\r\n"
    return draw(st.sampled_from([b"", b"HTTP/1.1 103 Hints\r\n\r\n"])) + head + draw(BODIES)


@given(data=streams() | st.binary(max_size=80), places=st.lists(st.integers(0, 400), max_size=12), clean=st.booleans())
def test_any_stream_in_any_pieces_ends_in_one_outcome_within_the_bounds(
    data: bytes, places: list[int], clean: bool
) -> None:
    whole, pieces = read([data] if data else [], clean=clean), read(cut(data, places), clean=clean)
    assert len(whole[2]) <= LIMITS.response_body_bytes
    assert (whole[0] is None) == whole[3] or whole[0] == "response-trailing-bytes"
    if whole[0] == "response-malformed" or pieces[0] == "response-malformed":
        # What was already good before the fault may have been passed on in pieces; the refusal is the same.
        assert pieces[:2] == whole[:2]
    else:
        assert pieces == whole


@given(data=streams())
def test_an_answer_that_is_accepted_is_one_that_h11_reads_alone(data: bytes) -> None:
    """Ours only refuses more: what it accepts, a plain h11 client reads to the same status and body."""
    reason, status, body, complete = read([data])
    if reason is not None or not complete:
        return
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="POST", target="/", headers=[("host", "h"), ("content-length", "0")]))
    client.send(h11.EndOfMessage())
    client.receive_data(data)
    client.receive_data(b"")
    found: list[tuple[int, bytes]] = []
    while not isinstance(event := client.next_event(), h11.EndOfMessage):
        if isinstance(event, h11.Response):
            found.append((event.status_code, b""))
        elif isinstance(event, h11.Data):
            found[-1] = (found[-1][0], found[-1][1] + bytes(event.data))
    assert found == [(status, body)]
