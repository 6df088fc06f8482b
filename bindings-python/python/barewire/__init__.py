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
    from ._hints import Doc

__all__ = [
    "Annotations",
    "Audio",
    "Block",
    "Doc",
    "EmbeddedResource",
    "Icon",
    "Image",
    "Message",
    "PromptResult",
    "ResourceContents",
    "ResourceLink",
    "Text",
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
    "_hints": ("Doc",),
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
