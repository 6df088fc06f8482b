"""The extension module: the core behind newline framing. Use it through `barewire.sansio`.

Times are integers in milliseconds from any fixed origin (a monotonic clock). JSON goes in as `bytes` or `str`
and comes out as `bytes`, made anew whenever a member is read. Handles are integers that are not reused.
An object may be used from several threads: under the GIL every call runs to its end before the next one.
"""

from collections.abc import Sequence
from typing import Final, Literal, final, type_check_only

from ._aliases import Era as Era
from ._aliases import Event as Event
from ._aliases import InputKindName as InputKindName
from ._aliases import Json as Json
from ._aliases import ListKindName as ListKindName
from ._aliases import LogLevel as LogLevel
from ._native_authorization import AccessDenied as AccessDenied
from ._native_authorization import Authorization as Authorization
from ._native_authorization import AuthorizationRefused as AuthorizationRefused
from ._native_authorization import AuthorizationSettled as AuthorizationSettled
from ._native_authorization import ClientRegistration as ClientRegistration
from ._native_authorization import Credentials as Credentials
from ._native_authorization import LoadRecord as LoadRecord
from ._native_authorization import OpenUserAgent as OpenUserAgent
from ._native_authorization import Principal as Principal
from ._native_authorization import ProvideAssertion as ProvideAssertion
from ._native_authorization import ProvideClient as ProvideClient
from ._native_authorization import ResourceServer as ResourceServer
from ._native_authorization import SaveRecord as SaveRecord
from ._native_authorization import SendRequest as SendRequest
from ._native_authorization import SigningRequest as SigningRequest
from ._native_authorization import SignInput as SignInput
from ._native_authorization import dpop_proof as dpop_proof
from ._native_authorization import server_metadata_urls as server_metadata_urls
from ._native_events import CompletionRequested as CompletionRequested
from ._native_events import Disconnected as Disconnected
from ._native_events import Drained as Drained
from ._native_events import InputAnswer as InputAnswer
from ._native_events import InputRequest as InputRequest
from ._native_events import InputRequired as InputRequired
from ._native_events import InputWithdrawn as InputWithdrawn
from ._native_events import ListChanged as ListChanged
from ._native_events import LogReceived as LogReceived
from ._native_events import MessageDiscarded as MessageDiscarded
from ._native_events import NotificationReceived as NotificationReceived
from ._native_events import ProgressReceived as ProgressReceived
from ._native_events import PromptRequested as PromptRequested
from ._native_events import Ready as Ready
from ._native_events import RequestCancelled as RequestCancelled
from ._native_events import RequestContext as RequestContext
from ._native_events import RequestFailed as RequestFailed
from ._native_events import RequestReceived as RequestReceived
from ._native_events import ResourceReadRequested as ResourceReadRequested
from ._native_events import ResourceUpdated as ResourceUpdated
from ._native_events import ResponseReceived as ResponseReceived
from ._native_events import RestartRequired as RestartRequired
from ._native_events import RpcErrorValue as RpcErrorValue
from ._native_events import SessionClosed as SessionClosed
from ._native_events import SessionOpened as SessionOpened
from ._native_events import SessionReplaced as SessionReplaced
from ._native_events import SubscriptionAcknowledged as SubscriptionAcknowledged
from ._native_events import SubscriptionClosed as SubscriptionClosed
from ._native_events import SubscriptionEnded as SubscriptionEnded
from ._native_events import SubscriptionFilter as SubscriptionFilter
from ._native_events import SubscriptionOpened as SubscriptionOpened
from ._native_events import ToolCalled as ToolCalled
from ._native_events import ToolOmitted as ToolOmitted
from ._native_events import ViolationTolerated as ViolationTolerated
from ._native_server import EventAppended as EventAppended
from ._native_server import HttpServer as HttpServer
from ._native_server import ReplayRequested as ReplayRequested
from ._native_server import ResponsePart as ResponsePart
from ._native_server import Server as Server
from ._native_server import SessionNamed as SessionNamed
from ._native_server import SessionRequested as SessionRequested
from ._native_server import StreamsForgotten as StreamsForgotten
from ._native_server import _ServerCommands as _ServerCommands

