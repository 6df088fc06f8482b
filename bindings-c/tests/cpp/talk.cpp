// What client and server say to each other: the same over bytes and over HTTP, in both eras.
#include "pair.hpp"

namespace client = barewire::client;
namespace server = barewire::server;
using barewire::json::View;
using barewire::json::Writer;

static std::string text_of(View result)
{
    return must(result.get_string("/content/0/text"));
}

static void connect(Pair &pair)
{
    const auto ready = pair.client_tells<client::Ready>();
    CHECK(ready.revision == pair.revision && pair.client.revision() == pair.revision);
    CHECK(*ready.peer.get_string("/name") == "server" && ready.instructions == "be kind");
    CHECK(ready.capabilities.has(BW_CAPABILITY_TOOLS) && !ready.capabilities.has(BW_CAPABILITY_SAMPLING));
    CHECK(ready.capabilities.json().type("/tools") == BW_JSON_OBJECT);
    CHECK(pair.client.server_has_capability(BW_CAPABILITY_PROMPTS) && pair.client.era_verdict());
    if (!pair.is_legacy())
        return;
    const auto session = pair.server_tells<server::SessionOpened>();
    CHECK(session.revision == pair.revision && *session.peer.get_string("/version") == "2");
    CHECK(session.capabilities.has(BW_CAPABILITY_ELICITATION));
    CHECK(!must(pair.server.export_session(session.session)).empty());
    const auto ping = must(pair.server.ping(0, session.session));
    const auto pong = pair.server_tells<server::ResponseReceived>();
    CHECK(pong.request == ping && pong.session == session.session && pong.result.text() == "{}" && !pong.failure);
    const auto asked = must(pair.client.ping(0));
    CHECK(pair.client_tells<client::ResponseReceived>().request == asked);
}

static void tool(Pair &pair)
{
    barewire::RequestOptions options;
    options.progress = true;
    options.meta = R"({"com.example/trace":1})";
    if (pair.is_legacy()) {
        const auto set = must(pair.client.set_log_level(0, BW_LOG_LEVEL_DEBUG));
        CHECK(pair.client_tells<client::ResponseReceived>().request == set);
    } else {
        options.log_level = BW_LOG_LEVEL_DEBUG;
    }
    const auto request = must(pair.client.call_tool(0, "tool", R"({"text":"x"})", options));
    const auto call = pair.server_tells<server::ToolCalled>();
    CHECK(call.name == "tool" && call.arguments.text() == R"({"text":"x"})");
    CHECK(call.context.revision() == pair.revision && *call.context.peer().get_string("/name") == "client");
    CHECK(call.context.capabilities().has(BW_CAPABILITY_ROOTS) && call.context.progress_token());
    CHECK(call.context.log_level() == BW_LOG_LEVEL_DEBUG);
    CHECK(*call.context.meta().get_i64("/com.example~1trace") == 1 && !call.context.state());
    CHECK(call.context.session().has_value() == pair.is_legacy() &&
          call.context.exchange().has_value() == pair.is_http);
    CHECK(call.context.principal() == (pair.is_http ? std::optional<std::string_view>("ada") : std::nullopt));
    CHECK(call.context.round() == 0 && call.context.answers().empty() && !call.context.answers().find("who"));
    CHECK(must(pair.server.notify_progress(call.request, 1, 4, "quarter")));
    const auto progress = pair.client_tells<client::ProgressReceived>();
    CHECK(progress.request == request && progress.progress == 1 && progress.total == 4.0 && progress.increasing);
    CHECK(progress.message == "quarter" && !must(pair.server.notify_progress(call.request, 1)));
    CHECK(must(pair.server.notify_progress(call.request, 2)));
    CHECK(!pair.client_tells<client::ProgressReceived>().total);
    CHECK(must(pair.server.notify_log(call.request, BW_LOG_LEVEL_ERROR, "disk", R"({"full":true})")));
    const auto log = pair.client_tells<client::LogReceived>();
    CHECK(log.log_level == BW_LOG_LEVEL_ERROR && log.logger == "disk" && log.data.text() == R"({"full":true})");
    CHECK(must(pair.server.notify(call.request, "notifications/example", R"({"x":1})")));
    const auto notice = pair.client_tells<client::NotificationReceived>();
    CHECK(notice.method == "notifications/example" && *notice.params.get_i64("/x") == 1 && !notice.session);
    Writer result;
    result.begin_object().put_key("content").begin_array().begin_object();
    result.put_key("type").put_string("text").put_key("text").put_string("done");
    result.end_object().end_array().end_object();
    must(pair.server.respond_written(call.request, result));
    const auto response = pair.client_tells<client::ResponseReceived>();
    CHECK(response.request == request && text_of(response.result) == "done" && !response.freshness);
}

