"""From the type hints of a handler to JSON Schema 2020-12 and to the arguments of a call.

`inspect_handler` reads a function once, when it is registered. What comes out turns the raw
JSON of a request into call arguments in one step: msgspec checks and converts while it parses.
"""

from __future__ import annotations

from contextlib import suppress
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Annotated, Any, Optional, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, Raw

from ._docstring import parse
from ._hints import (
    Reader,
    decode_hook,
    describe_hints,
    encode_hook,
    explain,
    is_union,
    merge_definitions,
    translate,
    uses_pydantic,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_COROUTINE, _GENERATOR, _ASYNC_GENERATOR = 0x80, 0x20, 0x200
_VARARGS, _VARKEYWORDS = 0x04, 0x08
_PLAIN_DEFAULTS = (type(None), bool, int, float, str, bytes)


class InvalidArguments(ValueError):
    """Arguments that do not fit the input schema; the text names the path of each fault."""


class Parameter:
    """One parameter of a handler, as far as a peer can see it."""

    __slots__ = ("convert", "default", "description", "hint", "keyword_only", "name", "schema")

    def __init__(self, name: str, hint: Any, default: Any, keyword_only: bool) -> None:
        self.name = name
        self.hint = hint
        self.default = default
        self.keyword_only = keyword_only
        self.description = ""
        self.schema: dict[str, Any] = {}
        # Set where msgspec alone cannot decode the hint: from the raw JSON of this one argument.
        self.convert: Callable[[Raw], Any] | None = None

    @property
    def required(self) -> bool:
        """Whether a call must give this argument."""
        return self.default is NODEFAULT


class Handler:
    """A registered function: its schema, and the way from raw arguments to a call.

    `bind(raw)` gives the values of the parameters in order, the positional ones first. Where
    `plain` is true, `function(*values)` is the call; otherwise `arguments(values, context)`
    says how to pass them. Safe to use from several threads.
    """

    __slots__ = (
        "_context_at",
        "_context_name",
        "_positional",
        "bind",
        "description",
        "function",
        "is_async",
        "keywords",
        "name",
        "parameters",
        "plain",
        "returns",
        "schema",
        "wants_context",
    )

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.function = function
        self.name = name
        self.description = ""
        self.parameters: list[Parameter] = []
        self.returns: Any = Any
        self.is_async = False
        self.wants_context = False
        self.plain = True
        self.schema: dict[str, Any] = {}
        self.bind: Callable[[bytes], tuple[Any, ...]] = _bind_nothing
        self._context_at = -1
        self._context_name = ""
        self._positional = 0
        self.keywords: tuple[str, ...] = ()

    def arguments(self, values: tuple[Any, ...], context: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The positional and keyword arguments for `function`, with the context in its place."""
        positional = values[: self._positional]
        keywords = dict(zip(self.keywords, values[self._positional :], strict=True))
        at = self._context_at
        if at >= 0:
            positional = (*positional[:at], context, *positional[at:])
        elif self._context_name:
            keywords[self._context_name] = context
        return positional, keywords

    def encoded_schema(self) -> bytes:
        """The input schema as JSON text."""
        return msgspec.json.encode(self.schema)


def inspect_handler(
    function: Callable[..., Any],
    *,
    contexts: tuple[type, ...] = (),
    strict: bool = True,
    namespace: Mapping[str, Any] | None = None,
) -> Handler:
    """Read a handler; every mistake in its signature is a `TypeError` here, not at the first call.

    A parameter of one of the classes `contexts` receives the request context and stays out of the
    schema. With `strict=False` strings are converted to what a hint asks for, as prompt
    arguments and template variables need, because they are always strings. `namespace` holds
    names that hints given as strings may use beside the globals of the function.
    """
    handler = Handler(function, _name_of(function))
    target = _target(function)
    parameters = _parameters(function, handler)
    hints = _hints(function, target, handler, contexts, namespace)
    handler.is_async = bool(_flags(target) & _COROUTINE)
    handler.returns = hints.get("return", Any)
    handler.description, docs = parse(_documentation(function, target))
    positional = 0
    for parameter in parameters:
        hint = hints.get(parameter.name, parameter.hint)
        if _is_context(hint, contexts):
            _place_context(handler, parameter, positional)
            continue
        # `x: int = None` is often written and means the same as `x: int | None = None`.
        parameter.hint = Optional[hint] if parameter.default is None else hint  # noqa: UP045
        parameter.description = docs.get(parameter.name, "")
        handler.parameters.append(parameter)
        positional += not parameter.keyword_only
    handler._positional = positional
    handler.keywords = tuple(p.name for p in handler.parameters[positional:])
    handler.plain = not handler.wants_context and not handler.keywords
    _compile(handler, strict)
    return handler


def _place_context(handler: Handler, parameter: Parameter, positional: int) -> None:
    if handler.wants_context:
        raise _mistake(handler, "has more than one context parameter")
    handler.wants_context = True
    if parameter.keyword_only:
        handler._context_name = parameter.name
    else:
        handler._context_at = positional


# ---------------------------------------------------------------- reading the signature


def _mistake(handler: Handler, what: str) -> TypeError:
    return TypeError(f"handler {handler.name!r} {what}")


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", None)
    if name is None and hasattr(function, "func"):
        return _name_of(function.func)
    return str(name or type(function).__name__)


def _target(function: Any) -> Any:
    """The function whose code and hints count: behind a partial, a method or a callable object."""
    while True:
        if isinstance(function, MethodType):
            function = function.__func__
        elif isinstance(function, FunctionType):
            return function
        elif hasattr(function, "func") and hasattr(function, "keywords"):
            function = function.func
        elif isinstance(function, type) or not isinstance(type(function).__call__, FunctionType):
            return function
        else:
            function = type(function).__call__


def _flags(target: Any) -> int:
    code = getattr(target, "__code__", None)
    return code.co_flags if code is not None else 0


def _documentation(function: Any, target: Any) -> str | None:
    text = getattr(function, "__doc__", None)
    if isinstance(function, (FunctionType, MethodType)):
        return text
    # A partial or an instance shows the docstring of its class.
    return text if text != type(function).__doc__ else getattr(target, "__doc__", None)


def _parameters(function: Any, handler: Handler) -> list[Parameter]:
    plain = function.__func__ if isinstance(function, MethodType) else function
    if not isinstance(plain, FunctionType) or hasattr(plain, "__wrapped__"):
        return _parameters_by_inspect(function, handler)
    code = plain.__code__
    flags = code.co_flags
    names = code.co_varnames
    if flags & (_GENERATOR | _ASYNC_GENERATOR):
        raise _mistake(handler, "is a generator; return one value instead")
    if flags & (_VARARGS | _VARKEYWORDS):
        at = code.co_argcount + code.co_kwonlyargcount
        stars = "*" if flags & _VARARGS else "**"
        raise _no_variable(handler, stars + names[at])
    defaults = plain.__defaults__ or ()
    first_default = code.co_argcount - len(defaults)
    keyword_defaults = plain.__kwdefaults__ or {}
    found = []
    for at, name in enumerate(names[: code.co_argcount + code.co_kwonlyargcount]):
        if at >= code.co_argcount:
            default = keyword_defaults.get(name, NODEFAULT)
        else:
            default = defaults[at - first_default] if at >= first_default else NODEFAULT
        found.append(Parameter(name, Any, default, at >= code.co_argcount))
    if plain is not function:
        return found[1:]
    if found and found[0].name in ("self", "cls") and found[0].name not in plain.__annotations__:
        raise _mistake(handler, "is an unbound method; register the method of an instance")
    return found


def _no_variable(handler: Handler, parameter: str) -> TypeError:
    return _mistake(handler, f"takes {parameter}: name every argument, so that a schema can list it")


def _parameters_by_inspect(function: Any, handler: Handler) -> list[Parameter]:
    import inspect

    found = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise _no_variable(handler, f"*{parameter.name}")
        if parameter.kind is parameter.VAR_KEYWORD:
            raise _no_variable(handler, f"**{parameter.name}")
        default = NODEFAULT if parameter.default is parameter.empty else parameter.default
        hint = Any if parameter.annotation is parameter.empty else parameter.annotation
        keyword_only = parameter.kind is parameter.KEYWORD_ONLY
        found.append(Parameter(parameter.name, hint, default, keyword_only))
    return found


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
    return _mistake(handler, f"has a type hint that cannot be resolved: {error}")


def _is_context(hint: Any, contexts: tuple[type, ...]) -> bool:
    while get_origin(hint) is Annotated:
        hint = hint.__origin__
    if is_union(hint):
        return any(_is_context(member, contexts) for member in hint.__args__)
    return get_origin(hint) is None and isinstance(hint, type) and issubclass(hint, contexts)


# ---------------------------------------------------------------- building schema and decoder


def _compile(handler: Handler, strict: bool) -> None:
    parameters = handler.parameters
    if not parameters:
        handler.schema = {"type": "object", "properties": {}, "additionalProperties": False}
        return
    definitions = _describe(handler)
    required = [p.name for p in parameters if p.required]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {p.name: _property(p) for p in parameters},
    }
    if required:
        schema["required"] = required
    if definitions:
        schema["$defs"] = definitions
    handler.schema = schema
    handler.bind = _binder(handler, strict)


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
            raise _mistake(handler, f"parameter {parameter.name!r}: {error}") from error
        parameter.schema = reader.schema
        try:
            merge_definitions(definitions, reader.definitions)
        except TypeError as error:
            raise _mistake(handler, str(error)) from None
        if reader.is_plain:
            parameter.hint = reader.hint
        else:
            parameter.convert = reader.decode
    return definitions


def _property(parameter: Parameter) -> dict[str, Any]:
    schema = dict(parameter.schema)
    if parameter.description and "description" not in schema:
        schema["description"] = parameter.description
    if not parameter.required:
        # A default without a JSON form is simply not announced.
        with suppress(TypeError, NotImplementedError):
            schema["default"] = msgspec.to_builtins(parameter.default, enc_hook=encode_hook)
    return schema


def _binder(handler: Handler, strict: bool) -> Callable[[bytes], tuple[Any, ...]]:
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
        raise _mistake(handler, f"has a type hint that cannot be decoded: {error}") from error
    values = msgspec.structs.astuple
    converts = [(at, p) for at, p in enumerate(handler.parameters) if p.convert is not None]

    def bind(raw: bytes) -> tuple[Any, ...]:
        try:
            return values(decode(raw))
        except msgspec.DecodeError as error:
            raise InvalidArguments(explain(error)) from None

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


def _bind_nothing(raw: bytes) -> tuple[Any, ...]:
    return ()


def _struct_field(parameter: Parameter) -> Any:
    hint = Raw if parameter.convert is not None else parameter.hint
    default = parameter.default
    if default is NODEFAULT:
        return (parameter.name, hint)
    if type(default) in _PLAIN_DEFAULTS:
        return (parameter.name, hint, default)
    return (parameter.name, hint, msgspec.field(default_factory=lambda: default))
