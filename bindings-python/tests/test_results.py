"""Typed results: nothing is lost, and one odd item never fails the whole."""

from __future__ import annotations

import json
from typing import Any

import barewire
import msgspec
import pytest
from barewire import _results
from barewire._results import Problem, Prompt, Resource, ResourceTemplate, Tool, UnknownBlock


def encode(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def places(problems: tuple[Problem, ...]) -> list[tuple[int | None, str]]:
    return [(problem.index, problem.path) for problem in problems]


ALL_BLOCKS = [
    {
        "type": "text",
        "text": "x😀",
        "annotations": {"audience": ["user"], "priority": 1},
        "_meta": {"k": [1]},
    },
    {"type": "image", "data": "aGk=", "mimeType": "image/png"},
    {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
    {"type": "resource", "resource": {"uri": "a:b", "text": "t", "mimeType": "text/plain"}},
    {"type": "resource", "resource": {"uri": "a:b", "blob": "aGk="}},
    {"type": "resource_link", "uri": "a:b", "name": "n", "size": 12345678901234567890123},
]


def test_every_kind_of_content_block_is_read() -> None:
    result = _results.read_call(encode({"content": ALL_BLOCKS}))
    assert not result.problems
    assert result.is_error is False
    assert result.content == [
        barewire.Text("x😀", barewire.Annotations(["user"], 1.0), {"k": [1]}),
        barewire.Image(b"hi", "image/png"),
        barewire.Audio(b"hi", "audio/wav"),
        barewire.EmbeddedResource(barewire.ResourceContents("a:b", "text/plain", "t")),
        barewire.EmbeddedResource(barewire.ResourceContents("a:b", blob=b"hi")),
        barewire.ResourceLink("a:b", "n", size=12345678901234567890123),
    ]
    for block, sent in zip(result.content, ALL_BLOCKS, strict=True):
        assert json.loads(block.raw) == sent
        assert block.extra == {}
    assert repr(result.content[1]) == "Image(data=b'hi', mime_type='image/png')"


def test_a_result_shows_its_structured_content() -> None:
    result = _results.read_call(b'{"content":[],"structuredContent":{"sum":1e400}}')
    assert "is_error=False" in repr(result)
    assert """raw_structured_content=b'{"sum":1e400}'""" in repr(result)
    assert "raw_structured_content=None" in repr(_results.read_call(b'{"content":[]}'))


def test_an_unknown_block_stays_as_it_is_among_its_neighbours() -> None:
    raw = (
        b'{"content":[{"type":"text","text":"before"},{"type":"hologram","uri":"h://1","depth":3.10},'
        b'{"type":"text","text":"after","future":{"k":[1]}}],"newMember":true}'
    )
    result = _results.read_call(raw)
    before, hologram, after = result.content
    assert isinstance(before, barewire.Text) and isinstance(after, barewire.Text)
    assert isinstance(hologram, UnknownBlock)
    assert (before.text, hologram.type, after.text) == ("before", "hologram", "after")
    assert hologram.raw == b'{"type":"hologram","uri":"h://1","depth":3.10}'
    assert hologram.extra == {"uri": "h://1", "depth": 3.1}
    assert after.extra == {"future": {"k": [1]}}
    assert result.extra == {"newMember": True}
    assert result.raw == raw
    assert not result.problems


def test_bad_blocks_are_told_and_good_ones_delivered() -> None:
    blocks = [
        {"type": "text", "text": "good"},
        {"type": "text"},
        None,
        {"text": "no type"},
        {"type": "image", "data": "not base64!", "mimeType": "image/png"},
        {"type": "text", "text": "good too", "annotations": "odd"},
        {"type": "resource", "resource": {"uri": 4}},
    ]
    result = _results.read_call(encode({"content": blocks}))
    assert result.content == [barewire.Text("good"), barewire.Text("good too")]
    assert places(result.problems) == [
        (1, "text"),
        (2, ""),
        (3, "type"),
        (4, "data"),
        (5, "annotations"),
        (6, "resource.uri"),
    ]
    assert [problem.rejected for problem in result.problems] == [True, True, True, True, False, True]
    assert json.loads(result.problems[4].raw) == blocks[5]
    assert str(result.problems[1]) == "[2]: Expected `object`, got `null`"
    assert str(result.problems[5]) == "[6] resource.uri: Expected `str`, got `int`"


# proves: FEAT-020 FEAT-022
def test_structured_content_is_exact_and_null_is_not_absence() -> None:
    result = _results.read_call(b'{"content":[],"structuredContent":{"n":12345678901234567890123,"x":1.10}}')
    assert result.structured_content == {"n": 12345678901234567890123, "x": 1.1}
    assert result.raw_structured_content == b'{"n":12345678901234567890123,"x":1.10}'
    null = _results.read_call(b'{"content":[],"structuredContent":null}')
    assert null.structured_content is None and null.raw_structured_content == b"null"
    absent = _results.read_call(b'{"content":[],"isError":true}')
    assert absent.structured_content is None and absent.raw_structured_content is None
    assert absent.is_error is True and null.is_error is False


def test_null_in_an_optional_member_reads_as_absent() -> None:
    result = _results.read_call(
        b'{"content":[{"type":"text","text":"t","annotations":null,"_meta":null}],"isError":null,"_meta":null}'
    )
    assert result.content == [barewire.Text("t")]
    assert result.is_error is False and result.meta is None
    page = _results.read_list(
        b'{"prompts":[{"name":"p","arguments":null}],"nextCursor":null}', Prompt, "prompts"
    )
    assert page[0].arguments is None and page.next_cursor is None
    assert not result.problems and not page.problems


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b'{"content":"text"}', "content"),
        (b'{"content":[],"isError":"yes"}', "isError"),
        (b'{"content":{}}', "content"),
    ],
)
def test_odd_members_of_a_result_are_told(raw: bytes, path: str) -> None:
    result = _results.read_call(raw)
    assert result.content == []
    assert places(result.problems) == [(None, path)]