static void other_requests(Pair &pair)
{
    must(pair.client.read_resource(0, "test:big/a%20b"));
    const auto read = pair.server_tells<server::ResourceReadRequested>();
    CHECK(read.uri == "test:big/a%20b" && read.uri_template == "test:{kind}/{id}");
    CHECK(read.variables.size() == 2 && read.variables[1].name == "id" && read.variables.find("id") == "a b");
    CHECK(!read.variables.find("none") && read.context.revision() == pair.revision);
    must(pair.server.respond_resource_text(read.request, read.uri, "text/plain", "text"));
    const auto text = pair.client_tells<client::ResponseReceived>();
    CHECK(*text.result.get_string("/contents/0/mimeType") == "text/plain");
    CHECK(text.freshness.has_value() != pair.is_legacy());
    CHECK(!text.freshness || (text.freshness->ttl == 5000 && text.freshness->scope == BW_CACHE_PUBLIC));
    must(pair.client.read_resource(0, "test:one"));
    const auto one = pair.server_tells<server::ResourceReadRequested>();
    CHECK(!one.uri_template && one.variables.empty());
    must(pair.server.respond_resource_blob(one.request, one.uri, std::nullopt, {"\0\1", 2}));
    CHECK(*pair.client_tells<client::ResponseReceived>().result.get_string("/contents/0/blob") == "AAE=");
    must(pair.client.get_prompt(0, "prompt", R"({"who":"you"})"));
    const auto prompt = pair.server_tells<server::PromptRequested>();
    CHECK(prompt.name == "prompt" && *prompt.arguments.get_string("/who") == "you");
    must(pair.server.respond_prompt_text(prompt.request, "hi"));
    CHECK(*pair.client_tells<client::ResponseReceived>().result.get_string("/messages/0/content/text") == "hi");
    must(pair.client.complete(0, BW_COMPLETION_PROMPT, "prompt", "who", "y"));
    const auto completion = pair.server_tells<server::CompletionRequested>();
    CHECK(completion.name == "prompt" && !completion.uri && completion.argument == "who" && completion.value == "y");
    must(pair.server.respond_completion(completion.request, {"you", "yes"}));
    CHECK(*pair.client_tells<client::ResponseReceived>().result.get_length("/completion/values") == 2);
    must(pair.client.complete(0, BW_COMPLETION_RESOURCE, "test:{kind}/{id}", "id", "", R"({"kind":"big"})"));
    const auto settled = pair.server_tells<server::CompletionRequested>();
    CHECK(settled.uri == "test:{kind}/{id}" && !settled.name && *settled.arguments.get_string("/kind") == "big");
    must(pair.server.respond(settled.request, R"({"completion":{"values":[]}})"));
    (void)pair.client_tells<client::ResponseReceived>();
    must(pair.client.list(0, BW_LISTING_PROMPTS));
    CHECK(*pair.client_tells<client::ResponseReceived>().result.get_string("/prompts/0/name") == "prompt");
}

