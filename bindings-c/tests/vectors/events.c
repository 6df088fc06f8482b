/* Events as the objects that scripts compare them with. */
#include "player.h"

/* The names of numbers, by those numbers; of events by those of `bw_kind`. */
static const char *const EVENTS[] = {
    "",
    "ToolCalled",
    "ResourceReadRequested",
    "PromptRequested",
    "CompletionRequested",
    "RequestReceived",
    "RequestCancelled",
    "SubscriptionOpened",
    "SubscriptionClosed",
    "SessionOpened",
    "SessionClosed",
    "Drained",
    "ResponseReceived",
    "NotificationReceived",
    "ViolationTolerated",
    "MessageDiscarded",
    "Disconnected",
    "Ready",
    "SessionReplaced",
    "RestartRequired",
    "RequestFailed",
    "InputRequired",
    "InputWithdrawn",
    "ToolOmitted",
    "ProgressReceived",
    "LogReceived",
    "SubscriptionAcknowledged",
    "SubscriptionEnded",
    "ListChanged",
    "ResourceUpdated",
};
static const char *const VIOLATIONS[] = {
    "",
    "not_json",
    "not_utf8",
    "too_long",
    "too_deep",
    "ended_early",
    "byte_order_mark",
    "not_a_message",
    "wrong_version_member",
    "invalid_id",
    "duplicate_member",
    "unknown_member",
    "invalid_params",
    "result_and_error",
    "empty_response",
    "invalid_error_code",
    "invalid_error",
    "unexpected_batch",
    "duplicate_id",
    "unknown_response",
    "unknown_target",
    "unexpected_message",
    "progress_not_increasing",
    "invalid_result",
    "queue_full",
    "no_room",
};
static const char *const LISTS[] = {"", "tools", "resources", "prompts"};
static const char *const INPUTS[] = {"", "elicitation", "sampling", "roots"};
static const char *const SCOPES[] = {"", "public", "private"};

#define NAMED(names, number) bw_string((size_t)(number) < sizeof(names) / sizeof *(names) ? (names)[number] : "")

static void put_key(bw_json_writer *writer, const char *key)
{
    bw_json_put_key(writer, bw_string(key));
}

static void put_text(bw_json_writer *writer, const char *key, bw_bytes text)
{
    put_key(writer, key);
    if (bw_is_some(text))
        bw_json_put_string(writer, text);
    else
        bw_json_put_null(writer);
}

static void put_json(bw_json_writer *writer, const char *key, bw_bytes json)
{
    put_key(writer, key);
    if (bw_is_some(json))
        bw_json_put_json(writer, json);
    else
        bw_json_put_null(writer);
}

static void put_handle(bw_json_writer *writer, const char *key, uint64_t handle)
{
    put_key(writer, key);
    if (handle != 0)
        bw_json_put_u64(writer, handle);
    else
        bw_json_put_null(writer);
}

static void put_truth(bw_json_writer *writer, const char *key, bool truth)
{
    put_key(writer, key);
    bw_json_put_bool(writer, truth);
}

/* Why there is no result: by the peer's code, or by a number of this side. */
static void put_error(bw_json_writer *writer, const char *key, const bw_event *event)
{
    put_key(writer, key);
    if (bw_event_code(event) == 0 && !bw_event_is_rpc_error(event)) {
        bw_json_put_null(writer);
        return;
    }
    bw_json_begin_object(writer);
    put_key(writer, bw_event_is_rpc_error(event) ? "code" : "local");
    bw_json_put_i64(writer, bw_event_code(event));
    if (bw_event_is_rpc_error(event)) {
        put_text(writer, "message", bw_event_message(event));
        put_json(writer, "data", bw_event_data(event));
    }
    bw_json_end_object(writer);
}