def test_a_list_keeps_its_good_items_in_order() -> None:
    tools: list[Any] = [
        {"name": "good1", "inputSchema": {"type": "object"}},
        None,
        {"name": "noschema"},
        {"name": 42, "inputSchema": {"type": "object"}},
        {"name": "nullschema", "inputSchema": None},
        {"name": "odd", "inputSchema": {"type": "object"}, "outputSchema": {"type": "nonsense"}},
        {"name": "good2", "inputSchema": {"type": "object"}},
    ]
    page = _results.read_list(encode({"tools": tools, "nextCursor": ""}), Tool, "tools")
    assert [tool.name for tool in page] == ["good1", "odd", "good2"]
    assert [tool.output_schema_fault for tool in page] == [
        None,
        "'nonsense' is not a type of JSON Schema",
        None,
    ]
    assert places(page.problems) == [(1, ""), (2, "inputSchema"), (3, "name"), (4, "inputSchema")]
    assert all(problem.rejected and problem.reason for problem in page.problems)
    assert [json.loads(problem.raw) for problem in page.problems] == tools[1:5]
    assert page.next_cursor == ""
    assert len(page) == 3 and page[2].name == "good2"


def test_an_odd_optional_member_costs_the_member_and_not_the_item() -> None:
    tool = {
        "name": "t",
        "inputSchema": {},
        "title": 7,
        "description": "d",
        "annotations": {"readOnlyHint": "yes"},
        "icons": [{"src": 1}],
        "future": 1,
    }
    page = _results.read_list(encode({"tools": [tool]}), Tool, "tools")
    assert page.items == [Tool(name="t", input_schema={}, description="d")]
    assert sorted(places(page.problems)) == [
        (0, "annotations.readOnlyHint"),
        (0, "icons[0].src"),
        (0, "title"),
    ]
    assert not any(problem.rejected for problem in page.problems)
    assert page[0].extra == {"future": 1}
    assert json.loads(page[0].raw) == tool