static void failures(Pair &pair)
{
    const auto request = must(pair.client.request(0, "com.example/ask", R"({"x":1})"));
    const auto asked = pair.server_tells<server::RequestReceived>();
    CHECK(asked.method == "com.example/ask" && *asked.params.get_i64("/x") == 1);
    must(pair.server.respond_error(asked.request, -7, "no", "[1]"));
    const auto failed = pair.client_tells<client::RequestFailed>();
    CHECK(failed.request == request && failed.failure.code == -7 && failed.failure.is_rpc_error);
    CHECK(failed.failure.message == "no" && failed.failure.data.text() == "[1]" && !failed.failure.http_status);
    must(pair.client.call_tool(0, "tool"));
    must(pair.server.respond_tool_error(pair.server_tells<server::ToolCalled>().request, "bad"));
    CHECK(*pair.client_tells<client::ResponseReceived>().result.get_bool("/isError"));
    must(pair.client.call_tool(0, "tool"));
    must(pair.server.respond_missing_capability(pair.server_tells<server::ToolCalled>().request, R"({"sampling":{}})"));
    CHECK(pair.client_tells<client::RequestFailed>().failure.is_rpc_error);
    must(pair.client.call_tool(0, "tool"));
    must(pair.server.respond_invalid_arguments(pair.server_tells<server::ToolCalled>().request, "bad"));
    (void)pair.client_tells<client::ResponseReceived>();
    const auto given_up = must(pair.client.call_tool(0, "tool"));
    const auto call = pair.server_tells<server::ToolCalled>();
    must(pair.client.cancel(given_up, "too slow"));
    CHECK(pair.client_tells<client::RequestFailed>().failure.code == BW_ERROR_CANCELLED);
    const auto cancelled = pair.server_tells<server::RequestCancelled>();
    // Over HTTP modern clients just close the response.
    CHECK(cancelled.request == call.request && (cancelled.reason == "too slow" || !cancelled.reason));
    must(pair.server.respond_text(call.request, "late"));
    CHECK(fails(BW_ERROR_UNKNOWN_REQUEST, pair.client.cancel(given_up)));
}

static void questions(Pair &pair)
{
    const char *form = R"({"message":"Who?","requestedSchema":{"type":"object","properties":{}}})";
    const auto request = must(pair.client.call_tool(0, "tool"));
    auto call = pair.server_tells<server::ToolCalled>();
    must(pair.server.require_input(0, call.request, {{"who", BW_INPUT_ELICITATION, form}}, R"({"step":1})"));
    const auto asked = pair.client_tells<client::InputRequired>();
    CHECK(asked.inputs.size() == 1 && asked.inputs[0].kind == BW_INPUT_ELICITATION && asked.round == 1);
    CHECK(*asked.inputs[0].params.get_string("/message") == "Who?" &&
          asked.inputs[0].key.has_value() != pair.is_legacy());
    must(pair.client.provide_input(0, asked.inputs[0].input, R"({"action":"accept","content":{}})"));
    call = pair.server_tells<server::ToolCalled>();
    CHECK(call.context.round() == 1 && *call.context.state().get_i64("/step") == 1);
    const auto answer = call.context.answers().find("who");
    CHECK(answer && !answer->error && *answer->result.get_string("/action") == "accept");
    for (const barewire::Answer &each : call.context.answers())
        CHECK(each.key == "who" && each.result);
    // Refused: an error to legacy servers, the end of the request to modern ones.
    must(pair.server.require_input(0, call.request, {{"again", BW_INPUT_ELICITATION, form}}));
    const auto input = pair.client_tells<client::InputRequired>().inputs[0].input;
    must(pair.client.refuse_input(0, input, BW_RPC_USER_REFUSED, "never"));
    if (!pair.is_legacy()) {
        const auto failed = pair.client_tells<client::RequestFailed>();
        CHECK(failed.request == request && failed.failure.code == BW_ERROR_INPUT_REFUSED);
        return;
    }
    call = pair.server_tells<server::ToolCalled>();
    const auto refused = call.context.answers().find("again");
    CHECK(refused && !refused->result && refused->error->code == BW_RPC_USER_REFUSED);
    CHECK(refused->error->message == "never" && !refused->error->data);
    must(pair.server.require_input(0, call.request, {{"third", BW_INPUT_ELICITATION, form}}));
    const auto last = pair.client_tells<client::InputRequired>().inputs[0].input;
    must(pair.server.respond_text(call.request, "never mind"));
    CHECK(pair.client_tells<client::InputWithdrawn>().input == last);
    (void)pair.client_tells<client::ResponseReceived>();
}

