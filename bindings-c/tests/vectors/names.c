#include "player.h"

#include <string.h>

/* Members that name handles, and their kinds. */
static const char *const HANDLES[][2] = {
    {"request", "request"}, {"subscription", "subscription"}, {"input", "input"},
    {"session", "session"}, {"abandoned", "request"},
};

/* Members of events whose values are compared by the members that are written. */
static const char *const RECORDS[] = {"context", "inputs", "input_answers", "error", "reason", "filter", "honoured"};

static const char *kind_of(bw_bytes name)
{
    for (size_t at = 0; at < sizeof HANDLES / sizeof *HANDLES; ++at)
        if (bw_equals(name, bw_string(HANDLES[at][0])))
            return HANDLES[at][1];
    return NULL;
}

static bool is_record(bw_bytes name)
{
    for (size_t at = 0; at < sizeof RECORDS / sizeof *RECORDS; ++at)
        if (bw_equals(name, bw_string(RECORDS[at])))
            return true;
    return false;
}

_Noreturn static void differ(bw_bytes expected, bw_bytes actual)
{
    disagree("expected %.*s, got %.*s", (int)expected.length, (const char *)expected.data, (int)actual.length,
             actual.data == NULL ? "" : (const char *)actual.data);
}

void name_handle(struct names *names, const char *kind, bw_bytes name, uint64_t handle)
{
    for (size_t at = 0; at < names->handle_count; ++at) {
        if (strcmp(names->handles[at].kind, kind) != 0)
            continue;
        bool same_name = bw_equals(names->handles[at].name, name), same = names->handles[at].handle == handle;
        if (same_name != same)
            disagree("%s %.*s is another one", kind, (int)name.length, (const char *)name.data);
        if (same)
            return;
    }
    if (names->handle_count == sizeof names->handles / sizeof *names->handles)
        disagree("too many handles");
    names->handles[names->handle_count].kind = kind;
    names->handles[names->handle_count].name = name;
    names->handles[names->handle_count++].handle = handle;
}

uint64_t handle_member(const struct names *names, bw_bytes command, const char *name)
{
    bw_bytes value = member(command, name);
    uint64_t number = 0;
    if (!bw_is_some(value) || is_null(value) || bw_json_get_u64(value, "", &number) == BW_OK)
        return number;
    bw_bytes wanted = string_of(value);
    for (size_t at = 0; at < names->handle_count; ++at)
        if (strcmp(names->handles[at].kind, kind_of(bw_string(name))) == 0 &&
            bw_equals(names->handles[at].name, wanted))
            return names->handles[at].handle;
    disagree("no handle is known as %.*s", (int)wanted.length, (const char *)wanted.data);
}

static const bw_bytes *value_of(const struct names *names, bw_bytes name)
{
    for (size_t at = 0; at < names->value_count; ++at)
        if (bw_equals(names->values[at].name, name))
            return &names->values[at].value;
    return NULL;
}

static size_t place_of(bw_bytes text, size_t from, const char *wanted)
{
    size_t length = strlen(wanted), at = from;
    while (at + length <= text.length && memcmp(text.data + at, wanted, length) != 0)
        ++at;
    return at + length <= text.length ? at : text.length;
}

bw_bytes filled(const struct names *names, bw_bytes text)
{
    const char *data = (const char *)text.data;
    bw_bytes whole = BW_LITERAL("");
    size_t done = 0, at;
    while ((at = place_of(text, done, "${")) < text.length) {
        size_t end = place_of(text, at, "}");
        const bw_bytes *value = value_of(names, bw_text(data + at + 2, end - at - 2));
        if (value == NULL)
            disagree("nothing is known as %.*s", (int)(end - at), data + at);
        bool quoted = at > done && data[at - 1] == '"' && end + 1 < text.length && data[end + 1] == '"';
        whole = joined(whole, bw_text(data + done, at - done - (quoted ? 1 : 0)));
        whole = joined(whole, *value);
        done = end + (quoted ? 2 : 1);
    }
    return done == 0 ? text : joined(whole, bw_text(data + done, text.length - done));
}

