/*
 * A client that does what each client scenario of the conformance suite asks for: `everything_client URL`.
 *
 * The suite names the scenario, the revision to speak and what else the scenario needs in the environment. What belongs
 * to a scenario is a function below. Requests are sent, then waited for: any number of them can be under way.
 */
#include "authorizing.h"
#include "host.h"
#include "http_client_host.h"
#include "signing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds for a whole scenario. The suite is told to give more, and ends only a shell when they are over. */
#define PATIENCE 100
#define TEXT_BYTES 1024
#define REVISIONS 16
/* For printf: a text with its length, as `%.*s` wants it. */
#define SHOWN(text) (int)(text).length, (text).data == NULL ? "" : (const char *)(text).data

/* A result that arrived. */
typedef struct result {
    struct result *next;
    uint64_t request;
    bw_bytes json;
} result;

static bw_client *client;
static http_client_host *host;
static authorization *authorizing; /* NULL where nothing is protected */
static result *results;
static bool is_ready, is_disconnected;

static void fail(const char *why, bw_bytes detail)
{
    fprintf(stderr, "%s: %.*s\n", why, SHOWN(detail));
    exit(1);
}

/* ---------------------------------------------------------------- what the server may ask */

static void put_member(bw_json_writer *writer, const char *key, bw_bytes string)
{
    bw_json_put_key(writer, bw_string(key));
    bw_json_put_string(writer, string);
}

/* A user who leaves each field of the form as it is, and ticks the boxes that are still open. */
static void fill_in(bw_json_writer *answer, bw_bytes question)
{
    char buffer[TEXT_BYTES];
    bw_json_iterator fields;
    bw_bytes key, field, usual, name;
    bw_json_begin_object(answer);
    put_member(answer, "action", BW_LITERAL("accept"));
    bw_json_put_key(answer, BW_LITERAL("content"));
    bw_json_begin_object(answer);
    if (bw_json_iterate(question, "/requestedSchema/properties", &fields) == BW_OK)
        while (bw_json_next(&fields, &key, &field)) {
            if (bw_json_unescape(key, buffer, sizeof buffer, &name) != BW_OK)
                continue;
            if (bw_json_get(field, "/default", &usual) != BW_OK)
                usual = BW_LITERAL("true");
            bw_json_put_key(answer, name);
            bw_json_put_json(answer, usual);
        }
    bw_json_end_object(answer);
    bw_json_end_object(answer);
}

static void answer(const bw_input *question)
{
    bw_json_writer json;
    bw_bytes text;
    printf("asked: %.*s\n", SHOWN(question->params));
    host_must(bw_json_writer_init(&json, NULL, 0));
    if (question->kind == BW_INPUT_ELICITATION)
        fill_in(&json, question->params);
    else if (question->kind == BW_INPUT_SAMPLING)
        bw_json_put_json(&json,
                         BW_LITERAL("{\"role\":\"assistant\",\"model\":\"test-model\",\"stopReason\":\"endTurn\","
                                    "\"content\":{\"type\":\"text\",\"text\":\"This is a test response.\"}}"));
    else
        bw_json_put_json(&json, BW_LITERAL("{\"roots\":[{\"uri\":\"file:///tmp\"}]}"));
    host_must(bw_json_finish(&json, &text));
    host_must(bw_client_provide_input(client, host_now(), question->input, text));
    bw_json_writer_free(&json);
}

/* ---------------------------------------------------------------- requests and results */

static void keep(const bw_event *event)
{
    bw_bytes json = bw_event_result(event);
    result *it = malloc(sizeof *it);
    uint8_t *copy = malloc(json.length + 1);
    if (it == NULL || copy == NULL)
        abort();
    memcpy(copy, json.data, json.length);
    it->request = bw_event_request(event);
    it->json.data = copy;
    it->json.length = json.length;
    it->next = results;
    results = it;
}

