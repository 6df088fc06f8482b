"""Headless Chromium on pages of ours, and a relay before the server that notes what the browser sent it."""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

Json = dict[str, Any]
PROGRAM = shutil.which("chromium")
PAGE = Path(__file__).with_name("browser") / "page.html"
SECONDS = 180
# Headers of one connection, which a relay makes anew.
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding"}


@dataclass(frozen=True)
class Exchange:
    """What the browser sent, and the status that the server answered with."""

    method: str
    host: str
    origin: str | None
    status: int


class Site(ThreadingHTTPServer):
    """Serves the page, takes its report, and relays everything else to the server, if there is one."""

    daemon_threads = True

    def __init__(self, server: str | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.upstream = None if server is None else urlsplit(server).netloc
        self.exchanges: list[Exchange] = []
        self.reports: queue.Queue[list[Json]] = queue.Queue()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.server_port}{path}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Site

    def handle_one_request(self) -> None:
        self.requestline = ""
        self.raw_requestline = self.rfile.readline()
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        path = urlsplit(self.path).path
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if path == "/page":
            self.answer(200, [("Content-Type", "text/html; charset=utf-8")], PAGE.read_bytes())
        elif path == "/report":
            self.server.reports.put(json.loads(body))
            self.answer(204, [], b"")
        elif self.server.upstream is None or path == "/favicon.ico":
            self.answer(404, [], b"")
        else:
            self.relay(self.server.upstream, body)

    def relay(self, upstream: str, body: bytes) -> None:
        connection = HTTPConnection(upstream, timeout=SECONDS)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in HOP_BY_HOP:
                connection.putheader(name, value)
        connection.endheaders(body)
        response = connection.getresponse()
        host, origin = self.headers["Host"], self.headers.get("Origin")
        self.server.exchanges.append(Exchange(self.command, host, origin, response.status))
        kept = [pair for pair in response.getheaders() if pair[0].lower() not in HOP_BY_HOP]
        self.answer(response.status, kept, response.read())
        connection.close()

    def answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers:
            if name.lower() != "content-length":
                self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        pass


@contextmanager
def site(server: str | None = None) -> Iterator[Site]:
    with Site(server) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()


def visit(pages: Site, host: str, requests: list[Json]) -> list[Json]:
    """Opens the page as `http://HOST:PORT`, whatever the name of the host, and gives its report."""
    address = pages.url("/page", host) + "?requests=" + quote(json.dumps(requests))
    # The last of its processes may still write while the folder goes.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [
                str(PROGRAM),
                "--headless",
                # Containers forbid what the sandbox is made of; the pages are ours.
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--no-first-run",
                "--no-proxy-server",
                f"--user-data-dir={profile}",
                "--host-resolver-rules=MAP * 127.0.0.1",
                address,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            return pages.reports.get(timeout=SECONDS)
        finally:
            process.terminate()
            process.wait()
