"""The part of the stub of `barewire._native` that is about servers. At run time there is no such module."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, final, type_check_only

from ._aliases import Event, InputKindName, Json, ListKindName, LogLevel
from ._native import Limits, Timeouts

@type_check_only
class _ServerCommands:
    """What `Server` and `HttpServer` have in common. At run time there is no such class."""

    def events(self) -> list[Event]:
        """Take out the events that commands have caused."""
    def handle_timeout(self, now: int) -> list[Event]:
        """Let time pass. Harmless when nothing is due."""
    def poll_timeout(self) -> int | None:
        """When to call `handle_timeout` at the latest, if ever."""
    # catalog: definitions are JSON objects
    def add_tool(self, definition: Json) -> None:
        """Register a tool: an object with at least `name` and `inputSchema`. Watchers are told."""
    def remove_tool(self, name: str) -> None:
        """Remove a tool; watchers are told."""
    def add_resource(self, definition: Json) -> None:
        """Register a resource: an object with at least `uri` and `name`."""
    def remove_resource(self, uri: str) -> None:
        """Remove a resource."""
    def add_resource_template(self, definition: Json) -> None:
        """Register a template: an object with at least `uriTemplate` and `name`."""
    def remove_resource_template(self, template: str) -> None:
        """Remove a template by its `uriTemplate`."""
    def add_prompt(self, definition: Json) -> None:
        """Register a prompt: an object with at least `name`."""
    def remove_prompt(self, name: str) -> None:
        """Remove a prompt."""
    # commands
    def respond(self, request: int, result: Json) -> None:
        """Answer a request with its result object, written for the newest revision.

        What the client's revision must not see is left out or replaced. After a mistake, which raises
        `ApiMisuseError`, the request still waits for its answer.
        """
    def respond_error(self, request: int, code: int, message: str, data: Json | None = None) -> None:
        """Answer a request with an error; the code is the one that the revision has for it."""
    def respond_missing_capability(self, request: int, required: Json) -> None:
        """Answer that the client lacks capabilities: `MissingCapabilityError.required`."""
    def respond_invalid_arguments(self, request: int, message: str) -> None:
        """Refuse arguments that do not fit the tool, as the revision wants it."""
    def require_input(
        self,
        request: int,
        questions: Iterable[tuple[str, InputKindName, Json]],
        now: int,
        state: Json | None = None,
    ) -> None:
        """Ask; each question is key, kind and parameters.

        Raises `MissingCapabilityError` (with `.required`, raw JSON) if the client did not declare what a
        question needs; the request then still waits for its answer.
        """
    def progress(
        self, request: int, progress: float, total: float | None = None, message: str | None = None
    ) -> bool:
        """Report progress; true if it was sent, false if the client does not want it or it is late."""
    def log(self, request: int | None, level: LogLevel, data: Json, logger: str | None = None) -> bool:
        """Log within a request, or outside any to legacy sessions; false if the client does not want it."""
    def notify(self, request: int, method: str, params: Json | None = None) -> bool:
        """Send a notification of an extension within a request; whether it was sent."""
    def publish_list_changed(self, kind: ListKindName) -> None:
        """Tell clients that a list changed. Changes of the catalog are told by themselves."""
    def publish_resource_updated(self, uri: str) -> None:
        """Tell clients that a resource changed."""
    def end_subscription(self, subscription: int) -> None:
        """End a client's subscription in order."""
    def request(self, session: int, method: str, params: Json | None, now: int) -> int:
        """Send a request to a legacy client; `ResponseReceived` follows."""
    def ping(self, session: int, now: int) -> int:
        """Ask a legacy client whether it is there; `ResponseReceived` follows."""
    def export_session(self, session: int) -> str:
        """A legacy session as text that `import_session` takes in another process.

        Keep it where clients cannot write: it decides what the client is taken to have declared.
        """
    def import_session(self, text: str) -> int:
        """Go on with a session that `export_session` wrote; give its handle. `SessionOpened` follows."""
    def close(self) -> None:
        """End the connection in order; `Disconnected` follows."""

