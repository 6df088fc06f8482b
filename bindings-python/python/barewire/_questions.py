"""Questions of a handler to the client: their parameters, and what the answers become.

The core carries a question as a key, a kind and the JSON of its parameters, in every revision.
Here the parameters are made from Python values, and answers are turned back into them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Raw, Struct

from ._content import Block, as_messages
from ._errors import InvalidAnswerError
from ._hints import Reader, explain
from ._hints import encode_value as _encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._native import InputKindName

T = TypeVar("T")


class Question:
    """One question: what to send, and how to read the answer."""

    __slots__ = ("_read", "key", "kind", "params")

    def __init__(
        self, key: str, kind: InputKindName, params: dict[str, Any], read: Callable[[bytes], Any]
    ) -> None:
        self.key = key
        self.kind: InputKindName = kind
        self.params = _encode(params)
        self._read = read

    def read(self, raw: bytes) -> Any:
        """The answer as a Python value; raises `InvalidAnswerError`."""
        try:
            return self._read(raw)
        except ValueError as error:
            raise InvalidAnswerError(f"The answer does not fit the question: {explain(error)}") from error


# ---------------------------------------------------------------- elicitation


class ElicitResult(Generic[T]):
    """What the user did with a question; `content` is there after `accept` alone."""

    __slots__ = ("action", "content")

    def __init__(self, action: Literal["accept", "decline", "cancel"], content: T | None) -> None:
        self.action: Literal["accept", "decline", "cancel"] = action
        self.content = content

    @property
    def accepted(self) -> bool:
        """Whether the user answered."""
        return self.action == "accept"

    def __repr__(self) -> str:
        return f"ElicitResult({self.action!r}, {self.content!r})"


class _ElicitAnswer(Struct):
    action: Literal["accept", "decline", "cancel"]
    content: Raw = Raw(b"{}")


_decode_elicit = msgspec.json.Decoder(_ElicitAnswer).decode


def elicitation(key: str, message: str, form: Any, url: str | None) -> Question:
    """Ask the user to fill a form, described by a type or a JSON Schema, or to visit a URL."""
    if url is not None:
        return Question(key, "elicitation", {"mode": "url", "message": message, "url": url}, _read_visit)
    if form is None:
        raise TypeError("an elicitation needs a form (a type or a JSON Schema) or a URL")
    schema, read_content = _form(form)

    def read(raw: bytes) -> ElicitResult[Any]:
        answer = _decode_elicit(raw)
        if answer.action != "accept":
            return ElicitResult(answer.action, None)
        content = b"{}" if answer.content == b"null" else answer.content
        return ElicitResult("accept", read_content(content))

    return Question(key, "elicitation", {"message": message, "requestedSchema": schema}, read)


def _read_visit(raw: bytes) -> ElicitResult[None]:
    return ElicitResult(_decode_elicit(raw).action, None)


_forms: dict[Any, tuple[dict[str, Any], Callable[[Any], Any]]] = {}


def _form(form: Any) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """The flat object schema of a form and the decoder of its content.

    A type that is no object, such as `bool`, becomes a form with the one field `value`.
    """
    if isinstance(form, dict):
        return form, msgspec.json.decode
    try:
        known = _forms.get(form)
    except TypeError:  # an unhashable hint
        known = None
    if known is None:
        known = _make_form(form)
        with suppress(TypeError):
            _forms[form] = known
    return known


def _make_form(form: Any) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    reader = Reader(form)
    schema = _resolve(reader.schema, reader.definitions)
    if schema.get("type") == "object":
        schema.pop("title", None)
        return schema, reader.decode

    def read(raw: Any) -> Any:
        return reader.decode(msgspec.json.decode(raw, type=dict[str, Raw]).get("value", Raw(b"null")))

    return {"type": "object", "properties": {"value": schema}, "required": ["value"]}, read


def _resolve(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """A schema as elicitation allows it: no references, no null, a `type` on every field."""
    schema = dict(schema)
    reference = schema.pop("$ref", None)
    if reference is not None:
        schema = {**definitions[reference.rpartition("/")[2]], **schema}
    forms = [member for member in schema.get("anyOf", ()) if member != {"type": "null"}]
    if len(forms) == 1:  # an optional field: absent rather than null
        del schema["anyOf"]
        schema = {**_resolve(forms[0], definitions), **schema}
        if schema.get("default", 0) is None:
            del schema["default"]
    if "enum" in schema and all(isinstance(value, str) for value in schema["enum"]):
        schema.setdefault("type", "string")
    if "properties" in schema:
        fields = schema["properties"].items()
        schema["properties"] = {name: _resolve(field, definitions) for name, field in fields}
    if "items" in schema:
        schema["items"] = _resolve(schema["items"], definitions)
    return schema


# ---------------------------------------------------------------- sampling


class SampleResult:
    """What the client's model said."""

    __slots__ = ("content", "model", "role", "stop_reason")

    def __init__(self, role: str, content: Any, model: str, stop_reason: str | None) -> None:
        self.role = role
        self.content: list[Block | dict[str, Any]] = content
        self.model = model
        self.stop_reason = stop_reason

    @property
    def text(self) -> str:
        """The text of all text blocks."""
        return "".join(getattr(block, "text", "") for block in self.content)

    def __repr__(self) -> str:
        return f"SampleResult({self.role!r}, {self.content!r}, {self.model!r}, {self.stop_reason!r})"


class _SampleAnswer(Struct, rename="camel"):
    role: str
    content: Raw
    model: str = ""
    stop_reason: str | None = None


_decode_sample = msgspec.json.Decoder(_SampleAnswer).decode


def sampling(key: str, messages: Any, options: dict[str, Any]) -> Question:
    """Ask the client's model; `options` holds the parameters beside the messages, under their wire names."""
    params = {"messages": as_messages(messages)}
    params.update((name, value) for name, value in options.items() if value is not None)
    return Question(key, "sampling", params, _read_sample)


def _read_sample(raw: bytes) -> SampleResult:
    answer = _decode_sample(raw)
    items = answer.content
    many = bytes(items).lstrip()[:1] == b"["
    blocks = msgspec.json.decode(items, type=list[Raw]) if many else [items]
    return SampleResult(
        answer.role, [_read_block(block) for block in blocks], answer.model, answer.stop_reason
    )


def _read_block(raw: Raw) -> Block | dict[str, Any]:
    """A block of a known kind; anything else stays as it came, such as `tool_use`."""
    try:
        block: Block = msgspec.json.decode(raw, type=Block)
        return block
    except msgspec.ValidationError:
        other: dict[str, Any] = msgspec.json.decode(raw)
        return other


# ---------------------------------------------------------------- roots


class Root(Struct, frozen=True):
    """A folder or file that the client lets servers work on: a `file://` URI and a name for it."""

    uri: str
    name: str | None = None


class _RootsAnswer(Struct):
    roots: list[Root]


_decode_roots = msgspec.json.Decoder(_RootsAnswer).decode


def roots(key: str) -> Question:
    """Ask for the client's roots."""
    return Question(key, "roots", {}, _read_roots)


def _read_roots(raw: bytes) -> list[Root]:
    return _decode_roots(raw).roots


# ---------------------------------------------------------------- what travels with questions


class _State(Struct, omit_defaults=True):
    """What comes back with an answer: results of `once`, and the key of a handler that waits here."""

    once: dict[str, Raw] = {}
    memory: str = ""


decode_state = msgspec.json.Decoder(_State).decode


def encode_state(once: dict[str, Raw], memory: str) -> bytes:
    """The state as JSON text."""
    return _encode(_State(once, memory))
