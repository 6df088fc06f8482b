/* What is special to HTTP, step by step. */
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char TOOL[] = "{\"name\":\"tool\",\"inputSchema\":{\"type\":\"object\"}}";
static const char INITIALIZE[] =
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
    "\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}";
static const char INITIALIZED[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
static const char CALL[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"tool\","
                           "\"_meta\":{\"progressToken\":5}}}";

/* A server over HTTP, and the session id of its only client. */
struct host {
    bw_server_config *config;
    bw_server *server;
    char id[200];
    uint64_t session;
};

static struct host new_host(void)
{
    struct host host;
    memset(&host, 0, sizeof host);
    DOES(bw_server_config_new(loan("s"), loan("1"), SEED, &host.config));
    return host;
}

static void start(struct host *host)
{
    DOES(bw_server_http_new(host->config, &host->server));
    DOES(bw_server_add_tool(host->server, loan(TOOL)));
}

static void free_host(struct host *host)
{
    bw_server_free(host->server);
    bw_server_config_free(host->config);
}

static const bw_event *host_tells(struct host *host, bw_kind kind)
{
    const bw_event *event = bw_server_poll_event(host->server);
    if (bw_event_kind(event) != kind)
        fprintf(stderr, "the server told %d, not %d\n", bw_event_kind(event), kind);
    CHECK(bw_event_kind(event) == kind);
    return event;
}

/* Receives the head of a request with the session's id and one header more, if they are not empty. */
static uint64_t ask(struct host *host, const char *method, const char *name, const char *value)
{
    bw_pair headers[6];
    bw_request_head head;
    uint64_t exchange = 0;
    memset(&head, 0, sizeof head);
    headers[0].name = BW_LITERAL("Host");
    headers[0].value = BW_LITERAL("localhost");
    headers[1].name = BW_LITERAL("accept");
    headers[1].value = BW_LITERAL("application/json, text/event-stream");
    headers[2].name = BW_LITERAL("content-type");
    headers[2].value = BW_LITERAL("application/json");
    headers[3].name = BW_LITERAL("MCP-Session-Id");
    headers[3].value = loan(host->id);
    headers[4].name = bw_string(name);
    headers[4].value = bw_string(value);
    head.method = loan(method);
    head.headers = headers;
    head.header_count = name != NULL ? 5 : host->id[0] != '\0' ? 4 : 3;
    DOES(bw_server_http_receive_request(host->server, 0, &head, &exchange));
    CHECK(exchange != 0);
    return exchange;
}

static uint64_t post(struct host *host, const char *body)
{
    uint64_t exchange = ask(host, "POST", NULL, NULL);
    size_t length = strlen(body);
    /* In two pieces. */
    DOES(bw_server_http_receive_body(host->server, 0, exchange, bw_text(body, length / 2)));
    DOES(bw_server_http_receive_body(host->server, 0, exchange, bw_text(body + length / 2, length - length / 2)));
    DOES(bw_server_http_receive_end(host->server, 0, exchange));
    return exchange;
}

static bw_bytes header(const bw_response_part *part, const char *name)
{
    for (size_t at = 0; at < part->header_count; ++at)
        if (bw_equals(part->headers[at].name, bw_string(name)))
            return part->headers[at].value;
    return bw_none();
}

/* The first part of a response, which has to have that status. */
static bw_response_part answer(struct host *host, uint64_t exchange, int status)
{
    bw_response_part part;
    memset(&part, 0, sizeof part);
    CHECK(bw_server_http_poll_response(host->server, exchange, &part));
    if (part.status != status)
        fprintf(stderr, "status %d, not %d\n", part.status, status);
    CHECK(part.status == status);
    return part;
}

static void open_session(struct host *host)
{
    uint64_t exchange = post(host, INITIALIZE);
    CHECK(bw_server_http_poll_ready(host->server) == exchange);
    bw_response_part part = answer(host, exchange, 200);
    bw_bytes id = header(&part, "mcp-session-id");
    CHECK(part.is_last && !part.is_aborted && id.length > 20 && id.length < sizeof host->id);
    memcpy(host->id, id.data, id.length);
    answer(host, post(host, INITIALIZED), 202);
    CHECK(bw_server_http_poll_ready(host->server) == 0);
}

TEST(requests_are_refused_by_their_heads)
{
    struct host host = new_host();
    start(&host);
    answer(&host, ask(&host, "PUT", NULL, NULL), 405);
    answer(&host, ask(&host, "POST", "Origin", "https://evil.example"), 403);
    answer(&host, ask(&host, "POST", "Host", "evil.example"), 403);
    CHECK(bw_server_http_is_idle(host.server));
    free_host(&host);
    host = new_host();
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_config_allow_origin(host.config, loan("no origin")));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_config_allow_host(host.config, loan("no/host")));
    DOES(bw_server_config_allow_origin(host.config, loan("https://app.example")));
    DOES(bw_server_config_allow_host(host.config, loan("*")));
    DOES(bw_server_config_set_body_bytes(host.config, 10));
    start(&host);
    uint64_t exchange = ask(&host, "POST", "Origin", "https://app.example");
    bw_response_part part;
    CHECK(!bw_server_http_poll_response(host.server, exchange, &part));
    DOES(bw_server_http_receive_body(host.server, 0, exchange, loan("12345678901")));
    answer(&host, exchange, 413);
    free_host(&host);
}

