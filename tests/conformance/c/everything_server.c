/*
 * A server that uses every feature, `everything_server [--page ITEMS] [--http PORT | --sse PORT]`; the conformance suite
 * calls it.
 *
 * It serves on standard input and output, or over HTTP: Streamable HTTP at /mcp, with --sse HTTP+SSE at /sse as well.
 */
#include "everything.h"

#include "host.h"
#include "http_server_host.h"
#include "stdio_host.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Milliseconds for what is in flight when the program is asked to end. */
#define GRACE 2000

bw_server *server;

/* One red pixel. */
static const uint8_t PNG[] = {
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
    0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53, 0xDE, 0x00, 0x00, 0x00,
    0x0C, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0xF8, 0xCF, 0xC0, 0x00, 0x00, 0x03, 0x01, 0x01, 0x00, 0xC9,
    0xFE, 0x92, 0xEF, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
};

/* A millisecond of silence. */
static const uint8_t WAV[] = {
    0x52, 0x49, 0x46, 0x46, 0x2C, 0x00, 0x00, 0x00, 0x57, 0x41, 0x56, 0x45, 0x66, 0x6D, 0x74, 0x20, 0x10, 0x00,
    0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x40, 0x1F, 0x00, 0x00, 0x40, 0x1F, 0x00, 0x00, 0x01, 0x00, 0x08, 0x00,
    0x64, 0x61, 0x74, 0x61, 0x08, 0x00, 0x00, 0x00, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
};

const bw_bytes png = {PNG, sizeof PNG}, wav = {WAV, sizeof WAV};

/* ---------------------------------------------------------------- arguments and answers */

const char *read_text(bw_bytes json, const char *pointer, char *buffer)
{
    bw_bytes text;
    size_t length = 0;
    if (bw_json_get_string(json, pointer, buffer, TEXT_BYTES - 1, &text) == BW_OK && text.length < TEXT_BYTES) {
        length = text.length;
        memmove(buffer, text.data, length);
    }
    buffer[length] = '\0';
    return buffer;
}

void reply(const bw_event *event, const char *format, ...)
{
    va_list values;
    char *text;
    int length;
    va_start(values, format);
    length = vsnprintf(NULL, 0, format, values);
    va_end(values);
    if (length < 0 || (text = malloc((size_t)length + 1)) == NULL)
        abort();
    va_start(values, format);
    vsnprintf(text, (size_t)length + 1, format, values);
    va_end(values);
    host_must(bw_server_respond_text(server, bw_event_request(event), bw_string(text)));
    free(text);
}

void reply_written(uint64_t request, bw_json_writer *writer)
{
    host_must(bw_server_respond_written(server, request, writer));
    bw_json_writer_free(writer);
}

void put_member(bw_json_writer *writer, const char *key, bw_bytes string)
{
    bw_json_put_key(writer, bw_string(key));
    bw_json_put_string(writer, string);
}

void put_text(bw_json_writer *writer, bw_bytes text)
{
    bw_json_begin_object(writer);
    put_member(writer, "type", BW_LITERAL("text"));
    put_member(writer, "text", text);
    bw_json_end_object(writer);
}

void put_media(bw_json_writer *writer, const char *type, bw_bytes data, const char *mime_type)
{
    bw_json_begin_object(writer);
    put_member(writer, "type", bw_string(type));
    bw_json_put_key(writer, BW_LITERAL("data"));
    bw_json_put_base64(writer, data);
    put_member(writer, "mimeType", bw_string(mime_type));
    bw_json_end_object(writer);
}

void put_resource(bw_json_writer *writer, bw_bytes uri, const char *mime_type, bw_bytes text)
{
    bw_json_begin_object(writer);
    put_member(writer, "type", BW_LITERAL("resource"));
    bw_json_put_key(writer, BW_LITERAL("resource"));
    bw_json_begin_object(writer);
    put_member(writer, "uri", uri);
    put_member(writer, "mimeType", bw_string(mime_type));
    put_member(writer, "text", text);
    bw_json_end_object(writer);
    bw_json_end_object(writer);
}

static void begin_content(bw_json_writer *writer)
{
    host_must(bw_json_writer_init(writer, NULL, 0));
    bw_json_begin_object(writer);
    bw_json_put_key(writer, BW_LITERAL("content"));
    bw_json_begin_array(writer);
}

static void end_content(const bw_event *event, bw_json_writer *writer)
{
    bw_json_end_array(writer);
    bw_json_end_object(writer);
    reply_written(bw_event_request(event), writer);
}

/* ---------------------------------------------------------------- tools: content */

static void simple_text(const bw_event *event)
{
    reply(event, "This is a simple text response for testing.");
}

