"""Type hints in terms of JSON Schema 2020-12: schema, decoder and encoder of one hint.

msgspec describes nearly every hint. What it cannot is settled here: unions that only a trial
of their members can tell apart, and pydantic types where the user has pydantic.
"""

from __future__ import annotations

import sys
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Raw

from ._docstring import clean, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_REF = "#/$defs/{name}"
_CONSTRAINTS = {
    "Gt": {"gt": "gt"},
    "Ge": {"ge": "ge"},
    "Lt": {"lt": "lt"},
    "Le": {"le": "le"},
    "MultipleOf": {"multiple_of": "multiple_of"},
    "MinLen": {"min_length": "min_length"},
    "MaxLen": {"max_length": "max_length"},
}


class Doc:
    """A description for a parameter or a field: `Annotated[int, Doc("How many")]`.

    A plain string in `Annotated` says the same, and so does `typing_extensions.Doc`.
    """

    __slots__ = ("documentation",)

    def __init__(self, documentation: str, /) -> None:
        self.documentation = documentation

    def __repr__(self) -> str:
        return f"Doc({self.documentation!r})"


def is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, UnionType)


# ---------------------------------------------------------------- translating hints


def translate(hint: Any) -> Any:
    """A hint in msgspec's terms: descriptions and annotated_types constraints become `Meta`."""
    if hint is object:
        return Any
    if get_origin(hint) is Annotated:
        base = translate(hint.__origin__)
        annotated: Any = (base, *_metas(hint.__metadata__))
        return Annotated[annotated]
    arguments = getattr(hint, "__args__", None)
    if not arguments or get_origin(hint) is Literal:
        return hint
    translated = tuple(translate(argument) for argument in arguments)
    if all(new is old for new, old in zip(translated, arguments, strict=True)):
        return hint
    if is_union(hint):
        return Union[translated]  # noqa: UP007
    if hasattr(hint, "copy_with"):
        return hint.copy_with(translated)
    return hint.__origin__[translated]


def _metas(metadata: Iterable[Any]) -> list[Any]:
    kept: list[Any] = []
    extra: dict[str, Any] = {}
    for item in metadata:
        if isinstance(item, str):
            extra["description"] = item
        elif type(item).__module__ == "annotated_types":
            _constrain(item, extra)
        elif isinstance(getattr(item, "documentation", None), str):
            extra["description"] = item.documentation
        else:
            kept.append(item)
    if extra:
        kept.append(Meta(**extra))
    return kept or [Meta()]


def _constrain(item: Any, extra: dict[str, Any]) -> None:
    if hasattr(item, "__iter__"):  # Interval, Len: a group of simple ones
        for part in item:
            _constrain(part, extra)
        return
    keys = _CONSTRAINTS.get(type(item).__name__)
    if keys is None:
        raise TypeError(f"the constraint {item!r} has no JSON Schema")
    for key, attribute in keys.items():
        extra[key] = getattr(item, attribute)


def _schema_hook(hint: type) -> dict[str, Any]:
    if _is_path(hint):
        return {"type": "string", "format": "path"}
    raise TypeError(
        f"{hint!r} has no JSON Schema; use Any, plain types, a dataclass, TypedDict, NamedTuple, Enum, "
        "msgspec Struct or pydantic model"
    )


def decode_hook(hint: type, value: Any) -> Any:
    if _is_path(hint) and isinstance(value, str):
        return hint(value)
    raise NotImplementedError(f"Objects of type {hint!r} are not supported")


def encode_hook(value: Any) -> Any:
    """What msgspec shall encode in place of a value it does not know."""
    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form")


def _is_path(hint: Any) -> bool:
    pathlib = sys.modules.get("pathlib")
    return pathlib is not None and isinstance(hint, type) and issubclass(hint, pathlib.PurePath)


def merge_definitions(definitions: dict[str, Any], more: dict[str, Any]) -> None:
    for name, schema in more.items():
        if definitions.setdefault(name, schema) != schema:
            raise TypeError(f"uses two different types of the name {name!r}")


