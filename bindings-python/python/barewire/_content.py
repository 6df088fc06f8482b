"""Content blocks, and the encoding of what a handler returns into the JSON of a result.

Everything is encoded straight to bytes; the core passes those on unchanged but for what a
revision of the peer does not know, which it drops or downgrades.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ._hints import Output, encode_hook, is_union
from ._plain import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable

Role = Literal["user", "assistant"]
_FIELDS = {"mime_type": "mimeType", "last_modified": "lastModified", "meta": "_meta"}

# ---------------------------------------------------------------- blocks


class Annotations(Struct, omit_defaults=True, frozen=True, rename=_FIELDS):
    """Hints on a block: for whom it is, how much it matters (0 to 1), when it changed (ISO 8601)."""

    audience: list[Role] | None = None
    priority: float | None = None
    last_modified: str | None = None


class Text(Struct, tag_field="type", tag="text", omit_defaults=True, frozen=True, rename=_FIELDS, gc=False):
    """A block of text."""

    text: str
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = None


class Image(Struct, tag_field="type", tag="image", omit_defaults=True, frozen=True, rename=_FIELDS, gc=False):
    """An image: its bytes (sent as Base64) and its media type, such as `image/png`."""

    data: bytes
    mime_type: str
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = None


class Audio(Struct, tag_field="type", tag="audio", omit_defaults=True, frozen=True, rename=_FIELDS, gc=False):
    """A sound: its bytes (sent as Base64) and its media type, such as `audio/wav`."""

    data: bytes
    mime_type: str
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = None


class ResourceContents(Struct, omit_defaults=True, frozen=True, rename=_FIELDS, gc=False):
    """What a resource holds: `text` when it really is text, otherwise `blob`."""

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: bytes | None = None
    meta: dict[str, Any] | None = None


class EmbeddedResource(
    Struct, tag_field="type", tag="resource", omit_defaults=True, frozen=True, rename=_FIELDS
):
    """A resource carried inside a result."""

    resource: ResourceContents
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = None


class Icon(Struct, omit_defaults=True, frozen=True, rename=_FIELDS):
    """An icon: an `https` or `data` URI, its media type, and sizes such as `48x48` or `any`."""

    src: str
    mime_type: str | None = None
    sizes: list[str] | None = None
    theme: Literal["light", "dark"] | None = None


class ResourceLink(
    Struct, tag_field="type", tag="resource_link", omit_defaults=True, frozen=True, rename=_FIELDS
):
    """A pointer to a resource that the client can read; it need not be listed."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    icons: list[Icon] | None = None
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = None


Block = Text | Image | Audio | EmbeddedResource | ResourceLink
_BLOCKS = (Text, Image, Audio, EmbeddedResource, ResourceLink)

# ---------------------------------------------------------------- whole results


class ToolResult(Struct, frozen=True):
    """A tool result spelled out, for what a bare return value cannot say.

    `content` may hold plain strings for text. `structured_content` is sent as it is and must
    fit the output schema of the tool, if it has one. Raise `ToolError` rather than setting
    `is_error`, unless an error needs more than text.
    """

    content: list[Block | str] = []
    structured_content: Any = UNSET
    is_error: bool = False
    meta: dict[str, Any] | None = None


class Message(Struct, frozen=True, omit_defaults=True):
    """One message of a prompt: who speaks (`user` or `assistant`), and one block or plain text."""

    role: Role
    content: Block | str


class PromptResult(Struct, frozen=True):
    """A prompt result spelled out: messages (plain strings speak as the user), and a description."""

    messages: list[Message | Block | str]
    description: str | None = None
    meta: dict[str, Any] | None = None


_encoder = msgspec.json.Encoder(enc_hook=encode_hook)
_encode = _encoder.encode
_TEXT, _END_TEXT = b'{"content":[{"type":"text","text":', b"}]}"
_END_STRUCTURED = b'}],"structuredContent":'
_WRAP = b'{"result":'


def text_result(text: str) -> bytes:
    """A tool result of one text block."""
    return _TEXT + _encode(text) + _END_TEXT


def error_result(text: str) -> bytes:
    """A tool result that says what went wrong."""
    return _TEXT + _encode(text) + b'}],"isError":true}'


def tool_encoder(hint: Any) -> tuple[Callable[[Any], bytes], Output | None]:
    """How the return values of a tool are encoded, and its output schema if it has one.

    Text, bytes, nothing and content blocks have no schema, and neither has an unknown type.
    Encoders raise `TypeError` or `ValueError` for a value that has no JSON form or breaks the
    output schema; that is a fault of the handler.
    """
    if hint is str:
        return _encode_blocks, None
    if _is_opaque(hint):
        return _encode_anything, None
    if _is_content(hint):
        return _encode_blocks, None
    output = Output(hint)
    return _structured_encoder(output), output


def _structured_encoder(output: Output) -> Callable[[Any], bytes]:
    encode_value, end = output.encode, b"}}" if output.wrapped else b"}"
    middle = _END_STRUCTURED + _WRAP if output.wrapped else _END_STRUCTURED

    def encode(value: Any) -> bytes:
        if isinstance(value, ToolResult):
            return _encode_result(value, output)
        encoded = encode_value(value)
        return b"".join((_TEXT, _as_text(encoded), middle, encoded, end))

    return encode


