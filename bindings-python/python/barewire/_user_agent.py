"""The user's browser: it is sent to the authorization server, and received here when it comes back."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Awaitable, Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer

__all__ = ["Browser", "UserAgent"]

_PAGE = b"""<!doctype html><meta charset="utf-8"><title>Done</title>
<p>You can close this window and go back to the application.</p>
"""
_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": str(len(_PAGE)),
    "Cache-Control": "no-store",
    # The address holds the code.
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'",
}
#: Bytes of the address that a browser comes back with, at most.
_LONGEST = 16 << 10


class UserAgent(Protocol):
    """What the user consents in. :class:`barewire.Browser` is the one for programs on the user's machine."""

    @property
    def redirect_uri(self) -> str:
        """Where the authorization server sends the user back to. It must not change."""

    def visit(self, url: str) -> str | Awaitable[str]:
        """Have the user visit `url`; the URL that they come back to, whole.

        A coroutine function, or a function that is called in a thread. It is cancelled when the user takes
        too long. An exception says that the user does not want it.
        """


class Browser:
    """The user's own browser, and a web server on the loopback interface that it comes back to.

    `port` is where that listens, while somebody is awaited; 0: a free one, which authorization servers have
    to take whatever was registered (RFC 8252, section 7.3), though not all do. `open` is called in a thread
    with the URL to visit; by default it opens the browser, and prints the URL where there is none.
    """

    def __init__(self, *, port: int = 0, open: Callable[[str], object] | None = None) -> None:
        if not port:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
        self._port = port
        self._open = open or _open
        self._guard = threading.Lock()
        #: Who waits, by the state that tells whom a callback is for.
        self._waiting: dict[str, SimpleQueue[str]] = {}
        self._listener: ThreadingHTTPServer | None = None
        #: Closes the listener before: until then its port is taken.
        self._closing: threading.Thread | None = None

    @property
    def redirect_uri(self) -> str:
        """Where the browser comes back to."""
        return f"http://127.0.0.1:{self._port}/callback"

    async def visit(self, url: str) -> str:
        """Open `url`, and wait until the browser comes back from there. Others that come are turned away."""
        from anyio import to_thread

        (state,) = parse_qs(urlsplit(url).query)["state"]
        came_back: SimpleQueue[str] = SimpleQueue()
        await to_thread.run_sync(self._listen, state, came_back)
        try:
            await to_thread.run_sync(self._open, url, abandon_on_cancel=True)
            return await to_thread.run_sync(came_back.get, abandon_on_cancel=True)
        finally:
            came_back.put("")  # lets go of the thread that waits, if any
            self._leave(state)

    def _listen(self, state: str, came_back: SimpleQueue[str]) -> None:
        with self._guard:
            if self._listener is None:
                if self._closing is not None:
                    self._closing.join()
                self._listener = _listener(self._port, self._receive)
            self._waiting[state] = came_back

    def _leave(self, state: str) -> None:
        with self._guard:
            del self._waiting[state]
            listener = self._listener
            if self._waiting or listener is None:
                return
            self._listener = None
            # The page that was asked for last is still being sent.
            self._closing = threading.Thread(
                target=_close, args=(listener,), name="barewire-callback-end", daemon=True
            )
            self._closing.start()

    def _receive(self, target: str) -> bool:
        """Take a request for `target`. False if nobody waits for it."""
        path, _, query = target.partition("?")
        states = parse_qs(query).get("state", [])
        with self._guard:
            # Whether there may be several is not to be decided here.
            waiting = [self._waiting[state] for state in states if state in self._waiting]
        if path != "/callback" or not waiting:
            return False
        waiting[0].put(f"{self.redirect_uri}?{query}")
        return True


def _listener(port: int, receive: Callable[[str], bool]) -> ThreadingHTTPServer:
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        timeout = 10.0

        def do_GET(self) -> None:
            if len(self.path) > _LONGEST or not receive(self.path):
                self.send_error(404)
                return
            self.send_response(200)
            for name, value in _HEADERS.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(_PAGE)

        def version_string(self) -> str:
            return "barewire"

        def log_message(self, *arguments: Any) -> None:
            """The address holds the code."""

    class Listener(ThreadingHTTPServer):
        daemon_threads = True
        # Elsewhere it lets a port be used again at once, on Windows it lets another process take it over.
        allow_reuse_address = sys.platform != "win32"

        def handle_error(self, *arguments: Any) -> None:
            """Who hangs up while it is answered is nobody's concern."""

    listener = Listener(("127.0.0.1", port), Handler)
    threading.Thread(
        target=listener.serve_forever, args=(0.05,), name="barewire-callback", daemon=True
    ).start()
    return listener


def _close(listener: ThreadingHTTPServer) -> None:
    listener.shutdown()
    listener.server_close()


def _open(url: str) -> None:
    import webbrowser

    if not webbrowser.open(url):
        print(f"Open this page to authorize: {url}", file=sys.stderr)
