"""What plain type hints need, without msgspec: a server that uses no others starts without it.

Plain are `str`, `int`, `float`, `bool`, lists and dicts of them, and any of these or `None`.
`_hints` describes them in the very same words, and every other hint; a test compares the two.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "MISSING"})()
"""Stands for a default, a hint or an answer that is not there."""

_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}
_GENERIC: Any = type(list[int])
_UNION: Any = type(int | None)
_NULL = {"type": "null"}
_ESCAPES = {n: f"\\u{n:04x}" for n in range(0x20)} | {
    0x22: '\\"',
    0x5C: "\\\\",
    0x0A: "\\n",
    0x0D: "\\r",
    0x09: "\\t",
}


def schema_of(hint: Any) -> dict[str, Any] | None:
    """The JSON Schema of a plain hint; `None` for any other."""
    name = _NAMES.get(hint) if type(hint) is type else None
    if name is not None:
        return {"type": name}
    members: tuple[Any, ...] = getattr(hint, "__args__", ())
    if type(hint) is _UNION:
        return _optional_schema(members)
    if type(hint) is not _GENERIC:
        return None
    item = schema_of(members[-1])
    if item is None:
        return None
    origin = hint.__origin__
    if origin is list:
        return {"type": "array", "items": item}
    if origin is dict and members[0] is str:
        return {"type": "object", "additionalProperties": item}
    return None


def _optional_schema(members: tuple[Any, ...]) -> dict[str, Any] | None:
    if len(members) != 2 or members[1] is not type(None):
        return None
    schema = schema_of(members[0])
    return None if schema is None else {"anyOf": [schema, _NULL]}


def output_schema(hint: Any) -> dict[str, Any] | None:
    """The output schema of a plain hint, whose root is an object in any case; `None` for any other.

    Text has none, and neither has text or nothing: that is content, not data.
    """
    if hint is str or hint == str | None:
        return None
    schema = schema_of(hint)
    if schema is None or schema["type" if "type" in schema else "anyOf"] == "object":
        return schema
    return {"type": "object", "properties": {"result": schema}, "required": ["result"]}


def encode(value: Any) -> str:
    """The JSON text of a plain value; `TypeError` for what has no JSON form of its own."""
    kind = type(value)
    if kind is str:
        return f'"{value.translate(_ESCAPES)}"'
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is int or (kind is float and value - value == 0):
        return repr(value)
    if kind is dict:
        return "{" + ",".join(f"{_key(key)}:{encode(item)}" for key, item in value.items()) + "}"
    if kind is list or kind is tuple:
        return "[" + ",".join(map(encode, value)) + "]"
    raise TypeError(f"a value of type {kind.__name__} is not plain")


def _key(key: Any) -> str:
    if type(key) is not str:
        raise TypeError(f"a key of type {type(key).__name__} is not plain")
    return encode(key)


def to_json(value: Any) -> bytes:
    """The JSON of any value, with msgspec only where it is needed."""
    try:
        return encode(value).encode()
    except TypeError:
        from ._hints import encode_value

        return encode_value(value)
