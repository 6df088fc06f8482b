// A client and a server in memory, joined as bytes or as exchanges over HTTP, and what ends a test that finds a fault.
#pragma once

#include <barewire.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#define CHECK(condition) check(static_cast<bool>(condition), #condition, __FILE__, __LINE__)

inline void check(bool condition, const char *what, const char *file, int line)
{
    if (condition)
        return;
    std::fprintf(stderr, "%s:%d: %s\n", file, line, what);
    std::abort();
}

// What must go well.
template <class T> T must(barewire::Result<T> result)
{
    if (!result) {
        std::fprintf(stderr, "%s: %s\n", result.error().name(), result.error().message.c_str());
        std::abort();
    }
    if constexpr (!std::is_void_v<T>)
        return *std::move(result);
}

// What must fail with that number.
template <class T> bool fails(bw_status number, const barewire::Result<T> &result)
{
    return !result && result.error().code == number;
}

constexpr barewire::Seed seed = {7, 7, 7};

struct Pair {
    bool is_http;
    bw_revision revision;
    barewire::Server server;
    barewire::Client client;
    std::vector<std::pair<barewire::ExchangeHandle, barewire::ExchangeHandle>> exchanges = {};

    bool is_legacy() const { return barewire::era(revision) == BW_ERA_LEGACY; }

    // Moves what each side has to send to the other, once.
    void carry()
    {
        if (is_http)
            return carry_exchanges();
        const std::string to_server(client.data_to_send()), to_client(server.data_to_send());
        client.consume(to_server.size());
        server.consume(to_client.size());
        if (!to_server.empty())
            (void)server.receive_data(0, to_server);
        if (!to_client.empty())
            (void)client.receive_data(0, to_client);
    }

    // The next event of the client or server, which has to be of that type.
    template <class Event> Event client_tells()
    {
        return tells<Event>([this] { return client.poll_event(); });
    }

    template <class Event> Event server_tells()
    {
        return tells<Event>([this] { return server.poll_event(); });
    }

  private:
    template <class Event, class Poll> Event tells(Poll poll)
    {
        for (int round = 0; round < 20; ++round) {
            const auto event = poll();
            if (!event) {
                carry();
                continue;
            }
            const Event *found = std::get_if<Event>(&*event);
            if (!found)
                explain(*event, Event::kind);
            CHECK(found);
            return *found;
        }
        std::fprintf(stderr, "told nothing, not %d\n", Event::kind);
        std::abort();
    }

    template <class Any> static void explain(const Any &event, int wanted)
    {
        std::visit(
            barewire::overloaded{
                [](const barewire::MessageDiscarded &it) { std::puts(std::string(it.bytes).c_str()); },
                [](const barewire::client::RequestFailed &it) { std::puts(std::string(it.failure.message).c_str()); },
                [](const auto &) {},
            },
            event);
        std::printf("told the event of index %zu, not %d\n", event.index(), wanted);
        std::fflush(stdout);
    }

    void carry_exchanges()
    {
        while (const auto transmit = client.http_poll_transmit(0)) {
            if (transmit->kind == BW_TRANSMIT_ABORT)
                for (const auto &[known, served] : exchanges)
                    if (known == *transmit->exchange)
                        must(server.http_receive_abort(0, served));
            if (transmit->kind != BW_TRANSMIT_REQUEST)
                continue;
            std::vector<barewire::Pair> headers = {{"host", "localhost"}};
            for (std::size_t index = 0; index < transmit->headers.size(); ++index)
                headers.push_back(transmit->headers[index]);
            barewire::RequestHead head;
            head.method = transmit->method;
            head.headers = headers;
            head.principal = "ada";
            exchanges.emplace_back(*transmit->exchange, must(server.http_receive_whole(0, head, transmit->body)));
        }
        while (const auto ready = server.http_poll_ready())
            carry_response(*ready);
    }

    void carry_response(barewire::ExchangeHandle exchange)
    {
        barewire::ExchangeHandle other{};
        for (const auto &known : exchanges)
            other = known.second == exchange ? known.first : other;
        while (const auto part = server.http_poll_response(exchange)) {
            std::vector<barewire::Pair> headers;
            for (std::size_t index = 0; index < part->headers.size(); ++index)
                headers.push_back(part->headers[index]);
            if (part->status)
                (void)client.http_receive_head(0, other, *part->status, headers);
            (void)client.http_receive_body(0, other, part->data);
            if (part->is_last)
                (void)client.http_receive_end(0, other);
        }
    }
};

// Both, with one of everything registered, and connected.
inline Pair join(bool is_http, bw_revision revision)
{
    auto for_server = must(barewire::ServerConfig::create("server", "1", seed));
    must(for_server.set_completions(true));
    must(for_server.set_freshness({5000, BW_CACHE_PUBLIC}));
    must(for_server.set_instructions("be kind"));
    must(for_server.add_extension_method("com.example/ask"));
    auto for_client = must(barewire::ClientConfig::create("client", "2", seed));
    must(for_client.set_capabilities(R"({"roots":{"listChanged":true},"elicitation":{}})"));
    must(for_client.set_revisions({revision}));
    auto server = is_http ? barewire::Server::create_http(for_server) : barewire::Server::create(for_server);
    auto client = is_http ? barewire::Client::create_http(for_client, "http://localhost/mcp", 0)
                          : barewire::Client::create(for_client, 0);
    Pair pair{is_http, revision, must(std::move(server)), must(std::move(client))};
    must(pair.server.add_tool(R"({"name":"tool","inputSchema":{"type":"object"}})"));
    must(pair.server.add_resource(R"({"uri":"test:one","name":"one"})"));
    must(pair.server.add_resource_template(R"({"uriTemplate":"test:{kind}/{id}","name":"many"})"));
    must(pair.server.add_prompt(R"({"name":"prompt","arguments":[{"name":"who"}]})"));
    return pair;
}

void test_auth();
void test_values();
void test_talk(bool is_http, bw_revision revision);
void test_http();
