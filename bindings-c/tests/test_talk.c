/* What client and server say to each other: the same over bytes and over HTTP, in both eras. */
#include "pair.h"

#include <string.h>

static uint64_t call(struct pair *pair, const char *arguments)
{
    uint64_t request = 0;
    bw_request_options options;
    memset(&options, 0, sizeof options);
    options.progress = true;
    options.log_level = is_legacy(pair) ? 0 : BW_LOG_LEVEL_DEBUG;
    options.meta = loan("{\"com.example/trace\":1}");
    DOES(bw_client_call_tool(pair->client, pair->now, loan("tool"), loan(arguments), &options, &request));
    CHECK(request != 0);
    return request;
}

TEST_EVERYWHERE(a_tool_is_called)
{
    join_pair(pair);
    uint64_t request = call(pair, "{\"text\":\"x\"}");
    const bw_event *event = server_tells(pair, BW_EVENT_TOOL_CALLED);
    READS("tool", bw_event_name(event));
    READS("{\"text\":\"x\"}", bw_event_arguments(event));
    CHECK(bw_event_revision(event) == pair->revision);
    CHECK(bw_json_get_type(bw_event_peer(event), "/name") == BW_JSON_STRING);
    CHECK(bw_json_get_type(bw_event_capabilities(event), "/roots") == BW_JSON_OBJECT);
    CHECK(bw_event_has_capability(event, BW_CAPABILITY_ELICITATION_URL));
    CHECK(!bw_event_has_capability(event, BW_CAPABILITY_SAMPLING_TOOLS));
    CHECK(!bw_event_has_capability(event, 99));
    CHECK(bw_is_some(bw_event_progress_token(event)));
    CHECK(bw_json_get_type(bw_event_meta(event), "/com.example~1trace") == BW_JSON_NUMBER);
    READS(pair->is_http ? "ada" : NULL, bw_event_principal(event));
    CHECK((bw_event_exchange(event) != 0) == pair->is_http);
    CHECK((bw_event_session(event) != 0) == is_legacy(pair));
    READS(NULL, bw_event_state(event));
    READS(NULL, bw_event_uri(event));
    CHECK(bw_event_answer_count(event) == 0 && bw_event_input_count(event) == 0);
    DOES(bw_server_respond_text(pair->server, bw_event_request(event), loan("done \"\n")));
    event = client_tells(pair, BW_EVENT_RESPONSE_RECEIVED);
    CHECK(bw_event_request(event) == request && bw_event_code(event) == 0 && !bw_event_is_rpc_error(event));
    char buffer[16];
    bw_bytes text;
    DOES(bw_json_get_string(bw_event_result(event), "/content/0/text", buffer, sizeof buffer, &text));
    READS("done \"\n", text);
    nothing_is_told(pair);
}

TEST_EVERYWHERE(progress_and_logs_are_told)
{
    join_pair(pair);
    uint64_t request = call(pair, "{}"), set = 0;
    double total = 0;
    bool sent = false;
    const bw_event *event = server_tells(pair, BW_EVENT_TOOL_CALLED);
    uint64_t served = bw_event_request(event);
    if (is_legacy(pair)) {
        DOES(bw_client_set_log_level(pair->client, 0, BW_LOG_LEVEL_DEBUG, &set));
        client_tells(pair, BW_EVENT_RESPONSE_RECEIVED);
    } else {
        CHECK(bw_event_log_level(event) == BW_LOG_LEVEL_DEBUG);
    }
    DOES(bw_server_notify_progress(pair->server, served, 1, 4, loan("quarter"), &sent));
    CHECK(sent);
    event = client_tells(pair, BW_EVENT_PROGRESS_RECEIVED);
    CHECK(bw_event_request(event) == request && bw_event_is_increasing(event));
    CHECK(bw_event_progress(event) > 0.9 && bw_event_total(event, &total) && total > 3.9);
    READS("quarter", bw_event_message(event));
    DOES(bw_server_notify_progress(pair->server, served, 1, 4, bw_none(), &sent));
    CHECK(!sent);
    DOES(bw_server_notify_progress(pair->server, served, 2, -1, bw_none(), NULL));
    event = client_tells(pair, BW_EVENT_PROGRESS_RECEIVED);
    CHECK(!bw_event_total(event, &total));
    READS(NULL, bw_event_message(event));
    DOES(bw_server_notify_log(pair->server, served, BW_LOG_LEVEL_ERROR, loan("disk"), loan("{\"full\":true}"), &sent));
    CHECK(sent);
    event = client_tells(pair, BW_EVENT_LOG_RECEIVED);
    CHECK(bw_event_log_level(event) == BW_LOG_LEVEL_ERROR);
    READS("disk", bw_event_logger(event));
    READS("{\"full\":true}", bw_event_data(event));
    DOES(bw_server_notify(pair->server, served, loan("notifications/example"), loan("{\"x\":1}"), &sent));
    CHECK(sent);
    event = client_tells(pair, BW_EVENT_NOTIFICATION_RECEIVED);
    READS("notifications/example", bw_event_method(event));
    READS("{\"x\":1}", bw_event_params(event));
    FAILS(BW_ERROR_INVALID_JSON, bw_server_notify(pair->server, served, loan("x/y"), loan("[]"), &sent));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_notify_log(pair->server, served, 9, bw_none(), loan("1"), &sent));
    FAILS(BW_ERROR_INVALID_JSON, bw_server_notify_log(pair->server, served, 5, bw_none(), loan("x"), &sent));
    DOES(bw_server_respond_tool_error(pair->server, served, loan("no")));
    event = client_tells(pair, BW_EVENT_RESPONSE_RECEIVED);
    CHECK(bw_json_get_type(bw_event_result(event), "/isError") == BW_JSON_BOOL);
}

