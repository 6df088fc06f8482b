// What is special to a transport, step by step: HTTP, and the end of a byte stream.
#include "pair.hpp"

namespace client = barewire::client;
namespace server = barewire::server;
using barewire::Client;
using barewire::ExchangeHandle;
using barewire::Server;
using barewire::json::View;
using barewire::json::Writer;

// The next event of a client or server, which has to be of that type.
template <class Event, class Machine> static Event told(Machine &machine)
{
    const auto event = machine.poll_event();
    CHECK(event);
    const Event *found = std::get_if<Event>(&*event);
    CHECK(found);
    return *found;
}

// ---- A server and its host ----

struct Host {
    Server server;
    std::string session_id = {};

    ExchangeHandle ask(std::string_view method, std::string_view last_event = {})
    {
        std::vector<barewire::Pair> headers = {{"host", "localhost"},
                                               {"accept", "application/json, text/event-stream"},
                                               {"content-type", "application/json"}};
        if (!session_id.empty())
            headers.push_back({"mcp-session-id", session_id});
        if (!last_event.empty())
            headers.push_back({"last-event-id", last_event});
        barewire::RequestHead head;
        head.method = method;
        head.headers = headers;
        return must(server.http_receive_request(0, head));
    }

    ExchangeHandle post(const std::string &body)
    {
        const auto exchange = ask("POST");
        must(server.http_receive_body(0, exchange, body.substr(0, 9)));
        must(server.http_receive_body(0, exchange, body.substr(9)));
        must(server.http_receive_end(0, exchange));
        return exchange;
    }

    barewire::ResponsePart answer(ExchangeHandle exchange, int status)
    {
        const auto part = server.http_poll_response(exchange);
        if (part && part->status != status)
            std::fprintf(stderr, "status %d, not %d\n", int{part->status.value_or(0)}, status);
        CHECK(part && part->status == status && !part->is_aborted);
        return *part;
    }

    // What follows in a response, and whether it is over.
    std::pair<std::string, bool> rest(ExchangeHandle exchange)
    {
        std::pair<std::string, bool> all;
        while (const auto part = server.http_poll_response(exchange)) {
            CHECK(!part->status && part->headers.size() == 0);
            all.first += part->data;
            all.second = part->is_last;
        }
        return all;
    }

