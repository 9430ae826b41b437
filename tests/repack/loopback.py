"""A web server on the loopback interface that serves a folder, well or badly."""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import trustme


@dataclass
class Server:
    """A running server: its URL, what it was asked for, and how it behaves.

    `ranges` and `suffix_ranges`: whether parts of a file are served; `stops_after`: that many bytes of a body are
    sent before the server `hangs` or, else, hangs up.
    """

    folder: Path
    ranges: bool = True
    suffix_ranges: bool = True
    stops_after: int | None = None
    hangs: bool = False
    url: str = ""
    requests: list[str] = field(default_factory=list)
    bytes_sent: int = 0
    stopping: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serving(server: Server, authority: trustme.CA | None = None) -> Iterator[Server]:
    """Serve until the block ends; over TLS where a certificate authority is given."""

    class Handler(_Handler):
        behaviour = server

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        scheme = "http"
        if authority:
            scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            authority.issue_cert("127.0.0.1").configure_cert(context)
            listener.socket = context.wrap_socket(listener.socket, server_side=True)
        server.url = f"{scheme}://127.0.0.1:{listener.server_address[1]}"
        thread = threading.Thread(target=listener.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.stopping.set()
            listener.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    behaviour: Server

    def do_HEAD(self) -> None:
        self._reply(with_body=False)

    def do_GET(self) -> None:
        self._reply(with_body=True)

    def _reply(self, *, with_body: bool) -> None:
        server = self.behaviour
        server.requests.append(f"{self.command} {self.path} {self.headers.get('Range', '')}".strip())
        path = server.folder / unquote(urlsplit(self.path).path).lstrip("/")
        if path.is_dir():
            path /= "index.html"
        if not path.is_file():
            self.send_error(404)
            return
        content = path.read_bytes()
        size = len(content)
        part = self._range(size)
        start, end = part or (0, size)
        self.send_response(206 if part else 200)
        if part:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        self.send_header(
            "Content-Type", "text/html" if path.suffix == ".html" else "application/octet-stream"
        )
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        if with_body:
            self._send(content[start:end])

    def _range(self, size: int) -> tuple[int, int] | None:
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if not match or not self.behaviour.ranges:
            return None
        first, last = match.groups()
        if not first:
            return (max(0, size - int(last)), size) if self.behaviour.suffix_ranges else None
        return int(first), min(size, int(last) + 1 if last else size)

    def _send(self, body: bytes) -> None:
        server = self.behaviour
        limit = server.stops_after
        sent = body if limit is None else body[:limit]
        server.bytes_sent += len(sent)  # first: a client that has it all may look at once
        self.wfile.write(sent)
        self.wfile.flush()
        if len(sent) < len(body):
            if server.hangs:
                server.stopping.wait()
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing on stderr."""
