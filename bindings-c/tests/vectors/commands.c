/* How machines are set up and told what to do. */
#include "player.h"

#include <string.h>

/* The names of numbers, less one. */
static const char *const LIMITS[] = {
    "message_bytes", "depth",         "requests_in_flight", "queued_requests", "queued_events", "batch_items",
    "sessions",      "subscriptions", "watched_resources",  "rounds",          "inputs",        "request_state_bytes",
    "queued_bytes",  "page_items",    "page_bytes",
};
static const char *const TIMEOUTS[] = {
    "probe", "handshake",     "request",    "request_total",   "acknowledgement",
    "drain", "request_state", "child_exit", "child_terminate",
};
static const char *const LISTS[] = {"tools", "resources", "prompts"};
static const char *const INPUTS[] = {"elicitation", "sampling", "roots"};
static const char *const SCOPES[] = {"public", "private"};

#define COUNT(names) (sizeof(names) / sizeof *(names))
#define NUMBER(names, name) number_of(names, COUNT(names), name)

static int32_t number_of(const char *const *names, size_t count, bw_bytes name)
{
    for (size_t at = 0; at < count; ++at)
        if (bw_equals(bw_string(names[at]), name))
            return (int32_t)at + 1;
    disagree("nothing has the name %.*s", (int)name.length, (const char *)name.data);
}

static void must(bw_status status)
{
    if (status != BW_OK)
        disagree("%s while it was set up", bw_error_name(status));
}

/* ---- Setting up ---- */

static size_t revisions_of(bw_bytes config, int32_t *revisions)
{
    bw_json_iterator names;
    bw_bytes name;
    size_t count = 0;
    must(bw_json_iterate(member(config, "revisions"), "", &names));
    while (count < 8 && bw_json_next(&names, NULL, &name))
        revisions[count++] = bw_revision_from_name(string_of(name));
    return count;
}

static void each_number(bw_bytes object, void set(void *config, bw_bytes name, uint64_t value), void *config)
{
    bw_json_iterator members;
    bw_bytes name, value;
    uint64_t number;
    if (!bw_is_some(object))
        return;
    must(bw_json_iterate(object, "", &members));
    while (bw_json_next(&members, &name, &value)) {
        must(bw_json_get_u64(value, "", &number));
        set(config, name, number);
    }
}

static void limit_client(void *config, bw_bytes name, uint64_t value)
{
    must(bw_client_config_set_limit(config, NUMBER(LIMITS, name), value));
}

static void time_client(void *config, bw_bytes name, uint64_t value)
{
    must(bw_client_config_set_timeout(config, NUMBER(TIMEOUTS, name), value));
}

static void limit_server(void *config, bw_bytes name, uint64_t value)
{
    must(bw_server_config_set_limit(config, NUMBER(LIMITS, name), value));
}

static void time_server(void *config, bw_bytes name, uint64_t value)
{
    must(bw_server_config_set_timeout(config, NUMBER(TIMEOUTS, name), value));
}

static bw_bytes version_of(bw_bytes config)
{
    bw_bytes version = string_member(config, "version");
    return bw_is_some(version) ? version : BW_LITERAL("1");
}

static void set_up_client(struct player *player, bw_bytes config)
{
    static const unsigned char SEED[BW_SEED_BYTES] = {1};
    bw_client_config *made;
    int32_t revisions[8];
    bw_bytes era = string_member(config, "era");
    must(bw_client_config_new(BW_LITERAL("client"), version_of(config), SEED, &made));
    must(bw_client_config_set_title(made, string_member(config, "title")));
    must(bw_client_config_set_description(made, string_member(config, "description")));
    if (bw_is_some(member(config, "revisions")))
        must(bw_client_config_set_revisions(made, revisions, revisions_of(config, revisions)));
    if (bw_is_some(member(config, "capabilities")))
        must(bw_client_config_set_capabilities(made, json_member(config, "capabilities")));
    if (bw_client_config_set_era_verdict(made, era) != BW_OK)
        must(bw_client_config_set_era_verdict(made, bw_none()));
    each_number(member(config, "limits"), limit_client, made);
    each_number(member(config, "timeouts"), time_client, made);
    bw_status status = bw_client_new(made, 0, &player->client);
    bw_client_config_free(made);
    must(status);
}

static void each(bw_server *server, bw_bytes config, const char *name,
                 bw_status add(bw_server *server, bw_bytes definition))
{
    bw_json_iterator items;
    bw_bytes item;
    if (!bw_is_some(member(config, name)))
        return;
    must(bw_json_iterate(member(config, name), "", &items));
    while (bw_json_next(&items, NULL, &item))
        must(add(server, item));
}

