"""Describing and decoding handlers with hints of every kind: the part of `_schema` that needs msgspec."""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Annotated, Any, Optional, get_origin, get_type_hints

import msgspec
from msgspec import Raw

from ._hints import (
    Reader,
    decode_hook,
    describe_hints,
    explain,
    is_union,
    merge_definitions,
    translate,
    uses_pydantic,
)
from ._plain import MISSING
from ._schema import Handler, InvalidArguments, Parameter, mistake, object_schema, settle_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SIMPLE_DEFAULTS = (type(None), bool, int, float, str, bytes)


def compile_handler(
    handler: Handler,
    parameters: list[Parameter],
    function: Any,
    target: Any,
    contexts: tuple[type, ...],
    strict: bool,
    namespace: Mapping[str, Any] | None,
) -> None:
    """Describe a handler and make its binder."""
    hints = _hints(function, target, handler, contexts, namespace)
    handler.returns = hints.get("return", MISSING)
    context = []
    for parameter in parameters:
        hint = hints.get(parameter.name, Any if parameter.hint is MISSING else parameter.hint)
        if _is_context(hint, contexts):
            context.append(parameter)
        # `x: int = None` is often written and means the same as `x: int | None = None`.
        parameter.hint = Optional[hint] if parameter.default is None else hint  # noqa: UP045
    settle_parameters(handler, parameters, context)
    definitions = _describe(handler) if handler.parameters else {}
    handler.schema = object_schema(handler.parameters, definitions)
    if handler.parameters:
        handler.bind = make_binder(handler, strict)


def _hints(
    function: Any,
    target: Any,
    handler: Handler,
    contexts: tuple[type, ...],
    namespace: Mapping[str, Any] | None,
) -> dict[str, Any]:
    source = function if isinstance(function, (FunctionType, MethodType)) else target
    local = dict(namespace) if namespace else None
    try:
        return get_type_hints(source, localns=local, include_extras=True)
    except NameError as error:
        if not contexts:
            raise _unresolved(handler, error) from None
    except TypeError:
        return {}  # a callable without annotations of its own, such as a builtin
    # The context class is often imported for type checkers alone.
    known = {**(local or {}), **{kind.__name__: kind for kind in contexts}}
    try:
        return get_type_hints(source, localns=known, include_extras=True)
    except NameError as error:
        raise _unresolved(handler, error) from None


def _unresolved(handler: Handler, error: NameError) -> TypeError:
    return mistake(handler, f"has a type hint that cannot be resolved: {error}")


def _is_context(hint: Any, contexts: tuple[type, ...]) -> bool:
    while get_origin(hint) is Annotated:
        hint = hint.__origin__
    if is_union(hint):
        return any(_is_context(member, contexts) for member in hint.__args__)
    return get_origin(hint) is None and isinstance(hint, type) and issubclass(hint, contexts)


def _describe(handler: Handler) -> dict[str, Any]:
    """Give every parameter its schema; returns the shared definitions."""
    parameters = handler.parameters
    try:
        if any(uses_pydantic(p.hint) for p in parameters):
            described = None
        else:
            for parameter in parameters:
                parameter.hint = translate(parameter.hint)
            described = describe_hints([p.hint for p in parameters])
    except TypeError:
        described = None
    if described is None:
        return _describe_each(handler)
    for parameter, schema in zip(parameters, described[0], strict=True):
        parameter.schema = schema
    return described[1]


def _describe_each(handler: Handler) -> dict[str, Any]:
    """The slow way: find the parameters that msgspec cannot describe and settle each."""
    definitions: dict[str, Any] = {}
    for parameter in handler.parameters:
        try:
            reader = Reader(parameter.hint)
        except (TypeError, ValueError) as error:
            raise mistake(handler, f"parameter {parameter.name!r}: {error}") from error
        parameter.schema = reader.schema
        try:
            merge_definitions(definitions, reader.definitions)
        except TypeError as error:
            raise mistake(handler, str(error)) from None
        if reader.is_plain:
            parameter.hint = reader.hint
        else:
            parameter.convert = reader.decode
    return definitions


def make_binder(handler: Handler, strict: bool) -> Callable[[bytes], tuple[Any, ...]]:
    """The function from raw JSON to the values of all parameters, in the order of the struct."""
    struct = msgspec.defstruct(
        f"{handler.name}_arguments",
        [_struct_field(parameter) for parameter in handler.parameters],
        kw_only=True,
        gc=False,
    )
    try:
        decode = msgspec.json.Decoder(struct, strict=strict, dec_hook=decode_hook).decode
    except TypeError as error:
        raise mistake(handler, f"has a type hint that cannot be decoded: {error}") from error
    values = msgspec.structs.astuple
    converts = [(at, p) for at, p in enumerate(handler.parameters) if p.convert is not None]

    def bind(raw: bytes) -> tuple[Any, ...]:
        try:
            return values(decode(raw))
        except msgspec.DecodeError as error:
            raise InvalidArguments(explain(error, schema=handler.schema)) from None

    def bind_and_convert(raw: bytes) -> tuple[Any, ...]:
        found = list(bind(raw))
        for at, parameter in converts:
            if isinstance(found[at], Raw) and parameter.convert is not None:
                try:
                    found[at] = parameter.convert(found[at])
                except ValueError as error:
                    raise InvalidArguments(explain(error, parameter.name)) from None
        return tuple(found)

    return bind_and_convert if converts else bind


def _struct_field(parameter: Parameter) -> Any:
    hint = Raw if parameter.convert is not None else parameter.hint
    if hint is MISSING:
        hint = Any
    default = parameter.default
    if default is MISSING:
        return (parameter.name, hint)
    if type(default) in _SIMPLE_DEFAULTS:
        return (parameter.name, hint, default)
    return (parameter.name, hint, msgspec.field(default_factory=lambda: default))
