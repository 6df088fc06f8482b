/* Bounds, ends and time: every number that a call or an event can give. */
#include "pair.h"

#include <string.h>

static uint64_t call(struct pair *pair)
{
    uint64_t request = 0;
    DOES(bw_client_call_tool(pair->client, pair->now, loan("tool"), bw_none(), NULL, &request));
    return request;
}

static uint64_t served(struct pair *pair)
{
    call(pair);
    return bw_event_request(server_tells(pair, BW_EVENT_TOOL_CALLED));
}

static struct pair joined(int32_t revision)
{
    struct pair pair = new_pair(false, revision);
    join_pair(&pair);
    return pair;
}

TEST_EVERYWHERE(a_request_is_answered_once)
{
    join_pair(pair);
    uint64_t request = served(pair);
    FAILS(BW_ERROR_INVALID_JSON, bw_server_respond(pair->server, request, loan("[]")));
    DOES(bw_server_respond_text(pair->server, request, loan("x")));
    FAILS(BW_ERROR_ALREADY_ANSWERED, bw_server_respond_text(pair->server, request, loan("x")));
    FAILS(BW_ERROR_UNKNOWN_REQUEST, bw_server_respond_text(pair->server, request + 999, loan("x")));
    CHECK(bw_server_error_message(pair->server).length > 0);
    client_tells(pair, BW_EVENT_RESPONSE_RECEIVED);
}

TEST_EVERYWHERE(answers_have_every_form)
{
    join_pair(pair);
    DOES(bw_server_respond_invalid_arguments(pair->server, served(pair), loan("text is missing")));
    const bw_event *event =
        client_tells(pair, is_legacy(pair) && pair->revision < BW_REVISION_2025_11_25 ? BW_EVENT_REQUEST_FAILED
                                                                                      : BW_EVENT_RESPONSE_RECEIVED);
    CHECK(bw_json_get_type(bw_event_result(event), "/isError") == BW_JSON_BOOL);
    DOES(bw_server_respond_missing_capability(pair->server, served(pair), loan("{\"sampling\":{\"tools\":{}}}")));
    event = client_tells(pair, BW_EVENT_REQUEST_FAILED);
    CHECK(bw_event_is_rpc_error(event) &&
          (is_legacy(pair) || bw_event_code(event) == BW_RPC_MISSING_CLIENT_CAPABILITY));
    bw_json_writer writer;
    DOES(bw_json_writer_init(&writer, NULL, 0));
    bw_json_begin_object(&writer);
    FAILS(BW_ERROR_WRITER_MISUSED, bw_server_respond_written(pair->server, served(pair), &writer));
    bw_json_begin_object(&writer);
    bw_json_put_key(&writer, BW_LITERAL("content"));
    bw_json_begin_array(&writer);
    bw_json_end_array(&writer);
    bw_json_end_object(&writer);
    DOES(bw_server_respond_written(pair->server, served(pair), &writer));
    event = client_tells(pair, BW_EVENT_RESPONSE_RECEIVED);
    CHECK(bw_json_get_type(bw_event_result(event), "/content") == BW_JSON_ARRAY);
    char buffer[64];
    DOES(bw_json_writer_init(&writer, buffer, sizeof buffer));
    bw_json_put_json(&writer, BW_LITERAL("{\"content\":[]}"));
    DOES(bw_server_respond_written(pair->server, served(pair), &writer));
    client_tells(pair, BW_EVENT_RESPONSE_RECEIVED);
    bw_json_writer_free(&writer);
}

TEST(bounds_of_requests)
{
    struct pair pair = new_pair(false, BW_REVISION_2025_11_25);
    uint64_t request = 0;
    DOES(bw_client_config_set_limit(pair.client_config, BW_LIMIT_QUEUED_REQUESTS, 1));
    DOES(bw_client_config_set_limit(pair.client_config, BW_LIMIT_REQUESTS_IN_FLIGHT, 2));
    make_pair(&pair);
    DOES(bw_client_call_tool(pair.client, 0, loan("t"), bw_none(), NULL, &request));
    FAILS(BW_ERROR_LIMIT_QUEUED_REQUESTS, bw_client_call_tool(pair.client, 0, loan("t"), bw_none(), NULL, &request));
    free_pair(&pair);
    pair = new_pair(false, BW_REVISION_2025_11_25);
    DOES(bw_client_config_set_limit(pair.client_config, BW_LIMIT_REQUESTS_IN_FLIGHT, 2));
    join_pair(&pair);
    call(&pair);
    call(&pair);
    FAILS(BW_ERROR_LIMIT_REQUESTS_IN_FLIGHT, bw_client_call_tool(pair.client, 0, loan("t"), bw_none(), NULL, &request));
    free_pair(&pair);
}

