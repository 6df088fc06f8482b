"""The client for asyncio and trio. It is written once for both, and for both eras of the protocol."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from . import _native as native
from ._clock import now
from ._engine import Change, Changes, Engine, HttpOptions, Options, make_machine
from ._errors import InvalidResultError
from ._results import (
    LISTS,
    CallToolResult,
    CompleteResult,
    GetPromptResult,
    Implementation,
    ListResult,
    Prompt,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    Result,
    Tool,
    read_call,
    read_completion,
    read_implementation,
    read_list,
    read_prompt,
    read_resource,
)

if TYPE_CHECKING:
    import os
    from types import TracebackType

    from typing_extensions import Self

    from ._answers import ElicitRequest, SampleRequest
    from ._client_host import AsyncHost, Waker
    from ._engine import LogMessage, Progress
    from ._process import Stderr
    from ._server import Server

__all__ = ["BaseClient", "Client", "Subscription"]

T = TypeVar("T")
R = TypeVar("R", bound=Result)


class BaseClient:
    """What the asynchronous and the blocking client have in common: their settings, and what they know."""

    def __init__(
        self,
        server: str | Server | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        auth: Any = None,
        http: Any = None,
        command: Sequence[str] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        stderr: Stderr = "inherit",
        name: str = "barewire",
        version: str = native.VERSION,
        title: str | None = None,
        on_elicit: Callable[[ElicitRequest], Any] | None = None,
        on_sample: Callable[[SampleRequest], Any] | None = None,
        on_roots: Callable[[], Any] | None = None,
        on_log: Callable[[LogMessage], Any] | None = None,
        on_change: Callable[[Change], Any] | None = None,
        capabilities: Mapping[str, Any] | None = None,
        revisions: Sequence[str] | None = None,
        era: str | None = None,
        limits: native.Limits | None = None,
        timeouts: native.Timeouts | None = None,
        strict: bool = False,
    ) -> None:
        if (server is None) is (command is None):
            raise TypeError("a client needs a URL, a command or a server")
        url = server if isinstance(server, str) and "://" in server else None
        if url is not None:
            server = None
        _check_peer(server, command)
        if url is None and not (headers is None and auth is None and http is None):
            raise TypeError("headers, auth and http are for a server at a URL")
        handlers: dict[native.InputKindName, Callable[..., Any] | None] = {
            "elicitation": on_elicit,
            "sampling": on_sample,
            "roots": on_roots,
        }
        self._handlers = {kind: handler for kind, handler in handlers.items() if handler is not None}
        self._on_log = on_log
        self._on_change = on_change
        self._strict = strict
        self._options = Options(
            server=server if not isinstance(server, str) else None,
            command=command,
            http=None if url is None else _http_options(url, headers, auth, http),
            env=env,
            cwd=cwd,
            stderr=stderr,
            identity={"name": name, "version": version, "title": title},
            capabilities=_capabilities(self._handlers, capabilities),
            revisions=None if revisions is None else list(revisions),
            era=era,
            limits=limits,
            timeouts=timeouts,
        )
        make_machine(self._options)  # never connected: mistakes show where they are written

    @property
    def _engine(self) -> Engine:
        raise NotImplementedError

    @property
    def _ready(self) -> native.Ready | native.SessionReplaced:
        ready = self._engine.ready
        if ready is None:
            raise RuntimeError("the client is not connected")
        return ready

    @property
    def revision(self) -> str:
        """The revision of the protocol that is spoken."""
        return self._ready.revision

    @property
    def era(self) -> str | None:
        """What was found out about the server, to be stored and given as `era` next time, which saves the
        probe.
        """
        return self._engine.machine.era_verdict

    @property
    def server_info(self) -> Implementation | None:
        """Who the server says it is."""
        return read_implementation(self._ready.server)

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the server can do: the `ServerCapabilities` object.

        With a stored `era` of a newer server nothing is asked at the start, so that this is empty, and
        `server_info` and `instructions` are None.
        """
        raw = self._ready.capabilities
        return {} if raw is None else msgspec.json.decode(raw, type=dict[str, Any])

    @property
    def instructions(self) -> str | None:
        """The server's guidance for the model."""
        return self._ready.instructions

    def _checked(self, result: R) -> R:
        if self._strict and result.problems:
            error = InvalidResultError("; ".join(map(str, result.problems)))
            error.problems = result.problems
            raise error
        return result