# What the core knows; bindings keep no list of their own.
VERSION: Final[str]
"""The version of the core."""
REVISIONS: Final[tuple[str, ...]]
"""The names of all protocol revisions, newest first."""
LEGACY_REVISIONS: Final[tuple[str, ...]]
"""The names of the revisions with a handshake, newest first."""
MODERN_REVISIONS: Final[tuple[str, ...]]
"""The names of the stateless revisions, newest first."""
LOG_LEVELS: Final[tuple[LogLevel, ...]]
"""The names of the log levels, least severe first."""
INVALID_PARAMS: Final[int]
"""The JSON-RPC code of wrong parameters."""
INTERNAL_ERROR: Final[int]
"""The JSON-RPC code of a failure of the receiver."""
RESOURCE_NOT_FOUND: Final[int]
"""The code of a resource that does not exist; the core writes it as each revision wants it."""

def template_variables(template: str) -> list[str]:
    """The names of the variables of a URI template (RFC 6570), in its order.

    Raises ValueError if it is none.
    """

def is_recommended_tool_name(name: str) -> bool:
    """Whether a tool's name is one that the specification advises, which every client should take."""

@final
class Limits:
    """Bounds on everything a peer can make the core keep; what is left out has its default.

    Reaching one is a typed refusal or an event, never growth.
    """

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
        page_bytes: int | None = None,
    ) -> Limits: ...
    message_bytes: Final[int]
    """Bytes of one inbound message. Default 16 MiB."""
    depth: Final[int]
    """Levels of nesting of one inbound message. Default 128."""
    requests_in_flight: Final[int]
    """Requests in flight, each direction counted alone. Default 2048."""
    queued_requests: Final[int]
    """Requests accepted before the connection is ready. Default 256."""
    queued_events: Final[int]
    """Events that wait to be taken at which `wants_input` turns false. Default 4096."""
    queued_bytes: Final[int]
    """Bytes that wait to be sent or taken at which `wants_input` turns false. Default 8 MiB."""
    batch_items: Final[int]
    """Elements of a JSON-RPC batch. Default 256."""
    sessions: Final[int]
    """Sessions of one server. Default 10 000."""
    subscriptions: Final[int]
    """Open subscriptions of one peer. Default 256."""
    watched_resources: Final[int]
    """Resource URIs that one peer watches over all its subscriptions. Default 1024."""
    rounds: Final[int]
    """How many times one request may ask its client. Default 10."""
    inputs: Final[int]
    """Questions in one round. Default 32."""
    request_state_bytes: Final[int]
    """Bytes of the state that travels with questions. Default 64 KiB."""
    page_items: Final[int]
    """Items on one page of a list. Default 1000."""
    page_bytes: Final[int]
    """Bytes of the items on one page of a list; one item stands there whatever its length. Default 1 MiB."""

@final
class Timeouts:
    """Durations in milliseconds; what is left out has its default."""

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
    probe: Final[int]
    """A client waits for the answer to its era probe. Default 5 000 ms."""
    handshake: Final[int]
    """A client waits for the answer to the handshake. Default 30 000 ms."""
    request: Final[int]
    """A request waits with nothing heard of it. Default 60 000 ms."""
    request_total: Final[int]
    """A request may last over all its rounds, whatever is heard of it. Default 600 000 ms."""
    progress_extends: Final[bool]
    """Whether progress starts the `request` time anew. Default true."""
    acknowledgement: Final[int]
    """A client waits for a subscription to be acknowledged. Default 30 000 ms."""
    drain: Final[int]
    """A server sends the answers that are owed after the end of input. Default 10 000 ms."""
    request_state: Final[int]
    """How long a server accepts a sealed state again. Default 3 600 000 ms."""
    child_exit: Final[int]
    """A child may take to exit once its input is closed. Default 2 000 ms."""
    child_terminate: Final[int]
    """A child may take to exit once it was asked to end. Default 2 000 ms."""

