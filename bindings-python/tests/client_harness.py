"""Runs one scenario, written once as a coroutine, with every flavour of client."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

import trio
from barewire import sync
from barewire._client import Client
from barewire._native import Timeouts

RAW_SERVER = [sys.executable, "-I", os.path.join(os.path.dirname(__file__), "raw_server.py")]
#: Long enough for a loaded machine; a passing test never waits for it.
PATIENCE = 60.0
QUICK = Timeouts(probe=60_000, handshake=60_000, child_exit=300, child_terminate=300)

Scenario = Callable[[Any], Coroutine[Any, Any, Any]]


def raw_server(*arguments: str) -> list[str]:
    """The command of a raw server."""
    return [*RAW_SERVER, *arguments]


class Facade:
    """A blocking object that can be awaited: every method is carried out at once."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        return (lambda *a, **k: Outcome(value(*a, **k))) if callable(value) else value

    async def __aenter__(self) -> Facade:
        self._target.__enter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        self._target.__exit__(*error)


class Outcome(Facade):
    """What a blocking method returned: to be awaited, entered or iterated, whatever it is."""

    def __await__(self) -> Any:
        return self._target
        yield

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        for item in self._target:
            return item
        raise StopAsyncIteration

    async def __aenter__(self) -> Outcome:
        self._target.__enter__()
        return self


def run_sync(scenario: Scenario, *server: Any, **options: Any) -> None:
    client = sync.Client(*server, timeouts=options.pop("timeouts", QUICK), **options)
    with client:
        try:
            scenario(Facade(client)).send(None)
        except StopIteration:
            return
        raise AssertionError("a blocking scenario suspended")


async def _main(scenario: Scenario, server: tuple[Any, ...], options: dict[str, Any]) -> None:
    async with Client(*server, timeouts=options.pop("timeouts", QUICK), **options) as client:
        await scenario(client)


def run_asyncio(scenario: Scenario, *server: Any, **options: Any) -> None:
    asyncio.run(_main(scenario, server, options))


def run_trio(scenario: Scenario, *server: Any, **options: Any) -> None:
    trio.run(_main, scenario, server, options)


Run = Callable[..., None]
FLAVOURS: dict[str, Run] = {"asyncio": run_asyncio, "trio": run_trio, "sync": run_sync}


async def until(true: Callable[[], object], wait: Callable[[], Awaitable[object]]) -> None:
    """Do something that lets others run until a condition holds."""
    for _ in range(10_000):
        if true():
            return
        await wait()
    raise AssertionError("it did not happen")
