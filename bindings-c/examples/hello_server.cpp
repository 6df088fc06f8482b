/*
 * A server on standard input and output with one tool.
 *
 *     c++ -std=c++17 hello_server.cpp $(pkg-config --cflags --libs barewire) -o hello_server
 */
#include <barewire.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <string>
#include <sys/random.h>
#include <unistd.h>

using barewire::Result;
using barewire::Server;

constexpr const char *greet_tool = R"({"name": "greet", "description": "Greets somebody",
    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}})";

static std::uint64_t now()
{
    using namespace std::chrono;
    return static_cast<std::uint64_t>(duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count());
}

// Ends the program if something that cannot fail has failed.
template <class T> T must(Result<T> result)
{
    if (!result) {
        std::fprintf(stderr, "%s\n", result.error().message.c_str());
        std::exit(1);
    }
    if constexpr (!std::is_void_v<T>)
        return *std::move(result);
}

static Server make_server()
{
    barewire::Seed seed;
    if (getentropy(seed.data(), seed.size()) != 0)
        std::exit(1);
    auto server = must(Server::create(must(barewire::ServerConfig::create("hello", "1.0", seed))));
    must(server.add_tool(greet_tool));
    return server;
}

static Result<void> greet(Server &server, const barewire::server::ToolCalled &call)
{
    const auto name = call.arguments.get_string("/name");
    if (!name)
        return server.respond_invalid_arguments(call.request, "name is a string");
    return server.respond_text(call.request, "Hello, " + *name + "!");
}

static void handle_events(Server &server)
{
    while (const auto event = server.poll_event())
        std::visit(barewire::overloaded{
                       [&](const barewire::server::ToolCalled &call) { must(greet(server, call)); },
                       [](const auto &) {},
                   },
                   *event);
}

// Writes what waits to be sent.
static void write_all(Server &server)
{
    for (auto data = server.data_to_send(); !data.empty(); data = server.data_to_send()) {
        const ssize_t count = write(STDOUT_FILENO, data.data(), data.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            must(server.connection_lost(now()));
        // What can be sent no more is done with as well.
        server.consume(count < 0 ? data.size() : static_cast<std::size_t>(count));
    }
}

static int milliseconds_until(std::uint64_t due)
{
    const std::uint64_t time = now();
    return due == barewire::never ? -1 : static_cast<int>(std::min<std::uint64_t>(due - std::min(due, time), 60000));
}

// Waits for input until something is due.
static Result<void> read_some(Server &server)
{
    static std::array<char, 64 * 1024> buffer;
    pollfd input = {server.wants_input() ? STDIN_FILENO : -1, POLLIN, 0};
    if (poll(&input, 1, milliseconds_until(server.poll_timeout())) <= 0)
        return {};
    const ssize_t count = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count > 0)
        return server.receive_data(now(), {buffer.data(), static_cast<std::size_t>(count)});
    if (count == 0)
        return server.receive_eof(now());
    return errno == EINTR ? Result<void>() : server.connection_lost(now());
}

int main()
{
    Server server = make_server();
    while (!server.is_finished()) {
        if (const auto read = read_some(server); !read)
            std::fprintf(stderr, "%s\n", read.error().message.c_str());
        must(server.handle_timeout(now()));
        handle_events(server);
        write_all(server);
    }
}
