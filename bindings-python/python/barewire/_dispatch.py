"""Events of the core to handlers, and their results back: the same for every driver.

A `Connection` owns one machine of the core: that of one peer on a byte stream, or that of all
clients over HTTP. It lives on one thread, that of its host; the host does the I/O, and lends an
event loop and worker threads to handlers that need them.
"""

from __future__ import annotations

import os
import time

from . import _native as native
from ._call import Call, Unwind
from ._context import Context, SyncContext
from ._endpoint import NO_COMPLETIONS, Endpoint
from ._errors import ConnectionClosedError, McpError
from ._plain import to_json
from ._schema import InvalidArguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._host import Host
    from ._native import _ServerCommands as Machine
    from ._protection import Caller
    from ._server import Server

_MOST_WAITING = 1024


def now() -> int:
    """Milliseconds of the monotonic clock, which is what the core counts in."""
    return int(time.monotonic() * 1000)


class Connection:
    """A machine of a server, and the calls in flight."""

    def __init__(self, server: Server, host: Host, machine: Machine) -> None:
        self.server = server
        self.host = host
        self.machine = machine
        self.lifespan: Any = None
        self.debug = server.debug
        self.finished = False
        #: Who has sent what an exchange brings, where that is known.
        self.callers: dict[int, Caller] = {}
        self._calls: dict[int, Call] = {}
        self._waiting: dict[str, Call] = {}
        self._deferred: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self._handlers: dict[type, Callable[[Any], None]] = {
            native.ToolCalled: self._tool_called,
            native.ResourceReadRequested: self._resource_read_requested,
            native.PromptRequested: self._prompt_requested,
            native.CompletionRequested: self._completion_requested,
            native.RequestCancelled: self._request_cancelled,
            native.MessageDiscarded: self._message_discarded,
            native.Drained: self._drained,
            native.Disconnected: self._disconnected,
        }

    # ------------------------------------------------------------ time and commands

    def handle_timeout(self) -> None:
        """A time of `poll_timeout` has come."""
        self._step(self.machine.handle_timeout)

    def close(self) -> None:
        """End the connection in order, without waiting for handlers."""
        self.machine.close()
        self.take_events()

    def take_events(self) -> None:
        """Take what only shows up once commands were given."""
        self._step(lambda now: self.machine.events())

    def _step(self, verb: Callable[[int], list[Any]]) -> None:
        try:
            events = verb(now())
        except McpError:  # it was over before: no event is left to tell it
            self._disconnected()
        else:
            self.dispatch(events)

    def close_stream(self, call: Call, retry_ms: int | None) -> bool:
        """End the response that carries a call for now, where there is such a thing."""
        return False

    def command(self, function: Callable[[Machine], None]) -> None:
        """Give a command to the machine; one that comes after the end is too late to matter."""
        try:
            function(self.machine)
        except ConnectionClosedError:
            return

    def dispatch(self, events: list[Any]) -> None:
        """Hand events to what they concern."""
        handlers = self._handlers
        for event in events:
            handle = handlers.get(type(event))
            if handle is not None:
                handle(event)

    # ------------------------------------------------------------ events

    def _tool_called(self, event: native.ToolCalled) -> None:
        self._called(self.server._tools.get(event.name), event, event.arguments)

    def _prompt_requested(self, event: native.PromptRequested) -> None:
        self._called(self.server._prompts.get(event.name), event, event.arguments)

    def _resource_read_requested(self, event: native.ResourceReadRequested) -> None:
        template = event.template
        resource = self.server._resources.get(event.uri if template is None else template)
        self._called(resource, event, None if template is None else to_json(event.variables))

    def _completion_requested(self, event: native.CompletionRequested) -> None:
        reference = event.prompt if event.resource is None else event.resource
        completer = self.server._completers.get((reference or "", event.argument))
        if completer is None:
            self.machine.respond(event.request, NO_COMPLETIONS)
        else:
            self._called(completer, event, completer.raw_arguments(event))

    def _request_cancelled(self, event: native.RequestCancelled) -> None:
        call = self._calls.pop(event.request, None)
        if call is not None:
            call.cancelled = True
            call.stop()

    def _drained(self, event: native.Drained) -> None:
        self._stop_all()

    def _message_discarded(self, event: native.MessageDiscarded) -> None:
        import logging

        start = bytes(event.bytes[:80])
        logging.getLogger("barewire").warning("discarded a message (%s): %r", event.violation, start)

    def _disconnected(self, event: native.Disconnected | None = None) -> None:
        self._stop_all()
        self.finished = True

    def _stop_all(self) -> None:
        calls = [*self._calls.values(), *self._waiting.values()]
        self._calls.clear()
        self._waiting.clear()
        for call in calls:
            call.cancelled = True
            call.stop()

    # ------------------------------------------------------------ calls

    def _called(self, endpoint: Endpoint | None, event: Any, raw: bytes | None) -> None:
        if (self._calls or self._waiting) and self._resumes(event):
            return
        if endpoint is None:  # taken out of the catalog a moment ago
            self.machine.respond_error(event.request, native.INVALID_PARAMS, "Not found")
            return
        if endpoint.scopes:
            try:
                if not self.admits(endpoint, event, raw):
                    return
            except Exception as error:  # code of the user's
                self._failed(endpoint, event, error)
                return
        try:
            values = endpoint.handler.bind(raw or b"{}")
        except InvalidArguments as error:
            endpoint.refuse_arguments(self.machine, event, str(error))
            return
        except Exception as error:  # code of the user's types
            self._failed(endpoint, event, error)
            return
        if endpoint.direct:
            self._run_direct(endpoint, event, values)
        elif endpoint.is_async:
            self._with_loop(self._run_async, endpoint, event, values)
        else:
            self._run_sync(Call(self, endpoint, event), values)

    def admits(self, endpoint: Endpoint, event: Any, raw: bytes | None) -> bool:
        """Whether a caller has the scopes that an endpoint wants; if not, the call is answered. Byte streams
        have no such thing: who has started the server may do all.
        """
        return True

    def _with_loop(self, function: Callable[..., None], *arguments: Any) -> None:
        """Call a function that starts a task, as soon as the host runs an event loop."""
        if self.host.has_loop:
            function(*arguments)
        else:
            self._deferred.append((function, arguments))

    @property
    def needs_loop(self) -> bool:
        """Whether something waits for the host to run an event loop."""
        return bool(self._deferred)

    @property
    def has_calls(self) -> bool:
        """Whether a handler is at work that will be answered for."""
        return bool(self._calls)

    def run_deferred(self) -> None:
        """Start what has waited for the event loop."""
        deferred, self._deferred = self._deferred, []
        if not self.finished:
            for function, arguments in deferred:
                function(*arguments)

    def _run_direct(self, endpoint: Endpoint, event: Any, values: tuple[Any, ...]) -> None:
        try:
            self.machine.respond(event.request, endpoint.encode(endpoint.function(*values), event))
        except (Exception, SystemExit) as error:
            self._failed(endpoint, event, error)

    def _run_sync(self, call: Call, values: tuple[Any, ...]) -> None:
        self._calls[call.request] = call
        if call.endpoint.inline:
            value, error = _run(call, values)
            if isinstance(error, KeyboardInterrupt):  # a signal: this is the main thread
                raise error
            self._settle(call, value, error)
            return

        def work() -> None:
            value, error = _run(call, values)
            self.host.post(self._settle, call, value, error)

        self.host.run_in_thread(work)

    def _run_async(self, endpoint: Endpoint, event: Any, values: tuple[Any, ...]) -> None:
        """Run a coroutine up to its first wait. Most end there and need nothing more."""
        handler = endpoint.handler
        if handler.plain:
            task = self.host.start_task(_contain(endpoint.function(*values)))
            if task.done():
                self._finish(endpoint, event, task)
                return
            call = Call(self, endpoint, event)
        else:
            call = Call(self, endpoint, event)
            positional, keywords = handler.arguments(values, Context(call))
            task = self.host.start_task(_contain(endpoint.function(*positional, **keywords)))
        self._watch(call, task)

    def _watch(self, call: Call, task: Any) -> None:
        self._calls[call.request] = call
        call.task = task
        if task.done():
            self._task_done(call, task)
        else:
            task.add_done_callback(lambda task: self._task_ended(call, task))

    def _task_ended(self, call: Call, task: Any) -> None:
        self._task_done(call, task)
        self.host.advance()

    def _finish(self, endpoint: Endpoint, event: Any, task: Any) -> None:
        try:
            self.machine.respond(event.request, endpoint.encode(task.result(), event))
        except BaseException as error:  # whatever the task ended with, cancellation too
            self._failed(endpoint, event, error)

    def _task_done(self, call: Call, task: Any) -> None:
        if task.cancelled():
            self._settle(call, None, RuntimeError("the handler was cancelled from within"))
        else:
            error = task.exception()
            self._settle(call, None if error else task.result(), error)

    def _settle(self, call: Call, value: Any, error: BaseException | None) -> None:
        """A handler came to an end: answer, ask, or nothing if it was stopped."""
        if call.stopped:
            return
        if isinstance(error, Unwind):
            self.ask(call)
        elif hasattr(value, "__await__"):
            # A sync function that gave an awaitable, such as a decorated async one.
            self._with_loop(self._start_late, call, value)
        else:
            self._calls.pop(call.request, None)
            if error is None:
                try:
                    self.machine.respond(call.request, call.endpoint.encode(value, call.event))
                except Exception as fault:
                    error = fault
            if error is not None:
                self._failed(call.endpoint, call.event, error)

    def _start_late(self, call: Call, awaitable: Any) -> None:
        self._watch(call, self.host.start_task(_contain(awaitable)))

    def _failed(self, endpoint: Endpoint, event: Any, error: BaseException) -> None:
        try:
            meant = endpoint.fail(self.machine, event, error, self.debug)
        except ConnectionClosedError:
            return
        except Exception as fault:  # what the error says cannot be sent either
            meant, error = False, fault
            self.machine.respond_error(event.request, native.INTERNAL_ERROR, "Internal error")
        if not meant:
            import logging

            logging.getLogger("barewire").error("handler %r failed", endpoint.key, exc_info=error)

    # ------------------------------------------------------------ questions

    def ask(self, call: Call) -> None:
        """Send the questions of a handler, then let it wait or unwind it."""
        if call.stopped or not call.pending:
            return
        endpoint = call.endpoint
        waits = not endpoint.inline and call.context.session is not None
        if not waits and not endpoint.inline and endpoint.resume == "memory":
            call.memory = os.urandom(16).hex()
        questions = [(question.key, question.kind, question.params) for question, _ in call.pending.values()]
        try:
            self.machine.require_input(call.request, questions, now(), call.state())
        except Exception as error:
            self._cannot_ask(call, error)
        else:
            if not waits:
                self._calls.pop(call.request, None)
                if call.memory:
                    self._wait_in_memory(call)
                else:
                    call.stop()

    def _cannot_ask(self, call: Call, error: Exception) -> None:
        if call.endpoint.inline:
            self._calls.pop(call.request, None)
            self._failed(call.endpoint, call.event, error)
        else:
            call.memory = ""
            call.refuse(error)

    def _wait_in_memory(self, call: Call) -> None:
        """Keep a handler waiting in this process; those that wait longest give way when too many do."""
        self._waiting[call.memory] = call
        if len(self._waiting) > _MOST_WAITING:
            self._waiting.pop(next(iter(self._waiting))).stop()

    def _resumes(self, event: Any) -> bool:
        """Whether a handler waits for this event: in legacy revisions, or by memory."""
        call = self._calls.get(event.request)
        if call is None and self._waiting:
            from ._questions import decode_state

            state = event.context.state
            call = None if state is None else self._waiting.pop(decode_state(state).memory, None)
            if call is not None:
                call.event, call.request, call.memory = event, event.request, ""
                self._calls[event.request] = call
        if call is None:
            return False
        call.resume(event.context)
        return True


