"""Plain hints are described without msgspec, in the same words as with it."""

# The hints and defaults that users write are the subject here.
# ruff: noqa: UP045, RUF013, B006

from __future__ import annotations

import json
from typing import Annotated, Any, Optional

import pytest
from barewire import Context
from barewire._content import tool_encoder
from barewire._hints import describe_hints
from barewire._plain import MISSING, encode, output_schema, schema_of, to_json
from barewire._schema import inspect_handler

HINTS: list[Any] = [
    str,
    int,
    float,
    bool,
    list,
    dict,
    list[str],
    list[list[int]],
    dict[str, bool],
    dict[str, list[float]],
    int | None,
    str | None,
    list[str | None],
    list[int] | None,
]


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_the_same_schemas_as_msgspec(hint: Any) -> None:
    (schema,), definitions = describe_hints([hint])
    assert schema_of(hint) == schema and not definitions
    _, output = tool_encoder(hint)
    assert output_schema(hint) == (None if output is None else output.schema)


@pytest.mark.parametrize(
    "hint", [bytes, Any, None, Optional[int], int | str, dict[int, str], tuple[int, ...], set]
)
def test_other_hints_are_left_alone(hint: Any) -> None:
    assert schema_of(hint) is None
    assert output_schema(hint) is None


def test_handlers_look_the_same_either_way() -> None:
    def handler(  # type: ignore[no-untyped-def]
        a,
        b: int,
        ctx: Context,
        c: str = "x",
        d: float | None = None,
        e: str = None,  # type: ignore[assignment]
        *,
        f: list[int] = [1],
    ) -> dict[str, int]:
        """Does.

        Args:
            b: A number.
        """
        return {}

    plain = inspect_handler(handler, contexts=(Context,))
    handler.__annotations__["b"] = Annotated[int, "A number."]
    other = inspect_handler(handler, contexts=(Context,))
    assert plain.schema == other.schema
    assert plain.description == other.description == "Does."
    raw = b'{"a":[1],"b":2,"d":3}'
    for found in (plain, other):
        assert found.bind(raw) == ([1], 2, "x", 3.0, None, [1])
        assert found.bind(raw) == ([1], 2, "x", 3.0, None, [1])
        assert found.arguments(found.bind(raw), "ctx") == (([1], 2, "ctx", "x", 3.0, None), {"f": [1]})


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -5,
        10**30,
        1.5,
        1e300,
        "",
        'q " b \\ n \n t \t r \r nul \x00 del \x7f é 𝄞 \u2028 /',
        {"a": [1, {"b": None}], "": ()},
    ],
    ids=repr,
)
def test_plain_values_are_encoded_as_json(value: Any) -> None:
    assert json.loads(encode(value)) == json.loads(json.dumps(value))
    assert "\n" not in encode(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"x", {1: 2}, object(), MISSING], ids=repr)
def test_other_values_are_not_plain(value: Any) -> None:
    with pytest.raises(TypeError, match="is not plain"):
        encode(value)


def test_any_value_with_a_json_form_has_one() -> None:
    assert to_json({"a": b"abc"}) == b'{"a":"YWJj"}'
