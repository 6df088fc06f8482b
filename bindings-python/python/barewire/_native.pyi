"""The extension module: the core behind newline framing. Use it through `barewire.sansio`.

Times are integers in milliseconds from any fixed origin (a monotonic clock). JSON goes in as `bytes` or `str`
and comes out as `bytes`. Handles are integers. An object may be used from several threads, one at a time.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, final

from ._aliases import Era as Era
from ._aliases import Event as Event
from ._aliases import InputKindName as InputKindName
from ._aliases import Json as Json
from ._aliases import ListKindName as ListKindName

# What the core knows; bindings keep no list of their own.
VERSION: Final[str]
"""The version of the core."""
REVISIONS: Final[tuple[str, ...]]
"""The names of all protocol revisions, newest first."""
LEGACY_REVISIONS: Final[tuple[str, ...]]
"""The names of the revisions with a handshake, newest first."""
MODERN_REVISIONS: Final[tuple[str, ...]]
"""The names of the stateless revisions, newest first."""
LOG_LEVELS: Final[tuple[str, ...]]
"""The names of the log levels, least severe first."""

@final
class Limits:
    """Bounds on everything a peer can make the core keep; see the core's `Limits` for units and defaults."""

    def __new__(
        cls,
        *,
        message_bytes: int | None = None,
        depth: int | None = None,
        requests_in_flight: int | None = None,
        queued_requests: int | None = None,
        queued_events: int | None = None,
        queued_bytes: int | None = None,
        batch_items: int | None = None,
        sessions: int | None = None,
        subscriptions: int | None = None,
        watched_resources: int | None = None,
        rounds: int | None = None,
        inputs: int | None = None,
        request_state_bytes: int | None = None,
        page_items: int | None = None,
    ) -> Limits: ...

@final
class Timeouts:
    """Durations in milliseconds; see the core's `Timeouts` for defaults."""

    def __new__(
        cls,
        *,
        probe: int | None = None,
        handshake: int | None = None,
        request: int | None = None,
        request_total: int | None = None,
        progress_extends: bool | None = None,
        acknowledgement: int | None = None,
        drain: int | None = None,
        request_state: int | None = None,
        child_exit: int | None = None,
        child_terminate: int | None = None,
    ) -> Timeouts: ...

@final
class RpcErrorValue:
    """A JSON-RPC error object as it stands on the wire."""

    __match_args__: Final = ("code", "message", "data")
    @property
    def code(self) -> int: ...
    @property
    def message(self) -> str: ...
    @property
    def data(self) -> bytes | None: ...

@final
class SubscriptionFilter:
    """What a subscription is about."""

    def __new__(
        cls,
        *,
        tools: bool = False,
        resources: bool = False,
        prompts: bool = False,
        resource_uris: Sequence[str] = ...,
    ) -> SubscriptionFilter: ...
    @property
    def tools(self) -> bool: ...
    @property
    def resources(self) -> bool: ...
    @property
    def prompts(self) -> bool: ...
    @property
    def resource_uris(self) -> list[str]: ...

@final
class InputRequest:
    """A question of the server, as the client sees it."""

    __match_args__: Final = ("input", "kind", "params", "key")
    @property
    def input(self) -> int: ...
    @property
    def kind(self) -> InputKindName: ...
    @property
    def params(self) -> bytes | None: ...
    @property
    def key(self) -> str | None: ...

@final
class InputAnswer:
    """An answer of the client, as the server sees it: `result` or `error`."""

    __match_args__: Final = ("key", "result", "error")
    @property
    def key(self) -> str: ...
    @property
    def result(self) -> bytes | None: ...
    @property
    def error(self) -> RpcErrorValue | None: ...

@final
class RequestContext:
    """Who sent a request, and what came with it."""

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
        "principal",
        "input_answers",
        "state",
        "round",
    )
    @property
    def revision(self) -> str: ...
    @property
    def era(self) -> Era: ...
    @property
    def client(self) -> bytes | None: ...
    @property
    def capabilities(self) -> bytes | None: ...
    def has_capability(self, path: str) -> bool:
        """Whether the client declared the capability, for example `"sampling.tools"`."""
    @property
    def log_level(self) -> str | None: ...
    @property
    def wants_progress(self) -> bool: ...
    @property
    def progress_token(self) -> bytes | None: ...
    @property
    def meta(self) -> bytes | None: ...
    @property
    def session(self) -> int | None: ...
    @property
    def principal(self) -> str | None: ...
    @property
    def input_answers(self) -> list[InputAnswer]: ...
    @property
    def state(self) -> bytes | None: ...
    @property
    def round(self) -> int: ...

