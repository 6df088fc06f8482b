#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const unsigned char SEED[BW_SEED_BYTES] = {7, 7, 7};

static const char CAPABILITIES[] =
    "{\"roots\":{\"listChanged\":true},\"sampling\":{},\"elicitation\":{\"form\":{},\"url\":{}}}";

struct pair new_pair(bool is_http, int32_t revision)
{
    struct pair pair;
    memset(&pair, 0, sizeof pair);
    pair.is_http = is_http;
    pair.revision = revision;
    DOES(bw_server_config_new(loan("server"), loan("1"), SEED, &pair.server_config));
    DOES(bw_server_config_set_completions(pair.server_config, true));
    DOES(bw_server_config_add_extension_method(pair.server_config, loan("com.example/ask")));
    DOES(bw_client_config_new(loan("client"), loan("2"), SEED, &pair.client_config));
    DOES(bw_client_config_set_capabilities(pair.client_config, loan(CAPABILITIES)));
    DOES(bw_client_config_set_revisions(pair.client_config, &revision, 1));
    return pair;
}

void make_pair(struct pair *pair)
{
    if (pair->is_http) {
        DOES(bw_server_http_new(pair->server_config, &pair->server));
        DOES(bw_client_http_new(pair->client_config, loan("http://localhost:8000/mcp"), pair->now, &pair->client));
    } else {
        DOES(bw_server_new(pair->server_config, &pair->server));
        DOES(bw_client_new(pair->client_config, pair->now, &pair->client));
    }
    bw_server_config_free(pair->server_config);
    bw_client_config_free(pair->client_config);
    pair->server_config = NULL;
    pair->client_config = NULL;
}

void join_pair(struct pair *pair)
{
    make_pair(pair);
    DOES(bw_server_add_tool(pair->server, loan("{\"name\":\"tool\",\"inputSchema\":{\"type\":\"object\"}}")));
    DOES(bw_server_add_resource(pair->server, loan("{\"uri\":\"test:one\",\"name\":\"one\"}")));
    DOES(bw_server_add_resource_template(pair->server,
                                         loan("{\"uriTemplate\":\"test:{kind}/{id}\",\"name\":\"many\"}")));
    DOES(bw_server_add_prompt(pair->server, loan("{\"name\":\"prompt\",\"arguments\":[{\"name\":\"who\"}]}")));
    client_tells(pair, BW_EVENT_READY);
    if (is_legacy(pair))
        server_tells(pair, BW_EVENT_SESSION_OPENED);
}

void run_everywhere(void body(struct pair *pair))
{
    for (int way = 0; way < 4; ++way) {
        struct pair pair = new_pair(way % 2 == 1, way < 2 ? BW_REVISION_2025_11_25 : BW_REVISION_2026_07_28);
        variant = way % 2 == 1 ? "HTTP" : "bytes";
        body(&pair);
        free_pair(&pair);
    }
}

void free_pair(struct pair *pair)
{
    bw_client_free(pair->client);
    bw_server_free(pair->server);
    bw_client_config_free(pair->client_config);
    bw_server_config_free(pair->server_config);
}

bool is_legacy(const struct pair *pair)
{
    return bw_revision_era(pair->revision) == BW_ERA_LEGACY;
}

/* A copy of just that length. The caller frees its data. */
static bw_bytes copy(bw_bytes bytes)
{
    char *data = malloc(bytes.length == 0 ? 1 : bytes.length);
    if (bytes.length != 0)
        memcpy(data, bytes.data, bytes.length);
    return bw_text(data, bytes.length);
}

static void release(bw_bytes bytes)
{
    free((void *)(size_t)bytes.data);
}

static void carry_bytes(struct pair *pair)
{
    bw_bytes data;
    while ((data = bw_client_data_to_send(pair->client)).length != 0) {
        data = copy(data);
        DOES(bw_client_consume(pair->client, data.length));
        bw_server_receive_data(pair->server, pair->now, data);
        release(data);
    }
    while ((data = bw_server_data_to_send(pair->server)).length != 0) {
        data = copy(data);
        DOES(bw_server_consume(pair->server, data.length));
        bw_client_receive_data(pair->client, pair->now, data);
        release(data);
    }
}

static struct exchange *find(struct pair *pair, uint64_t client, uint64_t server)
{
    for (size_t at = 0; at < pair->exchange_count; ++at)
        if (pair->exchanges[at].client == client || pair->exchanges[at].server == server)
            return &pair->exchanges[at];
    return NULL;
}

