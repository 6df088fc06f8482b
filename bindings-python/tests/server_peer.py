"""A client of raw JSON-RPC lines for tests of servers, in either era, over any two descriptors."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from barewire import Server
from barewire._serve import serve

#: Long enough for a loaded machine; a passing test never waits for it.
PATIENCE = 60.0
LEGACY, MODERN = "2025-11-25", "2026-07-28"
CAPABILITIES: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}}
_KEY = "io.modelcontextprotocol/"

Answer = Callable[[dict[str, Any]], Any]


class Peer:
    """Speaks `revision` with a server. Notifications and questions that come meanwhile are kept."""

    def __init__(
        self, source: int, target: int, revision: str = LEGACY, capabilities: dict[str, Any] = CAPABILITIES
    ) -> None:
        self.source = source
        self.target = target
        self.revision = revision
        self.capabilities = capabilities
        self.notifications: list[dict[str, Any]] = []
        self.questions: list[dict[str, Any]] = []
        self.rounds: list[list[str]] = []
        self._buffer = b""
        self._id = 0
        self._kept: dict[Any, dict[str, Any]] = {}
        if revision == LEGACY:
            self.handshake()

    @property
    def modern(self) -> bool:
        return self.revision == MODERN

    def handshake(self) -> dict[str, Any]:
        client = {"name": "peer", "version": "1.0"}
        params = {"protocolVersion": self.revision, "capabilities": self.capabilities, "clientInfo": client}
        answer = self.request("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    # ------------------------------------------------------------ lines

    def write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self.target, data) :]

    def send(self, message: dict[str, Any]) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def receive(self, patience: float = PATIENCE) -> dict[str, Any]:
        """The next message; `EOFError` at the end of the output."""
        deadline = time.monotonic() + patience
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.source], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("the server says nothing")
            data = os.read(self.source, 1 << 16)
            if not data:
                raise EOFError
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def rest(self) -> list[dict[str, Any]]:
        """All that comes up to the end of the output."""
        found = []
        try:
            while True:
                found.append(self.receive())
        except EOFError:
            return found

    # ------------------------------------------------------------ requests

    def start(
        self, method: str, params: dict[str, Any] | None = None, meta: dict[str, Any] | None = None
    ) -> int:
        """Send a request; returns its id."""
        self._id += 1
        params = dict(params or {})
        if self.modern:
            meta = {
                f"{_KEY}protocolVersion": self.revision,
                f"{_KEY}clientInfo": {"name": "peer", "version": "1.0"},
                f"{_KEY}clientCapabilities": self.capabilities,
                **(meta or {}),
            }
        if meta:
            params["_meta"] = meta
        self.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        return self._id

    def wait(self, request: int, answer: Answer | None = None) -> dict[str, Any]:
        """The response to a request. Questions of the server are answered by `answer`."""
        while request not in self._kept:
            message = self.receive()
            if "method" not in message:
                self._kept[message.get("id")] = message
            elif "id" in message:
                self.questions.append(message)
                assert answer is not None, message
                reply = answer(message)
                kind = "error" if isinstance(reply, dict) and "code" in reply else "result"
                self.send({"jsonrpc": "2.0", "id": message["id"], kind: reply})
            else:
                self.notifications.append(message)
        return self._kept.pop(request)

    def request(
        self, method: str, params: dict[str, Any] | None = None, meta: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        response = self.wait(self.start(method, params, meta))
        assert "result" in response, response
        result: dict[str, Any] = response["result"]
        return result

    def error(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        response = self.wait(self.start(method, params))
        assert "error" in response, response
        error: dict[str, Any] = response["error"]
        return error

    def call(self, name: str, meta: dict[str, Any] | None = None, /, **arguments: Any) -> dict[str, Any]:
        return self.request("tools/call", {"name": name, "arguments": arguments}, meta)

    def text(self, name: str, /, **arguments: Any) -> str:
        """The text of the first block of a tool's result."""
        text: str = self.call(name, **arguments)["content"][0]["text"]
        return text

    def converse(
        self, method: str, params: dict[str, Any], answer: Answer, meta: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """A request that asks back, in the way of the revision; `answer` gets method and params."""
        params = dict(params)
        for _ in range(10):
            response = self.wait(self.start(method, params, meta), answer)
            result: dict[str, Any] = response["result"] if "result" in response else response["error"]
            if result.get("resultType") != "input_required":
                return result
            asked = result["inputRequests"]
            self.rounds.append(list(asked))
            params["inputResponses"] = {key: answer(question) for key, question in asked.items()}
            params["requestState"] = result["requestState"]
        raise AssertionError("the questions do not end")

    def close(self) -> None:
        """End the server's input."""
        os.close(self.target)


class InProcess(Peer):
    """A peer of a server object that is served by a thread of this process."""

    def __init__(
        self, server: Server, revision: str = LEGACY, capabilities: dict[str, Any] = CAPABILITIES
    ) -> None:
        self._theirs = [*os.pipe(), *os.pipe()]
        their_input, target, source, their_output = self._theirs
        self._failure: BaseException | None = None
        self.thread = threading.Thread(
            target=self._serve, args=(server, their_input, their_output), daemon=True
        )
        self.thread.start()
        super().__init__(source, target, revision, capabilities)

    def _serve(self, server: Server, source: int, target: int) -> None:
        try:
            serve(server, source, target)
        except BaseException as error:
            self._failure = error
        finally:
            os.close(target)

    def end(self) -> list[dict[str, Any]]:
        """Close the input, and give what the server still says until it ends."""
        self.close()
        rest = self.rest()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        os.close(self.source)
        os.close(self._theirs[0])
        if self._failure is not None:
            raise self._failure
        return rest


class Process(Peer):
    """A peer of a server in a process of its own, from source code."""

    def __init__(
        self,
        code: str,
        folder: Path,
        revision: str = LEGACY,
        *,
        arguments: tuple[str, ...] = (),
        **options: Any,
    ) -> None:
        program = folder / "server.py"
        program.write_text(code)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen([sys.executable, str(program), *arguments], **{**pipes, **options})
        stdin, stdout = self.process.stdin, self.process.stdout
        super().__init__(
            -1 if stdout is None else stdout.fileno(), -1 if stdin is None else stdin.fileno(), revision
        )

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def end(self) -> tuple[int, str]:
        """Close the input and wait: exit status and what was written to standard error."""
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.close()
        errors = self.process.stderr.read() if self.process.stderr else b""
        status = self.process.wait(PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return status, errors.decode()