static void handle(const bw_event *event)
{
    bw_input question;
    size_t at;
    switch (bw_event_kind(event)) {
    case BW_EVENT_READY:
        is_ready = true;
        printf("connected to %.*s, speaking %.*s\n", SHOWN(bw_event_peer(event)),
               SHOWN(bw_revision_name(bw_event_revision(event))));
        break;
    case BW_EVENT_INPUT_REQUIRED:
        for (at = 0; bw_event_input_at(event, at, &question); at++)
            answer(&question);
        break;
    case BW_EVENT_RESPONSE_RECEIVED:
        keep(event);
        break;
    case BW_EVENT_REQUEST_FAILED:
        fail("a request failed", bw_event_message(event));
        break;
    case BW_EVENT_AUTHORIZATION_REQUIRED:
        authorization_answer(authorizing, client, event);
        break;
    case BW_EVENT_TOOL_OMITTED:
        printf("left out: %.*s, %.*s\n", SHOWN(bw_event_name(event)), SHOWN(bw_event_reason(event)));
        break;
    case BW_EVENT_DISCONNECTED:
        is_disconnected = true;
        if (bw_event_code(event) != BW_ERROR_CLOSED_BY_US)
            fail("disconnected", bw_event_message(event));
        break;
    default:
        break;
    }
}

/* Handles an event, or moves bytes if there is none. */
static void step(void)
{
    const bw_event *event = bw_client_poll_event(client);
    if (event == NULL)
        http_client_host_step(host, -1);
    else
        handle(event);
}

/* Waits for the result of a request, which the caller frees. */
static bw_bytes finish(uint64_t request)
{
    result **place = &results, *it;
    bw_bytes json;
    while ((it = *place) == NULL || it->request != request) {
        if (it != NULL) {
            place = &it->next;
        } else {
            step();
            place = &results;
        }
    }
    *place = it->next;
    json = it->json;
    free(it);
    return json;
}

static void discard(bw_bytes json)
{
    free((void *)json.data);
}

static uint64_t begin_call(bw_bytes name, bw_bytes arguments)
{
    uint64_t request = 0;
    host_must(bw_client_call_tool(client, host_now(), name, arguments, NULL, &request));
    return request;
}

static void finish_call(uint64_t request)
{
    bw_bytes json = finish(request);
    printf("%.*s\n", SHOWN(json));
    discard(json);
}

/* Calls a tool and shows what it says. */
static void call(bw_bytes name, bw_bytes arguments)
{
    finish_call(begin_call(name, arguments));
}

/* Goes through all pages of a list, and does something with each item. */
static void each(int32_t listing, const char *member, void (*visit)(bw_bytes item))
{
    bw_bytes page = bw_none(), cursor = bw_none(), item;
    bw_json_iterator items;
    char buffer[TEXT_BYTES];
    do {
        uint64_t request = 0;
        host_must(bw_client_list(client, host_now(), listing, cursor, NULL, &request));
        discard(page);
        page = finish(request);
        if (bw_json_iterate(page, member, &items) == BW_OK)
            while (bw_json_next(&items, NULL, &item))
                visit(item);
    } while (bw_json_get_string(page, "/nextCursor", buffer, sizeof buffer, &cursor) == BW_OK);
    discard(page);
}

/* The string under a pointer, which has to be there. */
static bw_bytes text_at(bw_bytes json, const char *pointer, char *buffer)
{
    bw_bytes text = bw_none();
    host_must(bw_json_get_string(json, pointer, buffer, TEXT_BYTES, &text));
    return text;
}

static void show(bw_bytes item)
{
    printf("%.*s\n", SHOWN(item));
}

static void list_tools(void)
{
    each(BW_LISTING_TOOLS, "/tools", show);
}

/* ---------------------------------------------------------------- scenarios */

/* Connect, and see what there is. Skills are not among what this client looks for. */
static void look_around(void)
{
}

static void add_numbers(void)
{
    list_tools();
    call(BW_LITERAL("add_numbers"), BW_LITERAL("{\"a\":5,\"b\":3}"));
}

