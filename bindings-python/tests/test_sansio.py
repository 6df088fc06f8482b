"""The lower floor: a client and a server back to back, every event and every command."""

from __future__ import annotations

from typing import Any

import pytest
from barewire.sansio import (
    LEGACY_REVISIONS,
    MODERN_REVISIONS,
    REVISIONS,
    CompletionRequested,
    ConnectionClosedError,
    ConnectionLostError,
    Disconnected,
    Drained,
    Event,
    InputRefusedError,
    InputRequired,
    InputWithdrawn,
    ListChanged,
    LogReceived,
    MessageDiscarded,
    MissingCapabilityError,
    NotificationReceived,
    ProgressReceived,
    PromptRequested,
    Ready,
    RequestCancelled,
    RequestCancelledError,
    RequestFailed,
    RequestReceived,
    RequestTimedOutError,
    ResourceReadRequested,
    ResourceUpdated,
    ResponseReceived,
    RestartRequired,
    RpcError,
    SessionClosed,
    SessionOpened,
    SubscriptionAcknowledged,
    SubscriptionClosed,
    SubscriptionEnded,
    SubscriptionFilter,
    SubscriptionOpened,
    Timeouts,
    ToolCalled,
    ViolationTolerated,
)
from sansio_pair import Pair, connect, decoded, make_client, make_server, message

LEGACY, MODERN = LEGACY_REVISIONS[0], MODERN_REVISIONS[0]
BOTH_ERAS = pytest.mark.parametrize("revision", [LEGACY, MODERN])
RESULT = b'{"content":[{"type":"text","text":"hi"}]}'


def only(events: list[Event], kind: Any) -> Any:
    """The one event of a class."""
    found = [event for event in events if isinstance(event, kind)]
    assert len(found) == 1, events
    return found[0]


# ---------------------------------------------------------------- opening


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("chunk", [None, 1, 7])
def test_a_call_in_every_revision(revision: str, chunk: int | None) -> None:
    pair = Pair(make_client(revision), make_server(), chunk)
    request = pair.client.call_tool("echo", b'{"a": 1e400}', 0)
    match pair.server_events()[-1]:
        case ToolCalled(call, "echo", b'{"a": 1e400}', context):
            assert context.revision == revision
            pair.server.respond(call, RESULT)
        case other:
            pytest.fail(f"{other}")
    match pair.client_events():
        case [Ready(revision=settled), ResponseReceived(request=answered, result=result)]:
            assert settled == revision == pair.client.revision
            assert answered == request
            assert decoded(result)["content"] == [{"type": "text", "text": "hi"}]
        case others:
            pytest.fail(f"{others}")


def test_ready_tells_of_the_server() -> None:
    server = make_server(title="Server", instructions="Be kind.", extensions='{"x.y/z": {"a": 1}}')
    pair = Pair(make_client(), server)
    ready = only(pair.client_events(), Ready)
    assert ready.revision == MODERN
    assert decoded(ready.server)["name"] == "server"
    assert ready.instructions == "Be kind."
    assert ready.has_capability("tools.listChanged")
    assert not ready.has_capability("sampling")
    assert decoded(ready.capabilities)["extensions"] == {"x.y/z": {"a": 1}}


def test_a_session_tells_of_the_client() -> None:
    pair = Pair(
        make_client(LEGACY, title="Client", capabilities='{"sampling": {"tools": {}}}'), make_server()
    )
    opened = only(pair.server_events(), SessionOpened)
    assert opened.revision == LEGACY
    assert decoded(opened.client)["title"] == "Client"
    assert opened.has_capability("sampling.tools")
    assert not opened.has_capability("elicitation")


def test_a_kept_verdict_saves_the_probe() -> None:
    verdict = connect(LEGACY).client.era_verdict
    assert verdict is not None
    opening = make_client(era=verdict).data_to_send()
    assert opening == make_client(LEGACY).data_to_send()
    assert opening != make_client().data_to_send()


def test_no_common_revision() -> None:
    pair = Pair(make_client(MODERN), make_server(revisions=[LEGACY]))
    reason = only(pair.client_events(), Disconnected).reason
    assert reason.code == 301


def test_a_server_that_dies_on_the_probe_is_started_again() -> None:
    client = make_client()
    client.data_to_send()
    request = client.call_tool("echo", None, 0)
    assert [type(event) for event in client.receive_eof(1)] == [RestartRequired]
    assert client.restart(2) == []
    pair = Pair(client, make_server(revisions=LEGACY_REVISIONS))
    pair.server.respond(only(pair.server_events(), ToolCalled).request, RESULT)
    assert only(pair.client_events(), ResponseReceived).request == request