# proves: FEAT-031
@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ("null", (False, True, False, True)),
        ("{}", (False, True, False, True)),
        ('{"readOnlyHint":true,"destructiveHint":true}', (True, False, True, True)),
        (
            '{"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}',
            (False, False, True, False),
        ),
    ],
)
def test_hints_have_their_defaults(annotations: str, expected: tuple[bool, ...]) -> None:
    raw = f'{{"tools":[{{"name":"t","inputSchema":{{}},"annotations":{annotations}}}]}}'
    (tool,) = _results.read_list(raw.encode(), Tool, "tools")
    assert (tool.read_only, tool.destructive, tool.idempotent, tool.open_world) == expected


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b"{}", "tools"),
        (b'{"tools":null}', "tools"),
        (b'{"tools":{"name":"t"}}', "tools"),
        (b'{"tools":[],"nextCursor":5}', "nextCursor"),
    ],
)
def test_an_odd_page_is_empty_and_told(raw: bytes, path: str) -> None:
    page = _results.read_list(raw, Tool, "tools")
    assert page.items == [] and page.next_cursor is None
    assert places(page.problems) == [(None, path)]


def test_resources_templates_and_prompts_are_read() -> None:
    page = _results.read_list(
        b'{"resources":[{"uri":"a:b","name":"n","mimeType":"t/x","size":5,"_meta":{"a":1}}],"ttlMs":5}',
        Resource,
        "resources",
    )
    assert page.items == [Resource(uri="a:b", name="n", mime_type="t/x", size=5, meta={"a": 1})]
    assert page.extra == {"ttlMs": 5}
    templates = _results.read_list(
        b'{"resourceTemplates":[{"uriTemplate":"a:{b}","name":"n"}]}', ResourceTemplate, "resourceTemplates"
    )
    assert templates.items == [ResourceTemplate(uri_template="a:{b}", name="n")]
    prompts = _results.read_list(
        b'{"prompts":[{"name":"p","arguments":[{"name":"a","required":true}]}]}', Prompt, "prompts"
    )
    arguments = prompts[0].arguments
    assert arguments is not None and arguments[0].required is True


def test_contents_of_resources_are_read() -> None:
    result = _results.read_resource(
        encode(
            {
                "contents": [
                    {"uri": "a:1", "text": "t", "x": 1},
                    {"uri": "a:2", "blob": "aGk="},
                    {"uri": "a:3", "blob": "!"},
                    {"text": "no uri"},
                ]
            }
        )
    )
    assert result.contents == [
        barewire.ResourceContents("a:1", text="t"),
        barewire.ResourceContents("a:2", blob=b"hi"),
    ]
    assert result.contents[0].extra == {"x": 1}
    assert places(result.problems) == [(2, "blob"), (3, "uri")]


def test_messages_of_prompts_are_read() -> None:
    messages = [
        {"role": "user", "content": {"type": "text", "text": "q"}},
        {"role": "assistant", "content": {"type": "hologram"}},
        {"role": "stranger", "content": {"type": "text", "text": "q"}},
        {"role": "user", "content": {"type": "text"}},
    ]
    result = _results.read_prompt(encode({"messages": messages, "description": "d"}))
    assert result.description == "d"
    assert [(message.role, message.content) for message in result.messages] == [
        ("user", barewire.Text("q")),
        ("assistant", UnknownBlock("hologram")),
    ]
    assert places(result.problems) == [(2, "role"), (3, "text")]


def test_completions_are_read() -> None:
    result = _results.read_completion(b'{"completion":{"values":["a",1,"b"],"total":9,"hasMore":true}}')
    assert (result.values, result.total, result.has_more) == (["a", "b"], 9, True)
    assert places(result.problems) == [(1, "")]
    assert _results.read_completion(b"{}").values == []


def test_members_with_the_names_of_our_own_change_nothing() -> None:
    result = _results.read_call(b'{"content":[{"type":"text","text":"t","(raw)":"forged"}]}')
    assert result.content[0].raw == b'{"type":"text","text":"t","(raw)":"forged"}'


def test_a_received_value_equals_the_made_one_and_hides_nothing_in_its_encoding() -> None:
    received = _results.read_call(b'{"content":[{"type":"text","text":"t"}]}').content[0]
    made = barewire.Text("t")
    assert received == made and made == received
    assert received != barewire.Text("u")
    with pytest.raises(TypeError):
        hash(received)
    assert msgspec.json.decode(msgspec.json.encode(made)) == {"type": "text", "text": "t"}