@type_check_only
class _ClientCommands:
    """What a client is told to do, whatever carries its messages."""

    def request(
        self,
        method: str,
        params: Json | None,
        now: int,
        *,
        progress: bool = False,
        timeout: int | None = None,
        total_timeout: int | None = None,
        log_level: LogLevel | None = None,
        meta: Json | None = None,
    ) -> int:
        """Send a request of any method, or queue it until the connection is ready; give its handle.

        `timeout` bounds the time with nothing heard, `total_timeout` the time over all rounds; `log_level`
        is the least severe level wanted for this request, and `meta` an object of members for `_meta`.
        Raises `ApiMisuseError`, `LimitExceededError` or `ConnectionClosedError`, as every command below.
        """
    def call_tool(
        self,
        name: str,
        arguments: Json | None,
        now: int,
        *,
        progress: bool = False,
        timeout: int | None = None,
        total_timeout: int | None = None,
        log_level: LogLevel | None = None,
        meta: Json | None = None,
    ) -> int:
        """Call a tool; `arguments` is an object. Options are those of `request`."""
    def list(
        self,
        kind: Literal["tools", "resources", "resource_templates", "prompts"],
        cursor: str | None,
        now: int,
        *,
        timeout: int | None = None,
    ) -> int:
        """Ask for a page of a list: the first, or the one that the `cursor` of the page before leads to."""
    def read_resource(self, uri: str, now: int, *, timeout: int | None = None) -> int:
        """Read a resource."""
    def get_prompt(self, name: str, arguments: Json | None, now: int, *, timeout: int | None = None) -> int:
        """Ask for a prompt; `arguments` is an object of strings."""
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
    ) -> int:
        """Ask for suggestions for an argument of either a prompt or a resource template."""
    def ping(self, now: int, *, timeout: int | None = None) -> int:
        """Ask whether the server is there. The legacy era only."""
    def cancel(self, request: int, reason: str | None = None) -> None:
        """Give up a request: it fails at once, the server is told, and a late answer is dropped."""
    def provide_input(self, input: int, result: Json, now: int) -> None:
        """Answer a question with a result object. Declining is a result too."""
    def refuse_input(self, input: int, code: int, message: str, now: int) -> None:
        """Refuse a question: a legacy server gets the error, a modern request ends."""
    def subscribe(self, filter: SubscriptionFilter, now: int) -> int:
        """Ask to be told of changes; give the handle of the subscription."""
    def unsubscribe(self, subscription: int, now: int) -> None:
        """End a subscription; `SubscriptionEnded` follows."""
    def set_log_level(self, level: LogLevel, now: int) -> int:
        """Set the least severe level of log messages wanted; answered like a request."""
    def notify(self, method: str, params: Json | None = None) -> None:
        """Send a notification of any method, or queue it until the connection is ready."""
    def notify_roots_changed(self) -> None:
        """Tell the server that the roots have changed. The legacy era only."""
    def close(self) -> None:
        """End the connection in order; `Disconnected` follows."""
    @property
    def revision(self) -> str | None:
        """The revision, once it is settled."""
    @property
    def era_verdict(self) -> str | None:
        """What to store and give as `era` to the next client of this server, once known."""

@final
class Client(_ClientCommands):
    """A client behind newline framing. It starts to connect at once: take `data_to_send`.

    `seed` is 32 random bytes, never used twice. `capabilities` is the JSON of a `ClientCapabilities`
    object, `revisions` what it is willing to speak (all), `era` the `era_verdict` of an earlier connection to
    the same server. One that this version cannot read is a ValueError: leave it out then, and the server is
    probed.
    """

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
    def receive_data(self, data: bytes, now: int) -> list[Event]:
        """Take bytes that were read, cut anywhere, and give all events.

        When the connection is over already, and no event is left to tell it, `ConnectionClosedError` is
        raised.
        """
    def receive_eof(self, now: int) -> list[Event]:
        """The server closed its side; requests in flight fail."""
    def connection_lost(self, now: int) -> list[Event]:
        """The transport broke: nothing can be sent or received any more."""
    def restart(self, now: int) -> list[Event]:
        """The server was started afresh, as `RestartRequired` asked."""
    def data_to_send(self) -> bytes:
        """Take out all bytes that wait to be sent."""
    def events(self) -> list[Event]:
        """Take out the events that commands have caused."""
    def handle_timeout(self, now: int) -> list[Event]:
        """Let time pass. Harmless when nothing is due."""
    def poll_timeout(self) -> int | None:
        """When to call `handle_timeout` at the latest, if ever."""
    @property
    def wants_input(self) -> bool:
        """False while so much waits to be sent or taken that the host should stop reading."""
    @property
    def is_finished(self) -> bool:
        """True when everything is over and sent: close this side of the stream."""

