"""Types of what the extension module tells: values and events.

They live in `barewire._native`. There is no module behind this stub, which keeps that one readable.
"""

from collections.abc import Sequence
from typing import Final, Literal, final

from ._aliases import Era as Era
from ._aliases import InputKindName, ListKindName, LogLevel
from ._errors import McpError

@final
class RpcErrorValue:
    """A JSON-RPC error object as it stands on the wire."""

    __match_args__: Final = ("code", "message", "data")
    code: Final[int]
    message: Final[str]
    data: Final[bytes | None]

@final
class SubscriptionFilter:
    """What a subscription is about: changes of the lists, and of single resources by URI."""

    def __new__(
        cls,
        *,
        tools: bool = False,
        resources: bool = False,
        prompts: bool = False,
        resource_uris: Sequence[str] = ...,
    ) -> SubscriptionFilter: ...
    tools: Final[bool]
    resources: Final[bool]
    prompts: Final[bool]
    resource_uris: Final[list[str]]

@final
class InputRequest:
    """A question of the server, as the client sees it: answer it with `Client.provide_input`.

    `key` is the server's own name for it, where the revision has one.
    """

    __match_args__: Final = ("input", "kind", "params", "key")
    input: Final[int]
    kind: Final[InputKindName]
    params: Final[bytes | None]
    key: Final[str | None]

@final
class InputAnswer:
    """An answer of the client, as the server sees it: `result` or `error`."""

    __match_args__: Final = ("key", "result", "error")
    key: Final[str]
    result: Final[bytes | None]
    error: Final[RpcErrorValue | None]

@final
class RequestContext:
    """Who sent a request, and what came with it.

    `client` is the name and version object that the client gave, which proves nothing; `capabilities` what
    it declared, for its session or with this very request. `log_level` is the least severe level it wants,
    `None` for no messages. `session` is set in the legacy era only, `exchange` over HTTP, and `principal` is
    who the host says the client is. `input_answers` holds the answers to all questions of this request so
    far, `state` what was kept with the last question, and `round` how many times the request has asked.
    """

    __match_args__: Final = (
        "revision",
        "era",
        "client",
        "capabilities",
        "log_level",
        "wants_progress",
        "progress_token",
        "meta",
        "session",
        "exchange",
        "principal",
        "input_answers",
        "state",
        "round",
    )
    revision: Final[str]
    era: Final[Era]
    client: Final[bytes | None]
    capabilities: Final[bytes | None]
    def has_capability(self, path: str) -> bool:
        """Whether the client declared the capability, for example `"sampling.tools"`."""
    log_level: Final[LogLevel | None]
    wants_progress: Final[bool]
    progress_token: Final[bytes | None]
    meta: Final[bytes | None]
    session: Final[int | None]
    exchange: Final[int | None]
    principal: Final[str | None]
    input_answers: Final[list[InputAnswer]]
    state: Final[bytes | None]
    round: Final[int]

# ---------------------------------------------------------------- events of both roles

@final
class NotificationReceived:
    """Any other notification, those of extensions included.

    `session` is set on servers in the legacy era only.
    """

    __match_args__: Final = ("session", "method", "params")
    session: Final[int | None]
    method: Final[str]
    params: Final[bytes | None]

@final
class ViolationTolerated:
    """The peer deviated from the protocol in a way that did not matter.

    `violation` names how, in a word that never changes, such as `byte_order_mark`;
    `bytes` are the message as it arrived.
    """

    __match_args__: Final = ("violation", "request", "bytes")
    violation: Final[str]
    request: Final[int | None]
    bytes: Final[bytes]

@final
class MessageDiscarded:
    """The peer sent something unusable; the connection goes on.

    `bytes` are what arrived, or its head up to the limit.
    """

    __match_args__: Final = ("violation", "bytes")
    violation: Final[str]
    bytes: Final[bytes]

