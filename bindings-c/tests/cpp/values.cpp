// Results, JSON, configurations, and who owns what.
#include "pair.hpp"

#include <limits>

using barewire::ChildShutdown;
using barewire::Client;
using barewire::ClientConfig;
using barewire::Result;
using barewire::Server;
using barewire::ServerConfig;
using barewire::json::View;
using barewire::json::Writer;

template <class T>
constexpr bool is_move_only = std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
                              !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;

static_assert(is_move_only<Server> && is_move_only<ServerConfig> && is_move_only<Client> && is_move_only<ClientConfig>);
static_assert(is_move_only<ChildShutdown> && is_move_only<Writer>);
static_assert(is_move_only<barewire::AuthorizationConfig> && is_move_only<barewire::Authorization>);
static_assert(is_move_only<barewire::ResourceServerConfig> && is_move_only<barewire::ResourceServer>);
static_assert(is_move_only<barewire::Principal>);

static void results()
{
    Result<std::string> good("value"), bad{barewire::Error(BW_ERROR_TIMED_OUT)};
    CHECK(good && good.has_value() && *good == "value" && good->size() == 5 && good.value_or("other") == "value");
    CHECK(!bad && !bad.has_value() && bad.value_or("other") == "other");
    CHECK(std::move(bad).value_or("other") == "other" && *std::move(good) == "value");
    CHECK(bad.error().code == BW_ERROR_TIMED_OUT && bad.error().message == "BW_ERROR_TIMED_OUT");
    CHECK(Result<void>() && !Result<void>(barewire::Error(BW_ERROR_TIMED_OUT, "late")));
    CHECK(barewire::Error(BW_ERROR_TIMED_OUT, "late").message == "late");
    CHECK(barewire::Error(BW_ERROR_CLOSED_BY_US).is_fatal() && !barewire::Error(BW_ERROR_NOT_UTF8).is_fatal());
    CHECK(std::string(barewire::Error(BW_ERROR_NOT_UTF8).name()) == "BW_ERROR_NOT_UTF8");
}

static void names()
{
    CHECK(std::string(barewire::version()) == BW_VERSION && barewire::version_number() == BW_VERSION_NUMBER);
    const auto all = barewire::revisions();
    CHECK(all.size() == bw_revision_count() && all.front() > all.back());
    for (const bw_revision revision : all)
        CHECK(barewire::revision_from_name(*barewire::name(revision)) == revision);
    CHECK(!barewire::name(BW_REVISION_NONE) && !barewire::revision_from_name("2000"));
    CHECK(barewire::era(all.front()) == BW_ERA_MODERN && barewire::era(BW_REVISION_NONE) == BW_ERA_NONE);
    CHECK(barewire::name(BW_LOG_LEVEL_ALERT) == "alert" && !barewire::name(BW_LOG_LEVEL_NONE));
    CHECK(barewire::log_level_from_name("alert") == BW_LOG_LEVEL_ALERT && !barewire::log_level_from_name("loud"));
    CHECK(barewire::path(BW_CAPABILITY_TOOLS_LIST_CHANGED) == "tools.listChanged");
}

static void reading()
{
    const View json(R"({"s":"a\nb","plain":"c","i":-7,"u":8,"d":0.5,"b":true,"n":null,"l":[1,[2],3]})");
    CHECK(json && json.check() && json.type() == BW_JSON_OBJECT && json.type("/n") == BW_JSON_NULL);
    CHECK(json.type("/none") == BW_JSON_NONE && json.get("/l/1")->text() == "[2]");
    CHECK(*json.get_string("/s") == "a\nb" && *json.get_string("/plain") == "c");
    CHECK(*json.get_i64("/i") == -7 && *json.get_u64("/u") == 8 && *json.get_double("/d") == 0.5);
    CHECK(*json.get_bool("/b") && *json.get_length("/l") == 3 && *json.get_length() == 8);
    char buffer[3];
    CHECK(*json.get_string("/s", buffer, sizeof buffer) == "a\nb" && buffer[0] == 'a');
    // Without escapes it is a part of the text.
    CHECK(json.get_string("/plain", nullptr, 0)->data() > json.text().data());
    CHECK(fails(BW_ERROR_BUFFER_TOO_SMALL, json.get_string("/s", buffer, 2)));
    CHECK(fails(BW_ERROR_NOT_FOUND, json.get_string("/none")) && fails(BW_ERROR_WRONG_TYPE, json.get_bool("/s")));
    CHECK(fails(BW_ERROR_OUT_OF_RANGE, json.get_u64("/i")) && fails(BW_ERROR_INVALID_ARGUMENT, json.get("x")));
    CHECK(fails(BW_ERROR_INVALID_JSON, View("{").check()) && fails(BW_ERROR_WRONG_TYPE, json.members("/i")));
    CHECK(!View() && fails(BW_ERROR_NULL_ARGUMENT, View().get("")) && View().type() == BW_JSON_NONE);
    // Longer than what lies on the stack.
    const std::string spaces(500, ' ');
    CHECK(*View("\"\\t" + spaces + "\"").get_string("") == "\t" + spaces);
    std::string keys, values;
    const auto members = must(json.members());
    for (const auto &[key, value] : members) {
        keys += *key;
        values += value.text();
    }
    CHECK(keys == "splainiudbnl" && values.find("[1,[2],3]") != std::string::npos);
    // What is taken of a result that ends with the line lasts as long as the loop.
    int sum = 0;
    for (const auto &number : *View("[1,2]").members())
        sum += static_cast<int>(*number.value.get_i64(""));
    CHECK(sum == 3);
    auto element = must(json.members("/l")).begin();
    CHECK(!element->key && *(element++)->value.get_i64("") == 1 && (*element).value.text() == "[2]");
    CHECK(must(View("[]").members()).begin() == must(View("{}").members()).end());
    CHECK(*barewire::json::unescape("a\\\"b") == "a\"b");
    CHECK(fails(BW_ERROR_INVALID_JSON, barewire::json::unescape("\\x")));
}