def describe_hints(hints: list[Any]) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    """The schemas of several hints, and the definitions they share, by name."""
    schemas, definitions = msgspec.json.schema_components(hints, schema_hook=_schema_hook, ref_template=_REF)
    _type_enums([*schemas, *definitions.values()])
    for hint, schema in zip(hints, schemas, strict=True):
        _order_enums(schema, _choices(hint))
    if definitions:
        for hint in hints:
            _document(hint, definitions, set())
    return schemas, definitions


def _type_enums(schema: Any) -> None:
    """Say the type of enumerations of text, which msgspec leaves out and some models ask for."""
    if isinstance(schema, list):
        for item in schema:
            _type_enums(item)
    elif isinstance(schema, dict):
        values = schema.get("enum")
        if isinstance(values, list) and all(isinstance(value, str) for value in values):
            schema.setdefault("type", "string")
        for key, inner in schema.items():
            if key not in ("default", "enum"):
                _type_enums(inner)


def _choices(hint: Any) -> list[Any]:
    """The values of all `Literal`s within a hint, in the order of their declaration."""
    if get_origin(hint) is Literal:
        return list(hint.__args__)
    return [choice for member in getattr(hint, "__args__", None) or () for choice in _choices(member)]


def _order_enums(schema: Any, choices: list[Any]) -> None:
    """Put what can be chosen back into its declared order, which msgspec sorts."""
    if isinstance(schema, list):
        for item in schema:
            _order_enums(item, choices)
    elif isinstance(schema, dict) and choices:
        values = schema.get("enum")
        if isinstance(values, list) and all(value in choices for value in values):
            values.sort(key=choices.index)
        for key, inner in schema.items():
            if key not in ("default", "enum"):
                _order_enums(inner, choices)


def _document(hint: Any, definitions: dict[str, Any], seen: set[int]) -> None:
    """Add to the definitions what the classes say of their fields in `Annotated` and docstring."""
    if id(hint) in seen:
        return
    seen.add(id(hint))
    if isinstance(hint, type) and hint.__name__ in definitions:
        fields = _class_hints(hint)
        definition = definitions[hint.__name__]
        _order_enums(definition, [member.value for member in getattr(hint, "__members__", {}).values()])
        text, docs = parse(hint.__doc__)
        if definition.get("description") == clean(hint.__doc__):
            definition["description"] = text
        for name, schema in definition.get("properties", {}).items():
            _order_enums(schema, _choices(fields.get(name)))
            described = _description(fields.get(name)) or docs.get(name)
            if described:
                schema.setdefault("description", described)
        for field in fields.values():
            _document(field, definitions, seen)
    for member in (getattr(hint, "__origin__", None), *(getattr(hint, "__args__", None) or ())):
        _document(member, definitions, seen)


def _class_hints(hint: type) -> dict[str, Any]:
    try:
        return get_type_hints(hint, include_extras=True)
    except (NameError, TypeError):
        return {}  # msgspec has resolved what it needs; only descriptions are lost


def _description(hint: Any) -> str | None:
    """The description in the metadata of an `Annotated` hint."""
    found = None
    for item in getattr(hint, "__metadata__", ()):
        text = item if isinstance(item, str) else getattr(item, "documentation", None)
        found = text if isinstance(text, str) else found
    return found


