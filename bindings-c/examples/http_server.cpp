/*
 * A server over HTTP in C++, on the host of the C examples: `http_server 8000`, then connect a client to
 * http://127.0.0.1:8000/mcp. Its tool asks the user, whichever revision the client speaks.
 *
 *     cc -c http_server_host.c host.c $(pkg-config --cflags barewire libmicrohttpd)
 *     c++ -std=c++17 http_server.cpp http_server_host.o host.o $(pkg-config --cflags --libs barewire libmicrohttpd) -o http_server
 */
#include <barewire.hpp>

extern "C" {
#include "host.h"
#include "http_server_host.h"
}

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace server = barewire::server;
using barewire::Result;
using barewire::Server;

constexpr const char *deploy_tool = R"({"name": "deploy", "description": "Deploys, if the user agrees",
    "inputSchema": {"type": "object", "properties": {"target": {"type": "string"}}, "required": ["target"]}})";
constexpr const char *form = R"({"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]})";

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
    host_seed(seed.data());
    auto made = must(Server::create_http(must(barewire::ServerConfig::create("hello", "1.0", seed))));
    must(made.add_tool(deploy_tool));
    return made;
}

// Asks the user: the call comes again with the answer.
static Result<void> ask(Server &it, const server::ToolCalled &call, const std::string &target)
{
    barewire::json::Writer question;
    question.begin_object();
    question.put_key("message").put_string("Deploy to " + target + "?");
    question.put_key("requestedSchema").put_json(form);
    question.end_object();
    const auto asked =
        it.require_input(host_now(), call.request, {{"sure", BW_INPUT_ELICITATION, must(question.finish())}});
    // Some clients have nobody to ask.
    return asked ? asked : it.respond_tool_error(call.request, asked.error().message);
}

static Result<void> deploy(Server &it, const server::ToolCalled &call)
{
    const auto target = call.arguments.get_string("/target");
    if (!target)
        return it.respond_invalid_arguments(call.request, "target is a string");
    const auto answer = call.context.answers().find("sure");
    if (!answer)
        return ask(it, call, *target);
    const bool is_sure = answer->result.get_string("/action").value_or("") == "accept" &&
                         answer->result.get_bool("/content/sure").value_or(false);
    return it.respond_text(call.request, is_sure ? "deployed" : "left as it is");
}

static void handle_events(Server &it)
{
    while (const auto event = it.poll_event())
        std::visit(barewire::overloaded{
                       [&](const server::ToolCalled &call) { must(deploy(it, call)); },
                       [](const auto &) {},
                   },
                   *event);
}

int main(int count, char **words)
{
    static const http_server_paths paths = {"/mcp", nullptr, nullptr};
    Server it = make_server();
    const auto port = static_cast<std::uint16_t>(count > 1 ? std::atoi(words[1]) : 8000);
    const std::unique_ptr<http_server_host, void (*)(http_server_host *)> host(
        http_server_host_new(it.get(), &paths, port), http_server_host_free);
    if (!host) {
        std::perror("http_server");
        return 1;
    }
    host_note_end();
    while (!host_is_to_end()) {
        http_server_host_step(host.get(), barewire::never);
        handle_events(it);
    }
}