TEST(a_legacy_session_is_logged_to)
{
    struct pair pair = new_pair(false, BW_REVISION_2025_06_18);
    join_pair(&pair);
    DOES(bw_client_set_log_level(pair.client, 0, BW_LOG_LEVEL_WARNING, NULL));
    client_tells(&pair, BW_EVENT_RESPONSE_RECEIVED);
    DOES(bw_server_log(pair.server, BW_LOG_LEVEL_INFO, bw_none(), loan("\"low\"")));
    DOES(bw_server_log(pair.server, BW_LOG_LEVEL_ALERT, bw_none(), loan("\"high\"")));
    READS("\"high\"", bw_event_data(client_tells(&pair, BW_EVENT_LOG_RECEIVED)));
    nothing_is_told(&pair);
    free_pair(&pair);
}

TEST_EVERYWHERE(resources_are_read)
{
    join_pair(pair);
    uint64_t request = 0;
    bw_pair variable;
    DOES(bw_client_read_resource(pair->client, 0, loan("test:big/a%20b"), NULL, &request));
    const bw_event *event = server_tells(pair, BW_EVENT_RESOURCE_READ_REQUESTED);
    READS("test:big/a%20b", bw_event_uri(event));
    READS("test:{kind}/{id}", bw_event_template(event));
    CHECK(bw_event_variable_count(event) == 2);
    CHECK(bw_event_variable_at(event, 1, &variable));
    READS("id", variable.name);
    READS("a b", variable.value);
    CHECK(!bw_event_variable_at(event, 2, &variable));
    READS("big", bw_event_variable(event, loan("kind")));
    READS(NULL, bw_event_variable(event, loan("other")));
    DOES(bw_server_respond_resource_text(pair->server, bw_event_request(event), bw_event_uri(event), loan("text/plain"),
                                         loan("words")));
    bw_bytes text;
    event = client_tells(pair, BW_EVENT_RESPONSE_RECEIVED);
    DOES(bw_json_get(bw_event_result(event), "/contents/0/text", &text));
    READS("\"words\"", text);
    uint64_t ttl = 7;
    int32_t scope = 7;
    CHECK(bw_event_freshness(event, &ttl, &scope) == !is_legacy(pair));
    CHECK(is_legacy(pair) ? ttl == 7 && scope == 7 : ttl == 0 && scope == BW_CACHE_PRIVATE);
    CHECK(bw_event_freshness(event, NULL, NULL) == !is_legacy(pair));
    DOES(bw_client_read_resource(pair->client, 0, loan("test:one"), NULL, &request));
    event = server_tells(pair, BW_EVENT_RESOURCE_READ_REQUESTED);
    READS(NULL, bw_event_template(event));
    DOES(bw_server_respond_resource_blob(pair->server, bw_event_request(event), bw_event_uri(event), bw_none(),
                                         bw_text("\0\xff", 2)));
    event = client_tells(pair, BW_EVENT_RESPONSE_RECEIVED);
    DOES(bw_json_get(bw_event_result(event), "/contents/0/blob", &text));
    READS("\"AP8=\"", text);
    CHECK(bw_json_get_type(bw_event_result(event), "/contents/0/mimeType") == BW_JSON_NONE);
    DOES(bw_client_read_resource(pair->client, 0, loan("test:none"), NULL, &request));
    event = client_tells(pair, BW_EVENT_REQUEST_FAILED);
    CHECK(bw_event_is_rpc_error(event) && bw_event_request(event) == request);
    CHECK(bw_event_code(event) == (is_legacy(pair) ? BW_RPC_RESOURCE_NOT_FOUND : BW_RPC_INVALID_PARAMS));
}