TEST(hosts_need_not_let_requests_through)
{
    static const char CHALLENGE[] = "Bearer error=\"insufficient_scope\"";
    struct host host = new_host();
    bw_pair headers[] = {{BW_LITERAL("host"), BW_LITERAL("localhost")},
                         {BW_LITERAL("origin"), BW_LITERAL("http://localhost")},
                         {BW_LITERAL("accept"), BW_LITERAL("application/json, text/event-stream")},
                         {BW_LITERAL("content-type"), BW_LITERAL("application/json")},
                         {BW_LITERAL("access-control-request-method"), BW_LITERAL("POST")}};
    bw_denial denial = {BW_DENIAL_NO_TOKEN, 401, BW_LITERAL("Bearer")};
    bw_request_head head = {0};
    uint64_t exchange = 0;
    bool possible = false;
    start(&host);
    head.method = BW_LITERAL("POST");
    head.headers = headers;
    head.header_count = sizeof headers / sizeof *headers;
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_receive_denied(host.server, 0, &head, NULL, &exchange));
    DOES(bw_server_http_receive_denied(host.server, 0, &head, &denial, &exchange));
    bw_response_part part = answer(&host, exchange, 401);
    READS("Bearer", header(&part, "www-authenticate"));
    head.method = BW_LITERAL("OPTIONS");
    DOES(bw_server_http_receive_denied(host.server, 0, &head, &denial, &exchange));
    answer(&host, exchange, 204);
    denial.status = 503;
    denial.challenge = bw_none();
    head.method = BW_LITERAL("GET");
    DOES(bw_server_http_receive_denied(host.server, 0, &head, &denial, &exchange));
    part = answer(&host, exchange, 503);
    READS(NULL, header(&part, "www-authenticate"));
    /* What a call wants is known once it was read. */
    open_session(&host);
    host_tells(&host, BW_EVENT_SESSION_OPENED);
    exchange = post(&host, CALL);
    uint64_t request = bw_event_request(host_tells(&host, BW_EVENT_TOOL_CALLED));
    denial.status = 403;
    denial.challenge = bw_string(CHALLENGE);
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_deny(host.server, 0, exchange, NULL, &possible));
    DOES(bw_server_http_deny(host.server, 0, exchange, &denial, &possible));
    CHECK(possible);
    DOES(bw_server_respond_text(host.server, request, loan("x")));
    part = answer(&host, exchange, 403);
    READS(CHALLENGE, header(&part, "www-authenticate"));
    DOES(bw_server_http_deny(host.server, 0, exchange, &denial, &possible));
    CHECK(!possible);
    free_host(&host);
}