TEST(bounds_of_subscriptions)
{
    struct pair pair = new_pair(false, BW_REVISION_2025_11_25);
    bw_bytes uris[] = {BW_LITERAL("test:one"), BW_LITERAL("test:two")};
    bw_subscription_filter filter;
    uint64_t subscription = 0;
    memset(&filter, 0, sizeof filter);
    filter.uris = uris;
    filter.uri_count = 2;
    DOES(bw_client_config_set_limit(pair.client_config, BW_LIMIT_SUBSCRIPTIONS, 1));
    DOES(bw_client_config_set_limit(pair.client_config, BW_LIMIT_WATCHED_RESOURCES, 1));
    join_pair(&pair);
    FAILS(BW_ERROR_LIMIT_WATCHED_RESOURCES, bw_client_subscribe(pair.client, 0, &filter, &subscription));
    filter.uri_count = 1;
    DOES(bw_client_subscribe(pair.client, 0, &filter, &subscription));
    FAILS(BW_ERROR_LIMIT_SUBSCRIPTIONS, bw_client_subscribe(pair.client, 0, &filter, &subscription));
    free_pair(&pair);
}

TEST(bounds_of_questions)
{
    struct pair pair = new_pair(false, BW_REVISION_2026_07_28);
    bw_question questions[2];
    DOES(bw_server_config_set_limit(pair.server_config, BW_LIMIT_ROUNDS, 1));
    DOES(bw_server_config_set_limit(pair.server_config, BW_LIMIT_INPUTS, 1));
    DOES(bw_server_config_set_limit(pair.server_config, BW_LIMIT_REQUEST_STATE_BYTES, 400));
    join_pair(&pair);
    uint64_t request = served(&pair);
    for (size_t at = 0; at < 2; ++at) {
        questions[at].key = at == 0 ? BW_LITERAL("one") : BW_LITERAL("two");
        questions[at].kind = BW_INPUT_ROOTS;
        questions[at].params = BW_LITERAL("{}");
    }
    char state[500];
    memset(state, 'x', sizeof state);
    state[0] = state[sizeof state - 1] = '"';
    FAILS(BW_ERROR_LIMIT_INPUTS, bw_server_require_input(pair.server, 0, request, questions, 2, bw_none()));
    FAILS(BW_ERROR_LIMIT_REQUEST_STATE_BYTES,
          bw_server_require_input(pair.server, 0, request, questions, 1, bw_text(state, sizeof state)));
    questions[1].kind = BW_INPUT_SAMPLING;
    questions[1].params = BW_LITERAL("{\"messages\":[],\"maxTokens\":1,\"tools\":[]}");
    FAILS(BW_ERROR_MISSING_CAPABILITY, bw_server_require_input(pair.server, 0, request, questions + 1, 1, bw_none()));
    DOES(bw_server_require_input(pair.server, 0, request, questions, 1, bw_none()));
    bw_input input;
    CHECK(bw_event_input_at(client_tells(&pair, BW_EVENT_INPUT_REQUIRED), 0, &input));
    DOES(bw_client_provide_input(pair.client, 0, input.input, loan("{\"roots\":[]}")));
    request = bw_event_request(server_tells(&pair, BW_EVENT_TOOL_CALLED));
    questions[0].key = BW_LITERAL("three");
    FAILS(BW_ERROR_LIMIT_ROUNDS, bw_server_require_input(pair.server, 0, request, questions, 1, bw_none()));
    free_pair(&pair);
}