# ---------------------------------------------------------------- events of both roles

@final
class NotificationReceived:
    """`session` is set on servers in the legacy era only."""

    __match_args__: Final = ("session", "method", "params")
    @property
    def session(self) -> int | None: ...
    @property
    def method(self) -> str: ...
    @property
    def params(self) -> bytes | None: ...

@final
class ViolationTolerated:
    __match_args__: Final = ("violation", "request", "bytes")
    @property
    def violation(self) -> str: ...
    @property
    def request(self) -> int | None: ...
    @property
    def bytes(self) -> bytes: ...

@final
class MessageDiscarded:
    __match_args__: Final = ("violation", "bytes")
    @property
    def violation(self) -> str: ...
    @property
    def bytes(self) -> bytes: ...

@final
class Disconnected:
    """The last event. `reason` is an exception of the `McpError` tree, made but not raised."""

    __match_args__: Final = ("reason",)
    @property
    def reason(self) -> Exception: ...

# ---------------------------------------------------------------- events of a client

@final
class Ready:
    __match_args__: Final = ("revision", "server", "capabilities", "instructions")
    @property
    def revision(self) -> str: ...
    @property
    def server(self) -> bytes | None: ...
    @property
    def capabilities(self) -> bytes | None: ...
    def has_capability(self, path: str) -> bool: ...
    @property
    def instructions(self) -> str | None: ...

@final
class RestartRequired:
    """Start the server afresh and call `Client.restart`."""

    __match_args__: Final = ()

@final
class ResponseReceived:
    """A client's request ended well; on a server, a request of its own ended: `result` or `error`."""

    __match_args__: Final = ("request", "result", "ttl_ms", "cache_scope", "error")
    @property
    def request(self) -> int: ...
    @property
    def result(self) -> bytes | None: ...
    @property
    def ttl_ms(self) -> int | None: ...
    @property
    def cache_scope(self) -> Literal["public", "private"] | None: ...
    @property
    def error(self) -> Exception | None: ...

@final
class RequestFailed:
    """`error` is an exception of the `McpError` tree, made but not raised."""

    __match_args__: Final = ("request", "error")
    @property
    def request(self) -> int: ...
    @property
    def error(self) -> Exception: ...

@final
class InputRequired:
    __match_args__: Final = ("request", "inputs", "round")
    @property
    def request(self) -> int | None: ...
    @property
    def inputs(self) -> list[InputRequest]: ...
    @property
    def round(self) -> int: ...

@final
class InputWithdrawn:
    __match_args__: Final = ("input",)
    @property
    def input(self) -> int: ...

@final
class ProgressReceived:
    __match_args__: Final = ("request", "progress", "total", "message", "increasing")
    @property
    def request(self) -> int: ...
    @property
    def progress(self) -> float: ...
    @property
    def total(self) -> float | None: ...
    @property
    def message(self) -> str | None: ...
    @property
    def increasing(self) -> bool: ...

@final
class LogReceived:
    __match_args__: Final = ("request", "level", "logger", "data")
    @property
    def request(self) -> int | None: ...
    @property
    def level(self) -> str | None: ...
    @property
    def logger(self) -> str | None: ...
    @property
    def data(self) -> bytes: ...

@final
class SubscriptionAcknowledged:
    __match_args__: Final = ("subscription", "honoured")
    @property
    def subscription(self) -> int: ...
    @property
    def honoured(self) -> SubscriptionFilter: ...

@final
class SubscriptionEnded:
    __match_args__: Final = ("subscription", "graceful")
    @property
    def subscription(self) -> int: ...
    @property
    def graceful(self) -> bool: ...

@final
class ListChanged:
    __match_args__: Final = ("kind", "subscription")
    @property
    def kind(self) -> ListKindName: ...
    @property
    def subscription(self) -> int | None: ...

