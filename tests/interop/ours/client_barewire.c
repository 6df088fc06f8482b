/*
 * The client of the C library as a program that is told what to do: `client_barewire --revision REVISION TARGET`, where
 * TARGET is `--url URL`, `--sse URL` or `-- COMMAND...`. `client_barewire_c.py` makes the checks.
 *
 * A line of JSON in is a request to make, `{"id", "method", "params"}`; `{"answers"}` says what to answer to the server, by
 * method; `{"stop": id}` ends a request or subscription. A line out is an answer, `{"id", "result"}` or `{"id", "error"}`,
 * or something that came unasked, `{"method", "params"}`.
 */
#include "child_host.h"
#include "host.h"
#include "http_client_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_BYTES 1024
#define URIS 8
#define CHILD_EXIT 30000
#define OPENING 60000

/* What is under way: a request or a subscription. */
typedef struct order {
    struct order *next;
    uint64_t id;
    uint64_t handle;
    bool is_subscription;
} order;

static bw_client *client;
static http_client_host *http;
static child_host *child;
static order *orders;
static char *answers; /* JSON with a NUL, by method */
static bool is_over;

/* ---------------------------------------------------------------- telling */

/* Writes a line. What a server wrote may have line ends between its tokens. */
static void tell(bw_json_writer *line)
{
    bw_bytes text;
    size_t at;
    host_must(bw_json_finish(line, &text));
    for (at = 0; at < text.length; at++)
        putchar(text.data[at] == '\n' || text.data[at] == '\r' ? ' ' : text.data[at]);
    putchar('\n');
    fflush(stdout);
    bw_json_writer_free(line);
}

static void begin_line(bw_json_writer *line)
{
    host_must(bw_json_writer_init(line, NULL, 0));
    bw_json_begin_object(line);
}

static void put_string(bw_json_writer *line, const char *key, bw_bytes text)
{
    bw_json_put_key(line, bw_string(key));
    if (bw_is_some(text))
        bw_json_put_string(line, text);
    else
        bw_json_put_null(line);
}

static void put_json(bw_json_writer *line, const char *key, bw_bytes json)
{
    bw_json_put_key(line, bw_string(key));
    if (bw_is_some(json))
        bw_json_put_json(line, json);
    else
        bw_json_put_null(line);
}

static void put_number(bw_json_writer *line, const char *key, double number)
{
    bw_json_put_key(line, bw_string(key));
    bw_json_put_double(line, number);
}

/* Begins `{"method": ..., "params": `. */
static void begin_message(bw_json_writer *line, const char *method)
{
    begin_line(line);
    put_string(line, "method", bw_string(method));
    bw_json_put_key(line, BW_LITERAL("params"));
}

static void end_message(bw_json_writer *line)
{
    bw_json_end_object(line);
    tell(line);
}

static void tell_answer(uint64_t id, bw_bytes result)
{
    bw_json_writer line;
    begin_line(&line);
    bw_json_put_key(&line, BW_LITERAL("id"));
    bw_json_put_u64(&line, id);
    put_json(&line, "result", result);
    end_message(&line);
}

static void tell_error(uint64_t id, int64_t code, bw_bytes message)
{
    bw_json_writer line;
    begin_line(&line);
    bw_json_put_key(&line, BW_LITERAL("id"));
    bw_json_put_u64(&line, id);
    bw_json_put_key(&line, BW_LITERAL("error"));
    bw_json_begin_object(&line);
    bw_json_put_key(&line, BW_LITERAL("code"));
    bw_json_put_i64(&line, code);
    put_string(&line, "message", message);
    bw_json_end_object(&line);
    end_message(&line);
}

/* ---------------------------------------------------------------- orders */

static order **by_handle(uint64_t handle, bool is_subscription)
{
    order **place = &orders;
    while (*place != NULL && ((*place)->handle != handle || (*place)->is_subscription != is_subscription))
        place = &(*place)->next;
    return place;
}

static void forget(order **place)
{
    order *it = *place;
    *place = it->next;
    free(it);
}

static void begin(uint64_t id, bw_status status, uint64_t handle, bool is_subscription)
{
    order *it;
    if (status != BW_OK) {
        tell_error(id, status, bw_client_error_message(client));
        return;
    }
    if ((it = calloc(1, sizeof *it)) == NULL)
        abort();
    it->id = id;
    it->handle = handle;
    it->is_subscription = is_subscription;
    it->next = orders;
    orders = it;
}

static void subscribe(uint64_t id, bw_bytes params)
{
    bw_subscription_filter filter = {0};
    bw_bytes uris[URIS], uri;
    char texts[URIS][TEXT_BYTES];
    bw_json_iterator items;
    uint64_t handle = 0;
    bw_status status;
    bw_json_get_bool(params, "/toolsListChanged", &filter.tools);
    if (bw_json_iterate(params, "/resourceSubscriptions", &items) == BW_OK)
        while (filter.uri_count < URIS && bw_json_next(&items, NULL, &uri))
            if (bw_json_get_string(uri, "", texts[filter.uri_count], TEXT_BYTES, &uris[filter.uri_count]) == BW_OK)
                filter.uri_count++;
    filter.uris = uris;
    status = bw_client_subscribe(client, host_now(), &filter, &handle);
    begin(id, status, handle, true);
}

