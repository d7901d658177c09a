"""Reading one HTTP/1.1 response from bytes, with a bound on everything (RFC 9112 framing by h11).

Stricter than a browser, because a response that can be read in two ways must not become evidence: HTTP/1.0, more
than one Content-Length (equal ones too), Content-Length beside Transfer-Encoding and bytes after the end are refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import h11

if TYPE_CHECKING:
    from repocue.evaluation.cache.limits import SendLimits

_LENGTH: Final = re.compile(rb"^content-length[ \t]*:([^\n]*)", re.IGNORECASE | re.MULTILINE)
_FRAMED: Final = re.compile(rb"^transfer-encoding[ \t]*:", re.IGNORECASE | re.MULTILINE)
_TOO_LARGE: Final = 431
"""What h11 would have a server answer where its bound on incomplete input was hit."""
_FRAMING_OVERHEAD: Final = 8
"""Chunks of one byte need six bytes; more than this many bytes on the wire for each of the body is no answer."""


class Refused(Exception):
    """The response breaks a bound or cannot be read in one way only; `reason` names how (see `sender`)."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ResponseReader:
    """Feed it what arrives; it keeps status, fields and at most `limits.response_body_bytes` of body."""

    __slots__ = (
        "_body",
        "_connection",
        "_head",
        "_head_read",
        "_limits",
        "_received",
        "content_encoding",
        "is_complete",
        "request_ids",
        "status",
    )

    def __init__(self, connection: h11.Connection, limits: SendLimits) -> None:
        self._connection = connection
        self._limits = limits
        self._head = bytearray()
        self._head_read = 0
        self._body = bytearray()
        self._received = 0
        self.status: int | None = None
        self.content_encoding: str | None = None
        """What Content-Encoding says, where it says anything but identity."""
        self.request_ids: list[bytes] = []
        self.is_complete = False

    @property
    def body(self) -> bytes:
        """The body as far as it was read, with chunked framing taken off."""
        return bytes(self._body)

    @property
    def has_bytes(self) -> bool:
        """Whether the peer sent anything at all."""
        return self._received > 0

    def feed(self, data: bytes) -> None:
        """Take bytes from the peer. Raises Refused."""
        self._received += len(data)
        if self.status is None:
            data = self._feed_head(data)
        if data and not self.is_complete:
            self._advance(data)
            data = b""
        if self.is_complete and (data or self._connection.trailing_data[0]):
            raise Refused("response-trailing-bytes")
        if self._received > self._limits.header_bytes + _FRAMING_OVERHEAD * self._limits.response_body_bytes:
            raise Refused("response-too-large")

    def _feed_head(self, data: bytes) -> bytes:
        """Take no more than the bound on headers leaves room for; returns the rest."""
        room = self._limits.header_bytes - len(self._head)
        self._head += data[:room]
        self._advance(data[:room])
        if self.status is None and len(self._head) >= self._limits.header_bytes:
            raise Refused("response-headers-too-large")
        return data[room:]

    def end(self, *, clean: bool) -> None:
        """The peer sends no more; `clean` says that TLS confirmed it. Raises Refused unless the response is whole."""
        if self.status is None:
            raise Refused("response-truncated")
        if not clean:  # without TLS's ending, a body that lasts "until the end" may have been cut by anyone
            raise Refused("response-truncated")
        self._advance(b"")

    def _advance(self, data: bytes) -> None:
        self._connection.receive_data(data)
        while True:
            try:
                event = self._connection.next_event()
            except h11.RemoteProtocolError as error:
                raise Refused(_why_unreadable(error, at_end=not data)) from None
            if event is h11.NEED_DATA or event is h11.PAUSED:
                return
            if isinstance(event, h11.InformationalResponse):
                self._take_block()
            elif isinstance(event, h11.Response):
                self._begin(event)
            elif isinstance(event, h11.Data):
                self._keep(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                if len(event.headers) > self._limits.header_fields:
                    raise Refused("response-fields-too-many")
                self.is_complete = True
                return
            else:
                return

    def _begin(self, event: h11.Response) -> None:
        block = self._take_block()
        self.status = event.status_code
        if event.http_version != b"1.1":
            raise Refused("response-http-version")
        lengths = _LENGTH.findall(block)
        if len(lengths) + len(_FRAMED.findall(block)) > 1 or any(b"," in value for value in lengths):
            raise Refused("response-framing-ambiguous")
        encodings = [value for name, value in event.headers if name == b"content-encoding"]
        named = b",".join(encodings).strip().lower()
        if named not in (b"", b"identity"):
            self.content_encoding = named.decode("latin-1")
        self.request_ids = [value for name, value in event.headers if name == b"request-id"]

    def _take_block(self) -> bytes:
        """The raw header block that was just parsed, interim ones included one by one. Raises Refused."""
        end = len(self._head) - len(self._connection.trailing_data[0])
        block = bytes(self._head[self._head_read : end])
        self._head_read = end
        lines = block.rstrip(b"\r\n").split(b"\n")[1:]
        if sum(not line.startswith((b" ", b"\t")) for line in lines) > self._limits.header_fields:
            raise Refused("response-fields-too-many")
        return block

    def _keep(self, data: bytes) -> None:
        room = self._limits.response_body_bytes - len(self._body)
        self._body += data[:room]
        if len(data) > room:
            raise Refused("response-too-large")


def _why_unreadable(error: h11.RemoteProtocolError, *, at_end: bool) -> str:
    if error.error_status_hint == _TOO_LARGE:
        return "response-headers-too-large"  # trailers, or a chunk's extensions
    return "response-truncated" if at_end else "response-malformed"


def connection(limits: SendLimits) -> h11.Connection:
    """A client connection whose own bound on incomplete input is the one on headers."""
    return h11.Connection(h11.CLIENT, max_incomplete_event_size=limits.header_bytes)


def head_and_body(made: h11.Connection, path: str, fields: list[tuple[str, str]], body: bytes) -> bytes:
    """The exact bytes of the request: request line, `fields` in this order and no others, body."""
    parts: list[Any] = [
        made.send(h11.Request(method="POST", target=path, headers=fields)),
        made.send(h11.Data(data=body)),
        made.send(h11.EndOfMessage()),
    ]
    return b"".join(parts)