class Reader:
    """One hint: its schema, its definitions, and the decoder of its JSON.

    Raises `TypeError` when nothing can describe the hint.
    """

    __slots__ = ("decode", "definitions", "encode", "hint", "is_plain", "schema")

    def __init__(self, hint: Any, *, output: bool = False) -> None:
        self.schema: dict[str, Any] = {}
        self.definitions: dict[str, Any] = {}
        self.decode: Callable[[Any], Any]
        self.encode: Callable[[Any], bytes] = encode_value
        self.is_plain = False
        self.hint = hint
        if uses_pydantic(hint):
            self._use_pydantic(output)
            return
        self.hint = translate(hint)
        try:
            self._use_msgspec(self.hint)
        except TypeError:
            if self._try_pydantic(output):
                return
            if not is_union(self.hint):
                raise
            self._use_members(output)

    def _use_msgspec(self, hint: Any) -> None:
        self.decode = msgspec.json.Decoder(hint, dec_hook=decode_hook).decode
        (self.schema,), self.definitions = describe_hints([hint])
        self.is_plain = True

    def _use_members(self, output: bool) -> None:
        """A union whose members only a trial can tell apart: the first that fits is taken."""
        members = [Reader(member, output=output) for member in self.hint.__args__]
        self.schema = {"anyOf": [member.schema for member in members]}
        for member in members:
            merge_definitions(self.definitions, member.definitions)

        def decode(raw: Any) -> Any:
            reasons = []
            for member in members:
                try:
                    return member.decode(raw)
                except ValueError as error:
                    reasons.append(explain(error))
            raise ValueError("fits no allowed form: " + "; or ".join(reasons))

        self.decode = decode

    def _try_pydantic(self, output: bool) -> bool:
        """A hint that msgspec refuses may hold pydantic classes deeper inside."""
        pydantic = sys.modules.get("pydantic")
        if pydantic is None or not _holds_pydantic(self.hint, set()):
            return False
        self._use_pydantic(output)
        return True

    def _use_pydantic(self, output: bool) -> None:
        from pydantic import TypeAdapter

        adapter: Any = TypeAdapter(self.hint)
        schema = adapter.json_schema(
            mode="serialization" if output else "validation", ref_template="#/$defs/{model}"
        )
        self.definitions = schema.pop("$defs", {})
        self.schema = schema
        self.decode = lambda raw: adapter.validate_json(bytes(raw))
        self.encode = lambda value: bytes(adapter.dump_json(value, by_alias=True))


_encoder = msgspec.json.Encoder(enc_hook=encode_hook)
encode_value = _encoder.encode
"""The JSON of a value of any kind; `TypeError` if it has none."""


def to_builtins(value: Any, otherwise: Any) -> Any:
    """A value in terms of dicts, lists and scalars; `otherwise` if it has no JSON form."""
    try:
        return msgspec.to_builtins(value, enc_hook=encode_hook)
    except (TypeError, NotImplementedError):
        return otherwise


def uses_pydantic(hint: Any) -> bool:
    """Whether a hint names pydantic itself: a class of it, or a `Field` in `Annotated`."""
    if "pydantic" not in sys.modules:
        return False
    if get_origin(hint) is Annotated:
        return any(_is_of_pydantic(type(item)) for item in hint.__metadata__) or uses_pydantic(
            hint.__origin__
        )
    if hasattr(hint, "__pydantic_core_schema__") or _is_of_pydantic(hint):
        return True
    return any(uses_pydantic(member) for member in getattr(hint, "__args__", None) or ())


def _is_of_pydantic(item: Any) -> bool:
    return str(getattr(item, "__module__", "")).partition(".")[0] == "pydantic"


def _holds_pydantic(hint: Any, seen: set[int]) -> bool:
    """Whether pydantic shows up in a hint or in the fields of the classes it names."""
    if id(hint) in seen:
        return False
    seen.add(id(hint))
    if uses_pydantic(hint):
        return True
    inner = list(getattr(hint, "__args__", None) or ())
    if isinstance(hint, type) and getattr(hint, "__annotations__", None):
        inner += _class_hints(hint).values()
    return any(_holds_pydantic(member, seen) for member in inner)


# ---------------------------------------------------------------- output


