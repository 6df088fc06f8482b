"""A server that wants access tokens: `python protected_server.py ISSUER [PORT]`, then http://127.0.0.1:8000/mcp.

ISSUER is the issuer identifier of an authorization server that gives tokens for this URL, with the scopes
`notes:read` and `notes:write`. It takes `pip install 'barewire[http,auth]'`.
"""

import sys
from collections import defaultdict

from barewire import Context, ResourceServer, Server

server = Server("notes", version="1.0.0")
notes: defaultdict[str, list[str]] = defaultdict(list)


@server.tool
async def read_notes(context: Context) -> list[str]:
    """The notes of whoever asks."""
    assert context.caller is not None
    return notes[context.caller.key]


@server.tool(scopes=["notes:write"])
async def add_note(text: str, context: Context) -> str:
    """Keep a note."""
    assert context.caller is not None
    notes[context.caller.key].append(text)
    return f"kept for {context.caller.subject}"


if __name__ == "__main__":
    issuer, port = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8000
    auth = ResourceServer(f"http://127.0.0.1:{port}/mcp", issuer, scopes=["notes:read"])
    server.run_http(port=port, auth=auth)