TEST(a_session_opens_streams_and_ends)
{
    struct host host = new_host();
    start(&host);
    open_session(&host);
    const bw_event *event = host_tells(&host, BW_EVENT_SESSION_OPENED);
    host.session = bw_event_session(event);
    uint64_t exchange = post(&host, CALL);
    event = host_tells(&host, BW_EVENT_TOOL_CALLED);
    uint64_t served = bw_event_request(event);
    CHECK(bw_event_exchange(event) == exchange && !bw_server_http_is_idle(host.server));
    DOES(bw_server_notify_progress(host.server, served, 1, 2, bw_none(), NULL));
    CHECK(bw_server_http_poll_ready(host.server) == exchange);
    CHECK(bw_server_http_backlog(host.server, exchange) > 0);
    bw_response_part part = answer(&host, exchange, 200);
    READS("text/event-stream", header(&part, "content-type"));
    CHECK(!part.is_last);
    while (bw_server_http_poll_response(host.server, exchange, &part))
        CHECK(part.status == 0);
    CHECK(bw_server_http_backlog(host.server, exchange) == 0);
    bool possible = false;
    DOES(bw_server_http_close_stream(host.server, 0, exchange, 2000, &possible));
    CHECK(possible);
    DOES(bw_server_http_close_stream(host.server, 0, 99, BW_NEVER, NULL));
    while (bw_server_http_poll_response(host.server, exchange, &part))
        ;
    CHECK(part.is_last);
    uint64_t stream = ask(&host, "GET", NULL, NULL);
    DOES(bw_server_http_receive_end(host.server, 0, stream));
    answer(&host, stream, 200);
    DOES(bw_server_http_receive_abort(host.server, 0, stream));
    CHECK(!bw_server_http_poll_response(host.server, stream, &part));
    DOES(bw_server_respond_text(host.server, served, loan("x")));
    DOES(bw_server_end_session(host.server, host.session));
    CHECK(bw_event_session(host_tells(&host, BW_EVENT_SESSION_CLOSED)) == host.session);
    FAILS(BW_ERROR_UNKNOWN_SESSION, bw_server_end_session(host.server, host.session));
    answer(&host, post(&host, CALL), 404);
    DOES(bw_server_http_shut_down(host.server, 0));
    answer(&host, ask(&host, "POST", NULL, NULL), 503);
    free_host(&host);
}

TEST(sessions_and_events_live_outside)
{
    struct host host = new_host();
    DOES(bw_server_config_set_external_sessions(host.config, true));
    DOES(bw_server_config_keep_events_externally(host.config));
    start(&host);
    open_session(&host);
    host_tells(&host, BW_EVENT_SESSION_OPENED);
    const bw_event *event = host_tells(&host, BW_EVENT_SESSION_NAMED);
    READS(host.id, bw_event_id(event));
    host.session = bw_event_session(event);
    uint64_t exchange = post(&host, CALL);
    uint64_t served = bw_event_request(host_tells(&host, BW_EVENT_TOOL_CALLED));
    DOES(bw_server_notify_progress(host.server, served, 1, 2, bw_none(), NULL));
    event = host_tells(&host, BW_EVENT_EVENT_APPENDED);
    CHECK(bw_event_session(event) == host.session && bw_event_stream(event).length > 0);
    READS("", bw_event_data(event));
    char id[100] = "";
    CHECK(bw_event_id(event).length < sizeof id);
    memcpy(id, bw_event_id(event).data, bw_event_id(event).length);
    event = host_tells(&host, BW_EVENT_EVENT_APPENDED);
    CHECK(bw_json_get_type(bw_event_data(event), "/method") == BW_JSON_STRING);
    DOES(bw_server_http_receive_abort(host.server, 0, exchange));
    exchange = ask(&host, "GET", "Last-Event-ID", id);
    DOES(bw_server_http_receive_end(host.server, 0, exchange));
    event = host_tells(&host, BW_EVENT_REPLAY_REQUESTED);
    CHECK(bw_event_exchange(event) == exchange && bw_event_session(event) == host.session);
    READS(id, bw_event_after(event));
    CHECK(bw_event_stream(event).length > 0);
    bw_pair kept = {BW_LITERAL("kept-1"), BW_LITERAL("{\"kept\":1}")};
    DOES(bw_server_http_replay(host.server, 0, exchange, &kept, 1));
    bw_response_part part = answer(&host, exchange, 200);
    bool found = false;
    do {
        for (size_t at = 0; at + 10 <= part.data.length; ++at)
            found = found || memcmp(part.data.data + at, "{\"kept\":1}", 10) == 0;
    } while (bw_server_http_poll_response(host.server, exchange, &part));
    CHECK(found);
    /* As text into another process. */
    bw_bytes text;
    char copy[1000];
    DOES(bw_server_export_session(host.server, host.session, &text));
    CHECK(text.length < sizeof copy);
    memcpy(copy, text.data, text.length);
    text = bw_text(copy, text.length);
    DOES(bw_server_end_session(host.server, host.session));
    do
        event = bw_server_poll_event(host.server);
    while (bw_event_kind(event) != BW_EVENT_STREAMS_FORGOTTEN);
    CHECK(bw_event_session(event) == host.session);
    bw_server_free(host.server);
    start(&host);
    exchange = post(&host, CALL);
    event = host_tells(&host, BW_EVENT_SESSION_REQUESTED);
    READS(host.id, bw_event_id(event));
    CHECK(bw_event_exchange(event) == exchange);
    FAILS(BW_ERROR_INVALID_JSON, bw_server_import_session(host.server, loan("{"), &host.session));
    DOES(bw_server_import_session(host.server, text, &host.session));
    DOES(bw_server_http_resolve_session(host.server, 0, exchange, host.session));
    CHECK(bw_event_session(host_tells(&host, BW_EVENT_SESSION_OPENED)) == host.session);
    CHECK(bw_event_session(host_tells(&host, BW_EVENT_TOOL_CALLED)) == host.session);
    host_tells(&host, BW_EVENT_SESSION_NAMED);
    memcpy(host.id, "unknown", 8);
    exchange = post(&host, CALL);
    host_tells(&host, BW_EVENT_SESSION_REQUESTED);
    DOES(bw_server_http_resolve_session(host.server, 0, exchange, 0));
    answer(&host, exchange, 404);
    exchange = ask(&host, "GET", "Last-Event-ID", "x");
    free_host(&host);
}

