#include "child_host.h"

#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Milliseconds between two looks at a child that is asked to end. */
#define PATIENCE 10

struct child_host {
    bw_client *client;
    bw_child_shutdown *shutdown;
    char *const *command;
    pid_t process;
    int input;  /* what the child reads; -1 once it is closed */
    int output; /* what the child writes; -1 once it ended */
};

static void close_end(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

/* Becomes the program, in a process group of its own. */
static void become(char *const *command, int input, int output)
{
    setpgid(0, 0);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    execvp(command[0], command);
    _exit(127);
}

static void start(child_host *host)
{
    int input[2], output[2];
    if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0 || (host->process = fork()) < 0)
        abort();
    if (host->process == 0)
        become(host->command, input[0], output[1]);
    setpgid(host->process, host->process); /* whoever comes first */
    close(input[0]);
    close(output[1]);
    host->input = input[1];
    host->output = output[0];
    fcntl(host->input, F_SETFL, O_NONBLOCK);
    fcntl(host->output, F_SETFL, O_NONBLOCK);
}

child_host *child_host_new(bw_client *client, const bw_client_config *config, char *const *command)
{
    child_host *host = calloc(1, sizeof *host);
    if (host == NULL)
        return NULL;
    host_must(bw_child_shutdown_new(config, &host->shutdown));
    host->client = client;
    host->command = command;
    start(host);
    return host;
}

void child_host_restart(child_host *host)
{
    close_end(&host->input);
    close_end(&host->output);
    kill(-host->process, SIGKILL);
    waitpid(host->process, NULL, 0);
    start(host);
    host_must(bw_client_restart(host->client, host_now()));
}

static void read_some(child_host *host)
{
    static char buffer[64 * 1024];
    ssize_t count = read(host->output, buffer, sizeof buffer);
    if (count > 0) {
        bw_client_receive_data(host->client, host_now(), bw_text(buffer, (size_t)count));
    } else if (count == 0) {
        close_end(&host->output);
        bw_client_receive_eof(host->client, host_now());
    }
}

static void write_some(child_host *host)
{
    bw_bytes data = bw_client_data_to_send(host->client);
    ssize_t count = write(host->input, data.data, data.length);
    if (count > 0)
        bw_client_consume(host->client, (size_t)count);
    else if (count < 0 && errno != EAGAIN && errno != EINTR)
        close_end(&host->input); /* what the server wrote before may still be read */
}

bool child_host_step(child_host *host, int descriptor)
{
    bool reads = bw_client_wants_input(host->client);
    bool writes = bw_client_data_to_send(host->client).length > 0;
    struct pollfd files[3] = {
        {reads ? host->output : -1, POLLIN, 0}, {writes ? host->input : -1, POLLOUT, 0}, {descriptor, POLLIN, 0}};
    if (poll(files, 3, host_patience(bw_client_poll_timeout(host->client))) > 0) {
        if (files[0].revents != 0)
            read_some(host);
        if (files[1].revents != 0)
            write_some(host);
    }
    bw_client_handle_timeout(host->client, host_now());
    return files[2].revents != 0;
}

static void act(child_host *host, bw_child_action action)
{
    if (action == BW_CHILD_CLOSE_INPUT)
        close_end(&host->input);
    else if (action == BW_CHILD_TERMINATE)
        kill(-host->process, SIGTERM);
    else if (action == BW_CHILD_KILL)
        kill(-host->process, SIGKILL);
}

void child_host_free(child_host *host)
{
    struct pollfd output;
    if (host == NULL)
        return;
    host_must(bw_child_shutdown_start(host->shutdown));
    while (!bw_child_shutdown_is_finished(host->shutdown)) {
        char ignored[4096];
        output.fd = host->output;
        output.events = POLLIN;
        act(host, bw_child_shutdown_poll_action(host->shutdown, host_now()));
        /* A child that is not read from may not get as far as its end. */
        if (poll(&output, 1, PATIENCE) > 0 && read(host->output, ignored, sizeof ignored) == 0)
            close_end(&host->output);
        if (waitpid(host->process, NULL, WNOHANG) != 0)
            bw_child_shutdown_exited(host->shutdown);
        bw_child_shutdown_handle_timeout(host->shutdown, host_now());
    }
    close_end(&host->input);
    close_end(&host->output);
    bw_child_shutdown_free(host->shutdown);
    free(host);
}