TEST_EVERYWHERE(prompts_are_given_and_completed)
{
    join_pair(pair);
    uint64_t request = 0;
    DOES(bw_client_get_prompt(pair->client, 0, loan("prompt"), loan("{\"who\":\"me\"}"), NULL, &request));
    const bw_event *event = server_tells(pair, BW_EVENT_PROMPT_REQUESTED);
    READS("prompt", bw_event_name(event));
    READS("{\"who\":\"me\"}", bw_event_arguments(event));
    DOES(bw_server_respond_prompt_text(pair->server, bw_event_request(event), loan("Say hello.")));
    bw_bytes text;
    event = client_tells(pair, BW_EVENT_RESPONSE_RECEIVED);
    DOES(bw_json_get(bw_event_result(event), "/messages/0/content/text", &text));
    READS("\"Say hello.\"", text);
    FAILS(BW_ERROR_ARGUMENT_NOT_STRING,
          bw_client_get_prompt(pair->client, 0, loan("prompt"), loan("{\"who\":1}"), NULL, &request));
    DOES(bw_client_complete(pair->client, 0, BW_COMPLETION_PROMPT, loan("prompt"), loan("who"), loan("m"),
                            loan("{\"x\":\"y\"}"), NULL, &request));
    event = server_tells(pair, BW_EVENT_COMPLETION_REQUESTED);
    READS("prompt", bw_event_name(event));
    READS("who", bw_event_argument(event));
    READS("m", bw_event_value(event));
    READS("{\"x\":\"y\"}", bw_event_arguments(event));
    bw_bytes values[101];
    for (size_t at = 0; at < 101; ++at)
        values[at] = BW_LITERAL("me");
    DOES(bw_server_respond_completion(pair->server, bw_event_request(event), values, 101));
    event = client_tells(pair, BW_EVENT_RESPONSE_RECEIVED);
    size_t count;
    int64_t total;
    DOES(bw_json_get_length(bw_event_result(event), "/completion/values", &count));
    DOES(bw_json_get_i64(bw_event_result(event), "/completion/total", &total));
    CHECK(count == 100 && total == 101);
    DOES(bw_client_complete(pair->client, 0, BW_COMPLETION_RESOURCE, loan("test:{kind}/{id}"), loan("id"), loan(""),
                            bw_none(), NULL, &request));
    event = server_tells(pair, BW_EVENT_COMPLETION_REQUESTED);
    READS("test:{kind}/{id}", bw_event_uri(event));
    READS("", bw_event_value(event));
    bw_bytes form = loan("{\"message\":\"?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}");
    bw_question question = {BW_LITERAL("q"), BW_INPUT_ELICITATION, form};
    uint64_t served = bw_event_request(event);
    FAILS(BW_ERROR_INPUT_NOT_POSSIBLE, bw_server_require_input(pair->server, 0, served, &question, 1, bw_none()));
    DOES(bw_server_respond_completion(pair->server, served, NULL, 0));
    client_tells(pair, BW_EVENT_RESPONSE_RECEIVED);
    FAILS(BW_ERROR_INVALID_ARGUMENT,
          bw_client_complete(pair->client, 0, 3, loan("prompt"), loan("who"), loan("m"), bw_none(), NULL, &request));
}