static bw_server_config *server_config_of(bw_bytes config)
{
    static const unsigned char SEED[BW_SEED_BYTES] = {2};
    bw_server_config *made;
    bw_json_iterator methods;
    bw_bytes method;
    int32_t revisions[8];
    must(bw_server_config_new(BW_LITERAL("server"), version_of(config), SEED, &made));
    must(bw_server_config_set_title(made, string_member(config, "title")));
    must(bw_server_config_set_description(made, string_member(config, "description")));
    must(bw_server_config_set_instructions(made, string_member(config, "instructions")));
    must(bw_server_config_set_extensions(made, json_member(config, "extensions")));
    must(bw_server_config_set_completions(made, is_true(member(config, "completions"))));
    if (bw_is_some(member(config, "logging")))
        must(bw_server_config_set_logging(made, is_true(member(config, "logging"))));
    if (bw_is_some(member(config, "identify_results")))
        must(bw_server_config_set_identify_results(made, is_true(member(config, "identify_results"))));
    if (bw_is_some(member(config, "revisions")))
        must(bw_server_config_set_revisions(made, revisions, revisions_of(config, revisions)));
    if (bw_is_some(member(config, "cache_scope")))
        must(bw_server_config_set_freshness(made, (uint64_t)number_member(config, "ttl_ms", 0),
                                            NUMBER(SCOPES, string_member(config, "cache_scope"))));
    if (bw_json_iterate(member(config, "extension_methods"), "", &methods) == BW_OK)
        while (bw_json_next(&methods, NULL, &method))
            must(bw_server_config_add_extension_method(made, string_of(method)));
    each_number(member(config, "limits"), limit_server, made);
    each_number(member(config, "timeouts"), time_server, made);
    return made;
}

void set_up(struct player *player, bool is_client, bw_bytes config)
{
    if (is_client) {
        set_up_client(player, config);
        return;
    }
    bw_server_config *made = server_config_of(config);
    bw_status status = bw_server_new(made, &player->server);
    bw_server_config_free(made);
    must(status);
    each(player->server, config, "tools", bw_server_add_tool);
    each(player->server, config, "resources", bw_server_add_resource);
    each(player->server, config, "resource_templates", bw_server_add_resource_template);
    each(player->server, config, "prompts", bw_server_add_prompt);
}

/* ---- Commands ---- */

/* What a command gave: a handle of a kind, or a truth value. */
struct outcome {
    const char *kind;
    uint64_t handle;
    bool truth;
};

static int32_t level_of(bw_bytes command, const char *name)
{
    bw_bytes level = string_member(command, name);
    return bw_is_some(level) ? bw_log_level_from_name(level) : 0;
}

static bw_status make_request(struct player *player, bw_bytes it, struct outcome *outcome)
{
    bw_request_options options;
    memset(&options, 0, sizeof options);
    options.progress = is_true(member(it, "progress"));
    options.timeout = (uint64_t)number_member(it, "timeout", 0);
    options.total_timeout = (uint64_t)number_member(it, "total_timeout", 0);
    options.log_level = level_of(it, "log_level");
    options.meta = json_member(it, "meta");
    outcome->kind = "request";
    return bw_client_request(player->client, player->now, string_member(it, "method"), json_member(it, "params"),
                             &options, &outcome->handle);
}

static bw_status subscribe(struct player *player, bw_bytes it, struct outcome *outcome)
{
    bw_bytes wanted = member(it, "filter"), uris[16], uri;
    bw_json_iterator items;
    bw_subscription_filter filter;
    memset(&filter, 0, sizeof filter);
    filter.tools = is_true(member(wanted, "tools"));
    filter.resources = is_true(member(wanted, "resources"));
    filter.prompts = is_true(member(wanted, "prompts"));
    filter.uris = uris;
    if (bw_json_iterate(member(wanted, "resource_uris"), "", &items) == BW_OK)
        while (filter.uri_count < 16 && bw_json_next(&items, NULL, &uri))
            uris[filter.uri_count++] = string_of(uri);
    outcome->kind = "subscription";
    return bw_client_subscribe(player->client, player->now, &filter, &outcome->handle);
}

static bool is(bw_bytes command, const char *name)
{
    return bw_equals(command, bw_string(name));
}

static bw_status do_client(struct player *player, bw_bytes it, bw_bytes name, struct outcome *outcome)
{
    bw_client *client = player->client;
    uint64_t input = handle_member(&player->names, it, "input");
    uint64_t request = is(name, "request") ? 0 : handle_member(&player->names, it, "request");
    if (is(name, "request"))
        return make_request(player, it, outcome);
    if (is(name, "subscribe"))
        return subscribe(player, it, outcome);
    if (is(name, "cancel"))
        return bw_client_cancel(client, request, string_member(it, "reason"));
    if (is(name, "provide_input"))
        return bw_client_provide_input(client, player->now, input, json_member(it, "result"));
    if (is(name, "refuse_input"))
        return bw_client_refuse_input(client, player->now, input, (int64_t)number_member(it, "code", 0),
                                      string_member(it, "message"));
    if (is(name, "unsubscribe"))
        return bw_client_unsubscribe(client, player->now, handle_member(&player->names, it, "subscription"));
    if (is(name, "notify"))
        return bw_client_notify(client, string_member(it, "method"), json_member(it, "params"));
    if (is(name, "close"))
        return bw_client_close(client);
    if (is(name, "set_log_level")) {
        outcome->kind = "request";
        return bw_client_set_log_level(client, player->now, level_of(it, "level"), &outcome->handle);
    }
    disagree("no such command: %.*s", (int)name.length, (const char *)name.data);
}