static void image_content(const bw_event *event)
{
    bw_json_writer result;
    begin_content(&result);
    put_media(&result, "image", png, "image/png");
    end_content(event, &result);
}

static void audio_content(const bw_event *event)
{
    bw_json_writer result;
    begin_content(&result);
    put_media(&result, "audio", wav, "audio/wav");
    end_content(event, &result);
}

static void embedded_resource(const bw_event *event)
{
    bw_json_writer result;
    begin_content(&result);
    put_resource(&result, BW_LITERAL("test://embedded-resource"), "text/plain",
                 BW_LITERAL("This is an embedded resource content."));
    end_content(event, &result);
}

static void multiple_content(const bw_event *event)
{
    bw_json_writer result;
    begin_content(&result);
    put_text(&result, BW_LITERAL("Multiple content types test:"));
    put_media(&result, "image", png, "image/png");
    put_resource(&result, BW_LITERAL("test://mixed-content-resource"), "application/json",
                 BW_LITERAL("{\"test\":\"data\",\"value\":123}"));
    end_content(event, &result);
}

/* Adds two integers: structured content, and the same as text for clients that do not know it. */
static void add(const bw_event *event)
{
    bw_bytes arguments = bw_event_arguments(event);
    char sum[40];
    int64_t a, b;
    bw_json_writer result;
    if (bw_json_get_i64(arguments, "/a", &a) != BW_OK || bw_json_get_i64(arguments, "/b", &b) != BW_OK ||
        a > INT32_MAX || a < INT32_MIN || b > INT32_MAX || b < INT32_MIN) {
        host_must(bw_server_respond_invalid_arguments(server, bw_event_request(event),
                                                      BW_LITERAL("a and b are integers of 32 bits")));
        return;
    }
    snprintf(sum, sizeof sum, "{\"sum\":%lld}", (long long)(a + b));
    begin_content(&result);
    put_text(&result, bw_string(sum));
    bw_json_end_array(&result);
    bw_json_put_key(&result, BW_LITERAL("structuredContent"));
    bw_json_put_json(&result, bw_string(sum));
    bw_json_end_object(&result);
    reply_written(bw_event_request(event), &result);
}

/* The text comes back as it was, however long it is. */
static void echo(const bw_event *event)
{
    bw_bytes text = {0};
    char *memory = NULL;
    bw_status status = bw_json_get_string(bw_event_arguments(event), "/text", NULL, 0, &text);
    if (status == BW_ERROR_BUFFER_TOO_SMALL && (memory = malloc(text.length)) != NULL)
        status = bw_json_get_string(bw_event_arguments(event), "/text", memory, text.length, &text);
    if (status == BW_OK)
        host_must(bw_server_respond_text(server, bw_event_request(event), text));
    else
        host_must(bw_server_respond_invalid_arguments(server, bw_event_request(event), BW_LITERAL("text is a string")));
    free(memory);
}

static void fail(const bw_event *event)
{
    host_must(bw_server_respond_tool_error(server, bw_event_request(event),
                                           BW_LITERAL("This tool intentionally returns an error for testing")));
}

static void route(const bw_event *event)
{
    char region[TEXT_BYTES];
    reply(event, "The call was for %s.", read_text(bw_event_arguments(event), "/region", region));
}

static void show_arguments(const bw_event *event)
{
    reply(event, "%.*s", SHOWN(bw_event_arguments(event)));
}

/* ---------------------------------------------------------------- tools: changes */

static void change_tools(const bw_event *event)
{
    host_must(bw_server_add_tool(server, BW_LITERAL("{\"name\":\"temporary\",\"inputSchema\":" NO_ARGUMENTS "}")));
    host_must(bw_server_remove_tool(server, BW_LITERAL("temporary")));
    reply(event, "The tool list has changed.");
}

static void change_prompts(const bw_event *event)
{
    host_must(bw_server_add_prompt(server, BW_LITERAL("{\"name\":\"temporary\"}")));
    host_must(bw_server_remove_prompt(server, BW_LITERAL("temporary")));
    reply(event, "The prompt list has changed.");
}

static void update_resource(const bw_event *event)
{
    host_must(bw_server_publish_resource_updated(server, BW_LITERAL("test://watched-resource")));
    reply(event, "The resource was updated.");
}

