"""A model provider on the loopback interface: it answers each request as the test scripted it and keeps what was sent.

A script is a list of steps; request number n gets step n. A request after the last step is answered with status 500
and shows in `surplus`. Nothing here knows an API: `fake_openai` and `fake_anthropic` make the bytes.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class Step:
    """One answer: a status and a body. `is_cut` breaks the connection after the body, without the body's end;
    `is_silent` sends the headers and then nothing until the provider is closed. `headers` are added."""

    status: int = 200
    body: bytes = b""
    content_type: str = "text/event-stream"
    is_cut: bool = False
    is_silent: bool = False
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Provider:
    """Use as a context manager; `url` is its address while it is open."""

    script: Sequence[Step]
    requests: list[Request] = field(default_factory=list)
    surplus: int = 0
    url: str = ""

    def __enter__(self) -> Self:
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self.silent = threading.Event()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                provider._answer(self)

            def do_GET(self) -> None:
                self.send_error(404)

            def do_HEAD(self) -> None:
                self.send_error(404)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        request = Request(path=handler.path, headers={k.lower(): v for k, v in handler.headers.items()}, body=body)
        with self._lock:
            index = len(self.requests)
            self.requests.append(request)
            if index >= len(self.script):
                self.surplus += 1
        step = self.script[index] if index < len(self.script) else Step(status=500, body=b"the script is over")
        with suppress(ConnectionError):
            self._send(handler, step)

    def _send(self, handler: BaseHTTPRequestHandler, step: Step) -> None:
        handler.close_connection = True
        handler.send_response(step.status)
        handler.send_header("Content-Type", step.content_type)
        for name, value in step.headers:
            handler.send_header(name, value)
        if step.is_cut or step.is_silent:
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            if step.body:
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(step.body), step.body))
            handler.wfile.flush()
            if step.is_silent:
                self.silent.set()
                self._closing.wait(60)
            return
        handler.send_header("Content-Length", str(len(step.body)))
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(step.body)


def sse(events: Sequence[tuple[str, Any]]) -> bytes:
    """Server-sent events of (name, JSON value)."""
    return b"".join(f"event: {name}\ndata: {json.dumps(value)}\n\n".encode() for name, value in events)


def failure(status: int, body: Any, *headers: tuple[str, str]) -> Step:
    """An error answer with a JSON body."""
    return Step(status=status, body=json.dumps(body).encode(), content_type="application/json", headers=headers)