TEST_EVERYWHERE(lists_come_page_by_page)
{
    DOES(bw_server_config_set_limit(pair->server_config, BW_LIMIT_PAGE_ITEMS, 1));
    join_pair(pair);
    uint64_t request = 0;
    char buffer[500];
    bw_bytes cursor, name;
    DOES(bw_server_add_tool(pair->server, loan("{\"name\":\"two\",\"inputSchema\":{\"type\":\"object\"}}")));
    if (is_legacy(pair))
        client_tells(pair, BW_EVENT_LIST_CHANGED);
    DOES(bw_client_list(pair->client, 0, BW_LISTING_TOOLS, bw_none(), NULL, &request));
    const bw_event *event = client_tells(pair, BW_EVENT_RESPONSE_RECEIVED);
    DOES(bw_json_get_string(bw_event_result(event), "/nextCursor", buffer, sizeof buffer, &cursor));
    DOES(bw_client_list(pair->client, 0, BW_LISTING_TOOLS, cursor, NULL, &request));
    event = client_tells(pair, BW_EVENT_RESPONSE_RECEIVED);
    DOES(bw_json_get(bw_event_result(event), "/tools/0/name", &name));
    READS("\"two\"", name);
    CHECK(bw_json_get_type(bw_event_result(event), "/nextCursor") == BW_JSON_NONE);
    for (int32_t listing = BW_LISTING_RESOURCES; listing <= BW_LISTING_PROMPTS; ++listing) {
        DOES(bw_client_list(pair->client, 0, listing, bw_none(), NULL, &request));
        client_tells(pair, BW_EVENT_RESPONSE_RECEIVED);
    }
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_client_list(pair->client, 0, 5, bw_none(), NULL, &request));
}

TEST_EVERYWHERE(extensions_are_passed_on)
{
    join_pair(pair);
    uint64_t request = 0;
    DOES(bw_client_request(pair->client, 0, loan("com.example/ask"), loan("{\"a\":1}"), NULL, &request));
    const bw_event *event = server_tells(pair, BW_EVENT_REQUEST_RECEIVED);
    READS("com.example/ask", bw_event_method(event));
    int64_t one = 0;
    DOES(bw_json_get_i64(bw_event_params(event), "/a", &one));
    DOES(bw_server_respond_error(pair->server, bw_event_request(event), 77, loan("never"), loan("[1]")));
    event = client_tells(pair, BW_EVENT_REQUEST_FAILED);
    CHECK(bw_event_code(event) == 77 && bw_event_is_rpc_error(event) && bw_event_request(event) == request);
    READS("never", bw_event_message(event));
    READS("[1]", bw_event_data(event));
    DOES(bw_client_notify(pair->client, loan("notifications/com.example"), bw_none()));
    /* Modern servers know nobody whom a notification would be from. */
    if (is_legacy(pair))
        READS("notifications/com.example", bw_event_method(server_tells(pair, BW_EVENT_NOTIFICATION_RECEIVED)));
    FAILS(BW_ERROR_METHOD_NOT_ALLOWED,
          bw_client_request(pair->client, 0, loan("initialize"), bw_none(), NULL, &request));
    FAILS(BW_ERROR_INVALID_JSON, bw_client_request(pair->client, 0, loan("x/y"), loan("[1]"), NULL, &request));
    CHECK(bw_is_some(bw_client_error_message(pair->client)));
}

static const char FORM[] =
    "{\"message\":\"Who?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}}}}";

