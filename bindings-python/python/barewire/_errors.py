"""The errors of the package: one tree under `McpError`, numbered as in every language.

This module imports nothing, so that a program that raises no error pays nothing for it.
"""

from __future__ import annotations


class McpError(Exception):
    """The root of the tree.

    `code` is a number of the table that the core shares with all its languages; a JSON-RPC error has the
    code of the error object instead, and 0 means that the error has no number. Numbers are never reused.
    """

    def __init__(self, message: str = "", code: int = 0) -> None:
        super().__init__(message, code)
        self.message = message
        self.code = code

    def __str__(self) -> str:
        return self.message


# ---------------------------------------------------------------- errors of a call on a machine


class ApiMisuseError(McpError):
    """The caller asked for something that is not possible now. Nothing changed. Codes 101 to 199."""


class PeerMisbehavedError(McpError):
    """The peer broke the protocol in a way that ends the connection. Codes 201 to 299."""


class PeerIncompatibleError(McpError):
    """Both sides are sound but have no common ground, such as no common revision. Codes 301 to 399."""


class MissingCapabilityError(PeerIncompatibleError):
    """The peer did not declare what a request cannot do without.

    `required` is the JSON text of the capabilities object that names what is missing.
    """

    def __init__(self, message: str, code: int, required: bytes) -> None:
        super().__init__(message, code)
        self.args = (message, code, required)
        self.required = required


class LimitExceededError(McpError):
    """A configured bound was reached. Codes 401 to 499."""


class ConnectionClosedError(McpError):
    """The connection is over. Codes 501 to 599; 505: an internal error was caught and the object is dead."""


# ---------------------------------------------------------------- ends of a request without a result


class RequestTimedOutError(McpError, TimeoutError):
    """No answer came in time. It is a `TimeoutError` too."""


class RequestCancelledError(McpError):
    """This side cancelled the request."""


class ConnectionLostError(McpError, ConnectionError):
    """The connection ended before the answer came. It is a `ConnectionError` too.

    Over HTTP, the error of the HTTP library is its `__cause__`. Where the server was a child process,
    `exit_status` says how it ended, if it has, and `stderr` holds the last bytes that it wrote there, if they
    were captured.
    """

    exit_status: object = None
    stderr: bytes = b""

    def __str__(self) -> str:
        ended = "" if self.exit_status is None else f"; the server ended with {self.exit_status}"
        said = self.stderr.decode(errors="replace").strip()
        return self.message + ended + (f", and last wrote:\n{said}" if said else "")


class HttpStatusError(McpError):
    """The server answered with an HTTP `status` that is none of the protocol's, or with a body that is not.

    A status of 200 means that the body was no message of the protocol, as where the URL is that of a page.
    The message of a client begins with the URL that it was given, without credentials and query.
    """

    def __init__(self, message: str, code: int, status: int) -> None:
        super().__init__(message, code)
        self.args = (message, code, status)
        self.status = status


class UnauthorizedError(HttpStatusError):
    """The server wants other credentials (401), or does not let these do what was asked (403)."""


class AuthorizationError(McpError):
    """There are no credentials for a server. Codes 701 to 799.

    It is the ``__cause__`` of the UnauthorizedError that a request ends with. `error` and `description` are
    what the authorization server said, where it refused; `is_retryable` says whether the same may work a
    little later.
    """

    def __init__(
        self,
        message: str,
        code: int,
        *,
        error: str | None = None,
        description: str | None = None,
        is_retryable: bool = False,
    ) -> None:
        super().__init__(message, code)
        self.error = error
        self.description = description
        self.is_retryable = is_retryable


class SessionLostError(HttpStatusError):
    """The server has forgotten the session, and the new one as well.

    A session that is lost is replaced without a word to the caller; this comes when that does not help, or
    when the request may have been carried out already.
    """


class ServerUnavailableError(HttpStatusError, ConnectionLostError):
    """The server, or what stands before it, is out of order or too busy: the status is 408, 429 or 5xx."""


class InvalidResultError(McpError):
    """The answer is malformed, or not what the method defines.

    `problems` lists what a strict client could not read in it.
    """

    problems: tuple[object, ...] = ()


class InputRefusedError(McpError):
    """A question that the request depends on was refused.

    On a client its own handlers refused. On a server the client refused: `code`, `message` and `data` are
    those of its error.
    """

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message, code)
        self.args = (code, message, data)
        self.data = data


class RoundsExceededError(McpError):
    """The server asked more often than the limit on rounds allows."""


# ---------------------------------------------------------------- errors on the wire


class RpcError(McpError):
    """A JSON-RPC error object: what the peer answered, or what a handler raises to answer so itself.

    `code` is the code on the wire and `data` whatever else the sender gave.
    """

    def __init__(self, code: int, message: str, data: object = None, *, raw: bytes | None = None) -> None:
        super().__init__(message, code)
        self.args = (code, message, data)
        self._data = data
        self._raw = raw

    @property
    def data(self) -> object:
        """What the sender gave beside code and message, decoded when it is first read; `None` without it."""
        if self._data is None and self._raw is not None:
            import msgspec

            self._data = msgspec.json.decode(self._raw)
        return self._data

    @property
    def raw_data(self) -> bytes | None:
        """`data` as JSON text; `None` without it."""
        if self._raw is None and self._data is not None:
            import msgspec

            self._raw = msgspec.json.encode(self._data)
        return self._raw

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class ToolError(McpError):
    """A tool failed in a way that the model shall read: raise it in a handler with the text to show."""


class ResourceNotFoundError(McpError):
    """There is nothing under the URI that was asked for: raise it in the handler of a resource."""


class InvalidAnswerError(McpError):
    """An answer of the client does not fit its question; the text names the path of the fault."""
