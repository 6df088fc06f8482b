"""What a server answers, as typed values that lose nothing.

Lists and content are read item by item: what is good is delivered, and what is not is told in `problems`,
each with its index, member and reason. Whatever was received keeps its JSON: `raw` is the text as it came,
`extra` holds the members that have no attribute here. `null` in an optional member reads as absent. Integers
are exact at any size; for numbers with more digits than a float holds there is `raw`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import force_setattr, replace

from ._content import (
    Annotations,
    Audio,
    EmbeddedResource,
    Icon,
    Image,
    ResourceContents,
    ResourceLink,
    Role,
    Text,
)

if TYPE_CHECKING:
    from . import _native as native

__all__ = [
    "CallToolResult",
    "CompleteResult",
    "Content",
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
]

_decode = msgspec.json.decode
_members_decoder = msgspec.json.Decoder(dict[str, Raw])
#: Members of a received value that hold what this module keeps with it; no JSON name of the protocol has this
#: form.
_HIDDEN = {"_raw": "(raw)"}


def wire_name(attribute: str) -> str:
    """``input_schema`` -> ``inputSchema``; the two names that no rule gives are spelled out."""
    if attribute == "meta":
        return "_meta"
    first, *others = attribute.split("_")
    return _HIDDEN.get(attribute) or first + "".join(word.capitalize() for word in others)


class Problem(Struct, frozen=True):
    """Something in a result that could not be read."""

    #: The position in the list or content, from 0; None when it is a member of the result itself.
    index: int | None
    #: The member, such as ``inputSchema`` or ``annotations.priority``; empty when it is the item as a whole.
    path: str
    #: What is wrong with it.
    reason: str
    #: The JSON of the item, or of the whole result, as it came.
    raw: bytes
    #: True when the item was left out; False when it was delivered without this optional member.
    rejected: bool = True

    def __str__(self) -> str:
        place = self.path if self.index is None else f"[{self.index}] {self.path}".rstrip()
        return f"{place}: {self.reason}" if place else self.reason


class Received:
    """Mixed into everything that a server sent."""

    __slots__ = ()

    _raw: Raw

    @property
    def raw(self) -> bytes:
        """The JSON text as it came."""
        return bytes(self._raw)

    @property
    def extra(self) -> dict[str, Any]:
        """The members that have no attribute here."""
        mine: Any = self
        known = {*mine.__struct_encode_fields__, mine.__struct_config__.tag_field}
        members = _members_decoder.decode(self._raw).items()
        return {name: _decode(raw) for name, raw in members if name not in known}

    def __eq__(self, other: object) -> bool:
        """Equal to the same value received or made, whatever its `extra`."""
        if type(other) not in type(self).__mro__ and not isinstance(other, type(self)):
            return NotImplemented
        return all(value == getattr(other, name) for name, value in self._values())

    # Most hold dictionaries. None is hashable, so that it does not depend on what a server sent.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self._values() if value is not None)
        return f"{type(self).__name__.removeprefix('Received')}({shown})"

    def _values(self) -> Iterator[tuple[str, Any]]:
        mine: Any = self
        return ((name, getattr(self, name)) for name in mine.__struct_fields__ if name != "_raw")


# ---------------------------------------------------------------- content


class ReceivedText(Received, Text, frozen=True, kw_only=True, gc=False, tag="text", rename=_HIDDEN):
    """A :class:`Text` that a server sent."""

    _raw: Raw = Raw()


class ReceivedImage(Received, Image, frozen=True, kw_only=True, gc=False, tag="image", rename=_HIDDEN):
    """An :class:`Image` that a server sent."""

    _raw: Raw = Raw()


class ReceivedAudio(Received, Audio, frozen=True, kw_only=True, gc=False, tag="audio", rename=_HIDDEN):
    """An :class:`Audio` that a server sent."""

    _raw: Raw = Raw()


class ReceivedEmbeddedResource(
    Received, EmbeddedResource, frozen=True, kw_only=True, tag="resource", rename=_HIDDEN
):
    """An :class:`EmbeddedResource` that a server sent."""

    _raw: Raw = Raw()


class ReceivedResourceLink(
    Received, ResourceLink, frozen=True, kw_only=True, tag="resource_link", rename=_HIDDEN
):
    """A :class:`ResourceLink` that a server sent."""

    _raw: Raw = Raw()


class UnknownBlock(Received, Struct, frozen=True, rename=_HIDDEN):
    """A content block of a type that is not known here. `raw` is all of it, and `extra` all but its type."""

    type: str
    _raw: Raw = Raw()


_KnownBlock: TypeAlias = (
    ReceivedText | ReceivedImage | ReceivedAudio | ReceivedEmbeddedResource | ReceivedResourceLink
)
Content: TypeAlias = _KnownBlock | UnknownBlock
"""A content block of a result. ``isinstance(block, barewire.Text)`` and the like tell which it is."""


class ReceivedResourceContents(
    Received, ResourceContents, frozen=True, kw_only=True, gc=False, rename=_HIDDEN
):
    """The :class:`ResourceContents` that a server sent: `text`, or `blob` with the decoded bytes."""

    _raw: Raw = Raw()


# ---------------------------------------------------------------- items of lists


class ToolAnnotations(Struct, frozen=True, rename=wire_name):
    """What a tool says of itself, as it says it: hints, no promises. See :class:`Tool` for what they amount
    to.
    """

    title: str | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


class Tool(Received, Struct, frozen=True, kw_only=True, rename=wire_name):
    """A tool as the server lists it."""

    name: str
    input_schema: dict[str, Any]
    title: str | None = None
    description: str | None = None
    output_schema: dict[str, Any] | None = None
    annotations: ToolAnnotations | None = None
    icons: list[Icon] | None = None
    meta: dict[str, Any] | None = None
    _raw: Raw = Raw()

    # What the hints amount to, with the defaults of the specification (schema, ToolAnnotations). They come
    # from the server, so that nothing should depend on them unless the server is trusted.

    @property
    def read_only(self) -> bool:
        """Whether the tool says that it changes nothing."""
        return bool(self.annotations and self.annotations.read_only_hint)

    @property
    def destructive(self) -> bool:
        """Whether the tool may destroy something: unless it says that it does not, or changes nothing."""
        hint = self.annotations.destructive_hint if self.annotations else None
        return not self.read_only and hint is not False

    @property
    def idempotent(self) -> bool:
        """Whether the tool says that calling it again changes nothing more."""
        return self.read_only or bool(self.annotations and self.annotations.idempotent_hint)

    @property
    def open_world(self) -> bool:
        """Whether the tool may deal with the world outside: unless it says that it does not."""
        hint = self.annotations.open_world_hint if self.annotations else None
        return hint is not False

    @property
    def output_schema_fault(self) -> str | None:
        """Why the output schema cannot be used, or None. Only its keyword ``type`` is looked at."""
        return _schema_fault(self.output_schema)


class Resource(Received, Struct, frozen=True, kw_only=True, rename=wire_name):
    """A resource as the server lists it. `size` is in bytes."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | None = None
    icons: list[Icon] | None = None
    meta: dict[str, Any] | None = None
    _raw: Raw = Raw()