@final
class Server(_ServerCommands):
    """A server behind newline framing, for both eras on one channel.

    `seed` is 32 random bytes, never used twice; `clock_origin` the Unix time, in milliseconds, at which
    `now` is 0. `extension_methods` come as `RequestReceived`, others that the protocol does not have are
    refused. `ttl_ms` and `cache_scope` are told with lists. `request_state_keys` are keys of 32 bytes for
    state that travels through clients: the first seals, all open; without any, no other process can open
    it.
    """

    def __new__(
        cls,
        *,
        name: str,
        version: str,
        seed: bytes,
        clock_origin: int,
        title: str | None = None,
        description: str | None = None,
        website_url: str | None = None,
        icons: Json | None = None,
        instructions: str | None = None,
        revisions: Sequence[str] | None = None,
        logging: bool = True,
        completions: bool = False,
        extensions: Json | None = None,
        extension_methods: Sequence[str] | None = None,
        ttl_ms: int = 0,
        cache_scope: Literal["public", "private"] = "private",
        identify_results: bool = True,
        request_state_keys: Sequence[bytes] | None = None,
        limits: Limits | None = None,
        timeouts: Timeouts | None = None,
    ) -> Server: ...
    # bytes
    def receive_data(self, data: bytes, now: int) -> list[Event]:
        """Take bytes that were read, cut anywhere, and give all events.

        When the connection is over already, and no event is left to tell it, `ConnectionClosedError` is
        raised.
        """
    def receive_eof(self, now: int) -> list[Event]:
        """The client closed its side; answers that are owed can still be sent."""
    def connection_lost(self, now: int) -> list[Event]:
        """The transport broke: nothing can be sent or received any more."""
    def data_to_send(self) -> bytes:
        """Take out all bytes that wait to be sent."""
    @property
    def wants_input(self) -> bool:
        """False while so much waits to be sent or taken that the host should stop reading."""
    @property
    def is_finished(self) -> bool:
        """True when everything is over and sent: close this side of the stream."""

@final
class HttpServer(_ServerCommands):
    """A server behind HTTP, for both eras and any number of clients.

    The arguments up to `timeouts` are those of `Server`. Requests may come from pages of the loopback
    interface and of `allowed_origins`, and go to its names and `allowed_hosts`; `"*"` stands for all. A
    body has up to `body_bytes` (default 4 MiB). An open stream that is silent for `keep_alive` milliseconds
    (15 000; 0: never) gets a comment. A legacy session ends after `session_idle` milliseconds without an
    exchange (half an hour). Clients are asked to wait for `retry` milliseconds (1 000) before they
    reconnect. Events of legacy streams are kept for them in memory, up to `kept_events` (256) of each
    stream, `kept_bytes` (16 MiB) of all streams and `kept_age` milliseconds (300 000); or, by
    `event_keeping`, by the program, or not at all. With `external_sessions` an unknown id of a session is
    asked for with `SessionRequested`.

    A program hands in requests as they come, says when a client has gone, and after any of these, any command
    and any timeout asks `ready` which exchanges have something to send, and `poll_response` what. It asks
    an exchange again only when its connection has taken the last part: a slow reader delays nobody else.
    """

    def __new__(
        cls,
        *,
        name: str,
        version: str,
        seed: bytes,
        clock_origin: int,
        title: str | None = None,
        description: str | None = None,
        website_url: str | None = None,
        icons: Json | None = None,
        instructions: str | None = None,
        revisions: Sequence[str] | None = None,
        logging: bool = True,
        completions: bool = False,
        extensions: Json | None = None,
        extension_methods: Sequence[str] | None = None,
        ttl_ms: int = 0,
        cache_scope: Literal["public", "private"] = "private",
        identify_results: bool = True,
        request_state_keys: Sequence[bytes] | None = None,
        limits: Limits | None = None,
        timeouts: Timeouts | None = None,
        allowed_origins: Sequence[str] | None = None,
        allowed_hosts: Sequence[str] | None = None,
        body_bytes: int | None = None,
        keep_alive: int | None = None,
        session_idle: int | None = None,
        retry: int | None = None,
        event_keeping: Literal["memory", "external", "none"] | None = None,
        kept_events: int | None = None,
        kept_bytes: int | None = None,
        kept_age: int | None = None,
        external_sessions: bool | None = None,
    ) -> HttpServer: ...
    # exchanges
    def receive_request(
        self,
        method: str,
        headers: Iterable[Sequence[bytes]],
        now: int,
        *,
        principal: str | None = None,
        event_stream: str | None = None,
        messages: str | None = None,
    ) -> int:
        """Take the head of a request; give its exchange.

        What refuses it is ready to be sent at once; its body is then ignored. `headers` are pairs of name
        and value, as ASGI has them. `principal` says who sends it, by any key; sessions belong to it. The
        endpoint is that of Streamable HTTP; of HTTP+SSE (2024-11-05) it is the stream if `event_stream` is
        given, the path of the endpoint that takes messages, and that one if `messages` is given, the query
        string.
        """
    def receive_body(self, exchange: int, data: bytes, now: int) -> None:
        """Take a piece of the body."""
    def receive_end(self, exchange: int, now: int) -> list[Event]:
        """The body is complete: what it holds goes to the machine."""
    def receive_whole(
        self,
        method: str,
        headers: Iterable[Sequence[bytes]],
        body: bytes,
        now: int,
        *,
        principal: str | None = None,
        event_stream: str | None = None,
        messages: str | None = None,
    ) -> tuple[int, list[Event]]:
        """Take a request whose body is at hand; give its exchange and the events. As `receive_request`."""
    def receive_denied(
        self,
        method: str,
        headers: Iterable[Sequence[bytes]],
        status: int,
        challenge: str | None,
        now: int,
        *,
        event_stream: str | None = None,
        messages: str | None = None,
    ) -> int:
        """Take the head of a request that is not let through, because of its credentials; give its exchange.

        It is answered with `status` (400, 401, 403 or 503) and `challenge` as the value of
        ``WWW-Authenticate``, unless the transport refuses it itself or it is ``OPTIONS``.
        """
    def deny(self, exchange: int, status: int, challenge: str | None, now: int) -> bool:
        """Do not let through what an exchange has brought after all. False if its response has begun.

        What becomes of the call has to be told all the same, with `respond_error`: that goes nowhere.
        """
    def receive_abort(self, exchange: int, now: int) -> list[Event]:
        """The client has gone, or nothing can be sent to it any more."""
    def ready(self) -> list[int]:
        """The exchanges that have something to send and were not named since they last had nothing."""
    def poll_response(self, exchange: int) -> ResponsePart | None:
        """What to send next in an exchange; `None` if that is nothing for now, or the exchange is over."""
    def backlog(self, exchange: int) -> int:
        """Bytes that wait to be taken by an exchange."""
    def resolve_session(self, exchange: int, session: int | None, now: int) -> list[Event]:
        """Answer `SessionRequested`: the session as it was imported, or none."""
    def replay(self, exchange: int, events: list[tuple[str, str]] | None, now: int) -> None:
        """Answer `ReplayRequested`: ids and data of what followed, or `None` if the stream is not known."""
    def close_stream(self, exchange: int, now: int, retry: int | None = None) -> bool:
        """End the response of a legacy request for now; whether that was possible.

        The client reconnects after `retry` milliseconds and finds what followed. That takes a stream that has
        told an event id.
        """
    def shut_down(self, now: int) -> list[Event]:
        """Take no more requests; streams that wait for nothing end, and what is in flight goes on."""
    @property
    def is_idle(self) -> bool:
        """True when no exchange is open."""

