"""What the asyncio and trio hosts share: callers that wait, handlers that answer, callbacks that are told."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from . import _native as native
from ._answers import answer, read_question
from ._carriage import HttpCarriage
from ._clock import now
from ._engine import WAITING_REPORTS, Changes, Engine, Options, Progress, name_late, report_failure
from ._errors import McpError, RequestTimedOutError

if TYPE_CHECKING:
    from ._http_client import AsyncExchanges

__all__ = ["AsyncHost", "Waker", "open_exchanges"]


class Waker(Protocol):
    """Wakes one task. A `wake` while nobody waits is remembered."""

    def wake(self) -> object:
        """Let `wait` return."""

    async def wait(self) -> None:
        """Wait for a `wake` since the last time."""


class ReportSlot:
    """A slot of a caller who wants to hear of progress, which it does in its own task, in order."""

    __slots__ = ("_waker", "error", "over", "reports", "result")

    def __init__(self, waker: Waker) -> None:
        self._waker = waker
        self.reports: deque[Progress] = deque(maxlen=WAITING_REPORTS)
        self.over = False
        self.result = b""
        self.error: Exception | None = None

    def settle(self, result: bytes) -> None:
        """The request ended well."""
        self.over, self.result = True, result
        self._waker.wake()

    def fail(self, error: Exception) -> None:
        """The request ended without a result."""
        self.over, self.error = True, error
        self._waker.wake()

    def report(self, progress: Progress) -> None:
        """The request goes on."""
        self.reports.append(progress)
        self._waker.wake()

    async def wait(self, on_progress: Callable[[Progress], object] | None) -> bytes:
        """Call `on_progress` as reports come; the result, at the end."""
        while not self.over or self.reports:
            if self.reports:
                report = self.reports.popleft()
                if on_progress is not None:
                    await finish(on_progress(report))
            else:
                await self._waker.wait()
        if self.error is not None:
            raise self.error
        return self.result


async def finish(outcome: object) -> Any:
    """The outcome of a callable that may be synchronous or not."""
    return await outcome if inspect.isawaitable(outcome) else outcome


class AsyncHost(Engine):
    """A host with tasks. asyncio and trio supply the methods that raise here."""

    def __init__(self, options: Options, handlers: Mapping[native.InputKindName, Callable[..., Any]]) -> None:
        super().__init__(options)
        self.handlers = handlers
        self._settled = self.waker()
        self._answering: dict[int, Callable[[], object]] = {}
        self._notifying = False

    # -- supplied by asyncio and trio ------------------------------------------------------------------------

    def waker(self) -> Waker:
        """Something to wait with."""
        raise NotImplementedError

    def spawn(self, function: Callable[..., Awaitable[None]], *arguments: Any) -> Callable[[], object]:
        """Run `function`, which does not raise, in a task; what is returned cancels it."""
        raise NotImplementedError

    async def in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run `function` in a thread."""
        raise NotImplementedError

    async def enter(self) -> None:
        """Make ready to spawn."""

    async def leave(self) -> None:
        """End what was spawned, and close the link."""
        raise NotImplementedError

    # -- the life of a connection ----------------------------------------------------------------------------

    async def start(self) -> None:
        """Connect. Returns when the connection is ready, raises when it cannot be."""
        await self.enter()
        try:
            self.connect()
            while self.ready is None and self.error is None:
                await self._settled.wait()
            if self.error is not None:
                raise self.error
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Disconnect. Returns when nothing is left of the connection."""
        self.close()
        for cancel in list(self._answering.values()):
            cancel()
        await self.leave()

    def settled(self) -> None:
        """`ready` or `error` has been set."""
        self._settled.wake()

    # -- requests --------------------------------------------------------------------------------------------

    async def run(
        self, what: str, start: Callable[[], int], on_progress: Callable[[Progress], object] | None = None
    ) -> bytes:
        """Start a request and wait for its result. Cancelling this cancels the request.

        `what` names it where it takes too long.
        """
        self.check()
        since = now()
        handle = start()
        slot = ReportSlot(self.waker())
        self.slots[handle] = slot
        self.commanded()
        try:
            return await slot.wait(on_progress)
        except RequestTimedOutError as error:
            name_late(error, what, since)
            raise
        except BaseException:
            self.abandon(handle)
            raise

    def check(self) -> None:
        """Raise why the connection is over, if it is."""
        if self.error is not None:
            raise self.error.with_traceback(None)

    def abandon(self, handle: int) -> None:
        """Give up a request whose caller has gone."""
        if self.slots.pop(handle, None) is not None:
            try:
                self.machine.cancel(handle)
            except McpError:
                return  # it ended meanwhile
            self.commanded()

    # -- subscriptions ---------------------------------------------------------------------------------------

    async def subscribe(self, wanted: native.SubscriptionFilter) -> tuple[int, Changes, Waker]:
        """Open a subscription. Returns when the server has said what it agrees to."""
        self.check()
        waker = self.waker()
        handle = self.machine.subscribe(wanted, now())
        changes = self.subscriptions[handle] = Changes(waker.wake)
        self.commanded()
        try:
            while changes.honoured is None and not changes.over:
                await waker.wait()
        except BaseException:
            self.unsubscribe(handle)
            raise
        if changes.honoured is None and changes.error is not None:
            raise changes.error
        return handle, changes, waker

    def unsubscribe(self, handle: int) -> None:
        """Close a subscription."""
        if handle in self.subscriptions:
            self.machine.unsubscribe(handle, now())
            self.commanded()

    # -- questions of the server -----------------------------------------------------------------------------

    def ask(self, question: native.InputRequest) -> None:
        """Have a question of the server answered."""
        self._answering[question.input] = self.spawn(self._answer, question)

    def withdraw(self, question: int) -> None:
        """Stop answering a question."""
        cancel = self._answering.pop(question, None)
        if cancel is not None:
            cancel()

    async def _answer(self, question: native.InputRequest) -> None:
        try:
            handler = self.handlers[question.kind]
            asked = read_question(question.kind, question.params)
        except (KeyError, ValueError) as error:
            self._refuse(question.input, native.INVALID_PARAMS, str(error), error)
            return
        try:
            arguments = () if asked is None else (asked,)
            if inspect.iscoroutinefunction(handler):
                value = await handler(*arguments)
            else:
                value = await finish(await self.in_thread(handler, *arguments))
            result = answer(question.kind, value)
        except McpError as error:
            self._refuse(question.input, error.code, error.message, error)
        except Exception as error:
            report_failure(handler)
            self._refuse(question.input, native.INTERNAL_ERROR, "the client's handler failed", error)
        except BaseException as error:  # the server still waits, unless it is we who end
            if self.error is None:
                self._refuse(question.input, native.INTERNAL_ERROR, "the client's handler failed", error)
            raise
        else:
            if self._answering.pop(question.input, None) is not None:
                self.provide(question.input, result, handler)

    def _refuse(self, question: int, code: int, message: str, cause: BaseException) -> None:
        if self._answering.pop(question, None) is not None:
            self.refuse(question, code, message, cause)

    # -- callbacks -------------------------------------------------------------------------------------------

    def notices_wait(self) -> None:
        """See to it that the callbacks are called, one after the other."""
        if not self._notifying:
            self._notifying = True
            self.spawn(self._notify_all)

    async def _notify_all(self) -> None:
        try:
            while (notice := self.next_notice()) is not None:
                callback, value = notice
                try:
                    await finish(callback(value))
                except Exception:
                    report_failure(callback)
        finally:
            self._notifying = False


def open_exchanges(host: AsyncHost) -> AsyncExchanges:
    """What carries out requests over HTTP, where the client is set up for that."""
    from ._http_client import AsyncExchanges

    carriage, options = host.carriage, host.options.http
    assert isinstance(carriage, HttpCarriage) and options is not None
    return AsyncExchanges(host, carriage, options)
