"""What a handler can do while it runs: report, ask the client, and see who called."""

from __future__ import annotations

TYPE_CHECKING = False
if not TYPE_CHECKING:

    def overload(function):  # what type checkers read of it has no use at run time
        return function


if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from typing import Any, Literal, TypeVar, overload

    from ._call import Call
    from ._content import Block, Message
    from ._native import LogLevel
    from ._protection import Caller
    from ._questions import ElicitResult, Question, Root, SampleResult

    T = TypeVar("T")


class ClientInfo:
    """Who the client says it is, and what it declared. None of it is proof of anything."""

    __slots__ = ("capabilities", "name", "title", "version")

    def __init__(self, name: str, version: str, title: str | None, capabilities: dict[str, Any]) -> None:
        self.name = name
        self.version = version
        self.title = title
        self.capabilities = capabilities

    def __repr__(self) -> str:
        return f"ClientInfo({self.name!r}, {self.version!r}, {self.title!r}, {self.capabilities!r})"


class BaseContext:
    """What both kinds of context tell about the request; see `Context` and `SyncContext`."""

    __slots__ = ("_call",)

    def __init__(self, call: Call) -> None:
        self._call = call

    @property
    def cancelled(self) -> bool:
        """Whether the client has cancelled the request; what the handler returns is then dropped."""
        return self._call.cancelled

    @property
    def meta(self) -> dict[str, Any]:
        """The `_meta` object of the request: trace context, members of extensions."""
        return _decoded(self._call.context.meta)

    @property
    def client(self) -> ClientInfo:
        """The client."""
        context = self._call.context
        info = _decoded(context.client)
        name, version = str(info.get("name", "")), str(info.get("version", ""))
        return ClientInfo(name, version, info.get("title"), _decoded(context.capabilities))

    @property
    def revision(self) -> str:
        """The protocol revision of the request."""
        return self._call.context.revision

    @property
    def session(self) -> int | None:
        """The session of an older revision, by a number that no other one of this process has.

        None in the stateless revisions.
        """
        return self._call.context.session

    @property
    def principal(self) -> str | None:
        """Who sent the request, as `principal` of the HTTP application said."""
        return self._call.context.principal

    @property
    def caller(self) -> Caller | None:
        """Who sent the request, as its access token says; None unless the server is protected with `auth`."""
        return self._call.caller

    def close_stream(self, retry_ms: int | None = None) -> bool:
        """Over HTTP, end the response for now; the client comes back for the rest after `retry_ms`.

        A long call then needs no connection in the meantime. Its result waits as long as events are kept.
        False where that is not possible: in other transports, revisions before 2025-11-25 and from
        2026-07-28 on, and before anything was sent to a client that takes a stream.
        """
        return self._call.connection.close_stream(self._call, retry_ms)

    @property
    def lifespan(self) -> Any:
        """What the lifespan of the server has yielded; `None` without one."""
        return self._call.connection.lifespan

    def _progress(self, progress: float, total: float | None, message: str | None) -> None:
        call = self._call
        if call.context.wants_progress:
            call.connection.machine.progress(call.request, progress, total, message)

    def _log(self, level: LogLevel, data: Any, logger: str | None) -> None:
        from ._hints import encode_value

        call = self._call
        call.connection.machine.log(call.request, level, encode_value(data), logger)

    def _elicitation(self, message: str, form: Any, url: str | None, key: str | None) -> Question:
        from ._questions import elicitation

        return elicitation(self._call.key(key), message, form, url)

    def _sampling(self, messages: Any, key: str | None, **options: Any) -> Question:
        from ._questions import sampling

        return sampling(self._call.key(key), messages, options)

    def _roots(self, key: str | None) -> Question:
        from ._questions import roots

        return roots(self._call.key(key))


def _decoded(raw: bytes | None) -> dict[str, Any]:
    if raw is None:
        return {}
    import msgspec

    return dict(msgspec.json.decode(raw))