static void request(uint64_t id, bw_bytes line)
{
    bw_request_options options = {0};
    bw_bytes method = bw_none(), params = bw_none(), level = bw_none();
    char buffer[TEXT_BYTES], level_buffer[TEXT_BYTES];
    uint64_t handle = 0;
    bw_status status;
    host_must(bw_json_get_string(line, "/method", buffer, sizeof buffer, &method));
    bw_json_get(line, "/params", &params);
    options.progress = true;
    if (bw_equals(method, BW_LITERAL("subscriptions/listen"))) {
        subscribe(id, params);
        return;
    }
    if (bw_equals(method, BW_LITERAL("ping"))) {
        status = bw_client_ping(client, host_now(), NULL, &handle);
    } else if (bw_json_get_string(params, "/level", level_buffer, sizeof level_buffer, &level) == BW_OK) {
        status = bw_client_set_log_level(client, host_now(), bw_log_level_from_name(level), &handle);
    } else {
        status = bw_client_request(client, host_now(), method, params, &options, &handle);
    }
    begin(id, status, handle, false);
}

static void stop(uint64_t id)
{
    order *it = orders;
    while (it != NULL && it->id != id)
        it = it->next;
    if (it != NULL && it->is_subscription)
        bw_client_unsubscribe(client, host_now(), it->handle);
    else if (it != NULL)
        bw_client_cancel(client, it->handle, BW_LITERAL("enough"));
}

static void obey(bw_bytes line)
{
    bw_bytes agreed;
    uint64_t id = 0;
    if (bw_json_get(line, "/answers", &agreed) == BW_OK) {
        free(answers);
        answers = strndup((const char *)agreed.data, agreed.length);
    } else if (bw_json_get_u64(line, "/stop", &id) == BW_OK) {
        stop(id);
    } else if (bw_json_get_u64(line, "/id", &id) == BW_OK) {
        request(id, line);
    }
}

/* Takes what there is on standard input, and obeys the lines that are complete. */
static void read_orders(void)
{
    static char *buffer;
    static size_t length, room;
    char *start, *end;
    ssize_t count;
    if (room - length < 64 * 1024 && (buffer = realloc(buffer, room = 2 * room + 64 * 1024)) == NULL)
        abort();
    count = read(STDIN_FILENO, buffer + length, room - length);
    if (count <= 0) {
        is_over = true;
        free(buffer);
        buffer = NULL;
        return;
    }
    length += (size_t)count;
    for (start = buffer; (end = memchr(start, '\n', length)) != NULL; start = end + 1) {
        obey(bw_text(start, (size_t)(end - start)));
        length -= (size_t)(end + 1 - start);
    }
    memmove(buffer, start, length);
}

/* ---------------------------------------------------------------- events */

static void answer(const bw_input *question)
{
    static const char *const methods[] = {NULL, "elicitation/create", "sampling/createMessage", "roots/list"};
    static const char *const pointers[] = {NULL, "/elicitation~1create", "/sampling~1createMessage", "/roots~1list"};
    bw_json_writer line;
    bw_bytes result;
    begin_line(&line);
    put_string(&line, "method", bw_string(methods[question->kind]));
    put_json(&line, "params", question->params);
    end_message(&line);
    host_must(bw_json_get(bw_string(answers), pointers[question->kind], &result));
    host_must(bw_client_provide_input(client, host_now(), question->input, result));
}

static void tell_progress(const bw_event *event)
{
    bw_json_writer line;
    double total;
    begin_message(&line, "notifications/progress");
    bw_json_begin_object(&line);
    put_number(&line, "progress", bw_event_progress(event));
    if (bw_event_total(event, &total))
        put_number(&line, "total", total);
    put_string(&line, "message", bw_event_message(event));
    bw_json_end_object(&line);
    end_message(&line);
}

static void tell_log(const bw_event *event)
{
    bw_json_writer line;
    begin_message(&line, "notifications/message");
    bw_json_begin_object(&line);
    put_string(&line, "level", bw_log_level_name(bw_event_log_level(event)));
    put_json(&line, "data", bw_event_data(event));
    bw_json_end_object(&line);
    end_message(&line);
}

static void tell_change(const bw_event *event)
{
    bw_json_writer line;
    begin_message(&line, bw_event_kind(event) == BW_EVENT_LIST_CHANGED ? "notifications/tools/list_changed"
                                                                       : "notifications/resources/updated");
    bw_json_begin_object(&line);
    put_string(&line, "uri", bw_event_uri(event));
    bw_json_end_object(&line);
    end_message(&line);
}

