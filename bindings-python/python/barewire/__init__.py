"""The Model Context Protocol: servers and clients over stdio.

Names are imported when they are first used, so that `import barewire` costs next to nothing and
a server never loads what only a client needs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._content import (
        Annotations,
        Audio,
        Block,
        EmbeddedResource,
        Icon,
        Image,
        Message,
        PromptResult,
        ResourceContents,
        ResourceLink,
        Text,
        ToolResult,
    )
    from ._context import (
        ClientInfo,
        Context,
        SyncContext,
    )
    from ._errors import (
        ApiMisuseError,
        ConnectionClosedError,
        ConnectionLostError,
        InputRefusedError,
        InvalidAnswerError,
        InvalidResultError,
        LimitExceededError,
        McpError,
        MissingCapabilityError,
        PeerIncompatibleError,
        PeerMisbehavedError,
        RequestCancelledError,
        RequestTimedOutError,
        ResourceNotFoundError,
        RoundsExceededError,
        RpcError,
        ToolError,
    )
    from ._hints import (
        Doc,
    )
    from ._questions import (
        ElicitResult,
        Root,
        SampleResult,
    )
    from ._server import (
        Server,
    )

__all__ = [
    "Annotations",
    "ApiMisuseError",
    "Audio",
    "Block",
    "ClientInfo",
    "ConnectionClosedError",
    "ConnectionLostError",
    "Context",
    "Doc",
    "ElicitResult",
    "EmbeddedResource",
    "Icon",
    "Image",
    "InputRefusedError",
    "InvalidAnswerError",
    "InvalidResultError",
    "LimitExceededError",
    "McpError",
    "Message",
    "MissingCapabilityError",
    "PeerIncompatibleError",
    "PeerMisbehavedError",
    "PromptResult",
    "RequestCancelledError",
    "RequestTimedOutError",
    "ResourceContents",
    "ResourceLink",
    "ResourceNotFoundError",
    "Root",
    "RoundsExceededError",
    "RpcError",
    "SampleResult",
    "Server",
    "SyncContext",
    "Text",
    "ToolError",
    "ToolResult",
]

_MODULES = {
    "_content": (
        "Annotations",
        "Audio",
        "Block",
        "EmbeddedResource",
        "Icon",
        "Image",
        "Message",
        "PromptResult",
        "ResourceContents",
        "ResourceLink",
        "Text",
        "ToolResult",
    ),
    "_context": (
        "ClientInfo",
        "Context",
        "SyncContext",
    ),
    "_errors": (
        "ApiMisuseError",
        "ConnectionClosedError",
        "ConnectionLostError",
        "InputRefusedError",
        "InvalidAnswerError",
        "InvalidResultError",
        "LimitExceededError",
        "McpError",
        "MissingCapabilityError",
        "PeerIncompatibleError",
        "PeerMisbehavedError",
        "RequestCancelledError",
        "RequestTimedOutError",
        "ResourceNotFoundError",
        "RoundsExceededError",
        "RpcError",
        "ToolError",
    ),
    "_hints": ("Doc",),
    "_questions": (
        "ElicitResult",
        "Root",
        "SampleResult",
    ),
    "_server": ("Server",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


if not TYPE_CHECKING:  # a type checker shall know the names above, and no others

    def __getattr__(name: str) -> object:
        module = _HOME.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value: object = getattr(import_module(f".{module}", __name__), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
