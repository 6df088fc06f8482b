/*
 * A server over HTTP that is not for everybody: `protected_server 8000 ISSUER ENDPOINT` takes tokens of the
 * authorization server ISSUER, which answers at ENDPOINT what they are good for (RFC 7662). It is CLIENT_ID with
 * CLIENT_SECRET there, as the environment says.
 *
 * Whoever comes needs the scope notes:read; to add a note also takes notes:write. Everybody sees their own notes.
 *
 *     cc protected_server.c protection.c http_server_host.c host.c $(pkg-config --cflags --libs barewire libmicrohttpd libcurl) -o protected_server
 */
#include "host.h"
#include "protection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTES 1000

static const char ADD[] = "{\"name\": \"add_note\", \"description\": \"Keeps a note\","
                          " \"inputSchema\": {\"type\": \"object\", \"properties\": {\"text\": {\"type\": \"string\"}},"
                          " \"required\": [\"text\"]}}";
static const char LIST[] = "{\"name\": \"list_notes\", \"description\": \"Gives all notes of yours\","
                           " \"inputSchema\": {\"type\": \"object\"}}";

/* A note, and whose it is: the key of the principal. */
typedef struct {
    char owner[64];
    char text[200];
} note;

static note notes[NOTES];
static size_t note_count;

static bool is_owner(const note *it, bw_bytes owner)
{
    return bw_equals(bw_string(it->owner), owner);
}

static bw_status add(bw_server *server, const bw_event *call)
{
    bw_bytes text, owner = bw_event_principal(call);
    note *it = &notes[note_count];
    if (bw_json_get_string(bw_event_arguments(call), "/text", it->text, sizeof it->text, &text) != BW_OK ||
        text.length >= sizeof it->text)
        return bw_server_respond_invalid_arguments(server, bw_event_request(call),
                                                   BW_LITERAL("text is a string of up to 199 bytes"));
    if (note_count == NOTES - 1 || owner.length >= sizeof it->owner)
        return bw_server_respond_tool_error(server, bw_event_request(call), BW_LITERAL("there are enough notes"));
    memmove(it->text, text.data, text.length);
    it->text[text.length] = '\0';
    memcpy(it->owner, owner.data, owner.length);
    it->owner[owner.length] = '\0';
    note_count++;
    return bw_server_respond_text(server, bw_event_request(call), BW_LITERAL("kept"));
}

static bw_status list(bw_server *server, const bw_event *call)
{
    bw_json_writer result;
    size_t at;
    bw_json_writer_init(&result, NULL, 0);
    bw_json_begin_object(&result);
    bw_json_put_key(&result, BW_LITERAL("content"));
    bw_json_begin_array(&result);
    for (at = 0; at < note_count; at++)
        if (is_owner(&notes[at], bw_event_principal(call))) {
            bw_json_begin_object(&result);
            bw_json_put_key(&result, BW_LITERAL("type"));
            bw_json_put_string(&result, BW_LITERAL("text"));
            bw_json_put_key(&result, BW_LITERAL("text"));
            bw_json_put_string(&result, bw_string(notes[at].text));
            bw_json_end_object(&result);
        }
    bw_json_end_array(&result);
    bw_json_end_object(&result);
    return bw_server_respond_written(server, bw_event_request(call), &result);
}

/* Refuses a call that takes a scope more than its sender has; whether it did. */
static bool deny(bw_server *server, http_server_host *host, protection *protection, const bw_event *call)
{
    uint64_t exchange = bw_event_exchange(call);
    const bw_principal *principal = http_server_host_principal(host, exchange);
    bw_denial denial = {0};
    if (protection_allows(protection, principal, BW_LITERAL("notes:write"), &denial))
        return false;
    bw_server_http_deny(server, host_now(), exchange, &denial, NULL);
    host_must(bw_server_respond_tool_error(server, bw_event_request(call), BW_LITERAL("not allowed")));
    return true;
}

static void handle(bw_server *server, http_server_host *host, protection *protection, const bw_event *event)
{
    if (bw_event_kind(event) != BW_EVENT_TOOL_CALLED)
        return;
    if (bw_equals(bw_event_name(event), BW_LITERAL("list_notes")))
        host_must(list(server, event));
    else if (!deny(server, host, protection, event))
        host_must(add(server, event));
}

static bw_server *make_server(void)
{
    uint8_t seed[BW_SEED_BYTES];
    bw_server_config *config;
    bw_server *server;
    host_seed(seed);
    host_must(bw_server_config_new(BW_LITERAL("notes"), BW_LITERAL("1.0"), seed, &config));
    host_must(bw_server_http_new(config, &server));
    bw_server_config_free(config);
    host_must(bw_server_add_tool(server, bw_string(ADD)));
    host_must(bw_server_add_tool(server, bw_string(LIST)));
    return server;
}

static protection *protect(uint16_t port, const introspection *asked)
{
    bw_bytes issuer = bw_string(asked->issuer), scope = BW_LITERAL("notes:read");
    bw_resource_server_config *config;
    protection *made;
    char url[40];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/mcp", port);
    host_must(bw_resource_server_config_new(bw_string(url), &issuer, 1, &config));
    host_must(bw_resource_server_config_set_scopes(config, &scope, 1));
    made = protection_new(config, asked, &scope, 1);
    bw_resource_server_config_free(config);
    return made;
}

int main(int count, char **arguments)
{
    static const http_server_paths paths = {"/mcp", NULL, NULL};
    introspection asked = {NULL, NULL, getenv("CLIENT_ID"), getenv("CLIENT_SECRET")};
    uint16_t port;
    bw_server *server;
    http_server_host *host;
    protection *protection;
    const bw_event *event;
    if (count != 4 || asked.client_id == NULL || asked.secret == NULL) {
        fprintf(stderr, "usage: CLIENT_ID=... CLIENT_SECRET=... protected_server PORT ISSUER ENDPOINT\n");
        return 2;
    }
    port = (uint16_t)atoi(arguments[1]);
    asked.issuer = arguments[2];
    asked.endpoint = arguments[3];
    if ((protection = protect(port, &asked)) == NULL) {
        fprintf(stderr, "issuer or endpoint cannot be used: https, or http on this machine\n");
        return 2;
    }
    server = make_server();
    if ((host = http_server_host_new(server, &paths, port)) == NULL) {
        perror("protected_server");
        return 1;
    }
    http_server_host_protect(host, protection_guard(protection));
    host_note_end();
    while (!host_is_to_end()) {
        http_server_host_step(host, BW_NEVER);
        while ((event = bw_server_poll_event(server)) != NULL)
            handle(server, host, protection, event);
    }
    http_server_host_free(host);
    bw_server_free(server);
    protection_free(protection);
    return 0;
}