class Client(BaseClient):
    """A client of one server, for asyncio and trio: ``async with Client("https://...") as client``.

    A server is reached at its URL over HTTP (extra ``barewire[http]``). `headers` go with every request,
    `auth` says how to come by tokens, such as :class:`barewire.OAuth`, or is what httpx2 takes under that
    name; and `http` is an ``httpx2.AsyncClient`` of your own, for proxies, certificates and the like, which
    then brings its own headers and timeouts; it is not closed.

    `command` starts the server as a child process; `env` adds to the few variables that it inherits, `cwd` is
    its folder, and `stderr` says where its stderr goes: ``"inherit"``, ``"capture"`` (its end is shown when
    the server dies), ``"discard"``, a file, or a callback. Instead of a command, a :class:`barewire.Server`
    may be given, which is then served in memory.

    `on_elicit`, `on_sample` and `on_roots` answer questions of the server, and are what the client declares
    that it can do; `capabilities` adds to that. They may be coroutine functions, and run in a thread if they
    are not. `on_log` and `on_change` are called for what the server logs and for changes of its lists, one
    call after the other. From 2026-07-28 on, a server logs only to who has called `set_log_level`. While a
    callback is slow, up to 1024 notices wait, and then the oldest are dropped.
    Where changes may have been missed, because a stream broke or the server forgot its session, all lists are
    told as changed.

    `limits` and `timeouts` stand in for the defaults of :class:`barewire.Limits` and
    :class:`barewire.Timeouts`.

    `revisions` are those the client is willing to speak, all by default. `era` is the attribute of that name
    of an earlier client of the same server; one that this version cannot read is a ValueError: leave it out
    then. With `strict`, a result of which any part cannot be read is an error; without, the rest is
    delivered and the parts are told in its `problems`.

    What a server sends that is no message of the protocol goes to the logger ``barewire``, as debug messages,
    and as a warning what tool was left out of a list because it cannot be called.

    All methods raise errors of the :class:`barewire.McpError` tree. One that depends on a question whose
    handler fails raises InputRefusedError, with the exception of the handler as its cause. Beside them there
    are mistakes of the caller: TypeError and ValueError for arguments of the wrong kind, without a JSON form,
    or that name nothing, and RuntimeError for a client that is not connected or connects twice. What
    `on_progress` raises comes out of the method that it reports on; what other callbacks raise is logged.

    Methods are to be called on the event loop that entered the client. `timeout` is in seconds without a word
    about the request. Cancelling the task that waits for a method cancels the request.
    """

    _host: AsyncHost | None = None

    @property
    def _engine(self) -> AsyncHost:
        if self._host is None:
            raise RuntimeError("the client is not connected: use it in `async with`")
        return self._host

    async def __aenter__(self) -> Self:
        if self._host is not None:
            raise RuntimeError("a client connects once")
        host = self._host = _host_kind()(self._options, self._handlers)
        host.on_log, host.on_change = self._on_log, self._on_change
        await host.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._engine.stop()

    # -- tools -----------------------------------------------------------------------------------------------

    async def list_tools(self, cursor: str | None = None) -> ListResult[Tool]:
        """One page of the tools; `cursor` is the `next_cursor` of the page before."""
        return await self._page("tools", cursor)

    def tools(self) -> AsyncIterator[Tool]:
        """All tools, page by page."""
        return self._all("tools")

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: Callable[[Progress], Any] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> CallToolResult:
        """Call a tool. A tool that failed gives a result with `is_error`, and does not raise.

        `timeout` is how many seconds to wait with nothing heard of the call; it stands still while a question
        of the server waits for its answer, which only the total time of `timeouts` bounds. `on_progress` is
        called in this task, as the reports come; it may be a coroutine function. `meta` adds to the
        ``_meta`` of the request. The structured content is not checked against the tool's output schema.
        """
        machine = self._engine.machine
        result = await self._engine.run(
            f"the tool {name!r}",
            lambda: machine.call_tool(
                name,
                None if arguments is None else encode(arguments),
                now(),
                progress=on_progress is not None,
                timeout=milliseconds(timeout),
                meta=None if meta is None else encode(meta),
            ),
            on_progress,
        )
        return self._checked(read_call(result))

    # -- resources -------------------------------------------------------------------------------------------

    async def list_resources(self, cursor: str | None = None) -> ListResult[Resource]:
        """One page of the resources; `cursor` is the `next_cursor` of the page before."""
        return await self._page("resources", cursor)

    def resources(self) -> AsyncIterator[Resource]:
        """All resources, page by page."""
        return self._all("resources")

    async def list_resource_templates(self, cursor: str | None = None) -> ListResult[ResourceTemplate]:
        """One page of the resource templates; `cursor` is the `next_cursor` of the page before."""
        return await self._page("resource_templates", cursor)

    def resource_templates(self) -> AsyncIterator[ResourceTemplate]:
        """All resource templates, page by page."""
        return self._all("resource_templates")

    async def read_resource(self, uri: str, *, timeout: float | None = None) -> ReadResourceResult:
        """What the resource at `uri` holds."""
        machine = self._engine.machine
        result = await self._engine.run(
            f"the resource {uri!r}", lambda: machine.read_resource(uri, now(), timeout=milliseconds(timeout))
        )
        return self._checked(read_resource(result))

    # -- prompts and completion ------------------------------------------------------------------------------

    async def list_prompts(self, cursor: str | None = None) -> ListResult[Prompt]:
        """One page of the prompts; `cursor` is the `next_cursor` of the page before."""
        return await self._page("prompts", cursor)

    def prompts(self) -> AsyncIterator[Prompt]:
        """All prompts, page by page."""
        return self._all("prompts")

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, timeout: float | None = None
    ) -> GetPromptResult:
        """A prompt filled in with `arguments`."""
        machine = self._engine.machine
        encoded = None if arguments is None else encode(arguments)
        result = await self._engine.run(
            f"the prompt {name!r}",
            lambda: machine.get_prompt(name, encoded, now(), timeout=milliseconds(timeout)),
        )
        return self._checked(read_prompt(result))

    async def complete(
        self,
        argument: str,
        value: str,
        *,
        prompt: str | None = None,
        resource: str | None = None,
        arguments: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> CompleteResult:
        """Suggestions for `argument`, of which `value` was typed so far.

        It is an argument of the prompt named `prompt`, or a variable of the resource template `resource`.
        `arguments` are those already filled in.
        """
        machine = self._engine.machine
        encoded = None if arguments is None else encode(arguments)
        result = await self._engine.run(
            f"the completion of {argument!r}",
            lambda: machine.complete(
                now(),
                prompt=prompt,
                resource=resource,
                argument=argument,
                value=value,
                arguments=encoded,
                timeout=milliseconds(timeout),
            ),
        )
        return self._checked(read_completion(result))

    # -- changes, logging and the rest -----------------------------------------------------------------------

    def subscribe(
        self, *, tools: bool = False, resources: bool = False, prompts: bool = False, uris: Iterable[str] = ()
    ) -> Subscription:
        """Changes of the lists named, and of the resources at `uris`: ``async with client.subscribe(...) as
        changes``.

        Iterating tells them one by one. A change says only that something is to be fetched again, so that
        equal ones are told once while nobody takes them.
        """
        wanted = native.SubscriptionFilter(
            tools=tools, resources=resources, prompts=prompts, resource_uris=list(uris)
        )
        return Subscription(self._engine, wanted)

    async def set_log_level(self, level: native.LogLevel) -> None:
        """Ask for log messages of at least this severity, `debug` to `emergency`. They go to `on_log`."""
        machine = self._engine.machine
        await self._engine.run("the log level", lambda: machine.set_log_level(level, now()))

    async def ping(self, *, timeout: float | None = None) -> None:
        """Ask for a sign of life. Newer revisions have no such request."""
        machine = self._engine.machine
        await self._engine.run("the ping", lambda: machine.ping(now(), timeout=milliseconds(timeout)))

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: Callable[[Progress], Any] | None = None,
    ) -> bytes:
        """Make a request of an extension; the JSON of its result."""
        machine = self._engine.machine
        return await self._engine.run(
            f"the request {method!r}",
            lambda: machine.request(
                method,
                None if params is None else encode(params),
                now(),
                progress=on_progress is not None,
                timeout=milliseconds(timeout),
            ),
            on_progress,
        )

    async def roots_changed(self) -> None:
        """Tell the server that what `on_roots` answers has changed, where the revision has a way to."""
        self._engine.check()
        self._engine.machine.notify_roots_changed()
        self._engine.commanded()

    async def _page(self, name: Any, cursor: str | None) -> ListResult[Any]:
        kind, member = LISTS[name]
        machine = self._engine.machine
        handle = 0

        def start() -> int:
            nonlocal handle
            handle = machine.list(name, cursor, now())
            return handle

        omitted = self._engine.omitted
        try:
            result = await self._engine.run(f"the list of {name}", start)
            return self._checked(read_list(result, kind, member, omitted.get(handle, ())))
        finally:
            omitted.pop(handle, None)

    async def _all(self, name: str) -> AsyncIterator[Any]:
        pages = Pages()
        while pages.more:
            page = await self._page(name, pages.cursor)
            for item in page:
                yield item
            pages.turn(page)


