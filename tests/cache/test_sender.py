"""The sender over real TLS on loopback: exact bytes out, every kind of answer in, one request whatever happens."""

from __future__ import annotations

import datetime as dt
import gzip
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from repocue.evaluation.cache import endpoint as endpoints
from repocue.evaluation.cache import tls
from repocue.evaluation.cache.limits import DEFAULT_LIMITS, SendLimits
from repocue.evaluation.cache.secret import Secret
from repocue.evaluation.cache.sender import Sent, send
from repocue.evaluation.shared.clock import AttemptClock
from tests.cache.provider import Authority, Peer, Provider, Script

KEY = "sk-ant-api03-Zq7uYw0pLmN4xVbC8dEfG2hJkR5sT1aQ9oIiUyXcWvB6nMzP3"
BODY = b'{"model":"m","text":"\xc3\xa9"}'
SMALL = SendLimits(
    request_bytes=1 << 20, response_body_bytes=1000, header_bytes=500, header_fields=5, connect_s=20, request_s=20
)
GOOD = b'{"type":"message"}'


def sent_to_url(
    authority: Authority,
    url: str,
    *,
    sent: Sent | None = None,
    body: bytes = BODY,
    limits: SendLimits = SMALL,
    context: ssl.SSLContext | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Sent:
    sent = sent or Sent()
    send(
        sent,
        endpoint=endpoints.parse(url),
        context=context or tls.context(authority.file),
        api_version="2023-06-01",
        body=body,
        key=Secret(KEY),
        limits=limits,
        clock=AttemptClock(),
        cancelled=cancelled,
    )
    return sent


def sent_to(provider: Provider, authority: Authority, *, host: str = "127.0.0.1", **more: Any) -> Sent:
    sent = sent_to_url(authority, provider.url(host), **more)
    assert not provider.failures
    return sent


def outcome(authority: Authority, script: Script, **more: Any) -> tuple[Sent, Provider]:
    with Provider(authority.server(), script) as provider:
        sent = sent_to(provider, authority, **more)
    assert provider.connections == 1, "one connection, whatever happens"
    assert len(provider.requests) <= 1
    return sent, provider


def answering(data: bytes) -> Script:
    """Read the request, send these bytes in one write, end cleanly."""

    def script(peer: Peer) -> None:
        peer.read_request()
        peer.send(data)

    return script


# --- what is sent


def test_the_request_is_exactly_its_line_its_fields_in_order_and_its_body(authority: Authority) -> None:
    sent, provider = outcome(authority, lambda peer: (peer.read_request(), peer.respond(GOOD))[0])
    assert provider.requests == [
        b"POST /v1/messages HTTP/1.1\r\n"
        b"host: 127.0.0.1:%d\r\n"
        b"accept: application/json\r\n"
        b"accept-encoding: identity\r\n"
        b"connection: close\r\n"
        b"content-type: application/json\r\n"
        b"content-length: 25\r\n"
        b"anthropic-version: 2023-06-01\r\n"
        b"x-api-key: %s\r\n"
        b"\r\n%s" % (provider.port, KEY.encode(), BODY)
    ]
    assert sent.wire_bytes == sent.written_bytes == len(provider.requests[0])
    assert sent.is_request_complete


def test_a_complete_answer_is_kept_byte_for_byte_with_status_request_id_and_times(authority: Authority) -> None:
    body = bytes(range(256))
    sent, _ = outcome(
        authority, lambda peer: (peer.read_request(), peer.respond(body, fields=b"request-id: req_011CX\r\n"))[0]
    )
    assert (sent.failure, sent.status, sent.request_id) == (None, 200, "req_011CX")
    assert (sent.body, sent.body_bytes, sent.body_sha256) == (body, 256, "sha256:" + sha256(body).hexdigest())
    assert sent.is_response_complete
    assert not sent.is_withheld
    assert sent.http_started_ms is not None
    assert sent.http_finished_ms is not None
    assert sent.http_started_ms <= sent.http_finished_ms


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_both_spellings_of_loopback_are_reached(authority: Authority, host: str) -> None:
    with Provider(authority.server(), answering(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")) as provider:
        assert sent_to(provider, authority, host=host).body == b"{}"


def test_an_ipv6_loopback_address_is_reached(authority: Authority) -> None:
    try:
        provider = Provider(
            authority.server("::1"), answering(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"), host="::1"
        )
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    with provider:
        assert sent_to(provider, authority, host="[::1]").status == 200
    assert b"host: [::1]:%d\r\n" % provider.port in provider.requests[0]


def test_a_body_of_many_megabytes_arrives_whole(authority: Authority) -> None:
    body = os.urandom(6 << 20)
    sent, provider = outcome(authority, lambda peer: (peer.read_request(), peer.respond(GOOD))[0], body=body)
    assert sent.is_request_complete
    assert provider.requests[0].endswith(b"\r\n\r\n" + body)


# --- answers that are whole


@pytest.mark.parametrize("status", [200, 201, 204, 301, 302, 307, 400, 401, 413, 429, 500, 529, 599, 999])
def test_every_status_class_is_a_complete_answer_and_none_is_followed_or_repeated(
    authority: Authority, status: int
) -> None:
    location = b"location: https://127.0.0.1:1/elsewhere\r\nretry-after: 0\r\n"

    def script(peer: Peer) -> None:
        peer.read_request()
        if status == 204:
            peer.send(b"HTTP/1.1 204 No Content\r\n" + location + b"\r\n")
        else:
            peer.respond(GOOD, status=f"{status} Text", fields=location)

    sent, _ = outcome(authority, script)
    assert (sent.status, sent.failure, sent.is_response_complete) == (status, None, True)
    assert sent.body == (b"" if status == 204 else GOOD)


def test_chunks_are_joined_and_trailers_and_extensions_dropped(authority: Authority) -> None:
    data = (
        b'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;x="y"\r\n{"a":\r\n2\r\n1}\r\n0\r\nx-trailer: 1\r\n\r\n'
    )
    sent, _ = outcome(authority, answering(data))
    assert (sent.body, sent.failure) == (b'{"a":1}', None)


def test_interim_answers_are_passed_over(authority: Authority) -> None:
    data = b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
    sent, _ = outcome(authority, answering(data))
    assert (sent.status, sent.body) == (200, b"{}")


def test_an_answer_in_pieces_of_one_byte_is_whole(authority: Authority) -> None:
    def script(peer: Peer) -> None:
        peer.read_request()
        for byte in b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n[12]":
            peer.send(bytes([byte]))

    sent, _ = outcome(authority, script)
    assert (sent.body, sent.failure) == (b"[12]", None)


def test_an_answer_that_lasts_until_tls_ends_it_is_whole(authority: Authority) -> None:
    sent, _ = outcome(authority, answering(b"HTTP/1.1 200 OK\r\n\r\n" + GOOD))
    assert (sent.body, sent.failure) == (GOOD, None)


# --- answers that are not


@pytest.mark.parametrize(
    ("data", "reason", "kept"),
    [
        (b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}", "response-http-version", b""),
        (b"HTTP/2.0 200 OK\r\ncontent-length: 2\r\n\r\n{}", "response-http-version", b""),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}", "response-truncated", b"{}"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{}", "response-trailing-bytes", b"{"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}", "response-malformed", None),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\n{}", "response-framing-ambiguous", b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\n{}", "response-framing-ambiguous", b""),
        (b"HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\n{}", "response-malformed", None),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2.0\r\n\r\n{}", "response-malformed", None),
        (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
            "response-framing-ambiguous",
            b"",
        ),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "response-malformed", None),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n", "response-truncated", b"{}"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}x0\r\n\r\n", "response-malformed", b"{}"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-2\r\n{}\r\n", "response-malformed", b""),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "response-trailing-bytes", b""),
        (b"HTTP/1.1 200 OK\r\ncontent-le", "response-truncated", None),
        (b"HTTP/1.1 20 OK\r\n\r\n", "response-malformed", None),
        (b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", "response-malformed", None),
        (b"SSH-2.0-OpenSSH_9.9\r\n\r\n", "response-malformed", None),
        (b"\x00\x01\x02\x03", "response-malformed", None),
        (b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n", "response-malformed", None),
        (b"", "no-response", None),
    ],
)
def test_an_answer_that_is_broken_or_can_be_read_in_two_ways_is_refused_by_name(
    authority: Authority, data: bytes, reason: str, kept: bytes | None
) -> None:
    sent, _ = outcome(authority, answering(data))
    assert (sent.failure, sent.body) == (reason, kept)
    assert not sent.is_response_complete
    assert sent.is_request_complete


def test_a_body_that_only_the_connections_end_delimits_is_truncated_without_tlss_own_ending(
    authority: Authority,
) -> None:
    def script(peer: Peer) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 200 OK\r\n\r\n" + GOOD)
        peer.cut()

    sent, _ = outcome(authority, script)
    assert (sent.failure, sent.body) == ("response-truncated", GOOD)


def test_a_reset_after_the_request_and_before_an_answer_is_no_response(authority: Authority) -> None:
    sent, _ = outcome(authority, lambda peer: (peer.read_request(), peer.reset())[0])
    assert (sent.failure, sent.status, sent.is_request_complete) == ("no-response", None, True)


def test_a_compressed_answer_is_refused_and_not_kept_although_identity_was_asked_for(authority: Authority) -> None:
    body = gzip.compress(GOOD)
    for fields in (b"content-encoding: gzip\r\n", b""):
        sent, _ = outcome(authority, lambda peer, f=fields: (peer.read_request(), peer.respond(body, fields=f))[0])
        assert (sent.failure, sent.body, sent.is_withheld) == ("response-encoded", None, True)
        assert sent.body_sha256 == "sha256:" + sha256(body).hexdigest()
    sent, _ = outcome(
        authority, lambda peer: (peer.read_request(), peer.respond(GOOD, fields=b"content-encoding: identity\r\n"))[0]
    )
    assert sent.failure is None


def test_a_request_id_that_is_odd_or_given_twice_is_not_taken_over(authority: Authority) -> None:
    for fields in (b"request-id: a\r\nrequest-id: b\r\n", b"request-id: a b\r\n", b"request-id: %s\r\n" % KEY.encode()):
        sent, _ = outcome(authority, lambda peer, f=fields: (peer.read_request(), peer.respond(GOOD, fields=f))[0])
        assert (sent.status, sent.request_id) == (200, None)


# --- bounds, each just inside and just outside


def padded_head(size: int, *, fields: int = 1) -> bytes:
    """A response head of exactly `size` bytes with `fields` fields."""
    lines = [b"HTTP/1.1 200 OK", b"content-length: 2", *(b"x: y" for _ in range(fields - 2)), b"pad: "]
    return b"\r\n".join(lines) + b"p" * (size - len(b"\r\n".join(lines)) - 4) + b"\r\n\r\n"


def test_headers_at_the_bound_pass_and_one_byte_more_does_not(authority: Authority) -> None:
    assert len(padded_head(500, fields=2)) == 500
    sent, _ = outcome(authority, answering(padded_head(500, fields=2) + b"{}"))
    assert (sent.failure, sent.body) == (None, b"{}")
    sent, _ = outcome(authority, answering(padded_head(501, fields=2) + b"{}"))
    assert (sent.failure, sent.body) == ("response-headers-too-large", None)


def test_interim_answers_count_towards_the_bound_on_headers(authority: Authority) -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\n\r\n"
    sent, _ = outcome(authority, answering(interim * 30 + padded_head(300, fields=2) + b"{}"))
    assert sent.failure == "response-headers-too-large"
    sent, _ = outcome(authority, answering(interim * 2 + padded_head(500 - 2 * len(interim), fields=2) + b"{}"))
    assert sent.failure is None


def test_fields_at_the_bound_pass_and_one_more_does_not(authority: Authority) -> None:
    sent, _ = outcome(authority, answering(padded_head(200, fields=5) + b"{}"))
    assert sent.failure is None
    sent, _ = outcome(authority, answering(padded_head(200, fields=6) + b"{}"))
    assert sent.failure == "response-fields-too-many"


def test_trailers_are_bounded_like_headers(authority: Authority) -> None:
    chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
    sent, _ = outcome(authority, answering(chunked + b"x: y\r\n" * 6 + b"\r\n"))
    assert sent.failure == "response-fields-too-many"
    sent, _ = outcome(authority, answering(chunked + b"x: " + b"y" * 600))
    assert sent.failure == "response-headers-too-large"


@pytest.mark.parametrize("framing", ["content-length", "chunked", "until the end"])
def test_a_body_at_the_bound_passes_and_of_a_larger_one_no_more_than_the_bound_is_kept(
    authority: Authority, framing: str
) -> None:
    def script(size: int) -> Script:
        head = b"HTTP/1.1 200 OK\r\n"
        if framing == "content-length":
            return answering(head + b"content-length: %d\r\n\r\n" % size + b"x" * size)
        if framing == "chunked":
            return answering(head + b"transfer-encoding: chunked\r\n\r\n%x\r\n" % size + b"x" * size + b"\r\n0\r\n\r\n")
        return answering(head + b"\r\n" + b"x" * size)

    sent, _ = outcome(authority, script(1000))
    assert (sent.failure, sent.body) == (None, b"x" * 1000)
    sent, _ = outcome(authority, script(1001))
    assert (sent.failure, sent.body) == ("response-too-large", b"x" * 1000)


def test_a_body_that_never_ends_is_left(authority: Authority) -> None:
    def script(peer: Peer) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:
            peer.send(b"1;" + b"e" * 40 + b"\r\nx\r\n")

    sent, _ = outcome(authority, script)
    assert sent.failure == "response-too-large"
    assert sent.body is not None
    assert len(sent.body) <= 1000


def test_headers_that_never_end_are_left(authority: Authority) -> None:
    def script(peer: Peer) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 200 OK\r\nx: ")
        while True:
            peer.send(b"y" * 100)

    assert outcome(authority, script)[0].failure == "response-headers-too-large"


def test_a_dripping_answer_ends_at_the_one_deadline_although_something_always_arrives(authority: Authority) -> None:
    def script(peer: Peer) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n")
        while not peer.pause(0.02):
            peer.send(b"x")

    sent, _ = outcome(authority, script, limits=replace(SMALL, request_s=2.0))
    assert sent.failure == "deadline"
    assert sent.body is not None
    assert set(sent.body) == {ord("x")}


def test_silence_after_the_request_ends_at_the_deadline(authority: Authority) -> None:
    sent, _ = outcome(
        authority, lambda peer: (peer.read_request(), peer.wait_until_left())[0], limits=replace(SMALL, request_s=2.0)
    )
    assert (sent.failure, sent.status, sent.is_request_complete) == ("deadline", None, True)


def test_a_server_that_never_reads_ends_at_the_deadline_with_how_far_the_request_got(authority: Authority) -> None:
    def script(peer: Peer) -> None:
        peer.pause(30)

    with Provider(authority.server(), script) as provider:
        sent = sent_to(provider, authority, body=bytes(20 << 20), limits=replace(SMALL, request_s=2.0))
    assert sent.failure == "deadline"
    assert 0 < sent.written_bytes < sent.wire_bytes
    assert not sent.is_request_complete


# --- connections that end early


def test_an_answer_before_the_request_was_read_is_heard_and_the_rest_not_sent(authority: Authority) -> None:
    def script(peer: Peer) -> None:
        peer.read_head()
        peer.respond(b'{"type":"error"}', status="413 Too Large")
        peer.wait_until_left()

    sent, _ = outcome(authority, script, body=bytes(20 << 20))
    assert (sent.status, sent.body, sent.failure) == (413, b'{"type":"error"}', None)
    assert not sent.is_request_complete
    assert sent.written_bytes < sent.wire_bytes


def test_a_reset_while_the_request_is_written_says_so(authority: Authority) -> None:
    sent, _ = outcome(authority, lambda peer: (peer.read_head(), peer.reset())[0], body=bytes(20 << 20))
    assert sent.failure == "write-failed"
    assert 0 < sent.written_bytes < sent.wire_bytes
    assert sent.http_started_ms is not None


def test_a_connection_closed_before_the_request_is_an_early_failure(authority: Authority) -> None:
    """TLS is agreed on, then the server goes: its ending and the request cross."""
    sent, _ = outcome(authority, lambda peer: peer.reset())
    assert sent.failure in ("write-failed", "no-response")
    assert sent.status is None


def test_a_port_where_nobody_listens_is_told_without_any_http(authority: Authority) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    sent = sent_to_url(authority, f"https://127.0.0.1:{port}/v1/messages")
    assert sent.failure == "connect-failed"
    assert sent.detail == os.strerror(111)
    assert (sent.http_started_ms, sent.http_finished_ms, sent.written_bytes) == (None, None, 0)


def test_a_peer_that_never_agrees_on_tls_ends_at_the_bound_on_connecting(authority: Authority) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        sent = sent_to_url(
            authority, f"https://127.0.0.1:{silent.getsockname()[1]}/", limits=replace(SMALL, connect_s=0.2)
        )
    assert (sent.failure, sent.http_started_ms) == ("connect-timeout", None)


# --- TLS


def refused_handshake(authority: Authority, server: ssl.SSLContext, **more: Any) -> Sent:
    with Provider(server, answering(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")) as provider:
        sent = sent_to(provider, authority, **more)
    assert provider.requests == []
    assert (sent.http_started_ms, sent.written_bytes, sent.status) == (None, 0, None)
    return sent


def test_a_certificate_for_another_name_is_refused_before_a_byte_is_sent(authority: Authority) -> None:
    assert refused_handshake(authority, authority.server("example.org")).failure == "tls-certificate"
    assert refused_handshake(authority, authority.server("localhost")).failure == "tls-certificate"
    assert refused_handshake(authority, authority.server("127.0.0.1"), host="localhost").failure == "tls-certificate"


def test_an_expired_certificate_is_refused(authority: Authority) -> None:
    past = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    server = authority.server("127.0.0.1", not_before=past, not_after=past + dt.timedelta(days=1))
    sent = refused_handshake(authority, server)
    assert sent.failure == "tls-certificate"
    assert sent.detail == "certificate has expired"


def test_a_certificate_of_an_unknown_authority_is_refused_also_by_the_systems_trust(
    authority: Authority, tmp_path: Path
) -> None:
    stranger = Authority(str(tmp_path))
    assert refused_handshake(authority, stranger.server()).failure == "tls-certificate"
    assert refused_handshake(authority, authority.server(), context=tls.context(None)).failure == "tls-certificate"


def old_tls(context: ssl.SSLContext) -> ssl.SSLContext:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    return context


def test_tls_1_1_is_refused_and_1_2_is_not(authority: Authority) -> None:
    sent = refused_handshake(authority, old_tls(authority.server()))
    assert sent.failure == "tls-version"
    newer = authority.server()
    newer.maximum_version = ssl.TLSVersion.TLSv1_2
    with Provider(newer, answering(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")) as provider:
        assert sent_to(provider, authority).body == b"{}"


def test_the_tls_1_1_server_of_these_tests_does_serve_a_client_that_accepts_it(authority: Authority) -> None:
    """Else the test above would show nothing."""
    client = old_tls(tls.context(authority.file))
    with Provider(
        old_tls(authority.server()), answering(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
    ) as provider:
        assert sent_to(provider, authority, context=client).body == b"{}"


def test_a_server_without_tls_is_refused(authority: Authority) -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        plain, _ = listener.accept()
        with plain:
            plain.recv(100)
            plain.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    sent = sent_to_url(authority, f"https://127.0.0.1:{listener.getsockname()[1]}/")
    thread.join()
    listener.close()
    assert (sent.failure, sent.http_started_ms) == ("tls-failed", None)


ENVIRONMENT_PROBE = """
import ssl, sys
from repocue.evaluation.cache import endpoint, tls
from repocue.evaluation.cache.limits import SendLimits
from repocue.evaluation.cache.secret import Secret
from repocue.evaluation.cache.sender import Sent, send
from repocue.evaluation.shared.clock import AttemptClock
sent = Sent()
send(sent, endpoint=endpoint.parse(sys.argv[1]), context=tls.context(sys.argv[2] or None), api_version="2023-06-01",
     body=b"{}", key=Secret("k"), limits=SendLimits(), clock=AttemptClock())
print(sent.failure, sent.status)
"""


def test_nothing_of_the_environment_changes_where_or_how_is_sent(authority: Authority, tmp_path: Path) -> None:
    """Proxies, netrc, extra trusted certificates and a key log are each what many clients take from there."""
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login a password b\n")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
        "ALL_PROXY": "socks5://127.0.0.1:9",
        "SSL_CERT_FILE": authority.file,
        "SSL_CERT_DIR": os.path.dirname(authority.file),
        "REQUESTS_CA_BUNDLE": authority.file,
        "SSLKEYLOGFILE": str(tmp_path / "keys.log"),
    }
    with Provider(authority.server(), answering(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")) as provider:
        results = [
            subprocess.run(
                [sys.executable, "-c", ENVIRONMENT_PROBE, provider.url(), ca],
                env=environment,
                capture_output=True,
                text=True,
                timeout=60,
            )
            for ca in (authority.file, "")
        ]
    assert results[0].stdout == "None 200\n", results[0].stderr
    assert results[1].stdout == "tls-certificate None\n", results[1].stderr
    assert len(provider.requests) == 1
    assert b"authorization" not in provider.requests[0].lower()
    assert not (tmp_path / "keys.log").exists()


def test_a_file_without_certificates_is_a_usage_error(tmp_path: Path) -> None:
    from repocue.errors import UsageError

    (tmp_path / "empty.pem").write_bytes(b"")
    for name in ("empty.pem", "missing.pem", "."):
        with pytest.raises(UsageError) as caught:
            tls.context(str(tmp_path / name))
        assert caught.value.code == "usage.endpoint-ca"


# --- the key


def test_the_secret_is_shown_by_nothing_that_prints_values(authority: Authority) -> None:
    import pickle
    import traceback

    secret = Secret(KEY)
    shown = f"{secret} {secret!r} {[secret]} {traceback.format_exception(ValueError(secret))}"
    assert KEY not in shown
    with pytest.raises(TypeError):
        pickle.dumps(secret)


@pytest.mark.parametrize("value", ["", "with space", "line\nbreak", "x" * 513, "é", "tab\t", "nul\0"])
def test_what_cannot_stand_in_a_header_is_no_sendable_key(value: str) -> None:
    assert not Secret(value).is_sendable
    assert Secret(KEY).is_sendable
    assert Secret("x" * 512).is_sendable


def test_an_answer_that_repeats_the_key_is_withheld_but_measured(authority: Authority) -> None:
    body = b'{"error":"no such key: %s"}' % KEY.encode()
    sent, _ = outcome(authority, lambda peer: (peer.read_request(), peer.respond(body, status="401 No"))[0])
    assert (sent.failure, sent.status, sent.body, sent.is_withheld) == ("credential-echo", 401, None, True)
    assert (sent.body_bytes, sent.body_sha256) == (len(body), "sha256:" + sha256(body).hexdigest())


def test_an_answer_cut_off_inside_the_key_is_withheld(authority: Authority) -> None:
    data = b"HTTP/1.1 401 No\r\ncontent-length: 999\r\n\r\nno such key: " + KEY[:20].encode()
    sent, _ = outcome(authority, answering(data))
    assert (sent.failure, sent.body, sent.is_withheld) == ("response-truncated", None, True)


def test_a_wish_to_end_leaves_the_exchange_at_a_known_point(authority: Authority) -> None:
    wish = threading.Event()

    def script(peer: Peer) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{")
        wish.set()
        peer.wait_until_left()

    sent, _ = outcome(authority, script, cancelled=wish.is_set)
    assert (sent.failure, sent.is_request_complete) == ("interrupted", True)
    assert sent.body is None or b"{".startswith(sent.body)


def test_a_wish_to_end_while_connecting_sends_nothing(authority: Authority) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        sent = sent_to_url(authority, f"https://127.0.0.1:{silent.getsockname()[1]}/", cancelled=lambda: True)
    assert (sent.failure, sent.http_started_ms, sent.written_bytes) == ("interrupted", None, 0)


def test_an_interrupt_in_the_middle_leaves_what_was_known(authority: Authority) -> None:
    def script(peer: Peer) -> None:
        peer.read_request()
        os.kill(os.getpid(), signal.SIGINT)
        peer.wait_until_left()

    sent = Sent()
    with Provider(authority.server(), script) as provider, pytest.raises(KeyboardInterrupt):
        sent_to_url(authority, provider.url(), sent=sent)
    assert sent.failure == "interrupted"
    assert sent.http_finished_ms is not None
    assert sent.wire_bytes > 0


def test_the_default_bounds_are_these() -> None:
    assert (
        DEFAULT_LIMITS.send.request_bytes,
        DEFAULT_LIMITS.send.response_body_bytes,
        DEFAULT_LIMITS.send.header_bytes,
        DEFAULT_LIMITS.send.header_fields,
        DEFAULT_LIMITS.send.connect_s,
        DEFAULT_LIMITS.send.request_s,
        DEFAULT_LIMITS.benchmark_bytes,
        DEFAULT_LIMITS.assessment_bytes,
        DEFAULT_LIMITS.steps,
        DEFAULT_LIMITS.sources,
        DEFAULT_LIMITS.source_bytes,
        DEFAULT_LIMITS.max_output_tokens,
        DEFAULT_LIMITS.max_context_tokens,
        DEFAULT_LIMITS.json_depth,
        DEFAULT_LIMITS.child_s,
        DEFAULT_LIMITS.child_stdout_bytes,
    ) == (8388608, 4194304, 65536, 100, 10, 900, 1048576, 1048576, 32, 64, 1048576, 32000, 2097152, 64, 60, 16777216)
