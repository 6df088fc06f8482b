#include "player.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block {
    struct block *next;
};

static struct block *taken;
static jmp_buf end_of_script;
static char reason[2000];

void disagree(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    longjmp(end_of_script, 1);
}

bool plays(void play(void *argument), void *argument, char *why, size_t size)
{
    bool agrees = setjmp(end_of_script) == 0;
    if (agrees)
        play(argument);
    else
        snprintf(why, size, "%s", reason);
    while (taken != NULL) {
        struct block *next = taken->next;
        free(taken);
        taken = next;
    }
    return agrees;
}

void *take(size_t size)
{
    struct block *block = malloc(sizeof *block + size);
    if (block == NULL)
        abort();
    block->next = taken;
    taken = block;
    return block + 1;
}

bw_bytes joined(bw_bytes first, bw_bytes second)
{
    char *data = take(first.length + second.length + 1);
    if (first.length != 0)
        memcpy(data, first.data, first.length);
    if (second.length != 0)
        memcpy(data + first.length, second.data, second.length);
    return bw_text(data, first.length + second.length);
}

bw_bytes string_of(bw_bytes json)
{
    bw_bytes string = bw_none();
    char *buffer = take(json.length + 1);
    bw_status status = bw_json_get_string(json, "", buffer, json.length, &string);
    if (status != BW_OK)
        disagree("no string: %.*s", (int)json.length, (const char *)json.data);
    return string;
}

bw_bytes member(bw_bytes object, const char *name)
{
    bw_json_iterator members;
    bw_bytes key, value, found = bw_none();
    if (bw_json_iterate(object, "", &members) != BW_OK)
        return found;
    while (bw_json_next(&members, &key, &value))
        if (bw_equals(key, bw_string(name)))
            found = value;
    return found;
}

bw_bytes string_member(bw_bytes object, const char *name)
{
    bw_bytes value = member(object, name);
    return !bw_is_some(value) || is_null(value) ? bw_none() : string_of(value);
}

bw_bytes json_member(bw_bytes object, const char *name)
{
    bw_bytes value = member(object, name), text = member(value, "$text");
    return bw_is_some(text) ? string_of(text) : value;
}

double number_member(bw_bytes object, const char *name, double otherwise)
{
    bw_bytes value = member(object, name);
    double number = otherwise;
    if (bw_is_some(value) && !is_null(value) && bw_json_get_double(value, "", &number) != BW_OK)
        disagree("no number: %s", name);
    return number;
}

bool is_true(bw_bytes json)
{
    return bw_equals(json, BW_LITERAL("true"));
}

bool is_null(bw_bytes json)
{
    return bw_equals(json, BW_LITERAL("null"));
}
