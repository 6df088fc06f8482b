#include "device.h"

static const char MEASURE[] =
    "{\"name\":\"measure\",\"description\":\"Reads a sensor several times and gives the mean.\",\"inputSchema\":{"
    "\"type\":\"object\",\"properties\":{\"sensor\":{\"type\":\"string\"},\"count\":{\"type\":\"integer\","
    "\"minimum\":1,\"maximum\":100}},\"required\":[\"sensor\"]}}";
static const char SWITCH[] =
    "{\"name\":\"switch\",\"description\":\"Turns a relay on or off.\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"on\":{\"type\":\"boolean\"}},\"required\":[\"on\"]}}";
static const char LOG[] = "{\"uri\":\"device://log\",\"name\":\"log\",\"description\":\"The last lines of the log.\","
                          "\"mimeType\":\"text/plain\"}";
static const char LINES[] =
    "{\"contents\":[{\"uri\":\"device://log\",\"mimeType\":\"text/plain\",\"text\":\"started\\nmeasured\\n\"}]}";

static bw_server *server;

bw_status device_start(const unsigned char *seed, size_t memory)
{
    bw_server_config *config = NULL;
    bw_status status = bw_server_config_new(BW_LITERAL("device"), BW_LITERAL("1.0"), seed, &config);
    if (status != BW_OK)
        return status;
    status = bw_server_config_set_memory(config, memory);
    if (status == BW_OK)
        status = bw_server_new(config, &server);
    bw_server_config_free(config);
    if (status == BW_OK)
        status = bw_server_add_tool(server, bw_string(MEASURE));
    if (status == BW_OK)
        status = bw_server_add_tool(server, bw_string(SWITCH));
    if (status == BW_OK)
        status = bw_server_add_resource(server, bw_string(LOG));
    return status;
}

static void send_all(void)
{
    bw_bytes data;
    while ((data = bw_server_data_to_send(server)).length > 0) {
        device_send(data.data, data.length);
        bw_server_consume(server, data.length);
    }
}

/* Answers a request. Where there is no room for the answer, a short error tells so: for that there always is. */
static void answer(const bw_event *event)
{
    uint64_t request = bw_event_request(event);
    bw_status status;
    if (bw_event_kind(event) == BW_EVENT_RESOURCE_READ_REQUESTED) {
        status = bw_server_respond(server, request, bw_string(LINES));
    } else {
        bw_server_notify_progress(server, request, 1, 3, bw_none(), NULL);
        send_all();
        status = bw_server_respond_text(server, request, BW_LITERAL("21.5 degrees"));
    }
    if (status == BW_ERROR_LIMIT_MEMORY)
        bw_server_respond_error(server, request, BW_RPC_INTERNAL_ERROR, BW_LITERAL("too little memory"), bw_none());
}

static void handle_events(void)
{
    const bw_event *event;
    send_all();
    while ((event = bw_server_poll_event(server)) != NULL) {
        switch (bw_event_kind(event)) {
        case BW_EVENT_TOOL_CALLED:
        case BW_EVENT_RESOURCE_READ_REQUESTED:
            answer(event);
            break;
        default:
            break;
        }
        send_all();
    }
}

bw_status device_receive(uint64_t now, const void *data, size_t length)
{
    bw_status status = bw_server_receive_data(server, now, bw_text(data, length));
    if (status == BW_ERROR_LIMIT_MEMORY) {
        /* What waits is in the way: it goes first. */
        handle_events();
        status = bw_server_receive_data(server, now, bw_text(data, length));
    }
    handle_events();
    return status;
}

bw_status device_end(uint64_t now)
{
    bw_status status = bw_server_receive_eof(server, now);
    handle_events();
    return status;
}

void device_stop(void)
{
    bw_server_free(server);
    server = NULL;
}