static void tell_revision(const bw_event *event)
{
    bw_json_writer line;
    begin_line(&line);
    put_string(&line, "method", BW_LITERAL("connected"));
    put_string(&line, "params", bw_revision_name(bw_event_revision(event)));
    end_message(&line);
}

static void tell_end(uint64_t id)
{
    bw_json_writer line;
    begin_message(&line, "ended");
    bw_json_put_u64(&line, id);
    end_message(&line);
}

/* The end of an order; the event's result is its answer. */
static void settle(const bw_event *event)
{
    order **place = by_handle(bw_event_request(event), false);
    if (*place == NULL)
        return;
    if (bw_event_kind(event) == BW_EVENT_RESPONSE_RECEIVED)
        tell_answer((*place)->id, bw_event_result(event));
    else
        tell_error((*place)->id, bw_event_code(event), bw_event_message(event));
    forget(place);
}

static void settle_subscription(const bw_event *event)
{
    order **place = by_handle(bw_event_subscription(event), true);
    if (*place == NULL)
        return;
    if (bw_event_kind(event) == BW_EVENT_SUBSCRIPTION_ACKNOWLEDGED) {
        tell_answer((*place)->id, BW_LITERAL("{}"));
    } else {
        tell_end((*place)->id);
        forget(place);
    }
}

static void handle(const bw_event *event)
{
    bw_input question;
    size_t at;
    switch (bw_event_kind(event)) {
    case BW_EVENT_READY:
        tell_revision(event);
        break;
    case BW_EVENT_RESTART_REQUIRED:
        child_host_restart(child);
        break;
    case BW_EVENT_RESPONSE_RECEIVED:
    case BW_EVENT_REQUEST_FAILED:
        settle(event);
        break;
    case BW_EVENT_INPUT_REQUIRED:
        for (at = 0; bw_event_input_at(event, at, &question); at++)
            answer(&question);
        break;
    case BW_EVENT_PROGRESS_RECEIVED:
        tell_progress(event);
        break;
    case BW_EVENT_LOG_RECEIVED:
        tell_log(event);
        break;
    case BW_EVENT_LIST_CHANGED:
    case BW_EVENT_RESOURCE_UPDATED:
        tell_change(event);
        break;
    case BW_EVENT_SUBSCRIPTION_ACKNOWLEDGED:
    case BW_EVENT_SUBSCRIPTION_ENDED:
        settle_subscription(event);
        break;
    case BW_EVENT_DISCONNECTED:
        is_over = true;
        break;
    default:
        break;
    }
}

/* ---------------------------------------------------------------- running it */

/* Handles an event, or moves bytes if there is none; whether `descriptor` can be read. */
static bool step(int descriptor)
{
    const bw_event *event = bw_client_poll_event(client);
    if (event == NULL)
        return http != NULL ? http_client_host_step(http, descriptor) : child_host_step(child, descriptor);
    handle(event);
    return false;
}

static bool is_finished(void)
{
    return http != NULL ? http_client_host_is_finished(http) : bw_client_is_finished(client);
}

static bw_client_config *make_config(const char *revision)
{
    uint8_t seed[BW_SEED_BYTES];
    int32_t number = bw_revision_from_name(bw_string(revision));
    bw_client_config *config;
    host_seed(seed);
    host_must(bw_client_config_new(BW_LITERAL("barewire-c"), BW_LITERAL("1.0.0"), seed, &config));
    host_must(
        bw_client_config_set_capabilities(config, BW_LITERAL("{\"elicitation\":{},\"sampling\":{},\"roots\":{}}")));
    /* A busy machine needs its time to end a program. */
    host_must(bw_client_config_set_timeout(config, BW_TIMEOUT_CHILD_EXIT, CHILD_EXIT));
    host_must(bw_client_config_set_timeout(config, BW_TIMEOUT_PROBE, OPENING));
    host_must(bw_client_config_set_timeout(config, BW_TIMEOUT_HANDSHAKE, OPENING));
    if (number != BW_REVISION_NONE) /* otherwise "auto" */
        host_must(bw_client_config_set_revisions(config, &number, 1));
    return config;
}

int main(int count, char **arguments)
{
    bw_client_config *config;
    if (count < 5) {
        fprintf(stderr, "usage: client_barewire --revision REVISION (--url URL | --sse URL | -- COMMAND...)\n");
        return 2;
    }
    config = make_config(arguments[2]);
    if (strcmp(arguments[3], "--") == 0) {
        host_must(bw_client_new(config, host_now(), &client));
        child = child_host_new(client, config, arguments + 4);
    } else {
        host_must(bw_client_http_new(config, bw_string(arguments[4]), host_now(), &client));
        http = http_client_host_new(client);
    }
    while (!is_over)
        if (step(STDIN_FILENO))
            read_orders();
    bw_client_close(client);
    while (!is_finished())
        step(-1);
    http_client_host_free(http);
    child_host_free(child);
    bw_client_free(client);
    bw_client_config_free(config);
    while (orders != NULL)
        forget(&orders);
    free(answers);
    return 0;
}