TEST_EVERYWHERE(the_client_is_asked)
{
    join_pair(pair);
    uint64_t request = call(pair, "{}");
    const bw_event *event = server_tells(pair, BW_EVENT_TOOL_CALLED);
    uint64_t served = bw_event_request(event);
    bw_question questions[] = {
        {BW_LITERAL("who"), BW_INPUT_ELICITATION, BW_LITERAL("{}")},
        {BW_LITERAL("roots"), BW_INPUT_ROOTS, BW_LITERAL("{}")},
    };
    FAILS(BW_ERROR_INVALID_DEFINITION, bw_server_require_input(pair->server, 0, served, questions, 2, bw_none()));
    questions[0].params = BW_LITERAL("{\"message\":\"?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
                                     "\"deep\":{\"type\":\"object\"}}}}");
    FAILS(BW_ERROR_INVALID_FORM_PROPERTY, bw_server_require_input(pair->server, 0, served, questions, 2, bw_none()));
    questions[0].params = loan(FORM);
    questions[0].kind = 4;
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_require_input(pair->server, 0, served, questions, 2, bw_none()));
    questions[0].kind = BW_INPUT_ELICITATION;
    FAILS(BW_ERROR_INVALID_JSON, bw_server_require_input(pair->server, 0, served, questions, 2, loan("{")));
    DOES(bw_server_require_input(pair->server, 0, served, questions, 2, loan("{\"kept\":1}")));
    bw_input input;
    /* A legacy server asks in messages of their own. */
    for (size_t asked = 0; asked < 2;) {
        event = client_tells(pair, BW_EVENT_INPUT_REQUIRED);
        size_t count = bw_event_input_count(event);
        CHECK(is_legacy(pair) ? count == 1 : count == 2 && bw_event_request(event) == request);
        CHECK(bw_event_round(event) == (is_legacy(pair) ? bw_event_round(event) : 1));
        for (size_t at = 0; at < count; ++at, ++asked) {
            CHECK(bw_event_input_at(event, at, &input) && input.input != 0);
            bool form = input.kind == BW_INPUT_ELICITATION;
            CHECK(form ? bw_json_get_type(input.params, "/message") == BW_JSON_STRING : input.kind == BW_INPUT_ROOTS);
            CHECK(bw_is_some(input.key) != is_legacy(pair));
            FAILS(BW_ERROR_INVALID_JSON, bw_client_provide_input(pair->client, 0, input.input, loan("7")));
            DOES(bw_client_provide_input(
                pair->client, 0, input.input,
                loan(form ? "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}" : "{\"roots\":[]}")));
            FAILS(BW_ERROR_UNKNOWN_INPUT, bw_client_provide_input(pair->client, 0, input.input, loan("{}")));
        }
        CHECK(!bw_event_input_at(event, count, &input));
    }
    event = server_tells(pair, BW_EVENT_TOOL_CALLED);
    bw_answer answer;
    READS("{\"kept\":1}", bw_event_state(event));
    CHECK(bw_event_round(event) == 1 && bw_event_answer_count(event) == 2);
    CHECK((bw_event_request(event) == served) == is_legacy(pair));
    CHECK(bw_event_answer(event, loan("who"), &answer) && answer.error_code == 0);
    CHECK(bw_json_get_type(answer.result, "/content/name") == BW_JSON_STRING);
    CHECK(!bw_event_answer(event, loan("else"), &answer));
    CHECK(bw_event_answer_at(event, 1, &answer) && !bw_event_answer_at(event, 2, &answer));
    DOES(bw_server_respond(pair->server, bw_event_request(event), loan("{\"content\":[]}")));
    CHECK(bw_event_request(client_tells(pair, BW_EVENT_RESPONSE_RECEIVED)) == request);
}

TEST_EVERYWHERE(a_question_is_refused)
{
    join_pair(pair);
    call(pair, "{}");
    uint64_t served = bw_event_request(server_tells(pair, BW_EVENT_TOOL_CALLED));
    bw_question question = {BW_LITERAL("who"), BW_INPUT_ELICITATION, loan(FORM)};
    DOES(bw_server_require_input(pair->server, 0, served, &question, 1, bw_none()));
    bw_input input;
    CHECK(bw_event_input_at(client_tells(pair, BW_EVENT_INPUT_REQUIRED), 0, &input));
    DOES(bw_client_refuse_input(pair->client, 0, input.input, BW_RPC_USER_REFUSED, loan("no")));
    FAILS(BW_ERROR_UNKNOWN_INPUT, bw_client_refuse_input(pair->client, 0, input.input, -1, loan("no")));
    if (is_legacy(pair)) {
        bw_answer answer;
        const bw_event *event = server_tells(pair, BW_EVENT_TOOL_CALLED);
        CHECK(bw_event_answer(event, loan("who"), &answer) && answer.error_code == BW_RPC_USER_REFUSED);
        READS("no", answer.error_message);
        READS(NULL, answer.result);
    } else {
        CHECK(bw_event_code(client_tells(pair, BW_EVENT_REQUEST_FAILED)) == BW_ERROR_INPUT_REFUSED);
    }
}

TEST_EVERYWHERE(a_request_is_cancelled)
{
    join_pair(pair);
    uint64_t request = call(pair, "{}");
    uint64_t served = bw_event_request(server_tells(pair, BW_EVENT_TOOL_CALLED));
    bool asks = is_legacy(pair);
    if (asks) {
        bw_question question = {BW_LITERAL("roots"), BW_INPUT_ROOTS, BW_LITERAL("{}")};
        DOES(bw_server_require_input(pair->server, 0, served, &question, 1, bw_none()));
        client_tells(pair, BW_EVENT_INPUT_REQUIRED);
    }
    DOES(bw_client_cancel(pair->client, request, loan("enough")));
    FAILS(BW_ERROR_UNKNOWN_REQUEST, bw_client_cancel(pair->client, request, bw_none()));
    const bw_event *event = client_tells(pair, BW_EVENT_REQUEST_FAILED);
    CHECK(bw_event_request(event) == request && bw_event_code(event) == BW_ERROR_CANCELLED);
    CHECK(!bw_event_is_rpc_error(event));
    event = server_tells(pair, BW_EVENT_REQUEST_CANCELLED);
    CHECK(bw_event_request(event) == served);
    READS(pair->is_http && !asks ? NULL : "enough", bw_event_reason(event));
    if (asks)
        CHECK(bw_event_input(client_tells(pair, BW_EVENT_INPUT_WITHDRAWN)) != 0);
    DOES(bw_server_respond_text(pair->server, served, loan("late")));
    nothing_is_told(pair);
}