# ---------------------------------------------------------------- requests of the client


@BOTH_ERAS
def test_the_context_of_a_request(revision: str) -> None:
    pair = connect(revision, capabilities='{"roots": {}}')
    pair.client.call_tool("echo", None, 0, progress=True, meta='{"a.b/c": [1]}')
    context = only(pair.server_events(), ToolCalled).context
    assert (context.revision, context.round, context.input_answers) == (revision, 0, [])
    assert context.era == ("legacy" if revision == LEGACY else "modern")
    assert (context.session is not None) == (revision == LEGACY)
    assert decoded(context.client)["name"] == "client"
    assert decoded(context.capabilities) == {"roots": {}}
    assert context.has_capability("roots")
    assert not context.has_capability("sampling")
    assert context.wants_progress
    assert context.progress_token is not None
    assert decoded(context.meta)["a.b/c"] == [1]
    assert context.principal is None
    assert context.state is None


@BOTH_ERAS
def test_reading_prompting_completing_listing(revision: str) -> None:
    pair = connect(revision)
    pair.client.read_resource("file:///a", 0)
    pair.client.read_resource("file:///dir/name%20x", 0)
    pair.client.get_prompt("greet", '{"who": "you"}', 0)
    pair.client.complete(0, prompt="greet", argument="who", value="y")
    pair.client.complete(
        0, resource="file:///{dir}/{name}", argument="name", value="", arguments='{"dir": "x"}'
    )
    match pair.server_events():
        case [
            ResourceReadRequested(uri="file:///a", template=None, variables={}),
            ResourceReadRequested(uri=uri, template="file:///{dir}/{name}", variables=variables),
            PromptRequested(name="greet", arguments=b'{"who": "you"}'),
            CompletionRequested(prompt="greet", resource=None, argument="who", value="y", arguments=None),
            CompletionRequested(prompt=None, resource="file:///{dir}/{name}", arguments=b'{"dir": "x"}'),
        ]:
            assert uri == "file:///dir/name%20x"
            assert variables == {"dir": "dir", "name": "name x"}
        case other:
            pytest.fail(f"{other}")
    pair.client.list("tools", None, 0)
    pair.client.list("resources", None, 0)
    pair.client.list("resource_templates", None, 0)
    pair.client.list("prompts", None, 0)
    answers = [decoded(event.result) for event in pair.client_events() if isinstance(event, ResponseReceived)]
    assert answers[0]["tools"][0]["name"] == "echo"
    assert answers[1]["resources"][0]["name"] == "a"
    assert answers[2]["resourceTemplates"][0]["name"] == "files"
    assert answers[3]["prompts"][0]["name"] == "greet"


def test_freshness_comes_with_a_modern_result() -> None:
    pair = connect(MODERN, server=make_server(ttl_ms=5000, cache_scope="public"))
    pair.client.list("tools", None, 0)
    response = only(pair.client_events(), ResponseReceived)
    assert (response.ttl_ms, response.cache_scope, response.error) == (5000, "public", None)


@BOTH_ERAS
def test_methods_of_extensions(revision: str) -> None:
    pair = connect(revision, server=make_server(extension_methods=["x.y/do"]))
    pair.client.request("x.y/do", b'{"a":[1]}', 0)
    asked = only(pair.server_events(), RequestReceived)
    assert (asked.method, decoded(asked.params)["a"]) == ("x.y/do", [1])
    pair.server.respond(asked.request, '{"b": 2}')
    assert decoded(only(pair.client_events(), ResponseReceived).result)["b"] == 2


@BOTH_ERAS
def test_progress_and_notifications_within_a_request(revision: str) -> None:
    pair = connect(revision)
    request = pair.client.call_tool("echo", None, 0, progress=True)
    call = only(pair.server_events(), ToolCalled)
    assert pair.server.progress(call.request, 1, 2, "half")
    assert pair.server.progress(call.request, 2.5)
    match pair.client_events():
        case [
            ProgressReceived(first, 1.0, 2.0, "half", True),
            ProgressReceived(second, 2.5, None, None, True),
        ]:
            assert first == second == request
        case other:
            pytest.fail(f"{other}")
    assert pair.server.notify(call.request, "x.y/seen", '{"n":1}')
    assert only(pair.client_events(), NotificationReceived).method == "x.y/seen"
    pair.server.respond(call.request, RESULT)
    assert not pair.server.progress(call.request, 3)


