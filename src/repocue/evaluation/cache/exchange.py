"""One request and its response over a connected TLS socket: the bytes, how far they got, what came back.

Writing and reading take turns on a non-blocking socket, so that a server which answers before it has read everything
is heard, and so that one deadline holds whatever the server does (a time limit per socket operation would not).
"""

from __future__ import annotations

import select
import ssl
from typing import TYPE_CHECKING, Final

from repocue.evaluation.cache.response import Refused, ResponseReader

if TYPE_CHECKING:
    from repocue.evaluation.shared.clock import Deadline

_WRITE_BYTES: Final = 16 * 1024
"""One TLS record's worth: when `send` returns, the kernel has the whole record."""
_READ_BYTES: Final = 64 * 1024


class Exchange:
    """Sends `wire` and reads one response. `run` ends with `failure` set or with a complete response.

    `written` counts the bytes of the HTTP message that were handed to the kernel; whether the server read them
    nobody here can know. A failure's name is one of the reasons listed in `sender`.
    """

    __slots__ = (
        "_deadline",
        "_has_progressed",
        "_input_ended",
        "_poll",
        "_socket",
        "_unsent",
        "_wire",
        "failure",
        "reader",
        "written",
    )

    def __init__(self, socket: ssl.SSLSocket, wire: bytes, reader: ResponseReader, deadline: Deadline) -> None:
        self._socket = socket
        self._wire = memoryview(wire)
        self._deadline = deadline
        self._poll = select.poll()
        self._unsent = True
        self._input_ended = False
        self._has_progressed = False
        self.reader = reader
        self.written = 0
        self.failure: str | None = None

    @property
    def is_written(self) -> bool:
        """Whether the message's last byte was handed to the kernel."""
        return self.written == len(self._wire)

    def run(self) -> None:
        """Exchange until the response is complete, the peer is gone, a bound is hit or the deadline passes."""
        try:
            while not self._is_over():
                self.failure = self._deadline.why_over()
                if self.failure is not None:
                    return
                self._has_progressed = False
                events = self._write() | self._read()
                if not self._has_progressed and not self._is_over():
                    self._wait(events)
        except Refused as refused:
            self.failure = refused.reason

    def _is_over(self) -> bool:
        """A final answer ends the exchange, also one that came before the request was read to its end."""
        return self.failure is not None or self.reader.is_complete or self._input_ended

    def _write(self) -> int:
        """Hand one record to the kernel where it takes one; returns the events to wait for otherwise."""
        if self.reader.status is not None:
            self._unsent = False  # answered already: what follows would only be thrown away
        if not self._unsent:
            return 0
        try:
            self.written += self._socket.send(self._wire[self.written : self.written + _WRITE_BYTES])
        except ssl.SSLWantWriteError:
            return select.POLLOUT
        except ssl.SSLWantReadError:
            return 0
        except OSError:  # the peer no longer reads; it may have said why before that
            self._unsent = False
        self._has_progressed = True
        if self.is_written:
            self._unsent = False
        return 0

    def _read(self) -> int:
        """Take what has arrived; returns the events to wait for where nothing has."""
        try:
            data = self._socket.recv(_READ_BYTES)
        except ssl.SSLWantReadError:
            return select.POLLIN
        except ssl.SSLWantWriteError:
            return select.POLLIN | select.POLLOUT
        except OSError:  # reset, or closed without TLS's own ending: what came may have been cut
            data = b""
            is_clean = False
        else:
            is_clean = True
        self._has_progressed = True
        if data:
            self.reader.feed(data)
        else:
            self._end(clean=is_clean)
        return 0

    def _end(self, *, clean: bool) -> None:
        self._input_ended = True
        if self.reader.is_complete:
            return
        if self.reader.status is None and not self.is_written:
            self.failure = "write-failed"
        elif self.reader.status is None and not self.reader.has_bytes:
            self.failure = "no-response"
        else:
            self.reader.end(clean=clean)

    def _wait(self, events: int) -> None:
        self._poll.register(self._socket, events)
        self._poll.poll(self._deadline.wait_ms())
