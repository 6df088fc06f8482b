"""Serving one peer over two descriptors: standard input and output, or any others.

A server starts as a blocking loop around `poll`, which answers everything that needs no event
loop: what the core answers itself, sync handlers inline and in worker threads. The first async
handler starts asyncio, which takes over from there; a server that needs none never pays for it.
"""

from __future__ import annotations

import _thread
import os
import select
import stat
import sys

from ._dispatch import StreamConnection, now

TYPE_CHECKING = False
if not TYPE_CHECKING:
    import _signal as signal  # without the enumerations around it, which are slow to make

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from typing import Any

    from ._server import Server
    from ._workers import Workers

_READ = 1 << 16
_MOST_POSTED = 64  # calls from other threads that may wait
_LINGER = 10_000  # milliseconds that a peer has to read the last answers
_CANCEL_GRACE = 2.0  # seconds that handlers have to end once they are cancelled


def serve_stdio(server: Server) -> None:
    """Serve standard input and output; returns when the peer is gone."""
    with _Streams() as streams:
        serve(server, streams.input, streams.output, signals=True)


async def serve_stdio_async(server: Server) -> None:
    """The same on the running asyncio loop."""
    with _Streams() as streams:
        await serve_async(server, streams.input, streams.output)


def serve(server: Server, source: int, target: int, *, signals: bool = False) -> None:
    """Serve one peer: read from descriptor `source`, write to `target`. Neither is closed."""
    host = Host(server, source, target)
    try:
        host.run(signals)
    finally:
        host.close()


async def serve_async(server: Server, source: int, target: int) -> None:
    """The same on the running asyncio loop."""
    host = Host(server, source, target)
    try:
        await host.run_async()
    finally:
        host.close()


class _Streams:
    """Standard input and output, taken out of reach of everything else.

    Descriptor 0 then reads from nothing and 1 writes to standard error, so that neither `print`
    nor C code nor a child process can touch the protocol. It stays that way afterwards: what C
    code has buffered may come out as late as the exit of the process. The copies are not inherited.
    """

    def __enter__(self) -> _Streams:
        if sys.stdout is not None:
            sys.stdout.flush()
        nothing = os.open(os.devnull, os.O_RDWR)
        if nothing > 2 and not _is_open(2):  # or the copies below would become standard error
            os.dup2(nothing, 2)
        self.input = os.dup(0)
        self.output = os.dup(1)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        if nothing > 2:
            os.close(nothing)
        sys.stdout = sys.stderr if sys.stderr is not None else open(1, "w", closefd=False)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.input)
        os.close(self.output)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


