"""A client and a server over HTTP in one process, without any socket.

usage: http_pair.py REVISION
"""

from __future__ import annotations

import sys

from barewire import (
    ClientConfig,
    ClientEvent,
    Endpoint,
    Header,
    HttpClient,
    HttpClientConfig,
    HttpServer,
    HttpServerConfig,
    RequestHead,
    ServerConfig,
    ServerEvent,
)

revisions = sys.argv[1:]
server = HttpServer(
    ServerConfig(name="kitchen", version="1", seed=bytes(32), clock_origin=0, revisions=revisions),
    HttpServerConfig(),
)
server.add_tool('{"name": "coffee", "inputSchema": {"type": "object"}}')
client = HttpClient(
    ClientConfig(name="guest", version="1", seed=b"\1" * 32),
    HttpClientConfig(url="http://localhost/mcp"),
    0,
)
# Exchanges of the server, by those of the client.
exchanges: dict[int, int] = {}
results: list[str] = []


def serve(events: list[ServerEvent]) -> None:
    for event in events:
        if event.is_TOOL_CALLED():
            server.respond(event.request, '{"content":[{"type":"text","text":"coffee"}]}')


def listen(events: list[ClientEvent]) -> None:
    for event in events:
        if event.is_READY():
            print(f"speaks {event.revision}")
        elif event.is_RESPONSE_RECEIVED():
            results.append(event.result)


def send() -> None:
    """Carry out what the client asks for."""
    while (transmit := client.poll_transmit(0)) is not None:
        if transmit.is_REQUEST():
            headers = [Header(name="host", value="localhost"), *transmit.headers]
            head = RequestHead(method=transmit.method, endpoint=Endpoint.STREAMABLE(), headers=headers)
            received = server.receive_whole(head, transmit.body, 0)
            exchanges[transmit.exchange] = received.exchange
            serve(received.events)
        else:
            serve(server.receive_abort(exchanges.pop(transmit.exchange), 0))


def answer() -> None:
    """Hand the client what the server has to say."""
    for exchange, of_server in list(exchanges.items()):
        while (part := server.poll_response(of_server)) is not None:
            if part.head is not None:
                listen(client.receive_head(exchange, part.head.status, part.head.headers, 0))
            if part.data:
                listen(client.receive_body(exchange, part.data, 0))
            if part.is_last:
                listen(client.receive_end(exchange, 0))
                del exchanges[exchange]
                break


client.call_tool("coffee", "{}", 0)
for _ in range(20):
    send()
    answer()
print(f"result {'coffee' if 'coffee' in results[0] else results}")
