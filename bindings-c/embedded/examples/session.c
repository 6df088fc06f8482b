#include "session.h"

#include "arena.h"
#include "device.h"

#include <string.h>

#define META                                                                                                           \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                                           \
    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"example-client\",\"version\":\"1.0.0\"},"                      \
    "\"io.modelcontextprotocol/clientCapabilities\":{}"

/* Handshake, lists, a call with progress, a read, a ping. */
static const char *const LEGACY[] = {
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
    "\"capabilities\":{\"sampling\":{}},\"clientInfo\":{\"name\":\"example-client\",\"version\":\"1.0.0\"}}}\n",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"measure\",\"arguments\":{"
    "\"sensor\":\"inside\",\"count\":3},\"_meta\":{\"progressToken\":3}}}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"resources/list\"}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"resources/read\",\"params\":{\"uri\":\"device://log\"}}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"ping\"}\n",
    NULL,
};

/* Discovery, lists, a call with progress, a read. */
static const char *const MODERN[] = {
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{" META "}}}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{" META "}}}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"measure\",\"arguments\":{"
    "\"sensor\":\"inside\",\"count\":3}," META ",\"progressToken\":3}}}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"resources/list\",\"params\":{" META "}}}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"resources/read\",\"params\":{\"uri\":\"device://log\"," META "}}}\n",
    NULL,
};

static size_t results, errors, reports;

void device_send(const void *data, size_t length)
{
    static const char RESULT[] = "\"result\":", ERROR[] = "\"error\":", PROGRESS[] = "/progress\"";
    const char *text = data;
    size_t at;
    say(text, length);
    for (at = 0; at < length; at++) {
        size_t left = length - at;
        if (left >= sizeof RESULT - 1 && memcmp(text + at, RESULT, sizeof RESULT - 1) == 0)
            results++;
        else if (left >= sizeof ERROR - 1 && memcmp(text + at, ERROR, sizeof ERROR - 1) == 0)
            errors++;
        else if (left >= sizeof PROGRESS - 1 && memcmp(text + at, PROGRESS, sizeof PROGRESS - 1) == 0)
            reports++;
    }
}

/* Bytes come a few at a time, as from a serial line. */
static bw_status feed(const char *line)
{
    size_t left = strlen(line);
    while (left > 0) {
        size_t count = left < 32 ? left : 32;
        bw_status status = device_receive(0, line, count);
        if (status != BW_OK)
            return status;
        line += count;
        left -= count;
    }
    return BW_OK;
}

/* A device draws these from its source of randomness. */
static const unsigned char SEED[BW_SEED_BYTES] = {1, 2, 3};

static int play(const char *const *lines, size_t size)
{
    if (device_start(SEED, size) != BW_OK)
        return 1;
    for (; *lines != NULL; lines++)
        if (feed(*lines) != BW_OK)
            return 2;
    return device_end(0) != BW_OK ? 3 : 0;
}

static int run(const char *const *lines, size_t expected, void *memory, size_t size)
{
    int failed;
    results = errors = reports = 0;
    arena_begin(memory, size);
    failed = play(lines, size);
    device_stop();
    if (arena_live() != 0)
        return LEAKED;
    say_number("bytes of memory, at most", arena_peak());
    if (failed == 0 && (results != expected || errors != 0 || reports != 1))
        failed = 4;
    return failed;
}

int run_sessions(void *memory, size_t size)
{
    int legacy = run(LEGACY, 6, memory, size), modern = run(MODERN, 5, memory, size);
    return legacy == LEAKED || modern == LEAKED ? LEAKED : legacy != 0 ? legacy : modern;
}