TEST(a_replay_that_is_not_there_is_refused)
{
    struct host host = new_host();
    DOES(bw_server_config_keep_events_externally(host.config));
    start(&host);
    open_session(&host);
    host_tells(&host, BW_EVENT_SESSION_OPENED);
    uint64_t exchange = ask(&host, "GET", "Last-Event-ID", "1-1");
    DOES(bw_server_http_receive_end(host.server, 0, exchange));
    const bw_event *event = bw_server_poll_event(host.server);
    if (bw_event_kind(event) == BW_EVENT_REPLAY_REQUESTED)
        DOES(bw_server_http_replay(host.server, 0, exchange, NULL, 0));
    answer(&host, exchange, 400);
    free_host(&host);
}

TEST(the_channels_of_the_first_revision)
{
    struct host host = new_host();
    start(&host);
    bw_pair headers[2] = {{BW_LITERAL("host"), BW_LITERAL("localhost")},
                          {BW_LITERAL("accept"), BW_LITERAL("text/event-stream")}};
    bw_request_head head;
    uint64_t exchange = 0;
    memset(&head, 0, sizeof head);
    head.method = BW_LITERAL("GET");
    head.endpoint = BW_ENDPOINT_EVENT_STREAM;
    head.endpoint_detail = BW_LITERAL("/messages");
    head.headers = headers;
    head.header_count = 2;
    DOES(bw_server_http_receive_whole(host.server, 0, &head, bw_none(), &exchange));
    bw_response_part part = answer(&host, exchange, 200);
    bool found = false;
    do {
        for (size_t at = 0; at + 9 <= part.data.length; ++at)
            found = found || memcmp(part.data.data + at, "/messages", 9) == 0;
    } while (!found && bw_server_http_poll_response(host.server, exchange, &part));
    CHECK(found);
    head.method = BW_LITERAL("POST");
    head.endpoint = BW_ENDPOINT_MESSAGES;
    head.endpoint_detail = BW_LITERAL("sessionId=none");
    DOES(bw_server_http_receive_whole(host.server, 0, &head, loan("{}"), &exchange));
    CHECK(bw_server_http_poll_response(host.server, exchange, &part) && part.status >= 400);
    head.endpoint = 3;
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_server_http_receive_whole(host.server, 0, &head, loan("{}"), &exchange));
    free_host(&host);
}

/* ---- Clients ---- */

static const char BANNED[] = "Bearer realm=\"x\"";