static Writer write_all(Writer writer)
{
    writer.begin_object().put_key("s").put_string("a\"b").put_key("l").begin_array();
    writer.put_i64(-1).put_u64(2).put_double(0.5).put_bool(true).put_null().put_json("[3]").put_base64("abc");
    writer.end_array().end_object();
    return writer;
}

static void writing()
{
    const std::string expected = R"({"s":"a\"b","l":[-1,2,0.5,true,null,[3],"YWJj"]})";
    Writer grown = write_all(Writer());
    CHECK(grown.finish()->text() == expected);
    char buffer[100];
    Writer fixed = write_all(Writer(buffer, sizeof buffer));
    CHECK(fixed.finish()->text().data() == buffer && fixed.finish()->text() == expected);
    // What was moved from is empty and can be used.
    Writer other = std::move(grown);
    CHECK(other.finish()->text() == expected);
    CHECK(fails(BW_ERROR_WRITER_MISUSED, grown.finish())); // NOLINT: it is what is tested
    CHECK(grown.put_null().finish()->text() == "null");
    grown = std::move(other);
    Writer &self = grown;
    grown = std::move(self);
    CHECK(grown.finish()->text() == expected);
    grown.clear();
    CHECK(grown.put_string("").finish()->text() == "\"\"");
    CHECK(fails(BW_ERROR_OUT_OF_RANGE, Writer().put_double(std::numeric_limits<double>::infinity()).finish()));
    CHECK(fails(BW_ERROR_BUFFER_TOO_SMALL, Writer(buffer, 3).put_string("long").finish()));
    CHECK(fails(BW_ERROR_INVALID_JSON, Writer().put_json("{").finish()));
}

static void configurations()
{
    auto server = must(ServerConfig::create("server", "1", seed));
    const bw_revision revisions[] = {BW_REVISION_2025_11_25, BW_REVISION_2026_07_28};
    for (const auto &result : {server.set_title("t"),
                               server.set_description("d"),
                               server.set_website_url(std::nullopt),
                               server.set_icons("[]"),
                               server.set_instructions("i"),
                               server.set_revisions(revisions),
                               server.set_logging(false),
                               server.set_completions(true),
                               server.set_extensions("{}"),
                               server.add_extension_method("com.example/x"),
                               server.set_freshness({1, BW_CACHE_PRIVATE}),
                               server.set_identify_results(false),
                               server.add_request_state_key(seed),
                               server.set_clock_origin(1),
                               server.set_memory(65536),
                               server.set_limit(BW_LIMIT_DEPTH, 20),
                               server.set_timeout(BW_TIMEOUT_DRAIN, 1),
                               server.set_progress_extends(false),
                               server.allow_origin("https://a.example"),
                               server.allow_host("*"),
                               server.set_body_bytes(10),
                               server.set_keep_alive(1),
                               server.set_session_idle(1),
                               server.set_retry(1),
                               server.keep_no_events(),
                               server.keep_events_in_memory(1, 2, 3),
                               server.keep_events_externally(),
                               server.set_external_sessions(true)})
        CHECK(result);
    auto client = must(ClientConfig::create("client", "1", seed));
    for (const auto &result :
         {client.set_title("t"), client.set_description("d"), client.set_website_url("https://a.example"),
          client.set_icons(std::nullopt), client.set_capabilities("{}"), client.set_revisions(revisions),
          client.set_era_verdict(std::nullopt), client.set_limit(BW_LIMIT_DEPTH, 20),
          client.set_timeout(BW_TIMEOUT_PROBE, 1), client.set_progress_extends(false), client.set_sse_fallback(false),
          client.set_opens_stream(false), client.set_authorizes(true), client.set_authorization_timeout(9),
          client.set_resumptions(1), client.set_retry(1)})
        CHECK(result);
    // Nothing is not the same as an empty text.
    CHECK(fails(BW_ERROR_INVALID_JSON, server.set_icons("")) && server.set_icons(View()));
    CHECK(fails(BW_ERROR_INVALID_JSON, client.set_capabilities("[]")));
    CHECK(fails(BW_ERROR_INVALID_ARGUMENT, client.set_era_verdict("x")));
    CHECK(fails(BW_ERROR_INVALID_ARGUMENT, client.set_revisions({BW_REVISION_NONE})));
}