TEST_EVERYWHERE(changes_are_told)
{
    join_pair(pair);
    uint64_t subscription = 0;
    bw_bytes uri = loan("test:one");
    bw_subscription_filter filter;
    memset(&filter, 0, sizeof filter);
    filter.tools = true;
    filter.uris = &uri;
    filter.uri_count = 1;
    DOES(bw_client_subscribe(pair->client, 0, &filter, &subscription));
    const bw_event *event = server_tells(pair, BW_EVENT_SUBSCRIPTION_OPENED);
    uint64_t served = bw_event_subscription(event);
    CHECK(served != 0 && bw_event_watched_uri_count(event) == 1);
    READS("test:one", bw_event_watched_uri(event, 0));
    READS(NULL, bw_event_watched_uri(event, 1));
    CHECK(bw_event_watches(event, BW_LIST_TOOLS) != is_legacy(pair));
    event = client_tells(pair, BW_EVENT_SUBSCRIPTION_ACKNOWLEDGED);
    CHECK(bw_event_subscription(event) == subscription && bw_event_watches(event, BW_LIST_TOOLS));
    CHECK(!bw_event_watches(event, BW_LIST_PROMPTS) && !bw_event_watches(event, 9));
    DOES(bw_server_publish_list_changed(pair->server, BW_LIST_TOOLS));
    event = client_tells(pair, BW_EVENT_LIST_CHANGED);
    CHECK(bw_event_list(event) == BW_LIST_TOOLS);
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_publish_list_changed(pair->server, 0));
    DOES(bw_server_publish_resource_updated(pair->server, loan("test:one")));
    event = client_tells(pair, BW_EVENT_RESOURCE_UPDATED);
    READS("test:one", bw_event_uri(event));
    DOES(bw_server_publish_resource_updated(pair->server, loan("test:two")));
    nothing_is_told(pair);
    FAILS(BW_ERROR_UNKNOWN_SUBSCRIPTION, bw_server_end_subscription(pair->server, 12345));
    if (is_legacy(pair)) {
        DOES(bw_client_unsubscribe(pair->client, 0, subscription));
        CHECK(bw_event_is_graceful(client_tells(pair, BW_EVENT_SUBSCRIPTION_ENDED)));
    } else {
        DOES(bw_server_end_subscription(pair->server, served));
    }
    CHECK(bw_event_subscription(server_tells(pair, BW_EVENT_SUBSCRIPTION_CLOSED)) == served);
    if (!is_legacy(pair))
        CHECK(bw_event_is_graceful(client_tells(pair, BW_EVENT_SUBSCRIPTION_ENDED)));
    FAILS(BW_ERROR_UNKNOWN_SUBSCRIPTION, bw_client_unsubscribe(pair->client, 0, subscription));
}

TEST_EVERYWHERE(the_catalog_changes)
{
    join_pair(pair);
    bw_server *server = pair->server;
    FAILS(BW_ERROR_ALREADY_REGISTERED,
          bw_server_add_tool(server, loan("{\"name\":\"tool\",\"inputSchema\":{\"type\":\"object\"}}")));
    FAILS(BW_ERROR_INVALID_DEFINITION, bw_server_add_tool(server, loan("{\"name\":\"x\"}")));
    CHECK(bw_server_error_message(server).length > 10);
    FAILS(BW_ERROR_INVALID_JSON, bw_server_add_tool(server, loan("{")));
    FAILS(BW_ERROR_NOT_UTF8, bw_server_add_tool(server, loan("{\"name\":\"\xff\"}")));
    FAILS(BW_ERROR_INVALID_DEFINITION, bw_server_add_resource(server, loan("{}")));
    FAILS(BW_ERROR_INVALID_TEMPLATE,
          bw_server_add_resource_template(server, loan("{\"uriTemplate\":\"a{b\",\"name\":\"x\"}")));
    FAILS(BW_ERROR_INVALID_DEFINITION, bw_server_add_prompt(server, loan("{}")));
    FAILS(BW_ERROR_NOT_REGISTERED, bw_server_remove_tool(server, loan("none")));
    DOES(bw_server_remove_tool(server, loan("tool")));
    DOES(bw_server_remove_resource(server, loan("test:one")));
    DOES(bw_server_remove_resource_template(server, loan("test:{kind}/{id}")));
    DOES(bw_server_remove_prompt(server, loan("prompt")));
    FAILS(BW_ERROR_NOT_REGISTERED, bw_server_remove_prompt(server, loan("prompt")));
}