static void carry_request(struct pair *pair, const bw_http_transmit *transmit)
{
    bw_pair headers[32];
    bw_request_head head;
    struct exchange exchange = {transmit->exchange, 0};
    bw_bytes body = copy(transmit->body);
    memset(&head, 0, sizeof head);
    headers[0].name = BW_LITERAL("host");
    headers[0].value = BW_LITERAL("localhost:8000");
    CHECK(transmit->header_count < 31);
    for (size_t at = 0; at < transmit->header_count; ++at)
        headers[at + 1] = transmit->headers[at];
    head.method = transmit->method;
    head.headers = headers;
    head.header_count = transmit->header_count + 1;
    head.principal = BW_LITERAL("ada");
    DOES(bw_server_http_receive_whole(pair->server, pair->now, &head, body, &exchange.server));
    release(body);
    CHECK(pair->exchange_count < 64);
    pair->exchanges[pair->exchange_count++] = exchange;
}

static void carry_response(struct pair *pair, uint64_t exchange)
{
    bw_response_part part;
    struct exchange *known = find(pair, 0, exchange);
    while (known != NULL && bw_server_http_poll_response(pair->server, exchange, &part)) {
        bw_bytes data = copy(part.data);
        if (part.status != 0)
            bw_client_http_receive_head(pair->client, pair->now, known->client, part.status, part.headers,
                                        part.header_count);
        if (data.length != 0)
            bw_client_http_receive_body(pair->client, pair->now, known->client, data);
        release(data);
        if (part.is_last) {
            if (part.is_aborted)
                bw_client_http_receive_failure(pair->client, pair->now, known->client, BW_EXCHANGE_BROKEN);
            else
                bw_client_http_receive_end(pair->client, pair->now, known->client);
            *known = pair->exchanges[--pair->exchange_count];
            return;
        }
    }
}

static void carry_exchanges(struct pair *pair)
{
    bw_http_transmit transmit;
    struct exchange *known;
    uint64_t ready;
    while (bw_client_http_poll_transmit(pair->client, pair->now, &transmit)) {
        if (transmit.kind == BW_TRANSMIT_REQUEST)
            carry_request(pair, &transmit);
        else if (transmit.kind == BW_TRANSMIT_ABORT && (known = find(pair, transmit.exchange, 0)) != NULL) {
            DOES(bw_server_http_receive_abort(pair->server, pair->now, known->server));
            *known = pair->exchanges[--pair->exchange_count];
        }
    }
    while ((ready = bw_server_http_poll_ready(pair->server)) != 0)
        carry_response(pair, ready);
}

void carry(struct pair *pair)
{
    if (pair->is_http)
        carry_exchanges(pair);
    else
        carry_bytes(pair);
}

static const bw_event *poll_client(struct pair *pair)
{
    return bw_client_poll_event(pair->client);
}

static const bw_event *poll_server(struct pair *pair)
{
    return bw_server_poll_event(pair->server);
}

static const bw_event *tells(struct pair *pair, bw_kind kind, const bw_event *poll(struct pair *pair), const char *who)
{
    for (int round = 0; round < 10; ++round) {
        const bw_event *event = poll(pair);
        if (event == NULL) {
            carry(pair);
            continue;
        }
        if (bw_event_kind(event) != kind) {
            bw_bytes message = bw_event_message(event), bytes = bw_event_bytes(event);
            fprintf(stderr, "%s told %d, not %d (%.*s) (%.*s)\n", who, bw_event_kind(event), kind, (int)message.length,
                    (const char *)message.data, (int)bytes.length, (const char *)bytes.data);
        }
        CHECK(bw_event_kind(event) == kind);
        return event;
    }
    fprintf(stderr, "%s told nothing, not %d\n", who, kind);
    CHECK(!"an event");
    return NULL;
}

const bw_event *client_tells(struct pair *pair, bw_kind kind)
{
    return tells(pair, kind, poll_client, "the client");
}

const bw_event *server_tells(struct pair *pair, bw_kind kind)
{
    return tells(pair, kind, poll_server, "the server");
}

void nothing_is_told(struct pair *pair)
{
    for (int round = 0; round < 3; ++round) {
        CHECK(bw_client_poll_event(pair->client) == NULL);
        CHECK(bw_server_poll_event(pair->server) == NULL);
        carry(pair);
    }
}