def _is_opaque(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        return _is_opaque(hint.__origin__)
    if hint is MISSING or hint is Any or hint is object or hint is ToolResult:
        return True
    # Content mixed with data: no one schema says what comes.
    members = get_args(hint)
    return bool(members) and _mentions_content(hint) and not _is_content(hint)


def _mentions_content(hint: Any) -> bool:
    if hint is ToolResult or hint in _BLOCKS:
        return True
    return any(_mentions_content(member) for member in get_args(hint))


def _is_content(hint: Any) -> bool:
    """Whether every value of a hint is text, bytes, nothing, or blocks and lists of them."""
    if hint is None or hint in (str, bytes, bytearray, type(None), *_BLOCKS):
        return True
    origin, members = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _is_content(members[0])
    if origin in (list, tuple) or getattr(origin, "__name__", "") in ("Sequence", "Iterable"):
        # A list of plain strings is data; it takes a block to make it content.
        return _mentions_content(hint) and all(_is_content(m) for m in members if m is not ...)
    if is_union(hint):
        return all(_is_content(member) for member in members)
    return False


def _encode_blocks(value: Any) -> bytes:
    """For hints that promise text or content: a list is a list of blocks."""
    if type(value) is str:
        return _TEXT + _encode(value) + _END_TEXT
    if isinstance(value, ToolResult):
        return _encode_result(value, None)
    if isinstance(value, (list, tuple)):
        return _encode({"content": [_block(item) for item in value]})
    if value is None:
        return b'{"content":[]}'
    return _encode({"content": [_block(value)]})


def _encode_anything(value: Any) -> bytes:
    """For unknown types: what the value itself says. Data without a schema is sent as text."""
    if isinstance(value, (str, ToolResult, bytes, bytearray, *_BLOCKS)) or value is None:
        return _encode_blocks(value)
    if isinstance(value, (list, tuple)) and any(isinstance(item, _BLOCKS) for item in value):
        return _encode_blocks(value)
    return _TEXT + _as_text(_encode(value)) + _END_TEXT


def _as_text(encoded: bytes) -> bytes:
    """JSON as the JSON of a string; a string stays what it is, without a second pair of quotes."""
    return encoded if encoded[:1] == b'"' else _encode(encoded.decode())


def _encode_result(result: ToolResult, output: Output | None) -> bytes:
    body: dict[str, Any] = {"content": [_block(item) for item in result.content]}
    structured = result.structured_content
    if not isinstance(structured, UnsetType):
        if output is not None and not result.is_error:
            encoded = output.check(structured)
        else:
            encoded = _encode(structured)
        body["structuredContent"] = msgspec.Raw(encoded)
        if not body["content"]:
            body["content"] = [{"type": "text", "text": msgspec.Raw(_as_text(encoded))}]
    elif output is not None and not result.is_error:
        raise ValueError("a tool with an output schema must give structured content")
    if result.is_error:
        body["isError"] = True
    if result.meta is not None:
        body["_meta"] = result.meta
    return _encode(body)


def _block(item: Any) -> Block:
    if isinstance(item, _BLOCKS):
        return item
    if isinstance(item, str):
        return Text(item)
    if isinstance(item, (bytes, bytearray)):
        # Bytes are not text and have no media type of their own: they travel as a resource.
        blob = bytes(item)
        return EmbeddedResource(ResourceContents("attachment:result", _BINARY, blob=blob))
    raise TypeError(f"a value of type {type(item).__name__} among content blocks")


_BINARY = "application/octet-stream"


def resource_result(value: Any, uri: str, mime_type: str | None) -> bytes:
    """The contents of a read resource.

    Text becomes `text` (`text/plain` unless said otherwise), bytes become `blob`
    (`application/octet-stream`), other values become JSON text (`application/json`).
    `ResourceContents`, alone or in a list, are sent as they are.
    """
    many = isinstance(value, (list, tuple)) and value
    if many and all(isinstance(item, ResourceContents) for item in value):
        return _encode({"contents": value})
    return _encode({"contents": [_contents(value, uri, mime_type)]})


def _contents(value: Any, uri: str, mime_type: str | None) -> ResourceContents:
    if isinstance(value, ResourceContents):
        return value
    if isinstance(value, str):
        return ResourceContents(uri, mime_type or "text/plain", text=value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return ResourceContents(uri, mime_type or _BINARY, blob=bytes(value))
    text = _encode(value).decode()
    return ResourceContents(uri, mime_type or "application/json", text=text)


def prompt_result(value: Any) -> bytes:
    """The messages of a prompt: from text, a block, a message, or a list of these."""
    body: dict[str, Any] = {}
    if isinstance(value, PromptResult):
        if value.description is not None:
            body["description"] = value.description
        if value.meta is not None:
            body["_meta"] = value.meta
        value = value.messages
    body["messages"] = as_messages(value)
    return _encode(body)


def as_messages(value: Any) -> list[Message]:
    """Messages from text, a block, a message, or a list of these; who does not say so is the user."""
    items = value if isinstance(value, (list, tuple)) else [value]
    return [_message(item) for item in items]


def _message(item: Any) -> Message:
    if not isinstance(item, Message):
        return Message("user", _block(item))
    if isinstance(item.content, str):
        return Message(item.role, Text(item.content))
    return item
