"""Carries out what an authorization machine asks for, beside the exchanges of a client."""

from __future__ import annotations

import inspect
import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from . import _native as native
from ._errors import AuthorizationError
from ._fetch import FAILURES, AddressRefused, TooLarge, fetch, is_inside, plain_client, refuse_inside
from ._token_store import StoredRecord

if TYPE_CHECKING:
    from ._client_host import Waker
    from ._http_client import Tasks
    from ._oauth import Grant

__all__ = ["Authorizer"]


def wall_clock() -> int:
    """Milliseconds since 1970, which is what the authorization machine counts in."""
    return int(time.time() * 1000)


class _Wait:
    """Somebody who waits for credentials."""

    def __init__(self, waker: Waker) -> None:
        self.waker = waker
        self.is_over = False
        self.error: AuthorizationError | None = None


class Authorizer:
    """The authorization of one client at one server. To be used in the tasks of its host."""

    def __init__(self, host: Tasks, grant: Grant, url: str) -> None:
        self._host = host
        self._grant = grant
        self._url = url
        self._key = grant._key(url)
        self._machine = grant._machine(url)
        self._http = grant._http or plain_client()
        #: Who waits, by number. Who has left is in it until the machine has settled it.
        self._waiting: dict[int, _Wait] = {}
        self._last = 0
        self._lock = _StoreLock(grant, self._key)
        #: Whether private addresses may be reached, once that is known.
        self._is_inside: bool | None = None
        #: What went wrong last while something was carried out, for whoever looks for the reason.
        self._failure: BaseException | None = None
        self._cancel_visit: Callable[[], object] | None = None
        self._cancel_timer: Callable[[], object] | None = None
        self._due: int | None = None

    # -- for the exchanges -----------------------------------------------------------------------------------

    async def credentials(self, method: str, url: str) -> tuple[list[tuple[str, str]], int]:
        """The headers that go with a request, and which token is in them. Raises AuthorizationError."""
        if not self._machine.is_ready(wall_clock()):
            await self._wait(lambda waiter: self._machine.acquire(waiter, wall_clock()))
        found = self._machine.credentials(method, url, wall_clock())
        headers = []
        if found.authorization is not None:
            headers.append(("authorization", found.authorization))
        if found.proof is not None:
            signature = self._grant._signer(found.proof)(found.proof.input)
            headers.append(("dpop", native.dpop_proof(found.proof, signature)))
        return headers, found.generation

    async def challenge(self, refused: native.AuthorizationRequired, generation: int) -> None:
        """A request was refused. Returns when it may be sent again; raises AuthorizationError."""
        await self._wait(
            lambda waiter: self._machine.challenge(
                waiter,
                refused.status,
                refused.challenges,
                generation,
                refused.operation,
                wall_clock(),
                dpop_nonce=refused.dpop_nonce,
            )
        )

    def note(self, status: int, headers: list[tuple[str, str]], generation: int) -> None:
        """A response has come."""
        if status == 401:
            return
        self._machine.note_success(generation)
        for name, value in headers:
            if name.lower() == "dpop-nonce":
                self._machine.note_nonce(value)

    async def aclose(self) -> None:
        """Give up what is under way."""
        self._machine.cancel(wall_clock())
        self._pump()
        self._lock.release()
        if self._grant._http is None:
            with anyio.CancelScope(shield=True):
                await self._http.aclose()

    async def _wait(self, begin: Callable[[int], None]) -> None:
        self._last += 1
        waiter = self._last
        wait = self._waiting[waiter] = _Wait(self._host.waker())
        begin(waiter)
        self._pump()
        while not wait.is_over:
            await wait.waker.wait()
        if wait.error is not None:
            raise wait.error

    # -- driving the machine ---------------------------------------------------------------------------------

    def _pump(self) -> None:
        """After anything has happened: do what there is to do, and tell who waits."""
        machine = self._machine
        while (action := machine.poll_action()) is not None:
            self._host.spawn(self._carry_out, action)
        while (event := machine.poll_event()) is not None:
            wait = self._waiting.pop(event.waiter, None)
            if wait is not None:
                wait.is_over = True
                if isinstance(event, native.AuthorizationRefused):
                    wait.error = event.error
                    wait.error.__cause__ = self._failure
                wait.waker.wake()
        if self._cancel_visit is not None and not machine.awaits_callback:
            cancel, self._cancel_visit = self._cancel_visit, None
            cancel()
        if self._lock.is_held and not self._waiting:
            self._lock.release()
        self._set_timer(machine.poll_timeout())

    def _set_timer(self, due: int | None) -> None:
        if due == self._due:
            return
        if self._cancel_timer is not None:
            self._cancel_timer()
            self._cancel_timer = None
        self._due = due
        if due is not None:
            self._cancel_timer = self._host.spawn(self._time_out, due)

    async def _time_out(self, due: int) -> None:
        while (left := due - wall_clock()) > 0:
            await anyio.sleep(left / 1000)
        self._due = self._cancel_timer = None
        self._machine.handle_timeout(wall_clock())
        self._pump()

    async def _carry_out(self, action: Any) -> None:
        failure = self._failure = None
        try:
            await _STEPS[type(action)](self, action)
        except (AddressRefused, TooLarge) as error:
            self._failure = _without_frames(error)
            failure = "forbidden" if isinstance(error, AddressRefused) else "too_large"
        except FAILURES as error:
            self._failure = _without_frames(error)
            failure = "unavailable"
        except Exception as error:  # of what the application has given
            self._failure = error
            failure = "declined" if type(action) in _OF_USERS else "unavailable"
            logging.getLogger("barewire").warning("an authorization failed", exc_info=True)
        if failure is not None:
            self._machine.fail_action(action.action, failure, wall_clock())  # type: ignore[arg-type]
        self._pump()

    # -- what there may be to do -----------------------------------------------------------------------------

    async def _load(self, action: native.LoadRecord) -> None:
        await self._lock.acquire()
        try:
            record = await to_thread.run_sync(self._grant._store.load, self._key)
        except BaseException:  # also when the client is closed meanwhile
            self._lock.release()
            raise
        self._machine.loaded(action.action, _parts(record), wall_clock())

    async def _save(self, action: native.SaveRecord) -> None:
        store = self._grant._store
        record = StoredRecord(action.generation, action.text)
        if await to_thread.run_sync(store.save, self._key, action.expected, record):
            self._machine.saved(action.action, wall_clock())
        else:
            current = await to_thread.run_sync(store.load, self._key)
            self._machine.save_conflicted(action.action, _parts(current), wall_clock())

    async def _send(self, action: native.SendRequest) -> None:
        await self._check_address(action.purpose, action.url)
        response = await fetch(
            self._http,
            action.method,
            action.url,
            action.headers,
            action.body,
            limit=action.response_bytes,
        )
        self._machine.receive_response(
            action.action, response.status, response.headers, response.body, wall_clock()
        )

    async def _check_address(self, purpose: str, url: str) -> None:
        """A server must not have this machine make requests to networks that it cannot reach itself."""
        allows = self._grant._allows
        if allows is not None:
            if not await to_thread.run_sync(allows, purpose, url):
                raise AddressRefused("the policy of the application forbids it")
            return
        if self._is_inside is None:
            self._is_inside = await is_inside(self._url)
        if not self._is_inside:
            await refuse_inside(url)

    async def _open_user_agent(self, action: native.OpenUserAgent) -> None:
        # It may take minutes, in which others shall not have to wait.
        self._lock.release()
        if not self._machine.awaits_callback:
            return  # it was given up meanwhile
        self._cancel_visit = self._host.spawn(self._visit, action)

    async def _visit(self, action: native.OpenUserAgent) -> None:
        failure = None
        try:
            came_back = await _call(self._grant._user_agent.visit, action.url)  # type: ignore[attr-defined]
            self._machine.receive_callback(came_back, wall_clock())
        except AuthorizationError as error:
            # Either it has failed by this, or it was none of ours, and nobody will bring another one.
            self._failure = error.__cause__
            failure = "declined"
        except Exception as error:
            self._failure = error
            failure = "declined"
            logging.getLogger("barewire").warning("the user could not be asked", exc_info=True)
        self._cancel_visit = None
        if failure is not None and self._machine.awaits_callback:
            self._machine.fail_action(action.action, "declined", wall_clock())
        self._pump()

    async def _sign(self, action: native.SignInput) -> None:
        sign = self._grant._signer(action.request)
        signature = await to_thread.run_sync(sign, action.request.input)
        self._machine.signed(action.action, signature, wall_clock())

    async def _provide_client(self, action: native.ProvideClient) -> None:
        grant: Any = self._grant
        client = await _call(grant._ask_client, action.issuer)
        grant._named.append(client)
        self._machine.client_provided(action.action, client._registration, wall_clock())

    async def _provide_assertion(self, action: native.ProvideAssertion) -> None:
        grant: Any = self._grant
        assertion = await _call(grant._assertion, action.issuer, action.resource)
        self._machine.assertion_provided(action.action, assertion, wall_clock())


