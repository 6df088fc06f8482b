"""The border between Python and the core: types, errors, memory, threads, imports."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import barewire
import pytest
from barewire import _native, sansio
from barewire.sansio import (
    LEGACY_REVISIONS,
    LOG_LEVELS,
    MODERN_REVISIONS,
    REVISIONS,
    VERSION,
    ApiMisuseError,
    ChildShutdown,
    Client,
    LimitExceededError,
    Limits,
    McpError,
    MessageDiscarded,
    ResponseReceived,
    RestartRequired,
    RpcError,
    Server,
    SubscriptionFilter,
    Timeouts,
    ToolCalled,
)
from sansio_pair import SEED, connect, definition, make_client, make_server, message

LEGACY, MODERN = LEGACY_REVISIONS[0], MODERN_REVISIONS[0]
BOTH_ERAS = pytest.mark.parametrize("revision", [LEGACY, MODERN])
EVENT_CLASSES = [value for value in vars(_native).values() if hasattr(value, "__match_args__")]


def call(number: int = 1, **params: Any) -> bytes:
    return message(id=number, method="tools/call", params={"name": "echo", **params})


def legacy_server(**options: Any) -> Server:
    """A server behind its handshake."""
    server = make_server(**options)
    client = make_client(LEGACY, capabilities='{"elicitation": {}}')
    for _ in range(2):
        server.receive_data(client.data_to_send(), 0)
        client.receive_data(server.data_to_send(), 0)
    return server


# ---------------------------------------------------------------- objects


def test_event_classes_are_frozen_and_small() -> None:
    assert len(EVENT_CLASSES) >= 31
    for kind in EVENT_CLASSES:
        assert not any("__dict__" in vars(base) for base in kind.__mro__[:-1]), kind
        for member in kind.__match_args__:
            assert member in vars(kind), (kind, member)
        with pytest.raises(TypeError):
            kind()
    (event,) = legacy_server().receive_data(call(), 0)
    with pytest.raises(AttributeError):
        event.request = 5  # type: ignore[misc, union-attr]
    with pytest.raises(AttributeError):
        event.other = 5  # type: ignore[union-attr]


def test_the_alias_event_names_every_class_of_events() -> None:
    parts = {_native.InputAnswer, _native.InputRequest, _native.RequestContext, _native.RpcErrorValue}
    parts |= {_native.HttpRequest, _native.HttpAbort, _native.AuthorizationRequired, _native.ResponsePart}
    # What the authorization machine asks for and tells is not among the events of client and server.
    parts |= {_native.LoadRecord, _native.SaveRecord, _native.SendRequest, _native.OpenUserAgent}
    parts |= {_native.SignInput, _native.ProvideClient, _native.ProvideAssertion, _native.Credentials}
    parts |= {_native.AuthorizationSettled, _native.AuthorizationRefused, _native.AccessDenied}
    assert set(sansio.Event.__args__) == set(EVENT_CLASSES) - parts
    assert _native.Event is sansio.Event
    with pytest.raises(AttributeError):
        _native.Evnt  # type: ignore[attr-defined] # noqa: B018


def test_an_event_shows_itself_shortly() -> None:
    (event,) = legacy_server().receive_data(call(arguments={"text": "x" * 5000}), 0)
    assert repr(event).startswith("ToolCalled(request=2, name='echo', arguments=<5012 bytes>, context=Reque")
    assert len(repr(event)) < 400
    assert repr(SubscriptionFilter(tools=True)).startswith("SubscriptionFilter(tools=True, ")


def test_events_outlive_their_machine() -> None:
    server = legacy_server()
    (event,) = server.receive_data(call(arguments={"a": [1]}), 0)
    assert isinstance(event, ToolCalled)
    context = event.context
    del server
    gc.collect()
    assert event.arguments == b'{"a": [1]}'
    assert event.context is context
    del event
    assert context.revision == LEGACY


def test_settings_show_themselves_as_they_are_written() -> None:
    shown = repr(sansio.Timeouts(probe=5, progress_extends=False))
    assert shown.startswith("Timeouts(probe=5, handshake=30000, ") and "progress_extends=False" in shown
    assert repr(eval(shown, {"Timeouts": sansio.Timeouts})) == shown


@pytest.mark.parametrize("kind", [sansio.Limits, sansio.Timeouts])
def test_settings_can_be_read_and_are_described(kind: Any) -> None:
    settings = kind()
    names = re.findall(r"(\w+)=", repr(settings))
    assert len(names) >= 10
    for name in names:
        assert f"{name}={getattr(settings, name)!r}" in repr(settings)
        assert "Default" in getattr(kind, name).__doc__
        with pytest.raises(AttributeError):
            setattr(settings, name, 1)
    changed = kind(**{names[0]: 7})
    assert getattr(changed, names[0]) == 7


def test_what_the_core_knows() -> None:
    assert (*MODERN_REVISIONS, *LEGACY_REVISIONS) == REVISIONS
    assert LOG_LEVELS[0] == "debug"
    assert VERSION.count(".") == 2


# ---------------------------------------------------------------- arguments


@pytest.mark.parametrize("data", [bytearray(b"{}"), memoryview(b"{}"), "{}", None])
def test_bytes_come_in_as_bytes_alone(data: Any) -> None:
    with pytest.raises(TypeError):
        make_server().receive_data(data, 0)


@BOTH_ERAS
def test_json_comes_in_as_bytes_or_str(revision: str) -> None:
    pair = connect(revision)
    for arguments in (b'{"a":"\xc3\xa9"}', '{"a":"é"}'):
        pair.client.call_tool("echo", arguments, 0)
        (event,) = pair.server_events()
        assert isinstance(event, ToolCalled)
        assert event.arguments == '{"a":"é"}'.encode()
    wrong: list[Any] = [bytearray(b"{}"), {}, 1]
    for value in wrong:
        with pytest.raises(TypeError):
            pair.client.call_tool("echo", value, 0)
    with pytest.raises(ValueError, match="UTF-8"):
        pair.client.call_tool("echo", b'{"a":"\xff"}', 0)
    with pytest.raises(UnicodeEncodeError):
        pair.client.call_tool("echo", '{"a":"\ud800"}', 0)


def test_numbers_and_names_are_checked() -> None:
    server, client = make_server(), make_client()
    with pytest.raises(OverflowError):
        server.receive_data(b"", -1)
    with pytest.raises(OverflowError):
        server.respond(-1, "{}")
    with pytest.raises(ValueError, match="none of debug, info"):
        server.log(None, "loud", "1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="none of tools, resources"):
        server.publish_list_changed("files")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="none of tools, resources, resource_templates"):
        client.list("files", None, 0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="either"):
        client.complete(0, argument="a", value="")
    with pytest.raises(ValueError, match="none of"):
        make_client("1999-01-01")
    with pytest.raises(ValueError, match="32 bytes, not 3"):
        Client(name="a", version="1", seed=b"abc", now=0)
    with pytest.raises(ValueError, match="32 bytes"):
        make_server(request_state_keys=[b"short"])
    with pytest.raises(TypeError):
        Limits(message_size=1)  # type: ignore[call-arg]


def test_settings_reach_the_core() -> None:
    assert "depth=5" in repr(Limits(depth=5))
    assert "probe=7" in repr(Timeouts(probe=7))
    (event,) = make_server(limits=Limits(message_bytes=100)).receive_data(b'"%s"\n' % (b"x" * 200), 0)
    assert isinstance(event, MessageDiscarded)
    assert (event.violation, len(event.bytes)) == ("too_long", 100)
    client = make_client(limits=Limits(requests_in_flight=1))
    client.call_tool("echo", None, 0)
    with pytest.raises(LimitExceededError) as caught:
        client.call_tool("echo", None, 0)
    assert 400 < caught.value.code < 500
    client = make_client(timeouts=Timeouts(probe=70), now=1000)
    client.data_to_send()
    assert client.poll_timeout() == 1070


# ---------------------------------------------------------------- errors


NESTED = definition(
    message="?", requestedSchema={"type": "object", "properties": {"deep": {"type": "object"}}}
)


def called(server: Server) -> int:
    (event,) = server.receive_data(call(9), 0)
    assert isinstance(event, ToolCalled)
    return event.request


MISUSES: dict[int, Callable[[Server], object]] = {
    101: lambda server: server.respond(99, "{}"),
    103: lambda server: make_client().provide_input(7, "{}", 0),
    104: lambda server: server.end_subscription(7),
    105: lambda server: server.ping(77, 0),
    106: lambda server: connect(MODERN).client.ping(0),
    107: lambda server: connect(LEGACY).client.notify_roots_changed(),
    108: lambda server: server.add_tool("{"),
    109: lambda server: server.add_tool("{}"),
    110: lambda server: server.add_tool(definition(name="echo", inputSchema={"type": "object"})),
    111: lambda server: server.remove_tool("nothing"),
    112: lambda server: server.add_resource_template(definition(uriTemplate="{", name="x")),
    115: lambda server: server.require_input(called(server), [("q", "elicitation", NESTED)], 0),
    116: lambda server: make_client().get_prompt("p", '{"name": 3}', 0),
}


@pytest.mark.parametrize("code", MISUSES)
def test_misuse_has_its_code_and_changes_nothing(code: int) -> None:
    server = legacy_server()
    with pytest.raises(ApiMisuseError) as caught:
        MISUSES[code](server)
    assert caught.value.code == code
    assert str(caught.value)
    (event,) = server.receive_data(call(), 0)
    assert isinstance(event, ToolCalled)


def test_a_form_that_is_not_flat_is_refused_by_the_name_of_its_property() -> None:
    with pytest.raises(ApiMisuseError, match='property "deep" is not what a form can ask for'):
        MISUSES[115](legacy_server())


def test_an_argument_that_is_no_string_is_refused_by_its_name() -> None:
    with pytest.raises(ApiMisuseError, match='argument "name" is not a string'):
        MISUSES[116](legacy_server())


def test_a_request_is_answered_once_and_waits_after_a_mistake() -> None:
    server = legacy_server()
    (event,) = server.receive_data(call(5), 0)
    assert isinstance(event, ToolCalled)
    for wrong in ("[]", "{", ""):
        with pytest.raises(ApiMisuseError) as caught:
            server.respond(event.request, wrong)
        assert caught.value.code == 108
    server.respond(event.request, "{}")
    with pytest.raises(ApiMisuseError) as caught:
        server.respond(event.request, "{}")
    assert caught.value.code == 102
    sent = server.data_to_send()
    assert (sent.count(b"\n"), sent.count(b'"id":5')) == (1, 1)


@pytest.mark.parametrize("arguments", ["[1]", "{", '{},"name":"x"', '{}}{"x":{}'])
def test_arguments_cannot_leave_their_place(arguments: str) -> None:
    client = connect(LEGACY).client
    for command in (client.call_tool, client.get_prompt):
        with pytest.raises(ApiMisuseError) as caught:
            command("echo", arguments, 0)
        assert caught.value.code == 108
    assert client.data_to_send() == b""


def test_errors_are_one_tree_and_can_be_pickled() -> None:
    import pickle

    for name in sansio.__all__:
        value = getattr(sansio, name)
        if isinstance(value, type) and issubclass(value, BaseException):
            assert issubclass(value, McpError)
    error = RpcError(-5, "no", raw=b'{"a":1}')
    for copy in (error, pickle.loads(pickle.dumps(error))):
        assert (copy.code, copy.message, copy.data, str(copy)) == (-5, "no", {"a": 1}, "no (-5)")
    assert RpcError(1, "m", [1]).raw_data == b"[1]"
    assert RpcError(1, "m").raw_data is RpcError(1, "m").data is None


# ---------------------------------------------------------------- memory


@BOTH_ERAS
@pytest.mark.parametrize("size", [40_000, 1 << 20])
def test_big_payloads_pass_unchanged(revision: str, size: int) -> None:
    pair = connect(revision)
    text = '{"text":"' + "é\\n" * (size // 4) + '"}'
    pair.client.call_tool("echo", text, 0)
    (event,) = pair.server_events()
    assert isinstance(event, ToolCalled)
    assert event.arguments == text.encode()
    pair.server.respond(event.request, '{"content":[],"x":' + text + "}")
    (answer,) = pair.client_events()
    assert isinstance(answer, ResponseReceived)
    assert answer.result is not None
    assert text.encode() in answer.result


def test_everything_that_waits_is_sent_at_once() -> None:
    server = legacy_server()
    events = server.receive_data(b"".join(call(number) for number in range(500)), 0)
    result = '{"x":"' + "y" * 1000 + '"}'
    for event in events:
        assert isinstance(event, ToolCalled)
        server.respond(event.request, result)
    data = server.data_to_send()
    assert data.count(b"\n") == 500
    assert server.data_to_send() == b""


def test_input_is_borrowed() -> None:
    server = legacy_server()
    data = call(arguments={"a": "x" * 1000})
    before = sys.getrefcount(data)
    events = server.receive_data(data, 0)
    assert sys.getrefcount(data) == before
    del events


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_memory_is_given_back() -> None:
    pair = connect(MODERN)
    text = '{"text":"' + "x" * 64_000 + '"}'

    def work(rounds: int) -> None:
        for _ in range(rounds):
            pair.client.call_tool("echo", text, 0)
            (event,) = pair.server_events()
            assert isinstance(event, ToolCalled)
            pair.server.respond(event.request, event.arguments or b"{}")
            assert len(pair.client_events()) == 1
            with pytest.raises(ApiMisuseError):
                pair.server.respond(event.request, b"{}")

    work(20)
    before = resident()
    work(400)  # 400 lost messages would be 25 MB at least
    assert resident() - before < 10_000_000


# ---------------------------------------------------------------- threads


def test_several_threads_share_one_object() -> None:
    """Calls must not meet inside, even when the garbage collector runs Python code in the middle of one."""
    server = legacy_server(limits=Limits(requests_in_flight=100_000))

    class Cycle:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            try:
                server.poll_timeout()  # enters the object from wherever the collector runs
            except BaseException as error:
                errors.append(error)

    errors: list[BaseException] = []

    def work(start: int) -> None:
        try:
            for number in range(start, start + 300):
                Cycle()
                for event in server.receive_data(call(number), 0):
                    assert isinstance(event, ToolCalled)
                    with pytest.raises(ApiMisuseError):
                        server.respond(event.request + 10**9, "{}")
                    server.respond(event.request, "{}")
                server.data_to_send()
        except BaseException as error:
            errors.append(error)

    threshold, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.set_threshold(1, 1, 1)
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(1000 * index,)) for index in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.set_threshold(*threshold)
        sys.setswitchinterval(interval)
    assert errors == []
    assert server.data_to_send() == b""


# ---------------------------------------------------------------- child processes


def test_the_steps_that_end_a_child() -> None:
    shutdown = ChildShutdown(Timeouts(child_exit=100, child_terminate=50))
    assert shutdown.poll_action(0) is None
    shutdown.start()
    assert shutdown.poll_action(10) == "close_input"
    assert shutdown.poll_timeout() == 110
    shutdown.handle_timeout(110)
    assert shutdown.poll_action(110) == "terminate"
    shutdown.handle_timeout(160)
    assert shutdown.poll_action(160) == "kill"
    assert not shutdown.is_finished
    shutdown.child_exited()
    assert shutdown.is_finished


# ---------------------------------------------------------------- imports


def run(code: str, stdin: bytes = b"") -> bytes:
    root = os.path.dirname(os.path.dirname(os.path.abspath(barewire.__file__)))
    environment = os.environ | {"PYTHONPATH": root}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, input=stdin, env=environment, stdout=subprocess.PIPE, check=True).stdout


def test_the_extension_imports_nothing_else() -> None:
    loaded = run(
        "import sys; before = set(sys.modules); import barewire._native; print(*(set(sys.modules) - before))"
    )
    extras = {"barewire", "barewire._native", "__future__"}
    assert set(loaded.decode().split()) <= extras


def test_the_loop_of_the_documentation_runs() -> None:
    assert sansio.__doc__ is not None
    lines = sansio.__doc__.split("::\n")[1].splitlines()
    indented = [line for line in lines if line.startswith("    ")]
    assert len(indented) == 10
    code = "import os, sys, time\nfrom barewire.sansio import *\n" + textwrap.dedent("\n".join(indented))
    client = make_client(LEGACY)
    stdin = client.data_to_send() + message(id=2, method="tools/call", params={"name": "now"})
    answers = run(code, stdin).splitlines()
    assert len(answers) == 2
    assert b'"content": [{"type": "text"' in answers[1]


def test_a_restart_is_asked_once() -> None:
    client = Client(name="c", version="1", seed=SEED, now=0)
    client.data_to_send()
    assert isinstance(client.receive_eof(0)[0], RestartRequired)
    client.restart(0)
    client.data_to_send()
    assert not any(isinstance(event, RestartRequired) for event in client.receive_eof(0))


def test_ends_of_a_request_are_the_builtin_errors_too() -> None:
    import pickle

    from barewire._errors import ConnectionLostError, RequestTimedOutError

    pairs: list[tuple[type[barewire.McpError], type[Exception]]] = [
        (RequestTimedOutError, TimeoutError),
        (ConnectionLostError, ConnectionError),
    ]
    for ours, builtin in pairs:
        with pytest.raises(builtin) as caught:
            raise ours("too late", 601)
        error = pickle.loads(pickle.dumps(caught.value))
        assert isinstance(error, ours)
        assert (str(error), error.code, error.message) == ("too late", 601, "too late")