class ResourceTemplate(Received, Struct, frozen=True, kw_only=True, rename=wire_name):
    """A family of resources; `uri_template` is to be expanded as RFC 6570 says."""

    uri_template: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    annotations: Annotations | None = None
    icons: list[Icon] | None = None
    meta: dict[str, Any] | None = None
    _raw: Raw = Raw()


class PromptArgument(Struct, frozen=True, kw_only=True, rename=wire_name):
    """An argument that a prompt takes."""

    name: str
    title: str | None = None
    description: str | None = None
    required: bool | None = None


class Prompt(Received, Struct, frozen=True, kw_only=True, rename=wire_name):
    """A prompt as the server lists it."""

    name: str
    title: str | None = None
    description: str | None = None
    arguments: list[PromptArgument] | None = None
    icons: list[Icon] | None = None
    meta: dict[str, Any] | None = None
    _raw: Raw = Raw()


class Implementation(Received, Struct, frozen=True, kw_only=True, rename=wire_name):
    """Who a server says it is."""

    name: str
    version: str
    title: str | None = None
    description: str | None = None
    website_url: str | None = None
    icons: list[Icon] | None = None
    _raw: Raw = Raw()


class PromptMessage(Struct, frozen=True):
    """One message of a prompt."""

    role: Role
    content: Content


# ---------------------------------------------------------------- whole results


