/* Who owns what and for how long. AddressSanitizer and Valgrind see whatever breaks these rules. */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

/* A copy in memory of its own, to be spoiled and freed when the call is over. */
static char *copied(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    strcpy(copy, text);
    return copy;
}

static void spoil(char *copy)
{
    memset(copy, '!', strlen(copy));
    free(copy);
}

TEST_EVERYWHERE(what_is_given_is_read_during_the_call)
{
    char *name = copied("borrowed"), *uri = copied("x:y");
    unsigned char *seed = calloc(BW_SEED_BYTES, 1);
    bw_server_config *config;
    DOES(bw_server_config_new(bw_string(name), bw_string(name), seed, &config));
    bw_server_config_free(pair->server_config);
    pair->server_config = config;
    free(seed);
    spoil(name);
    join_pair(pair);
    char *definition = copied("{\"uri\":\"x:y\",\"name\":\"r\"}");
    DOES(bw_server_add_resource(pair->server, bw_string(definition)));
    spoil(definition);
    if (is_legacy(pair))
        client_tells(pair, BW_EVENT_LIST_CHANGED);
    uint64_t request = 0;
    DOES(bw_client_read_resource(pair->client, 0, bw_string(uri), NULL, &request));
    spoil(uri);
    const bw_event *event = server_tells(pair, BW_EVENT_RESOURCE_READ_REQUESTED);
    READS("x:y", bw_event_uri(event));
    char *result = copied("{\"contents\":[]}");
    DOES(bw_server_respond(pair->server, bw_event_request(event), bw_string(result)));
    spoil(result);
    event = client_tells(pair, BW_EVENT_RESPONSE_RECEIVED);
    CHECK(bw_json_get_type(bw_event_result(event), "/contents") == BW_JSON_ARRAY);
}

TEST_EVERYWHERE(configurations_stay_the_callers)
{
    bw_server *one = NULL, *two = NULL;
    for (int round = 0; round < 2; ++round) {
        bw_server **server = round == 0 ? &one : &two;
        DOES(pair->is_http ? bw_server_http_new(pair->server_config, server)
                           : bw_server_new(pair->server_config, server));
        DOES(bw_server_config_set_title(pair->server_config, loan("later")));
    }
    bw_server_free(one);
    DOES(bw_server_add_prompt(two, loan("{\"name\":\"p\"}")));
    bw_server_free(two);
}

TEST_EVERYWHERE(an_event_outlives_commands)
{
    join_pair(pair);
    uint64_t request = 0;
    DOES(bw_client_call_tool(pair->client, 0, loan("tool"), loan("{\"a\":\"b\"}"), NULL, &request));
    const bw_event *event = server_tells(pair, BW_EVENT_TOOL_CALLED);
    bw_bytes arguments = bw_event_arguments(event), name = bw_event_name(event);
    DOES(bw_server_respond(pair->server, bw_event_request(event), loan("{\"content\":[]}")));
    DOES(bw_server_remove_tool(pair->server, name));
    DOES(bw_server_handle_timeout(pair->server, 1));
    carry(pair);
    FAILS(BW_ERROR_ALREADY_ANSWERED, bw_server_respond(pair->server, bw_event_request(event), loan("{}")));
    READS("{\"a\":\"b\"}", arguments);
    READS("tool", name);
    CHECK(bw_event_arguments(event).data == arguments.data && bw_event_kind(event) == BW_EVENT_TOOL_CALLED);
    /* What the client is told lives on while it goes on, too. */
    const bw_event *told = bw_client_poll_event(pair->client);
    while (bw_event_kind(told) != BW_EVENT_RESPONSE_RECEIVED)
        told = bw_client_poll_event(pair->client);
    bw_bytes result = bw_event_result(told);
    DOES(bw_client_list(pair->client, 0, BW_LISTING_TOOLS, bw_none(), NULL, &request));
    CHECK(bw_json_get_type(result, "/content") == BW_JSON_ARRAY);
}