static bw_client *new_client(int32_t revision, bool authorizes)
{
    bw_client_config *config;
    bw_client *client;
    DOES(bw_client_config_new(loan("c"), loan("1"), SEED, &config));
    DOES(bw_client_config_set_revisions(config, &revision, 1));
    DOES(bw_client_config_set_authorizes(config, authorizes));
    DOES(bw_client_config_set_authorization_timeout(config, 60000));
    DOES(bw_client_config_set_sse_fallback(config, false));
    DOES(bw_client_config_set_opens_stream(config, false));
    DOES(bw_client_config_set_resumptions(config, 1));
    DOES(bw_client_config_set_retry(config, 10));
    FAILS(BW_ERROR_INVALID_DEFINITION, bw_client_http_new(config, loan("ftp://x"), 0, &client));
    DOES(bw_client_http_new(config, loan("https://server.example/mcp"), 0, &client));
    bw_client_config_free(config);
    return client;
}

/* The exchange of the next request. */
static uint64_t requested(bw_client *client, const char *method)
{
    bw_http_transmit transmit;
    CHECK(bw_client_http_poll_transmit(client, 0, &transmit) && transmit.kind == BW_TRANSMIT_REQUEST);
    READS(method, transmit.method);
    READS("https://server.example/mcp", transmit.url);
    CHECK(transmit.header_count > 0);
    CHECK((transmit.body.length > 0) == bw_equals(transmit.method, BW_LITERAL("POST")));
    return transmit.exchange;
}

static void respond(bw_client *client, uint64_t exchange, uint16_t status, const char *name, const char *value,
                    const char *body)
{
    bw_pair headers[2] = {{BW_LITERAL("content-type"), BW_LITERAL("application/json")},
                          {bw_string(name), bw_string(value)}};
    CHECK(bw_client_http_wants_input(client, exchange));
    bw_client_http_receive_head(client, 0, exchange, status, headers, name == NULL ? 1 : 2);
    if (body[0] != '\0')
        bw_client_http_receive_body(client, 0, exchange, loan(body));
    bw_client_http_receive_end(client, 0, exchange);
}

static const bw_event *told(bw_client *client, bw_kind kind)
{
    const bw_event *event = bw_client_poll_event(client);
    if (bw_event_kind(event) != kind)
        fprintf(stderr, "the client told %d, not %d\n", bw_event_kind(event), kind);
    CHECK(bw_event_kind(event) == kind);
    return event;
}

/* Answers the request that waits to be sent with a result. */
static void reply(bw_client *client, const char *result)
{
    bw_http_transmit transmit;
    bw_bytes id, answer;
    bw_json_writer writer;
    CHECK(bw_client_http_poll_transmit(client, 0, &transmit));
    DOES(bw_json_get(transmit.body, "/id", &id));
    DOES(bw_json_writer_init(&writer, NULL, 0));
    bw_json_begin_object(&writer);
    bw_json_put_key(&writer, BW_LITERAL("jsonrpc"));
    bw_json_put_string(&writer, BW_LITERAL("2.0"));
    bw_json_put_key(&writer, BW_LITERAL("id"));
    bw_json_put_json(&writer, id);
    bw_json_put_key(&writer, BW_LITERAL("result"));
    bw_json_put_json(&writer, bw_string(result));
    bw_json_end_object(&writer);
    DOES(bw_json_finish(&writer, &answer));
    char *text = calloc(answer.length + 1, 1);
    memcpy(text, answer.data, answer.length);
    bw_json_writer_free(&writer);
    respond(client, transmit.exchange, 200, "mcp-session-id", "one", text);
    free(text);
}

/* Answers the handshake that waits to be sent. */
static void shake(bw_client *client)
{
    reply(client, "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
                  "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}");
    respond(client, requested(client, "POST"), 202, NULL, NULL, "");
}

