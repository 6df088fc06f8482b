/* What configurations set, as the other side sees it, and what they refuse. */
#include "pair.h"

#include <string.h>

static const char ICONS[] = "[{\"src\":\"https://x.example/i.png\"}]";

TEST(servers_say_who_they_are)
{
    for (int32_t revision = BW_REVISION_2025_11_25; revision <= BW_REVISION_2026_07_28; ++revision) {
        struct pair pair = new_pair(false, revision);
        bw_server_config *config = pair.server_config;
        DOES(bw_server_config_set_title(config, loan("The Server")));
        DOES(bw_server_config_set_description(config, loan("It serves.")));
        DOES(bw_server_config_set_website_url(config, loan("https://x.example")));
        DOES(bw_server_config_set_icons(config, loan(ICONS)));
        DOES(bw_server_config_set_extensions(config, loan("{\"com.example/x\":{\"a\":1}}")));
        DOES(bw_server_config_set_logging(config, false));
        DOES(bw_server_config_set_identify_results(config, true));
        make_pair(&pair);
        const bw_event *event = client_tells(&pair, BW_EVENT_READY);
        bw_bytes value;
        DOES(bw_json_get(bw_event_peer(event), "/title", &value));
        READS("\"The Server\"", value);
        DOES(bw_json_get(bw_event_peer(event), "/description", &value));
        READS("\"It serves.\"", value);
        DOES(bw_json_get(bw_event_peer(event), "/websiteUrl", &value));
        READS("\"https://x.example\"", value);
        DOES(bw_json_get(bw_event_peer(event), "/icons", &value));
        READS(ICONS, value);
        DOES(bw_json_get(bw_event_capabilities(event), "/extensions/com.example~1x", &value));
        READS("{\"a\":1}", value);
        CHECK(!bw_event_has_capability(event, BW_CAPABILITY_LOGGING));
        CHECK(bw_event_has_capability(event, BW_CAPABILITY_COMPLETIONS));
        free_pair(&pair);
    }
}

TEST(clients_say_who_they_are)
{
    struct pair pair = new_pair(false, BW_REVISION_2025_11_25);
    bw_client_config *config = pair.client_config;
    DOES(bw_client_config_set_title(config, loan("The Client")));
    DOES(bw_client_config_set_description(config, loan("It asks.")));
    DOES(bw_client_config_set_website_url(config, loan("https://x.example")));
    DOES(bw_client_config_set_icons(config, loan(ICONS)));
    make_pair(&pair);
    client_tells(&pair, BW_EVENT_READY);
    const bw_event *event = server_tells(&pair, BW_EVENT_SESSION_OPENED);
    bw_bytes value;
    DOES(bw_json_get(bw_event_peer(event), "", &value));
    const char *members[] = {"/title", "/description", "/websiteUrl", "/icons/0/src"};
    for (size_t at = 0; at < 4; ++at)
        CHECK(bw_json_get_type(value, members[at]) == BW_JSON_STRING);
    free_pair(&pair);
}

TEST(settings_that_make_no_sense_are_refused)
{
    struct pair pair = new_pair(false, BW_REVISION_2025_11_25);
    bw_server_config *server = pair.server_config;
    bw_client_config *client = pair.client_config;
    int32_t revision = 6;
    FAILS(BW_ERROR_INVALID_JSON, bw_server_config_set_icons(server, loan("[")));
    FAILS(BW_ERROR_INVALID_JSON, bw_server_config_set_extensions(server, loan("{")));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_config_set_revisions(server, &revision, 1));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_config_set_limit(server, 0, 1));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_config_set_limit(server, BW_LIMIT_ROUNDS, UINT64_MAX));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_config_set_timeout(server, 10, 1));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_config_set_freshness(server, 1, 3));
    FAILS(BW_ERROR_NOT_UTF8, bw_server_config_set_title(server, loan("\xff")));
    FAILS(BW_ERROR_NOT_UTF8, bw_server_config_set_description(server, loan("\xff")));
    FAILS(BW_ERROR_INVALID_JSON, bw_client_config_set_icons(client, loan("[")));
    FAILS(BW_ERROR_INVALID_JSON, bw_client_config_set_capabilities(client, loan("[]")));
    FAILS(BW_ERROR_INVALID_DEFINITION,
          bw_client_config_set_capabilities(client, loan("{\"extensions\":{\"noslash\":{}}}")));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_client_config_set_revisions(client, &revision, 1));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_client_config_set_limit(client, 16, 1));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_client_config_set_timeout(client, 0, 1));
    FAILS(BW_ERROR_NOT_UTF8, bw_client_config_set_title(client, loan("\xff")));
    DOES(bw_server_config_set_extensions(server, loan("{\"noslash\":{}}")));
    FAILS(BW_ERROR_INVALID_DEFINITION, bw_server_new(server, &pair.server));
    free_pair(&pair);
}