class Result:
    """What all results have."""

    __slots__ = ("_raw", "problems")

    _known: ClassVar[frozenset[str]] = frozenset()
    #: Properties that the representation shows beside the plain attributes.
    _shown: ClassVar[tuple[str, ...]] = ()

    def __init__(self, raw: bytes, problems: list[Problem]) -> None:
        self._raw = raw
        #: What could not be read. Empty, as a rule.
        self.problems: tuple[Problem, ...] = tuple(problems)

    @property
    def raw(self) -> bytes:
        """The JSON text of the result as it came."""
        return self._raw

    @property
    def meta(self) -> dict[str, Any] | None:
        """The ``_meta`` of the result."""
        meta = self._member("_meta")
        return meta if isinstance(meta, dict) else None

    @property
    def extra(self) -> dict[str, Any]:
        """The members of the result that have no attribute here."""
        members = _members_decoder.decode(self._raw).items()
        return {name: _decode(raw) for name, raw in members if name not in self._known and name != "_meta"}

    def _member(self, name: str) -> Any:
        raw = _members_decoder.decode(self._raw).get(name)
        return None if raw is None else _decode(raw)

    def __repr__(self) -> str:
        names = [name for kind in type(self).__mro__[:-2] for name in kind.__dict__.get("__slots__", ())]
        names = [name for name in names if not name.startswith("_")]
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in [*names, *self._shown])
        return f"{type(self).__name__}({shown})"


class CallToolResult(Result):
    """What a tool answered. With `is_error` the content says what went wrong."""

    __slots__ = ("_structured", "content", "is_error")

    _known = frozenset({"content", "structuredContent", "isError"})
    _shown = ("raw_structured_content",)  # as text, which no number in it can keep from being shown

    def __init__(
        self,
        raw: bytes,
        problems: list[Problem],
        content: list[Content],
        structured: Raw | UnsetType,
        is_error: bool,
    ) -> None:
        super().__init__(raw, problems)
        self.content = content
        self.is_error = is_error
        self._structured = structured

    @property
    def structured_content(self) -> Any:
        """The structured content, or None. It is not checked against the tool's output schema."""
        return None if isinstance(self._structured, UnsetType) else _decode(self._structured)

    @property
    def raw_structured_content(self) -> bytes | None:
        """The JSON text of the structured content; None when there is none, which ``null`` is not."""
        return None if isinstance(self._structured, UnsetType) else bytes(self._structured)


class ReadResourceResult(Result):
    """What a resource holds: usually one item, more for a resource that stands for several."""

    __slots__ = ("contents",)

    _known = frozenset({"contents"})

    def __init__(self, raw: bytes, problems: list[Problem], contents: list[ReceivedResourceContents]) -> None:
        super().__init__(raw, problems)
        self.contents = contents


class GetPromptResult(Result):
    """A prompt filled in with its arguments."""

    __slots__ = ("description", "messages")

    _known = frozenset({"description", "messages"})

    def __init__(
        self, raw: bytes, problems: list[Problem], messages: list[PromptMessage], description: str | None
    ) -> None:
        super().__init__(raw, problems)
        self.messages = messages
        self.description = description


class CompleteResult(Result):
    """Suggestions for an argument. `total` counts those not sent as well; `has_more` says there are some."""

    __slots__ = ("has_more", "total", "values")

    _known = frozenset({"completion"})

    def __init__(
        self, raw: bytes, problems: list[Problem], values: list[str], total: int | None, has_more: bool | None
    ) -> None:
        super().__init__(raw, problems)
        self.values = values
        self.total = total
        self.has_more = has_more


T = TypeVar("T")


class ListResult(Result, Generic[T]):
    """One page of a list. It can be iterated and indexed; `next_cursor` asks for the next page, if there is
    one.
    """

    __slots__ = ("_member_name", "items", "next_cursor")

    def __init__(
        self, raw: bytes, problems: list[Problem], items: list[T], next_cursor: str | None, member: str
    ) -> None:
        super().__init__(raw, problems)
        self.items = items
        #: None at the end. An empty string is a cursor like any other.
        self.next_cursor = next_cursor
        self._member_name = member

    @property
    def extra(self) -> dict[str, Any]:
        """The members of the result that have no attribute here."""
        return {
            name: value
            for name, value in super().extra.items()
            if name not in ("nextCursor", self._member_name)
        }

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> T:
        return self.items[index]


# ---------------------------------------------------------------- reading


class _ToolResult(Struct, rename=wire_name):
    content: list[Raw] | None = None
    structured_content: Raw | UnsetType = UNSET
    is_error: bool | None = None


class _ReadResult(Struct):
    contents: list[Raw] | None = None


class _PromptResult(Struct):
    messages: list[Raw] | None = None
    description: str | None = None


class _Message(Struct):
    role: Role
    content: Raw


class _CompletionResult(Struct):
    completion: Raw | UnsetType = UNSET


