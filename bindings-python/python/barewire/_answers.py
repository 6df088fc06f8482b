"""Questions of a server as the client's handlers see them, and the JSON of what the handlers answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Raw, Struct

from ._content import Role, Text
from ._results import Content, Problem, Reader, Received, read_block, wire_name

if TYPE_CHECKING:
    from ._native import InputKindName
    from ._questions import ElicitResult, Root, SampleResult

    ElicitAnswer = ElicitResult[Any] | Mapping[str, Any]
    SampleAnswer = SampleResult | str
    RootsAnswer = list[Root] | list[str]

__all__ = ["ElicitRequest", "SampleRequest", "SamplingMessage", "answer", "read_question"]


class ElicitRequest(Received, Struct, frozen=True, kw_only=True, rename=wire_name):
    """The server asks the user: to fill the form that `requested_schema` describes, or to visit `url`.

    A handler answers with an :class:`ElicitResult`, or with the content of the form, which accepts it.
    """

    message: str
    mode: Literal["form", "url"] = "form"
    requested_schema: dict[str, Any] | None = None
    url: str | None = None
    elicitation_id: str | None = None
    meta: dict[str, Any] | None = None
    _raw: Raw = Raw()


class SamplingMessage(Struct, frozen=True):
    """One message of a conversation to be continued."""

    role: Role
    content: list[Content]


class _SamplingParams(Struct, frozen=True, kw_only=True, rename=wire_name):
    messages: list[Raw]
    max_tokens: int | None = None
    system_prompt: str | None = None
    temperature: float | None = None
    stop_sequences: list[str] | None = None
    include_context: str | None = None
    model_preferences: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: dict[str, Any] | None = None
    meta: dict[str, Any] | None = None


class SampleRequest:
    """The server asks the client's model to continue `messages`.

    The other parameters are attributes as in `sampling/createMessage`; `raw` is the JSON of all of them. A
    handler answers with a :class:`SampleResult`, or with plain text.
    """

    __slots__ = ("_params", "messages", "raw")

    def __init__(self, params: _SamplingParams, messages: list[SamplingMessage], raw: bytes) -> None:
        self._params = params
        self.messages = messages
        self.raw = raw

    @property
    def max_tokens(self) -> int | None:
        """The most tokens wanted."""
        return self._params.max_tokens

    @property
    def system_prompt(self) -> str | None:
        """The system prompt wanted."""
        return self._params.system_prompt

    @property
    def temperature(self) -> float | None:
        """The temperature wanted."""
        return self._params.temperature

    @property
    def stop_sequences(self) -> list[str] | None:
        """Texts that should end the answer."""
        return self._params.stop_sequences

    @property
    def include_context(self) -> str | None:
        """From which servers to include context."""
        return self._params.include_context

    @property
    def model_preferences(self) -> dict[str, Any] | None:
        """Which kind of model is wanted."""
        return self._params.model_preferences

    @property
    def metadata(self) -> dict[str, Any] | None:
        """For the provider of the model."""
        return self._params.metadata

    @property
    def tools(self) -> list[dict[str, Any]] | None:
        """Tools that the model may use."""
        return self._params.tools

    @property
    def tool_choice(self) -> dict[str, Any] | None:
        """How the model may use them."""
        return self._params.tool_choice

    @property
    def meta(self) -> dict[str, Any] | None:
        """The ``_meta`` of the parameters."""
        return self._params.meta


class _Message(Struct):
    role: Role
    content: Raw


_elicitation = Reader[ElicitRequest](ElicitRequest)
_sampling = Reader[_SamplingParams](_SamplingParams)
_message = Reader[_Message](_Message)


def read_question(kind: InputKindName, params: bytes | None) -> ElicitRequest | SampleRequest | None:
    """What a handler is called with; None for roots, whose handler takes nothing. Raises ValueError."""
    raw = Raw(params or b"{}")
    problems: list[Problem] = []
    question: ElicitRequest | SampleRequest | None = None
    if kind == "elicitation":
        question = _elicitation.item(raw, None, problems)
    elif kind == "sampling":
        question = _read_sampling(raw, problems)
    rejected = [str(problem) for problem in problems if problem.rejected]
    if rejected:
        raise ValueError("; ".join(rejected))
    return question


def _read_sampling(raw: Raw, problems: list[Problem]) -> SampleRequest | None:
    params = _sampling.read(raw, None, problems)
    if params is None:
        return None
    messages: list[SamplingMessage] = []
    for index, item in enumerate(params.messages):
        message = _message.read(item, index, problems)
        if message is not None:
            many = bytes(message.content).lstrip()[:1] == b"["
            raws = msgspec.json.decode(message.content, type=list[Raw]) if many else [message.content]
            blocks = [read_block(block, index, problems) for block in raws]
            messages.append(SamplingMessage(message.role, [block for block in blocks if block is not None]))
    return SampleRequest(params, messages, bytes(raw))


def answer(kind: InputKindName, value: Any) -> bytes:
    """The JSON of what a handler of `kind` returned. Raises TypeError or ValueError for what it may not."""
    return msgspec.json.encode(_ANSWERS[kind](value))


def _answer_elicitation(value: Any) -> dict[str, Any]:
    from ._questions import ElicitResult

    if isinstance(value, ElicitResult):
        content = {} if value.content is None else {"content": value.content}
        return {"action": value.action, **content}
    if isinstance(value, Mapping):
        return {"action": "accept", "content": value}
    raise TypeError(f"an elicitation is answered by an ElicitResult or a mapping, not {type(value).__name__}")


def _answer_sampling(value: Any) -> dict[str, Any]:
    from ._questions import SampleResult

    if isinstance(value, str):
        return {"role": "assistant", "content": Text(value), "model": "unspecified"}
    if not isinstance(value, SampleResult):
        raise TypeError(f"sampling is answered by a SampleResult or text, not {type(value).__name__}")
    content = value.content
    if isinstance(content, list):
        blocks: list[Any] = [Text(block) if isinstance(block, str) else block for block in content]
        # One block alone is what every revision understands.
        content = blocks[0] if len(blocks) == 1 else blocks
    elif isinstance(content, str):
        content = Text(content)
    answer = {"role": value.role, "content": content, "model": value.model}
    return answer if value.stop_reason is None else {**answer, "stopReason": value.stop_reason}


def _answer_roots(value: Any) -> dict[str, Any]:
    return {"roots": [_root(item) for item in value]}


def _root(item: Any) -> dict[str, Any]:
    uri, name = (item, None) if isinstance(item, str) else (item.uri, item.name)
    if not uri.startswith("file://"):
        raise ValueError(f"a root is a file:// URI, not {uri!r}")
    return {"uri": uri} if name is None else {"uri": uri, "name": name}


_ANSWERS: dict[InputKindName, Callable[[Any], dict[str, Any]]] = {
    "elicitation": _answer_elicitation,
    "sampling": _answer_sampling,
    "roots": _answer_roots,
}
