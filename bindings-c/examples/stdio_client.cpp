/*
 * A client that starts a server, lists its tools, and calls one of them.
 *
 *     c++ -std=c++17 stdio_client.cpp $(pkg-config --cflags --libs barewire) -o stdio_client
 *     ./stdio_client greet '{"name": "you"}' ./hello_server
 */
#include <barewire.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

namespace client = barewire::client;
using barewire::Result;

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

static int milliseconds_until(std::uint64_t due)
{
    const std::uint64_t time = now();
    return due == barewire::never ? -1 : static_cast<int>(std::min<std::uint64_t>(due - std::min(due, time), 60000));
}

// A server that runs as a child process in a group of its own, with the pipes to its standard input and output.
class Child
{
  public:
    Child(char *const *command, const barewire::ClientConfig &config)
        : shutdown_(must(barewire::ChildShutdown::create(config)))
    {
        int to_child[2], from_child[2];
        if (pipe(to_child) != 0 || pipe(from_child) != 0 || (process_ = fork()) < 0)
            std::exit(1);
        if (process_ == 0) {
            setpgid(0, 0);
            std::signal(SIGPIPE, SIG_DFL);
            dup2(to_child[0], STDIN_FILENO);
            dup2(from_child[1], STDOUT_FILENO);
            for (int end : {to_child[0], to_child[1], from_child[0], from_child[1]})
                close(end);
            execvp(command[0], command);
            _exit(127);
        }
        close(to_child[0]);
        close(from_child[1]);
        input_ = to_child[1];
        output_ = from_child[0];
    }

    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    // Does what ends it, however it resists.
    ~Child()
    {
        must(shutdown_.start());
        while (!shutdown_.is_finished()) {
            act();
            if (waitpid(process_, nullptr, WNOHANG) == process_)
                must(shutdown_.exited());
            else
                poll(nullptr, 0, 5);
            must(shutdown_.handle_timeout(now()));
        }
        close(output_);
    }

    int input() const { return input_; }

    int output() const { return output_; }

  private:
    void act()
    {
        switch (shutdown_.poll_action(now())) {
        case BW_CHILD_CLOSE_INPUT:
            close(input_);
            break;
        case BW_CHILD_TERMINATE:
            send_signal(SIGTERM);
            break;
        case BW_CHILD_KILL:
            send_signal(SIGKILL);
            break;
        case BW_CHILD_NOTHING:
            break;
        }
    }

    // To the child and its group, which it may have left.
    void send_signal(int number)
    {
        if (kill(-process_, number) != 0)
            kill(process_, number);
    }

    barewire::ChildShutdown shutdown_;
    pid_t process_ = -1;
    int input_ = -1;
    int output_ = -1;
};

// What the program wants of the server, one step after the other.
class Session
{
  public:
    Session(const barewire::ClientConfig &config, const char *tool, const char *arguments, char *const *command)
        : config_(config), client_(must(barewire::Client::create(config, now()))), tool_(tool), arguments_(arguments),
          command_(command)
    {
        child_.emplace(command_, config_);
        must(client_.list(now(), BW_LISTING_TOOLS));
    }

    int run()
    {
        while (!client_.is_finished()) {
            write_all(child_->input());
            read_some(child_->output());
            // Its errors are told by events as well.
            (void)client_.handle_timeout(now());
            while (const auto event = client_.poll_event())
                std::visit(*this, *event);
        }
        return exit_status_.value_or(1);
    }

    void operator()(const client::ResponseReceived &response)
    {
        if (call_ == response.request)
            return finish(response.result);
        if (const auto tools = response.result.members("/tools"))
            for (const auto &tool : *tools)
                std::printf("tool %s\n", tool.value.get_string("/name").value_or("without a name").c_str());
        const auto cursor = response.result.get_string("/nextCursor");
        if (cursor)
            must(client_.list(now(), BW_LISTING_TOOLS, *cursor));
        else
            call_ = must(client_.call_tool(now(), tool_, arguments_));
    }

    void operator()(const client::RestartRequired &)
    {
        child_.reset();
        child_.emplace(command_, config_);
        must(client_.restart(now()));
    }

    void operator()(const client::RequestFailed &failed) { fail(failed.failure); }

    void operator()(const client::Disconnected &end)
    {
        if (!exit_status_)
            fail(end.failure);
    }

    void operator()(const client::InputRequired &question)
    {
        for (const barewire::Input &input : question.inputs)
            must(client_.refuse_input(now(), input.input, BW_RPC_USER_REFUSED, "nobody is here to be asked"));
    }

    template <class Other> void operator()(const Other &) {}

  private:
    void finish(barewire::json::View result)
    {
        if (const auto content = result.members("/content"))
            for (const auto &block : *content)
                if (const auto text = block.value.get_string("/text"))
                    std::printf("%s\n", text->c_str());
        exit_status_ = result.get_bool("/isError").value_or(false) ? 2 : 0;
        must(client_.close());
    }

    void fail(const barewire::Failure &failure)
    {
        std::fprintf(stderr, "%lld: %.*s\n", static_cast<long long>(failure.code),
                     static_cast<int>(failure.message.size()), failure.message.data());
        exit_status_ = 1;
        (void)client_.close();
    }

    void write_all(int output)
    {
        for (auto data = client_.data_to_send(); !data.empty(); data = client_.data_to_send()) {
            const ssize_t count = write(output, data.data(), data.size());
            if (count < 0 && errno == EINTR)
                continue;
            if (count < 0)
                must(client_.connection_lost(now()));
            // What can be sent no more is done with as well.
            client_.consume(count < 0 ? data.size() : static_cast<std::size_t>(count));
        }
    }

    // Waits for input until something is due. What is fatal in it is told by events.
    void read_some(int source)
    {
        static std::array<char, 64 * 1024> buffer;
        pollfd input = {client_.wants_input() ? source : -1, POLLIN, 0};
        if (client_.is_finished() || poll(&input, 1, milliseconds_until(client_.poll_timeout())) <= 0)
            return;
        const ssize_t count = read(source, buffer.data(), buffer.size());
        if (count > 0)
            (void)client_.receive_data(now(), {buffer.data(), static_cast<std::size_t>(count)});
        else if (count == 0)
            (void)client_.receive_eof(now());
        else if (errno != EINTR)
            (void)client_.connection_lost(now());
    }

    const barewire::ClientConfig &config_;
    barewire::Client client_;
    const char *tool_;
    const char *arguments_;
    char *const *command_;
    std::optional<Child> child_;
    std::optional<barewire::RequestHandle> call_;
    std::optional<int> exit_status_;
};

int main(int count, char **words)
{
    if (count < 4) {
        std::fprintf(stderr, "use: %s TOOL ARGUMENTS COMMAND [WORD]...\n", words[0]);
        return 1;
    }
    barewire::Seed seed;
    if (getentropy(seed.data(), seed.size()) != 0)
        return 1;
    std::signal(SIGPIPE, SIG_IGN);
    const auto config = must(barewire::ClientConfig::create("stdio-client", "1.0", seed));
    return Session(config, words[1], words[2], words + 3).run();
}
