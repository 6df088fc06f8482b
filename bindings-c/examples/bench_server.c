/*
 * What bench/run.sh measures: the tools of the Rust example servers, on standard input and output in a blocking loop.
 */
#include <barewire.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* The longest text that is asked for. */
#define MOST_KIB (256 * 1024)

static const char *const TOOLS[] = {
    "{\"name\":\"echo\",\"description\":\"Return the text.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
    "\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}}",
    "{\"name\":\"add\",\"description\":\"Add two integers.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
    "\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"}},\"required\":[\"a\",\"b\"]},\"outputSchema\":{"
    "\"type\":\"object\",\"properties\":{\"sum\":{\"type\":\"integer\"}},\"required\":[\"sum\"]}}",
    "{\"name\":\"big\",\"description\":\"Return n KiB of text.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
    "\"kib\":{\"type\":\"integer\"}},\"required\":[\"kib\"]}}",
    "{\"name\":\"sink\",\"description\":\"Return the length of the text.\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}}",
    "{\"name\":\"progress\",\"description\":\"Report progress n times.\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"]}}",
};

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

/* Memory for the texts of one call, kept for the next. */
static char *reserve(size_t size)
{
    static char *memory;
    static size_t capacity;
    if (size > capacity) {
        free(memory);
        memory = malloc(capacity = size);
    }
    if (size > 0 && memory == NULL)
        must(BW_ERROR_BUFFER_TOO_SMALL);
    return memory;
}

static bw_server *make_server(void)
{
    unsigned char seed[BW_SEED_BYTES];
    bw_server_config *config;
    bw_server *server;
    if (getentropy(seed, sizeof seed) != 0)
        exit(1);
    must(bw_server_config_new(BW_LITERAL("example"), BW_LITERAL("1.0.0"), seed, &config));
    must(bw_server_new(config, &server));
    bw_server_config_free(config);
    for (size_t at = 0; at < sizeof TOOLS / sizeof *TOOLS; ++at)
        must(bw_server_add_tool(server, bw_string(TOOLS[at])));
    return server;
}

static void write_all(bw_server *server)
{
    bw_bytes data;
    while ((data = bw_server_data_to_send(server)).length > 0) {
        ssize_t count = write(STDOUT_FILENO, data.data, data.length);
        if (count < 0)
            exit(1);
        bw_server_consume(server, (size_t)count);
    }
}

/* ---- Tools ---- */

/* The string `text` of the arguments, decoded, which is no longer than they are. */
static bw_status get_text(bw_bytes arguments, bw_bytes *text)
{
    return bw_json_get_string(arguments, "/text", reserve(arguments.length), arguments.length, text);
}

static bw_status echo(bw_server *server, uint64_t request, bw_bytes arguments)
{
    bw_bytes text;
    bw_status status = get_text(arguments, &text);
    if (status == BW_OK)
        must(bw_server_respond_text(server, request, text));
    return status;
}

static bw_status sink(bw_server *server, uint64_t request, bw_bytes arguments)
{
    char number[24];
    bw_bytes text;
    bw_status status = get_text(arguments, &text);
    if (status == BW_OK) {
        snprintf(number, sizeof number, "%zu", text.length);
        must(bw_server_respond_text(server, request, bw_string(number)));
    }
    return status;
}

static bw_status add(bw_server *server, uint64_t request, bw_bytes arguments)
{
    int64_t a, b;
    char buffer[80];
    bw_status status = bw_json_get_i64(arguments, "/a", &a);
    if (status == BW_OK)
        status = bw_json_get_i64(arguments, "/b", &b);
    if (status == BW_OK) {
        long long sum = (long long)((uint64_t)a + (uint64_t)b);
        snprintf(buffer, sizeof buffer, "{\"content\":[],\"structuredContent\":{\"sum\":%lld}}", sum);
        must(bw_server_respond(server, request, bw_string(buffer)));
    }
    return status;
}

static bw_status big(bw_server *server, uint64_t request, bw_bytes arguments)
{
    static const char LINE[] = "All work and no play makes \"Jack\" a dull boy, so he went home.\n ";
    uint64_t kib;
    bw_status status = bw_json_get_u64(arguments, "/kib", &kib);
    if (status != BW_OK || kib > MOST_KIB)
        return BW_ERROR_OUT_OF_RANGE;
    size_t length = sizeof LINE - 1, count = (size_t)kib * 16;
    char *text = reserve(count * length);
    for (size_t at = 0; at < count; ++at)
        memcpy(text + at * length, LINE, length);
    must(bw_server_respond_text(server, request, bw_text(text, count * length)));
    return BW_OK;
}

static bw_status progress(bw_server *server, uint64_t request, bw_bytes arguments)
{
    uint64_t count;
    char text[32];
    bw_status status = bw_json_get_u64(arguments, "/n", &count);
    if (status != BW_OK)
        return status;
    for (uint64_t step = 1; step <= count; ++step) {
        must(bw_server_notify_progress(server, request, (double)step, (double)count, bw_none(), NULL));
        write_all(server);
    }
    snprintf(text, sizeof text, "sent %llu", (unsigned long long)count);
    must(bw_server_respond_text(server, request, bw_string(text)));
    return BW_OK;
}

static const struct {
    const char *name;
    bw_status (*run)(bw_server *server, uint64_t request, bw_bytes arguments);
} HANDLERS[] = {{"echo", echo}, {"add", add}, {"big", big}, {"sink", sink}, {"progress", progress}};

static void call(bw_server *server, const bw_event *event)
{
    uint64_t request = bw_event_request(event);
    bw_bytes name = bw_event_name(event);
    for (size_t at = 0; at < sizeof HANDLERS / sizeof *HANDLERS; ++at) {
        if (!bw_equals(name, bw_string(HANDLERS[at].name)))
            continue;
        if (HANDLERS[at].run(server, request, bw_event_arguments(event)) != BW_OK)
            must(bw_server_respond_invalid_arguments(server, request, BW_LITERAL("the arguments do not fit")));
        break;
    }
}

int main(void)
{
    static char buffer[64 * 1024];
    bw_server *server = make_server();
    const bw_event *event;
    while (!bw_server_is_finished(server)) {
        ssize_t count = read(STDIN_FILENO, buffer, sizeof buffer);
        if (count > 0)
            bw_server_receive_data(server, now(), bw_text(buffer, (size_t)count));
        else
            bw_server_receive_eof(server, now());
        while ((event = bw_server_poll_event(server)) != NULL)
            if (bw_event_kind(event) == BW_EVENT_TOOL_CALLED)
                call(server, event);
        write_all(server);
    }
    bw_server_free(server);
    return 0;
}
