/*
 * A client of a server that it starts: lists the server's tools, or calls one with arguments in JSON.
 *
 *     stdio_client COMMAND [ARGUMENT...]
 *     stdio_client -c TOOL JSON COMMAND [ARGUMENT...]
 */
#include <barewire.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A server process, and the pipes to it. -1 stands for what is closed. */
struct child {
    pid_t pid;
    int input, output;
};

struct session {
    bw_client *client;
    bw_client_config *config;
    struct child child;
    char **command;
    const char *tool, *arguments;
    uint64_t request;
    bool is_done;
    int status;
};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* Ends the program if something that cannot fail has failed. */
static void must(bool went_well, const char *what)
{
    if (!went_well) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

/* ---- The child process ---- */

/* Opens standard descriptors that are closed: a pipe in their place would get mixed up with them. */
static void open_standard(void)
{
    int descriptor;
    do
        descriptor = open("/dev/null", O_RDWR);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    close(descriptor);
}

static struct child start(char **command)
{
    int to[2], from[2];
    must(pipe(to) == 0 && pipe(from) == 0, "no pipes");
    struct child child = {fork(), to[1], from[0]};
    must(child.pid >= 0, "no process");
    if (child.pid == 0) {
        setpgid(0, 0); /* what the server starts can be ended with it */
        signal(SIGPIPE, SIG_DFL);
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        close(to[0]);
        close(to[1]);
        close(from[0]);
        close(from[1]);
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    fcntl(child.input, F_SETFL, O_NONBLOCK);
    fcntl(child.input, F_SETFD, FD_CLOEXEC);
    fcntl(child.output, F_SETFD, FD_CLOEXEC);
    return child;
}

static void close_end(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

/* Sends a signal to the child and its group, which it may have left. */
static void send_signal(const struct child *child, int number)
{
    if (kill(-child->pid, number) != 0)
        kill(child->pid, number);
}

/* Ends the child, in steps that no child can refuse. */
static void end(struct child *child, const bw_client_config *config)
{
    bw_child_shutdown *shutdown;
    must(bw_child_shutdown_new(config, &shutdown) == BW_OK, "no memory");
    bw_child_shutdown_start(shutdown);
    while (!bw_child_shutdown_is_finished(shutdown)) {
        switch (bw_child_shutdown_poll_action(shutdown, now())) {
        case BW_CHILD_CLOSE_INPUT:
            close_end(&child->input);
            break;
        case BW_CHILD_TERMINATE:
            send_signal(child, SIGTERM);
            break;
        case BW_CHILD_KILL:
            send_signal(child, SIGKILL);
            break;
        case BW_CHILD_NOTHING:
            poll(NULL, 0, 10);
            bw_child_shutdown_handle_timeout(shutdown, now());
            break;
        }
        if (waitpid(child->pid, NULL, WNOHANG) == child->pid)
            bw_child_shutdown_exited(shutdown);
    }
    close_end(&child->output);
    bw_child_shutdown_free(shutdown);
}

/* ---- What the client wants and is told ---- */

static void ask(struct session *it)
{
    bw_status status =
        it->tool != NULL
            ? bw_client_call_tool(it->client, now(), bw_string(it->tool), bw_string(it->arguments), NULL, &it->request)
            : bw_client_list(it->client, now(), BW_LISTING_TOOLS, bw_none(), NULL, &it->request);
    must(status == BW_OK, bw_error_name(status));
}

/* The string under a pointer, whatever its length; nothing if there is none. What `*memory` is then is to be freed. */
static bw_bytes get_string(bw_bytes json, const char *pointer, char **memory)
{
    bw_bytes string = bw_none();
    bw_status status = bw_json_get_string(json, pointer, NULL, 0, &string);
    *memory = status == BW_ERROR_BUFFER_TOO_SMALL ? malloc(string.length) : NULL;
    if (*memory != NULL)
        status = bw_json_get_string(json, pointer, *memory, string.length, &string);
    return status == BW_OK ? string : bw_none();
}

static void print_string(bw_bytes json, const char *pointer)
{
    char *memory;
    bw_bytes string = get_string(json, pointer, &memory);
    if (bw_is_some(string))
        fwrite(string.data, 1, string.length, stdout);
    free(memory);
}

/* Prints the tools or the content of a result, and asks for the next page of a list. */
static void take_result(struct session *it, bw_bytes result)
{
    char *memory = NULL;
    bw_json_iterator items;
    bw_bytes item, cursor;
    bool is_list = it->tool == NULL;
    if (bw_json_iterate(result, is_list ? "/tools" : "/content", &items) == BW_OK)
        while (bw_json_next(&items, NULL, &item)) {
            print_string(item, is_list ? "/name" : "/text");
            if (is_list && bw_json_get_type(item, "/description") == BW_JSON_STRING) {
                printf(": ");
                print_string(item, "/description");
            }
            printf("\n");
        }
    it->is_done = true;
    cursor = is_list ? get_string(result, "/nextCursor", &memory) : bw_none();
    if (bw_is_some(cursor))
        it->is_done = bw_client_list(it->client, now(), BW_LISTING_TOOLS, cursor, NULL, &it->request) != BW_OK;
    free(memory);
}

static void fail(struct session *it, const bw_event *event)
{
    bw_bytes message = bw_event_message(event);
    if (!it->is_done)
        fprintf(stderr, "failed with %d: %.*s\n", (int)bw_event_code(event), (int)message.length,
                (const char *)message.data);
    it->status = it->is_done ? it->status : 1;
    it->is_done = true;
}

static void handle_events(struct session *it)
{
    const bw_event *event;
    bw_input input;
    while ((event = bw_client_poll_event(it->client)) != NULL)
        switch (bw_event_kind(event)) {
        case BW_EVENT_READY: {
            bw_bytes revision = bw_revision_name(bw_event_revision(event));
            fprintf(stderr, "speaks %.*s\n", (int)revision.length, (const char *)revision.data);
            break;
        }
        case BW_EVENT_RESPONSE_RECEIVED:
            if (bw_event_request(event) == it->request)
                take_result(it, bw_event_result(event));
            break;
        case BW_EVENT_INPUT_REQUIRED: /* there is nobody to ask */
            for (size_t at = 0; bw_event_input_at(event, at, &input); ++at)
                bw_client_refuse_input(it->client, now(), input.input, BW_RPC_METHOD_NOT_FOUND,
                                       BW_LITERAL("nobody to ask"));
            break;
        case BW_EVENT_RESTART_REQUIRED:
            end(&it->child, it->config);
            it->child = start(it->command);
            bw_client_restart(it->client, now());
            break;
        case BW_EVENT_REQUEST_FAILED:
        case BW_EVENT_DISCONNECTED:
            fail(it, event);
            break;
        default:
            break;
        }
}

/* ---- Bytes ---- */

static void write_some(struct session *it)
{
    bw_bytes data = bw_client_data_to_send(it->client);
    ssize_t count = write(it->child.input, data.data, data.length);
    if (count >= 0)
        bw_client_consume(it->client, (size_t)count);
    else if (errno != EAGAIN && errno != EINTR)
        close_end(&it->child.input); /* the server has gone: its output ends as well */
}

static void read_some(struct session *it)
{
    static char buffer[64 * 1024];
    ssize_t count = read(it->child.output, buffer, sizeof buffer);
    if (count > 0)
        bw_client_receive_data(it->client, now(), bw_text(buffer, (size_t)count));
    else if (count == 0)
        bw_client_receive_eof(it->client, now());
    else if (errno != EINTR)
        bw_client_connection_lost(it->client, now());
}

/* Waits until something can be done, and does it. */
static void turn(struct session *it)
{
    uint64_t due = bw_client_poll_timeout(it->client), time = now();
    struct pollfd ends[2] = {{it->child.output, POLLIN, 0}, {it->child.input, POLLOUT, 0}};
    if (!bw_client_wants_input(it->client))
        ends[0].fd = -1;
    if (bw_client_data_to_send(it->client).length == 0)
        ends[1].fd = -1;
    poll(ends, 2, due == BW_NEVER ? -1 : due <= time ? 0 : due - time > 60000 ? 60000 : (int)(due - time));
    if (ends[1].revents != 0)
        write_some(it);
    if (ends[0].revents != 0)
        read_some(it);
    bw_client_handle_timeout(it->client, now());
}

int main(int count, char **words)
{
    struct session it = {0};
    unsigned char seed[BW_SEED_BYTES];
    bool calls = count > 4 && strcmp(words[1], "-c") == 0;
    must(count > (calls ? 4 : 1), "usage: stdio_client [-c TOOL JSON] COMMAND [ARGUMENT...]");
    it.tool = calls ? words[2] : NULL;
    it.arguments = calls ? words[3] : NULL;
    it.command = words + (calls ? 4 : 1);
    open_standard();
    signal(SIGPIPE, SIG_IGN);
    must(getentropy(seed, sizeof seed) == 0, "no randomness");
    must(bw_client_config_new(BW_LITERAL("stdio_client"), BW_LITERAL("1.0"), seed, &it.config) == BW_OK, "no memory");
    must(bw_client_new(it.config, now(), &it.client) == BW_OK, "no client");
    it.child = start(it.command);
    ask(&it);
    while (!it.is_done) {
        handle_events(&it);
        if (!it.is_done)
            turn(&it);
    }
    bw_client_close(it.client);
    end(&it.child, it.config);
    bw_client_free(it.client);
    bw_client_config_free(it.config);
    return it.status;
}
