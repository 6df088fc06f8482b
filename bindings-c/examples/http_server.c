/*
 * A server over HTTP, on libmicrohttpd: `http_server 8000`, then connect a client to http://127.0.0.1:8000/mcp.
 *
 * One tool answers at once, one asks the user first, and one takes its time, reports progress, and stops when its client
 * has had enough.
 *
 *     cc http_server.c http_server_host.c host.c $(pkg-config --cflags --libs barewire libmicrohttpd) -o http_server
 */
#include "host.h"
#include "http_server_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Milliseconds for what is in flight when the program is asked to end. */
#define GRACE 2000

static const char GREET[] =
    "{\"name\": \"greet\", \"description\": \"Greets somebody\","
    " \"inputSchema\": {\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\"}},"
    " \"required\": [\"name\"]}}";

static const char DEPLOY[] = "{\"name\": \"deploy\", \"description\": \"Deploys, if the user agrees\","
                             " \"inputSchema\": {\"type\": \"object\"}}";

/* What the user is asked, with a form to fill in. */
static const char QUESTION[] = "{\"message\": \"Deploy now?\", \"requestedSchema\": {\"type\": \"object\","
                               " \"properties\": {\"confirm\": {\"type\": \"boolean\"}}, \"required\": [\"confirm\"]}}";

static const char COUNT_DOWN[] =
    "{\"name\": \"count_down\", \"description\": \"Counts down to zero\","
    " \"inputSchema\": {\"type\": \"object\", \"properties\": {\"from\": {\"type\": \"integer\", \"default\": 3},"
    " \"milliseconds\": {\"type\": \"integer\", \"default\": 1000, \"description\": \"Between two numbers\"}}}}";

/* A call of count_down that runs. */
typedef struct countdown {
    struct countdown *next;
    uint64_t request;
    uint64_t due;
    uint64_t step;
    int64_t from;
    int64_t left;
} countdown;

static countdown *countdowns;

static void greet(bw_server *server, const bw_event *call)
{
    char buffer[200], text[250];
    bw_bytes name;
    if (bw_json_get_string(bw_event_arguments(call), "/name", buffer, sizeof buffer, &name) != BW_OK ||
        name.length > sizeof buffer) {
        host_must(bw_server_respond_invalid_arguments(server, bw_event_request(call),
                                                      BW_LITERAL("name is a string of up to 200 bytes")));
        return;
    }
    snprintf(text, sizeof text, "Hello, %.*s!", (int)name.length, (const char *)name.data);
    host_must(bw_server_respond_text(server, bw_event_request(call), bw_string(text)));
}

/* Asks, and is called again with the answer. */
static void deploy(bw_server *server, const bw_event *call)
{
    uint64_t request = bw_event_request(call);
    bw_question question = {BW_LITERAL("confirm"), BW_INPUT_ELICITATION, bw_string(QUESTION)};
    bw_answer answer;
    bool confirmed = false;
    if (bw_event_answer(call, question.key, &answer)) {
        /* Without a content if the user declined. */
        bw_json_get_bool(answer.result, "/content/confirm", &confirmed);
        host_must(bw_server_respond_text(server, request, bw_string(confirmed ? "deployed" : "left as it is")));
    } else if (bw_server_require_input(server, host_now(), request, &question, 1, bw_none()) != BW_OK) {
        host_must(bw_server_respond_tool_error(server, request, BW_LITERAL("there is nobody to ask")));
    }
}

static void count_down(bw_server *server, const bw_event *call)
{
    bw_bytes arguments = bw_event_arguments(call);
    countdown *it = calloc(1, sizeof *it);
    if (it == NULL) {
        host_must(bw_server_respond_tool_error(server, bw_event_request(call), BW_LITERAL("too busy")));
        return;
    }
    it->request = bw_event_request(call);
    it->from = 3;
    it->step = 1000;
    it->due = host_now();
    bw_json_get_i64(arguments, "/from", &it->from);
    bw_json_get_u64(arguments, "/milliseconds", &it->step);
    it->left = it->from;
    it->next = countdowns;
    countdowns = it;
}

/* One step of a countdown; whether it was the last one. */
static bool advance(bw_server *server, countdown *it)
{
    char text[40];
    if (it->left <= 0) {
        host_must(bw_server_respond_text(server, it->request, BW_LITERAL("Lift-off!")));
        return true;
    }
    snprintf(text, sizeof text, "%lld", (long long)it->left);
    bw_server_notify_progress(server, it->request, (double)(it->from - it->left), (double)it->from, bw_string(text),
                              NULL);
    it->left--;
    it->due += it->step;
    return false;
}

/* Goes on with what is due, and leaves out the one that was cancelled, if there is one; when something is due again. */
static uint64_t advance_all(bw_server *server, uint64_t cancelled)
{
    countdown **place = &countdowns;
    uint64_t due = BW_NEVER, now = host_now();
    while (*place != NULL) {
        countdown *it = *place;
        if (it->request == cancelled || (it->due <= now && advance(server, it))) {
            *place = it->next;
            free(it);
            continue;
        }
        due = it->due < due ? it->due : due;
        place = &it->next;
    }
    return due;
}

static void handle(bw_server *server, const bw_event *event)
{
    if (bw_event_kind(event) == BW_EVENT_REQUEST_CANCELLED)
        advance_all(server, bw_event_request(event));
    else if (bw_event_kind(event) == BW_EVENT_TOOL_CALLED && bw_equals(bw_event_name(event), BW_LITERAL("greet")))
        greet(server, event);
    else if (bw_event_kind(event) == BW_EVENT_TOOL_CALLED && bw_equals(bw_event_name(event), BW_LITERAL("deploy")))
        deploy(server, event);
    else if (bw_event_kind(event) == BW_EVENT_TOOL_CALLED)
        count_down(server, event);
}

static bw_server *make_server(void)
{
    uint8_t seed[BW_SEED_BYTES];
    bw_server_config *config;
    bw_server *server;
    host_seed(seed);
    host_must(bw_server_config_new(BW_LITERAL("hello"), BW_LITERAL("1.0"), seed, &config));
    host_must(bw_server_http_new(config, &server));
    bw_server_config_free(config);
    host_must(bw_server_add_tool(server, bw_string(GREET)));
    host_must(bw_server_add_tool(server, bw_string(DEPLOY)));
    host_must(bw_server_add_tool(server, bw_string(COUNT_DOWN)));
    return server;
}

int main(int count, char **arguments)
{
    static const http_server_paths paths = {"/mcp", NULL, NULL};
    uint16_t port = (uint16_t)(count > 1 ? atoi(arguments[1]) : 8000);
    bw_server *server = make_server();
    http_server_host *host = http_server_host_new(server, &paths, port);
    const bw_event *event;
    uint64_t end_at = BW_NEVER;
    if (host == NULL) {
        perror("http_server");
        return 1;
    }
    host_note_end();
    while (host_now() < end_at && !(host_is_to_end() && http_server_host_is_idle(host))) {
        uint64_t due = advance_all(server, 0);
        http_server_host_step(host, due < end_at ? due : end_at);
        while ((event = bw_server_poll_event(server)) != NULL)
            handle(server, event);
        if (host_is_to_end() && end_at == BW_NEVER) {
            end_at = host_now() + GRACE;
            host_must(bw_server_http_shut_down(server, host_now()));
        }
    }
    http_server_host_free(host);
    bw_server_free(server);
    return 0;
}