static void accept_defaults(void)
{
    list_tools();
    call(BW_LITERAL("test_client_elicitation_defaults"), bw_none());
}

/* The answer comes after the server has hung up once. */
static void wait_for_an_answer(void)
{
    list_tools();
    call(BW_LITERAL("test_reconnection"), bw_none());
}

/* Tools that ask before they answer, while another one is called in between. */
static void answer_in_rounds(void)
{
    uint64_t asking, unrelated;
    list_tools();
    asking = begin_call(BW_LITERAL("test_mrtr_echo_state"), bw_none());
    unrelated = begin_call(BW_LITERAL("test_mrtr_unrelated"), bw_none());
    finish_call(asking);
    finish_call(unrelated);
    call(BW_LITERAL("test_mrtr_no_state"), bw_none());
    call(BW_LITERAL("test_mrtr_no_result_type"), bw_none());
}

static void call_bare(bw_bytes tool)
{
    char name[TEXT_BYTES];
    call(text_at(tool, "/name", name), bw_none());
}

static void read_one(bw_bytes resource)
{
    char uri[TEXT_BYTES];
    uint64_t request = 0;
    host_must(bw_client_read_resource(client, host_now(), text_at(resource, "/uri", uri), NULL, &request));
    finish_call(request);
}

static void get_one(bw_bytes prompt)
{
    char name[TEXT_BYTES];
    uint64_t request = 0;
    host_must(bw_client_get_prompt(client, host_now(), text_at(prompt, "/name", name), bw_none(), NULL, &request));
    finish_call(request);
}

/* One request of each kind that names what it is about. */
static void use_all_methods(void)
{
    each(BW_LISTING_TOOLS, "/tools", call_bare);
    each(BW_LISTING_RESOURCES, "/resources", read_one);
    each(BW_LISTING_PROMPTS, "/prompts", get_one);
}

/* Tools, with arguments as they are given, that want some of them in headers. */
static void make_given_calls(void)
{
    bw_json_iterator calls;
    bw_bytes given, arguments;
    char name[TEXT_BYTES];
    list_tools();
    host_must(bw_json_iterate(bw_string(getenv("MCP_CONFORMANCE_CONTEXT")), "/toolCalls", &calls));
    while (bw_json_next(&calls, NULL, &given)) {
        host_must(bw_json_get(given, "/arguments", &arguments));
        call(text_at(given, "/name", name), arguments);
    }
}

/* Calls a tool with an example for each argument that it needs. */
static void call_with_examples(bw_bytes tool)
{
    bw_json_writer arguments;
    bw_json_iterator required;
    bw_bytes name, text;
    char buffer[TEXT_BYTES];
    host_must(bw_json_writer_init(&arguments, NULL, 0));
    bw_json_begin_object(&arguments);
    if (bw_json_iterate(tool, "/inputSchema/required", &required) == BW_OK)
        while (bw_json_next(&required, NULL, &name)) {
            bw_json_put_key(&arguments, text_at(name, "", buffer));
            bw_json_put_string(&arguments, BW_LITERAL("example"));
        }
    bw_json_end_object(&arguments);
    host_must(bw_json_finish(&arguments, &text));
    call(text_at(tool, "/name", buffer), text);
    bw_json_writer_free(&arguments);
}

/* All tools that the client offers; it leaves out those that want headers which cannot be sent. */
static void call_all_tools(void)
{
    each(BW_LISTING_TOOLS, "/tools", call_with_examples);
}

static void echo_schema(bw_bytes tool)
{
    bw_bytes schema, text;
    bw_json_writer arguments;
    char name[TEXT_BYTES];
    if (!bw_equals(text_at(tool, "/name", name), BW_LITERAL("json_schema_2020_12_tool")))
        return;
    host_must(bw_json_get(tool, "/inputSchema", &schema));
    host_must(bw_json_writer_init(&arguments, NULL, 0));
    bw_json_begin_object(&arguments);
    bw_json_put_key(&arguments, BW_LITERAL("schema"));
    bw_json_put_json(&arguments, schema);
    bw_json_end_object(&arguments);
    host_must(bw_json_finish(&arguments, &text));
    call(BW_LITERAL("json_schema_echo"), text);
    bw_json_writer_free(&arguments);
}