class Subscription:
    """Changes as they come: an asynchronous iterator, to be used in ``async with``, by one task.

    It ends when it is closed or when the server ends it in order. When it is lost, iterating raises, and
    changes may have been missed.
    """

    def __init__(self, host: AsyncHost, wanted: native.SubscriptionFilter) -> None:
        self._host = host
        self._wanted = wanted
        self._handle: int | None = None
        self._changes: Changes | None = None
        self._waker: Waker | None = None

    @property
    def honoured(self) -> native.SubscriptionFilter | None:
        """What the server agreed to tell, which may be less than was asked for."""
        return None if self._changes is None else self._changes.honoured

    @property
    def missed(self) -> int:
        """How many changes were dropped because more than 1024 different ones waited."""
        return 0 if self._changes is None else self._changes.missed

    async def __aenter__(self) -> Self:
        self._handle, self._changes, self._waker = await self._host.subscribe(self._wanted)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            self._host.unsubscribe(self._handle)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        if self._changes is None or self._waker is None:
            raise RuntimeError("the subscription is not open: use it in `async with`")
        while True:
            change = self._changes.take()
            if change is not None:
                return change
            if self._changes.error is not None:
                raise self._changes.error
            if self._changes.over:
                raise StopAsyncIteration
            await self._waker.wait()


