"""What every client has in common: the core's machine, and those who wait for what it says.

Nothing here waits, sleeps or starts a task. A host (asyncio, trio or threads) feeds in what happens, gives
each caller a place to wait in, and carries out what the machine asks of it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec
from msgspec import Struct

from . import _native as native
from ._carriage import Carriage, Exchanges, Link, carriage_for
from ._clock import now
from ._errors import (
    ApiMisuseError,
    ConnectionLostError,
    InputRefusedError,
    McpError,
    RequestTimedOutError,
)
from ._process import Step

if TYPE_CHECKING:
    from ._oauth import Grant
    from ._server import Server

__all__ = ["Change", "Engine", "LogMessage", "Options", "Progress"]

#: The lists of a server that can change.
LISTS: tuple[native.ListKindName, ...] = ("tools", "resources", "prompts")
#: Progress reports that may wait for a caller whose callback is slow; the oldest are dropped beyond it.
WAITING_REPORTS = 1024
#: Changes that may wait for a consumer. Equal ones are kept once; the oldest are dropped beyond it.
WAITING_CHANGES = 1024
#: Log messages and list changes that may wait for a slow callback; the oldest are dropped beyond it.
WAITING_NOTICES = 1024
#: Milliseconds until a subscription that broke is renewed; doubled while that fails, up to a minute.
RENEWAL = 1_000
#: Seconds to look on after the last step, which no child can refuse.
KILL_WAIT = 5.0


class Progress(Struct, frozen=True):
    """How far a request is. `total` is None when the server does not know it."""

    progress: float
    total: float | None
    message: str | None
    #: False when it is not more than the last time, which the protocol forbids.
    increasing: bool


class LogMessage(Struct, frozen=True):
    """What the server logs. `level` is None when the server wrote an unknown one; `raw` is the JSON of
    `data`.
    """

    level: native.LogLevel | None
    logger: str | None
    raw: bytes

    @property
    def data(self) -> Any:
        """What is logged: any JSON value."""
        return msgspec.json.decode(self.raw)


class Change(Struct, frozen=True):
    """Something to fetch again: a list of the server, or the resource at `uri`."""

    kind: Literal["tools", "resources", "prompts", "resource"]
    uri: str | None = None


def everything(watched: native.SubscriptionFilter) -> Iterator[Change]:
    """The changes that say to fetch all that is watched."""
    for kind in LISTS:
        if getattr(watched, kind):
            yield Change(kind)
    for uri in watched.resource_uris:
        yield Change("resource", uri)


class HttpOptions(Struct, frozen=True):
    """How a server is reached over HTTP."""

    url: str
    headers: Mapping[str, str] | None
    auth: Any
    #: How tokens are come by, if they are.
    grant: Grant | None
    #: An `httpx2.AsyncClient` of the application's, or None.
    client: Any


class Options(Struct, frozen=True):
    """How a client is set up; see :class:`barewire.Client`."""

    server: Server | None
    command: Sequence[str] | None
    http: HttpOptions | None
    env: Mapping[str, str] | None
    cwd: str | os.PathLike[str] | None
    stderr: Any
    identity: dict[str, Any]
    capabilities: dict[str, Any]
    revisions: list[str] | None
    era: str | None
    limits: native.Limits | None
    timeouts: native.Timeouts | None


class Slot(Protocol):
    """Where a caller waits for the end of its request. Exactly one of `settle` and `fail` is called, once."""

    def settle(self, result: bytes) -> object:
        """The request ended well."""

    def fail(self, error: Exception) -> object:
        """The request ended without a result."""

    def report(self, progress: Progress) -> object:
        """The request goes on."""


class Changes:
    """The changes that a subscription has to tell and nobody has taken yet."""

    __slots__ = ("_on_news", "_waiting", "error", "honoured", "missed", "over")

    def __init__(self, on_news: Callable[[], object]) -> None:
        self._waiting: dict[Change, None] = {}
        self._on_news = on_news
        #: What the server agreed to tell; None before it has answered.
        self.honoured: native.SubscriptionFilter | None = None
        #: Changes dropped because nobody took them.
        self.missed = 0
        #: Whether nothing will follow what waits now.
        self.over = False
        #: Why it is over, when it was not ended in order.
        self.error: Exception | None = None

    def add(self, change: Change) -> None:
        """Tell `change`, unless the same waits already: it only says to fetch again."""
        if change not in self._waiting:
            if len(self._waiting) >= WAITING_CHANGES:
                del self._waiting[next(iter(self._waiting))]
                self.missed += 1
            self._waiting[change] = None
            self._on_news()

    def take(self) -> Change | None:
        """The oldest change, or None when none waits."""
        for change in self._waiting:
            del self._waiting[change]
            return change
        return None

    def look(self) -> None:
        """Wake the consumer, if one waits."""
        self._on_news()

    def acknowledge(self, honoured: native.SubscriptionFilter) -> None:
        """The server has answered."""
        self.honoured = honoured
        self._on_news()

    def end(self, error: Exception | None) -> None:
        """Nothing more will come."""
        if not self.over:
            self.over, self.error = True, error
            self._on_news()


class Listening:
    """The subscription behind `on_change`, which is renewed when it breaks."""

    __slots__ = ("_wait", "_was_honoured", "_was_lost", "again_at", "handle")

    def __init__(self) -> None:
        self.handle: int | None = None
        #: When to subscribe again.
        self.again_at: int | None = None
        self._wait = RENEWAL
        self._was_honoured = False
        self._was_lost = False

    @property
    def is_due(self) -> bool:
        """Whether it is time to subscribe again."""
        return self.again_at is not None and self.again_at <= now()

    def acknowledge(self, subscription: int) -> bool:
        """The server has agreed. True if changes may have been missed before."""
        if subscription != self.handle:
            return False
        was_lost, self._was_lost = self._was_lost, False
        self._was_honoured, self._wait = True, RENEWAL
        return was_lost

    def lose(self, subscription: int) -> None:
        """It is over. A server that has never agreed is not asked again."""
        if subscription == self.handle and self._was_honoured:
            self._was_lost = True
            self.again_at = now() + self._wait
            self._wait = min(2 * self._wait, 60 * RENEWAL)


def shutdown_steps(timeouts: native.Timeouts | None) -> Iterator[Step]:
    """How a child is to be ended, as the core says. To be drawn from while the steps are carried out."""
    shutdown = native.ChildShutdown(timeouts)
    shutdown.start()
    at = now()
    while (action := shutdown.poll_action(at)) is not None:
        until = shutdown.poll_timeout()
        yield Step(action, KILL_WAIT if until is None else (until - at) / 1000)
        at = max(now(), until or 0)
        shutdown.handle_timeout(at)


def make_machine(options: Options) -> native.Client | native.HttpClient:
    """A machine of the core with these settings. It raises what the core says against them."""
    settings: dict[str, Any] = {
        **options.identity,
        "seed": os.urandom(32),
        "now": now(),
        "capabilities": msgspec.json.encode(options.capabilities),
        "revisions": options.revisions,
        "era": options.era,
        "limits": options.limits,
        "timeouts": options.timeouts,
    }
    if options.http is not None:
        authorizes = options.http.grant is not None
        return native.HttpClient(url=options.http.url, authorizes=authorizes, **settings)
    return native.Client(**settings)


def name_late(error: RequestTimedOutError, what: str, since: int) -> None:
    """Say of a request that took too long which one it was, and how long was waited for it."""
    error.message = f"{what} gave no answer in time: {round((now() - since) / 1000, 2):g} s"
    error.args = (error.message, error.code)


class Engine:
    """A client without its I/O. A host derives from it and supplies the methods that raise here."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.machine = make_machine(options)
        self.carriage: Carriage = carriage_for(self, self.machine)
        self.slots: dict[int, Slot] = {}
        self.subscriptions: dict[int, Changes] = {}
        #: What the server said of itself last.
        self.ready: native.Ready | native.SessionReplaced | None = None
        #: What was left out of the lists that requests wait for.
        self.omitted: dict[int, list[native.ToolOmitted]] = {}
        #: Why the connection is over; None while it is not.
        self.error: Exception | None = None
        self.on_log: Callable[[LogMessage], object] | None = None
        self.on_change: Callable[[Change], object] | None = None
        #: What the handler raised whose question is being refused.
        self._cause: BaseException | None = None
        #: The subscription behind `on_change`.
        self._listening: Listening | None = None
        self._wake_at: int | None = None
        self._notices: deque[tuple[Callable[[Any], object], Any]] = deque(maxlen=WAITING_NOTICES)

    # -- supplied by the host --------------------------------------------------------------------------------

    def open_link(self) -> Link:
        """Start the server. The link is started by whoever asks for it."""
        raise NotImplementedError

    def open_exchanges(self) -> Exchanges:
        """Make ready for requests over HTTP."""
        raise NotImplementedError

    def retire_link(self, link: Link) -> None:
        """Close a link that is not used any more, without waiting for it."""
        raise NotImplementedError

    def settled(self) -> None:
        """`ready` or `error` has been set."""
        raise NotImplementedError

    def wake_up_at(self, deadline: int) -> None:
        """See to it that :meth:`time_passed` is called at `deadline`, instead of at an earlier one set
        before.
        """
        raise NotImplementedError

    def ask(self, question: native.InputRequest) -> None:
        """Have a question of the server answered."""
        raise NotImplementedError

    def withdraw(self, question: int) -> None:
        """Stop answering a question."""
        raise NotImplementedError

    def notices_wait(self) -> None:
        """See to it that :meth:`next_notice` is called until it gives None."""
        raise NotImplementedError

    # -- fed in by the host ----------------------------------------------------------------------------------

    def connect(self) -> None:
        """Open the way to the server, and begin."""
        self.carriage.open()
        # With a stored era there may be nothing to wait for.
        self.commanded()

    def feed(self, step: Callable[[], list[native.Event]]) -> None:
        """Tell the machine of something by `step`, and see to what follows."""
        try:
            self.dispatch(step())
        except McpError as error:
            # A fatal end. What happened before it is still to be told.
            self.dispatch(self.machine.events())
            self._over(error)
        self.progressed()

    def drained(self) -> None:
        """What had to wait has been taken by the server."""
        self.progressed()

    def time_passed(self) -> None:
        """A deadline has come."""
        self._wake_at = None
        listening = self._listening
        if listening is not None and listening.is_due and self.error is None:
            self._listen(listening)
        self.feed(lambda: self.machine.handle_timeout(now()))

    def provide(self, question: int, result: bytes, handler: Callable[..., object]) -> None:
        """Answer a question with what `handler` gave, or refuse it if the revision has no words for that."""
        try:
            self.machine.provide_input(question, result, now())
        except ApiMisuseError as error:
            report_failure(handler)
            self.refuse(question, native.INTERNAL_ERROR, "the client's handler failed", error)
        else:
            self.commanded()

    def refuse(self, question: int, code: int, message: str, cause: BaseException) -> None:
        """Refuse a question because of `cause`, which a request that depends on it then tells its caller."""
        self._cause = cause
        try:
            self.machine.refuse_input(question, code, message, now())
            self.commanded()
        finally:
            self._cause = None

    def close(self) -> None:
        """End the connection in order: what is in flight fails."""
        self.machine.close()
        self.commanded()
        if self.error is None:
            self._over(ConnectionLostError("the client was closed"))

    def commanded(self) -> None:
        """A command was given that may have an immediate outcome."""
        self.dispatch(self.machine.events())
        self.progressed()

    def progressed(self) -> None:
        """Send what the machine has to send, and look at when it wants to be called again."""
        self.carriage.flush()
        deadline = self._next_deadline()
        if deadline is not None and (self._wake_at is None or deadline < self._wake_at):
            self._wake_at = deadline
            self.wake_up_at(deadline)

    def _next_deadline(self) -> int | None:
        deadline = self.machine.poll_timeout()
        again = None if self._listening is None else self._listening.again_at
        if again is None or deadline is None:
            return again if deadline is None else deadline
        return min(again, deadline)

    def next_notice(self) -> tuple[Callable[[Any], object], Any] | None:
        """The next callback to call, and what with."""
        return self._notices.popleft() if self._notices else None

    # -- events ----------------------------------------------------------------------------------------------

    def dispatch(self, events: list[native.Event]) -> None:
        """Tell each event to whom it concerns."""
        for event in events:
            if type(event) is native.ResponseReceived:
                slot = self.slots.pop(event.request, None)
                if slot is not None:
                    slot.settle(event.result or b"null")
            else:
                handle = _HANDLERS.get(type(event))
                if handle is not None:
                    handle(self, event)

    def _over(self, error: Exception) -> None:
        if self.error is not None:
            return
        self.error = self.carriage.explain(error)
        for slot in list(self.slots.values()):
            slot.fail(self.error)
        self.slots.clear()
        for changes in list(self.subscriptions.values()):
            changes.end(self.error)
        self.subscriptions.clear()
        self.settled()

    def _on_ready(self, event: native.Ready) -> None:
        self.ready = event
        if self.on_change is not None:
            self._listening = Listening()
            self._listen(self._listening)
        self.settled()

    def _listen(self, listening: Listening) -> None:
        listening.again_at = None
        wanted = native.SubscriptionFilter(tools=True, resources=True, prompts=True)
        listening.handle = self.machine.subscribe(wanted, now())

    def _on_session_replaced(self, event: native.SessionReplaced) -> None:
        self.ready = event
        # Nobody knows what has changed meanwhile.
        for kind in LISTS:
            self._change(Change(kind), None)
        for changes in self.subscriptions.values():
            if changes.honoured is not None:
                for change in everything(changes.honoured):
                    changes.add(change)

    def _on_tool_omitted(self, event: native.ToolOmitted) -> None:
        import logging

        logging.getLogger("barewire").warning(
            "the tool %r was left out of a list: %s: %s", event.name, event.path, event.reason
        )
        if event.request in self.slots:
            self.omitted.setdefault(event.request, []).append(event)

    def _on_restart_required(self, _: native.RestartRequired) -> None:
        self.carriage.restart()

    def _on_request_failed(self, event: native.RequestFailed) -> None:
        slot = self.slots.pop(event.request, None)
        if slot is not None:
            error = self.carriage.explain(event.error)
            if isinstance(error, InputRefusedError):
                error.__cause__ = self._cause
            slot.fail(error)

    def _on_progress(self, event: native.ProgressReceived) -> None:
        slot = self.slots.get(event.request)
        if slot is not None:
            slot.report(Progress(event.progress, event.total, event.message, event.increasing))

    def _on_input_required(self, event: native.InputRequired) -> None:
        for question in event.inputs:
            self.ask(question)

    def _on_input_withdrawn(self, event: native.InputWithdrawn) -> None:
        self.withdraw(event.input)

    def _on_log(self, event: native.LogReceived) -> None:
        if self.on_log is not None:
            self._notify(self.on_log, LogMessage(event.level, event.logger, event.data))

    def _on_acknowledged(self, event: native.SubscriptionAcknowledged) -> None:
        changes = self.subscriptions.get(event.subscription)
        if changes is not None:
            changes.acknowledge(event.honoured)
        elif self._listening is not None and self._listening.acknowledge(event.subscription):
            for change in everything(event.honoured):
                self._change(change, None)

    def _on_subscription_ended(self, event: native.SubscriptionEnded) -> None:
        changes = self.subscriptions.pop(event.subscription, None)
        if changes is not None:
            lost = None if event.graceful else ConnectionLostError("the subscription was lost or refused")
            changes.end(lost and self.carriage.explain(lost))
        elif self._listening is not None and not event.graceful:
            self._listening.lose(event.subscription)

    def _on_list_changed(self, event: native.ListChanged) -> None:
        self._change(Change(event.kind), event.subscription)

    def _on_resource_updated(self, event: native.ResourceUpdated) -> None:
        self._change(Change("resource", event.uri), event.subscription)

    def _on_oddity(self, event: native.MessageDiscarded | native.ViolationTolerated) -> None:
        """Not for the application, but for whoever looks for what a server does wrong."""
        import logging

        logging.getLogger("barewire").debug(
            "the server sent something odd: %s: %r", event.violation, event.bytes
        )

    def _on_disconnected(self, event: native.Disconnected) -> None:
        self._over(event.reason)

    def _change(self, change: Change, subscription: int | None) -> None:
        changes = None if subscription is None else self.subscriptions.get(subscription)
        if changes is not None:
            changes.add(change)
        elif self.on_change is not None:
            self._notify(self.on_change, change)

    def _notify(self, callback: Callable[[Any], object], value: object) -> None:
        self._notices.append((callback, value))
        self.notices_wait()


_HANDLERS: dict[type[native.Event], Callable[[Engine, Any], None]] = {
    native.Ready: Engine._on_ready,
    native.SessionReplaced: Engine._on_session_replaced,
    native.ToolOmitted: Engine._on_tool_omitted,
    native.RestartRequired: Engine._on_restart_required,
    native.RequestFailed: Engine._on_request_failed,
    native.ProgressReceived: Engine._on_progress,
    native.InputRequired: Engine._on_input_required,
    native.InputWithdrawn: Engine._on_input_withdrawn,
    native.LogReceived: Engine._on_log,
    native.SubscriptionAcknowledged: Engine._on_acknowledged,
    native.SubscriptionEnded: Engine._on_subscription_ended,
    native.ListChanged: Engine._on_list_changed,
    native.ResourceUpdated: Engine._on_resource_updated,
    native.MessageDiscarded: Engine._on_oddity,
    native.ViolationTolerated: Engine._on_oddity,
    native.Disconnected: Engine._on_disconnected,
}


def report_failure(function: Callable[..., object]) -> None:
    """Log the exception being handled, which a callback of the application raised. The connection goes on."""
    import logging

    logging.getLogger("barewire").exception("%r failed", function)
