"""The smallest client over HTTP: prints the tools of a server, and calls one if it is named.

usage: http_client.py URL [TOOL [ARGUMENTS AS JSON]]
"""

import asyncio
import json
import sys

import barewire


async def main(url: str, tool: str = "", arguments: str = "{}") -> None:
    try:
        async with barewire.Client(url) as client:
            print(f"speaks {client.revision}")
            async for offered in client.tools():
                print(f"{offered.name}: {offered.description}")
            if tool:
                result = await client.call_tool(tool, json.loads(arguments))
                for block in result.content:
                    print(block.text if isinstance(block, barewire.Text) else block)
    except barewire.UnauthorizedError:
        sys.exit("the server wants credentials: give the client `headers` or `auth`")
    except barewire.McpError as error:
        sys.exit(f"{url}: {error}")


asyncio.run(main(*sys.argv[1:]))