/* Whatever the authorization scenarios protect: lists, and one call. */
static void use_protected_tools(void)
{
    list_tools();
    call(BW_LITERAL("test-tool"), BW_LITERAL("{}"));
}

/* Gives the schema of one tool to another, as it was received. */
static void send_schema_back(void)
{
    each(BW_LISTING_TOOLS, "/tools", echo_schema);
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"initialize", look_around},
    {"request-metadata", look_around},
    {"sep-2640-client-no-prefetch", look_around},
    {"sep-2640-client-verify-digest", look_around},
    {"sep-2640-client-verify-size", look_around},
    {"sep-2640-client-verify-frontmatter", look_around},
    {"json-schema-ref-no-deref", list_tools},
    {"tools_call", add_numbers},
    {"elicitation-sep1034-client-defaults", accept_defaults},
    {"sse-retry", wait_for_an_answer},
    {"sep-2322-client-request-state", answer_in_rounds},
    {"http-standard-headers", use_all_methods},
    {"http-custom-headers", make_given_calls},
    {"http-invalid-tool-headers", call_all_tools},
    {"json-schema-2020-12-preservation", send_schema_back},
};

/* ---------------------------------------------------------------- running one */

/*
 * The revisions to offer: the one that is asked for and all older ones, which a server may fall back to. Suites that ask
 * for none know the handshake only.
 */
static void set_revisions(bw_client_config *config, const char *wanted)
{
    int32_t newest = bw_revision_from_name(bw_string(wanted)), offered[REVISIONS];
    size_t count = 0, at;
    for (at = 0; at < bw_revision_count() && at < REVISIONS; at++) {
        int32_t revision = bw_revision_at(at);
        if (wanted == NULL ? bw_revision_era(revision) == BW_ERA_LEGACY : revision <= newest)
            offered[count++] = revision;
    }
    host_must(bw_client_config_set_revisions(config, offered, count));
}

static void connect_to(const char *url)
{
    uint8_t seed[BW_SEED_BYTES];
    bw_client_config *config;
    host_seed(seed);
    host_must(bw_client_config_new(BW_LITERAL("everything-client"), BW_LITERAL("1.0.0"), seed, &config));
    host_must(
        bw_client_config_set_capabilities(config, BW_LITERAL("{\"elicitation\":{},\"sampling\":{},\"roots\":{}}")));
    set_revisions(config, getenv("MCP_CONFORMANCE_PROTOCOL_VERSION"));
    host_must(bw_client_config_set_authorizes(config, authorizing != NULL));
    host_must(bw_client_http_new(config, bw_string(url), host_now(), &client));
    bw_client_config_free(config);
    if ((host = http_client_host_new(client)) == NULL)
        abort();
    http_client_host_set_authorization(host, authorizing);
    while (!is_ready)
        step();
}

static void close_connection(void)
{
    host_must(bw_client_close(client));
    while (!is_disconnected || !http_client_host_is_finished(host))
        step();
    http_client_host_free(host);
    authorization_free(authorizing);
    signing_end();
    bw_client_free(client);
}

int main(int count, char **arguments)
{
    const char *name = getenv("MCP_CONFORMANCE_SCENARIO");
    void (*run)(void) = use_protected_tools;
    size_t at = 0;
    alarm(PATIENCE);
    authorizing = authorization_for(name, arguments[count - 1]);
    while (at < sizeof scenarios / sizeof *scenarios && (name == NULL || strcmp(scenarios[at].name, name) != 0))
        at++;
    if (at < sizeof scenarios / sizeof *scenarios)
        run = scenarios[at].run;
    else if (authorizing == NULL)
        fail("no such scenario", bw_string(name));
    connect_to(arguments[count - 1]);
    run();
    close_connection();
    return 0;
}