@BOTH_ERAS
def test_logging(revision: str) -> None:
    pair = connect(revision)
    pair.client.set_log_level("warning", 0)
    pair.client_events()
    request = pair.client.call_tool("echo", None, 0)
    call = only(pair.server_events(), ToolCalled)
    assert call.context.log_level == "warning"
    assert not pair.server.log(call.request, "info", '"quiet"')
    assert pair.server.log(call.request, "error", '{"loud": true}', "part")
    logged = only(pair.client_events(), LogReceived)
    assert (logged.level, logged.logger, logged.data) == ("error", "part", b'{"loud": true}')
    assert logged.request in (request, None)


def test_logging_outside_a_request_goes_to_legacy_sessions() -> None:
    pair = connect(LEGACY)
    pair.client.set_log_level("debug", 0)
    pair.client_events()
    pair.server.log(None, "debug", "1")
    assert only(pair.client_events(), LogReceived).data == b"1"


# ---------------------------------------------------------------- ends of requests


@BOTH_ERAS
def test_an_error_answer(revision: str) -> None:
    pair = connect(revision)
    request = pair.client.call_tool("echo", None, 0)
    call = only(pair.server_events(), ToolCalled).request
    pair.server.respond_error(call, -32050 if revision == LEGACY else 7, "no", '{"why":[1,2]}')
    failed = only(pair.client_events(), RequestFailed)
    assert failed.request == request
    assert isinstance(failed.error, RpcError)
    assert failed.error.code == (-32050 if revision == LEGACY else 7)
    assert failed.error.message == "no"
    assert failed.error.raw_data == b'{"why":[1,2]}'
    assert failed.error.data == {"why": [1, 2]}


@BOTH_ERAS
def test_arguments_that_do_not_fit(revision: str) -> None:
    pair = connect(revision)
    pair.client.call_tool("echo", None, 0)
    pair.server.respond_invalid_arguments(only(pair.server_events(), ToolCalled).request, "a is missing")
    result = decoded(only(pair.client_events(), ResponseReceived).result)
    assert result["isError"] is True
    assert result["content"][0]["text"] == "a is missing"


@BOTH_ERAS
def test_cancelling(revision: str) -> None:
    pair = connect(revision)
    request = pair.client.call_tool("echo", None, 0)
    call = only(pair.server_events(), ToolCalled).request
    pair.client.cancel(request, "enough")
    failed = only(pair.client_events(), RequestFailed)
    assert (failed.request, type(failed.error), failed.error.code) == (request, RequestCancelledError, 602)
    cancelled = only(pair.server_events(), RequestCancelled)
    assert (cancelled.request, cancelled.reason) == (call, "enough")
    pair.server.respond(call, RESULT)
    assert pair.server.data_to_send() == b""


@BOTH_ERAS
def test_time_runs_out(revision: str) -> None:
    pair = connect(revision)
    request = pair.client.call_tool("echo", None, 1000, timeout=50)
    pair.run()
    assert pair.client.poll_timeout() == 1050
    assert pair.client.handle_timeout(1049) == []
    failed = only(pair.client.handle_timeout(1050), RequestFailed)
    assert (failed.request, type(failed.error), failed.error.code) == (request, RequestTimedOutError, 601)


@BOTH_ERAS
def test_a_lost_connection_ends_everything(revision: str) -> None:
    pair = connect(revision)
    pair.client.call_tool("echo", None, 0)
    pair.run()
    match pair.client.connection_lost(5):
        case [RequestFailed(error=ConnectionLostError(code=603)), Disconnected(reason=reason)]:
            assert isinstance(reason, ConnectionClosedError)
            assert reason.code == 503
        case other:
            pytest.fail(f"{other}")
    with pytest.raises(ConnectionClosedError):
        pair.client.call_tool("echo", None, 5)
    assert pair.client.events() == []


@BOTH_ERAS
def test_a_server_answers_what_it_owes_before_it_ends(revision: str) -> None:
    pair = connect(revision)
    pair.client.call_tool("echo", None, 0)
    call = only(pair.server_events(), ToolCalled).request
    events = pair.server.receive_eof(1)
    assert not any(isinstance(event, (Drained, Disconnected)) for event in events)
    assert not pair.server.is_finished
    pair.server.respond(call, RESULT)
    events = pair.server.events()
    assert only(events, Drained).abandoned == []
    assert isinstance(events[-1], Disconnected)
    assert not pair.server.is_finished
    assert RESULT[1:-1] in pair.server.data_to_send()
    assert pair.server.is_finished


