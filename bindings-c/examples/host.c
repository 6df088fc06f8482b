#include "host.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static uint64_t milliseconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

uint64_t host_now(void)
{
    return milliseconds(CLOCK_MONOTONIC);
}

uint64_t host_time(void)
{
    return milliseconds(CLOCK_REALTIME);
}

int host_patience(uint64_t due)
{
    uint64_t now = host_now();
    if (due == BW_NEVER)
        return -1;
    if (due <= now)
        return 0;
    return due - now > INT_MAX ? INT_MAX : (int)(due - now);
}

void host_seed(uint8_t *seed)
{
    if (getentropy(seed, BW_SEED_BYTES) != 0) {
        perror("getentropy");
        exit(1);
    }
}

void host_must(bw_status status)
{
    if (status != BW_OK) {
        fprintf(stderr, "%s\n", bw_error_name(status));
        exit(1);
    }
}

static volatile sig_atomic_t is_to_end;

static void note(int signal)
{
    (void)signal;
    is_to_end = 1;
}

void host_note_end(void)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    struct sigaction action = {0};
    sigset_t blocked;
    size_t at;
    sigemptyset(&blocked);
    action.sa_handler = note;
    for (at = 0; at < sizeof numbers / sizeof *numbers; at++) {
        sigaddset(&blocked, numbers[at]);
        sigaction(numbers[at], &action, NULL);
    }
    sigprocmask(SIG_BLOCK, &blocked, NULL);
}

bool host_is_to_end(void)
{
    sigset_t pending; /* where a host has no need to wait, none is let in */
    sigpending(&pending);
    return is_to_end || sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1;
}

/* How many bytes the character at `text` has, or 0 if it is not UTF-8 (RFC 3629, section 4). */
static size_t character(const uint8_t *text, size_t left)
{
    uint8_t first = text[0], low = 0x80, high = 0xBF;
    size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    size_t at;
    if (length > left)
        return 0;
    if (first == 0xE0)
        low = 0xA0; /* overlong */
    else if (first == 0xED)
        high = 0x9F; /* surrogates */
    else if (first == 0xF0)
        low = 0x90; /* overlong */
    else if (first == 0xF4)
        high = 0x8F; /* beyond Unicode */
    for (at = 1; at < length; at++) {
        if (text[at] < low || text[at] > high)
            return 0;
        low = 0x80;
        high = 0xBF;
    }
    return length;
}

static bool is_utf8(bw_bytes text)
{
    size_t at = 0, length = 1;
    for (; at < text.length && length > 0; at += length)
        length = character(text.data + at, text.length - at);
    return length > 0;
}

/* Writes `text` as UTF-8, of which Latin-1 needs up to twice the bytes; how many there are. */
static size_t write_utf8(uint8_t *out, bw_bytes text)
{
    bool is_latin1 = !is_utf8(text);
    size_t length = 0, at;
    for (at = 0; at < text.length; at++) {
        uint8_t byte = text.data[at];
        if (is_latin1 && byte >= 0x80) {
            out[length++] = (uint8_t)(0xC0 | byte >> 6);
            byte = 0x80 | (byte & 0x3F);
        }
        out[length++] = byte;
    }
    return length;
}

static bool make_room(host_headers *headers)
{
    size_t room = headers->room == 0 ? 16 : headers->room * 2;
    bw_pair *pairs;
    if (headers->count < headers->room)
        return true;
    if ((pairs = realloc(headers->pairs, room * sizeof *pairs)) == NULL)
        return false;
    headers->pairs = pairs;
    headers->room = room;
    return true;
}

void host_headers_add(host_headers *headers, bw_bytes name, bw_bytes value)
{
    uint8_t *text;
    bw_pair *pair;
    /* Name and value share one piece of memory, which begins with the name. */
    if (!make_room(headers) || (text = malloc(2 * (name.length + value.length) + 1)) == NULL)
        return;
    pair = &headers->pairs[headers->count++];
    pair->name.data = text;
    pair->name.length = write_utf8(text, name);
    pair->value.data = text + pair->name.length;
    pair->value.length = write_utf8(text + pair->name.length, value);
}

bool host_headers_add_line(host_headers *headers, const char *line, size_t length)
{
    const char *colon = memchr(line, ':', length);
    size_t end = length, start;
    while (end > 0 && strchr("\r\n \t", line[end - 1]) != NULL)
        end--;
    if (colon != NULL && colon < line + end) {
        start = (size_t)(colon - line) + 1;
        while (start < end && (line[start] == ' ' || line[start] == '\t'))
            start++;
        host_headers_add(headers, bw_text(line, (size_t)(colon - line)), bw_text(line + start, end - start));
    }
    return end > 0;
}

void host_headers_clear(host_headers *headers)
{
    size_t at;
    for (at = 0; at < headers->count; at++)
        free((void *)headers->pairs[at].name.data);
    free(headers->pairs);
    memset(headers, 0, sizeof *headers);
}