TEST(results_may_be_reused)
{
    struct pair pair = new_pair(false, BW_REVISION_2026_07_28);
    uint64_t request = 0, ttl = 0;
    int32_t scope = 0;
    DOES(bw_server_config_set_freshness(pair.server_config, 9000, BW_CACHE_PUBLIC));
    DOES(bw_server_config_set_identify_results(pair.server_config, false));
    join_pair(&pair);
    DOES(bw_client_list(pair.client, 0, BW_LISTING_TOOLS, bw_none(), NULL, &request));
    const bw_event *event = client_tells(&pair, BW_EVENT_RESPONSE_RECEIVED);
    CHECK(bw_event_freshness(event, &ttl, &scope) && ttl == 9000 && scope == BW_CACHE_PUBLIC);
    CHECK(bw_json_get_type(bw_event_result(event), "/_meta") == BW_JSON_NONE);
    free_pair(&pair);
}

/* The state that a server sealed opens at another one with the key, and at none without. */
TEST(keys_are_shared)
{
    for (int shared = 0; shared < 2; ++shared) {
        struct pair pair = new_pair(false, BW_REVISION_2026_07_28);
        unsigned char key[BW_SEED_BYTES] = {9}, other[BW_SEED_BYTES] = {8};
        bw_question question = {BW_LITERAL("one"), BW_INPUT_ROOTS, BW_LITERAL("{}")};
        bw_server_config *config;
        bw_input input;
        uint64_t request = 0;
        DOES(bw_server_config_new(loan("s"), loan("1"), other, &config));
        DOES(bw_server_config_add_request_state_key(pair.server_config, key));
        DOES(bw_server_config_set_clock_origin(pair.server_config, 1000));
        DOES(bw_server_config_set_progress_extends(pair.server_config, false));
        DOES(bw_client_config_set_progress_extends(pair.client_config, false));
        DOES(bw_server_config_add_request_state_key(config, other));
        if (shared)
            DOES(bw_server_config_add_request_state_key(config, key));
        join_pair(&pair);
        DOES(bw_client_call_tool(pair.client, 0, loan("tool"), bw_none(), NULL, &request));
        request = bw_event_request(server_tells(&pair, BW_EVENT_TOOL_CALLED));
        DOES(bw_server_require_input(pair.server, 0, request, &question, 1, loan("\"kept\"")));
        CHECK(bw_event_input_at(client_tells(&pair, BW_EVENT_INPUT_REQUIRED), 0, &input));
        bw_server_free(pair.server);
        DOES(bw_server_new(config, &pair.server));
        DOES(bw_server_add_tool(pair.server, loan("{\"name\":\"tool\",\"inputSchema\":{\"type\":\"object\"}}")));
        DOES(bw_client_provide_input(pair.client, 0, input.input, loan("{\"roots\":[]}")));
        if (shared)
            READS("\"kept\"", bw_event_state(server_tells(&pair, BW_EVENT_TOOL_CALLED)));
        else
            CHECK(bw_event_is_rpc_error(client_tells(&pair, BW_EVENT_REQUEST_FAILED)));
        bw_server_config_free(config);
        free_pair(&pair);
    }
}

TEST(settings_of_http)
{
    struct pair pair = new_pair(true, BW_REVISION_2025_11_25);
    DOES(bw_server_config_set_keep_alive(pair.server_config, 500));
    DOES(bw_server_config_set_session_idle(pair.server_config, 9000));
    DOES(bw_server_config_set_retry(pair.server_config, 2000));
    DOES(bw_server_config_keep_events_in_memory(pair.server_config, 10, 1000, 1000));
    DOES(bw_server_config_keep_no_events(pair.server_config));
    join_pair(&pair);
    carry(&pair);
    CHECK(bw_server_poll_timeout(pair.server) == 500);
    DOES(bw_client_close(pair.client));
    client_tells(&pair, BW_EVENT_DISCONNECTED);
    carry(&pair);
    server_tells(&pair, BW_EVENT_SESSION_CLOSED);
    free_pair(&pair);
}

TEST(bounds_fit_a_memory)
{
    struct pair pair = new_pair(false, BW_REVISION_2026_07_28);
    DOES(bw_server_config_set_memory(pair.server_config, 16 * 1024));
    join_pair(&pair);
    uint64_t request = 0;
    char arguments[20000] = "{\"text\":\"";
    memset(arguments + strlen(arguments), 'x', sizeof arguments - strlen(arguments) - 3);
    memcpy(arguments + sizeof arguments - 3, "\"}", 3);
    DOES(bw_client_call_tool(pair.client, 0, loan("tool"), loan(arguments), NULL, &request));
    CHECK(bw_event_is_rpc_error(client_tells(&pair, BW_EVENT_REQUEST_FAILED)));
    free_pair(&pair);
}