TEST(a_client_bounds_the_rounds)
{
    struct pair pair = new_pair(false, BW_REVISION_2026_07_28);
    bw_question question = {BW_LITERAL("one"), BW_INPUT_ROOTS, BW_LITERAL("{}")};
    DOES(bw_client_config_set_limit(pair.client_config, BW_LIMIT_ROUNDS, 1));
    join_pair(&pair);
    DOES(bw_server_require_input(pair.server, 0, served(&pair), &question, 1, bw_none()));
    bw_input input;
    CHECK(bw_event_input_at(client_tells(&pair, BW_EVENT_INPUT_REQUIRED), 0, &input));
    DOES(bw_client_provide_input(pair.client, 0, input.input, loan("{\"roots\":[]}")));
    question.key = BW_LITERAL("two");
    uint64_t request = bw_event_request(server_tells(&pair, BW_EVENT_TOOL_CALLED));
    DOES(bw_server_require_input(pair.server, 0, request, &question, 1, bw_none()));
    CHECK(bw_event_code(client_tells(&pair, BW_EVENT_REQUEST_FAILED)) == BW_ERROR_ROUNDS_EXCEEDED);
    free_pair(&pair);
}

TEST(a_session_moves)
{
    struct pair pair = joined(BW_REVISION_2025_11_25);
    bw_server_config *config;
    bw_server *other;
    bw_bytes text = bw_none();
    uint64_t session = 0;
    char copy[1000];
    FAILS(BW_ERROR_UNKNOWN_SESSION, bw_server_export_session(pair.server, 99, &text));
    served(&pair);
    DOES(bw_server_export_session(pair.server, 1, &text));
    CHECK(text.length > 0 && text.length < sizeof copy);
    memcpy(copy, text.data, text.length);
    text = bw_text(copy, text.length);
    FAILS(BW_ERROR_ALREADY_REGISTERED, bw_server_import_session(pair.server, text, &session));
    DOES(bw_server_config_new(loan("s"), loan("1"), SEED, &config));
    DOES(bw_server_config_set_limit(config, BW_LIMIT_SESSIONS, 0));
    DOES(bw_server_http_new(config, &other));
    FAILS(BW_ERROR_LIMIT_SESSIONS, bw_server_import_session(other, text, &session));
    bw_server_free(other);
    int32_t modern = BW_REVISION_2026_07_28;
    DOES(bw_server_config_set_revisions(config, &modern, 1));
    DOES(bw_server_new(config, &other));
    FAILS(BW_ERROR_NOT_ALLOWED_IN_REVISION, bw_server_import_session(other, text, &session));
    bw_server_free(other);
    bw_server_config_free(config);
    free_pair(&pair);
}

TEST(no_revision_is_no_machine)
{
    struct pair pair = new_pair(false, BW_REVISION_2025_11_25);
    DOES(bw_server_config_set_revisions(pair.server_config, NULL, 0));
    DOES(bw_client_config_set_revisions(pair.client_config, NULL, 0));
    FAILS(BW_ERROR_NO_COMMON_REVISION, bw_server_new(pair.server_config, &pair.server));
    FAILS(BW_ERROR_NO_COMMON_REVISION, bw_server_http_new(pair.server_config, &pair.server));
    FAILS(BW_ERROR_NO_COMMON_REVISION, bw_client_new(pair.client_config, 0, &pair.client));
    CHECK(pair.server == NULL && pair.client == NULL);
    free_pair(&pair);
}

static bw_client *lone_client(int32_t revision)
{
    struct pair pair = new_pair(false, revision);
    bw_client *client = NULL;
    DOES(bw_client_new(pair.client_config, 0, &client));
    free_pair(&pair);
    return client;
}

static const bw_event *told(bw_client *client, bw_kind kind)
{
    const bw_event *event = bw_client_poll_event(client);
    CHECK(bw_event_kind(event) == kind);
    return event;
}

TEST(handshakes_fail)
{
    uint64_t request = 0;
    bw_client *client = lone_client(BW_REVISION_2025_11_25);
    CHECK(bw_client_data_to_send(client).length > 0);
    DOES(bw_client_consume(client, SIZE_MAX));
    FAILS(BW_ERROR_HANDSHAKE_FAILED,
          bw_client_receive_data(client, 0, loan("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n")));
    CHECK(bw_event_code(told(client, BW_EVENT_DISCONNECTED)) == BW_ERROR_INVALID_HANDSHAKE);
    FAILS(BW_ERROR_HANDSHAKE_FAILED, bw_client_ping(client, 0, NULL, &request));
    CHECK(bw_client_is_finished(client));
    bw_client_free(client);
    client = lone_client(BW_REVISION_2025_11_25);
    uint64_t due = bw_client_poll_timeout(client);
    CHECK(due == 30000);
    DOES(bw_client_handle_timeout(client, due - 1));
    bw_client_handle_timeout(client, due);
    CHECK(bw_event_code(told(client, BW_EVENT_DISCONNECTED)) == BW_ERROR_HANDSHAKE_TIMED_OUT);
    bw_client_free(client);
}