class StreamConnection(Connection):
    """One peer of a server on a byte stream."""

    machine: native.Server

    def __init__(self, server: Server, host: Host) -> None:
        super().__init__(server, host, server._machine())

    def receive(self, data: bytes) -> None:
        """Take bytes of the peer and work on all that is complete."""
        try:
            events = self.machine.receive_data(data, now())
        except McpError:
            self._disconnected()
        else:
            self.dispatch(events)

    def receive_eof(self) -> None:
        """The peer sends no more; what is owed is still answered."""
        self._step(self.machine.receive_eof)

    def connection_lost(self) -> None:
        """Nothing can be sent any more."""
        self._step(self.machine.connection_lost)


async def _contain(awaitable: Any) -> Any:
    """Await a handler. A task would let its `SystemExit` through to whoever runs the event loop."""
    try:
        return await awaitable
    except SystemExit as error:
        raise RuntimeError(f"the handler would leave the program: {error!r}") from error


def _run(call: Call, values: tuple[Any, ...]) -> tuple[Any, BaseException | None]:
    """Run a sync handler: its value, or what it raised."""
    handler = call.endpoint.handler
    try:
        if handler.plain:
            return handler.function(*values), None
        positional, keywords = handler.arguments(values, SyncContext(call))
        return handler.function(*positional, **keywords), None
    except BaseException as error:
        return None, error
