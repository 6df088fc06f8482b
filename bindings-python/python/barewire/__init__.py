"""The Model Context Protocol: servers and clients over stdio and HTTP.

Names are imported when they are first used, so that `import barewire` costs next to nothing and
a server never loads what only a client needs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import sansio, sync, testing
    from ._aliases import LogLevel
    from ._answers import (
        ElicitRequest,
        SampleRequest,
        SamplingMessage,
    )
    from ._client import (
        Client,
        Subscription,
    )
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
    from ._engine import (
        Change,
        LogMessage,
        Progress,
    )
    from ._errors import (
        ApiMisuseError,
        AuthorizationError,
        ConnectionClosedError,
        ConnectionLostError,
        HttpStatusError,
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
        ServerUnavailableError,
        SessionLostError,
        ToolError,
        UnauthorizedError,
    )
    from ._hints import (
        Doc,
    )
    from ._introspection import (
        Introspection,
    )
    from ._native import (
        Limits,
        SubscriptionFilter,
        Timeouts,
    )

    __version__: str
    """The version of the package, and of the core in it."""
    from ._oauth import (
        ClientCredentials,
        EnterpriseManaged,
        OAuth,
        OAuthClient,
        WorkloadIdentity,
    )
    from ._protection import (
        Caller,
        ResourceServer,
        TokenVerifier,
        VerifierUnavailableError,
    )
    from ._questions import (
        ElicitResult,
        Root,
        SampleResult,
    )
    from ._results import (
        CallToolResult,
        CompleteResult,
        GetPromptResult,
        Implementation,
        ListResult,
        Problem,
        Prompt,
        PromptArgument,
        PromptMessage,
        ReadResourceResult,
        Resource,
        ResourceTemplate,
        Tool,
        ToolAnnotations,
        UnknownBlock,
    )
    from ._server import (
        Server,
    )
    from ._token_store import (
        FileTokenStore,
        KeyringTokenStore,
        MemoryTokenStore,
        StoredRecord,
        TokenStore,
    )
    from ._user_agent import (
        Browser,
        UserAgent,
    )
    from ._verifiers import (
        JwtVerifier,
    )


__all__ = [
    "Annotations",
    "ApiMisuseError",
    "Audio",
    "AuthorizationError",
    "Block",
    "Browser",
    "CallToolResult",
    "Caller",
    "Change",
    "Client",
    "ClientCredentials",
    "ClientInfo",
    "CompleteResult",
    "ConnectionClosedError",
    "ConnectionLostError",
    "Context",
    "Doc",
    "ElicitRequest",
    "ElicitResult",
    "EmbeddedResource",
    "EnterpriseManaged",
    "FileTokenStore",
    "GetPromptResult",
    "HttpStatusError",
    "Icon",
    "Image",
    "Implementation",
    "InputRefusedError",
    "Introspection",
    "InvalidAnswerError",
    "InvalidResultError",
    "JwtVerifier",
    "KeyringTokenStore",
    "LimitExceededError",
    "Limits",
    "ListResult",
    "LogLevel",
    "LogMessage",
    "McpError",
    "MemoryTokenStore",
    "Message",
    "MissingCapabilityError",
    "OAuth",
    "OAuthClient",
    "PeerIncompatibleError",
    "PeerMisbehavedError",
    "Problem",
    "Progress",
    "Prompt",
    "PromptArgument",
    "PromptMessage",
    "PromptResult",
    "ReadResourceResult",
    "RequestCancelledError",
    "RequestTimedOutError",
    "Resource",
    "ResourceContents",
    "ResourceLink",
    "ResourceNotFoundError",
    "ResourceServer",
    "ResourceTemplate",
    "Root",
    "RoundsExceededError",
    "RpcError",
    "SampleRequest",
    "SampleResult",
    "SamplingMessage",
    "Server",
    "ServerUnavailableError",
    "SessionLostError",
    "StoredRecord",
    "Subscription",
    "SubscriptionFilter",
    "SyncContext",
    "Text",
    "Timeouts",
    "TokenStore",
    "TokenVerifier",
    "Tool",
    "ToolAnnotations",
    "ToolError",
    "ToolResult",
    "UnauthorizedError",
    "UnknownBlock",
    "UserAgent",
    "VerifierUnavailableError",
    "WorkloadIdentity",
    "__version__",
    "sansio",
    "sync",
    "testing",
]

_MODULES = {
    "_aliases": ("LogLevel",),
    "_answers": (
        "ElicitRequest",
        "SampleRequest",
        "SamplingMessage",
    ),
    "_client": (
        "Client",
        "Subscription",
    ),
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
    "_engine": (
        "Change",
        "LogMessage",
        "Progress",
    ),
    "_errors": (
        "ApiMisuseError",
        "AuthorizationError",
        "ConnectionClosedError",
        "ConnectionLostError",
        "HttpStatusError",
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
        "ServerUnavailableError",
        "SessionLostError",
        "ToolError",
        "UnauthorizedError",
    ),
    "_hints": ("Doc",),
    "_introspection": ("Introspection",),
    "_native": (
        "Limits",
        "SubscriptionFilter",
        "Timeouts",
    ),
    "_oauth": ("ClientCredentials", "EnterpriseManaged", "OAuth", "OAuthClient", "WorkloadIdentity"),
    "_protection": ("Caller", "ResourceServer", "TokenVerifier", "VerifierUnavailableError"),
    "_questions": (
        "ElicitResult",
        "Root",
        "SampleResult",
    ),
    "_results": (
        "CallToolResult",
        "CompleteResult",
        "GetPromptResult",
        "Implementation",
        "ListResult",
        "Problem",
        "Prompt",
        "PromptArgument",
        "PromptMessage",
        "ReadResourceResult",
        "Resource",
        "ResourceTemplate",
        "Tool",
        "ToolAnnotations",
        "UnknownBlock",
    ),
    "_server": ("Server",),
    "_token_store": (
        "FileTokenStore",
        "KeyringTokenStore",
        "MemoryTokenStore",
        "StoredRecord",
        "TokenStore",
    ),
    "_user_agent": (
        "Browser",
        "UserAgent",
    ),
    "_verifiers": ("JwtVerifier",),
}
_SUBMODULES = ("sansio", "sync", "testing")
_HOME = {name: module for module, names in _MODULES.items() for name in names}


if not TYPE_CHECKING:  # a type checker shall know the names above, and no others

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name in _SUBMODULES:
            return import_module(f".{name}", __name__)
        module = "_native" if name == "__version__" else _HOME.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        kept_as = "VERSION" if name == "__version__" else name
        value: object = getattr(import_module(f".{module}", __name__), kept_as)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
