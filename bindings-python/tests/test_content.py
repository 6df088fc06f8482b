"""What handlers return, as the JSON of results."""

# The hints and defaults that users write are the subject here.
# ruff: noqa: UP007, UP045

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any, Literal, Optional, Union

import msgspec
import pytest
from barewire._content import (
    Annotations,
    Audio,
    Block,
    EmbeddedResource,
    Icon,
    Image,
    Message,
    PromptResult,
    ResourceContents,
    ResourceLink,
    Text,
    ToolResult,
    error_result,
    prompt_result,
    resource_result,
    text_result,
    tool_encoder,
)

PNG = b"\x89PNG"


@dataclass
class Quote:
    total: float


def result(hint: Any, value: Any) -> dict[str, Any]:
    encode, _ = tool_encoder(hint)
    found: dict[str, Any] = json.loads(encode(value))
    return found


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


# ---------------------------------------------------------------- tools


# proves: FEAT-021
@pytest.mark.parametrize("hint", [str, Any, Optional[str]])
def test_text(hint: Any) -> None:
    text = 'quote " slash \\ line\n é'
    assert result(hint, text) == {"content": [text_block(text)]}
    assert json.loads(text_result(text)) == {"content": [text_block(text)]}


# proves: FEAT-021
@pytest.mark.parametrize("hint", [None, type(None), Any])
def test_nothing_is_empty_content(hint: Any) -> None:
    assert result(hint, None) == {"content": []}


# proves: FEAT-015 FEAT-017 FEAT-019 FEAT-021
def test_objects_become_structured_content_and_text() -> None:
    found = result(Quote, Quote(9.5))
    assert found["structuredContent"] == {"total": 9.5}
    assert json.loads(found["content"][0]["text"]) == found["structuredContent"]


# proves: FEAT-018 FEAT-019
@pytest.mark.parametrize(
    ("hint", "value", "text"),
    [
        (int, 5, "5"),
        (list[int], [1, 2], "[1,2]"),
        (Optional[Quote], None, "null"),
        (bool, True, "true"),
    ],
)
def test_other_values_are_wrapped_and_copied_as_text(hint: Any, value: Any, text: str) -> None:
    assert result(hint, value) == {
        "content": [text_block(text)],
        "structuredContent": {"result": value},
    }


def test_a_structured_string_is_not_quoted_twice() -> None:
    assert result(Literal["a", "b"], "a") == {
        "content": [text_block("a")],
        "structuredContent": {"result": "a"},
    }


def test_unknown_types_without_schema_are_text() -> None:
    assert tool_encoder(Any)[1] is None
    assert result(Any, {"a": [1]}) == {"content": [text_block('{"a":[1]}')]}
    assert result(Any, ["a", "b"]) == {"content": [text_block('["a","b"]')]}