TEST(a_server_that_ends_on_the_probe_is_started_again)
{
    bw_client_config *config;
    bw_client *client;
    DOES(bw_client_config_new(loan("c"), loan("1"), SEED, &config));
    DOES(bw_client_new(config, 0, &client));
    CHECK(bw_client_data_to_send(client).length > 0);
    DOES(bw_client_consume(client, SIZE_MAX));
    DOES(bw_client_receive_eof(client, 0));
    told(client, BW_EVENT_RESTART_REQUIRED);
    DOES(bw_client_restart(client, 0));
    CHECK(bw_client_data_to_send(client).length > 0);
    bw_client_free(client);
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_client_config_set_era_verdict(config, loan("2024-01-01")));
    DOES(bw_client_config_set_era_verdict(config, loan("2025-06-18")));
    DOES(bw_client_new(config, 0, &client));
    bw_bytes first = bw_client_data_to_send(client), method;
    DOES(bw_json_get(bw_text((const char *)first.data, first.length - 1), "/method", &method));
    READS("\"initialize\"", method);
    bw_client_free(client);
    bw_client_config_free(config);
}

TEST_EVERYWHERE(time_passes)
{
    DOES(bw_client_config_set_timeout(pair->client_config, BW_TIMEOUT_REQUEST, 100));
    join_pair(pair);
    uint64_t request = call(pair);
    server_tells(pair, BW_EVENT_TOOL_CALLED);
    CHECK(bw_client_poll_timeout(pair->client) == 100);
    DOES(bw_client_handle_timeout(pair->client, 99));
    CHECK(bw_client_poll_event(pair->client) == NULL);
    DOES(bw_client_handle_timeout(pair->client, 100));
    const bw_event *event = client_tells(pair, BW_EVENT_REQUEST_FAILED);
    CHECK(bw_event_request(event) == request && bw_event_code(event) == BW_ERROR_TIMED_OUT);
    CHECK(bw_event_message(event).length > 0);
    DOES(bw_server_handle_timeout(pair->server, 100));
    CHECK(bw_server_poll_timeout(pair->server) > 100);
}

TEST_EVERYWHERE(this_side_closes)
{
    join_pair(pair);
    uint64_t request = call(pair), other = 0;
    server_tells(pair, BW_EVENT_TOOL_CALLED);
    DOES(bw_client_close(pair->client));
    const bw_event *event = client_tells(pair, BW_EVENT_REQUEST_FAILED);
    CHECK(bw_event_request(event) == request && bw_event_code(event) == BW_ERROR_CONNECTION_LOST);
    CHECK(bw_event_code(client_tells(pair, BW_EVENT_DISCONNECTED)) == BW_ERROR_CLOSED_BY_US);
    FAILS(BW_ERROR_CLOSED_BY_US, bw_client_ping(pair->client, 0, NULL, &other));
    DOES(bw_server_close(pair->server));
    while ((event = bw_server_poll_event(pair->server)) != NULL && bw_event_kind(event) != BW_EVENT_DISCONNECTED)
        CHECK(bw_event_kind(event) == BW_EVENT_REQUEST_CANCELLED || bw_event_kind(event) == BW_EVENT_SESSION_CLOSED);
    CHECK(bw_event_code(event) == BW_ERROR_CLOSED_BY_US);
}

TEST(the_other_side_closes)
{
    uint64_t request = 0;
    struct pair pair = joined(BW_REVISION_2025_11_25);
    bw_client_receive_eof(pair.client, 0);
    CHECK(bw_event_code(told(pair.client, BW_EVENT_DISCONNECTED)) == BW_ERROR_CLOSED_BY_PEER);
    FAILS(BW_ERROR_CLOSED_BY_PEER, bw_client_ping(pair.client, 0, NULL, &request));
    CHECK(bw_client_is_finished(pair.client));
    free_pair(&pair);
    pair = joined(BW_REVISION_2025_11_25);
    bw_client_connection_lost(pair.client, 0);
    CHECK(bw_event_code(told(pair.client, BW_EVENT_DISCONNECTED)) == BW_ERROR_TRANSPORT_LOST);
    FAILS(BW_ERROR_TRANSPORT_LOST, bw_client_ping(pair.client, 0, NULL, &request));
    bw_server_connection_lost(pair.server, 0);
    CHECK(bw_server_is_finished(pair.server));
    free_pair(&pair);
}

