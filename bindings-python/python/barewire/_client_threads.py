"""The host of the blocking client: no event loop, one reading thread, and callers that keep the time.

Everything that touches the engine holds its lock. Callers wait outside of it, and whoever waits sees to
deadlines, so that no thread is needed for them: while nobody waits, no deadline matters.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Mapping
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from . import _native as native
from ._answers import answer, read_question
from ._carriage import Exchanges, HttpCarriage, Link
from ._clock import now
from ._engine import (
    WAITING_REPORTS,
    Changes,
    Engine,
    Options,
    Progress,
    name_late,
    report_failure,
    shutdown_steps,
)
from ._errors import McpError, RequestTimedOutError

if TYPE_CHECKING:
    from ._http_threads import ThreadExchanges

__all__ = ["ThreadHost"]


class QueueSlot:
    """A slot of a caller that blocks. It calls its own progress callback, in its own thread."""

    __slots__ = ("queue",)

    def __init__(self) -> None:
        #: What to do next; None is to look at the deadline again.
        self.queue: SimpleQueue[bytes | Exception | Progress | None] = SimpleQueue()

    def settle(self, result: bytes) -> None:
        """The request ended well."""
        self.queue.put(result)

    def fail(self, error: Exception) -> None:
        """The request ended without a result."""
        self.queue.put(error)

    def report(self, progress: Progress) -> None:
        """The request goes on."""
        if self.queue.qsize() >= WAITING_REPORTS:
            self.queue.get()
        self.queue.put(progress)


class ThreadHost(Engine):
    """Runs a client for any number of threads."""

    def __init__(self, options: Options, handlers: Mapping[native.InputKindName, Callable[..., Any]]) -> None:
        super().__init__(options)
        self.handlers = handlers
        self._lock = threading.RLock()
        self._news = threading.Event()
        self._questions: set[int] = set()
        self._notifying = False
        self._links: list[Any] = []
        self._exchanges: ThreadExchanges | None = None

    # -- fed in by the threads that carry messages -----------------------------------------------------------

    def feed(self, step: Callable[[], list[native.Event]]) -> None:
        """Tell the machine of something by `step`, and see to what follows."""
        with self._lock:
            super().feed(step)

    def drained(self) -> None:
        """What had to wait has been taken by the server."""
        with self._lock:
            super().drained()

    def time_passed(self) -> None:
        """A deadline has come."""
        with self._lock:
            super().time_passed()

    # -- the life of a connection ----------------------------------------------------------------------------

    def start(self) -> None:
        """Connect. Returns when the connection is ready, raises when it cannot be."""
        try:
            with self._lock:
                self.connect()
            while self.ready is None and self.error is None:
                self.wait(self._news)
            self.check()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Disconnect. Returns when nothing is left of the connection but callbacks that have not returned."""
        with self._lock:
            self.close()
            links = list(self._links)
        if self._exchanges is not None:
            self._close_exchanges(self._exchanges)
        for link in links:
            self._close_link(link)

    def settled(self) -> None:
        """`ready` or `error` has been set."""
        self._news.set()

    def open_link(self) -> Link:
        """Start the server."""
        options = self.options
        link: Any
        if options.server is not None:
            from ._memory import ThreadedMemoryLink

            link = ThreadedMemoryLink(options.server, lambda function, *arguments: function(*arguments))
        else:
            assert options.command is not None
            from ._process import ThreadedChild

            link = ThreadedChild(options.command, env=options.env, cwd=options.cwd, stderr=options.stderr)
        self._links.append(link)
        return link  # type: ignore[no-any-return]

    def open_exchanges(self) -> Exchanges:
        """Make ready for requests over HTTP."""
        from ._http_threads import ThreadExchanges

        carriage, options = self.carriage, self.options.http
        assert isinstance(carriage, HttpCarriage) and options is not None
        self._exchanges = ThreadExchanges(carriage, options, self.time_passed)
        return self._exchanges

    def _close_exchanges(self, exchanges: ThreadExchanges) -> None:
        closing = exchanges.close()
        closing.add_done_callback(lambda _: self._news.set())
        while not closing.done():
            self.wait(self._news)
        exchanges.thread.stop()

    def retire_link(self, link: Link) -> None:
        """Close a link that is not used any more, without waiting for it."""
        threading.Thread(target=self._close_link, args=(link,), name="barewire-retire", daemon=True).start()

    def _close_link(self, link: Any) -> None:
        link.close(shutdown_steps(self.options.timeouts))

    # -- waiting ---------------------------------------------------------------------------------------------

    def wake_up_at(self, deadline: int) -> None:
        """Have those who wait look at the deadline: it is earlier than what they wait for.

        Over HTTP a thread keeps the time: streams are reconnected to also while nobody waits.
        """
        if self._exchanges is not None:
            self._exchanges.thread.wake_up_at(deadline)
            return
        self._news.set()
        for slot in self.slots.values():
            slot.queue.put(None)  # type: ignore[attr-defined]
        for changes in self.subscriptions.values():
            changes.look()

    def wait(self, news: threading.Event) -> None:
        """Wait for `news` or for a deadline, which is then seen to."""
        if news.wait(self._patience()):
            news.clear()
        else:
            self.time_passed()

    def _next(self, slot: QueueSlot) -> bytes | Exception | Progress:
        while True:
            try:
                item = slot.queue.get(timeout=self._patience())
            except Empty:
                self.time_passed()
            else:
                if item is not None:
                    return item

    def _patience(self) -> float | None:
        deadline = self._wake_at
        return None if deadline is None else max(0, deadline - now()) / 1000

    # -- requests and subscriptions --------------------------------------------------------------------------

    def run(
        self, what: str, start: Callable[[], int], on_progress: Callable[[Progress], object] | None = None
    ) -> bytes:
        """Start a request and wait for its result. An exception in between, such as Ctrl-C, cancels it.

        `what` names it where it takes too long.
        """
        slot = QueueSlot()
        since = now()
        with self._lock:
            self.check()
            handle = start()
            self.slots[handle] = slot
            self.commanded()
        try:
            while True:
                item = self._next(slot)
                if isinstance(item, bytes):
                    return item
                if isinstance(item, Exception):
                    if isinstance(item, RequestTimedOutError):
                        name_late(item, what, since)
                    raise item
                if on_progress is not None:
                    on_progress(item)
        except BaseException:
            self._abandon(handle)
            raise

    def check(self) -> None:
        """Raise why the connection is over, if it is."""
        if self.error is not None:
            raise self.error.with_traceback(None)

    def _abandon(self, handle: int) -> None:
        with self._lock:
            if self.slots.pop(handle, None) is not None:
                try:
                    self.machine.cancel(handle)
                except McpError:
                    return  # it ended meanwhile
                self.commanded()

    def command(self, give: Callable[[], object]) -> None:
        """Give the machine a command that nothing has to be waited for."""
        with self._lock:
            self.check()
            give()
            self.commanded()

    def subscribe(self, wanted: native.SubscriptionFilter) -> tuple[int, Changes, threading.Event]:
        """Open a subscription. Returns when the server has said what it agrees to."""
        news = threading.Event()
        with self._lock:
            self.check()
            handle = self.machine.subscribe(wanted, now())
            changes = self.subscriptions[handle] = Changes(news.set)
            self.commanded()
        try:
            while changes.honoured is None and not changes.over:
                self.wait(news)
        except BaseException:
            self.unsubscribe(handle)
            raise
        if changes.honoured is None and changes.error is not None:
            raise changes.error
        return handle, changes, news

    def unsubscribe(self, handle: int) -> None:
        """Close a subscription."""
        with self._lock:
            if handle in self.subscriptions:
                self.machine.unsubscribe(handle, now())
                self.commanded()

    def next_change(self, changes: Changes, news: threading.Event) -> Any:
        """The next change, waiting for it; None at the end."""
        while True:
            with self._lock:
                change = changes.take()
                if change is not None or changes.over:
                    if change is None and changes.error is not None:
                        raise changes.error
                    return change
            self.wait(news)

    # -- questions of the server, each in a thread of its own ------------------------------------------------

    def ask(self, question: native.InputRequest) -> None:
        """Have a question of the server answered."""
        self._questions.add(question.input)
        threading.Thread(target=self._answer, args=(question,), name="barewire-answer", daemon=True).start()

    def withdraw(self, question: int) -> None:
        """Do not send the answer of a question; its handler cannot be stopped."""
        self._questions.discard(question)

    def _answer(self, question: native.InputRequest) -> None:
        try:
            handler = self.handlers[question.kind]
            asked = read_question(question.kind, question.params)
        except (KeyError, ValueError) as error:
            self._refuse(question, native.INVALID_PARAMS, str(error), error)
            return
        try:
            result = answer(question.kind, handler() if asked is None else handler(asked))
        except McpError as error:
            self._refuse(question, error.code, error.message, error)
        except BaseException as error:  # this thread ends here, and the server waits
            report_failure(handler)
            self._refuse(question, native.INTERNAL_ERROR, "the client's handler failed", error)
        else:
            with self._lock:
                if self._stands(question):
                    self.provide(question.input, result, handler)

    def _refuse(self, question: native.InputRequest, code: int, message: str, cause: BaseException) -> None:
        with self._lock:
            if self._stands(question):
                self.refuse(question.input, code, message, cause)

    def _stands(self, question: native.InputRequest) -> bool:
        """Whether a question still waits for its answer, which is given now."""
        stands = question.input in self._questions
        self._questions.discard(question.input)
        return stands

    # -- callbacks, one after the other in a thread that lives while there are any ---------------------------

    def notices_wait(self) -> None:
        """See to it that the callbacks are called."""
        if not self._notifying:
            self._notifying = True
            threading.Thread(target=self._notify_all, name="barewire-notify", daemon=True).start()

    def _notify_all(self) -> None:
        while True:
            with self._lock:
                notice = self.next_notice()
                if notice is None:
                    self._notifying = False
                    return
            callback, value = notice
            try:
                callback(value)
            except Exception:
                report_failure(callback)


def refuse_coroutines(callbacks: Iterable[object]) -> None:
    """Raise TypeError for a callback that only an event loop could run."""
    for callback in callbacks:
        if inspect.iscoroutinefunction(callback):
            raise TypeError(
                f"{callback!r} is a coroutine function, and the blocking client has no event loop"
            )
