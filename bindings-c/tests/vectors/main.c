/* Plays the scripts of the files that are named, each with its bytes cut in several ways. */
#include "player.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AS_WRITTEN, JOINED, ONE_BY_ONE, AT_RANDOM, AT_RANDOM_AGAIN, CUTS };
static const char *const CUT_NAMES[] = {"as written", "joined", "one by one", "at random", "at random again"};

/* Deadlines that may follow each other without an end before that counts as hanging. */
enum { MOST_DEADLINES = 10000, MOST_EVENTS = 4000 };

struct script {
    bw_bytes vector;
    int cut;
    uint32_t random;
    struct player player;
    bw_bytes fed, sent;
    bw_bytes events[MOST_EVENTS];
    size_t event_count;
};

static const bw_event *poll_event(struct player *it)
{
    return it->client != NULL ? bw_client_poll_event(it->client) : bw_server_poll_event(it->server);
}

static bw_bytes data_to_send(struct player *it)
{
    return it->client != NULL ? bw_client_data_to_send(it->client) : bw_server_data_to_send(it->server);
}

static void collect(struct script *script)
{
    struct player *it = &script->player;
    const bw_event *event;
    bw_bytes data;
    while ((event = poll_event(it)) != NULL && script->event_count < MOST_EVENTS)
        script->events[script->event_count++] = described(event, it->server != NULL);
    while ((data = data_to_send(it)).length > 0) {
        script->sent = joined(script->sent, data);
        if (it->client != NULL)
            bw_client_consume(it->client, data.length);
        else
            bw_server_consume(it->server, data.length);
    }
}

/* ---- What goes in ---- */

static size_t piece_of(struct script *script, size_t length)
{
    switch (script->cut) {
    case ONE_BY_ONE:
        return 1;
    case AT_RANDOM:
    case AT_RANDOM_AGAIN:
        script->random = script->random * 1664525 + 1013904223;
        return 1 + (script->random >> 8) % length;
    default:
        return length;
    }
}

static void hand_over(struct script *script)
{
    struct player *it = &script->player;
    size_t done = 0;
    while (done < script->fed.length) {
        size_t count = piece_of(script, script->fed.length - done);
        bw_bytes piece = bw_text((const char *)script->fed.data + done, count);
        if (it->client != NULL)
            bw_client_receive_data(it->client, it->now, piece);
        else
            bw_server_receive_data(it->server, it->now, piece);
        collect(script);
        done += count;
    }
    script->fed = BW_LITERAL("");
}

static void feed(struct script *script, bw_bytes value)
{
    bool is_text = bw_json_get_type(value, "") == BW_JSON_STRING;
    bw_bytes text = is_text ? string_of(value) : joined(value, BW_LITERAL("\n"));
    script->fed = joined(script->fed, filled(&script->player.names, text));
}

static void feed_hex(struct script *script, bw_bytes value)
{
    bw_bytes hex = string_of(value);
    char *bytes = take(hex.length);
    for (size_t at = 0; at + 1 < hex.length; at += 2) {
        char digits[3] = {(char)hex.data[at], (char)hex.data[at + 1], '\0'};
        bytes[at / 2] = (char)strtol(digits, NULL, 16);
    }
    script->fed = joined(script->fed, bw_text(bytes, hex.length / 2));
}

static uint64_t due_of(struct player *it)
{
    return it->client != NULL ? bw_client_poll_timeout(it->client) : bw_server_poll_timeout(it->server);
}

static void advance(struct script *script, bw_bytes value)
{
    struct player *it = &script->player;
    uint64_t milliseconds = 0, due;
    bw_json_get_u64(value, "", &milliseconds);
    uint64_t end = it->now + milliseconds;
    for (int round = 0; round < MOST_DEADLINES; ++round) {
        bool is_due = (due = due_of(it)) <= end;
        it->now = !is_due ? end : due > it->now ? due : it->now;
        if (it->client != NULL)
            bw_client_handle_timeout(it->client, it->now);
        else
            bw_server_handle_timeout(it->server, it->now);
        collect(script);
        if (!is_due)
            return;
    }
    disagree("deadlines follow each other without an end");
}

/* Whether the step was one of those that change how bytes go on. */
static bool ends(struct player *it, bw_bytes kind)
{
    if (bw_equals(kind, BW_LITERAL("eof")))
        it->client != NULL ? bw_client_receive_eof(it->client, it->now) : bw_server_receive_eof(it->server, it->now);
    else if (bw_equals(kind, BW_LITERAL("lost")))
        it->client != NULL ? bw_client_connection_lost(it->client, it->now)
                           : bw_server_connection_lost(it->server, it->now);
    else if (bw_equals(kind, BW_LITERAL("restart")))
        bw_client_restart(it->client, it->now);
    else
        return false;
    return true;
}

/* ---- What must come out ---- */

static bw_bytes next_line(struct script *script)
{
    const uint8_t *end = script->sent.length == 0 ? NULL : memchr(script->sent.data, '\n', script->sent.length);
    if (end == NULL)
        disagree("%s", script->sent.length == 0 ? "less was sent" : "what was sent does not end with LF");
    bw_bytes line = bw_text((const char *)script->sent.data, (size_t)(end - script->sent.data));
    script->sent.data += line.length + 1;
    script->sent.length -= line.length + 1;
    if (line.length == 0 || (line.data[0] != '{' && line.data[0] != '[') || memchr(line.data, '\r', line.length))
        disagree("no message of one line: %.*s", (int)line.length, (const char *)line.data);
    return line;
}

