"""Connecting: name look-up, TCP, TLS, all before one deadline. Nothing of a request is sent here."""

from __future__ import annotations

import os
import queue
import select
import socket
import ssl
import threading
from typing import Final

from repocue.evaluation.cache.endpoint import Endpoint, is_loopback_address
from repocue.evaluation.shared.clock import Deadline

_Address = tuple[socket.AddressFamily, tuple[str, int]]

_OLD_PROTOCOL: Final = frozenset({"UNSUPPORTED_PROTOCOL", "TLSV1_ALERT_PROTOCOL_VERSION", "WRONG_SSL_VERSION"})


class NotConnected(Exception):
    """No connection: `reason` is one of those listed in `sender`, `detail` a sentence about it or None."""

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


def connect(endpoint: Endpoint, context: ssl.SSLContext, deadline: Deadline) -> ssl.SSLSocket:
    """A non-blocking TLS connection to `endpoint`, with the peer's certificate and name checked.

    Addresses are tried in the order in which the system gives them; the first that accepts is used. A loopback
    endpoint's name must lead to loopback addresses. Raises NotConnected.
    """
    addresses = _addresses(endpoint, deadline)
    last = NotConnected("connect-failed")
    for family, address in addresses:
        try:
            plain = _tcp(family, address, deadline)
        except OSError as error:
            last = NotConnected("connect-failed", error.strerror)
            continue
        return _tls(plain, endpoint, context, deadline)
    raise last


def _addresses(endpoint: Endpoint, deadline: Deadline) -> list[_Address]:
    """Look the name up in a thread: the system's resolver knows no deadline, and must not hold up ours."""
    answers: queue.SimpleQueue[list[_Address] | OSError] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            found = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
            answers.put([(family, (str(address[0]), int(address[1]))) for family, _, _, _, address in found])
        except OSError as error:
            answers.put(error)
        except UnicodeError as error:
            answers.put(OSError(str(error)))

    threading.Thread(target=look_up, daemon=True, name="repocue-name-look-up").start()
    while True:
        try:
            answer = answers.get(timeout=deadline.wait_s())
            break
        except queue.Empty:
            _stop_where_over(deadline, "the name was not resolved in time")
    if isinstance(answer, OSError):
        raise NotConnected("name-not-found", answer.strerror)
    if endpoint.is_loopback:
        answer = [(family, address) for family, address in answer if is_loopback_address(address[0])]
        if not answer:
            raise NotConnected("not-loopback", "the name leads to no loopback address")
    return answer


def _tcp(family: socket.AddressFamily, address: tuple[str, int], deadline: Deadline) -> socket.socket:
    """A connected non-blocking socket. Raises OSError where refused, NotConnected where time is up."""
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            made.connect(address)
        except BlockingIOError:
            poll = select.poll()
            poll.register(made, select.POLLOUT)
            while not poll.poll(deadline.wait_ms()):
                _stop_where_over(deadline, "the peer did not accept in time")
            code = made.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                raise OSError(code, os.strerror(code)) from None
    except BaseException:
        made.close()
        raise
    return made


def _tls(plain: socket.socket, endpoint: Endpoint, context: ssl.SSLContext, deadline: Deadline) -> ssl.SSLSocket:
    wrapped = context.wrap_socket(
        plain, server_hostname=endpoint.host, do_handshake_on_connect=False, suppress_ragged_eofs=False
    )
    try:
        _shake_hands(wrapped, deadline)
    except ssl.SSLCertVerificationError as error:
        wrapped.close()
        raise NotConnected("tls-certificate", error.verify_message) from None
    except OSError as error:
        wrapped.close()
        reason = getattr(error, "reason", None)
        if reason in _OLD_PROTOCOL:
            raise NotConnected("tls-version", "the peer offers nothing newer than TLS 1.1") from None
        raise NotConnected("tls-failed", reason or error.strerror) from None
    except BaseException:
        wrapped.close()
        raise
    return wrapped


def _shake_hands(wrapped: ssl.SSLSocket, deadline: Deadline) -> None:
    poll = select.poll()
    while True:
        try:
            wrapped.do_handshake()
        except ssl.SSLWantReadError:
            events = select.POLLIN
        except ssl.SSLWantWriteError:
            events = select.POLLOUT
        else:
            return
        _stop_where_over(deadline, "TLS was not agreed on in time")
        poll.register(wrapped, events)
        poll.poll(deadline.wait_ms())


def _stop_where_over(deadline: Deadline, late: str) -> None:
    why = deadline.why_over()
    if why == "deadline":
        raise NotConnected("connect-timeout", late)
    if why is not None:
        raise NotConnected(why)