class Output:
    """The structured side of a tool: its output schema and the encoder of its values.

    A schema whose root is an object is announced as it is. Every other one is wrapped as
    `{"result": ...}`, because revisions before 2026-07-28 allow objects only; the structured
    content is wrapped the same way, while the text copy stays the bare value.
    """

    __slots__ = ("_check", "encode_value", "schema", "wrapped")

    def __init__(self, hint: Any) -> None:
        reader = Reader(hint, output=True)
        self._check = reader.decode
        self.encode_value = reader.encode
        root = _object_root(reader.schema, reader.definitions)
        self.wrapped = root is None
        if root is None:
            root = {"type": "object", "properties": {"result": reader.schema}}
            root["required"] = ["result"]
        definitions = _reachable(root, reader.definitions)
        self.schema = {**root, "$defs": definitions} if definitions else root

    def encode(self, value: Any) -> bytes:
        """The JSON of a value, unwrapped. `ValueError` or `TypeError` if it breaks the schema."""
        encoded = self.encode_value(value)
        self._check(encoded)
        return encoded

    def check(self, structured: Any) -> bytes:
        """The JSON of structured content that the handler made itself, checked as a whole."""
        if not self.wrapped:
            return self.encode(structured)
        encoded = self.encode_value(structured)
        result = msgspec.json.decode(encoded, type=dict[str, Raw]).get("result")
        if result is None:
            raise ValueError("result: required, but missing")
        self._check(result)
        return encoded


def _object_root(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any] | None:
    """The schema of the root if it is an object, with a reference there replaced by its target."""
    reference = schema.get("$ref")
    if reference is not None:
        target = definitions[reference.rpartition("/")[2]]
        schema = {**target, **{key: schema[key] for key in schema if key != "$ref"}}
    return dict(schema) if schema.get("type") == "object" else None


def _reachable(root: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The definitions that a schema refers to, in their first order."""
    needed: set[str] = set()
    pending: list[Any] = [root]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            name = str(item.get("$ref", "")).rpartition("/")[2]
            if name in definitions and name not in needed:
                needed.add(name)
                pending.append(definitions[name])
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
    return {name: definitions[name] for name in definitions if name in needed}


# ---------------------------------------------------------------- faults in words


def explain(error: Exception, at: str = "", schema: dict[str, Any] | None = None) -> str:
    """One fault in words that name the path: `items[0].count: expected int, got str`.

    With the schema of what was decoded, a value that cannot be chosen is told what can.
    """
    errors = getattr(error, "errors", None)
    if callable(errors):  # pydantic lists every fault with its location
        faults = [(_join_path(at, fault["loc"]), fault["msg"]) for fault in errors()]
        return "; ".join(f"{path}: {text}" if path else text for path, text in faults)
    text, found, path = str(error).rpartition(" - at `$")
    if not found:
        text, path = str(error), ""
    path = path.rstrip("`")
    _, missing, name = text.partition(" missing required field ")
    if missing:
        text, path = "required, but missing", f"{path}.{name.strip('`')}"
    if schema is not None and text.startswith("Invalid enum value"):
        allowed = _allowed(schema, path)
        text += f"; allowed: {', '.join(map(repr, allowed))}" if allowed else ""
    path = (at + path).lstrip(".")
    return f"{path}: {text}" if path else text


def _allowed(root: dict[str, Any], path: str) -> list[Any]:
    """What can be chosen at a path such as `.items[0].color`, or `[...]` for the value of any key."""
    import re

    found = _resolved([root], root)
    for name, element in re.findall(r"\.([^.\[]+)|(\[[^]]*])", path):
        inner = []
        for schema in found:
            if element:
                inner += [
                    schema.get("items"),
                    schema.get("additionalProperties"),
                    *schema.get("prefixItems", ()),
                ]
            else:
                inner.append(schema.get("properties", {}).get(name))
        found = _resolved(inner, root)
    return [value for schema in found for value in schema.get("enum", ())]


def _resolved(schemas: Iterable[Any], root: dict[str, Any]) -> list[dict[str, Any]]:
    """Schemas with references replaced by their targets, and unions by their members."""
    found: list[dict[str, Any]] = []
    for schema in schemas:
        if isinstance(schema, dict):
            target = root.get("$defs", {}).get(str(schema.get("$ref", "")).rpartition("/")[2])
            members = schema.get("anyOf", ()) if target is None else [target]
            found += _resolved(members, root) if members else [schema]
    return found


def _join_path(at: str, location: Iterable[Any]) -> str:
    path = at
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    return path.lstrip(".")
