"""The server object: handlers are registered on it, and it is run."""

from __future__ import annotations

import os
import sys
import time

from . import _native as native
from ._endpoint import Completer, Prompt, Resource, Tool
from ._plain import to_json

TYPE_CHECKING = False
if not TYPE_CHECKING:

    def overload(function):  # what type checkers read of it has no use at run time
        return function


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, MutableMapping
    from contextlib import AbstractAsyncContextManager, AbstractContextManager
    from typing import Any, Literal, TypedDict, TypeVar, overload

    from typing_extensions import Unpack

    from ._asgi import AsgiApp
    from ._content import Annotations, Icon
    from ._dispatch import Connection
    from ._endpoint import Endpoint, Resume, Scopes
    from ._protection import ResourceServer
    from ._wsgi import WsgiApp

    F = TypeVar("F", bound=Callable[..., Any])
    M = TypeVar("M", bound=native._ServerCommands)

    class PromptOptions(TypedDict, total=False):
        name: str | None
        title: str | None
        description: str | None
        icons: list[Icon] | None
        meta: dict[str, Any] | None
        inline: bool
        resume: Resume
        scopes: Scopes | None

    class ResourceOptions(PromptOptions, total=False):
        mime_type: str | None
        size: int | None
        annotations: Annotations | None

    class HttpOptions(TypedDict, total=False):
        allowed_origins: list[str] | None
        allowed_hosts: list[str] | None
        body_limit: int | None
        session_idle: int | None
        keep_alive: int | None
        retry: int | None

    class AsgiOptions(HttpOptions, total=False):
        path: str | None
        sse: bool | tuple[str, str]
        auth: ResourceServer | None
        principal: Callable[[MutableMapping[str, Any]], str | None] | None

    class ToolOptions(PromptOptions, total=False):
        input_schema: dict[str, Any] | None
        read_only: bool | None
        destructive: bool | None
        idempotent: bool | None
        open_world: bool | None