class Context(BaseContext):
    """The context of an `async` handler: annotate a parameter with it to receive it.

    A handler that asks the client may run more than once. In legacy revisions it waits for the
    answer where it stands. From 2026-07-28 it is unwound (by cancellation) and runs again from
    its start when the client comes back; questions that are answered return at once, found by
    their order or by their `key`. What must happen once only belongs into `once`. A tool with
    `resume="memory"` is kept waiting instead, in this process.
    """

    __slots__ = ()

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Say how far the work is, if the client wants to know; the number must grow each time."""
        self._progress(progress, total, message)
        await self._call.sent()

    async def log(self, level: LogLevel, data: Any, logger: str | None = None) -> None:
        """Send a log message (any JSON value), if the client wants that level."""
        self._log(level, data, logger)
        await self._call.sent()

    @overload
    async def elicit(self, message: str, form: type[T], *, key: str | None = None) -> ElicitResult[T]: ...
    @overload
    async def elicit(
        self, message: str, form: dict[str, Any], *, key: str | None = None
    ) -> ElicitResult[dict[str, Any]]: ...
    @overload
    async def elicit(self, message: str, form: Any, *, key: str | None = None) -> ElicitResult[Any]: ...
    @overload
    async def elicit(self, message: str, *, url: str, key: str | None = None) -> ElicitResult[None]: ...
    async def elicit(
        self, message: str, form: Any = None, *, url: str | None = None, key: str | None = None
    ) -> ElicitResult[Any]:
        """Ask the user to fill a form or to visit `url`.

        `form` is a flat class (dataclass, TypedDict, Struct, pydantic model), a simple type such
        as `bool` or a `Literal`, or the JSON Schema of an object as a dict.
        """
        result: ElicitResult[Any] = await self._call.ask(self._elicitation(message, form, url, key))
        return result

    async def sample(
        self,
        messages: str | Block | Message | Sequence[str | Block | Message],
        *,
        max_tokens: int = 1024,
        system_prompt: str | None = None,
        temperature: float | None = None,
        stop_sequences: list[str] | None = None,
        model_preferences: dict[str, Any] | None = None,
        include_context: Literal["none", "thisServer", "allServers"] | None = None,
        metadata: dict[str, Any] | None = None,
        tools: list[dict[str, Any]] | None = None,
        tool_choice: dict[str, Any] | None = None,
        key: str | None = None,
    ) -> SampleResult:
        """Ask the client's model. Deprecated by the specification in 2026-07-28."""
        question = self._sampling(
            messages,
            key,
            maxTokens=max_tokens,
            systemPrompt=system_prompt,
            temperature=temperature,
            stopSequences=stop_sequences,
            modelPreferences=model_preferences,
            includeContext=include_context,
            metadata=metadata,
            tools=tools,
            toolChoice=tool_choice,
        )
        result: SampleResult = await self._call.ask(question)
        return result

    async def roots(self, *, key: str | None = None) -> list[Root]:
        """Ask which folders the client lets servers work on. Deprecated in 2026-07-28."""
        found: list[Root] = await self._call.ask(self._roots(key))
        return found

    @overload
    async def once(self, key: str, function: Callable[[], Awaitable[T]], type: Any = None) -> T: ...
    @overload
    async def once(self, key: str, function: Callable[[], T], type: Any = None) -> T: ...
    async def once(self, key: str, function: Callable[[], Any], type: Any = None) -> Any:
        """Call a function once over all runs of this handler, and give its result in each.

        The result is kept as JSON, sealed, with the next question; it comes back
        decoded as `type`, or as plain dicts, lists and scalars.
        """
        call = self._call
        if key not in call.kept:
            value = function()
            if hasattr(value, "__await__"):
                value = await value
            call.keep(key, value)
        return call.recall(key, type)


class SyncContext(BaseContext):
    """The context of a handler that is not `async`: the same as `Context`, in blocking form.

    A sync handler gets it also where its hint says `Context`. An `inline` handler cannot wait:
    it is unwound by a question and runs again, in every revision.
    """

    __slots__ = ()

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """As `Context.progress`."""
        self._progress(progress, total, message)
        self._call.sent_blocking()

    def log(self, level: LogLevel, data: Any, logger: str | None = None) -> None:
        """As `Context.log`."""
        self._log(level, data, logger)
        self._call.sent_blocking()

    @overload
    def elicit(self, message: str, form: type[T], *, key: str | None = None) -> ElicitResult[T]: ...
    @overload
    def elicit(
        self, message: str, form: dict[str, Any], *, key: str | None = None
    ) -> ElicitResult[dict[str, Any]]: ...
    @overload
    def elicit(self, message: str, form: Any, *, key: str | None = None) -> ElicitResult[Any]: ...
    @overload
    def elicit(self, message: str, *, url: str, key: str | None = None) -> ElicitResult[None]: ...
    def elicit(
        self, message: str, form: Any = None, *, url: str | None = None, key: str | None = None
    ) -> ElicitResult[Any]:
        """As `Context.elicit`."""
        result: ElicitResult[Any] = self._call.ask_blocking(self._elicitation(message, form, url, key))
        return result

    def sample(
        self,
        messages: str | Block | Message | Sequence[str | Block | Message],
        *,
        max_tokens: int = 1024,
        system_prompt: str | None = None,
        temperature: float | None = None,
        stop_sequences: list[str] | None = None,
        model_preferences: dict[str, Any] | None = None,
        include_context: Literal["none", "thisServer", "allServers"] | None = None,
        metadata: dict[str, Any] | None = None,
        tools: list[dict[str, Any]] | None = None,
        tool_choice: dict[str, Any] | None = None,
        key: str | None = None,
    ) -> SampleResult:
        """As `Context.sample`."""
        question = self._sampling(
            messages,
            key,
            maxTokens=max_tokens,
            systemPrompt=system_prompt,
            temperature=temperature,
            stopSequences=stop_sequences,
            modelPreferences=model_preferences,
            includeContext=include_context,
            metadata=metadata,
            tools=tools,
            toolChoice=tool_choice,
        )
        result: SampleResult = self._call.ask_blocking(question)
        return result

    def roots(self, *, key: str | None = None) -> list[Root]:
        """As `Context.roots`."""
        found: list[Root] = self._call.ask_blocking(self._roots(key))
        return found

    def once(self, key: str, function: Callable[[], T], type: Any = None) -> T:
        """As `Context.once`."""
        call = self._call
        if key not in call.kept:
            call.keep(key, function())
        kept: T = call.recall(key, type)
        return kept