TEST(what_waits_to_be_sent_holds_up_no_end)
{
    static char text[200000];
    struct pair pair = joined(BW_REVISION_2025_11_25);
    memset(text, 'x', sizeof text);
    DOES(bw_server_respond_text(pair.server, served(&pair), bw_text(text, sizeof text)));
    CHECK(bw_server_data_to_send(pair.server).length > sizeof text);
    DOES(bw_server_consume(pair.server, 1));
    CHECK(!bw_server_is_finished(pair.server));
    DOES(bw_server_connection_lost(pair.server, 0));
    CHECK(bw_server_data_to_send(pair.server).length == 0);
    CHECK(bw_server_is_finished(pair.server));
    for (int at = 0; at < 20; ++at)
        DOES(bw_client_notify(pair.client, loan("com.example/told"), bw_none()));
    CHECK(bw_client_data_to_send(pair.client).length > 0);
    DOES(bw_client_connection_lost(pair.client, 0));
    CHECK(bw_client_is_finished(pair.client));
    free_pair(&pair);
}

TEST(a_server_drains)
{
    struct pair pair = joined(BW_REVISION_2026_07_28);
    uint64_t first = served(&pair);
    uint64_t second = served(&pair);
    DOES(bw_server_receive_eof(pair.server, 0));
    DOES(bw_server_respond_text(pair.server, first, loan("owed")));
    CHECK(bw_client_data_to_send(pair.client).length == 0 && bw_server_data_to_send(pair.server).length > 0);
    CHECK(bw_server_poll_timeout(pair.server) == 10000);
    DOES(bw_server_handle_timeout(pair.server, 10000));
    const bw_event *event;
    while ((event = bw_server_poll_event(pair.server)) != NULL && bw_event_kind(event) != BW_EVENT_DRAINED)
        CHECK(bw_event_kind(event) == BW_EVENT_REQUEST_CANCELLED);
    CHECK(bw_event_abandoned_count(event) == 1);
    CHECK(bw_event_abandoned(event, 0) == second && bw_event_abandoned(event, 1) == 0);
    event = server_tells(&pair, BW_EVENT_DISCONNECTED);
    CHECK(!bw_server_is_finished(pair.server) || bw_server_data_to_send(pair.server).length == 0);
    DOES(bw_server_consume(pair.server, SIZE_MAX));
    CHECK(bw_server_is_finished(pair.server));
    free_pair(&pair);
}

TEST(drained_is_told)
{
    struct pair pair = joined(BW_REVISION_2026_07_28);
    DOES(bw_server_receive_eof(pair.server, 0));
    CHECK(bw_event_abandoned_count(server_tells(&pair, BW_EVENT_DRAINED)) == 0);
    free_pair(&pair);
}

TEST(faults_of_the_peer_are_told)
{
    struct pair pair = joined(BW_REVISION_2025_11_25);
    DOES(bw_client_receive_data(pair.client, 0, loan("noise \xff\n")));
    const bw_event *event = client_tells(&pair, BW_EVENT_MESSAGE_DISCARDED);
    CHECK(bw_event_violation(event) == BW_VIOLATION_NOT_UTF8 || bw_event_violation(event) == BW_VIOLATION_NOT_JSON);
    READS("noise \xff", bw_event_bytes(event));
    CHECK(bw_event_violation_text(event).length > 0);
    DOES(bw_server_receive_data(
        pair.server, 0,
        loan("\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"tool\"}}\n")));
    server_tells(&pair, BW_EVENT_TOOL_CALLED);
    event = server_tells(&pair, BW_EVENT_VIOLATION_TOLERATED);
    CHECK(bw_event_violation(event) == BW_VIOLATION_BYTE_ORDER_MARK);
    uint64_t request = call(&pair);
    bw_bytes line = bw_client_data_to_send(pair.client), id;
    char answer[100] = "{\"jsonrpc\":\"2.0\",\"result\":7,\"id\":";
    DOES(bw_json_get(bw_text((const char *)line.data, line.length - 1), "/id", &id));
    strncat(answer, (const char *)id.data, id.length);
    strcat(answer, "}\n");
    DOES(bw_client_receive_data(pair.client, 0, loan(answer)));
    client_tells(&pair, BW_EVENT_MESSAGE_DISCARDED);
    event = client_tells(&pair, BW_EVENT_REQUEST_FAILED);
    CHECK(bw_event_request(event) == request && bw_event_code(event) == BW_ERROR_INVALID_RESULT);
    free_pair(&pair);
}