def test_a_server_that_does_not_answer_says_so() -> None:
    pair = connect(LEGACY, server=make_server(timeouts=Timeouts(drain=100)))
    pair.client.call_tool("echo", None, 0)
    call = only(pair.server_events(), ToolCalled).request
    pair.server.receive_eof(1000)
    assert pair.server.poll_timeout() == 1100
    events = pair.server.handle_timeout(1100)
    assert only(events, Drained).abandoned == [call]
    assert only(events, Disconnected).reason.code == 502


@BOTH_ERAS
def test_closing(revision: str) -> None:
    pair = connect(revision)
    pair.client.call_tool("echo", None, 0)
    pair.run()
    pair.client.close()
    events = pair.client.events()
    assert only(events, RequestFailed).error.code == 603
    assert only(events, Disconnected).reason.code == 501
    pair.server.close()
    events = pair.server.events()
    assert only(events, Disconnected).reason.code == 501
    if revision == LEGACY:
        only(events, SessionClosed)
    with pytest.raises(ConnectionClosedError) as caught:
        pair.server.receive_data(b"{}\n", 0)
    assert caught.value.code == 501


# ---------------------------------------------------------------- questions


CAPABLE = '{"elicitation": {}, "sampling": {}, "roots": {}}'
FORM = '{"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}'


@BOTH_ERAS
def test_questions_have_the_same_events_in_both_eras(revision: str) -> None:
    pair = connect(revision, capabilities=CAPABLE)
    request = pair.client.call_tool("echo", '{"a": 1}', 0)
    call = only(pair.server_events(), ToolCalled).request
    pair.server.require_input(call, [("who", "elicitation", FORM)], 0, '{"kept": true}')
    asked = only(pair.client_events(), InputRequired)
    assert asked.round == 1
    assert asked.request in (request, None)
    (question,) = asked.inputs
    assert question.kind == "elicitation"
    assert decoded(question.params)["message"] == "Who?"
    pair.client.provide_input(question.input, '{"action": "accept", "content": {"name": "Ada"}}', 0)
    again = only(pair.server_events(), ToolCalled)
    assert decoded(again.arguments) == {"a": 1}
    assert decoded(again.context.state) == {"kept": True}
    assert again.context.round == 1
    (answer,) = again.context.input_answers
    assert (answer.key, answer.error) == ("who", None)
    assert decoded(answer.result)["content"] == {"name": "Ada"}
    pair.server.respond(again.request, RESULT)
    assert only(pair.client_events(), ResponseReceived).request == request


def test_a_refusal_reaches_a_legacy_server_as_an_error() -> None:
    pair = connect(LEGACY, capabilities=CAPABLE)
    pair.client.call_tool("echo", None, 0)
    call = only(pair.server_events(), ToolCalled).request
    pair.server.require_input(call, [("s", "roots", "{}")], 0)
    (question,) = only(pair.client_events(), InputRequired).inputs
    pair.client.refuse_input(question.input, -32000, "not now", 0)
    (answer,) = only(pair.server_events(), ToolCalled).context.input_answers
    assert (answer.result, answer.error.code, answer.error.message) == (None, -32000, "not now")
    assert answer.error.data is None


def test_a_refusal_ends_a_modern_request() -> None:
    pair = connect(MODERN, capabilities=CAPABLE)
    request = pair.client.call_tool("echo", None, 0)
    pair.server.require_input(only(pair.server_events(), ToolCalled).request, [("s", "elicitation", FORM)], 0)
    (question,) = only(pair.client_events(), InputRequired).inputs
    pair.client.refuse_input(question.input, -1, "no", 0)
    failed = only(pair.client_events(), RequestFailed)
    assert (failed.request, type(failed.error), failed.error.code) == (request, InputRefusedError, 605)


@BOTH_ERAS
def test_questions_end_with_their_request(revision: str) -> None:
    pair = connect(revision, capabilities=CAPABLE)
    request = pair.client.call_tool("echo", None, 0)
    pair.server.require_input(only(pair.server_events(), ToolCalled).request, [("s", "elicitation", FORM)], 0)
    (question,) = only(pair.client_events(), InputRequired).inputs
    pair.client.cancel(request)
    events = pair.client_events()
    assert only(events, InputWithdrawn).input == question.input
    assert only(events, RequestFailed).error.code == 602


