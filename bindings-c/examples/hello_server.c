/*
 * A server on standard input and output with one tool.
 *
 *     cc hello_server.c $(pkg-config --cflags --libs barewire) -o hello_server
 */
#include <barewire.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static const char GREET[] =
    "{\"name\": \"greet\", \"description\": \"Greets somebody\","
    " \"inputSchema\": {\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\"}},"
    " \"required\": [\"name\"]}}";

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* Ends the program if something that cannot fail has failed. */
static void must(bw_status status)
{
    if (status != BW_OK) {
        fprintf(stderr, "%s\n", bw_error_name(status));
        exit(1);
    }
}

static bw_server *make_server(void)
{
    unsigned char seed[BW_SEED_BYTES];
    bw_server_config *config;
    bw_server *server;
    if (getentropy(seed, sizeof seed) != 0)
        exit(1);
    must(bw_server_config_new(BW_LITERAL("hello"), BW_LITERAL("1.0"), seed, &config));
    must(bw_server_new(config, &server));
    bw_server_config_free(config);
    must(bw_server_add_tool(server, bw_string(GREET)));
    return server;
}

static bw_status greet(bw_server *server, const bw_event *call)
{
    char buffer[200], text[250];
    bw_bytes name;
    if (bw_json_get_string(bw_event_arguments(call), "/name", buffer, sizeof buffer, &name) != BW_OK ||
        name.length > sizeof buffer)
        return bw_server_respond_invalid_arguments(server, bw_event_request(call),
                                                   BW_LITERAL("name is a string of up to 200 bytes"));
    snprintf(text, sizeof text, "Hello, %.*s!", (int)name.length, (const char *)name.data);
    return bw_server_respond_text(server, bw_event_request(call), bw_string(text));
}

static void handle_events(bw_server *server)
{
    const bw_event *event;
    while ((event = bw_server_poll_event(server)) != NULL)
        if (bw_event_kind(event) == BW_EVENT_TOOL_CALLED)
            must(greet(server, event));
}

/* Writes what waits to be sent. */
static void write_all(bw_server *server)
{
    struct pollfd output = {STDOUT_FILENO, POLLOUT, 0};
    bw_bytes data;
    while ((data = bw_server_data_to_send(server)).length > 0) {
        ssize_t count = write(STDOUT_FILENO, data.data, data.length);
        if (count > 0)
            bw_server_consume(server, (size_t)count);
        else if (errno == EAGAIN) /* whoever started this program shares a pipe that does not block */
            poll(&output, 1, -1);
        else if (errno != EINTR)
            bw_server_connection_lost(server, now());
    }
}

/* Waits for input until something is due. */
static void read_some(bw_server *server)
{
    static uint8_t buffer[64 * 1024];
    uint64_t due = bw_server_poll_timeout(server), time = now();
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    bw_bytes data = {buffer, 0};
    ssize_t count;
    if (!bw_server_wants_input(server))
        input.fd = -1;
    if (poll(&input, 1, due == BW_NEVER ? -1 : due <= time ? 0 : due - time > 60000 ? 60000 : (int)(due - time)) <= 0)
        return;
    count = read(STDIN_FILENO, buffer, sizeof buffer);
    data.length = count > 0 ? (size_t)count : 0;
    if (count > 0)
        bw_server_receive_data(server, now(), data);
    else if (count == 0)
        bw_server_receive_eof(server, now());
    else if (errno != EINTR)
        bw_server_connection_lost(server, now());
}

int main(void)
{
    bw_server *server = make_server();
    while (!bw_server_is_finished(server)) {
        read_some(server);
        bw_server_handle_timeout(server, now());
        handle_events(server);
        write_all(server);
    }
    bw_server_free(server);
    return 0;
}