TEST(intake_is_bounded)
{
    struct pair pair = new_pair(false, BW_REVISION_2026_07_28);
    DOES(bw_server_config_set_limit(pair.server_config, BW_LIMIT_REQUESTS_IN_FLIGHT, 2));
    join_pair(&pair);
    CHECK(bw_server_wants_input(pair.server) && bw_client_wants_input(pair.client));
    served(&pair);
    CHECK(!bw_server_wants_input(pair.server));
    free_pair(&pair);
}

TEST(a_child_is_ended)
{
    bw_client_config *config;
    bw_child_shutdown *child = NULL;
    DOES(bw_client_config_new(loan("c"), loan("1"), SEED, &config));
    DOES(bw_client_config_set_timeout(config, BW_TIMEOUT_CHILD_EXIT, 5));
    DOES(bw_client_config_set_timeout(config, BW_TIMEOUT_CHILD_TERMINATE, 7));
    DOES(bw_child_shutdown_new(config, &child));
    bw_client_config_free(config);
    CHECK(bw_child_shutdown_poll_action(child, 0) == BW_CHILD_NOTHING);
    CHECK(bw_child_shutdown_poll_timeout(child) == BW_NEVER);
    DOES(bw_child_shutdown_start(child));
    CHECK(bw_child_shutdown_poll_action(child, 10) == BW_CHILD_CLOSE_INPUT);
    CHECK(bw_child_shutdown_poll_action(child, 10) == BW_CHILD_NOTHING);
    CHECK(bw_child_shutdown_poll_timeout(child) == 15);
    DOES(bw_child_shutdown_handle_timeout(child, 15));
    CHECK(bw_child_shutdown_poll_action(child, 15) == BW_CHILD_TERMINATE);
    DOES(bw_child_shutdown_handle_timeout(child, 22));
    CHECK(bw_child_shutdown_poll_action(child, 22) == BW_CHILD_KILL);
    CHECK(!bw_child_shutdown_is_finished(child));
    DOES(bw_child_shutdown_exited(child));
    CHECK(bw_child_shutdown_is_finished(child));
    bw_child_shutdown_free(child);
}

TEST(the_end_of_time_is_a_time)
{
    struct pair pair = joined(BW_REVISION_2026_07_28);
    bw_question question = {BW_LITERAL("key"), BW_INPUT_ROOTS, BW_LITERAL("{}")};
    uint64_t request = served(&pair);
    DOES(bw_server_require_input(pair.server, UINT64_MAX, request, &question, 1, bw_none()));
    client_tells(&pair, BW_EVENT_INPUT_REQUIRED);
    free_pair(&pair);
}

/* Lengths that no memory has: nothing is read, and nothing is computed of them that could go wrong. */
TEST(lengths_beyond_all_memory_are_refused)
{
    struct pair pair = joined(BW_REVISION_2025_11_25);
    bw_bytes text = BW_LITERAL("x"), many[2];
    bw_question question = {text, BW_INPUT_ROOTS, text};
    uint64_t request = served(&pair), number = 0;
    text.length = SIZE_MAX;
    many[0] = many[1] = question.key = question.params = text;
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_respond(pair.server, request, text));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_respond_text(pair.server, request, text));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_respond_error(pair.server, request, 1, text, text));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_respond_missing_capability(pair.server, request, text));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_respond_invalid_arguments(pair.server, request, text));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_respond_resource_text(pair.server, request, text, text, text));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_respond_resource_blob(pair.server, request, many[0], bw_none(), text));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_respond_completion(pair.server, request, many, 2));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_respond_completion(pair.server, request, many, SIZE_MAX));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_require_input(pair.server, 0, request, &question, 1, text));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_notify_log(pair.server, request, 1, text, text, NULL));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_notify(pair.server, request, text, text, NULL));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_log(pair.server, 1, text, text));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_request(pair.server, 0, 1, text, text, &number));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_import_session(pair.server, text, &number));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_add_tool(pair.server, text));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_receive_data(pair.server, 0, text));
    DOES(bw_server_respond_text(pair.server, request, loan("well")));
    client_tells(&pair, BW_EVENT_RESPONSE_RECEIVED);
    free_pair(&pair);
}
