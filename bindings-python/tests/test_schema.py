"""Type hints and docstrings to schemas, and raw arguments to call arguments."""

# The hints and defaults that users write are the subject here.
# ruff: noqa: UP007, UP045, RUF013, B006, B008

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field, make_dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, TypedDict, Union

import msgspec
import pytest
from barewire._docstring import parse
from barewire._hints import Doc, Output
from barewire._schema import Handler, InvalidArguments, inspect_handler


class Context:
    """Stands in for the request context."""


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    """A place.

    Attributes:
        x: To the right.
    """

    x: int
    y: Annotated[int, Doc("Upwards.")] = 0


@dataclass
class Circle:
    radius: float
    center: Point = field(default_factory=lambda: Point(0))


@dataclass
class Node:
    value: int
    children: list[Node] = field(default_factory=list)


class Options(TypedDict, total=False):
    depth: int


def schema_of(function: Any, **options: Any) -> dict[str, Any]:
    return inspect_handler(function, **options).schema


def properties_of(function: Any) -> dict[str, Any]:
    found: dict[str, Any] = schema_of(function)["properties"]
    return found


def bind(function: Any, arguments: Any, **options: Any) -> tuple[Any, ...]:
    handler = inspect_handler(function, **options)
    return handler.bind(json.dumps(arguments).encode())


def fault(function: Any, arguments: Any) -> str:
    with pytest.raises(InvalidArguments) as caught:
        bind(function, arguments)
    return str(caught.value)


def mistake(function: Any, **options: Any) -> str:
    with pytest.raises(TypeError) as caught:
        inspect_handler(function, **options)
    return str(caught.value)


# ---------------------------------------------------------------- input schemas


# proves: FEAT-009 FEAT-010
def test_simple_parameters_make_an_object_schema() -> None:
    def add(a: int, b: float = 1.5, flag: bool = False) -> float:
        return a + b

    assert schema_of(add) == {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "number", "default": 1.5},
            "flag": {"type": "boolean", "default": False},
        },
        "required": ["a"],
    }


# proves: FEAT-011
def test_no_parameters_close_the_object() -> None:
    def now() -> str:
        return ""

    assert schema_of(now) == {"type": "object", "properties": {}, "additionalProperties": False}
    assert bind(now, {}) == ()


def test_all_optional_leaves_required_out() -> None:
    def f(a: int = 1) -> None: ...

    assert "required" not in schema_of(f)