static void put_bytes(bw_json_writer *writer, bw_bytes bytes)
{
    static const char DIGITS[] = "0123456789abcdef";
    bw_json_writer trial;
    bw_bytes json;
    bw_json_writer_init(&trial, NULL, 0);
    bw_json_put_string(&trial, bytes);
    if (bw_json_finish(&trial, &json) == BW_OK) {
        put_json(writer, "bytes", json);
    } else {
        char *text = take(bytes.length * 2);
        for (size_t at = 0; at < bytes.length; ++at) {
            text[2 * at] = DIGITS[bytes.data[at] >> 4];
            text[2 * at + 1] = DIGITS[bytes.data[at] & 15];
        }
        put_key(writer, "bytes");
        bw_json_begin_object(writer);
        put_text(writer, "hex", bw_text(text, bytes.length * 2));
        bw_json_end_object(writer);
    }
    bw_json_writer_free(&trial);
}

static void put_watched(bw_json_writer *writer, const char *key, const bw_event *event)
{
    put_key(writer, key);
    bw_json_begin_object(writer);
    for (int32_t list = BW_LIST_TOOLS; list <= BW_LIST_PROMPTS; ++list)
        put_truth(writer, LISTS[list], bw_event_watches(event, list));
    put_key(writer, "resource_uris");
    bw_json_begin_array(writer);
    for (size_t at = 0; at < bw_event_watched_uri_count(event); ++at)
        bw_json_put_string(writer, bw_event_watched_uri(event, at));
    bw_json_end_array(writer);
    bw_json_end_object(writer);
}

static void put_answers(bw_json_writer *writer, const bw_event *event)
{
    bw_answer answer;
    put_key(writer, "input_answers");
    bw_json_begin_array(writer);
    for (size_t at = 0; bw_event_answer_at(event, at, &answer); ++at) {
        bw_json_begin_object(writer);
        put_text(writer, "key", answer.key);
        put_json(writer, "result", answer.result);
        put_key(writer, "error");
        if (bw_is_some(answer.result)) {
            bw_json_put_null(writer);
        } else {
            bw_json_begin_object(writer);
            put_key(writer, "code");
            bw_json_put_i64(writer, answer.error_code);
            put_text(writer, "message", answer.error_message);
            put_json(writer, "data", answer.error_data);
            bw_json_end_object(writer);
        }
        bw_json_end_object(writer);
    }
    bw_json_end_array(writer);
}

static void put_context(bw_json_writer *writer, const bw_event *event)
{
    bw_bytes level = bw_log_level_name(bw_event_log_level(event));
    put_key(writer, "context");
    bw_json_begin_object(writer);
    put_key(writer, "round");
    bw_json_put_u64(writer, bw_event_round(event));
    put_answers(writer, event);
    put_json(writer, "progress_token", bw_event_progress_token(event));
    put_text(writer, "log_level", level);
    put_json(writer, "capabilities", bw_event_capabilities(event));
    put_json(writer, "state", bw_event_state(event));
    put_text(writer, "revision", bw_revision_name(bw_event_revision(event)));
    put_handle(writer, "session", bw_event_session(event));
    put_json(writer, "meta", bw_event_meta(event));
    put_json(writer, "client", bw_event_peer(event));
    bw_json_end_object(writer);
}

static void put_inputs(bw_json_writer *writer, const bw_event *event)
{
    bw_input input;
    put_key(writer, "inputs");
    bw_json_begin_array(writer);
    for (size_t at = 0; bw_event_input_at(event, at, &input); ++at) {
        bw_json_begin_object(writer);
        put_handle(writer, "input", input.input);
        put_text(writer, "kind", NAMED(INPUTS, input.kind));
        put_json(writer, "params", input.params);
        put_text(writer, "key", input.key);
        bw_json_end_object(writer);
    }
    bw_json_end_array(writer);
}

static void put_variables(bw_json_writer *writer, const bw_event *event)
{
    bw_pair variable;
    put_key(writer, "variables");
    bw_json_begin_object(writer);
    for (size_t at = 0; bw_event_variable_at(event, at, &variable); ++at) {
        bw_json_put_key(writer, variable.name);
        bw_json_put_string(writer, variable.value);
    }
    bw_json_end_object(writer);
}