#define CONDITIONS                                                                                                     \
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","                               \
    "\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\","                                          \
    "\"properties\":{\"street\":" STRING ",\"city\":" STRING "}}},"                                                    \
    "\"properties\":{\"name\":" STRING ",\"address\":{\"$ref\":\"#/$defs/address\"},"                                  \
    "\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},\"phone\":" STRING ",\"email\":" STRING    \
    "},"                                                                                                               \
    "\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"                                 \
    "\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},\"required\":[\"contactMethod\"]},"              \
    "\"then\":{\"required\":[\"phone\"]},\"else\":{\"required\":[\"email\"]},\"additionalProperties\":false}"

static const entry tools[] = {
    TOOL("test_simple_text", "Answers with text.", NO_ARGUMENTS, simple_text),
    TOOL("test_image_content", "Answers with an image.", NO_ARGUMENTS, image_content),
    TOOL("test_audio_content", "Answers with a sound.", NO_ARGUMENTS, audio_content),
    TOOL("test_embedded_resource", "Answers with a resource inside the result.", NO_ARGUMENTS, embedded_resource),
    TOOL("test_multiple_content_types", "Answers with text, an image and a resource.", NO_ARGUMENTS, multiple_content),
    TOOL("add", "Adds two integers.",
         OBJECT("\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"}",
                "\"a\",\"b\"") ",\"outputSchema\":" OBJECT("\"sum\":{\"type\":\"integer\"}", "\"sum\""),
         add),
    TOOL("echo", "Answers with the text that it is given.", OBJECT("\"text\":" STRING, "\"text\""), echo),
    TOOL("test_error_handling", "Fails on purpose.", NO_ARGUMENTS, fail),
    TOOL("json_schema_2020_12_tool", "Announces a JSON Schema as it is.", CONDITIONS, show_arguments),
    TOOL("test_x_mcp_header", "Takes an argument that clients send in a header too, so that proxies can route by it.",
         OBJECT("\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"}", "\"region\""), route),
    TOOL("test_trigger_tool_change", "Adds a tool and takes it out again: clients that watch the list are told.",
         NO_ARGUMENTS, change_tools),
    TOOL("test_trigger_prompt_change", "Adds a prompt and takes it out again.", NO_ARGUMENTS, change_prompts),
    TOOL("test_trigger_resource_update", "Says that the watched resource has changed.", NO_ARGUMENTS, update_resource),
};

/* ---------------------------------------------------------------- resources */

#define RESOURCE(uri, name, about, type, serve)                                                                        \
    {uri, "{\"uri\":\"" uri "\",\"name\":\"" name "\",\"description\":\"" about "\",\"mimeType\":\"" type "\"}", serve}
#define TEMPLATE "test://template/{id}/data"

static void read_static_text(const bw_event *event)
{
    host_must(bw_server_respond_resource_text(server, bw_event_request(event), bw_event_uri(event),
                                              BW_LITERAL("text/plain"),
                                              BW_LITERAL("This is the content of the static text resource.")));
}

static void read_static_binary(const bw_event *event)
{
    host_must(bw_server_respond_resource_blob(server, bw_event_request(event), bw_event_uri(event),
                                              BW_LITERAL("image/png"), png));
}

static void read_watched(const bw_event *event)
{
    host_must(bw_server_respond_resource_text(server, bw_event_request(event), bw_event_uri(event),
                                              BW_LITERAL("text/plain"), BW_LITERAL("Watched resource content.")));
}

static void read_template(const bw_event *event)
{
    bw_bytes id = bw_event_variable(event, BW_LITERAL("id")), text;
    char data[TEXT_BYTES];
    bw_json_writer json;
    snprintf(data, sizeof data, "Data for ID: %.*s", SHOWN(id));
    host_must(bw_json_writer_init(&json, NULL, 0));
    bw_json_begin_object(&json);
    put_member(&json, "id", id);
    bw_json_put_key(&json, BW_LITERAL("templateTest"));
    bw_json_put_bool(&json, true);
    put_member(&json, "data", bw_string(data));
    bw_json_end_object(&json);
    if (bw_json_finish(&json, &text) == BW_OK)
        host_must(bw_server_respond_resource_text(server, bw_event_request(event), bw_event_uri(event),
                                                  BW_LITERAL("application/json"), text));
    else /* a character was cut in half */
        host_must(bw_server_respond_error(server, bw_event_request(event), BW_RPC_INVALID_PARAMS,
                                          BW_LITERAL("the id is too long"), bw_none()));
    bw_json_writer_free(&json);
}

static const entry resources[] = {
    RESOURCE("test://static-text", "static_text", "Text that never changes.", "text/plain", read_static_text),
    RESOURCE("test://static-binary", "static_binary", "An image that never changes.", "image/png", read_static_binary),
    RESOURCE("test://watched-resource", "watched_resource", "A resource to subscribe to.", "text/plain", read_watched),
};

