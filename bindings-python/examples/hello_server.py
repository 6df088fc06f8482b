"""The smallest server: one tool, on standard input and output."""

import barewire

server = barewire.Server("hello", version="1.0.0")


@server.tool
def greet(name: str) -> str:
    """Greet someone.

    Args:
        name: Whom to greet.
    """
    return f"Hello, {name}!"


if __name__ == "__main__":
    server.run()