_STEPS: dict[type, Callable[[Authorizer, Any], Any]] = {
    native.LoadRecord: Authorizer._load,
    native.SaveRecord: Authorizer._save,
    native.SendRequest: Authorizer._send,
    native.OpenUserAgent: Authorizer._open_user_agent,
    native.SignInput: Authorizer._sign,
    native.ProvideClient: Authorizer._provide_client,
    native.ProvideAssertion: Authorizer._provide_assertion,
}
#: Those whose failure is a decision of the user.
_OF_USERS = (native.OpenUserAgent, native.ProvideClient)


class _StoreLock:
    """The lock of a store, taken and given back in threads, because that may block."""

    def __init__(self, grant: Grant, key: str) -> None:
        self._grant = grant
        self._key = key
        self._held: Any = None
        # Who waits must not keep whoever holds it from the threads in which it does its work.
        self._threads = anyio.CapacityLimiter(1)

    @property
    def is_held(self) -> bool:
        """Whether it is ours."""
        return self._held is not None

    async def acquire(self) -> None:
        """Wait for it, unless it is ours already. When the task is cancelled meanwhile, nothing is held."""
        if self._held is not None:
            return
        lock: Any = self._grant._store.lock(self._key)
        guard = threading.Lock()
        is_wanted, is_entered = True, False

        def enter() -> None:
            nonlocal is_entered
            lock.__enter__()
            with guard:
                is_entered = True
                if is_wanted:
                    return
            _leave(lock)

        try:
            await to_thread.run_sync(enter, abandon_on_cancel=True, limiter=self._threads)
        except BaseException:
            with guard:
                is_wanted = False
                is_ours = is_entered
            if is_ours:
                _leave(lock)
            raise
        self._held = lock

    def release(self) -> None:
        """Give it back, if it is ours. It is not waited for, so that nothing can come in between."""
        held, self._held = self._held, None
        if held is not None:
            threading.Thread(target=_leave, args=(held,), name="barewire-unlock", daemon=True).start()


def _leave(held: Any) -> None:
    held.__exit__(None, None, None)


def _without_frames(error: BaseException) -> BaseException:
    """Nothing of where it came from: what reports errors may show variables, and those hold what was sent."""
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    return error


def _parts(record: StoredRecord | None) -> tuple[int, str] | None:
    return None if record is None else (record.generation, record.text)


async def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call what the application has given: a coroutine function, or another one, which may block."""
    if inspect.iscoroutinefunction(function):
        return await function(*arguments)
    outcome = await to_thread.run_sync(function, *arguments, abandon_on_cancel=True)
    return await outcome if inspect.isawaitable(outcome) else outcome