@final
class HttpRequest:
    """A request to send. `headers` lacks those that an HTTP library adds; a stream may stay silent."""

    __match_args__: Final = ("exchange", "method", "url", "headers", "body", "is_stream")
    @property
    def exchange(self) -> int: ...
    @property
    def method(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def headers(self) -> list[tuple[str, str]]: ...
    @property
    def body(self) -> bytes: ...
    @property
    def is_stream(self) -> bool: ...

@final
class HttpAbort:
    """An exchange to give up: close its connection, or reset its stream. Its end is not reported."""

    __match_args__: Final = ("exchange",)
    @property
    def exchange(self) -> int: ...

@final
class AuthorizationRequired:
    """The server answered 401 or 403; the exchange waits for `authorized` or `unauthorized`."""

    __match_args__: Final = ("exchange", "status", "challenges", "dpop_nonce", "operation")
    @property
    def exchange(self) -> int: ...
    @property
    def status(self) -> int: ...
    @property
    def challenges(self) -> list[str]:
        """The values of `WWW-Authenticate`, in order."""
    @property
    def dpop_nonce(self) -> str | None:
        """The value of `DPoP-Nonce`."""
    @property
    def operation(self) -> str:
        """What was tried, for `Authorization.challenge`."""

@final
class HttpClient(_ClientCommands):
    """A client over HTTP. It starts to connect at once: carry out what `poll_transmit` gives.

    `url` is never normalised. `falls_back_to_sse` allows HTTP+SSE of the first revision, `opens_stream` the
    stream of a session that belongs to no request; with `authorizes`, a 401 or 403 is asked about with
    `AuthorizationRequired`. The other settings are those of `Client`.
    """

    def __new__(
        cls,
        *,
        url: str,
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
        falls_back_to_sse: bool = True,
        opens_stream: bool = True,
        authorizes: bool = False,
    ) -> HttpClient: ...
    def poll_transmit(self, now: int) -> HttpRequest | HttpAbort | None:
        """What to do next, if anything. Redirects are not to be followed."""
    def receive_head(
        self, exchange: int, status: int, headers: Sequence[tuple[str, str]], now: int
    ) -> list[Event]:
        """Take the head of a response."""
    def receive_body(self, exchange: int, data: bytes, now: int) -> list[Event]:
        """Take a piece of the body, after decoding of its codings."""
    def receive_end(self, exchange: int, now: int) -> list[Event]:
        """The response is complete."""
    def receive_failure(self, exchange: int, failure: Literal["not_sent", "broken"], now: int) -> list[Event]:
        """The exchange has failed. A redirect is no failure but a response."""
    def wants_input(self, exchange: int) -> bool:
        """Whether to read on in an exchange."""
    def poll_http_event(self) -> AuthorizationRequired | None:
        """The next exchange that waits for authorization, if any."""
    def authorized(self, exchange: int, now: int) -> list[Event]:
        """There are new credentials: the exchange is sent again, once."""
    def unauthorized(self, exchange: int, now: int) -> list[Event]:
        """There are none: what waits for the exchange fails."""
    def events(self) -> list[Event]:
        """Take out the events that commands have caused."""
    def handle_timeout(self, now: int) -> list[Event]:
        """Let time pass. Harmless when nothing is due."""
    def poll_timeout(self) -> int | None:
        """When to call `handle_timeout` at the latest, if ever."""
    @property
    def is_finished(self) -> bool:
        """True when everything is over and nothing is left to be done."""

@final
class ChildShutdown:
    """The steps that end a child process: close its input, wait, ask, wait, force.

    Start it, carry out each action, wait no longer than `poll_timeout` says, and tell when the child is
    gone.
    """

    def __new__(cls, timeouts: Timeouts | None = None) -> ChildShutdown: ...
    def start(self) -> None:
        """Begin to end the child. Harmless when begun before."""
    def child_exited(self) -> None:
        """The child has exited: nothing more is due."""
    def poll_action(self, now: int) -> Literal["close_input", "terminate", "kill"] | None:
        """The next action, each once; `now` is when it is carried out."""
    def poll_timeout(self) -> int | None:
        """When to call `handle_timeout` at the latest, if ever."""
    def handle_timeout(self, now: int) -> None:
        """Let time pass. Harmless when nothing is due."""
    @property
    def is_finished(self) -> bool:
        """Whether the child has exited."""