static bw_status require_input(struct player *player, bw_bytes it, uint64_t request)
{
    bw_question questions[40];
    bw_json_iterator items;
    bw_bytes item;
    size_t count = 0;
    must(bw_json_iterate(member(it, "questions"), "", &items));
    while (count < 40 && bw_json_next(&items, NULL, &item)) {
        questions[count].key = string_member(item, "key");
        questions[count].kind = NUMBER(INPUTS, string_member(item, "kind"));
        questions[count++].params = json_member(item, "params");
    }
    return bw_server_require_input(player->server, player->now, request, questions, count, json_member(it, "state"));
}

/* Commands that answer a request or tell something within it. */
static bw_status do_request(struct player *player, bw_bytes it, bw_bytes name, struct outcome *outcome)
{
    bw_server *server = player->server;
    uint64_t request = handle_member(&player->names, it, "request");
    bw_bytes message = string_member(it, "message"), data = json_member(it, "data");
    if (is(name, "respond"))
        return bw_server_respond(server, request, json_member(it, "result"));
    if (is(name, "respond_error"))
        return bw_server_respond_error(server, request, (int64_t)number_member(it, "code", 0), message, data);
    if (is(name, "respond_missing_capability"))
        return bw_server_respond_missing_capability(server, request, json_member(it, "required"));
    if (is(name, "respond_invalid_arguments"))
        return bw_server_respond_invalid_arguments(server, request, message);
    if (is(name, "require_input"))
        return require_input(player, it, request);
    if (is(name, "progress"))
        return bw_server_notify_progress(server, request, number_member(it, "progress", 0),
                                         number_member(it, "total", -1), message, &outcome->truth);
    if (is(name, "notify"))
        return bw_server_notify(server, request, string_member(it, "method"), json_member(it, "params"),
                                &outcome->truth);
    if (is(name, "log") && request == 0)
        return bw_server_log(server, level_of(it, "level"), string_member(it, "logger"), data);
    if (is(name, "log"))
        return bw_server_notify_log(server, request, level_of(it, "level"), string_member(it, "logger"), data,
                                    &outcome->truth);
    disagree("no such command: %.*s", (int)name.length, (const char *)name.data);
}

static bw_status do_server(struct player *player, bw_bytes it, bw_bytes name, struct outcome *outcome)
{
    bw_server *server = player->server;
    bw_bytes definition = json_member(it, "definition");
    if (is(name, "request")) {
        outcome->kind = "request";
        return bw_server_request(server, player->now, handle_member(&player->names, it, "session"),
                                 string_member(it, "method"), json_member(it, "params"), &outcome->handle);
    }
    if (is(name, "add_tool"))
        return bw_server_add_tool(server, definition);
    if (is(name, "add_resource"))
        return bw_server_add_resource(server, definition);
    if (is(name, "add_resource_template"))
        return bw_server_add_resource_template(server, definition);
    if (is(name, "add_prompt"))
        return bw_server_add_prompt(server, definition);
    if (is(name, "remove_tool"))
        return bw_server_remove_tool(server, string_member(it, "name"));
    if (is(name, "remove_prompt"))
        return bw_server_remove_prompt(server, string_member(it, "name"));
    if (is(name, "remove_resource"))
        return bw_server_remove_resource(server, string_member(it, "uri"));
    if (is(name, "remove_resource_template"))
        return bw_server_remove_resource_template(server, string_member(it, "template"));
    if (is(name, "publish_list_changed"))
        return bw_server_publish_list_changed(server, NUMBER(LISTS, string_member(it, "kind")));
    if (is(name, "publish_resource_updated"))
        return bw_server_publish_resource_updated(server, string_member(it, "uri"));
    if (is(name, "end_subscription"))
        return bw_server_end_subscription(server, handle_member(&player->names, it, "subscription"));
    if (is(name, "close"))
        return bw_server_close(server);
    return do_request(player, it, name, outcome);
}

void carry_out(struct player *player, bw_bytes command)
{
    struct outcome outcome = {NULL, 0, false};
    bw_bytes name = string_member(command, "command"), as = string_member(command, "as");
    bw_bytes gives = member(command, "gives");
    bw_status fails = (bw_status)number_member(command, "fails", 0);
    bw_status status = player->client != NULL ? do_client(player, command, name, &outcome)
                                              : do_server(player, command, name, &outcome);
    if (status != fails)
        disagree("%.*s gave %d, not %d", (int)name.length, (const char *)name.data, status, fails);
    if (status == BW_OK && bw_is_some(as))
        name_handle(&player->names, outcome.kind == NULL ? "" : outcome.kind, joined(as, bw_none()), outcome.handle);
    if (bw_is_some(gives) && is_true(gives) != outcome.truth)
        disagree("%.*s did not give that", (int)name.length, (const char *)name.data);
}
