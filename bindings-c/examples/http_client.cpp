/*
 * A client over HTTP in C++, on the host of the C examples: `http_client URL TOOL [ARGUMENTS]` calls a tool with
 * arguments in JSON, shows its progress, and asks whoever sits there what the server asks.
 *
 *     cc -c http_client_host.c authorization.c token_store.c host.c $(pkg-config --cflags barewire libcurl)
 *     c++ -std=c++17 http_client.cpp *.o $(pkg-config --cflags --libs barewire libcurl) -o http_client
 */
#include <barewire.hpp>

extern "C" {
#include "host.h"
#include "http_client_host.h"
}

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>

namespace client = barewire::client;
using barewire::Client;
using barewire::Result;

// Ends the program if something that cannot fail has failed.
template <class T> T must(Result<T> result)
{
    if (!result) {
        std::cerr << result.error().message << '\n';
        std::exit(1);
    }
    if constexpr (!std::is_void_v<T>)
        return *std::move(result);
}

static Client connect_to(const char *url)
{
    barewire::Seed seed;
    host_seed(seed.data());
    auto config = must(barewire::ClientConfig::create("hello", "1.0", seed));
    must(config.set_capabilities(R"({"elicitation": {}})"));
    return must(Client::create_http(config, url, host_now()));
}

// Takes each event until there is an exit status.
class Session
{
  public:
    explicit Session(Client &it) : it_(it) {}

    std::optional<int> exit_status() const { return exit_status_; }

    void operator()(const client::ProgressReceived &report)
    {
        std::cout << "... " << report.message.value_or("") << '\n';
    }

    void operator()(const client::ResponseReceived &response)
    {
        for (const auto &block : must(response.result.members("/content")))
            std::cout << block.value.get_string("/text").value_or("") << '\n';
        exit_status_ = response.result.get_bool("/isError").value_or(false) ? 2 : 0;
    }

    void operator()(const client::InputRequired &questions)
    {
        for (const barewire::Input &question : questions.inputs)
            answer(question);
    }

    void operator()(const client::RequestFailed &failed)
    {
        // Why the connection ended is told with its end.
        if (failed.failure.code != BW_ERROR_CONNECTION_LOST || failed.failure.is_rpc_error)
            fail(failed.failure);
    }

    void operator()(const client::Disconnected &end) { fail(end.failure); }

    template <class Other> void operator()(const Other &) {}

  private:
    // A line is the content of the form; an empty one, and the end of input, decline.
    void answer(const barewire::Input &question)
    {
        std::string line;
        std::cout << question.params.get_string("/message").value_or("") << '\n';
        std::getline(std::cin, line);
        barewire::json::Writer result;
        result.begin_object().put_key("action").put_string(line.empty() ? "decline" : "accept");
        if (!line.empty())
            result.put_key("content").put_json(line);
        const auto written = result.end_object().finish();
        if (!written || !it_.provide_input(host_now(), question.input, *written))
            must(it_.refuse_input(host_now(), question.input, BW_RPC_USER_REFUSED, "that was no answer"));
    }

    void fail(const barewire::Failure &failure)
    {
        std::cerr << failure.code << ": " << failure.message << '\n';
        exit_status_ = 1;
    }

    Client &it_;
    std::optional<int> exit_status_;
};

int main(int count, char **words)
{
    if (count < 3) {
        std::cerr << "use: http_client URL TOOL [ARGUMENTS]\n";
        return 1;
    }
    Client it = connect_to(words[1]);
    const std::unique_ptr<http_client_host, void (*)(http_client_host *)> host(http_client_host_new(it.get()),
                                                                               http_client_host_free);
    if (!host)
        return 1;
    barewire::RequestOptions options;
    options.progress = true;
    must(it.call_tool(host_now(), words[2], count > 3 ? words[3] : "{}", options));
    Session session(it);
    while (!session.exit_status()) {
        http_client_host_step(host.get(), -1);
        while (const auto event = it.poll_event())
            std::visit(session, *event);
    }
    (void)it.close();
    while (!http_client_host_is_finished(host.get()))
        http_client_host_step(host.get(), -1);
    return *session.exit_status();
}
