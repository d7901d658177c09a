"""One non-streaming HTTPS POST, exactly once: no redirect, retry, proxy, netrc, compression or connection reuse.

What happened is a `Sent`. Its `failure` is None for a complete response of any status, else one of:

* before a request byte was written: ``name-not-found``, ``not-loopback``, ``connect-failed``, ``connect-timeout``,
  ``tls-certificate``, ``tls-version``, ``tls-failed``;
* while writing: ``write-failed``;
* then: ``no-response``, ``response-truncated``, ``response-malformed``, ``response-http-version``,
  ``response-framing-ambiguous``, ``response-headers-too-large``, ``response-fields-too-many``,
  ``response-too-large``, ``response-trailing-bytes``, ``response-encoded``, ``credential-echo``;
* at any time: ``deadline``, ``interrupted``.
"""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from repocue.evaluation.cache import echo, response
from repocue.evaluation.cache.dial import NotConnected, connect
from repocue.evaluation.cache.exchange import Exchange
from repocue.evaluation.shared.clock import AttemptClock, Deadline

if TYPE_CHECKING:
    from collections.abc import Callable

    from repocue.evaluation.cache.endpoint import Endpoint
    from repocue.evaluation.cache.limits import SendLimits
    from repocue.evaluation.cache.secret import Secret

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}\Z")


@dataclass(slots=True, kw_only=True)
class Sent:
    """What became of one request. Filled as it goes, so that an interruption loses nothing that was known.

    The HTTP times enclose the first byte written and the last one read or the failure; both are None where no byte
    of the request could be written, connecting included. `written_bytes` of `wire_bytes` (request line, fields and
    body) were handed to the kernel. `body` is the response's, None where there is none or where it is withheld;
    `body_bytes` and `body_sha256` describe it even then.
    """

    http_started_ms: int | None = None
    http_finished_ms: int | None = None
    wire_bytes: int = 0
    written_bytes: int = 0
    status: int | None = None
    request_id: str | None = None
    body: bytes | None = None
    body_bytes: int | None = None
    body_sha256: str | None = None
    is_withheld: bool = False
    is_response_complete: bool = False
    failure: str | None = None
    detail: str | None = None

    @property
    def is_request_complete(self) -> bool:
        """Whether the request's last byte was handed to the kernel."""
        return 0 < self.wire_bytes == self.written_bytes


def fields(endpoint: Endpoint, api_version: str, body_bytes: int, key: Secret) -> list[tuple[str, str]]:
    """The complete list of header fields, in order. Nothing else is ever sent."""
    return [
        ("host", endpoint.host_header),
        ("accept", "application/json"),
        ("accept-encoding", "identity"),
        ("connection", "close"),
        ("content-type", "application/json"),
        ("content-length", str(body_bytes)),
        ("anthropic-version", api_version),
        ("x-api-key", key.reveal()),
    ]


def send(
    sent: Sent,
    *,
    endpoint: Endpoint,
    context: ssl.SSLContext,
    api_version: str,
    body: bytes,
    key: Secret,
    limits: SendLimits,
    clock: AttemptClock,
    cancelled: Callable[[], bool] | None = None,
) -> None:
    """Send `body` once and fill `sent`; raises nothing for what the network or the peer does.

    `key.is_sendable` must hold. Once `cancelled` says so, the request is left where it is. An exception from outside
    leaves `sent` as far as it got; then a last record may have been handed over that is not counted.
    """
    whole = Deadline(limits.request_s, cancelled)
    connection = response.connection(limits)
    wire = response.head_and_body(connection, endpoint.path, fields(endpoint, api_version, len(body), key), body)
    sent.wire_bytes = len(wire)
    try:
        socket = connect(endpoint, context, whole.within(limits.connect_s))
    except NotConnected as error:
        sent.failure, sent.detail = error.reason, error.detail
        return
    reader = response.ResponseReader(connection, limits)
    exchange = Exchange(socket, wire, reader, whole)
    sent.http_started_ms = clock.now_ms()
    try:
        exchange.run()
        sent.failure = exchange.failure
    except BaseException:
        sent.failure = "interrupted"
        raise
    finally:
        sent.http_finished_ms = clock.now_ms()
        socket.close()
        sent.written_bytes = exchange.written
        _keep(sent, reader, key.reveal())


def _keep(sent: Sent, reader: response.ResponseReader, key: str) -> None:
    """Take over what may be kept of the response: nothing that repeats the key, nothing that cannot be looked at."""
    from repocue.contracts.canonical import digest

    sent.status = reader.status
    sent.is_response_complete = reader.is_complete and sent.failure is None
    if reader.status is None:
        return
    if len(reader.request_ids) == 1:
        text = reader.request_ids[0].decode("latin-1")
        if _REQUEST_ID.match(text) and not echo.repeats(text.encode(), key):
            sent.request_id = text
    body = reader.body
    sent.body_bytes, sent.body_sha256 = len(body), digest(body)
    if echo.repeats(body, key) or (not reader.is_complete and echo.breaks_off_within(body, key)):
        sent.is_withheld = True
        sent.failure = sent.failure or "credential-echo"
    elif reader.content_encoding is not None or echo.is_compressed(body):
        sent.is_withheld = True
        sent.failure = sent.failure or "response-encoded"
    else:
        sent.body = body