@final
class ResourceUpdated:
    __match_args__: Final = ("uri", "subscription")
    @property
    def uri(self) -> str: ...
    @property
    def subscription(self) -> int | None: ...

# ---------------------------------------------------------------- events of a server

@final
class ToolCalled:
    __match_args__: Final = ("request", "name", "arguments", "context")
    @property
    def request(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> bytes | None: ...
    @property
    def context(self) -> RequestContext: ...

@final
class ResourceReadRequested:
    __match_args__: Final = ("request", "uri", "template", "variables", "context")
    @property
    def request(self) -> int: ...
    @property
    def uri(self) -> str: ...
    @property
    def template(self) -> str | None: ...
    @property
    def variables(self) -> dict[str, str]: ...
    @property
    def context(self) -> RequestContext: ...

@final
class PromptRequested:
    __match_args__: Final = ("request", "name", "arguments", "context")
    @property
    def request(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> bytes | None: ...
    @property
    def context(self) -> RequestContext: ...

@final
class CompletionRequested:
    """Exactly one of `prompt` and `resource` is set."""

    __match_args__: Final = ("request", "prompt", "resource", "argument", "value", "arguments", "context")
    @property
    def request(self) -> int: ...
    @property
    def prompt(self) -> str | None: ...
    @property
    def resource(self) -> str | None: ...
    @property
    def argument(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def arguments(self) -> bytes | None: ...
    @property
    def context(self) -> RequestContext: ...

@final
class RequestReceived:
    __match_args__: Final = ("request", "method", "params", "context")
    @property
    def request(self) -> int: ...
    @property
    def method(self) -> str: ...
    @property
    def params(self) -> bytes | None: ...
    @property
    def context(self) -> RequestContext: ...

@final
class RequestCancelled:
    __match_args__: Final = ("request", "reason")
    @property
    def request(self) -> int: ...
    @property
    def reason(self) -> str | None: ...

@final
class SubscriptionOpened:
    __match_args__: Final = ("subscription", "filter")
    @property
    def subscription(self) -> int: ...
    @property
    def filter(self) -> SubscriptionFilter: ...

@final
class SubscriptionClosed:
    __match_args__: Final = ("subscription",)
    @property
    def subscription(self) -> int: ...

@final
class SessionOpened:
    __match_args__: Final = ("session", "revision", "client", "capabilities")
    @property
    def session(self) -> int: ...
    @property
    def revision(self) -> str: ...
    @property
    def client(self) -> bytes | None: ...
    @property
    def capabilities(self) -> bytes | None: ...
    def has_capability(self, path: str) -> bool: ...

@final
class SessionClosed:
    __match_args__: Final = ("session",)
    @property
    def session(self) -> int: ...

@final
class Drained:
    __match_args__: Final = ("abandoned",)
    @property
    def abandoned(self) -> list[int]: ...

# ---------------------------------------------------------------- the machines

@final
class Client:
    """A client behind newline framing."""

    def __new__(
        cls,
        *,
        name: str,
        version: str,
        seed: bytes,
        now: int,
        title: str | None = None,
        description: str | None = None,
        website_url: str | None = None,
        icons: Json | None = None,
        capabilities: Json | None = None,
        revisions: Sequence[str] | None = None,
        era: str | None = None,
        limits: Limits | None = None,
        timeouts: Timeouts | None = None,
    ) -> Client: ...
    # bytes
    def receive_data(self, data: bytes, now: int) -> list[Event]: ...
    def receive_eof(self, now: int) -> list[Event]: ...
    def connection_lost(self, now: int) -> list[Event]: ...
    def restart(self, now: int) -> list[Event]: ...
    def data_to_send(self) -> bytes: ...
    def events(self) -> list[Event]: ...
    def handle_timeout(self, now: int) -> list[Event]: ...
    def poll_timeout(self) -> int | None: ...
    @property
    def wants_input(self) -> bool: ...
    @property
    def is_finished(self) -> bool: ...
    # commands
    def request(
        self,
        method: str,
        params: Json | None,
        now: int,
        *,
        progress: bool = False,
        timeout: int | None = None,
        total_timeout: int | None = None,
        log_level: str | None = None,
        meta: Json | None = None,
    ) -> int: ...
    def call_tool(
        self,
        name: str,
        arguments: Json | None,
        now: int,
        *,
        progress: bool = False,
        timeout: int | None = None,
        total_timeout: int | None = None,
        log_level: str | None = None,
        meta: Json | None = None,
    ) -> int: ...
    def list(
        self,
        kind: Literal["tools", "resources", "resource_templates", "prompts"],
        cursor: str | None,
        now: int,
        *,
        timeout: int | None = None,
    ) -> int: ...
    def read_resource(self, uri: str, now: int, *, timeout: int | None = None) -> int: ...
    def get_prompt(
        self, name: str, arguments: Json | None, now: int, *, timeout: int | None = None
    ) -> int: ...
    def complete(
        self,
        now: int,
        *,
        prompt: str | None = None,
        resource: str | None = None,
        argument: str,
        value: str,
        arguments: Json | None = None,
        timeout: int | None = None,
    ) -> int: ...
    def ping(self, now: int, *, timeout: int | None = None) -> int: ...
    def cancel(self, request: int, reason: str | None = None) -> None: ...
    def provide_input(self, input: int, result: Json, now: int) -> None: ...
    def refuse_input(self, input: int, code: int, message: str, now: int) -> None: ...
    def subscribe(self, filter: SubscriptionFilter, now: int) -> int: ...
    def unsubscribe(self, subscription: int, now: int) -> None: ...
    def set_log_level(self, level: str, now: int) -> int: ...
    def notify(self, method: str, params: Json | None = None) -> None: ...
    def notify_roots_changed(self) -> None: ...
    def close(self) -> None: ...
    @property
    def revision(self) -> str | None: ...
    @property
    def era_verdict(self) -> str | None: ...

@final
class Server:
    """A server behind newline framing."""

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
    def receive_data(self, data: bytes, now: int) -> list[Event]: ...
    def receive_eof(self, now: int) -> list[Event]: ...
    def connection_lost(self, now: int) -> list[Event]: ...
    def data_to_send(self) -> bytes: ...
    def events(self) -> list[Event]: ...
    def handle_timeout(self, now: int) -> list[Event]: ...
    def poll_timeout(self) -> int | None: ...
    @property
    def wants_input(self) -> bool: ...
    @property
    def is_finished(self) -> bool: ...
    # catalog: definitions are JSON objects
    def add_tool(self, definition: Json) -> None: ...
    def remove_tool(self, name: str) -> None: ...
    def add_resource(self, definition: Json) -> None: ...
    def remove_resource(self, uri: str) -> None: ...
    def add_resource_template(self, definition: Json) -> None: ...
    def remove_resource_template(self, template: str) -> None: ...
    def add_prompt(self, definition: Json) -> None: ...
    def remove_prompt(self, name: str) -> None: ...
    # commands
    def respond(self, request: int, result: Json) -> None: ...
    def respond_error(self, request: int, code: int, message: str, data: Json | None = None) -> None: ...
    def respond_missing_capability(self, request: int, required: Json) -> None: ...
    def respond_invalid_arguments(self, request: int, message: str) -> None: ...
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
    ) -> bool: ...
    def log(self, request: int | None, level: str, data: Json, logger: str | None = None) -> bool: ...
    def notify(self, request: int, method: str, params: Json | None = None) -> bool: ...
    def publish_list_changed(self, kind: ListKindName) -> None: ...
    def publish_resource_updated(self, uri: str) -> None: ...
    def end_subscription(self, subscription: int) -> None: ...
    def request(self, session: int, method: str, params: Json | None, now: int) -> int: ...
    def ping(self, session: int, now: int) -> int: ...
    def close(self) -> None: ...

@final
class ChildShutdown:
    """The steps that end a child process: close its input, wait, ask, wait, force."""

    def __new__(cls, timeouts: Timeouts | None = None) -> ChildShutdown: ...
    def start(self) -> None: ...
    def child_exited(self) -> None: ...
    def poll_action(self, now: int) -> Literal["close_input", "terminate", "kill"] | None: ...
    def poll_timeout(self) -> int | None: ...
    def handle_timeout(self, now: int) -> None: ...
    @property
    def is_finished(self) -> bool: ...