# proves: FEAT-041 FEAT-043 FEAT-044 FEAT-155 FEAT-156
def test_every_block() -> None:
    blocks: list[Any] = [
        "plain",
        Text("t", annotations=Annotations(audience=["user"], priority=0.5)),
        Image(PNG, "image/png"),
        Audio(b"RIFF", "audio/wav", meta={"k": 1}),
        EmbeddedResource(ResourceContents("test://a", "text/plain", text="")),
        EmbeddedResource(ResourceContents("test://b", blob=b"x")),
        ResourceLink("test://c", "c", mime_type="text/plain", size=3),
    ]
    found = result(list[Block], blocks)["content"]
    assert found == [
        text_block("plain"),
        {**text_block("t"), "annotations": {"audience": ["user"], "priority": 0.5}},
        {"type": "image", "data": base64.b64encode(PNG).decode(), "mimeType": "image/png"},
        {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav", "_meta": {"k": 1}},
        {"type": "resource", "resource": {"uri": "test://a", "mimeType": "text/plain", "text": ""}},
        {"type": "resource", "resource": {"uri": "test://b", "blob": "eA=="}},
        {
            "type": "resource_link",
            "uri": "test://c",
            "name": "c",
            "mimeType": "text/plain",
            "size": 3,
        },
    ]
    assert result(Any, blocks)["content"] == found
    assert msgspec.json.decode(json.dumps(found), type=list[Block])[2] == blocks[2]


def test_content_hints_have_no_output_schema() -> None:
    content: list[Any] = [
        Image,
        list[Image],
        Union[str, Image],
        Optional[Audio],
        tuple[Text, ...],
        bytes,
        ToolResult,
    ]
    for hint in content:
        assert tool_encoder(hint)[1] is None, hint
    data: list[Any] = [list[str], Quote, dict, float]
    for hint in data:
        assert tool_encoder(hint)[1] is not None, hint
    assert tool_encoder(Union[Image, Quote])[1] is None


def test_an_empty_list_of_blocks_is_empty_content() -> None:
    assert result(list[Image], []) == {"content": []}


def test_bytes_travel_as_a_resource() -> None:
    (block,) = result(bytes, b"\x00\x01")["content"]
    assert block["type"] == "resource"
    assert block["resource"]["blob"] == "AAE="
    assert block["resource"]["mimeType"] == "application/octet-stream"


def test_a_value_among_blocks_that_is_none_is_refused() -> None:
    with pytest.raises(TypeError, match="int among content blocks"):
        result(list[Image], [1])


def test_a_value_without_json_form_is_refused() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        result(Any, object())


# proves: FEAT-023
def test_error_result() -> None:
    assert json.loads(error_result("no")) == {"content": [text_block("no")], "isError": True}


def test_spelled_out_results() -> None:
    meta = ToolResult(["a", Image(PNG, "image/png")], is_error=True, meta={"x": 1})
    found = result(ToolResult, meta)
    assert found["isError"] is True
    assert found["_meta"] == {"x": 1}
    assert [block["type"] for block in found["content"]] == ["text", "image"]


# proves: FEAT-015 FEAT-017
def test_spelled_out_structured_content() -> None:
    found = result(Quote, ToolResult(structured_content={"total": 1}))
    assert found == {"content": [text_block('{"total":1}')], "structuredContent": {"total": 1}}
    with pytest.raises(ValueError, match="Expected `float`"):
        result(Quote, ToolResult(structured_content={"total": "x"}))
    with pytest.raises(ValueError, match="must give structured content"):
        result(Quote, ToolResult(["text only"]))
    assert result(Quote, ToolResult(["failed"], is_error=True))["isError"] is True


def test_structured_null_is_present() -> None:
    assert result(ToolResult, ToolResult(structured_content=None))["structuredContent"] is None
    assert "structuredContent" not in result(ToolResult, ToolResult([]))


# ---------------------------------------------------------------- resources


def contents(value: Any, mime_type: str | None = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(resource_result(value, "x://y", mime_type))["contents"]
    return found


# proves: FEAT-135 FEAT-141
def test_resource_values() -> None:
    assert contents("t") == [{"uri": "x://y", "mimeType": "text/plain", "text": "t"}]
    assert contents("t", "text/html")[0]["mimeType"] == "text/html"
    assert contents(b"t", "image/png") == [{"uri": "x://y", "mimeType": "image/png", "blob": "dA=="}]
    assert contents(b"")[0] == {"uri": "x://y", "mimeType": "application/octet-stream", "blob": ""}
    assert contents({"a": 1}) == [{"uri": "x://y", "mimeType": "application/json", "text": '{"a":1}'}]


# proves: FEAT-120
def test_several_resource_contents() -> None:
    both = [ResourceContents("a:1", text="a"), ResourceContents("b:2", blob=b"b")]
    assert [item["uri"] for item in contents(both)] == ["a:1", "b:2"]
    assert contents(both[0]) == [{"uri": "a:1", "text": "a"}]


# proves: FEAT-132
def test_an_empty_list_is_a_value_not_empty_contents() -> None:
    assert contents([])[0]["text"] == "[]"


# ---------------------------------------------------------------- prompts


# proves: FEAT-154
def test_prompt_values() -> None:
    user = {"role": "user", "content": text_block("hi")}
    assert json.loads(prompt_result("hi")) == {"messages": [user]}
    assert json.loads(prompt_result(Message("user", "hi"))) == {"messages": [user]}
    found = json.loads(prompt_result(["hi", Message("assistant", Image(PNG, "image/png"))]))
    assert found["messages"][0] == user
    assert found["messages"][1]["role"] == "assistant"
    assert found["messages"][1]["content"]["type"] == "image"


def test_spelled_out_prompt() -> None:
    found = json.loads(prompt_result(PromptResult(["hi"], "About", {"k": 1})))
    assert found["description"] == "About"
    assert found["_meta"] == {"k": 1}


def test_icons_leave_out_what_is_not_given() -> None:
    assert msgspec.json.encode(Icon("https://a/b.png", sizes=["48x48"])) == (
        b'{"src":"https://a/b.png","sizes":["48x48"]}'
    )
