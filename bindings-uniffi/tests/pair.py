"""A client and a server in one process: each step as a line, the same in every language.

usage: pair.py [REVISION]; without one, both sides speak all revisions.
"""

from __future__ import annotations

import sys

from barewire import (
    Client,
    ClientConfig,
    FailureKind,
    InputKind,
    InputQuestion,
    ListKind,
    McpError,
    RequestOptions,
    Server,
    ServerConfig,
    SubscriptionFilter,
)

COFFEE = '{"name": "coffee", "inputSchema": {"type": "object"}}'
TEA = '{"name": "tea", "inputSchema": {"type": "object"}}'
SUGAR = (
    '{"message": "Sugar?", "requestedSchema": '
    '{"type": "object", "properties": {"sugar": {"type": "boolean"}}, "required": ["sugar"]}}'
)
ANSWER = '{"action":"accept","content":{"sugar":true}}'

revisions = sys.argv[1:] or None
server = Server(
    ServerConfig(name="kitchen", version="1", seed=bytes(32), clock_origin=0, revisions=revisions)
)
client = Client(
    ClientConfig(name="guest", version="1", seed=b"\1" * 32, capabilities='{"elicitation":{}}'), 0
)


def refused(what, call):
    """Say how a call fails."""
    try:
        call()
    except McpError as error:
        code = getattr(error, "code", 0)
        print(f"{what}: {type(error).__name__.split('.')[-1]} {code}: {error.explanation}")


def serve(event):
    """Act as the kitchen."""
    if event.is_TOOL_CALLED():
        context = event.context
        if not context.input_answers:
            print(f"server: {event.name} {event.arguments}, round {context.round}")
            sent = server.progress(event.request, 1.0, 2.0, "grinding")
            print(f"server: progress sent {str(sent).lower()}")
            question = InputQuestion(key="sugar", kind=InputKind.ELICITATION, params=SUGAR)
            server.require_input(event.request, [question], 0, '{"cup":7}')
        else:
            answer = context.input_answers[0]
            print(f"server: answer {answer.key} {answer.result}, state {context.state}")
            server.respond(event.request, '{"content":[{"type":"text","text":"coffee"}]}')
    elif event.is_SUBSCRIPTION_OPENED():
        print(f"server: watched, tools {str(event.filter.tools).lower()}")
    elif event.is_MESSAGE_DISCARDED():
        print(f"server: discarded {event.violation} {event.bytes.hex()}")
    elif event.is_DRAINED():
        print(f"server: drained, abandoned {len(event.abandoned)}")
    elif event.is_DISCONNECTED():
        print(f"server: disconnected {event.reason.code}")


def listen(event):
    """Act as the guest."""
    if event.is_READY():
        print(f"client: ready {event.revision}, {','.join(event.capabilities.declared)}")
    elif event.is_PROGRESS_RECEIVED():
        print(f"client: progress {int(event.progress)}/{int(event.total)} {event.message}")
    elif event.is_INPUT_REQUIRED():
        asked = event.inputs[0]
        kind = "elicitation" if asked.kind == InputKind.ELICITATION else "something else"
        print(f"client: asked for {kind}, round {event.round}")
        client.provide_input(asked.input, ANSWER, 0)
    elif event.is_RESPONSE_RECEIVED():
        print(f"client: result {'coffee' if 'coffee' in event.result else event.result}")
    elif event.is_REQUEST_FAILED():
        rpc = str(event.error.kind == FailureKind.RPC).lower()
        print(f"client: failed {event.error.code}, rpc {rpc}")
    elif event.is_SUBSCRIPTION_ACKNOWLEDGED():
        print(f"client: watches, tools {str(event.honoured.tools).lower()}")
    elif event.is_LIST_CHANGED():
        print(f"client: changed, tools {str(event.kind == ListKind.TOOLS).lower()}")
    elif event.is_DISCONNECTED():
        print(f"client: disconnected {event.reason.code}")


def run():
    """Pass bytes to and fro until there are none."""
    while True:
        to_server, to_client = client.data_to_send(), server.data_to_send()
        for event in server.receive_data(to_server, 0) if to_server else server.events():
            serve(event)
        for event in client.receive_data(to_client, 0) if to_client else client.events():
            listen(event)
        if not to_server and not to_client:
            return


def main():
    server.add_tool(COFFEE)
    refused("no JSON", lambda: client.call_tool("coffee", "{", 0))
    refused("no such request", lambda: server.respond(99, "{}"))
    refused("no such tool", lambda: server.remove_tool("tea"))
    refused("a short seed", lambda: Server(ServerConfig(name="", version="", seed=b"1", clock_origin=0)))
    client.call_tool("coffee", '{"size":"large"}', 0, RequestOptions(progress=True))
    run()
    client.call_tool("juice", None, 0)
    run()
    client.subscribe(SubscriptionFilter(tools=True), 0)
    run()
    server.add_tool(TEA)
    run()
    for event in server.receive_data(b"\xff\xfe\n", 0):
        serve(event)
    # What the server has to say of it is of no interest here.
    server.data_to_send()
    client.close()
    run()
    for event in server.receive_eof(0):
        serve(event)
    server.data_to_send()
    finished = client.is_finished() and server.is_finished()
    print(f"finished {str(finished).lower()}")
    refused("too late", lambda: client.call_tool("coffee", None, 0))


main()