class Server:
    """A server: register handlers with its decorators, then `run()` it.

    Every mistake in a handler's signature is a `TypeError` where it is registered, and one in a
    definition, such as a malformed template, an `ApiMisuseError`. Decorated functions stay what
    they were. `async` handlers run on the event loop, others in worker threads; `inline=True`
    runs a sync handler on the loop instead, which is fastest and must not block. Handlers may be
    added and removed while the server runs, from every thread.

    `lifespan` is called with the server when a connection starts and gives a context manager,
    async or not; what that yields is `ctx.lifespan` in handlers. With `debug=True` clients see
    the text of unexpected exceptions. `cache_ttl` (milliseconds) and `cache_scope` say how long
    and by whom lists and resources may be cached. `request_state_keys` are 32 bytes each, shared
    by all processes that shall understand each other's questions; the first one seals.
    `limits` and `timeouts` stand in for the defaults of `barewire.Limits` and `barewire.Timeouts`.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str = "0.0.0",
        title: str | None = None,
        description: str | None = None,
        website_url: str | None = None,
        icons: list[Icon] | None = None,
        instructions: str | None = None,
        debug: bool = False,
        lifespan: Callable[[Server], AbstractAsyncContextManager[Any] | AbstractContextManager[Any]]
        | None = None,
        revisions: list[str] | None = None,
        cache_ttl: int = 0,
        cache_scope: Literal["public", "private"] = "private",
        request_state_keys: list[bytes] | None = None,
        limits: native.Limits | None = None,
        timeouts: native.Timeouts | None = None,
    ) -> None:
        self.name = name
        self.version = version
        self.debug = debug
        self.lifespan = lifespan
        self._options: dict[str, Any] = {
            "title": title,
            "description": description,
            "website_url": website_url,
            "icons": None if icons is None else to_json(icons),
            "instructions": instructions,
            "revisions": revisions,
            "ttl_ms": cache_ttl,
            "cache_scope": cache_scope,
            "request_state_keys": request_state_keys,
            "limits": limits,
            "timeouts": timeouts,
        }
        self._tools: dict[str, Tool] = {}
        self._resources: dict[str, Resource] = {}
        self._prompts: dict[str, Prompt] = {}
        self._completers: dict[tuple[str, str], Completer] = {}
        self._connections: set[Connection] = set()
        # Never connected: the core's judgement on definitions, at the moment they are registered.
        self._catalog = self._machine()

    # ------------------------------------------------------------ tools

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(
        self,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        input_schema: dict[str, Any] | None = None,
        read_only: bool | None = None,
        destructive: bool | None = None,
        idempotent: bool | None = None,
        open_world: bool | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        inline: bool = False,
        resume: Resume = "replay",
        scopes: Scopes | None = None,
    ) -> Callable[[F], F]: ...
    def tool(self, function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        """Register a function as a tool: `@server.tool`, or with options in parentheses.

        Name, description and schemas come from the function; an option replaces them.
        `read_only`, `destructive`, `idempotent` and `open_world` are hints for the client.
        `input_schema` is announced in place of the schema of the hints, which still decode.
        `resume` says what happens to a handler that asked the client: see `Context`. `scopes` are what
        its callers need beside those that a protected server (`asgi(auth=...)`) wants from everybody: a
        list, or a function that gives one for the arguments, a dict.
        """
        if function is None:
            return lambda function: self._decorate("tool", Tool, self._tools, (function,), options)
        return self._decorate("tool", Tool, self._tools, (function,), options)

    def add_tool(self, function: Callable[..., Any], **options: Unpack[ToolOptions]) -> None:
        """Register a tool at any time; clients that watch the list are told. Options as in `tool`."""
        self._decorate("add_tool", Tool, self._tools, (function,), options)

    def remove_tool(self, name: str) -> None:
        """Take a tool out again; `KeyError` if there is none of that name."""
        self._remove(self._tools, name)

    # ------------------------------------------------------------ resources

    def resource(
        self,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        size: int | None = None,
        annotations: Annotations | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        inline: bool = False,
        resume: Resume = "replay",
        scopes: Scopes | None = None,
    ) -> Callable[[F], F]:
        """Register a function as a resource, or as a template if the URI holds `{variables}`.

        The variables (RFC 6570) are the parameters of the function, by name, converted to what
        their hints say. It returns text, bytes, any JSON value, or `ResourceContents`.
        """
        if not isinstance(uri, str):
            raise TypeError("a resource needs its URI: @server.resource('notes://{id}')")
        options = {
            "name": name,
            "title": title,
            "description": description,
            "mime_type": mime_type,
            "size": size,
            "annotations": annotations,
            "icons": icons,
            "meta": meta,
            "inline": inline,
            "resume": resume,
            "scopes": scopes,
        }
        return lambda function: self._decorate(
            "resource", Resource, self._resources, (function, uri), options
        )

    def add_resource(
        self, function: Callable[..., Any], uri: str, **options: Unpack[ResourceOptions]
    ) -> None:
        """Register a resource or template at any time. Options as in `resource`."""
        self._decorate("add_resource", Resource, self._resources, (function, uri), options)

    def remove_resource(self, uri: str) -> None:
        """Take a resource or template out again; `KeyError` if there is none."""
        self._remove(self._resources, uri)

    def resource_updated(self, uri: str) -> None:
        """Tell the clients that watch a resource that it has changed. From every thread."""
        self._publish(lambda machine: machine.publish_resource_updated(uri))

    # ------------------------------------------------------------ prompts and completions

    @overload
    def prompt(self, function: F, /) -> F: ...
    @overload
    def prompt(
        self,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        inline: bool = False,
        resume: Resume = "replay",
        scopes: Scopes | None = None,
    ) -> Callable[[F], F]: ...
    def prompt(self, function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        """Register a function as a prompt: `@server.prompt`, or with options in parentheses.

        It returns text, a content block, a `Message`, a list of these, or a `PromptResult`.
        """
        if function is None:
            return lambda function: self._decorate("prompt", Prompt, self._prompts, (function,), options)
        return self._decorate("prompt", Prompt, self._prompts, (function,), options)

    def add_prompt(self, function: Callable[..., Any], **options: Unpack[PromptOptions]) -> None:
        """Register a prompt at any time. Options as in `prompt`."""
        self._decorate("add_prompt", Prompt, self._prompts, (function,), options)

    def remove_prompt(self, name: str) -> None:
        """Take a prompt out again; `KeyError` if there is none of that name."""
        self._remove(self._prompts, name)

    def completion(self, reference: str, argument: str, *, inline: bool = False) -> Callable[[F], F]:
        """Register a function that completes one argument of a prompt, or variable of a template.

        `reference` is the name of the prompt, or the template as registered. The function takes
        what was typed, and if it has a second parameter, the arguments settled so far; it
        returns suggestions, best first. Register before the server runs.
        """

        def decorate(function: F) -> F:
            namespace = _caller(1)
            self._completers[reference, argument] = Completer(function, inline=inline, namespace=namespace)
            return function

        return decorate

    # ------------------------------------------------------------ running

    def run(self) -> None:
        """Serve on standard input and output until the client closes them, or SIGINT or SIGTERM.

        Standard output belongs to the protocol: what is printed from here on goes to standard
        error, and standard input is empty. Answers that are owed at the end of input are still sent.
        """
        from ._serve import serve_stdio

        serve_stdio(self)

    async def serve_stdio(self) -> None:
        """As `run`, inside an asyncio program of one's own; signals are left alone."""
        from ._serve import serve_stdio_async

        await serve_stdio_async(self)

    def run_http(self, host: str = "127.0.0.1", port: int = 8000, **options: Unpack[AsgiOptions]) -> None:
        """Serve over HTTP with uvicorn until SIGINT or SIGTERM. Options as in `asgi`.

        It takes `pip install 'barewire[http]'`. A server that shall be reached from elsewhere needs
        `allowed_hosts` beside another `host`: requests for names it does not know are refused. For TLS,
        several processes or reloading, run `uvicorn module:app` on what `asgi` gives.
        """
        from ._uvicorn import run

        run(self, host, port, options)

    async def serve_http(
        self, host: str = "127.0.0.1", port: int = 8000, **options: Unpack[AsgiOptions]
    ) -> None:
        """As `run_http`, inside an asyncio program of one's own; signals are left alone.

        It ends in order when it is cancelled. A port that is taken is an `OSError`; what the lifespan of the
        server raises comes out of here.
        """
        from ._uvicorn import serve

        await serve(self, host, port, options)

    def asgi(
        self,
        *,
        path: str | None = "/mcp",
        sse: bool | tuple[str, str] = False,
        auth: ResourceServer | None = None,
        principal: Callable[[MutableMapping[str, Any]], str | None] | None = None,
        **options: Unpack[HttpOptions],
    ) -> AsgiApp:
        """The server as an ASGI application, for uvicorn, hypercorn and others, or mounted in another one.

        It answers at `path`, below the place where it is mounted; with `path=None` at every path there. `sse`
        adds the two endpoints of the first revision, at `/sse` and `/messages` or the paths that are given.
        An application that it is mounted in takes over its `lifespan`::

            mcp = server.asgi()
            app = FastAPI(lifespan=mcp.lifespan)
            app.mount("/tools", mcp)  # at /tools/mcp

        Requests are let in that come from pages of the loopback interface or `allowed_origins` (such as
        `"https://app.example"`), or from no page, and go to a name of the loopback interface or of
        `allowed_hosts` (such as `"mcp.example"`); `"*"` allows all. A proxy that passes on the name that was
        asked for makes it one of those.

        `auth` protects the server with access tokens; see :class:`barewire.ResourceServer`. Without it,
        `principal` tells from the scope of a request who sends it, by any
        key: a session serves nobody but its principal. It authenticates nobody itself.

        `body_limit` is in bytes (4 MiB). Milliseconds are `session_idle`, after which an unused session of
        the older revisions ends (half an hour), `keep_alive`, after which a silent stream gets a comment
        (15 000; 0: never), and `retry`, for which a client waits before it reconnects (1 000).

        Several processes, such as the workers of uvicorn, share nothing. Handlers that ask the client then
        need `request_state_keys` on the server, the same in all of them, and the older revisions need every
        request with the same `Mcp-Session-Id` to reach the same process; 2026-07-28 has no sessions.

        The lifespan of the server is entered when the host says that it starts, or by the first request.
        When SIGINT or SIGTERM reaches the process, streams that wait for nothing end, so that the host can;
        hypercorn needs `--workers 0` for that, its worker processes get no signal.
        """
        from ._asgi import AsgiApp

        return AsgiApp(self, path=path, sse=sse, auth=auth, principal=principal, **options)

    def wsgi(
        self,
        *,
        path: str | None = "/mcp",
        auth: ResourceServer | None = None,
        principal: Callable[[MutableMapping[str, Any]], str | None] | None = None,
        **options: Unpack[HttpOptions],
    ) -> WsgiApp:
        """The server as a WSGI application, for threaded hosts such as those of Flask and Django.

        Options are those of `asgi`; `principal` gets the environment of a request. All threads of a process
        share one server, which runs on an event loop in a thread of its own. A response that goes on as
        a stream keeps its thread busy, and a client that leaves is noticed when something is sent to it.
        What several processes need is said there, too.
        """
        from ._wsgi import WsgiApp

        return WsgiApp(self, path=path, auth=auth, principal=principal, **options)

    # ------------------------------------------------------------ registry

    def _decorate(
        self,
        verb: str,
        kind: type[Any],
        registry: dict[str, Any],
        arguments: tuple[Any, ...],
        options: Mapping[str, Any],
    ) -> Any:
        known = kind.__init__.__kwdefaults__.keys() - {"namespace"}
        for name in options:
            if name not in known:
                raise TypeError(f"{verb} has no option {name!r}; it has {', '.join(sorted(known))}")
        endpoint: Endpoint = kind(*arguments, namespace=_caller(2), **options)
        if endpoint.key in registry:
            raise ValueError(f"{endpoint.key!r} is registered already")
        endpoint.register(self._catalog)
        if kind is Tool and not native.is_recommended_tool_name(endpoint.key):
            _warn_of_name(endpoint.key)
        registry[endpoint.key] = endpoint
        self._publish(endpoint.register)
        return arguments[0]

    def _remove(self, registry: dict[str, Any], key: str) -> None:
        endpoint: Endpoint = registry.pop(key)
        endpoint.unregister(self._catalog)
        self._publish(endpoint.unregister)

    def _publish(self, command: Callable[[native._ServerCommands], None]) -> None:
        """Give a command to the machine of every connection, on its own thread."""
        for connection in tuple(self._connections):
            connection.host.call(connection.command, command)

    def _machine(self) -> native.Server:
        """A machine of the core with all that is registered."""
        return self._with_catalog(native.Server(**self._settings()))

    def _http_machine(self, options: Mapping[str, Any]) -> native.HttpServer:
        """The same behind HTTP."""
        return self._with_catalog(self._new_http_machine(options))

    def _new_http_machine(self, options: Mapping[str, Any]) -> native.HttpServer:
        return native.HttpServer(**self._settings(), **options)

    def _settings(self) -> dict[str, Any]:
        origin = time.time() - time.monotonic()
        return {
            "name": self.name,
            "version": self.version,
            "seed": os.urandom(32),
            "clock_origin": int(origin * 1000),
            "completions": bool(self._completers),
            **self._options,
        }

    @property
    def _drain(self) -> int:
        timeouts: native.Timeouts = self._options["timeouts"] or native.Timeouts()
        return timeouts.drain

    def _with_catalog(self, machine: M) -> M:
        for endpoint in self._endpoints():
            endpoint.register(machine)
        return machine

    def _endpoints(self) -> Iterable[Endpoint]:
        for registry in (self._tools, self._resources, self._prompts):
            yield from registry.values()


def _warn_of_name(name: str) -> None:
    import warnings

    advice = "1 to 128 ASCII letters, digits, underscores, hyphens and dots"
    warnings.warn(f"clients may refuse the tool name {name!r}: {advice} are advised", stacklevel=4)


def _caller(depth: int) -> dict[str, Any]:
    """The local names where a decorator was applied: hints given as strings may use them."""
    frame = sys._getframe(depth + 1)
    return {} if frame.f_locals is frame.f_globals else frame.f_locals
