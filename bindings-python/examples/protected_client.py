"""A client of a protected server: keeps a note there, and reads all of them.

usage: protected_client.py URL NOTE

The first time it opens a browser, for the user to log in and to consent. Afterwards it has tokens, which it
renews. It takes `pip install 'barewire[http]'`.
"""

import asyncio
import sys
from pathlib import Path

import barewire

TOKENS = Path.home() / ".local" / "state" / "notes-client"


async def main(url: str, note: str) -> None:
    auth = barewire.OAuth(client_name="Notes", store=barewire.FileTokenStore(TOKENS))
    try:
        async with barewire.Client(url, auth=auth) as client:
            await client.call_tool("add_note", {"text": note})
            result = await client.call_tool("read_notes")
            print(result.structured_content)
    except barewire.UnauthorizedError as error:
        sys.exit(f"not authorized: {error}")


asyncio.run(main(*sys.argv[1:]))