TEST(a_client_is_asked_for_authorization)
{
    bw_client *client = new_client(BW_REVISION_2025_11_25, true);
    uint64_t exchange = requested(client, "POST");
    respond(client, exchange, 401, "www-authenticate", BANNED, "");
    const bw_event *event = told(client, BW_EVENT_AUTHORIZATION_REQUIRED);
    CHECK(bw_event_exchange(event) == exchange && bw_event_http_status(event) == 401);
    CHECK(bw_event_challenge_count(event) == 1);
    READS(BANNED, bw_event_challenge(event, 0));
    READS(NULL, bw_event_challenge(event, 1));
    READS("initialize", bw_event_operation(event));
    READS(NULL, bw_event_dpop_nonce(event));
    DOES(bw_client_http_authorized(client, 0, exchange));
    shake(client);
    told(client, BW_EVENT_READY);
    uint64_t request = 0;
    FAILS(BW_ERROR_CAPABILITY_NOT_DECLARED, bw_client_list(client, 0, BW_LISTING_PROMPTS, bw_none(), NULL, &request));
    DOES(bw_client_list(client, 0, BW_LISTING_TOOLS, bw_none(), NULL, &request));
    exchange = requested(client, "POST");
    respond(client, exchange, 403, "dpop-nonce", "fresh", "");
    event = told(client, BW_EVENT_AUTHORIZATION_REQUIRED);
    READS("fresh", bw_event_dpop_nonce(event));
    DOES(bw_client_http_unauthorized(client, 0, exchange));
    event = told(client, BW_EVENT_REQUEST_FAILED);
    CHECK(bw_event_code(event) == BW_ERROR_UNAUTHORIZED && bw_event_http_status(event) == 403);
    bw_client_free(client);
}

/* A client with a session, and a request of its own that was sent in the exchange. */
static bw_client *busy_client(uint64_t *exchange)
{
    uint64_t request = 0;
    bw_client *client = new_client(BW_REVISION_2025_11_25, false);
    shake(client);
    told(client, BW_EVENT_READY);
    DOES(bw_client_list(client, 0, BW_LISTING_TOOLS, bw_none(), NULL, &request));
    *exchange = requested(client, "POST");
    return client;
}

static int64_t failure(bw_client *client)
{
    int64_t code = bw_event_code(told(client, BW_EVENT_REQUEST_FAILED));
    bw_client_free(client);
    return code;
}

TEST(exchanges_fail)
{
    uint64_t exchange = 0;
    bw_client *client = busy_client(&exchange);
    respond(client, exchange, 418, NULL, NULL, "");
    CHECK(failure(client) == BW_ERROR_EXCHANGE_REFUSED);
    client = busy_client(&exchange);
    respond(client, exchange, 503, NULL, NULL, "");
    CHECK(failure(client) == BW_ERROR_UNAVAILABLE);
    client = busy_client(&exchange);
    bw_pair stream = {BW_LITERAL("content-type"), BW_LITERAL("text/event-stream")};
    DOES(bw_client_http_receive_head(client, 0, exchange, 200, &stream, 1));
    DOES(bw_client_http_receive_body(client, 0, exchange, loan(": nothing yet\n\n")));
    DOES(bw_client_http_receive_failure(client, 0, exchange, BW_EXCHANGE_BROKEN));
    CHECK(failure(client) == BW_ERROR_TRUNCATED);
    client = busy_client(&exchange);
    DOES(bw_client_http_receive_failure(client, 0, exchange, BW_EXCHANGE_NOT_SENT));
    CHECK(failure(client) == BW_ERROR_UNAVAILABLE);
    client = busy_client(&exchange);
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_client_http_receive_failure(client, 0, exchange, 3));
    DOES(bw_client_http_receive_redirect(client, 0, exchange, 302));
    CHECK(failure(client) == BW_ERROR_EXCHANGE_REFUSED);
}

TEST(a_lost_session_is_replaced)
{
    uint64_t exchange = 0, request = 0;
    bw_client *client = busy_client(&exchange);
    respond(client, exchange, 404, NULL, NULL, "");
    shake(client);
    CHECK(bw_event_revision(told(client, BW_EVENT_SESSION_REPLACED)) == BW_REVISION_2025_11_25);
    respond(client, requested(client, "POST"), 404, NULL, NULL, "");
    CHECK(bw_event_code(told(client, BW_EVENT_REQUEST_FAILED)) == BW_ERROR_SESSION_LOST);
    DOES(bw_client_list(client, 0, BW_LISTING_TOOLS, bw_none(), NULL, &request));
    requested(client, "POST");
    DOES(bw_client_close(client));
    bw_http_transmit transmit;
    bool closed = false;
    while (!closed && bw_client_http_poll_transmit(client, 0, &transmit)) {
        closed = transmit.kind == BW_TRANSMIT_CLOSE;
        if (transmit.kind == BW_TRANSMIT_REQUEST) {
            READS("DELETE", transmit.method);
            respond(client, transmit.exchange, 200, NULL, NULL, "");
        }
    }
    CHECK(closed && bw_client_is_finished(client));
    bw_client_free(client);
}

