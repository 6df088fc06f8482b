"""What an independent reader of JSON Schema 2020-12 makes of the schemas, against what handlers take.

The schemas name no dialect, so that they are read as 2020-12 (basic/index, JSON Schema Usage).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import msgspec
import pytest
from barewire._hints import Output
from barewire._schema import InvalidArguments, inspect_handler

jsonschema = pytest.importorskip("jsonschema")


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: float = 0


@dataclass
class Node:
    value: int
    children: list[Node] = field(default_factory=list)


class Options(TypedDict, total=False):
    depth: int


class Pair(NamedTuple):
    first: int
    second: str


def simple(a: int, b: float = 1.5, flag: bool = False) -> Point:
    return Point(a)


def limited(
    n: Annotated[int, msgspec.Meta(ge=1, le=3)], s: Annotated[str, msgspec.Meta(min_length=2, pattern="^a")]
) -> int:
    return n


def nothing() -> str | None:
    return None


def choices(mode: Literal["fast", "slow"], color: Color, many: list[Color] | None = None) -> list[Point]:
    return []


def nested(tree: Node, options: Options, by: dict[str, Point]) -> dict[str, int]:
    return {}


def united(
    value: int | str | None, pair: Pair, few: Annotated[list[int], msgspec.Meta(max_length=2)]
) -> Color:
    return Color.RED


HANDLERS: list[Callable[..., Any]] = [simple, limited, nothing, choices, nested, united]

# Arguments for each handler, some of which fit.
ARGUMENTS: list[tuple[Callable[..., Any], list[Any]]] = [
    (
        simple,
        [
            {"a": 1},
            {"a": 1, "b": 2, "flag": True},
            {},
            {"a": "1"},
            {"a": 1.5},
            {"a": 1, "flag": "no"},
            {"a": None},
        ],
    ),
    (
        limited,
        [
            {"n": 1, "s": "ab"},
            {"n": 0, "s": "ab"},
            {"n": 4, "s": "ab"},
            {"n": 1, "s": "a"},
            {"n": 1, "s": "bb"},
        ],
    ),
    (nothing, [{}]),
    (
        choices,
        [
            {"mode": "fast", "color": "red"},
            {"mode": "fast", "color": "red", "many": ["blue"]},
            {"mode": "fast", "color": "red", "many": None},
            {"mode": "medium", "color": "red"},
            {"mode": "slow", "color": "green"},
            {"mode": "slow", "color": "red", "many": ["green"]},
            {"mode": "slow", "color": "red", "many": "blue"},
        ],
    ),
    (
        nested,
        [
            {"tree": {"value": 1, "children": [{"value": 2}]}, "options": {}, "by": {"a": {"x": 1}}},
            {"tree": {"value": 1, "children": [{"value": "2"}]}, "options": {}, "by": {}},
            {"tree": {"children": []}, "options": {}, "by": {}},
            {"tree": {"value": 1}, "options": {"depth": "x"}, "by": {}},
            {"tree": {"value": 1}, "options": {}, "by": {"a": {}}},
            {"tree": {"value": 1}, "options": {}, "by": []},
        ],
    ),
    (
        united,
        [
            {"value": None, "pair": [1, "a"], "few": [1]},
            {"value": 1, "pair": [1, "a"], "few": []},
            {"value": 1.5, "pair": [1, "a"], "few": []},
            {"value": "x", "pair": [1], "few": []},
            {"value": "x", "pair": [1, "a", 2], "few": []},
            {"value": "x", "pair": ["a", 1], "few": []},
            {"value": "x", "pair": [1, "a"], "few": [1, 2, 3]},
        ],
    ),
]


# proves: BASE-079 FEAT-066
@pytest.mark.parametrize("handler", HANDLERS)
def test_schemas_are_valid_in_their_dialect(handler: Callable[..., Any]) -> None:
    schema = inspect_handler(handler).schema
    assert "$schema" not in schema
    jsonschema.Draft202012Validator.check_schema(schema)
    output = Output(inspect_handler(handler).returns).schema
    assert "$schema" not in output
    jsonschema.Draft202012Validator.check_schema(output)


# proves: BASE-073 FEAT-059 FEAT-061
@pytest.mark.parametrize(("handler", "cases"), ARGUMENTS)
def test_arguments_are_taken_or_refused_as_the_schema_says(
    handler: Callable[..., Any], cases: list[Any]
) -> None:
    inspected = inspect_handler(handler)
    validator = jsonschema.Draft202012Validator(inspected.schema)
    verdicts = set()
    for arguments in cases:
        try:
            inspected.bind(json.dumps(arguments).encode())
            taken = True
        except InvalidArguments:
            taken = False
        assert taken == validator.is_valid(arguments), arguments
        verdicts.add(taken)
    # Each handler but the one without parameters has both.
    assert len(verdicts) == (1 if handler is nothing else 2)
