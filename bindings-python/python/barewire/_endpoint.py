"""What can be called on a server: a handler, how its arguments are read and its result written.

Each kind of endpoint knows its definition for the catalog, how a result is encoded, and how a
failure of the handler is answered. Nothing here waits, sends or keeps state.
"""

from __future__ import annotations

from ._context import BaseContext, Context, SyncContext
from ._errors import (
    InputRefusedError,
    InvalidAnswerError,
    MissingCapabilityError,
    ResourceNotFoundError,
    RpcError,
    ToolError,
)
from ._native import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, template_variables
from ._plain import MISSING, output_schema, to_json
from ._schema import Handler, InvalidArguments, inspect_handler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Literal, TypeAlias

    from ._native import _ServerCommands as Machine

    Resume = Literal["replay", "memory"]
    Scopes: TypeAlias = Sequence[str] | Callable[[dict[str, Any]], Sequence[str]]


def _definition(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None and value != ""}


class Endpoint:
    """A handler in the catalog; the base of the kinds below."""

    __slots__ = (
        "definition",
        "direct",
        "function",
        "handler",
        "inline",
        "is_async",
        "key",
        "resume",
        "scopes",
    )

    def __init__(
        self, handler: Handler, key: str, *, inline: bool, resume: Resume, scopes: Scopes | None = None
    ) -> None:
        if isinstance(scopes, str):
            raise TypeError(f"scopes is a list, such as {scopes.split()!r}")
        if inline and handler.is_async:
            raise TypeError(f"handler {handler.name!r} is async; inline is for sync handlers")
        if resume not in ("replay", "memory"):
            raise ValueError(f"resume is 'replay' or 'memory', not {resume!r}")
        self.handler = handler
        self.key = key
        self.inline = inline
        self.resume: Resume = resume
        self.is_async = handler.is_async
        self.function = handler.function
        # The handler runs where the event is taken, with nothing but its values.
        self.direct = inline and handler.plain
        self.definition: bytes = b""
        #: What a caller over HTTP needs beside what every one needs.
        self.scopes = scopes

    def needed_scopes(self, raw: bytes | None) -> Sequence[str]:
        """The scopes that a call with these arguments needs."""
        scopes = self.scopes or ()
        if callable(scopes):
            from msgspec import json

            return scopes(json.decode(raw or b"{}"))
        return scopes

    def encode(self, value: Any, event: Any) -> bytes:
        """The JSON of a result."""
        raise NotImplementedError

    def register(self, machine: Machine) -> None:
        """Put the definition into the catalog of a machine."""
        raise NotImplementedError

    def unregister(self, machine: Machine) -> None:
        """Take it out again."""
        raise NotImplementedError

    def refuse_arguments(self, machine: Machine, event: Any, reason: str) -> None:
        """Answer a request whose arguments do not fit."""
        machine.respond_error(event.request, INVALID_PARAMS, f"Invalid arguments: {reason}")

    def fail(self, machine: Machine, event: Any, error: BaseException, debug: bool) -> bool:
        """Answer a request whose handler raised; true if that was meant, false for a defect."""
        if isinstance(error, MissingCapabilityError):
            machine.respond_missing_capability(event.request, error.required)
        elif isinstance(error, RpcError):
            machine.respond_error(event.request, error.code, error.message, error.raw_data)
        elif isinstance(error, ResourceNotFoundError) and hasattr(event, "uri"):
            text, data = str(error) or "Resource not found", to_json({"uri": event.uri})
            machine.respond_error(event.request, RESOURCE_NOT_FOUND, text, data)
        elif isinstance(error, (ToolError, InputRefusedError, InvalidAnswerError)):
            machine.respond_error(event.request, INTERNAL_ERROR, str(error))
        else:
            machine.respond_error(event.request, INTERNAL_ERROR, _public(error, debug))
            return False
        return True


def _public(error: BaseException, debug: bool) -> str:
    """What the client may know of a defect: nothing, unless the server is being debugged."""
    return f"{type(error).__name__}: {error}" if debug else "Internal error"


def _inspect(function: Callable[..., Any], namespace: Mapping[str, Any] | None, strict: bool) -> Handler:
    contexts = (Context, SyncContext, BaseContext)
    return inspect_handler(function, contexts=contexts, strict=strict, namespace=namespace)