static const char TEMPLATE_DEFINITION[] = "{\"uriTemplate\":\"" TEMPLATE "\",\"name\":\"template_data\","
                                          "\"description\":\"Data by id.\",\"mimeType\":\"application/json\"}";

/* ---------------------------------------------------------------- prompts and completion */

#define PROMPT(name, about, arguments, serve)                                                                          \
    {name, "{\"name\":\"" name "\",\"description\":\"" about "\",\"arguments\":[" arguments "]}", serve}
#define ARGUMENT(name) "{\"name\":\"" name "\",\"required\":true}"

static void simple_prompt(const bw_event *event)
{
    host_must(bw_server_respond_prompt_text(server, bw_event_request(event),
                                            BW_LITERAL("This is a simple prompt for testing.")));
}

static void prompt_with_arguments(const bw_event *event)
{
    bw_bytes arguments = bw_event_arguments(event);
    char one[TEXT_BYTES], two[TEXT_BYTES], text[3 * TEXT_BYTES];
    snprintf(text, sizeof text, "Prompt with arguments: arg1='%s', arg2='%s'", read_text(arguments, "/arg1", one),
             read_text(arguments, "/arg2", two));
    host_must(bw_server_respond_prompt_text(server, bw_event_request(event), bw_string(text)));
}

static void put_message(bw_json_writer *result)
{
    bw_json_begin_object(result);
    put_member(result, "role", BW_LITERAL("user"));
    bw_json_put_key(result, BW_LITERAL("content"));
}

/* Two messages: the content of the first one is written next, the second one says what to do with it. */
static void begin_messages(bw_json_writer *result)
{
    host_must(bw_json_writer_init(result, NULL, 0));
    bw_json_begin_object(result);
    bw_json_put_key(result, BW_LITERAL("messages"));
    bw_json_begin_array(result);
    put_message(result);
}

static void end_messages(const bw_event *event, bw_json_writer *result, bw_bytes text)
{
    bw_json_end_object(result);
    put_message(result);
    put_text(result, text);
    bw_json_end_object(result);
    bw_json_end_array(result);
    bw_json_end_object(result);
    reply_written(bw_event_request(event), result);
}

static void prompt_with_resource(const bw_event *event)
{
    char uri[TEXT_BYTES];
    bw_json_writer result;
    begin_messages(&result);
    put_resource(&result, bw_string(read_text(bw_event_arguments(event), "/resourceUri", uri)), "text/plain",
                 BW_LITERAL("Embedded resource content for testing."));
    end_messages(event, &result, BW_LITERAL("Please process the embedded resource above."));
}

static void prompt_with_image(const bw_event *event)
{
    bw_json_writer result;
    begin_messages(&result);
    put_media(&result, "image", png, "image/png");
    end_messages(event, &result, BW_LITERAL("Please analyze the image above."));
}

static const entry prompts[] = {
    PROMPT("test_simple_prompt", "A prompt without arguments.", "", simple_prompt),
    PROMPT("test_prompt_with_arguments", "A prompt with two arguments.", ARGUMENT("arg1") "," ARGUMENT("arg2"),
           prompt_with_arguments),
    PROMPT("test_prompt_with_embedded_resource", "A prompt that carries a resource.", ARGUMENT("resourceUri"),
           prompt_with_resource),
    PROMPT("test_prompt_with_image", "A prompt that carries an image.", "", prompt_with_image),
    PROMPT("test_input_required_result_prompt", "A prompt that asks the user first.", "", ask_for_prompt),
};

static void complete(const bw_event *event)
{
    static const char *const words[] = {"test", "testValue1", "testing", "paris", "park", "party", "101", "123", "124"};
    bw_bytes typed = bw_event_value(event), found[sizeof words / sizeof *words];
    size_t count = 0, at;
    for (at = 0; at < sizeof words / sizeof *words; at++)
        if (strlen(words[at]) >= typed.length && bw_equals(bw_text(words[at], typed.length), typed))
            found[count++] = bw_string(words[at]);
    host_must(bw_server_respond_completion(server, bw_event_request(event), found, count));
}

/* ---------------------------------------------------------------- serving */

static bool serve(const entry *entries, size_t count, bw_bytes name, const bw_event *event)
{
    size_t at;
    for (at = 0; at < count; at++)
        if (bw_equals(bw_string(entries[at].name), name)) {
            entries[at].serve(event);
            return true;
        }
    return false;
}

static void call_tool(const bw_event *event)
{
    bw_bytes name = bw_event_name(event);
    if (!serve(tools, sizeof tools / sizeof *tools, name, event) && !serve(job_tools, job_tool_count, name, event) &&
        !serve(question_tools, question_tool_count, name, event))
        reply(event, "Here for a moment.");
}