TEST_EVERYWHERE(what_the_client_knows_of_the_server)
{
    DOES(bw_server_config_set_instructions(pair->server_config, loan("Be kind.")));
    make_pair(pair);
    CHECK(bw_client_revision(pair->client) == 0);
    CHECK(!bw_client_server_has_capability(pair->client, BW_CAPABILITY_LOGGING));
    const bw_event *event = client_tells(pair, BW_EVENT_READY);
    READS("Be kind.", bw_event_instructions(event));
    CHECK(bw_json_get_type(bw_event_peer(event), "/version") == BW_JSON_STRING);
    CHECK(bw_client_revision(pair->client) == pair->revision && bw_event_revision(event) == pair->revision);
    CHECK(bw_client_server_has_capability(pair->client, BW_CAPABILITY_LOGGING));
    CHECK(!bw_client_server_has_capability(pair->client, BW_CAPABILITY_ROOTS));
    CHECK(!bw_client_server_has_capability(pair->client, 0));
    CHECK(bw_is_some(bw_client_era_verdict(pair->client)));
}

TEST_EVERYWHERE(requests_of_the_other_era_are_refused)
{
    join_pair(pair);
    uint64_t request = 0;
    if (is_legacy(pair)) {
        DOES(bw_client_ping(pair->client, 0, NULL, &request));
        CHECK(bw_event_request(client_tells(pair, BW_EVENT_RESPONSE_RECEIVED)) == request);
        DOES(bw_client_notify_roots_changed(pair->client));
        server_tells(pair, BW_EVENT_NOTIFICATION_RECEIVED);
    } else {
        FAILS(BW_ERROR_NOT_ALLOWED_IN_REVISION, bw_client_ping(pair->client, 0, NULL, &request));
        FAILS(BW_ERROR_NOT_ALLOWED_IN_REVISION, bw_client_notify_roots_changed(pair->client));
        FAILS(BW_ERROR_UNKNOWN_SESSION, bw_server_ping(pair->server, 0, 1, &request));
    }
}

TEST(a_legacy_client_is_requested)
{
    struct pair pair = new_pair(false, BW_REVISION_2025_11_25);
    uint64_t session = 0;
    uint64_t request = 0;
    make_pair(&pair);
    client_tells(&pair, BW_EVENT_READY);
    const bw_event *event = server_tells(&pair, BW_EVENT_SESSION_OPENED);
    session = bw_event_session(event);
    CHECK(session != 0 && bw_event_revision(event) == BW_REVISION_2025_11_25);
    DOES(bw_server_ping(pair.server, 0, session, &request));
    event = server_tells(&pair, BW_EVENT_RESPONSE_RECEIVED);
    CHECK(bw_event_request(event) == request && bw_event_session(event) == session);
    READS("{}", bw_event_result(event));
    DOES(bw_server_request(pair.server, 0, session, loan("com.example/what"), loan("{}"), &request));
    event = server_tells(&pair, BW_EVENT_RESPONSE_RECEIVED);
    CHECK(bw_event_is_rpc_error(event) && bw_event_code(event) == BW_RPC_METHOD_NOT_FOUND);
    FAILS(BW_ERROR_UNKNOWN_SESSION, bw_server_request(pair.server, 0, 99, loan("a/b"), bw_none(), &request));
    FAILS(BW_ERROR_NOT_ALLOWED_IN_REVISION,
          bw_server_request(pair.server, 0, session, loan("tools/list"), bw_none(), &request));
    FAILS(BW_ERROR_UNKNOWN_SESSION, bw_server_end_session(pair.server, 99));
    free_pair(&pair);
}