static void subscriptions(Pair &pair)
{
    const std::string_view uris[] = {"test:one"};
    barewire::SubscriptionFilter filter;
    filter.tools = true;
    filter.uris = uris;
    const auto subscription = must(pair.client.subscribe(0, filter));
    const auto opened = pair.server_tells<server::SubscriptionOpened>();
    CHECK(opened.uris.size() == 1 && opened.uris[0] == "test:one" && !opened.watches.prompts);
    const auto agreed = pair.client_tells<client::SubscriptionAcknowledged>();
    CHECK(agreed.subscription == subscription && agreed.watches.tools && !agreed.watches.resources);
    CHECK(*agreed.uris.begin() == "test:one");
    must(pair.server.publish_resource_updated("test:one"));
    const auto updated = pair.client_tells<client::ResourceUpdated>();
    CHECK(updated.uri == "test:one" && updated.subscription == subscription);
    must(pair.server.publish_list_changed(BW_LIST_TOOLS));
    const auto changed = pair.client_tells<client::ListChanged>();
    CHECK(changed.list == BW_LIST_TOOLS && changed.subscription == subscription);
    must(pair.client.unsubscribe(0, subscription));
    CHECK(pair.server_tells<server::SubscriptionClosed>().subscription == opened.subscription);
    CHECK(pair.client_tells<client::SubscriptionEnded>().graceful);
    CHECK(fails(BW_ERROR_UNKNOWN_SUBSCRIPTION, pair.server.end_subscription(opened.subscription)));
}

static void notices(Pair &pair)
{
    // Modern servers know nobody whom a notification would be from.
    if (pair.is_legacy()) {
        must(pair.client.notify("notifications/example", R"({"y":2})"));
        const auto notice = pair.server_tells<server::NotificationReceived>();
        CHECK(notice.method == "notifications/example" && *notice.params.get_i64("/y") == 2 && notice.session);
        must(pair.client.notify_roots_changed());
        CHECK(pair.server_tells<server::NotificationReceived>().method != "notifications/example");
        must(pair.server.log(BW_LOG_LEVEL_ALERT, std::nullopt, "\"hot\""));
        CHECK(pair.client_tells<client::LogReceived>().data.text() == "\"hot\"");
    }
    if (pair.is_http)
        return;
    must(pair.server.receive_data(0, "noise\n"));
    const auto discarded = pair.server_tells<server::MessageDiscarded>();
    CHECK(discarded.violation.number == BW_VIOLATION_NOT_JSON && discarded.bytes == "noise");
    CHECK(!discarded.violation.text.empty());
    // The answer to it names no request.
    CHECK(pair.client_tells<client::MessageDiscarded>().violation.number != BW_VIOLATION_NONE);
    must(pair.client.receive_data(0, "\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"method\":\"notifications/odd\"}\n"));
    const auto tolerated = pair.client_tells<client::ViolationTolerated>();
    CHECK(tolerated.violation.number == BW_VIOLATION_BYTE_ORDER_MARK && !tolerated.request);
    CHECK(pair.client_tells<client::NotificationReceived>().method == "notifications/odd");
}

static void removals(Pair &pair)
{
    must(pair.server.remove_tool("tool"));
    must(pair.server.remove_resource("test:one"));
    must(pair.server.remove_resource_template("test:{kind}/{id}"));
    must(pair.server.remove_prompt("prompt"));
    CHECK(fails(BW_ERROR_NOT_REGISTERED, pair.server.remove_prompt("prompt")));
    const auto twice = pair.server.add_tool(R"({"name":"tool"})");
    CHECK(fails(BW_ERROR_INVALID_DEFINITION, twice) && twice.error().message.find("inputSchema") != std::string::npos);
}

static void ends(Pair &pair)
{
    must(pair.client.close());
    const auto disconnected = pair.client_tells<client::Disconnected>();
    CHECK(disconnected.failure.code == BW_ERROR_CLOSED_BY_US && !disconnected.failure.is_rpc_error);
}

void test_talk(bool is_http, bw_revision revision)
{
    Pair pair = join(is_http, revision);
    for (const auto step : {connect, tool, other_requests, failures, questions, subscriptions, notices, removals, ends})
        step(pair);
}
