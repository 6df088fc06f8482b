"""One request on its way through a handler: its questions, and how it waits, resumes and ends."""

from __future__ import annotations

import _thread
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct

from ._errors import InputRefusedError

if TYPE_CHECKING:
    from ._dispatch import Connection
    from ._endpoint import Endpoint
    from ._native import InputAnswer, RequestContext
    from ._questions import Question


class Unwind(BaseException):
    """Leaves a handler that asked something: it runs again when the answer is there."""


class _State(Struct, omit_defaults=True):
    """What travels with a question and comes back: results of `once`, the key of a waiting handler."""

    once: dict[str, Raw] = {}
    memory: str = ""


_decode_state = msgspec.json.Decoder(_State).decode
_MISSING: Any = object()


def memory_of(state: bytes) -> str:
    """The key of the handler that waits in memory, from the state of an event."""
    return _decode_state(state).memory


class _ThreadWaiter:
    """Where a worker thread waits for an answer: the counterpart of an asyncio future."""

    __slots__ = ("_error", "_lock", "_value")

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._lock.acquire()
        self._value: Any = None
        self._error: BaseException | None = None

    def done(self) -> bool:
        return not self._lock.locked()

    def set_result(self, value: Any) -> None:
        self._value = value
        self._lock.release()

    def set_exception(self, error: BaseException) -> None:
        self._error = error
        self._lock.release()

    def wait(self) -> Any:
        self._lock.acquire()
        self._lock.release()
        if self._error is not None:
            raise self._error
        return self._value


class Call:
    """A request that a handler works on. Its state changes on the thread of the connection only."""

    __slots__ = (
        "_counter",
        "answers",
        "cancelled",
        "connection",
        "context",
        "endpoint",
        "event",
        "kept",
        "memory",
        "pending",
        "request",
        "stopped",
        "task",
    )

    def __init__(self, connection: Connection, endpoint: Endpoint, event: Any) -> None:
        self.connection = connection
        self.endpoint = endpoint
        self.event = event
        self.request: int = event.request
        self.context: RequestContext = event.context
        self.cancelled = False
        self.stopped = False  # cancelled, or unwound to run again: its outcome counts no more
        self.task: Any = None  # of an async handler
        self.pending: dict[str, tuple[Question, Any]] = {}
        self.answers: dict[str, InputAnswer] = {}
        self.kept: dict[str, Raw] = {}
        self.memory = ""
        self._counter = 0
        self._take(event.context)

    def _take(self, context: RequestContext) -> None:
        """Take over what an event of this request brings."""
        self.context = context
        if context.round:
            self.answers = {answer.key: answer for answer in context.input_answers}
            if context.state is not None:
                self.kept.update(_decode_state(context.state).once)

    # ------------------------------------------------------------ questions

    def key(self, key: str | None) -> str:
        """The key of the next question: its own, or its place in the order."""
        if key is not None:
            return key
        self._counter += 1
        return str(self._counter)

    def state(self) -> bytes | None:
        """What has to travel with a question."""
        if not self.kept and not self.memory:
            return None
        return msgspec.json.encode(_State(self.kept, self.memory))

    def _answer(self, question: Question) -> Any:
        answer = self.answers.get(question.key)
        if answer is None:
            return _MISSING
        if answer.error is not None:
            data = answer.error.data
            raise InputRefusedError(
                answer.error.code, answer.error.message, None if data is None else msgspec.json.decode(data)
            )
        result = answer.result or b""
        # What is not even an object answers nothing; the question is put again.
        return question.read(result) if result[:1] == b"{" else _MISSING

    async def ask(self, question: Question) -> Any:
        """Ask from an async handler. Questions that are put side by side go out together."""
        answer = self._answer(question)
        if answer is _MISSING:
            waiter = self.connection.host.loop.create_future()
            self._put(question, waiter)
            answer = await waiter
        return answer

    def ask_blocking(self, question: Question) -> Any:
        """Ask from a sync handler, in a worker thread or inline."""
        answer = self._answer(question)
        if answer is not _MISSING:
            return answer
        if self.endpoint.inline:
            self.pending[question.key] = (question, None)
            raise Unwind
        waiter = _ThreadWaiter()
        self.connection.host.post(self._put, question, waiter)
        return waiter.wait()

    def _put(self, question: Question, waiter: Any) -> None:
        if question.key in self.pending:
            waiter.set_exception(ValueError(f"two questions of the key {question.key!r} at once"))
            return
        if self.stopped:
            waiter.set_exception(Unwind())
            return
        first = not self.pending
        self.pending[question.key] = (question, waiter)
        if first:
            self.connection.host.post(self.connection.ask, self)

    def resume(self, context: RequestContext) -> None:
        """The client has answered a handler that still waits."""
        self._take(context)
        for key, (question, waiter) in list(self.pending.items()):
            try:
                answer = self._answer(question)
            except Exception as error:
                self._settle(key, waiter, error=error)
                continue
            if answer is not _MISSING:
                self._settle(key, waiter, answer)
        if self.pending:
            self.connection.ask(self)

    def _settle(self, key: str, waiter: Any, answer: Any = None, error: Exception | None = None) -> None:
        del self.pending[key]
        if waiter is None or waiter.done():
            return
        if error is not None:
            waiter.set_exception(error)
        else:
            waiter.set_result(answer)

    def refuse(self, error: Exception) -> None:
        """The questions could not be put at all."""
        for key, (_, waiter) in list(self.pending.items()):
            self._settle(key, waiter, error=error)

    # ------------------------------------------------------------ sending

    async def sent(self) -> None:
        """Let out what was just reported; wait while too much is queued."""
        host = self.connection.host
        host.flush()
        if host.congested:
            await host.wait_writable()

    def sent_blocking(self) -> None:
        """As `sent`, from a sync handler."""
        host = self.connection.host
        if self.endpoint.inline:
            host.flush()
            if host.congested:
                host.write_all()
        else:
            host.post(host.flush)
            if host.congested:
                waiter = _ThreadWaiter()
                host.post(host.when_writable, waiter)
                waiter.wait()

    # ------------------------------------------------------------ the end

    def stop(self) -> None:
        """End the handler: it was cancelled, or runs again later."""
        self.stopped = True
        for _, waiter in self.pending.values():
            if isinstance(waiter, _ThreadWaiter) and not waiter.done():
                waiter.set_exception(Unwind())
        self.pending.clear()
        if self.task is not None:
            self.task.cancel()