class _Completion(Struct, rename=wire_name):
    values: list[Raw] | None = None
    total: int | None = None
    has_more: bool | None = None


class _Page(Struct, rename=wire_name):
    next_cursor: str | None = None


class _Tag(Struct):
    type: str


class Reader(Generic[T]):
    """Reads values of one struct type: at once when they are sound, member by member when not."""

    __slots__ = ("_decoder", "_essential", "_type")

    def __init__(self, type_: Any, essential: tuple[str, ...] = ()) -> None:
        self._type = type_
        self._decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(type_)
        self._essential = essential

    def read(self, raw: Raw | bytes, index: int | None, problems: list[Problem]) -> T | None:
        """The value, or None when it had to be rejected. `problems` gets what was wrong."""
        try:
            return self._decoder.decode(raw)
        except msgspec.DecodeError as error:
            return self._read_leniently(raw, index, problems, error)

    def item(self, raw: Raw, index: int | None, problems: list[Problem]) -> T | None:
        """As :meth:`read`, for a received value, which keeps its JSON."""
        value = self.read(raw, index, problems)
        if value is not None:
            force_setattr(value, "_raw", raw)  # type: ignore[arg-type]
        return value

    def _read_leniently(
        self, raw: Raw | bytes, index: int | None, problems: list[Problem], error: msgspec.DecodeError
    ) -> T | None:
        """Leave out one optional member after the other for as long as it is one that is wrong."""
        try:
            members = _members_decoder.decode(raw)
        except msgspec.DecodeError:
            problems.append(_problem(error, index, raw))
            return None
        left_out: list[Problem] = []
        while True:
            problem = _problem(error, index, raw)
            member = problem.path.partition(".")[0].partition("[")[0]
            if member not in members or member not in self._optional():
                problems.append(problem)
                return None
            del members[member]
            left_out.append(_problem(error, index, raw, rejected=False))
            try:
                value = self._decoder.decode(msgspec.json.encode(members))
            except msgspec.DecodeError as next_error:
                error = next_error
            else:
                problems.extend(left_out)
                return value

    def _optional(self) -> set[str]:
        fields = msgspec.structs.fields(self._type) if isinstance(self._type, type) else ()
        return {
            field.encode_name for field in fields if not field.required and field.name not in self._essential
        }


class _BlockReader(Reader[_KnownBlock]):
    """Reads content blocks, of which there are known and unknown types."""

    __slots__ = ("_by_tag",)

    def __init__(self) -> None:
        super().__init__(_KnownBlock)
        kinds: Any = _KnownBlock
        self._by_tag = {str(kind.__struct_config__.tag): Reader[_KnownBlock](kind) for kind in kinds.__args__}

    def block(self, raw: Raw, index: int | None, problems: list[Problem]) -> Content | None:
        """The block, or None when it had to be rejected."""
        try:
            block: Content | None = self._decoder.decode(raw)
        except msgspec.DecodeError:
            block = self._odd_block(raw, index, problems)
        if block is not None:
            force_setattr(block, "_raw", raw)
        return block

    def _odd_block(self, raw: Raw, index: int | None, problems: list[Problem]) -> Content | None:
        try:
            tag = _decode(raw, type=_Tag).type
        except msgspec.DecodeError as error:
            problems.append(_problem(error, index, raw))
            return None
        reader = self._by_tag.get(tag)
        return UnknownBlock(tag) if reader is None else reader.read(raw, index, problems)


_blocks = _BlockReader()
read_block = _blocks.block
_contents = Reader[ReceivedResourceContents](ReceivedResourceContents, essential=("text", "blob"))
_tool_result = Reader[_ToolResult](_ToolResult)
_read_result = Reader[_ReadResult](_ReadResult)
_prompt_result = Reader[_PromptResult](_PromptResult)
_message = Reader[_Message](_Message)
_completion_result = Reader[_CompletionResult](_CompletionResult)
_completion = Reader[_Completion](_Completion)
_strings = msgspec.json.Decoder(str)
_page = Reader[_Page](_Page)
_implementation = Reader[Implementation](Implementation)
#: The lists of a server: the kind of their items, and the member of a page that holds them.
LISTS: dict[str, tuple[type[Any], str]] = {
    "tools": (Tool, "tools"),
    "resources": (Resource, "resources"),
    "resource_templates": (ResourceTemplate, "resourceTemplates"),
    "prompts": (Prompt, "prompts"),
}
_READERS: dict[type[Any], Reader[Any]] = {kind: Reader(kind) for kind, _ in LISTS.values()}


