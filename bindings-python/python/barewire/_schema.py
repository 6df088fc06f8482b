"""Reading a handler: its parameters, its input schema, and the way from raw arguments to a call.

`inspect_handler` reads a function once, when it is registered. Handlers with plain hints alone
are described right here; for all others `_compile` does the work, with msgspec.
"""

from __future__ import annotations

from types import FunctionType, MethodType

from ._docstring import parse
from ._plain import MISSING, encode, output_schema, schema_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from msgspec import Raw

_COROUTINE, _GENERATOR, _ASYNC_GENERATOR = 0x80, 0x20, 0x200
_VARARGS, _VARKEYWORDS = 0x04, 0x08


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
        return self.default is MISSING


class Handler:
    """A registered function: its schema, and the way from raw arguments to a call.

    `bind(raw)` gives the values of the parameters in order, the positional ones first. Where
    `plain` is true, `function(*values)` is the call; otherwise `arguments(values, context)`
    says how to pass them. Safe to use from several threads.
    """

    __slots__ = (
        "_context_at",
        "_context_name",
        "bind",
        "description",
        "function",
        "is_async",
        "keywords",
        "name",
        "parameters",
        "plain",
        "positional",
        "returns",
        "schema",
        "wants_context",
    )

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.function = function
        self.name = name
        self.description = ""
        self.parameters: list[Parameter] = []
        self.returns: Any = MISSING
        self.is_async = False
        self.wants_context = False
        self.plain = True
        self.schema: dict[str, Any] = {}
        self.bind: Callable[[bytes], tuple[Any, ...]] = _bind_nothing
        self._context_at = -1
        self._context_name = ""
        self.positional = 0
        self.keywords: tuple[str, ...] = ()

    def arguments(self, values: tuple[Any, ...], context: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The positional and keyword arguments for `function`, with the context in its place."""
        positional = values[: self.positional]
        keywords = dict(zip(self.keywords, values[self.positional :], strict=True))
        at = self._context_at
        if at >= 0:
            positional = (*positional[:at], context, *positional[at:])
        elif self._context_name:
            keywords[self._context_name] = context
        return positional, keywords


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
    if isinstance(function, type):
        raise mistake(handler, "is a class; register a function or the method of an instance")
    target = _target(function)
    parameters = _parameters(function, handler)
    handler.is_async = bool(_flags(target) & _COROUTINE)
    handler.description, docs = parse(_documentation(function, target))
    for parameter in parameters:
        parameter.description = docs.get(parameter.name, "")
    if not _read_plain(handler, parameters, target, contexts, strict, namespace):
        from ._compile import compile_handler

        compile_handler(handler, parameters, function, target, contexts, strict, namespace)
    return handler


def _read_plain(
    handler: Handler,
    parameters: list[Parameter],
    target: Any,
    contexts: tuple[type, ...],
    strict: bool,
    namespace: Mapping[str, Any] | None,
) -> bool:
    """Describe a handler whose hints are all plain; false, and nothing done, if one is not."""
    hints = _resolve(target, namespace)
    if hints is None:
        return False
    returns = hints.get("return", MISSING)
    if not (returns is MISSING or returns is None or returns is str or output_schema(returns)):
        return False
    found: list[tuple[Parameter, Any, dict[str, Any]]] = []
    context: list[Parameter] = []
    for parameter in parameters:
        hint = hints.get(parameter.name, MISSING)
        if type(hint) is type and issubclass(hint, contexts):
            context.append(parameter)
            continue
        if parameter.default is None and hint is not MISSING:
            hint = hint | None if schema_of(hint) else hint
        schema = {} if hint is MISSING else schema_of(hint)
        if schema is None or not (parameter.required or _is_plain_value(parameter.default)):
            return False
        found.append((parameter, hint, schema))
    handler.returns = returns
    for parameter, hint, schema in found:
        parameter.hint, parameter.schema = hint, schema
    settle_parameters(handler, parameters, context)
    handler.schema = object_schema(handler.parameters, {})
    if handler.parameters:
        handler.bind = _late_binder(handler, strict)
    return True


def _resolve(target: Any, namespace: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The hints of a function, where looking them up in its scopes is all it takes."""
    if not isinstance(target, FunctionType) or hasattr(target, "__wrapped__"):
        return None
    hints = {}
    try:
        for name, hint in target.__annotations__.items():
            hints[name] = eval(hint, target.__globals__, namespace) if type(hint) is str else hint
    except Exception:  # whatever an expression can raise; `typing` then says what is wrong
        return None
    return hints


def _is_plain_value(value: Any) -> bool:
    try:
        encode(value)
    except TypeError:
        return False
    return True


def _late_binder(handler: Handler, strict: bool) -> Callable[[bytes], tuple[Any, ...]]:
    """A binder that is made by the first call, which needs msgspec."""

    def bind(raw: bytes) -> tuple[Any, ...]:
        from ._compile import make_binder

        handler.bind = make_binder(handler, strict)
        return handler.bind(raw)

    return bind


def object_schema(parameters: list[Parameter], definitions: dict[str, Any]) -> dict[str, Any]:
    """The input schema of described parameters."""
    if not parameters:
        return {"type": "object", "properties": {}, "additionalProperties": False}
    schema: dict[str, Any] = {"type": "object", "properties": {p.name: _property(p) for p in parameters}}
    required = [parameter.name for parameter in parameters if parameter.required]
    if required:
        schema["required"] = required
    if definitions:
        schema["$defs"] = definitions
    return schema


def _property(parameter: Parameter) -> dict[str, Any]:
    schema = dict(parameter.schema)
    if parameter.description and "description" not in schema:
        schema["description"] = parameter.description
    if parameter.required:
        return schema
    if _is_plain_value(parameter.default):
        schema["default"] = parameter.default
    else:
        from ._hints import to_builtins

        default = to_builtins(parameter.default, MISSING)
        if default is not MISSING:  # one without a JSON form is simply not announced
            schema["default"] = default
    return schema


def settle_parameters(handler: Handler, parameters: list[Parameter], context: list[Parameter]) -> None:
    """Sort out the parameter of the context; what is left are the arguments that a peer gives."""
    positional = 0
    for parameter in parameters:
        if parameter in context:
            _place_context(handler, parameter, positional)
        else:
            handler.parameters.append(parameter)
            positional += not parameter.keyword_only
    handler.positional = positional
    handler.keywords = tuple(parameter.name for parameter in handler.parameters[positional:])
    handler.plain = not handler.wants_context and not handler.keywords


def _place_context(handler: Handler, parameter: Parameter, positional: int) -> None:
    if handler.wants_context:
        raise mistake(handler, "has more than one context parameter")
    handler.wants_context = True
    if parameter.keyword_only:
        handler._context_name = parameter.name
    else:
        handler._context_at = positional


# ---------------------------------------------------------------- reading the signature


def mistake(handler: Handler, what: str) -> TypeError:
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
        raise mistake(handler, "is a generator; return one value instead")
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
            default = keyword_defaults.get(name, MISSING)
        else:
            default = defaults[at - first_default] if at >= first_default else MISSING
        found.append(Parameter(name, MISSING, default, at >= code.co_argcount))
    if plain is not function:
        return found[1:]
    if found and found[0].name in ("self", "cls") and found[0].name not in plain.__annotations__:
        raise mistake(handler, "is an unbound method; register the method of an instance")
    return found


def _no_variable(handler: Handler, parameter: str) -> TypeError:
    return mistake(handler, f"takes {parameter}: name every argument, so that a schema can list it")


def _parameters_by_inspect(function: Any, handler: Handler) -> list[Parameter]:
    import inspect

    found = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise _no_variable(handler, f"*{parameter.name}")
        if parameter.kind is parameter.VAR_KEYWORD:
            raise _no_variable(handler, f"**{parameter.name}")
        default = MISSING if parameter.default is parameter.empty else parameter.default
        hint = MISSING if parameter.annotation is parameter.empty else parameter.annotation
        keyword_only = parameter.kind is parameter.KEYWORD_ONLY
        found.append(Parameter(parameter.name, hint, default, keyword_only))
    return found


def _bind_nothing(raw: bytes) -> tuple[Any, ...]:
    return ()
