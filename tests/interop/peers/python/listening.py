"""The command line of a peer server: nothing for stdio, `--http PORT` for Streamable HTTP, `--sse PORT` for
HTTP+SSE.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def serve(stdio: Callable[[], None], http: Callable[[], Any], sse: Callable[[], Any]) -> None:
    """Runs the server in one of its ways; `http` and `sse` make ASGI applications, with `/mcp` and `/sse`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int)
    parser.add_argument("--sse", type=int)
    options = parser.parse_args()
    if options.http is None and options.sse is None:
        stdio()
        return
    import uvicorn

    application = sse() if options.http is None else http()
    # A client that keeps its stream must not keep the server from ending.
    uvicorn.run(
        application,
        host="127.0.0.1",
        port=options.http or options.sse,
        log_level="error",
        timeout_graceful_shutdown=1,
    )