class Pages:
    """Where one is in a list of several pages, with a guard against a server that goes in circles."""

    __slots__ = ("_seen", "cursor", "more")

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self.cursor: str | None = None
        self.more = True

    def turn(self, page: ListResult[Any]) -> None:
        """Go to the page after `page`. Raises InvalidResultError when it has been there before."""
        self.cursor = page.next_cursor
        self.more = self.cursor is not None
        if self.cursor is not None:
            if self.cursor in self._seen:
                raise InvalidResultError(f"the server repeats the cursor {self.cursor!r}")
            self._seen.add(self.cursor)


_encode = msgspec.json.Encoder().encode


def encode(members: Mapping[str, Any]) -> bytes:
    """The JSON of an object. `TypeError` if it is none, or holds a value that has no JSON form."""
    if not isinstance(members, Mapping):
        raise TypeError(f"a mapping of names to values belongs here, not {type(members).__name__}")
    plain = members if isinstance(members, dict) else dict(members)
    try:
        return _encode(plain)
    except TypeError:
        from ._hints import encode_value

        return encode_value(plain)


def milliseconds(seconds: float | None) -> int | None:
    """A duration as the core takes it."""
    return None if seconds is None else max(1, round(seconds * 1000))


def _http_options(url: str, headers: Mapping[str, str] | None, auth: Any, http: Any) -> HttpOptions:
    if auth is not None:
        from ._oauth import Grant

        if isinstance(auth, Grant):
            auth._machine(url)  # never used: mistakes show where they are written
            return HttpOptions(url, headers, None, auth, http)
    return HttpOptions(url, headers, auth, None, http)


def _check_peer(server: object, command: object) -> None:
    """Refuse what cannot be connected to, where it is written and not when it is started."""
    if isinstance(command, (str, bytes)):
        raise TypeError(f"a command is a list, such as ['python', 'server.py'], not {command!r}")
    if server is not None:
        from ._server import Server

        if not isinstance(server, Server):
            if isinstance(server, str):
                raise ValueError(
                    f"{server!r} is no URL: it begins with http:// or https://; "
                    "a program is started with command=[...]"
                )
            raise TypeError(f"a URL or a barewire.Server belongs here, not {type(server).__name__}")


def _capabilities(
    handlers: Mapping[native.InputKindName, object], more: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What the handlers amount to, in full; the core leaves out what older revisions lack."""
    of_handlers: dict[native.InputKindName, dict[str, Any]] = {
        "elicitation": {"form": {}, "url": {}},
        "sampling": {},
        "roots": {"listChanged": True},
    }
    declared: dict[str, Any] = {kind: of_handlers[kind] for kind in handlers}
    for name, value in (more or {}).items():
        declared[name] = {**declared.get(name, {}), **value}
    return declared


def _host_kind() -> type[AsyncHost]:
    """The host for the library that runs the current task. trio is only looked at if the program has loaded
    it.
    """
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_task():
        from ._client_trio import TrioHost

        return TrioHost
    from ._client_asyncio import AsyncioHost

    return AsyncioHost
