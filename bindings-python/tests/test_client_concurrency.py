"""Many callers at once, callers that give up, and callbacks that are slow."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import barewire
import pytest
import trio
from barewire import sync
from barewire._carriage import StreamCarriage
from barewire._client import Client
from barewire._engine import Change, Changes, Progress
from barewire._errors import ConnectionLostError, McpError
from client_harness import FLAVOURS, PATIENCE, QUICK, raw_server
from test_client import ERAS, words


def new(mode: str = "both", *flags: str, **options: Any) -> Client:
    return Client(command=raw_server(mode, *flags), timeouts=QUICK, **options)


# proves: BASE-409
@pytest.mark.parametrize("era", list(ERAS))
def test_cancelling_the_task_cancels_the_call_asyncio(era: str) -> None:
    async def main() -> None:
        async with new(era) as client:
            call = asyncio.create_task(client.call_tool("hang"))
            with_progress = asyncio.create_task(client.call_tool("hang", on_progress=print))
            await client.call_tool("echo", {"text": ""})
            call.cancel()
            with_progress.cancel()
            for task in (call, with_progress):
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert words(await client.call_tool("cancelled")) == "2 0"

    asyncio.run(main())


@pytest.mark.parametrize("era", list(ERAS))
def test_cancelling_the_scope_cancels_the_call_trio(era: str) -> None:
    async def main() -> None:
        async with new(era) as client:
            with trio.move_on_after(0.05) as scope:
                await client.call_tool("hang")
            assert scope.cancelled_caught
            assert words(await client.call_tool("cancelled")) == "1 0"

    trio.run(main)


def test_an_interrupt_cancels_the_call_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    with sync.Client(command=raw_server(), timeouts=QUICK) as client:
        original = client._engine._next

        def interrupt(slot: Any) -> Any:
            monkeypatch.setattr(client._engine, "_next", original)
            raise KeyboardInterrupt

        monkeypatch.setattr(client._engine, "_next", interrupt)
        with pytest.raises(KeyboardInterrupt):
            client.call_tool("hang")
        assert words(client.call_tool("cancelled")) == "1 0"


@pytest.mark.parametrize("era", list(ERAS))
def test_many_calls_at_once_asyncio(era: str) -> None:
    async def main() -> None:
        async with new(era) as client:
            texts = [str(n) * (n % 7 * 1000) for n in range(200)]
            results = await asyncio.gather(*(client.call_tool("echo", {"text": text}) for text in texts))
            assert [words(result) for result in results] == texts

    asyncio.run(main())


def test_many_calls_at_once_trio() -> None:
    async def main() -> None:
        seen = {}

        async def call(client: Client, n: int) -> None:
            seen[n] = words(await client.call_tool("echo", {"text": str(n)}))

        async with new() as client, trio.open_nursery() as nursery:
            for n in range(200):
                nursery.start_soon(call, client, n)
        assert seen == {n: str(n) for n in range(200)}

    trio.run(main)


def test_many_threads_at_once_sync() -> None:
    seen: dict[int, str] = {}
    with sync.Client(command=raw_server(), timeouts=QUICK) as client:

        def call(n: int) -> None:
            for _ in range(20):
                seen[n] = words(client.call_tool("echo", {"text": str(n)}))

        threads = [threading.Thread(target=call, args=(n,)) for n in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    assert seen == {n: str(n) for n in range(16)}


@pytest.mark.parametrize("flavour", ["asyncio", "trio"])
def test_all_that_wait_fail_when_the_server_dies(flavour: str) -> None:
    failures: list[BaseException] = []

    async def expect_loss(client: Client) -> None:
        with pytest.raises(ConnectionLostError) as caught:
            await client.call_tool("hang")
        failures.append(caught.value)

    async def scenario(client: Client) -> None:
        if flavour == "asyncio":
            tasks = [asyncio.create_task(expect_loss(client)) for _ in range(20)]
            with pytest.raises(ConnectionLostError):
                await client.call_tool("die")
            await asyncio.gather(*tasks)
        else:
            async with trio.open_nursery() as nursery:
                for _ in range(20):
                    nursery.start_soon(expect_loss, client)
                with pytest.raises(ConnectionLostError):
                    await client.call_tool("die")

    started = time.monotonic()
    FLAVOURS[flavour](scenario, command=raw_server(), stderr="capture")
    assert len(failures) == 20
    assert time.monotonic() - started < PATIENCE / 2


def test_leaving_the_block_fails_the_calls_of_other_tasks() -> None:
    async def main() -> None:
        async with new() as client:
            call = asyncio.create_task(client.call_tool("hang"))
            await client.call_tool("echo", {"text": ""})
        with pytest.raises(McpError):
            await call
        with pytest.raises(McpError):
            await client.call_tool("echo", {"text": ""})

    asyncio.run(main())


def test_an_error_in_the_block_comes_out_as_it_is() -> None:
    async def main() -> None:
        async with new():
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(main())
    with pytest.raises(ZeroDivisionError):
        trio.run(main)


def test_a_cancelled_block_still_ends_its_server() -> None:
    clients = []

    async def main() -> None:
        async with new() as client:
            clients.append(client)
            await client.call_tool("hang")

    async def with_asyncio() -> None:
        await asyncio.wait_for(main(), 0.3)

    async def with_trio() -> None:
        with trio.move_on_after(0.3):
            await main()

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(with_asyncio())
    trio.run(with_trio)
    for client in clients:
        carriage = client._engine.carriage
        assert isinstance(carriage, StreamCarriage)
        link = carriage.link
        assert link is not None and link.exit_status is not None


@pytest.mark.parametrize("flavour", ["asyncio", "trio"])
def test_coroutine_functions_do_for_every_callback(flavour: str) -> None:
    seen: list[object] = []

    async def remember(value: object) -> None:
        seen.append(value)

    async def elicit(question: barewire.ElicitRequest) -> dict[str, str]:
        return {"name": question.message}

    async def scenario(client: Client) -> None:
        await client.call_tool("progress", {"n": 3}, on_progress=remember)
        assert [report.progress for report in seen if isinstance(report, Progress)] == [1, 2, 3]
        assert "Your name?" in words(await client.call_tool("ask"))
        await client.set_log_level("info")
        await client.call_tool("log")
        while len(seen) < 4:
            await client.call_tool("echo", {"text": ""})

    FLAVOURS[flavour](scenario, command=raw_server(), on_elicit=elicit, on_log=remember)


def test_the_blocking_client_refuses_coroutine_functions() -> None:
    async def remember(value: object) -> None:
        raise AssertionError

    with pytest.raises(TypeError, match="coroutine"), sync.Client(command=raw_server(), on_log=remember):
        pass


def test_a_handler_may_call_the_client_while_its_call_waits() -> None:
    async def main() -> None:
        async def elicit(question: barewire.ElicitRequest) -> dict[str, str]:
            return {"name": words(await client.call_tool("echo", {"text": "inner"}))}

        client = new(on_elicit=elicit)
        async with client:
            assert "inner" in words(await client.call_tool("ask"))

    asyncio.run(main())
    trio.run(main)


def test_a_question_withdrawn_stops_its_handler() -> None:
    async def main() -> None:
        asked, stopped = asyncio.Event(), asyncio.Event()

        async def elicit(question: barewire.ElicitRequest) -> dict[str, str]:
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()
            raise AssertionError

        async with new("legacy", on_elicit=elicit) as client:
            call = asyncio.create_task(client.call_tool("ask"))
            await asked.wait()
            with pytest.raises(ConnectionLostError):
                await client.call_tool("die")
            await asyncio.wait_for(stopped.wait(), PATIENCE)
            with pytest.raises(ConnectionLostError):
                await call

    asyncio.run(main())


@pytest.mark.parametrize("flavour", list(FLAVOURS))
def test_a_handler_that_never_returns_holds_up_no_end(flavour: str) -> None:
    asked, release = threading.Event(), threading.Event()

    def elicit(question: barewire.ElicitRequest) -> dict[str, str]:
        asked.set()
        release.wait(3 * PATIENCE)
        return {}

    async def scenario(client: Any) -> None:
        with pytest.raises(ConnectionLostError):
            await client.call_tool("ask_and_die")
        assert asked.is_set()

    started = time.monotonic()
    FLAVOURS[flavour](scenario, command=raw_server("legacy"), on_elicit=elicit)
    assert time.monotonic() - started < PATIENCE
    release.set()


def test_changes_that_nobody_takes_are_bounded() -> None:
    changes = Changes(lambda: None)
    for n in range(1500):
        changes.add(Change("resource", f"r://{n}"))
        changes.add(Change("resource", f"r://{n}"))
    assert changes.missed == 1500 - 1024
    assert changes.take() == Change("resource", f"r://{1500 - 1024}")


def test_a_slow_callback_holds_up_no_call() -> None:
    release = threading.Event()
    called = threading.Event()

    def slow(message: object) -> None:
        called.set()
        release.wait(PATIENCE)

    with sync.Client(command=raw_server(), timeouts=QUICK, on_log=slow) as client:
        client.set_log_level("info")
        client.call_tool("log")
        assert called.wait(PATIENCE)
        assert words(client.call_tool("echo", {"text": "on"})) == "on"
        release.set()