static bool same(bw_bytes one, bw_bytes other);

static bool same_numbers(bw_bytes one, bw_bytes other)
{
    int64_t first, second;
    double x, y;
    if (bw_equals(one, other))
        return true;
    if (bw_json_get_i64(one, "", &first) == BW_OK && bw_json_get_i64(other, "", &second) == BW_OK)
        return first == second;
    return bw_json_get_double(one, "", &x) == BW_OK && bw_json_get_double(other, "", &y) == BW_OK && !(x < y) &&
           !(x > y);
}

static bw_bytes decoded(bw_bytes key)
{
    bw_bytes string = key;
    if (bw_json_unescape(key, take(key.length + 1), key.length, &string) != BW_OK)
        disagree("no key: %.*s", (int)key.length, (const char *)key.data);
    return string;
}

/* As `member`, with names compared decoded. */
static bw_bytes find(bw_bytes object, bw_bytes wanted)
{
    bw_json_iterator members;
    bw_bytes key, value, found = bw_none();
    if (bw_json_iterate(object, "", &members) == BW_OK)
        while (bw_json_next(&members, &key, &value))
            if (bw_equals(decoded(key), wanted))
                found = value;
    return found;
}

static size_t length_of(bw_bytes container)
{
    size_t length = 0;
    bw_json_get_length(container, "", &length);
    return length;
}

static bool same_containers(bw_bytes one, bw_bytes other, bool named)
{
    bw_json_iterator first, second;
    bw_bytes key, value, against;
    if (length_of(one) != length_of(other) || bw_json_iterate(one, "", &first) != BW_OK ||
        bw_json_iterate(other, "", &second) != BW_OK)
        return false;
    while (bw_json_next(&first, &key, &value)) {
        bw_json_next(&second, NULL, &against);
        if (named)
            against = find(other, decoded(key));
        if (!bw_is_some(against) || !same(value, against))
            return false;
    }
    return true;
}

/* Whether two JSON values are the same: numbers by value, members in any order. */
static bool same(bw_bytes one, bw_bytes other)
{
    bw_json_type type = bw_json_get_type(one, "");
    if (type != bw_json_get_type(other, ""))
        return false;
    switch (type) {
    case BW_JSON_NUMBER:
        return same_numbers(one, other);
    case BW_JSON_STRING:
        return bw_equals(one, other) || bw_equals(string_of(one), string_of(other));
    case BW_JSON_ARRAY:
    case BW_JSON_OBJECT:
        return same_containers(one, other, type == BW_JSON_OBJECT);
    default:
        return bw_equals(one, other);
    }
}

/* Compares with a string that is a name; false if it is none. */
static bool compare_name(struct names *names, bw_bytes expected, bw_bytes actual)
{
    if (expected.length < 5 || memcmp(expected.data, "\"${", 3) != 0 || expected.data[expected.length - 2] != '}')
        return false;
    bw_bytes name = bw_text((const char *)expected.data + 3, expected.length - 5);
    const bw_bytes *known = value_of(names, name);
    if (known != NULL) {
        if (!same(*known, actual))
            differ(*known, actual);
    } else {
        if (names->value_count == sizeof names->values / sizeof *names->values)
            disagree("too many names");
        names->values[names->value_count].name = name;
        names->values[names->value_count++].value = joined(actual, bw_none());
    }
    return true;
}

static void compare_objects(struct names *names, bw_bytes expected, bw_bytes actual)
{
    bw_json_iterator members;
    bw_bytes key, value;
    bool more = bw_is_some(member(expected, "$more"));
    if (bw_json_get_type(actual, "") != BW_JSON_OBJECT || (!more && length_of(expected) != length_of(actual)) ||
        bw_json_iterate(expected, "", &members) != BW_OK)
        differ(expected, actual);
    while (bw_json_next(&members, &key, &value)) {
        bw_bytes other = find(actual, decoded(key));
        if (bw_equals(key, BW_LITERAL("$more")))
            continue;
        if (!bw_is_some(other))
            differ(expected, actual);
        compare(names, value, other);
    }
}

