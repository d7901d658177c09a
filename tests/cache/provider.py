"""A loopback TLS server whose every byte a test scripts, and a certificate authority of the tests' own."""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from typing import Any, Self

import trustme


class Authority:
    """A certificate authority, the file that a client trusts it by, and server contexts with certificates of it."""

    def __init__(self, folder: str) -> None:
        self.ca = trustme.CA()
        self.file = f"{folder}/ca.pem"
        self.ca.cert_pem.write_to_path(self.file)

    def server(self, *names: str, **issue: Any) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ca.issue_cert(*(names or ("localhost", "127.0.0.1")), **issue).configure_cert(context)
        return context


class Peer:
    """The server's side of one connection."""

    def __init__(self, tls: ssl.SSLSocket, provider: Provider) -> None:
        self.tls = tls
        self._provider = provider

    def read_request(self) -> bytes:
        """One whole request as it arrived; it counts as received."""
        data = self.read_head()
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", head)[1])  # type: ignore[index] # the sender always has it
        while len(body) < length:
            body += self.tls.recv(1 << 16)
        request = head + b"\r\n\r\n" + body
        self._provider.requests.append(request)
        self._provider.received.set()
        return request

    def read_head(self) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.tls.recv(1)
        return data

    def send(self, data: bytes) -> None:
        self.tls.sendall(data)

    def respond(self, body: bytes, *, status: str = "200 OK", fields: bytes = b"") -> None:
        """A well-formed response with Content-Length, in one write."""
        self.send(b"HTTP/1.1 %s\r\ncontent-length: %d\r\n%s\r\n%s" % (status.encode(), len(body), fields, body))

    def say_goodbye(self) -> None:
        """TLS's own ending, without waiting for the client's."""
        self.tls.setblocking(False)
        with contextlib.suppress(OSError):
            self.tls.unwrap()

    def cut(self) -> None:
        """The end of the TCP stream without TLS's ending."""
        socket.socket.shutdown(self.tls, socket.SHUT_WR)

    def reset(self) -> None:
        """A TCP reset."""
        self.tls.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.tls.close()

    def wait_until_left(self) -> None:
        """Read on until the client is gone."""
        with contextlib.suppress(OSError):
            while self.tls.recv(1 << 16):
                pass

    def pause(self, seconds: float) -> bool:
        """Wait; True where the test is over and the script should end."""
        return self._provider.stop.wait(seconds)


Script = Callable[[Peer], None]


class Provider:
    """Serves connections one after another with `script`, each in full before the next; a context manager.

    `connections` counts accepted TCP connections, `requests` holds whole requests in order of arrival.
    """

    def __init__(self, context: ssl.SSLContext, script: Script, *, host: str = "127.0.0.1") -> None:
        self.script = script
        self.context = context
        self.requests: list[bytes] = []
        self.connections = 0
        self.failures: list[BaseException] = []
        self.received = threading.Event()
        self.stop = threading.Event()
        self._listener = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def url(self, host: str = "127.0.0.1", path: str = "/v1/messages") -> str:
        return f"https://{host}:{self.port}{path}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(timeout=30)
        assert not self._thread.is_alive()

    def _serve(self) -> None:
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            plain.settimeout(30)
            with plain, contextlib.suppress(OSError):  # whatever the client does to the connection is its own affair
                tls = self.context.wrap_socket(plain, server_side=True)
                with tls:
                    try:
                        self.script(Peer(tls, self))
                        self._finish(tls)
                    except OSError:
                        pass  # as above
                    except BaseException as error:  # noqa: BLE001 - a script's own fault must reach the test
                        self.failures.append(error)

    @staticmethod
    def _finish(tls: ssl.SSLSocket) -> None:
        """End a connection the script left open as a server does, so that the client sees a clean ending."""
        if tls.fileno() >= 0:
            tls.setblocking(False)
            with contextlib.suppress(OSError):
                tls.unwrap()