static void put_abandoned(bw_json_writer *writer, const bw_event *event)
{
    put_key(writer, "abandoned");
    bw_json_begin_array(writer);
    for (size_t at = 0; at < bw_event_abandoned_count(event); ++at)
        bw_json_put_u64(writer, bw_event_abandoned(event, at));
    bw_json_end_array(writer);
}

static void put_progress(bw_json_writer *writer, const bw_event *event)
{
    double total;
    put_key(writer, "progress");
    bw_json_put_double(writer, bw_event_progress(event));
    put_key(writer, "total");
    if (bw_event_total(event, &total))
        bw_json_put_double(writer, total);
    else
        bw_json_put_null(writer);
    put_truth(writer, "increasing", bw_event_is_increasing(event));
}

static void put_freshness(bw_json_writer *writer, const bw_event *event)
{
    uint64_t ttl = 0;
    int32_t scope = 0;
    bool is_known = bw_event_freshness(event, &ttl, &scope);
    put_key(writer, "ttl_ms");
    if (is_known)
        bw_json_put_u64(writer, ttl);
    else
        bw_json_put_null(writer);
    put_text(writer, "cache_scope", is_known ? NAMED(SCOPES, scope) : bw_none());
}

bw_bytes described(const bw_event *event, bool of_server)
{
    bw_json_writer writer;
    bw_bytes json, level = bw_log_level_name(bw_event_log_level(event));
    bw_kind kind = bw_event_kind(event);
    bool completes = kind == BW_EVENT_COMPLETION_REQUESTED;
    bw_json_writer_init(&writer, NULL, 0);
    bw_json_begin_object(&writer);
    put_text(&writer, "event", NAMED(EVENTS, kind));
    put_handle(&writer, "request", bw_event_request(event));
    put_handle(&writer, "subscription", bw_event_subscription(event));
    put_handle(&writer, "session", bw_event_session(event));
    put_handle(&writer, "input", bw_event_input(event));
    put_text(&writer, completes ? "prompt" : "name", bw_event_name(event));
    put_text(&writer, completes ? "resource" : "uri", bw_event_uri(event));
    put_text(&writer, "template", bw_event_template(event));
    put_text(&writer, "method", bw_event_method(event));
    put_json(&writer, "params", bw_event_params(event));
    put_json(&writer, "arguments", bw_event_arguments(event));
    put_text(&writer, "argument", bw_event_argument(event));
    put_text(&writer, "value", bw_event_value(event));
    put_json(&writer, "result", bw_event_result(event));
    put_text(&writer, "message", bw_event_message(event));
    put_text(&writer, "instructions", bw_event_instructions(event));
    put_text(&writer, "logger", bw_event_logger(event));
    put_text(&writer, "level", level);
    put_json(&writer, "data", bw_event_data(event));
    put_json(&writer, of_server ? "client" : "server", bw_event_peer(event));
    put_json(&writer, "capabilities", bw_event_capabilities(event));
    put_text(&writer, "revision", bw_revision_name(bw_event_revision(event)));
    put_text(&writer, "violation", NAMED(VIOLATIONS, bw_event_violation(event)));
    put_text(&writer, "kind", NAMED(LISTS, bw_event_list(event)));
    put_truth(&writer, "graceful", bw_event_is_graceful(event));
    put_key(&writer, "round");
    bw_json_put_u64(&writer, bw_event_round(event));
    put_error(&writer, kind == BW_EVENT_DISCONNECTED ? "reason" : "error", event);
    if (kind != BW_EVENT_DISCONNECTED)
        put_text(&writer, "reason", bw_event_reason(event));
    put_bytes(&writer, bw_event_bytes(event));
    put_watched(&writer, of_server ? "filter" : "honoured", event);
    put_context(&writer, event);
    put_inputs(&writer, event);
    put_variables(&writer, event);
    put_abandoned(&writer, event);
    put_progress(&writer, event);
    put_freshness(&writer, event);
    bw_json_end_object(&writer);
    if (bw_json_finish(&writer, &json) != BW_OK)
        disagree("an event cannot be written");
    json = joined(json, bw_none());
    bw_json_writer_free(&writer);
    return json;
}