def read_implementation(raw: bytes | None) -> Implementation | None:
    """Who a server is, or None when it does not say so in a readable way."""
    return None if raw is None else _implementation.item(Raw(raw), None, [])


def read_call(raw: bytes) -> CallToolResult:
    """The result of a tool call."""
    problems: list[Problem] = []
    wire = _tool_result.read(raw, None, problems) or _ToolResult()
    content = [
        block
        for index, item in enumerate(wire.content or ())
        if (block := _blocks.block(item, index, problems)) is not None
    ]
    return CallToolResult(raw, problems, content, wire.structured_content, wire.is_error or False)


def read_resource(raw: bytes) -> ReadResourceResult:
    """The result of reading a resource."""
    problems: list[Problem] = []
    wire = _read_result.read(raw, None, problems) or _ReadResult()
    return ReadResourceResult(raw, problems, _items(wire.contents, _contents, problems))


def read_prompt(raw: bytes) -> GetPromptResult:
    """The result of getting a prompt."""
    problems: list[Problem] = []
    wire = _prompt_result.read(raw, None, problems) or _PromptResult()
    messages: list[PromptMessage] = []
    for index, item in enumerate(wire.messages or ()):
        message = _message.read(item, index, problems)
        if message is not None and (block := _blocks.block(message.content, index, problems)) is not None:
            messages.append(PromptMessage(message.role, block))
    return GetPromptResult(raw, problems, messages, wire.description)


def read_completion(raw: bytes) -> CompleteResult:
    """The result of a completion."""
    problems: list[Problem] = []
    outer = _completion_result.read(raw, None, problems) or _CompletionResult()
    inner = b"{}" if isinstance(outer.completion, UnsetType) else outer.completion
    wire = _completion.read(inner, None, problems) or _Completion()
    values: list[str] = []
    for index, item in enumerate(wire.values or ()):
        try:
            values.append(_strings.decode(item))
        except msgspec.DecodeError as error:
            problems.append(_problem(error, index, item))
    return CompleteResult(raw, problems, values, wire.total, wire.has_more)


def read_list(
    raw: bytes, kind: type[T], member: str, omitted: Sequence[native.ToolOmitted] = ()
) -> ListResult[T]:
    """A page of a list of `kind`, whose items are in `member` of the result.

    What the core has left out of it, in the order of the list, is told among the problems.
    """
    problems: list[Problem] = []
    page = _page.read(raw, None, problems) or _Page()
    items: list[Raw] = []
    try:
        listed = _members_decoder.decode(raw).get(member)
        if listed is None:
            problems.append(Problem(None, member, f"Object missing required field `{member}`", raw))
        else:
            items = _decode(listed, type=list[Raw])
    except msgspec.DecodeError as error:
        problems.append(Problem(None, member, _problem(error, None, raw).reason, raw))
    read = _items(items, _READERS[kind], problems)
    for tool in omitted:
        problems = [_moved(problem, tool.index) for problem in problems]
        problems.append(Problem(tool.index, tool.path, tool.reason, raw))
    return ListResult(raw, problems, read, page.next_cursor, member)


def _moved(problem: Problem, index: int) -> Problem:
    """A problem with its position in a list that has one more item at `index`."""
    if problem.index is None or problem.index < index:
        return problem
    return replace(problem, index=problem.index + 1)


def _items(raws: list[Raw] | None, reader: Reader[T], problems: list[Problem]) -> list[T]:
    return [
        item
        for index, raw in enumerate(raws or ())
        if (item := reader.item(raw, index, problems)) is not None
    ]


def _problem(
    error: msgspec.DecodeError, index: int | None, raw: Raw | bytes, *, rejected: bool = True
) -> Problem:
    """Take the member out of the decoder's text: ``Expected `str`, got `int` - at `$.name` ``."""
    reason, _, place = str(error).partition(" - at `$")
    path = place.rstrip("`").lstrip(".")
    if reason.startswith("Object missing required field `"):
        missing = reason.split("`")[1]
        path = f"{path}.{missing}" if path else missing
    return Problem(index, path, reason, bytes(raw), rejected)


_SCHEMA_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def _schema_fault(schema: dict[str, Any] | None) -> str | None:
    named = [] if schema is None else schema.get("type", [])
    for name in named if isinstance(named, list) else [named]:
        if name not in _SCHEMA_TYPES:
            return f"{name!r} is not a type of JSON Schema"
    return None