@BOTH_ERAS
def test_a_client_without_the_capability_is_told(revision: str) -> None:
    pair = connect(revision)
    pair.client.call_tool("echo", None, 0)
    call = only(pair.server_events(), ToolCalled).request
    with pytest.raises(MissingCapabilityError) as caught:
        pair.server.require_input(call, [("s", "elicitation", FORM)], 0)
    assert caught.value.code == 302
    assert list(decoded(caught.value.required)) == ["elicitation"]
    pair.server.respond_missing_capability(call, caught.value.required)
    error = only(pair.client_events(), RequestFailed).error
    assert error.code == (-32600 if revision == LEGACY else -32021)
    assert list(error.data["requiredCapabilities"]) == ["elicitation"]


# ---------------------------------------------------------------- changes


@BOTH_ERAS
def test_subscriptions_have_the_same_events_in_both_eras(revision: str) -> None:
    pair = connect(revision)
    subscription = pair.client.subscribe(SubscriptionFilter(tools=True, resource_uris=["file:///a"]), 0)
    acknowledged = only(pair.client_events(), SubscriptionAcknowledged)
    assert acknowledged.subscription == subscription
    assert (acknowledged.honoured.tools, acknowledged.honoured.prompts) == (True, False)
    assert acknowledged.honoured.resource_uris == ["file:///a"]
    opened = [event for event in pair.server_events() if isinstance(event, SubscriptionOpened)]
    assert any(event.filter.resource_uris == ["file:///a"] for event in opened)
    pair.server.add_tool('{"name": "new", "inputSchema": {"type": "object"}}')
    assert only(pair.client_events(), ListChanged).kind == "tools"
    pair.server.publish_resource_updated("file:///a")
    assert only(pair.client_events(), ResourceUpdated).uri == "file:///a"
    pair.client.unsubscribe(subscription, 0)
    ended = only(pair.client_events(), SubscriptionEnded)
    assert (ended.subscription, ended.graceful) == (subscription, True)
    assert any(isinstance(event, SubscriptionClosed) for event in pair.server_events())


def test_a_server_ends_a_subscription() -> None:
    pair = connect(MODERN)
    subscription = pair.client.subscribe(SubscriptionFilter(prompts=True), 0)
    opened = only(pair.server_events(), SubscriptionOpened)
    pair.server.publish_list_changed("prompts")
    pair.client_events()
    pair.server.end_subscription(opened.subscription)
    ended = only(pair.client_events(), SubscriptionEnded)
    assert (ended.subscription, ended.graceful) == (subscription, True)


# ---------------------------------------------------------------- requests of a legacy server


def test_pings_both_ways_and_requests_of_the_server() -> None:
    pair = connect(LEGACY)
    ping = pair.client.ping(0)
    assert only(pair.client_events(), ResponseReceived).request == ping
    assert make_server().receive_data(message(id=1, method="ping"), 0) == []
    session = 1
    request = pair.server.ping(session, 0)
    answered = only(pair.server_events(), ResponseReceived)
    assert (answered.request, answered.result, answered.error) == (request, b"{}", None)


def test_a_client_can_tell_that_its_roots_changed() -> None:
    pair = connect(LEGACY, capabilities='{"roots": {"listChanged": true}}')
    pair.client.notify_roots_changed()
    pair.client.notify("x.y/seen", '{"a":1}')
    first, second = pair.server_events()
    assert isinstance(first, NotificationReceived)
    assert isinstance(second, NotificationReceived)
    assert (first.params, second.method, second.params) == (None, "x.y/seen", b'{"a":1}')
    assert first.session == second.session
    assert first.session is not None


# ---------------------------------------------------------------- faults of the peer


def test_noise_is_told_and_nothing_is_lost() -> None:
    server = make_server()
    events = server.receive_data(
        b"noise\n\xff\n" + message(id=1, method="tools/call", params={"name": "echo"}) + b"[\n", 0
    )
    assert [type(event) for event in events].count(MessageDiscarded) == 3
    assert only(events[:1], MessageDiscarded).bytes == b"noise"
    assert only(events[:1], MessageDiscarded).violation == "not_json"


def test_a_small_deviation_is_tolerated_and_told() -> None:
    pair = connect(LEGACY)
    events = pair.server.receive_data(b"\xef\xbb\xbf" + message(id=9, method="ping"), 0)
    tolerated = only(events, ViolationTolerated)
    assert tolerated.violation == "byte_order_mark"
    assert b'"id":9' in pair.server.data_to_send()