class Tool(Endpoint):
    """A tool; its key is the name."""

    __slots__ = ("_encode_result",)

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        input_schema: dict[str, Any] | None = None,
        read_only: bool | None = None,
        destructive: bool | None = None,
        idempotent: bool | None = None,
        open_world: bool | None = None,
        icons: Any = None,
        meta: dict[str, Any] | None = None,
        inline: bool = False,
        resume: Resume = "replay",
        scopes: Scopes | None = None,
        namespace: Mapping[str, Any] | None = None,
    ) -> None:
        handler = _inspect(function, namespace, strict=True)
        super().__init__(handler, name or handler.name, inline=inline, resume=resume, scopes=scopes)
        output = self._prepare_output(handler.returns)
        hints = _definition(
            readOnlyHint=read_only,
            destructiveHint=destructive,
            idempotentHint=idempotent,
            openWorldHint=open_world,
        )
        self.definition = to_json(
            _definition(
                name=self.key,
                title=title,
                description=handler.description if description is None else description,
                inputSchema=handler.schema if input_schema is None else input_schema,
                outputSchema=output,
                annotations=hints or None,
                icons=icons,
                _meta=meta,
            )
        )

    def _prepare_output(self, hint: Any) -> dict[str, Any] | None:
        """Give the output schema; where that takes no more, the encoder is made by the first result."""
        self._encode_result: Callable[[Any], bytes] = self._encode_first
        if hint is MISSING or hint is None or hint is str:
            return None
        plain = output_schema(hint)
        if plain is not None:
            return plain
        from ._content import tool_encoder

        try:
            self._encode_result, output = tool_encoder(hint)
        except TypeError as error:
            raise TypeError(f"handler {self.handler.name!r} return type: {error}") from error
        return None if output is None else output.schema

    def _encode_first(self, value: Any) -> bytes:
        from ._content import tool_encoder

        self._encode_result, _ = tool_encoder(self.handler.returns)
        return self._encode_result(value)

    def encode(self, value: Any, event: Any) -> bytes:
        return self._encode_result(value)

    def register(self, machine: Machine) -> None:
        machine.add_tool(self.definition)

    def unregister(self, machine: Machine) -> None:
        machine.remove_tool(self.key)

    def refuse_arguments(self, machine: Machine, event: Any, reason: str) -> None:
        machine.respond_invalid_arguments(event.request, f"Invalid arguments for {self.key}: {reason}")

    def fail(self, machine: Machine, event: Any, error: BaseException, debug: bool) -> bool:
        from ._content import error_result

        if isinstance(error, (ToolError, InputRefusedError, InvalidAnswerError)):
            machine.respond(event.request, error_result(str(error)))
            return True
        if isinstance(error, (MissingCapabilityError, RpcError)):
            return super().fail(machine, event, error, debug)
        machine.respond(event.request, error_result(_public(error, debug)))
        return False


class Resource(Endpoint):
    """A resource or a template of resources; its key is the URI or the template."""

    __slots__ = ("is_template", "mime_type")

    def __init__(
        self,
        function: Callable[..., Any],
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        size: int | None = None,
        annotations: Any = None,
        icons: Any = None,
        meta: dict[str, Any] | None = None,
        inline: bool = False,
        resume: Resume = "replay",
        scopes: Scopes | None = None,
        namespace: Mapping[str, Any] | None = None,
    ) -> None:
        handler = _inspect(function, namespace, strict=False)
        super().__init__(handler, uri, inline=inline, resume=resume, scopes=scopes)
        self.mime_type = mime_type
        self.is_template = "{" in uri
        _check_variables(handler, uri)
        self.definition = to_json(
            _definition(
                **{"uriTemplate" if self.is_template else "uri": uri},
                name=name or handler.name,
                title=title,
                description=handler.description if description is None else description,
                mimeType=mime_type,
                size=size,
                annotations=annotations,
                icons=icons,
                _meta=meta,
            )
        )

    def encode(self, value: Any, event: Any) -> bytes:
        from ._content import resource_result

        return resource_result(value, event.uri, self.mime_type)

    def register(self, machine: Machine) -> None:
        if self.is_template:
            machine.add_resource_template(self.definition)
        else:
            machine.add_resource(self.definition)

    def unregister(self, machine: Machine) -> None:
        if self.is_template:
            machine.remove_resource_template(self.key)
        else:
            machine.remove_resource(self.key)


