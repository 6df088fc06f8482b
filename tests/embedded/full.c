/* Memory that ends while the host itself uses the library: each function says so, and goes on once there is some again. */
#include "arena.h"

#include <barewire.h>
#include <barewire_port.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) check(condition, #condition, __LINE__)
#define LONG 3000

static uint64_t memory[(16 << 10) / 8];
static char text[LONG + 1];

void bw_port_panic(void)
{
    fputs("the library has a defect, or memory ended\n", stderr);
    abort();
}

static void check(int is_so, const char *what, int line)
{
    if (is_so)
        return;
    fprintf(stderr, "line %d: not so: %s\n", line, what);
    exit(1);
}

/* Takes all memory but pieces of less than `left` bytes. */
static void *take_all(size_t left)
{
    void **taken = NULL, **block;
    size_t size = left > sizeof *block ? left : sizeof *block;
    while (bw_port_available() >= size && (block = bw_port_allocate(size)) != NULL) {
        *block = (void *)taken;
        taken = block;
    }
    return (void *)taken;
}

static void give_back(void *taken)
{
    while (taken != NULL) {
        void *next;
        memcpy(&next, taken, sizeof next);
        bw_port_free(taken);
        taken = next;
    }
}

static bw_server *make_server(void)
{
    static const unsigned char seed[BW_SEED_BYTES] = {1};
    bw_server_config *config = NULL;
    bw_server *server = NULL;
    void *taken;
    CHECK(bw_server_config_new(BW_LITERAL("s"), BW_LITERAL("1"), seed, &config) == BW_OK);
    CHECK(bw_server_config_set_memory(config, sizeof memory) == BW_OK);
    CHECK(bw_server_config_set_instructions(config, bw_text(text, LONG)) == BW_OK);
    CHECK(bw_server_new(config, &server) == BW_ERROR_LIMIT_MEMORY);
    CHECK(bw_server_config_set_instructions(config, bw_none()) == BW_OK);
    taken = take_all(64);
    CHECK(bw_server_config_add_request_state_key(config, seed) == BW_ERROR_LIMIT_MEMORY);
    CHECK(bw_server_config_add_extension_method(config, BW_LITERAL("a/b")) == BW_ERROR_LIMIT_MEMORY);
    CHECK(bw_server_new(config, &server) == BW_ERROR_LIMIT_MEMORY);
    give_back(taken);
    CHECK(bw_server_new(config, &server) == BW_OK);
    bw_server_config_free(config);
    return server;
}

static void give(bw_server *server, const char *line)
{
    CHECK(bw_server_receive_data(server, 0, bw_string(line)) == BW_OK);
    CHECK(bw_server_receive_data(server, 0, BW_LITERAL("\n")) == BW_OK);
}

static void export_a_session(bw_server *server)
{
    const bw_event *event;
    uint64_t session = 0;
    bw_bytes exported;
    void *taken;
    give(server,
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
         "\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}");
    give(server, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    while ((event = bw_server_poll_event(server)) != NULL)
        session = bw_event_session(event);
    taken = take_all(64);
    CHECK(bw_server_export_session(server, session, &exported) == BW_ERROR_LIMIT_MEMORY);
    give_back(taken);
    CHECK(bw_server_export_session(server, session, &exported) == BW_OK && exported.length > 0);
}

static void write_json(void)
{
    bw_json_writer writer;
    bw_bytes json;
    int at;
    bw_json_writer_init(&writer, NULL, 0);
    bw_json_begin_array(&writer);
    for (at = 0; at < 20; at++)
        bw_json_put_string(&writer, bw_text(text, LONG));
    bw_json_end_array(&writer);
    CHECK(bw_json_finish(&writer, &json) == BW_ERROR_LIMIT_MEMORY);
    bw_json_writer_free(&writer);
    bw_json_put_string(&writer, BW_LITERAL("x"));
    CHECK(bw_json_finish(&writer, &json) == BW_OK && bw_equals(json, BW_LITERAL("\"x\"")));
    bw_json_writer_free(&writer);
}

static void read_json(void)
{
    void *taken = take_all(16);
    char buffer[8];
    bw_bytes string;
    CHECK(bw_json_unescape(bw_text(text, LONG), NULL, 0, &string) == BW_OK && string.length == LONG);
    CHECK(bw_json_unescape(BW_LITERAL("\\u0041\\n"), buffer, sizeof buffer, &string) == BW_OK);
    CHECK(bw_equals(string, BW_LITERAL("A\n")));
    give_back(taken);
}

int main(void)
{
    bw_server *server;
    memset(text, 'x', LONG);
    arena_begin(memory, sizeof memory);
    server = make_server();
    export_a_session(server);
    write_json();
    read_json();
    bw_server_free(server);
    CHECK(arena_live() == 0);
    puts("whoever asks for too much is told");
    return 0;
}