static void compare_arrays(struct names *names, bw_bytes expected, bw_bytes actual,
                           void element(struct names *names, bw_bytes expected, bw_bytes actual))
{
    bw_json_iterator first, second;
    bw_bytes one, other;
    if (bw_json_get_type(actual, "") != BW_JSON_ARRAY || length_of(expected) != length_of(actual) ||
        bw_json_iterate(expected, "", &first) != BW_OK || bw_json_iterate(actual, "", &second) != BW_OK)
        differ(expected, actual);
    while (bw_json_next(&first, NULL, &one) && bw_json_next(&second, NULL, &other))
        element(names, one, other);
}

void compare(struct names *names, bw_bytes expected, bw_bytes actual)
{
    bw_json_type type = bw_json_get_type(expected, "");
    bw_bytes part = member(expected, "$contains");
    if (bw_equals(expected, BW_LITERAL("\"$any\"")) || compare_name(names, expected, actual))
        return;
    if (bw_is_some(part)) {
        bw_bytes wanted = string_of(part), text = string_of(actual);
        char *ended = (char *)(size_t)joined(wanted, bw_none()).data;
        ended[wanted.length] = '\0';
        if (wanted.length == 0 || place_of(text, 0, ended) == text.length)
            differ(expected, actual);
    } else if (type == BW_JSON_OBJECT) {
        compare_objects(names, expected, actual);
    } else if (type == BW_JSON_ARRAY) {
        compare_arrays(names, expected, actual, compare);
    } else if (!same(expected, actual)) {
        differ(expected, actual);
    }
}

static void compare_handle(struct names *names, const char *kind, bw_bytes expected, bw_bytes actual)
{
    bw_json_iterator first, second;
    uint64_t handle = 0;
    if (bw_json_get_type(expected, "") == BW_JSON_ARRAY) {
        if (length_of(expected) != length_of(actual) || bw_json_iterate(expected, "", &first) != BW_OK ||
            bw_json_iterate(actual, "", &second) != BW_OK)
            differ(expected, actual);
        bw_bytes one, other;
        while (bw_json_next(&first, NULL, &one) && bw_json_next(&second, NULL, &other))
            compare_handle(names, kind, one, other);
    } else if (is_null(expected) || is_null(actual)) {
        if (!is_null(expected) || !is_null(actual))
            differ(expected, actual);
    } else if (bw_json_get_u64(actual, "", &handle) != BW_OK) {
        differ(expected, actual);
    } else if (!bw_equals(expected, BW_LITERAL("\"$any\""))) {
        name_handle(names, kind, string_of(expected), handle);
    }
}

void compare_record(struct names *names, bw_bytes expected, bw_bytes actual)
{
    bw_json_iterator members;
    bw_bytes key, value, text;
    if (bw_json_get_type(actual, "") != BW_JSON_OBJECT || bw_json_iterate(expected, "", &members) != BW_OK)
        differ(expected, actual);
    while (bw_json_next(&members, &key, &value)) {
        bw_bytes other = find(actual, key);
        const char *kind = kind_of(key);
        if (!bw_is_some(other))
            differ(expected, actual);
        if (kind != NULL)
            compare_handle(names, kind, value, other);
        else if (bw_is_some(text = member(value, "$text"))) {
            if (!bw_equals(string_of(text), other))
                differ(value, other);
        } else if (is_record(key) && bw_json_get_type(value, "") == BW_JSON_OBJECT)
            compare_record(names, value, other);
        else if (is_record(key) && bw_json_get_type(value, "") == BW_JSON_ARRAY)
            compare_arrays(names, value, other, compare_record);
        else
            compare(names, value, other);
    }
}