    // Has the client of some other library shake hands.
    barewire::SessionHandle open()
    {
        Writer body;
        body.begin_object().put_key("jsonrpc").put_string("2.0").put_key("id").put_i64(0);
        body.put_key("method").put_string("initialize").put_key("params").begin_object();
        body.put_key("protocolVersion").put_string(*barewire::name(BW_REVISION_2025_11_25));
        body.put_key("capabilities").put_json("{}").put_key("clientInfo");
        body.put_json(R"({"name":"c","version":"1"})").end_object().end_object();
        const auto part = answer(post(std::string(must(body.finish()).text())), 200);
        for (std::size_t index = 0; index < part.headers.size(); ++index)
            if (part.headers[index].name == "mcp-session-id")
                session_id = part.headers[index].value;
        CHECK(part.is_last && !session_id.empty());
        (void)answer(post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"), 202);
        return told<server::SessionOpened>(server).session;
    }
};

static Host new_host(bool external)
{
    auto config = must(barewire::ServerConfig::create("s", "1", seed));
    if (external) {
        must(config.set_external_sessions(true));
        must(config.keep_events_externally());
    }
    Host host{must(Server::create_http(config))};
    must(host.server.add_tool(R"({"name":"tool","inputSchema":{"type":"object"}})"));
    return host;
}

static const char *const call =
    R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool","_meta":{"progressToken":5}}})";

static void streams()
{
    Host host = new_host(false);
    const auto session = host.open();
    const auto exchange = host.post(call);
    const auto called = told<server::ToolCalled>(host.server);
    CHECK(called.context.exchange() == exchange && !host.server.http_is_idle());
    CHECK(must(host.server.notify_progress(called.request, 1)));
    CHECK(host.server.http_poll_ready() == exchange && !host.server.http_poll_ready());
    CHECK(host.server.http_backlog(exchange) > 0 && !host.answer(exchange, 200).is_last);
    CHECK(!host.rest(exchange).second && host.server.http_backlog(exchange) == 0);
    CHECK(must(host.server.http_close_stream(0, exchange, 2000)) && host.rest(exchange).second);
    CHECK(!host.server.http_close_stream(0, ExchangeHandle{99}).value_or(false));
    const auto stream = host.ask("GET");
    must(host.server.http_receive_end(0, stream));
    CHECK(!host.answer(stream, 200).is_last);
    must(host.server.http_receive_abort(0, stream));
    must(host.server.respond_text(called.request, "x"));
    must(host.server.end_session(session));
    CHECK(told<server::SessionClosed>(host.server).session == session);
    must(host.server.http_shut_down(0));
    (void)host.answer(host.ask("POST"), 503);
    CHECK(host.server.http_is_idle());
}

static void outside()
{
    Host host = new_host(true);
    const auto session = host.open();
    const auto named = told<server::SessionNamed>(host.server);
    CHECK(named.session == session && named.id == host.session_id);
    const auto lost = host.post(call);
    const auto called = told<server::ToolCalled>(host.server);
    CHECK(must(host.server.notify_progress(called.request, 1)));
    const auto first = told<server::EventAppended>(host.server);
    CHECK(first.session == session && !first.stream.empty() && first.data.empty());
    const std::string id(first.id), stream(first.stream);
    CHECK(View(told<server::EventAppended>(host.server).data).type("/method") == BW_JSON_STRING);
    must(host.server.http_receive_abort(0, lost));
    const auto resumed = host.ask("GET", id);
    must(host.server.http_receive_end(0, resumed));
    const auto wanted = told<server::ReplayRequested>(host.server);
    CHECK(wanted.exchange == resumed && wanted.session == session && wanted.stream == stream && wanted.after == id);
    must(host.server.http_replay(0, resumed, barewire::Span<barewire::Pair>{{"kept-1", "{\"kept\":1}"}}));
    const std::string head(host.answer(resumed, 200).data);
    CHECK((head + host.rest(resumed).first).find("{\"kept\":1}") != std::string::npos);
    const std::string text = must(host.server.export_session(session));
    must(host.server.end_session(session));
    std::optional<server::Event> event;
    do
        event = host.server.poll_event();
    while (event && !std::holds_alternative<server::StreamsForgotten>(*event));
    CHECK(event && std::get_if<server::StreamsForgotten>(&*event)->session == session);
    // In another process.
    Host other = new_host(true);
    other.session_id = host.session_id;
    const auto exchange = other.post(call);
    const auto requested = told<server::SessionRequested>(other.server);
    CHECK(requested.exchange == exchange && requested.id == host.session_id);
    CHECK(fails(BW_ERROR_INVALID_JSON, other.server.import_session("{")));
    const auto imported = must(other.server.import_session(text));
    must(other.server.http_resolve_session(0, exchange, imported));
    CHECK(told<server::SessionOpened>(other.server).session == imported);
    CHECK(told<server::ToolCalled>(other.server).context.session() == imported);
    (void)told<server::SessionNamed>(other.server);
    // No events, and no such stream, are two things.
    for (const bool is_known : {true, false}) {
        const auto again = other.ask("GET", id);
        must(other.server.http_receive_end(0, again));
        (void)told<server::ReplayRequested>(other.server);
        const auto events = is_known ? std::optional(barewire::Span<barewire::Pair>()) : std::nullopt;
        must(other.server.http_replay(0, again, events));
        (void)other.answer(again, is_known ? 200 : 400);
    }
    other.session_id = "unknown";
    const auto unknown = other.post(call);
    (void)told<server::SessionRequested>(other.server);
    must(other.server.http_resolve_session(0, unknown, std::nullopt));
    (void)other.answer(unknown, 404);
}

// ---- A client and its host ----

static Client new_client(bw_revision revision)
{
    auto config = must(barewire::ClientConfig::create("c", "1", seed));
    must(config.set_revisions({revision}));
    must(config.set_authorizes(true));
    must(config.set_opens_stream(false));
    must(config.set_sse_fallback(false));
    return must(Client::create_http(config, "https://server.example/mcp", 0));
}

static barewire::HttpTransmit requested(Client &client)
{
    const auto transmit = client.http_poll_transmit(0);
    CHECK(transmit && transmit->kind == BW_TRANSMIT_REQUEST && transmit->url == "https://server.example/mcp");
    CHECK(transmit->headers.size() > 0);
    return *transmit;
}

static void respond(Client &client, ExchangeHandle exchange, std::uint16_t status, std::string_view body = {})
{
    CHECK(client.http_wants_input(exchange));
    (void)client.http_receive_head(0, exchange, status,
                                   {{"content-type", "application/json"}, {"www-authenticate", "Bearer realm=\"x\""}});
    (void)client.http_receive_body(0, exchange, body);
    (void)client.http_receive_end(0, exchange);
}

// Answers the request that waits to be sent with a result.
static void reply(Client &client, std::string_view result)
{
    const auto transmit = requested(client);
    Writer body;
    body.begin_object().put_key("jsonrpc").put_string("2.0").put_key("id");
    body.put_json(*View(transmit.body).get("/id")).put_key("result").put_json(result).end_object();
    respond(client, *transmit.exchange, 200, *body.finish());
}

static void shake(Client &client)
{
    Writer result;
    result.begin_object().put_key("protocolVersion").put_string(*barewire::name(BW_REVISION_2025_11_25));
    result.put_key("capabilities").put_json(R"({"tools":{}})").put_key("serverInfo");
    result.put_json(R"({"name":"s","version":"1"})").end_object();
    reply(client, *result.finish());
    respond(client, *requested(client).exchange, 202);
}

static void authorization()
{
    Client client = new_client(BW_REVISION_2025_11_25);
    const auto exchange = *requested(client).exchange;
    respond(client, exchange, 401);
    const auto wanted = told<client::AuthorizationRequired>(client);
    CHECK(wanted.exchange == exchange && wanted.http_status == 401 && wanted.challenges.size() == 1);
    CHECK(wanted.challenges[0] == "Bearer realm=\"x\"" && wanted.challenges[1].empty());
    CHECK(!wanted.dpop_nonce && !wanted.operation.empty());
    must(client.http_authorized(0, exchange));
    shake(client);
    (void)told<client::Ready>(client);
    const auto request = must(client.list(0, BW_LISTING_TOOLS));
    const auto refused = *requested(client).exchange;
    respond(client, refused, 403);
    (void)told<client::AuthorizationRequired>(client);
    must(client.http_unauthorized(0, refused));
    const auto failed = told<client::RequestFailed>(client);
    CHECK(failed.request == request && failed.failure.code == BW_ERROR_UNAUTHORIZED);
    CHECK(failed.failure.http_status == 403 && !failed.failure.is_rpc_error);
    must(client.list(0, BW_LISTING_TOOLS));
    must(client.http_receive_failure(0, *requested(client).exchange, BW_EXCHANGE_NOT_SENT));
    CHECK(told<client::RequestFailed>(client).failure.code == BW_ERROR_UNAVAILABLE);
    must(client.list(0, BW_LISTING_TOOLS));
    must(client.http_receive_redirect(0, *requested(client).exchange, 302));
    CHECK(told<client::RequestFailed>(client).failure.http_status == 302);
}

static void omissions()
{
    Client client = new_client(BW_REVISION_2026_07_28);
    Writer result;
    result.begin_object().put_key("resultType").put_string("complete").put_key("supportedVersions").begin_array();
    result.put_string(*barewire::name(BW_REVISION_2026_07_28)).end_array();
    result.put_key("capabilities").put_json(R"({"tools":{}})").put_key("serverInfo");
    result.put_json(R"({"name":"s","version":"1"})").end_object();
    reply(client, *result.finish());
    (void)told<client::Ready>(client);
    const auto request = must(client.list(0, BW_LISTING_TOOLS));
    reply(client, R"({"resultType":"complete","ttlMs":5,"cacheScope":"public","tools":[)"
                  R"({"name":"fine","inputSchema":{"type":"object"}},)"
                  R"({"name":"odd","inputSchema":{"type":"object","x-mcp-header":"Root"}}]})");
    const auto omitted = told<client::ToolOmitted>(client);
    CHECK(omitted.request == request && omitted.index == 1 && omitted.name == "odd");
    CHECK(!omitted.path.empty() && !omitted.reason.empty());
    CHECK(told<client::ResponseReceived>(client).freshness->ttl == 5);
}

// ---- The end of a byte stream ----

static void restart()
{
    auto config = must(barewire::ClientConfig::create("c", "1", seed));
    Client client = must(Client::create(config, 0));
    must(client.list(0, BW_LISTING_TOOLS));
    client.consume(client.data_to_send().size());
    must(client.receive_eof(0));
    (void)told<client::RestartRequired>(client);
    must(client.restart(0));
    must(client.handle_timeout(1));
    CHECK(!client.data_to_send().empty() && client.poll_timeout() != barewire::never);
    (void)client.connection_lost(0);
    CHECK(told<client::RequestFailed>(client).failure.code == BW_ERROR_CONNECTION_LOST);
    const auto end = told<barewire::Disconnected>(client);
    CHECK(end.failure.code == BW_ERROR_TRANSPORT_LOST && !end.failure.message.empty());
    // What can be sent no more is done with as well.
    client.consume(client.data_to_send().size());
    CHECK(client.is_finished() && fails(BW_ERROR_TRANSPORT_LOST, client.request(0, "com.example/ask")));
}

static void drain()
{
    Pair pair = join(false, BW_REVISION_2026_07_28);
    (void)pair.client_tells<client::Ready>();
    must(pair.client.call_tool(0, "tool"));
    const auto called = pair.server_tells<server::ToolCalled>();
    must(pair.server.receive_eof(0));
    CHECK(!pair.server.is_finished() && pair.server.poll_timeout() == 10000);
    must(pair.server.handle_timeout(10000));
    const auto drained = told<server::Drained>(pair.server);
    CHECK(drained.abandoned.size() == 1 && drained.abandoned[0] == called.request);
    CHECK(told<barewire::Disconnected>(pair.server).failure.code == BW_ERROR_CLOSED_BY_PEER);
    // What asks a legacy client is over with the connection.
    pair = join(false, BW_REVISION_2025_11_25);
    const auto session = pair.server_tells<server::SessionOpened>().session;
    const auto request = must(pair.server.request(0, session, "ping"));
    must(pair.server.connection_lost(0));
    const auto lost = told<server::ResponseReceived>(pair.server);
    CHECK(lost.request == request && !lost.result && lost.failure->code == BW_ERROR_CONNECTION_LOST);
    (void)pair.server.close();
}

void test_http()
{
    streams();
    outside();
    authorization();
    omissions();
    restart();
    drain();
}