def _check_variables(handler: Handler, uri: str) -> None:
    """The variables of a template and the parameters of its handler must be the same names."""
    variables = set(template_variables(uri))
    parameters = {parameter.name for parameter in handler.parameters}
    required = {parameter.name for parameter in handler.parameters if parameter.required}
    for name in sorted(required - variables):
        raise TypeError(f"handler {handler.name!r}: parameter {name!r} is no variable of {uri!r}")
    for name in sorted(variables - parameters):
        raise TypeError(f"handler {handler.name!r} has no parameter for the variable {name!r} of {uri!r}")


class Prompt(Endpoint):
    """A prompt; its key is the name."""

    __slots__ = ()

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: Any = None,
        meta: dict[str, Any] | None = None,
        inline: bool = False,
        resume: Resume = "replay",
        scopes: Scopes | None = None,
        namespace: Mapping[str, Any] | None = None,
    ) -> None:
        handler = _inspect(function, namespace, strict=False)
        super().__init__(handler, name or handler.name, inline=inline, resume=resume, scopes=scopes)
        _check_strings(handler)
        arguments = [
            _definition(
                name=parameter.name,
                description=handler.schema["properties"][parameter.name].get("description"),
                required=parameter.required or None,
            )
            for parameter in handler.parameters
        ]
        self.definition = to_json(
            _definition(
                name=self.key,
                title=title,
                description=handler.description if description is None else description,
                arguments=arguments or None,
                icons=icons,
                _meta=meta,
            )
        )

    def encode(self, value: Any, event: Any) -> bytes:
        from ._content import prompt_result

        return prompt_result(value)

    def register(self, machine: Machine) -> None:
        machine.add_prompt(self.definition)

    def unregister(self, machine: Machine) -> None:
        machine.remove_prompt(self.key)


def _check_strings(handler: Handler) -> None:
    """The arguments of prompts are strings: of what cannot be read from one, no call would succeed."""
    for parameter in handler.parameters:
        kind = parameter.schema.get("type")
        if kind in ("array", "object") and parameter.convert is None:
            raise TypeError(
                f"handler {handler.name!r} parameter {parameter.name!r}: arguments of prompts are strings, "
                f"from which no {kind} can be read"
            )


class Completer(Endpoint):
    """Suggestions for one argument of a prompt, or one variable of a template.

    The handler takes what was typed so far, and if it has a second parameter, the arguments that
    are settled already (a dict of strings by name). It returns the suggestions, best first.
    """

    __slots__ = ()

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        inline: bool = False,
        namespace: Mapping[str, Any] | None = None,
    ) -> None:
        handler = _inspect(function, namespace, strict=False)
        super().__init__(handler, handler.name, inline=inline, resume="replay")
        count = len(handler.parameters)
        if count > 2 or handler.keywords:
            raise TypeError(
                f"completion {handler.name!r} takes the typed value and, if it likes, the settled arguments"
            )
        handler.bind = self._bind_first

    def _bind_first(self, raw: bytes) -> tuple[Any, ...]:
        import msgspec

        count = len(self.handler.parameters)
        kinds: Any = (str, dict[str, str])[:count]
        decode = msgspec.json.Decoder(tuple[kinds]).decode

        def bind(raw: bytes) -> tuple[Any, ...]:
            try:
                return decode(raw)
            except msgspec.ValidationError as error:
                raise InvalidArguments(str(error)) from None

        self.handler.bind = bind
        return bind(raw)

    def raw_arguments(self, event: Any) -> bytes:
        """The JSON of the values, from the event of a request."""
        import msgspec

        values = (event.value, msgspec.Raw(event.arguments or b"{}"))
        return msgspec.json.encode(values[: len(self.handler.parameters)])

    def encode(self, value: Any, event: Any) -> bytes:
        # The core shortens what is more than the protocol allows, and says so.
        values = list(value)
        return to_json({"completion": {"values": values, "total": len(values), "hasMore": False}})


NO_COMPLETIONS = b'{"completion":{"values":[]}}'