static void failed_constructions()
{
    CHECK(fails(BW_ERROR_NOT_UTF8, ServerConfig::create("\xff", "1", seed)));
    CHECK(fails(BW_ERROR_NOT_UTF8, ClientConfig::create("\xff", "1", seed)));
    auto server = must(ServerConfig::create("", {}, seed));
    must(server.set_extensions(R"({"unnamed":{}})"));
    CHECK(fails(BW_ERROR_INVALID_DEFINITION, Server::create(server)));
    CHECK(fails(BW_ERROR_INVALID_DEFINITION, Server::create_http(server)));
    auto client = must(ClientConfig::create("", {}, seed));
    CHECK(fails(BW_ERROR_INVALID_DEFINITION, Client::create_http(client, "ftp://x", 0)));
    must(client.set_revisions({}));
    CHECK(fails(BW_ERROR_NO_COMMON_REVISION, Client::create(client, 0)));
}

static void moves()
{
    auto config = must(ClientConfig::create("client", "1", seed));
    auto first = must(Client::create(config, 0)), second = must(Client::create(config, 0));
    must(first.list(0, BW_LISTING_TOOLS));
    // The one that is assigned to frees what it was; the other one is of no use and does no harm.
    second = std::move(first);
    CHECK(!second.data_to_send().empty() && second.get());
    CHECK(fails(BW_ERROR_NULL_ARGUMENT, first.close())); // NOLINT: it is what is tested
    CHECK(first.is_finished() && !first.poll_event() && first.data_to_send().empty() && !first.era_verdict());
    CHECK(first.poll_timeout() == barewire::never && !first.wants_input());
    first = std::move(second);
    // A configuration may end before what was made of it.
    std::optional<ServerConfig> gone = must(ServerConfig::create("server", "1", seed));
    std::optional<Server> server = must(Server::create(*gone));
    gone.reset();
    must(server->receive_data(0, "noise\n"));
    CHECK(server->wants_input() && std::holds_alternative<barewire::MessageDiscarded>(*server->poll_event()));
    Server kept = std::move(*server);
    server.reset();
    CHECK(!kept.data_to_send().empty());
    ServerConfig lost = must(ServerConfig::create("server", "1", seed)), found = std::move(lost);
    CHECK(fails(BW_ERROR_NULL_ARGUMENT, Server::create(lost)) && Server::create(found)); // NOLINT
    CHECK(fails(BW_ERROR_NULL_ARGUMENT, lost.set_title("t")) && found.get() && !lost.get());
}

// An event outlives a move of its machine, and commands.
static void events_stay()
{
    Pair pair = join(false, BW_REVISION_2026_07_28);
    (void)pair.client_tells<barewire::client::Ready>();
    must(pair.client.call_tool(0, "tool", R"({"x":"y"})"));
    const auto call = pair.server_tells<barewire::server::ToolCalled>();
    Server moved = std::move(pair.server);
    must(moved.respond_text(call.request, "done"));
    CHECK(call.name == "tool" && *call.arguments.get_string("/x") == "y");
    CHECK(*call.context.peer().get_string("/name") == "client");
    const auto again = moved.respond_text(call.request, "done");
    CHECK(fails(BW_ERROR_ALREADY_ANSWERED, again) || fails(BW_ERROR_UNKNOWN_REQUEST, again));
    CHECK(again.error().message != again.error().name());
}

static void child()
{
    auto config = must(ClientConfig::create("client", "1", seed));
    auto shutdown = must(ChildShutdown::create(config));
    ChildShutdown moved = std::move(shutdown);
    CHECK(shutdown.is_finished() && fails(BW_ERROR_NULL_ARGUMENT, shutdown.start())); // NOLINT
    CHECK(!shutdown.get() && moved.get() && moved.poll_timeout() == barewire::never);
    must(moved.start());
    CHECK(moved.poll_action(0) == BW_CHILD_CLOSE_INPUT && moved.poll_action(0) == BW_CHILD_NOTHING);
    CHECK(moved.poll_timeout() == 2000 && !moved.is_finished());
    must(moved.handle_timeout(2000));
    CHECK(moved.poll_action(2000) == BW_CHILD_TERMINATE);
    must(moved.exited());
    CHECK(moved.is_finished());
}

void test_values()
{
    results();
    names();
    reading();
    writing();
    configurations();
    failed_constructions();
    moves();
    events_stay();
    child();
}