class Host:
    """Drives one connection over two descriptors, first blocking, then on asyncio if need be."""

    def __init__(self, server: Server, source: int, target: int) -> None:
        self.loop: Any = None
        self.has_loop = False
        self._server = server
        self.source = source
        self.writer = _Writer(target)
        self._posted: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        os.set_blocking(self._wake_read, False)
        self._wake_lock = _thread.RLock()  # a signal handler may come in between
        self.wake: Callable[[], None] = self._wake_poll
        # What an event loop does that takes over: watch the output, look after everything else.
        self.on_blocked: Callable[[], None] = _nothing
        self.on_advance: Callable[[], None] = _nothing
        self.start_task: Callable[[Any], Any] = _nothing  # there once `has_loop` is true
        self._workers: Workers | None = None
        self._blocked: list[Any] = []
        self._ended = False  # the input, or our interest in it
        self._stopped = False  # by a signal
        self._deadline: int | None = None  # for the last words, once the connection is finished
        self._thread = _thread.get_ident()
        self.connection = StreamConnection(server, self)
        self._machine = self.connection.machine
        server._connections.add(self.connection)

    def close(self) -> None:
        """Give back what was taken."""
        self._server._connections.discard(self.connection)
        self.writer.close()
        if self._workers is not None:
            self._workers.close()
        with self._wake_lock:  # worker threads may still be about to wake us
            os.close(self._wake_read)
            os.close(self._wake_write)
            self._wake_write = -1

    # ------------------------------------------------------------ what a connection asks of its host

    def is_congested(self, call: object) -> bool:
        # Worker threads that report faster than this thread comes to write have to wait as well.
        return self.writer.is_blocked or len(self._posted) > _MOST_POSTED

    def post(self, function: Callable[..., None], *arguments: Any) -> None:
        self._posted.append((function, arguments))
        self.wake()

    def call(self, function: Callable[..., None], *arguments: Any) -> None:
        if _thread.get_ident() == self._thread:
            function(*arguments)
        else:
            self.post(function, *arguments)

    def flush(self) -> None:
        if not self.writer.is_blocked and not self.send():
            self.on_blocked()

    def advance(self) -> None:
        self.on_advance()

    def send(self) -> bool:
        """Write as much as goes; false when the peer does not read fast enough."""
        writer = self.writer
        try:
            done = writer.send(self._machine.data_to_send)
        except OSError:
            self._lose()
            return True
        if done and self._blocked:
            blocked, self._blocked = self._blocked, []
            for waiter in blocked:
                if not waiter.done():
                    waiter.set_result(None)
        return done

    def _lose(self) -> None:
        """The peer reads no more: nothing that is still to be said can reach it."""
        self.writer.discard()
        self._ended = True
        self.connection.connection_lost()

    def write_all(self) -> None:
        while not self.send():
            self.writer.wait()

    async def wait_writable(self, call: object) -> None:
        waiter = self.loop.create_future()
        self._blocked.append(waiter)
        await waiter

    def when_writable(self, waiter: Any, call: object) -> None:
        if self.is_congested(call):
            self._blocked.append(waiter)
        else:
            waiter.set_result(None)

    def run_in_thread(self, function: Callable[[], None]) -> None:
        if self._workers is None:
            from ._workers import Workers

            self._workers = Workers()
        self._workers.submit(function)

    # ------------------------------------------------------------ shared by both loops

    def read(self) -> None:
        try:
            data = os.read(self.source, _READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.connection.receive(data)
        else:
            self._ended = True
            self.connection.receive_eof()

    def run_posted(self) -> None:
        posted = self._posted
        while posted:
            function, arguments = posted.pop(0)
            function(*arguments)

    def _stop(self, *_: object) -> None:
        """A signal: end in order, without waiting for handlers. A second one ends at once."""
        if self._stopped:
            raise KeyboardInterrupt
        self._stopped = self._ended = True
        self.post(self.connection.close)

    def settle(self) -> None:
        """Write, and take what only shows up once the end has come."""
        self.flush()
        if self._ended and not self.connection.finished:
            self.connection.take_events()
            self.flush()

    @property
    def reads(self) -> bool:
        """Whether input is wanted: not after its end, nor while too much waits to be sent."""
        return not self._ended and self._machine.wants_input

    @property
    def due(self) -> int | None:
        """When `handle_due` shall be called at the latest."""
        return self._deadline or self._machine.poll_timeout()

    def handle_due(self) -> None:
        """Let time pass."""
        self.connection.handle_timeout()

    @property
    def finished(self) -> bool:
        """Whether it is all over: nothing is left to say, or the peer has had its time to read it."""
        if not self.connection.finished:
            return False
        if self._deadline is None:
            self._deadline = now() + _LINGER
        return not self.writer.is_blocked or now() >= self._deadline

    # ------------------------------------------------------------ blocking

    def run(self, signals: bool) -> None:
        """Serve until the end, on the calling thread."""
        lifespan = self._server.lifespan
        manager: Any = _NoLifespan() if lifespan is None else lifespan(self._server)
        # Signals are caught throughout; an event loop that takes over catches them its own way.
        with _Signals(self._stop if signals else None, self._wake_write):
            if hasattr(manager, "__enter__"):
                with manager as self.connection.lifespan:
                    self._run_blocking()
                    if not self.finished:
                        self._run_in_new_loop(signals, None)
            else:
                self._run_in_new_loop(signals, manager)

    def _run_blocking(self) -> None:
        """Until the end, or until something needs an event loop."""
        connection, writer = self.connection, self.writer
        poller = select.poll()
        poller.register(self._wake_read, select.POLLIN)
        interest: dict[int, int] = {}
        while not self.finished and not connection.needs_loop:
            due = self.due
            _watch(poller, interest, self.source, select.POLLIN if self.reads else 0)
            _watch(poller, interest, writer.target, select.POLLOUT if writer.is_blocked else 0)
            for descriptor, _ in poller.poll(None if due is None else max(0, due - now())):
                if descriptor == self._wake_read:
                    _drain(self._wake_read)
                    self.run_posted()
                elif descriptor == writer.target and writer.is_blocked:
                    self.send()
                else:
                    self.read()
            if due is not None and due <= now():
                self.handle_due()
            self.settle()

    def _wake_poll(self) -> None:
        with self._wake_lock:
            try:
                if self._wake_write >= 0:
                    os.write(self._wake_write, b"\0")
            except BlockingIOError:  # it is full of wake-ups already
                return

    # ------------------------------------------------------------ asyncio

    async def run_async(self) -> None:
        """Serve until the end, on the running loop."""
        lifespan = self._server.lifespan
        manager: Any = _NoLifespan() if lifespan is None else lifespan(self._server)
        if hasattr(manager, "__aenter__"):
            await self._run_asyncio(manager)
        else:
            with manager as self.connection.lifespan:
                await self._run_asyncio(None)

    def _run_in_new_loop(self, signals: bool, manager: Any) -> None:
        from ._late import import_asyncio

        import_asyncio()
        import asyncio

        loop = asyncio.new_event_loop()
        try:
            asyncio.set_event_loop(loop)
            if signals:
                _handle_signals(loop, self._stop)
            loop.run_until_complete(self._run_asyncio(manager))
        finally:
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            if tasks:  # one that goes on in spite of being cancelled is left behind
                loop.run_until_complete(asyncio.wait(tasks, timeout=_CANCEL_GRACE))
            loop.run_until_complete(loop.shutdown_asyncgens())
            asyncio.set_event_loop(None)
            loop.close()

    async def _run_asyncio(self, manager: Any) -> None:
        if manager is None:
            await self._serve_asyncio()
        else:
            async with manager as self.connection.lifespan:
                await self._serve_asyncio()

    async def _serve_asyncio(self) -> None:
        from ._serve_asyncio import LoopDriver

        driver = LoopDriver(self)
        await driver.run()


def _nothing(*_: object) -> None:
    pass


def _watch(poller: select.poll, interest: dict[int, int], descriptor: int, mask: int) -> None:
    """Let a poller watch a descriptor for `mask`, or not at all."""
    if interest.get(descriptor, 0) != mask:
        if mask:
            poller.register(descriptor, mask)
        else:
            poller.unregister(descriptor)
        interest[descriptor] = mask


def _drain(descriptor: int) -> None:
    try:
        while len(os.read(descriptor, _READ)) == _READ:
            pass
    except BlockingIOError:
        return


def _handle_signals(loop: Any, stop: Callable[[], None]) -> None:
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
    except (ValueError, RuntimeError, NotImplementedError):  # not the main thread, or Windows
        return


class _NoLifespan:
    """The lifespan of a server that has none."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


class _Signals:
    """SIGINT and SIGTERM call `stop` and wake the poller, as long as this lasts."""

    def __init__(self, stop: Callable[..., None] | None, wake: int) -> None:
        self._stop = stop
        self._wake = wake
        self._before: list[tuple[int, Any]] = []

    def __enter__(self) -> _Signals:
        if self._stop is not None:
            try:
                self._wake_before = signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
                for number in (signal.SIGINT, signal.SIGTERM):
                    self._before.append((number, signal.signal(number, self._stop)))
            except ValueError:  # only the main thread of a program receives signals
                return self
        return self

    def __exit__(self, *_: object) -> None:
        if self._before:
            for number, handler in self._before:
                signal.signal(number, handler)
            signal.set_wakeup_fd(self._wake_before)


class _Writer:
    """The descriptor that is written to, without ever blocking on it.

    A pipe or terminal may be shared with other processes, and so would be the flag that makes
    writes return at once. It is therefore opened anew for us where the system can do that.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self.is_blocked = False
        self._rest: bytes | memoryview = b""
        self._own = -1
        self._restore = False
        if stat.S_ISREG(os.fstat(target).st_mode):
            return
        try:
            flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
            self._own = self.target = os.open(f"/proc/self/fd/{target}", flags)
        except OSError:  # a socket, or no such system
            self._restore = os.get_blocking(target)
            os.set_blocking(target, False)

    def send(self, fetch: Callable[[], bytes]) -> bool:
        """Write what is left and what `fetch` has; false if the other side does not keep up."""
        data = self._rest or fetch()
        while data:
            try:
                count = os.write(self.target, data)
            except BlockingIOError:
                count = 0
            if count < len(data):
                self._rest = memoryview(data)[count:]
                self.is_blocked = True
                return False
            data = fetch()
        self.discard()
        return True

    def discard(self) -> None:
        """Forget what could not be written."""
        self._rest = b""
        self.is_blocked = False

    def wait(self) -> None:
        """Block until something can be written."""
        poller = select.poll()
        poller.register(self.target, select.POLLOUT)
        poller.poll()

    def close(self) -> None:
        """Leave the descriptor as it was."""
        if self._own >= 0:
            os.close(self._own)
        elif self._restore:
            os.set_blocking(self.target, True)
