"""The core without I/O: bytes in, events out, for programs that bring their own.

`Server` and `Client` read no clock, open no file and start no thread. The program reads and writes bytes
where it likes, tells the time in milliseconds, and answers events. A server on standard input and output::

    server = Server(name="clock", version="1.0", seed=os.urandom(32), clock_origin=0)
    server.add_tool('{"name": "now", "inputSchema": {"type": "object"}}')
    while not server.is_finished:
        data, now = os.read(0, 65536), time.monotonic_ns() // 1_000_000
        for event in server.receive_data(data, now) if data else server.receive_eof(now):
            match event:
                case ToolCalled(request=request):
                    server.respond(request, '{"content": [{"type": "text", "text": "%s"}]}' % time.ctime())
        sys.stdout.buffer.write(server.data_to_send())
        sys.stdout.flush()

A program that waits for several things at once also calls `handle_timeout` when `poll_timeout` says so, and
stops reading while `wants_input` is false. After a command that causes events, such as `Client.cancel` or
`close`, it takes them with `events`. The events are the same in all revisions of the protocol.

`HttpServer` is the same machine behind HTTP: request heads and bodies in, response heads and bodies out,
whatever speaks HTTP around it. The answer to a request whose body is at hand::

    exchange, events = server.receive_whole(method, headers, body, now)
    ...  # answer the events
    while (part := server.poll_response(exchange)) is not None:
        ...  # send `part.status` and `part.headers` if there is a status, then `part.data`

An exchange that is not over by then is named by `ready` when it has more to send.

`HttpClient` says which requests to make, and is told what becomes of each::

    while (todo := client.poll_transmit(now)) is not None:
        if isinstance(todo, HttpAbort):
            ...  # close the connection of `todo.exchange`
        else:
            ...  # send `todo.method`, `todo.url`, `todo.headers` and `todo.body`; then give the response to
            # `receive_head`, `receive_body` and `receive_end`, or say `receive_failure`

Streams stay open while other requests are made, so that each request takes a connection of its own.

Beside a client, `Authorization` comes by the credentials that its requests need (OAuth 2.1): it says what to
do, and is told what came of it. On the other side, `ResourceServer` holds the rules of a protected server.

Every fault of a peer is an event or an answer. What is raised is an error of the tree under `McpError`; a
mistake of the caller, `ApiMisuseError`, changes nothing. An object may be used from several threads: under
the GIL every call runs to its end before the next one starts.
"""

from __future__ import annotations

from ._aliases import (
    Era,
    Event,
    InputKindName,
    Json,
    ListKindName,
    LogLevel,
)
from ._errors import (
    ApiMisuseError,
    AuthorizationError,
    ConnectionClosedError,
    ConnectionLostError,
    HttpStatusError,
    InputRefusedError,
    InvalidResultError,
    LimitExceededError,
    McpError,
    MissingCapabilityError,
    PeerIncompatibleError,
    PeerMisbehavedError,
    RequestCancelledError,
    RequestTimedOutError,
    RoundsExceededError,
    RpcError,
    ServerUnavailableError,
    SessionLostError,
    UnauthorizedError,
)
from ._native import (
    LEGACY_REVISIONS,
    LOG_LEVELS,
    MODERN_REVISIONS,
    REVISIONS,
    VERSION,
    AccessDenied,
    Authorization,
    AuthorizationRefused,
    AuthorizationRequired,
    AuthorizationSettled,
    ChildShutdown,
    Client,
    ClientRegistration,
    CompletionRequested,
    Credentials,
    Disconnected,
    Drained,
    EventAppended,
    HttpAbort,
    HttpClient,
    HttpRequest,
    HttpServer,
    InputAnswer,
    InputRequest,
    InputRequired,
    InputWithdrawn,
    Limits,
    ListChanged,
    LoadRecord,
    LogReceived,
    MessageDiscarded,
    NotificationReceived,
    OpenUserAgent,
    Principal,
    ProgressReceived,
    PromptRequested,
    ProvideAssertion,
    ProvideClient,
    Ready,
    ReplayRequested,
    RequestCancelled,
    RequestContext,
    RequestFailed,
    RequestReceived,
    ResourceReadRequested,
    ResourceServer,
    ResourceUpdated,
    ResponsePart,
    ResponseReceived,
    RestartRequired,
    RpcErrorValue,
    SaveRecord,
    SendRequest,
    Server,
    SessionClosed,
    SessionNamed,
    SessionOpened,
    SessionReplaced,
    SessionRequested,
    SigningRequest,
    SignInput,
    StreamsForgotten,
    SubscriptionAcknowledged,
    SubscriptionClosed,
    SubscriptionEnded,
    SubscriptionFilter,
    SubscriptionOpened,
    Timeouts,
    ToolCalled,
    ToolOmitted,
    ViolationTolerated,
    dpop_proof,
    server_metadata_urls,
)

__all__ = [
    "LEGACY_REVISIONS",
    "LOG_LEVELS",
    "MODERN_REVISIONS",
    "REVISIONS",
    "VERSION",
    "AccessDenied",
    "ApiMisuseError",
    "Authorization",
    "AuthorizationError",
    "AuthorizationRefused",
    "AuthorizationRequired",
    "AuthorizationSettled",
    "ChildShutdown",
    "Client",
    "ClientRegistration",
    "CompletionRequested",
    "ConnectionClosedError",
    "ConnectionLostError",
    "Credentials",
    "Disconnected",
    "Drained",
    "Era",
    "Event",
    "EventAppended",
    "HttpAbort",
    "HttpClient",
    "HttpRequest",
    "HttpServer",
    "HttpStatusError",
    "InputAnswer",
    "InputKindName",
    "InputRefusedError",
    "InputRequest",
    "InputRequired",
    "InputWithdrawn",
    "InvalidResultError",
    "Json",
    "LimitExceededError",
    "Limits",
    "ListChanged",
    "ListKindName",
    "LoadRecord",
    "LogLevel",
    "LogReceived",
    "McpError",
    "MessageDiscarded",
    "MissingCapabilityError",
    "NotificationReceived",
    "OpenUserAgent",
    "PeerIncompatibleError",
    "PeerMisbehavedError",
    "Principal",
    "ProgressReceived",
    "PromptRequested",
    "ProvideAssertion",
    "ProvideClient",
    "Ready",
    "ReplayRequested",
    "RequestCancelled",
    "RequestCancelledError",
    "RequestContext",
    "RequestFailed",
    "RequestReceived",
    "RequestTimedOutError",
    "ResourceReadRequested",
    "ResourceServer",
    "ResourceUpdated",
    "ResponsePart",
    "ResponseReceived",
    "RestartRequired",
    "RoundsExceededError",
    "RpcError",
    "RpcErrorValue",
    "SaveRecord",
    "SendRequest",
    "Server",
    "ServerUnavailableError",
    "SessionClosed",
    "SessionLostError",
    "SessionNamed",
    "SessionOpened",
    "SessionReplaced",
    "SessionRequested",
    "SignInput",
    "SigningRequest",
    "StreamsForgotten",
    "SubscriptionAcknowledged",
    "SubscriptionClosed",
    "SubscriptionEnded",
    "SubscriptionFilter",
    "SubscriptionOpened",
    "Timeouts",
    "ToolCalled",
    "ToolOmitted",
    "UnauthorizedError",
    "ViolationTolerated",
    "dpop_proof",
    "server_metadata_urls",
]
