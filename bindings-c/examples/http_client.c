/*
 * A client over HTTP, on libcurl: `http_client URL` lists the tools of a server, `http_client URL TOOL [ARGUMENTS]` calls
 * one, with arguments in JSON, and shows its progress.
 *
 * A protected server gets a token: that of the client CLIENT_ID with CLIENT_SECRET, which acts for itself, if the
 * environment names one; else of the user, who is asked in a browser. The file that TOKEN_STORE names keeps it for the
 * next time, for one server and one user.
 *
 *     cc http_client.c http_client_host.c authorization.c token_store.c loopback.c host.c $(pkg-config --cflags --libs barewire libcurl) -o http_client
 */
#include "host.h"
#include "http_client_host.h"
#include "loopback.h"

#include <stdio.h>
#include <stdlib.h>

static void show(const char *what, bw_bytes text)
{
    printf("%s%.*s\n", what, (int)text.length, (const char *)text.data);
}

/* Each element of an array in a result, by the string under `pointer` in it, which fits into `buffer`. */
static void show_all(bw_bytes result, const char *array, const char *pointer, char *buffer)
{
    bw_json_iterator iterator;
    bw_bytes element, text;
    if (bw_json_iterate(result, array, &iterator) != BW_OK)
        return;
    while (bw_json_next(&iterator, NULL, &element))
        if (bw_json_get_string(element, pointer, buffer, result.length, &text) == BW_OK)
            show("", text);
        else
            show("", element);
}

static bw_client *connect_to(const char *url, bool authorizes)
{
    uint8_t seed[BW_SEED_BYTES];
    bw_client_config *config;
    bw_client *client;
    host_seed(seed);
    host_must(bw_client_config_new(BW_LITERAL("hello"), BW_LITERAL("1.0"), seed, &config));
    host_must(bw_client_config_set_authorizes(config, authorizes));
    host_must(bw_client_http_new(config, bw_string(url), host_now(), &client));
    bw_client_config_free(config);
    return client;
}

/* NULL where tokens would not be safe. */
static authorization *authorize_at(const char *url)
{
    authorization_settings settings = {loopback_visit, NULL, NULL, getenv("TOKEN_STORE")};
    bw_client_registration client = {0};
    uint8_t seed[BW_SEED_BYTES];
    bw_authorization_config *config;
    authorization *made;
    host_seed(seed);
    client.client_id = bw_string(getenv("CLIENT_ID"));
    client.secret = bw_string(getenv("CLIENT_SECRET"));
    if (bw_is_some(client.client_id)) {
        host_must(bw_authorization_config_new(bw_string(url), BW_GRANT_CLIENT_CREDENTIALS, seed, &config));
        host_must(bw_authorization_config_add_client(config, &client));
    } else {
        host_must(bw_authorization_config_new(bw_string(url), BW_GRANT_AUTHORIZATION_CODE, seed, &config));
        host_must(bw_authorization_config_set_redirect_uri(config, loopback_redirect_uri()));
        host_must(bw_authorization_config_set_dynamic_registration(config, BW_LITERAL("hello"), 0));
    }
    made = authorization_new(config, &settings);
    bw_authorization_config_free(config);
    return made;
}

static uint64_t list_tools(bw_client *client, bw_bytes cursor)
{
    uint64_t request = 0;
    host_must(bw_client_list(client, host_now(), BW_LISTING_TOOLS, cursor, NULL, &request));
    return request;
}

static uint64_t call_tool(bw_client *client, const char *name, const char *arguments)
{
    bw_request_options options = {0};
    uint64_t request = 0;
    options.progress = true;
    host_must(bw_client_call_tool(client, host_now(), bw_string(name), bw_string(arguments), &options, &request));
    return request;
}

/* Shows a result. Whether it is the last one: lists have pages. */
static bool show_result(bw_client *client, bw_bytes result)
{
    char *buffer = malloc(result.length); /* no string in it is longer */
    bw_bytes cursor;
    bool has_more;
    if (buffer == NULL)
        abort();
    show_all(result, "/tools", "/name", buffer);
    show_all(result, "/content", "/text", buffer);
    has_more = bw_json_get_string(result, "/nextCursor", buffer, result.length, &cursor) == BW_OK;
    if (has_more)
        list_tools(client, cursor);
    free(buffer);
    return !has_more;
}

/* Acts on an event; the exit status once there is one, or else -1. */
static int handle(bw_client *client, authorization *authorization, const bw_event *event)
{
    switch (bw_event_kind(event)) {
    case BW_EVENT_READY:
        show("connected, speaking ", bw_revision_name(bw_event_revision(event)));
        return -1;
    case BW_EVENT_AUTHORIZATION_REQUIRED:
        authorization_answer(authorization, client, event);
        return -1;
    case BW_EVENT_PROGRESS_RECEIVED:
        show("... ", bw_event_message(event));
        return -1;
    case BW_EVENT_RESPONSE_RECEIVED:
        return show_result(client, bw_event_result(event)) ? 0 : -1;
    case BW_EVENT_REQUEST_FAILED:
        if (bw_event_code(event) == BW_ERROR_CONNECTION_LOST && !bw_event_is_rpc_error(event))
            return -1; /* why it ended is told with its end */
        show("failed: ", bw_event_message(event));
        return 1;
    case BW_EVENT_DISCONNECTED:
        show("failed: ", bw_event_message(event));
        return 1;
    default:
        return -1;
    }
}

int main(int count, char **arguments)
{
    bw_client *client;
    authorization *authorization;
    http_client_host *host;
    const bw_event *event;
    int status = -1;
    if (count < 2) {
        fprintf(stderr, "usage: http_client URL [TOOL [ARGUMENTS]]\n");
        return 2;
    }
    authorization = authorize_at(arguments[1]);
    client = connect_to(arguments[1], authorization != NULL);
    if ((host = http_client_host_new(client)) == NULL)
        return 1;
    http_client_host_set_authorization(host, authorization);
    if (count == 2)
        list_tools(client, bw_none());
    else
        call_tool(client, arguments[2], count > 3 ? arguments[3] : NULL);
    while (status < 0) {
        http_client_host_step(host, -1);
        while (status < 0 && (event = bw_client_poll_event(client)) != NULL)
            status = handle(client, authorization, event);
    }
    bw_client_close(client);
    while (!http_client_host_is_finished(host))
        http_client_host_step(host, -1);
    http_client_host_free(host);
    authorization_free(authorization);
    bw_client_free(client);
    return status;
}