TEST_EVERYWHERE(a_machine_is_freed_with_all_it_lent)
{
    join_pair(pair);
    uint64_t request = 0;
    DOES(bw_client_call_tool(pair->client, 0, loan("tool"), bw_none(), NULL, &request));
    server_tells(pair, BW_EVENT_TOOL_CALLED);
    FAILS(BW_ERROR_UNKNOWN_REQUEST, bw_server_respond(pair->server, 99999, loan("{}")));
    DOES(bw_client_list(pair->client, 0, BW_LISTING_TOOLS, bw_none(), NULL, &request));
    carry(pair);
}

TEST(bytes_to_send_are_lent_until_they_are_consumed)
{
    struct pair pair = new_pair(false, BW_REVISION_2025_11_25);
    make_pair(&pair);
    bw_bytes data = bw_client_data_to_send(pair.client), again;
    CHECK(data.length > 10);
    /* Const functions leave it as it is. */
    READS("", bw_client_error_message(pair.client));
    CHECK(data.data[0] == '{');
    again = bw_client_data_to_send(pair.client);
    CHECK(again.length == data.length && again.data[0] == '{');
    DOES(bw_client_consume(pair.client, 3));
    again = bw_client_data_to_send(pair.client);
    CHECK(again.length == data.length - 3);
    DOES(bw_client_consume(pair.client, SIZE_MAX));
    CHECK(bw_client_data_to_send(pair.client).length == 0);
    free_pair(&pair);
}

TEST(what_a_failed_call_leaves)
{
    struct pair pair = new_pair(false, BW_REVISION_2025_11_25);
    uint64_t request = 42;
    bw_bytes text = BW_LITERAL("before");
    bw_server *server = NULL;
    join_pair(&pair);
    FAILS(BW_ERROR_METHOD_NOT_ALLOWED,
          bw_client_request(pair.client, 0, loan("initialize"), bw_none(), NULL, &request));
    FAILS(BW_ERROR_UNKNOWN_SESSION, bw_server_export_session(pair.server, 77, &text));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_new(NULL, &server));
    CHECK(request == 42 && server == NULL);
    READS("before", text);
    free_pair(&pair);
}

TEST(parts_of_responses_are_lent_until_the_next)
{
    struct pair pair = new_pair(true, BW_REVISION_2026_07_28);
    bw_http_transmit transmit, next;
    bw_request_head head;
    bw_response_part part;
    bw_pair headers[32];
    uint64_t exchange = 0;
    make_pair(&pair);
    CHECK(bw_client_http_poll_transmit(pair.client, 0, &transmit));
    memset(&head, 0, sizeof head);
    headers[0].name = BW_LITERAL("host");
    headers[0].value = BW_LITERAL("localhost");
    memcpy(headers + 1, transmit.headers, transmit.header_count * sizeof *headers);
    head.method = transmit.method;
    head.headers = headers;
    head.header_count = transmit.header_count + 1;
    /* Other functions leave what was given alone. */
    bw_client_poll_event(pair.client);
    bw_client_poll_timeout(pair.client);
    DOES(bw_server_http_receive_whole(pair.server, 0, &head, transmit.body, &exchange));
    CHECK(bw_server_http_poll_response(pair.server, exchange, &part) && part.status == 200);
    bw_server_poll_event(pair.server);
    CHECK(bw_server_http_poll_ready(pair.server) == 0);
    DOES(bw_client_http_receive_head(pair.client, 0, transmit.exchange, part.status, part.headers, part.header_count));
    DOES(bw_client_http_receive_body(pair.client, 0, transmit.exchange, part.data));
    DOES(bw_client_http_receive_end(pair.client, 0, transmit.exchange));
    CHECK(!bw_client_http_poll_transmit(pair.client, 0, &next));
    client_tells(&pair, BW_EVENT_READY);
    free_pair(&pair);
}

TEST(nothing_is_something_to_free)
{
    bw_server_free(NULL);
    bw_client_free(NULL);
    bw_server_config_free(NULL);
    bw_client_config_free(NULL);
    bw_child_shutdown_free(NULL);
    bw_json_writer_free(NULL);
}