static void read_resource(const bw_event *event)
{
    if (!serve(resources, sizeof resources / sizeof *resources, bw_event_uri(event), event))
        read_template(event);
}

static void get_prompt(const bw_event *event)
{
    if (!serve(prompts, sizeof prompts / sizeof *prompts, bw_event_name(event), event))
        host_must(bw_server_respond_prompt_text(server, bw_event_request(event), BW_LITERAL("Here for a moment.")));
}

static void handle(const bw_event *event)
{
    switch (bw_event_kind(event)) {
    case BW_EVENT_TOOL_CALLED:
        call_tool(event);
        break;
    case BW_EVENT_RESOURCE_READ_REQUESTED:
        read_resource(event);
        break;
    case BW_EVENT_PROMPT_REQUESTED:
        get_prompt(event);
        break;
    case BW_EVENT_COMPLETION_REQUESTED:
        complete(event);
        break;
    case BW_EVENT_REQUEST_CANCELLED:
        cancel_job(bw_event_request(event));
        break;
    default:
        break;
    }
}

static void handle_events(void)
{
    const bw_event *event;
    while ((event = bw_server_poll_event(server)) != NULL)
        handle(event);
}

static void add_all(const entry *entries, size_t count, bw_status (*add_one)(bw_server *, bw_bytes))
{
    size_t at;
    for (at = 0; at < count; at++)
        host_must(add_one(server, bw_string(entries[at].definition)));
}

static void make_server(bool is_http, unsigned int page_items)
{
    uint8_t seed[BW_SEED_BYTES];
    bw_server_config *config;
    host_seed(seed);
    host_must(bw_server_config_new(BW_LITERAL("everything"), BW_LITERAL("1.0.0"), seed, &config));
    host_must(bw_server_config_set_title(config, BW_LITERAL("Everything")));
    host_must(bw_server_config_set_instructions(
        config, BW_LITERAL("A server that offers one of everything, for trying out clients.")));
    host_must(bw_server_config_set_completions(config, true));
    if (page_items > 0)
        host_must(bw_server_config_set_limit(config, BW_LIMIT_PAGE_ITEMS, page_items));
    host_must(is_http ? bw_server_http_new(config, &server) : bw_server_new(config, &server));
    bw_server_config_free(config);
    add_all(tools, sizeof tools / sizeof *tools, bw_server_add_tool);
    add_all(job_tools, job_tool_count, bw_server_add_tool);
    add_all(question_tools, question_tool_count, bw_server_add_tool);
    add_all(resources, sizeof resources / sizeof *resources, bw_server_add_resource);
    host_must(bw_server_add_resource_template(server, bw_string(TEMPLATE_DEFINITION)));
    add_all(prompts, sizeof prompts / sizeof *prompts, bw_server_add_prompt);
}

static int serve_stdio(void)
{
    stdio_host host = {server, false};
    while (!bw_server_is_finished(server)) {
        stdio_host_step(&host, run_jobs());
        handle_events();
    }
    return 0;
}

static int serve_http(const http_server_paths *paths, uint16_t port)
{
    http_server_host *host = http_server_host_new(server, paths, port);
    uint64_t end_at = BW_NEVER;
    if (host == NULL) {
        perror("everything_server");
        return 1;
    }
    host_note_end();
    while (host_now() < end_at && !(host_is_to_end() && http_server_host_is_idle(host))) {
        uint64_t due = run_jobs();
        http_server_host_step(host, due < end_at ? due : end_at);
        handle_events();
        if (host_is_to_end() && end_at == BW_NEVER) {
            end_at = host_now() + GRACE;
            host_must(bw_server_http_shut_down(server, host_now()));
        }
    }
    http_server_host_free(host);
    return 0;
}

int main(int count, char **arguments)
{
    http_server_paths paths = {"/mcp", NULL, NULL};
    unsigned int page_items = 0, port = 0;
    int at, status;
    for (at = 1; at + 1 < count; at += 2) {
        unsigned int number = (unsigned int)strtoul(arguments[at + 1], NULL, 10);
        if (strcmp(arguments[at], "--page") == 0)
            page_items = number;
        else
            port = number;
        if (strcmp(arguments[at], "--sse") == 0) {
            paths.stream_path = "/sse";
            paths.messages_path = "/messages";
        }
    }
    signal(SIGPIPE, SIG_IGN);
    make_server(port != 0, page_items);
    status = port == 0 ? serve_stdio() : serve_http(&paths, (uint16_t)port);
    drop_jobs();
    bw_server_free(server);
    return status;
}
