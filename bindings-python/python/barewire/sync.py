"""The blocking client: the same names as :class:`barewire.Client`, and no event loop inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _native as native
from ._client import BaseClient, Pages, encode, milliseconds
from ._client_threads import ThreadHost, refuse_coroutines
from ._clock import now
from ._engine import Change, Changes
from ._results import LISTS, read_call, read_completion, read_list, read_prompt, read_resource

if TYPE_CHECKING:
    import threading
    from types import TracebackType

    from typing_extensions import Self

    from ._engine import Progress
    from ._results import (
        CallToolResult,
        CompleteResult,
        GetPromptResult,
        ListResult,
        Prompt,
        ReadResourceResult,
        Resource,
        ResourceTemplate,
        Tool,
    )

__all__ = ["Client", "Subscription"]


class Client(BaseClient):
    """A blocking client of one server: ``with Client(command=[...]) as client``.

    Its settings, methods, results and errors are those of :class:`barewire.Client`; its callbacks are plain
    functions. `on_progress` is called in the thread that waits for the result. The handlers of questions run
    each in a thread of their own; `on_log` and `on_change` in one thread, one call after the other.

    All methods may be called from any number of threads at once. One thread reads for all of them; an
    ``httpx2.AsyncClient`` given as `http` is used by that thread alone. An
    exception that ends the wait for a result, such as KeyboardInterrupt, cancels the request. Leaving the
    ``with`` block makes the requests of other threads fail at once.
    """

    _host: ThreadHost | None = None

    @property
    def _engine(self) -> ThreadHost:
        if self._host is None:
            raise RuntimeError("the client is not connected: use it in `with`")
        return self._host

    def __enter__(self) -> Self:
        if self._host is not None:
            raise RuntimeError("a client connects once")
        refuse_coroutines([*self._handlers.values(), self._on_log, self._on_change])
        host = self._host = ThreadHost(self._options, self._handlers)
        host.on_log, host.on_change = self._on_log, self._on_change
        host.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.stop()

    # -- tools -----------------------------------------------------------------------------------------------

    def list_tools(self, cursor: str | None = None) -> ListResult[Tool]:
        """One page of the tools; `cursor` is the `next_cursor` of the page before."""
        return self._page("tools", cursor)

    def tools(self) -> Iterator[Tool]:
        """All tools, page by page."""
        return self._all("tools")

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: Callable[[Progress], object] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> CallToolResult:
        """Call a tool; the arguments are those of :meth:`barewire.Client.call_tool`.

        A tool that failed gives a result with `is_error`, and does not raise.
        """
        machine = self._engine.machine
        encoded = None if arguments is None else encode(arguments)
        encoded_meta = None if meta is None else encode(meta)
        result = self._engine.run(
            f"the tool {name!r}",
            lambda: machine.call_tool(
                name,
                encoded,
                now(),
                progress=on_progress is not None,
                timeout=milliseconds(timeout),
                meta=encoded_meta,
            ),
            on_progress,
        )
        return self._checked(read_call(result))

    # -- resources -------------------------------------------------------------------------------------------

    def list_resources(self, cursor: str | None = None) -> ListResult[Resource]:
        """One page of the resources; `cursor` is the `next_cursor` of the page before."""
        return self._page("resources", cursor)

    def resources(self) -> Iterator[Resource]:
        """All resources, page by page."""
        return self._all("resources")

    def list_resource_templates(self, cursor: str | None = None) -> ListResult[ResourceTemplate]:
        """One page of the resource templates; `cursor` is the `next_cursor` of the page before."""
        return self._page("resource_templates", cursor)

    def resource_templates(self) -> Iterator[ResourceTemplate]:
        """All resource templates, page by page."""
        return self._all("resource_templates")

    def read_resource(self, uri: str, *, timeout: float | None = None) -> ReadResourceResult:
        """What the resource at `uri` holds."""
        machine = self._engine.machine
        result = self._engine.run(
            f"the resource {uri!r}", lambda: machine.read_resource(uri, now(), timeout=milliseconds(timeout))
        )
        return self._checked(read_resource(result))

    # -- prompts and completion ------------------------------------------------------------------------------

    def list_prompts(self, cursor: str | None = None) -> ListResult[Prompt]:
        """One page of the prompts; `cursor` is the `next_cursor` of the page before."""
        return self._page("prompts", cursor)

    def prompts(self) -> Iterator[Prompt]:
        """All prompts, page by page."""
        return self._all("prompts")

    def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, timeout: float | None = None
    ) -> GetPromptResult:
        """A prompt filled in with `arguments`."""
        machine = self._engine.machine
        encoded = None if arguments is None else encode(arguments)
        result = self._engine.run(
            f"the prompt {name!r}",
            lambda: machine.get_prompt(name, encoded, now(), timeout=milliseconds(timeout)),
        )
        return self._checked(read_prompt(result))

    def complete(
        self,
        argument: str,
        value: str,
        *,
        prompt: str | None = None,
        resource: str | None = None,
        arguments: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> CompleteResult:
        """Suggestions for `argument` of a prompt or of a resource template, of which `value` was typed so
        far.
        """
        machine = self._engine.machine
        encoded = None if arguments is None else encode(arguments)
        result = self._engine.run(
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
        self,
        *,
        tools: bool = False,
        resources: bool = False,
        prompts: bool = False,
        uris: Iterable[str] = (),
    ) -> Subscription:
        """Changes of the lists named, and of the resources at `uris`: ``with client.subscribe(...) as
        changes``.
        """
        wanted = native.SubscriptionFilter(
            tools=tools, resources=resources, prompts=prompts, resource_uris=list(uris)
        )
        return Subscription(self._engine, wanted)

    def set_log_level(self, level: native.LogLevel) -> None:
        """Ask for log messages of at least this severity, `debug` to `emergency`. They go to `on_log`."""
        machine = self._engine.machine
        self._engine.run("the log level", lambda: machine.set_log_level(level, now()))

    def ping(self, *, timeout: float | None = None) -> None:
        """Ask for a sign of life. Newer revisions have no such request."""
        machine = self._engine.machine
        self._engine.run("the ping", lambda: machine.ping(now(), timeout=milliseconds(timeout)))

    def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: Callable[[Progress], object] | None = None,
    ) -> bytes:
        """Make a request of an extension; the JSON of its result."""
        machine = self._engine.machine
        encoded = None if params is None else encode(params)
        return self._engine.run(
            f"the request {method!r}",
            lambda: machine.request(
                method, encoded, now(), progress=on_progress is not None, timeout=milliseconds(timeout)
            ),
            on_progress,
        )

    def roots_changed(self) -> None:
        """Tell the server that what `on_roots` answers has changed, where the revision has a way to."""
        self._engine.command(self._engine.machine.notify_roots_changed)

    def _page(self, name: Any, cursor: str | None) -> ListResult[Any]:
        kind, member = LISTS[name]
        machine = self._engine.machine
        handle = 0

        def start() -> int:
            nonlocal handle
            handle = machine.list(name, cursor, now())
            return handle

        omitted = self._engine.omitted
        try:
            result = self._engine.run(f"the list of {name}", start)
            return self._checked(read_list(result, kind, member, omitted.get(handle, ())))
        finally:
            omitted.pop(handle, None)

    def _all(self, name: str) -> Iterator[Any]:
        pages = Pages()
        while pages.more:
            page = self._page(name, pages.cursor)
            yield from page
            pages.turn(page)


class Subscription:
    """Changes as they come: an iterator, to be used in ``with``. Closing it from another thread ends it."""

    def __init__(self, host: ThreadHost, wanted: native.SubscriptionFilter) -> None:
        self._host = host
        self._wanted = wanted
        self._open: tuple[int, Changes, threading.Event] | None = None

    @property
    def honoured(self) -> native.SubscriptionFilter | None:
        """What the server agreed to tell, which may be less than was asked for."""
        return None if self._open is None else self._open[1].honoured

    @property
    def missed(self) -> int:
        """How many changes were dropped because more than 1024 different ones waited."""
        return 0 if self._open is None else self._open[1].missed

    def __enter__(self) -> Self:
        self._open = self._host.subscribe(self._wanted)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the subscription."""
        if self._open is not None:
            self._host.unsubscribe(self._open[0])

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Change:
        if self._open is None:
            raise RuntimeError("the subscription is not open: use it in `with`")
        _, changes, news = self._open
        change = self._host.next_change(changes, news)
        if change is None:
            raise StopIteration
        return change  # type: ignore[no-any-return]