@final
class ResponsePart:
    """What to send next in one exchange: the head, then the data, then the end.

    `status` is `None` after the first part; `headers` then are empty, and before are pairs of name, in
    lower case, and value. After a part that `is_last` the exchange is over. `is_aborted`: close the
    connection without an orderly end of the body, so that the client does not take what it got for the
    whole.
    """

    __match_args__: Final = ("status", "headers", "data", "is_last", "is_aborted")
    status: Final[int | None]
    headers: Final[list[tuple[bytes, bytes]]]
    data: Final[bytes]
    is_last: Final[bool]
    is_aborted: Final[bool]

# ---------------------------------------------------------------- events over HTTP

@final
class SessionRequested:
    """A session that is not known here is asked for, with `external_sessions`.

    Import it and answer with `HttpServer.resolve_session`; the exchange waits. `id` may be anything that a
    client wrote, and the session may belong to another principal: that is for the program to check.
    """

    __match_args__: Final = ("exchange", "id")
    exchange: Final[int]
    id: Final[str]

@final
class SessionNamed:
    """A session has got its id, a secret between client and server.

    Only where sessions or events live outside.
    """

    __match_args__: Final = ("session", "id")
    session: Final[int]
    id: Final[str]

@final
class EventAppended:
    """Keep this event of a stream, where events are kept by the program.

    `data` is empty for the first event of a stream, which only gives an id.
    """

    __match_args__: Final = ("session", "stream", "id", "data")
    session: Final[int]
    stream: Final[str]
    id: Final[str]
    data: Final[str]

@final
class ReplayRequested:
    """Give the events after this one with `HttpServer.replay`; the exchange waits."""

    __match_args__: Final = ("exchange", "session", "stream", "after")
    exchange: Final[int]
    session: Final[int]
    stream: Final[str]
    after: Final[str]

@final
class StreamsForgotten:
    """Nobody will ask for the streams of this session any more: it is over."""

    __match_args__: Final = ("session",)
    session: Final[int]