@final
class Disconnected:
    """The last event. `reason` is an exception of the `McpError` tree, made but not raised."""

    __match_args__: Final = ("reason",)
    reason: Final[McpError]

# ---------------------------------------------------------------- events of a client

@final
class Ready:
    """The revision is settled and queued requests go out; what the server tells of itself."""

    __match_args__: Final = ("revision", "server", "capabilities", "instructions")
    revision: Final[str]
    server: Final[bytes | None]
    capabilities: Final[bytes | None]
    def has_capability(self, path: str) -> bool:
        """Whether the server declared the capability, for example `"resources.subscribe"`."""
    instructions: Final[str | None]

@final
class RestartRequired:
    """The server ended on the probe, as some old ones do.

    Start it afresh and call `Client.restart`; queued requests are kept. It comes at most once.
    """

    __match_args__: Final = ()

@final
class ResponseReceived:
    """A request of this side was answered.

    On a client `result` is set, and `ttl_ms` and `cache_scope` where the revision has them. On a server,
    whose own requests exist in the legacy era only, either `result` or `error` is: an exception that tells
    why.
    """

    __match_args__: Final = ("request", "result", "ttl_ms", "cache_scope", "error")
    request: Final[int]
    result: Final[bytes | None]
    ttl_ms: Final[int | None]
    cache_scope: Final[Literal["public", "private"] | None]
    error: Final[McpError | None]

@final
class RequestFailed:
    """A request ended without a result.

    `error` is an exception of the `McpError` tree, made but not raised: `RpcError` if the server answered
    so, otherwise the local reason, which can never pass for the server's.
    """

    __match_args__: Final = ("request", "error")
    request: Final[int]
    error: Final[McpError]

@final
class InputRequired:
    """The server asks something; answer each question, in any order.

    `request` is `None` where the revision does not say what it is for; `round` counts from 1.
    """

    __match_args__: Final = ("request", "inputs", "round")
    request: Final[int | None]
    inputs: Final[list[InputRequest]]
    round: Final[int]

@final
class InputWithdrawn:
    """A question no longer stands; an answer would be refused."""

    __match_args__: Final = ("input",)
    input: Final[int]

@final
class SessionReplaced:
    """The server had lost the session, and a new one is there: over HTTP, in the legacy era.

    Lists may have changed, and changes may have been missed.
    """

    __match_args__: Final = ("revision", "server", "capabilities", "instructions")
    revision: Final[str]
    server: Final[bytes | None]
    capabilities: Final[bytes | None]
    def has_capability(self, path: str) -> bool:
        """Whether the server declared the capability, for example `"resources.subscribe"`."""
    instructions: Final[str | None]

@final
class ToolOmitted:
    """A tool was left out of the list that `request` asked for, and whose result follows.

    Its definition wants arguments repeated in headers in a way that is not possible. `index` is its place in
    the list as the server sent it, and `path` the member that is wrong.
    """

    __match_args__: Final = ("request", "index", "name", "path", "reason")
    request: Final[int]
    index: Final[int]
    name: Final[str | None]
    path: Final[str]
    reason: Final[str]

@final
class ProgressReceived:
    """A request reports progress. `increasing` is false if it is not more than the last time."""

    __match_args__: Final = ("request", "progress", "total", "message", "increasing")
    request: Final[int]
    progress: Final[float]
    total: Final[float | None]
    message: Final[str | None]
    increasing: Final[bool]

@final
class LogReceived:
    """The server logs something. `level` is `None` if it wrote an unknown one."""

    __match_args__: Final = ("request", "level", "logger", "data")
    request: Final[int | None]
    level: Final[LogLevel | None]
    logger: Final[str | None]
    data: Final[bytes]

@final
class SubscriptionAcknowledged:
    """A subscription is in force; `honoured` may be less than was asked."""

    __match_args__: Final = ("subscription", "honoured")
    subscription: Final[int]
    honoured: Final[SubscriptionFilter]