TEST(tools_with_odd_headers_are_omitted)
{
    uint64_t request = 0;
    bw_client *client = new_client(BW_REVISION_2026_07_28, false);
    reply(client, "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
                  "\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}");
    told(client, BW_EVENT_READY);
    DOES(bw_client_list(client, 0, BW_LISTING_TOOLS, bw_none(), NULL, &request));
    reply(client, "{\"resultType\":\"complete\",\"ttlMs\":5,\"cacheScope\":\"public\",\"tools\":["
                  "{\"name\":\"fine\",\"inputSchema\":{\"type\":\"object\"}},"
                  "{\"name\":\"odd\",\"inputSchema\":{\"type\":\"object\",\"x-mcp-header\":\"Root\"}}]}");
    const bw_event *event = told(client, BW_EVENT_TOOL_OMITTED);
    CHECK(bw_event_request(event) == request && bw_event_index(event) == 1);
    READS("odd", bw_event_name(event));
    CHECK(bw_event_path(event).length > 0 && bw_event_reason(event).length > 0);
    event = told(client, BW_EVENT_RESPONSE_RECEIVED);
    size_t count = 0;
    uint64_t ttl = 0;
    int32_t scope = 0;
    DOES(bw_json_get_length(bw_event_result(event), "/tools", &count));
    CHECK(bw_event_freshness(event, &ttl, &scope) && ttl == 5 && scope == BW_CACHE_PUBLIC && count == 1);
    bw_client_free(client);
}

TEST(the_other_transport_is_refused)
{
    struct pair pair = new_pair(true, BW_REVISION_2026_07_28);
    bw_http_transmit transmit;
    bw_response_part part;
    bw_request_head head;
    bw_denial denial = {0};
    uint64_t exchange = 0;
    memset(&head, 0, sizeof head);
    make_pair(&pair);
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_server_receive_data(pair.server, 0, loan("{}\n")));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_server_receive_eof(pair.server, 0));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_server_connection_lost(pair.server, 0));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_server_consume(pair.server, 0));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_client_receive_data(pair.client, 0, loan("{}\n")));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_client_receive_eof(pair.client, 0));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_client_connection_lost(pair.client, 0));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_client_restart(pair.client, 0));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_client_consume(pair.client, 0));
    READS(NULL, bw_server_data_to_send(pair.server));
    READS(NULL, bw_client_data_to_send(pair.client));
    free_pair(&pair);
    pair = new_pair(false, BW_REVISION_2026_07_28);
    make_pair(&pair);
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_server_http_receive_request(pair.server, 0, &head, &exchange));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_server_http_receive_body(pair.server, 0, 1, loan("")));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_server_http_receive_end(pair.server, 0, 1));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_server_http_receive_whole(pair.server, 0, &head, bw_none(), &exchange));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_server_http_receive_denied(pair.server, 0, &head, &denial, &exchange));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_server_http_deny(pair.server, 0, 1, &denial, NULL));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_server_http_receive_abort(pair.server, 0, 1));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_server_http_resolve_session(pair.server, 0, 1, 0));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_server_http_replay(pair.server, 0, 1, NULL, 0));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_server_http_close_stream(pair.server, 0, 1, 0, NULL));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_server_http_shut_down(pair.server, 0));
    CHECK(bw_server_http_poll_ready(pair.server) == 0 && bw_server_http_backlog(pair.server, 1) == 0);
    CHECK(!bw_server_http_poll_response(pair.server, 1, &part) && bw_server_http_is_idle(pair.server));
    CHECK(!bw_client_http_poll_transmit(pair.client, 0, &transmit));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_client_http_receive_head(pair.client, 0, 1, 200, NULL, 0));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_client_http_receive_body(pair.client, 0, 1, loan("")));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_client_http_receive_end(pair.client, 0, 1));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_client_http_receive_failure(pair.client, 0, 1, BW_EXCHANGE_BROKEN));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_client_http_receive_redirect(pair.client, 0, 1, 302));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_client_http_authorized(pair.client, 0, 1));
    FAILS(BW_ERROR_WRONG_TRANSPORT, bw_client_http_unauthorized(pair.client, 0, 1));
    CHECK(!bw_client_http_wants_input(pair.client, 1));
    free_pair(&pair);
}
