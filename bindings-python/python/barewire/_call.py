"""One request on its way through a handler: its questions, and how it waits, resumes and ends."""

from __future__ import annotations

import _thread

from ._errors import InputRefusedError
from ._plain import MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from msgspec import Raw

    from ._dispatch import Connection
    from ._endpoint import Endpoint
    from ._native import InputAnswer, RequestContext, RpcErrorValue
    from ._questions import Question


class Unwind(BaseException):
    """Leaves a handler that asked something: it runs again when the answer is there."""


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
        "caller",
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
        callers = connection.callers
        self.caller = callers.get(event.context.exchange) if callers else None
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
                from ._questions import decode_state

                self.kept.update(decode_state(context.state).once)

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
        from ._questions import encode_state

        return encode_state(self.kept, self.memory)

    def keep(self, key: str, value: Any) -> None:
        """Keep a value of `once` as JSON."""
        from msgspec import Raw

        from ._hints import encode_value

        self.kept[key] = Raw(encode_value(value))

    def recall(self, key: str, kind: Any) -> Any:
        """What is kept under a key, decoded as `kind`."""
        import msgspec

        kept = self.kept[key]
        return msgspec.json.decode(kept) if kind is None else msgspec.json.decode(kept, type=kind)

    def _answer(self, question: Question) -> Any:
        answer = self.answers.get(question.key)
        if answer is None:
            return MISSING
        if answer.error is not None:
            raise _refusal(answer.error)
        result = answer.result or b""
        # What is not even an object answers nothing; the question is put again.
        return question.read(result) if result[:1] == b"{" else MISSING

    async def ask(self, question: Question) -> Any:
        """Ask from an async handler. Questions that are put side by side go out together."""
        answer = self._answer(question)
        if answer is MISSING:
            waiter = self.connection.host.loop.create_future()
            self._put(question, waiter)
            answer = await waiter
        return answer

    def ask_blocking(self, question: Question) -> Any:
        """Ask from a sync handler, in a worker thread or inline."""
        answer = self._answer(question)
        if answer is not MISSING:
            return answer
        if self.endpoint.inline:
            self.pending[question.key] = (question, None)
            raise Unwind
        waiter = _ThreadWaiter()
        self.connection.host.post(self._put, question, waiter)
        return waiter.wait()

    def _put(self, question: Question, waiter: Any) -> None:
        if self.stopped:
            waiter.set_exception(Unwind())
            return
        if question.key in self.pending:
            # None of them goes out: whichever answer came back would seem to answer both.
            error = ValueError(f"two questions of the key {question.key!r} at once")
            waiter.set_exception(error)
            self.refuse(error)
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
            if answer is not MISSING:
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
        if host.is_congested(self):
            await host.wait_writable(self)

    def sent_blocking(self) -> None:
        """As `sent`, from a sync handler."""
        host = self.connection.host
        if self.endpoint.inline:
            host.flush()
            if host.is_congested(self):
                host.write_all()
        else:
            host.post(host.flush)
            if host.is_congested(self):
                waiter = _ThreadWaiter()
                host.post(host.when_writable, waiter, self)
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


def _refusal(error: RpcErrorValue) -> InputRefusedError:
    import msgspec

    data = None if error.data is None else msgspec.json.decode(error.data)
    return InputRefusedError(error.code, error.message, data)