def test_optional_and_none_default() -> None:
    def f(a: Optional[int] = None, b: str = None, c: int | None = 3) -> None: ...  # type: ignore[assignment]

    found = properties_of(f)
    assert found["a"] == {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}
    assert found["b"] == {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
    assert bind(f, {"b": None, "c": None}) == (None, None, None)


def test_literal_enum_and_containers() -> None:
    def f(mode: Literal["fast", "slow"], color: Color, names: list[str], by: dict[str, int]) -> None: ...

    schema = schema_of(f)
    assert schema["properties"]["mode"] == {"enum": ["fast", "slow"], "type": "string"}
    assert schema["$defs"]["Color"] == {"title": "Color", "enum": ["red", "blue"], "type": "string"}
    assert schema["properties"]["names"] == {"type": "array", "items": {"type": "string"}}
    assert bind(f, {"mode": "slow", "color": "red", "names": ["a"], "by": {"k": 1}}) == (
        "slow",
        Color.RED,
        ["a"],
        {"k": 1},
    )


def test_nested_classes_share_definitions() -> None:
    def f(circle: Circle, at: Point) -> None: ...

    schema = schema_of(f)
    assert schema["properties"]["at"]["$ref"] == "#/$defs/Point"
    assert set(schema["$defs"]) == {"Circle", "Point"}
    assert bind(f, {"circle": {"radius": 1}, "at": {"x": 2}}) == (Circle(1.0), Point(2))


def test_fields_of_nested_classes_are_described() -> None:
    def f(at: Point) -> None: ...

    point = schema_of(f)["$defs"]["Point"]
    assert point["description"] == "A place."
    assert point["properties"]["x"]["description"] == "To the right."
    assert point["properties"]["y"]["description"] == "Upwards."


def test_recursive_class() -> None:
    def f(node: Node) -> None: ...

    assert "Node" in schema_of(f)["$defs"]
    assert bind(f, {"node": {"value": 1, "children": [{"value": 2}]}}) == (Node(1, [Node(2)]),)


def test_typed_dict() -> None:
    def f(options: Options) -> None: ...

    assert schema_of(f)["$defs"]["Options"]["properties"] == {"depth": {"type": "integer"}}
    assert bind(f, {"options": {}}) == ({},)


def test_any_and_no_hint_accept_everything() -> None:
    def f(a: Any, b) -> None: ...  # type: ignore[no-untyped-def]

    assert properties_of(f) == {"a": {}, "b": {}}
    assert bind(f, {"a": [1], "b": {"c": None}}) == ([1], {"c": None})


def test_object_accepts_everything_too() -> None:
    def f(a: object, b: dict[str, object]) -> None: ...

    assert properties_of(f) == {"a": {}, "b": {"type": "object"}}
    assert bind(f, {"a": [1], "b": {"c": None}}) == ([1], {"c": None})
    output = Output(dict[str, object])
    assert output.encode({"a": [Color.RED, None]}) == b'{"a":["red",null]}'


def test_unions_that_only_a_trial_tells_apart() -> None:
    def f(shape: Union[Point, Circle], many: list[int] | list[str]) -> None: ...

    schema = schema_of(f)
    assert schema["properties"]["shape"] == {"anyOf": [{"$ref": "#/$defs/Point"}, {"$ref": "#/$defs/Circle"}]}
    assert bind(f, {"shape": {"radius": 2}, "many": ["a"]}) == (Circle(2.0), ["a"])
    assert fault(f, {"shape": {}, "many": []}).startswith("shape: fits no allowed form: x: required")


def test_paths() -> None:
    def f(where: Path, to: Path = Path("/tmp")) -> None: ...

    assert properties_of(f) == {
        "where": {"type": "string", "format": "path"},
        "to": {"type": "string", "format": "path", "default": "/tmp"},
    }
    assert bind(f, {"where": "a/b"}) == (Path("a/b"), Path("/tmp"))


def test_bytes_are_base64() -> None:
    def f(data: bytes) -> None: ...

    assert properties_of(f)["data"] == {"type": "string", "contentEncoding": "base64"}
    assert bind(f, {"data": "YWJj"}) == (b"abc",)


def test_mutable_defaults() -> None:
    def f(a: list[int] = [1, 2], p: Point = Point(3)) -> None: ...

    found = properties_of(f)
    assert found["a"]["default"] == [1, 2]
    assert found["p"]["default"] == {"x": 3, "y": 0}
    assert bind(f, {}) == ([1, 2], Point(3))


def test_a_default_without_json_form_is_not_announced() -> None:
    marker = object()

    def f(a: Any = marker) -> None: ...

    assert properties_of(f) == {"a": {}}
    assert bind(f, {}) == (marker,)


# ---------------------------------------------------------------- descriptions and constraints


def test_annotated_descriptions() -> None:
    def f(
        a: Annotated[int, "plain"],
        b: Annotated[int, Doc("documented")],
        c: Annotated[int, msgspec.Meta(description="meta", ge=1)],
        d: list[Annotated[int, Doc("inner")]],
    ) -> None: ...

    found = properties_of(f)
    assert found["a"]["description"] == "plain"
    assert found["b"]["description"] == "documented"
    assert found["c"] == {"description": "meta", "type": "integer", "minimum": 1}
    assert found["d"]["items"]["description"] == "inner"


def test_annotated_description_wins_over_the_docstring() -> None:
    def f(a: Annotated[int, "from the hint"], b: int) -> None:
        """Do it.

        Args:
            a: from the docstring
            b: also from there
        """

    found = properties_of(f)
    assert found["a"]["description"] == "from the hint"
    assert found["b"]["description"] == "also from there"


# proves: FEAT-049
def test_msgspec_constraints_are_announced_and_enforced() -> None:
    def f(
        n: Annotated[int, msgspec.Meta(ge=1, le=9)], s: Annotated[str, msgspec.Meta(pattern="^a")]
    ) -> None: ...

    assert properties_of(f)["n"] == {"type": "integer", "minimum": 1, "maximum": 9}
    assert fault(f, {"n": 10, "s": "a"}) == "n: Expected `int` <= 9"
    assert fault(f, {"n": 1, "s": "b"}) == "s: Expected `str` matching regex '^a'"


def test_annotated_types_constraints() -> None:
    at = pytest.importorskip("annotated_types")

    def f(
        n: Annotated[int, at.Ge(1), at.Lt(5)],
        s: Annotated[str, at.Len(1, 3)],
        k: Annotated[int, at.Interval(gt=0)],
    ) -> None: ...

    hints = {"at": at}
    found = inspect_handler(f, namespace=hints).schema["properties"]
    assert found["n"] == {"type": "integer", "minimum": 1, "exclusiveMaximum": 5}
    assert found["s"] == {"type": "string", "minLength": 1, "maxLength": 3}
    assert found["k"] == {"type": "integer", "exclusiveMinimum": 0}
    with pytest.raises(InvalidArguments, match=r"n: Expected `int` <= 4"):
        bind(f, {"n": 5, "s": "a", "k": 1}, namespace=hints)


def test_a_constraint_without_schema_is_a_mistake() -> None:
    at = pytest.importorskip("annotated_types")

    def f(n: Annotated[int, at.Predicate(str.isdigit)]) -> None: ...

    text = mistake(f, namespace={"at": at})
    assert "parameter 'n'" in text and "no JSON Schema" in text


@pytest.mark.parametrize(
    "docstring",
    [
        """Sum up.

        More words.

        Args:
            a (int): The first
                of two.
            b: The second: with a colon.

        Returns:
            The sum.
        """,
        """Sum up.

        More words.

        Parameters
        ----------
        a : int
            The first
            of two.
        b
            The second: with a colon.

        Returns
        -------
        The sum.
        """,
        """Sum up.

        More words.

        :param int a: The first
            of two.
        :type a: int
        :param b: The second: with a colon.

        :returns: The sum.
        """,
    ],
    ids=["google", "numpy", "rest"],
)
def test_docstring_styles(docstring: str) -> None:
    text, found = parse(docstring)
    assert found == {"a": "The first of two.", "b": "The second: with a colon."}
    assert text.startswith("Sum up.\n\nMore words.\n\n")
    assert "The first" not in text
    assert "The sum." in text


def test_docstring_of_several_names() -> None:
    _, found = parse("X.\n\nParameters\n----------\na, b : int\n    Both.\n")
    assert found == {"a": "Both.", "b": "Both."}


def test_a_docstring_line_that_only_looks_like_a_section_stays() -> None:
    text, found = parse("Use it as\n\n    Args:\n\nand so on.")
    assert found == {}
    assert "Args:" in text


def test_no_docstring() -> None:
    assert parse(None) == ("", {})
    assert parse("One line.") == ("One line.", {})


# ---------------------------------------------------------------- binding


def test_context_stays_out_of_the_schema_and_keeps_its_place() -> None:
    def first(ctx: Context, a: int) -> None: ...
    def middle(a: int, ctx: Context, b: int = 2) -> None: ...
    def last(a: int, *, ctx: Context | None = None, b: int = 3) -> None: ...

    marker = Context()
    for function, expected in (
        (first, ((marker, 1), {})),
        (middle, ((1, marker, 2), {})),
        (last, ((1,), {"b": 3, "ctx": marker})),
    ):
        handler = inspect_handler(function, contexts=(Context,))
        assert "ctx" not in handler.schema["properties"]
        assert not handler.plain
        assert handler.arguments(handler.bind(b'{"a":1}'), marker) == expected


def test_plain_handlers_take_the_values_as_they_come() -> None:
    def f(a: int, /, b: int = 2) -> int:
        return a + b

    handler = inspect_handler(f)
    assert handler.plain
    assert handler.function(*handler.bind(b'{"a":1}')) == 3


def test_methods_partials_and_callable_objects() -> None:
    class Service:
        def method(self, a: int) -> int:
            return a

        async def __call__(self, b: str) -> str:
            """Call it."""
            return b

    service = Service()
    assert list(properties_of(service.method)) == ["a"]
    handler = inspect_handler(service)
    assert (handler.is_async, handler.name, list(handler.schema["properties"])) == (
        True,
        "Service",
        ["b"],
    )

    def two(a: int, b: str) -> None: ...

    assert list(properties_of(functools.partial(two, 1))) == ["b"]


def test_wrapped_functions_show_the_inner_signature() -> None:
    def decorator(inner: Any) -> Any:
        @functools.wraps(inner)
        def outer(*args: Any, **kwargs: Any) -> Any:
            return inner(*args, **kwargs)

        return outer

    @decorator
    def f(a: int) -> str:
        """Doc."""
        return str(a)

    handler = inspect_handler(f)
    assert handler.schema["properties"] == {"a": {"type": "integer"}}
    assert handler.description == "Doc."


def test_strings_convert_where_all_arguments_are_strings() -> None:
    def f(n: int, flag: bool, text: str) -> None: ...

    assert bind(f, {"n": "5", "flag": "true", "text": "7"}, strict=False) == (5, True, "7")
    with pytest.raises(InvalidArguments):
        bind(f, {"n": "5", "flag": "true", "text": "7"})


def test_unknown_members_are_ignored() -> None:
    def f(a: int) -> None: ...

    assert bind(f, {"a": 1, "z": 2}) == (1,)


def test_big_integers_survive() -> None:
    def f(a: int) -> None: ...

    assert inspect_handler(f).bind(b'{"a":123456789012345678901234567890}') == (
        123456789012345678901234567890,
    )


# proves: FEAT-049
def test_faults_name_their_path() -> None:
    def f(a: int, points: list[Point]) -> None: ...

    assert fault(f, {"points": []}) == "a: required, but missing"
    assert fault(f, {"a": "x", "points": []}) == "a: Expected `int`, got `str`"
    assert fault(f, {"a": 1, "points": [{"x": 1}, {"x": None}]}) == (
        "points[1].x: Expected `int`, got `null`"
    )
    assert fault(f, {"a": 1, "points": [{}]}) == "points[0].x: required, but missing"


def test_choices_keep_their_order() -> None:
    @dataclass
    class Choice:
        size: Literal["s", "m", "l"]

    def f(level: Literal["low", "high"], many: list[Literal[3, 1, 2]], choice: Choice) -> None: ...

    schema = inspect_handler(f, namespace=locals()).schema
    assert schema["properties"]["level"]["enum"] == ["low", "high"]
    assert schema["properties"]["many"]["items"]["enum"] == [3, 1, 2]
    assert schema["$defs"]["Choice"]["properties"]["size"]["enum"] == ["s", "m", "l"]


# proves: FEAT-049
def test_a_value_that_cannot_be_chosen_is_told_what_can() -> None:
    @dataclass
    class Choice:
        size: Literal["s", "m", "l"]

    def f(
        level: Literal["low", "high"] | None = None,
        color: Color = Color.RED,
        choices: list[Choice] = [],
        by: dict[str, Color] = {},
    ) -> None: ...

    def told(arguments: Any) -> str:
        with pytest.raises(InvalidArguments) as caught:
            bind(f, arguments, namespace={"Choice": Choice, "Color": Color})
        return str(caught.value)

    assert told({"level": "mid"}) == "level: Invalid enum value 'mid'; allowed: 'low', 'high'"
    assert told({"color": "green"}) == "color: Invalid enum value 'green'; allowed: 'red', 'blue'"
    sizes = "Invalid enum value 'xl'; allowed: 's', 'm', 'l'"
    assert told({"choices": [{"size": "s"}, {"size": "xl"}]}) == f"choices[1].size: {sizes}"
    assert told({"by": {"a": "green"}}).endswith("allowed: 'red', 'blue'")


# ---------------------------------------------------------------- mistakes at registration


def test_a_class_is_no_handler() -> None:
    class Service:
        def __init__(self, a: int) -> None: ...

    assert "'Service' is a class; register a function" in mistake(Service)


def test_variable_arguments_are_refused() -> None:
    def stars(*rest: int) -> None: ...
    def keywords(**rest: int) -> None: ...

    assert "'stars' takes *rest: name every argument" in mistake(stars)
    assert "'keywords' takes **rest: name every argument" in mistake(keywords)


def test_generators_unbound_methods_and_unknown_names_are_refused() -> None:
    def generator() -> Any:
        yield 1

    class Service:
        def method(self, a: int) -> None: ...

    def unknown(a: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    assert "generator" in mistake(generator)
    assert "unbound method" in mistake(Service.method)
    assert "'Missing' is not defined" in mistake(unknown)


def test_a_hint_without_schema_is_a_mistake_that_names_the_parameter() -> None:
    def f(a: int, z: complex) -> None: ...

    assert "handler 'f' parameter 'z': <class 'complex'> has no JSON Schema; use" in mistake(f)


def test_two_contexts_are_a_mistake() -> None:
    def f(a: Context, b: Context) -> None: ...

    assert "more than one context" in mistake(f, contexts=(Context,))


def test_local_classes_resolve_through_the_namespace() -> None:
    @dataclass
    class Local:
        a: int

    def f(x: Local) -> None: ...

    assert "Local" in schema_of(f, namespace=locals())["$defs"]


def test_context_imported_for_type_checkers_only() -> None:
    def f(ctx: Context, a: int) -> None: ...

    del f.__globals__["Context"]
    try:
        handler: Handler = inspect_handler(f, contexts=(_context,))
    finally:
        f.__globals__["Context"] = _context
    assert handler.wants_context


_context = Context


# ---------------------------------------------------------------- pydantic


def test_pydantic_models_validate_and_describe_themselves() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Address(pydantic.BaseModel):  # type: ignore[misc,name-defined]
        street: str

    class Person(pydantic.BaseModel):  # type: ignore[misc,name-defined]
        name: str
        address: Address
        age: int = pydantic.Field(default=1, ge=0)

    def f(person: Person, n: int = 1, more: Person | None = None) -> None: ...

    schema = schema_of(f, namespace=locals())
    assert schema["properties"]["person"]["required"] == ["name", "address"]
    assert "Address" in schema["$defs"]
    sent = {"person": {"name": "A", "address": {"street": "S"}}}
    person = Person(name="A", address=Address(street="S"))
    assert bind(f, sent, namespace=locals()) == (person, 1, None)
    sent["person"]["address"] = {"street": 5}
    with pytest.raises(InvalidArguments, match=r"^person\.address\.street: Input should be"):
        bind(f, sent, namespace=locals())


def test_pydantic_field_in_annotated() -> None:
    pydantic = pytest.importorskip("pydantic")

    def f(n: Annotated[int, pydantic.Field(ge=3, description="How many")] = 4) -> None: ...

    names = {"pydantic": pydantic}
    found = schema_of(f, namespace=names)["properties"]["n"]
    assert found == {"type": "integer", "minimum": 3, "description": "How many", "default": 4}
    with pytest.raises(InvalidArguments, match=r"^n: Input should be greater"):
        bind(f, {"n": 1}, namespace=names)


def test_pydantic_inside_a_dataclass() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Inner(pydantic.BaseModel):  # type: ignore[misc,name-defined]
        a: int

    Outer = make_dataclass("Outer", [("inner", Inner)])

    def f(outer: Outer) -> None: ...  # type: ignore[valid-type]

    assert bind(f, {"outer": {"inner": {"a": 1}}}, namespace=locals()) == (Outer(Inner(a=1)),)


# ---------------------------------------------------------------- output schemas


# proves: FEAT-014
@pytest.mark.parametrize("hint", [Point, Circle, Options, dict[str, int], dict, Node])
def test_object_roots_stay_as_they_are(hint: Any) -> None:
    output = Output(hint)
    assert not output.wrapped
    assert output.schema["type"] == "object"


# proves: FEAT-014
@pytest.mark.parametrize("hint", [int, list[Point], Optional[Point], Union[Point, Circle], Color])
def test_other_roots_are_wrapped(hint: Any) -> None:
    output = Output(hint)
    assert output.wrapped
    assert output.schema["type"] == "object"
    assert output.schema["required"] == ["result"]


def test_definitions_hold_only_what_is_referred_to() -> None:
    assert "$defs" not in Output(Point).schema
    assert set(Output(Circle).schema["$defs"]) == {"Point"}
    assert set(Output(Node).schema["$defs"]) == {"Node"}


# proves: FEAT-015
def test_values_that_break_the_output_schema_are_refused() -> None:
    assert Output(Point).encode(Point(1)) == b'{"x":1,"y":0}'
    with pytest.raises(ValueError, match="Expected `int`, got `str`"):
        Output(Point).encode(Point("one"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="missing required field `x`"):
        Output(Point).encode({})


def test_structured_content_made_by_hand_is_checked_as_a_whole() -> None:
    assert Output(int).check({"result": 3}) == b'{"result":3}'
    with pytest.raises(ValueError, match="result: required, but missing"):
        Output(int).check({})
    with pytest.raises(ValueError, match="Expected `int`"):
        Output(int).check({"result": "x"})


def test_pydantic_output() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Person(pydantic.BaseModel):  # type: ignore[misc,name-defined]
        name: str = pydantic.Field(serialization_alias="fullName")

    output = Output(Person)
    assert list(output.schema["properties"]) == ["fullName"]
    assert output.encode_value(Person(name="A")) == b'{"fullName":"A"}'