@final
class SubscriptionEnded:
    """A subscription is over. Unless `graceful`, changes may have been missed."""

    __match_args__: Final = ("subscription", "graceful")
    subscription: Final[int]
    graceful: Final[bool]

@final
class ListChanged:
    """A list of the server changed: fetch it again."""

    __match_args__: Final = ("kind", "subscription")
    kind: Final[ListKindName]
    subscription: Final[int | None]

@final
class ResourceUpdated:
    """A resource changed: read it again. It may lie below the URI that was subscribed to."""

    __match_args__: Final = ("uri", "subscription")
    uri: Final[str]
    subscription: Final[int | None]

# ---------------------------------------------------------------- events of a server

@final
class ToolCalled:
    """A registered tool is called; `arguments` is an object, not checked against the tool's schema.

    Like every request it is answered once, by `Server.respond`, `respond_error` or `require_input`; after
    the latter it comes again with the answers: with the same number in the legacy era, later with a new
    one.
    """

    __match_args__: Final = ("request", "name", "arguments", "context")
    request: Final[int]
    name: Final[str]
    arguments: Final[bytes | None]
    context: Final[RequestContext]

@final
class ResourceReadRequested:
    """A resource is read: registered itself, or matched by the registered `template`.

    `variables` holds what the template's variables stand for, percent-decoded.
    """

    __match_args__: Final = ("request", "uri", "template", "variables", "context")
    request: Final[int]
    uri: Final[str]
    template: Final[str | None]
    variables: Final[dict[str, str]]
    context: Final[RequestContext]

@final
class PromptRequested:
    """A registered prompt is asked for; `arguments` is an object of strings."""

    __match_args__: Final = ("request", "name", "arguments", "context")
    request: Final[int]
    name: Final[str]
    arguments: Final[bytes | None]
    context: Final[RequestContext]

@final
class CompletionRequested:
    """Suggestions for `argument` are asked for, of which `value` is typed so far.

    Exactly one of `prompt` and `resource` is set; `arguments` are those settled before.
    """

    __match_args__: Final = ("request", "prompt", "resource", "argument", "value", "arguments", "context")
    request: Final[int]
    prompt: Final[str | None]
    resource: Final[str | None]
    argument: Final[str]
    value: Final[str]
    arguments: Final[bytes | None]
    context: Final[RequestContext]

@final
class RequestReceived:
    """A request of one of the `extension_methods`."""

    __match_args__: Final = ("request", "method", "params", "context")
    request: Final[int]
    method: Final[str]
    params: Final[bytes | None]
    context: Final[RequestContext]

@final
class RequestCancelled:
    """The client no longer wants the answer. A late answer is accepted and sends nothing."""

    __match_args__: Final = ("request", "reason")
    request: Final[int]
    reason: Final[str | None]

@final
class SubscriptionOpened:
    """A client watches what `filter` says."""

    __match_args__: Final = ("subscription", "filter")
    subscription: Final[int]
    filter: Final[SubscriptionFilter]

@final
class SubscriptionClosed:
    """A client no longer watches."""

    __match_args__: Final = ("subscription",)
    subscription: Final[int]

@final
class SessionOpened:
    """A legacy client has finished its handshake."""

    __match_args__: Final = ("session", "revision", "client", "capabilities")
    session: Final[int]
    revision: Final[str]
    client: Final[bytes | None]
    capabilities: Final[bytes | None]
    def has_capability(self, path: str) -> bool:
        """Whether the client declared the capability, for example `"sampling.tools"`."""

@final
class SessionClosed:
    """A legacy session is over."""

    __match_args__: Final = ("session",)
    session: Final[int]

@final
class Drained:
    """The end of input was reached; requests that never got their answer are `abandoned`."""

    __match_args__: Final = ("abandoned",)
    abandoned: Final[list[int]]

# ---------------------------------------------------------------- the machines
