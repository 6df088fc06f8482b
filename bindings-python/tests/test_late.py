"""asyncio without TLS, until TLS is used."""

from __future__ import annotations

import subprocess
import sys
import textwrap


def run(code: str) -> str:
    program = textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_tls_is_not_loaded_with_asyncio() -> None:
    code = """
        import sys
        from barewire._late import import_asyncio
        import_asyncio()
        import asyncio
        asyncio.run(asyncio.sleep(0))
        print("ssl" in sys.modules, "_ssl" in sys.modules)
    """
    assert run(code) == "True False"


def test_tls_works_once_it_is_used() -> None:
    code = """
        import sys
        from barewire._late import import_asyncio
        import_asyncio()
        import asyncio, ssl

        async def main():
            server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            try:
                await asyncio.open_connection("127.0.0.1", port, ssl=True)
            except (ssl.SSLError, ConnectionError) as error:
                print("refused")
            server.close()

        asyncio.run(main())
        from ssl import SSLContext, create_default_context
        import importlib
        print(isinstance(create_default_context(), SSLContext), type(ssl).__name__, ssl.__spec__.name)
        print(importlib.reload(ssl) is ssl, hasattr(ssl, "nothing"))
    """
    assert run(code).split() == ["refused", "True", "module", "ssl", "True", "False"]


def test_many_threads_at_once() -> None:
    code = """
        import threading
        from barewire._late import import_asyncio
        import_asyncio()
        import ssl
        start, found = threading.Barrier(8), []

        def use():
            start.wait()
            found.append(ssl.create_default_context())

        threads = [threading.Thread(target=use) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(len(found))
    """
    assert run(code) == "8"


def test_nothing_changes_when_tls_is_there_already() -> None:
    code = """
        import ssl
        from barewire._late import import_asyncio
        import_asyncio()
        import asyncio.sslproto
        print(type(ssl).__name__, type(asyncio.sslproto).__name__, asyncio.sslproto.SSLProtocol.__name__)
    """
    assert run(code) == "module module SSLProtocol"