static void check_sent(struct script *script, bw_bytes expected)
{
    bw_json_iterator messages;
    bw_bytes message;
    if (bw_json_iterate(expected, "", &messages) != BW_OK)
        disagree("no list of messages");
    while (bw_json_next(&messages, NULL, &message)) {
        bw_bytes line = next_line(script);
        if (bw_json_get_type(message, "") != BW_JSON_STRING)
            compare(&script->player.names, message, line);
        else if (!bw_equals(filled(&script->player.names, string_of(message)), line))
            disagree("sent %.*s", (int)line.length, (const char *)line.data);
    }
    if (script->sent.length != 0)
        disagree("sent as well: %.*s", (int)script->sent.length, (const char *)script->sent.data);
}

static void check_events(struct script *script, bw_bytes expected)
{
    bw_json_iterator events;
    bw_bytes event;
    size_t at = 0;
    if (bw_json_iterate(expected, "", &events) != BW_OK)
        disagree("no list of events");
    for (; bw_json_next(&events, NULL, &event); ++at) {
        if (at == script->event_count)
            disagree("not told: %.*s", (int)event.length, (const char *)event.data);
        compare_record(&script->player.names, event, script->events[at]);
    }
    if (at != script->event_count)
        disagree("told as well: %.*s", (int)script->events[at].length, (const char *)script->events[at].data);
    script->event_count = 0;
}

static bool is_as(struct player *it, bw_bytes name, bw_bytes value)
{
    bool is_client = it->client != NULL;
    if (bw_equals(name, BW_LITERAL("finished")))
        return is_true(value) == (is_client ? bw_client_is_finished(it->client) : bw_server_is_finished(it->server));
    if (bw_equals(name, BW_LITERAL("wants_input")))
        return is_true(value) == (is_client ? bw_client_wants_input(it->client) : bw_server_wants_input(it->server));
    if (bw_equals(name, BW_LITERAL("era_verdict"))) {
        bw_bytes verdict = bw_client_era_verdict(it->client);
        return is_null(value) ? !bw_is_some(verdict) : bw_equals(string_of(value), verdict);
    }
    uint64_t due = due_of(it), left = due > it->now ? due - it->now : 0, wanted = 0;
    if (is_null(value))
        return due == BW_NEVER;
    return due != BW_NEVER && bw_json_get_u64(value, "", &wanted) == BW_OK && wanted == left;
}

static void check_state(struct script *script, bw_bytes expected)
{
    bw_json_iterator members;
    bw_bytes name, value;
    if (bw_json_iterate(expected, "", &members) != BW_OK)
        disagree("no object");
    while (bw_json_next(&members, &name, &value))
        if (!is_as(&script->player, name, value))
            disagree("%.*s is not %.*s", (int)name.length, (const char *)name.data, (int)value.length,
                     (const char *)value.data);
}

/* ---- A script ---- */

static void take_step(struct script *script, bw_bytes kind, bw_bytes value)
{
    bool feeds = bw_equals(kind, BW_LITERAL("feed")) || bw_equals(kind, BW_LITERAL("feed_hex"));
    if (!feeds || script->cut == AS_WRITTEN)
        hand_over(script);
    if (bw_equals(kind, BW_LITERAL("feed")))
        feed(script, value);
    else if (feeds)
        feed_hex(script, value);
    else if (bw_equals(kind, BW_LITERAL("advance")))
        advance(script, value);
    else if (bw_equals(kind, BW_LITERAL("sent")))
        check_sent(script, value);
    else if (bw_equals(kind, BW_LITERAL("events")))
        check_events(script, value);
    else if (bw_equals(kind, BW_LITERAL("state")))
        check_state(script, value);
    else if (bw_equals(kind, BW_LITERAL("do"))) {
        carry_out(&script->player, filled(&script->player.names, value));
        collect(script);
    } else if (ends(&script->player, kind))
        collect(script);
    else
        disagree("no such step: %.*s", (int)kind.length, (const char *)kind.data);
}

static void play(void *argument)
{
    struct script *script = argument;
    bw_json_iterator steps, members;
    bw_bytes step, kind, value;
    bool is_client = bw_equals(string_member(script->vector, "role"), BW_LITERAL("client"));
    set_up(&script->player, is_client, member(script->vector, "config"));
    collect(script);
    if (bw_json_iterate(member(script->vector, "steps"), "", &steps) != BW_OK)
        disagree("no steps");
    while (bw_json_next(&steps, NULL, &step))
        if (bw_json_iterate(step, "", &members) == BW_OK && bw_json_next(&members, &kind, &value))
            take_step(script, kind, value);
    hand_over(script);
    check_sent(script, BW_LITERAL("[]"));
    check_events(script, BW_LITERAL("[]"));
}

/* Plays a script in every way; false if it disagreed once. */
static bool play_all(bw_bytes vector)
{
    static struct script script;
    char why[2000];
    for (int cut = 0; cut < CUTS; ++cut) {
        memset(&script, 0, sizeof script);
        script.vector = vector;
        script.cut = cut;
        script.random = (uint32_t)cut;
        script.fed = script.sent = BW_LITERAL("");
        bool agrees = plays(play, &script, why, sizeof why);
        bw_client_free(script.player.client);
        bw_server_free(script.player.server);
        if (!agrees) {
            bw_bytes name = bw_none();
            bw_json_get(vector, "/name", &name);
            printf("%.*s, fed %s: %s\n", (int)name.length, (const char *)name.data, CUT_NAMES[cut], why);
            return false;
        }
    }
    return true;
}

int main(int count, char **names)
{
    int passed = 0, failed = 0;
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    for (int at = 1; at < count; ++at) {
        FILE *file = fopen(names[at], "r");
        if (file == NULL) {
            perror(names[at]);
            return 2;
        }
        while ((length = getline(&line, &size, file)) > 1)
            play_all(bw_text(line, (size_t)length)) ? ++passed : ++failed;
        fclose(file);
    }
    free(line);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
