/* Readers and the writer of JSON. */
#include "check.h"

#include <math.h>
#include <string.h>

static const char TEXT[] =
    "{\"a\":{\"b\":[1,-2,1e1,2.5,\"x\"]},\"s\":\"plain\",\"e\":\"x\\n\\u00e9\",\"t\":true,\"n\":null,"
    "\"a/"
    "b~c\":7,\"l\":\"\\ud800\",\"big\":18446744073709551615,\"long\":123456789012345678901234567890,\"huge\":1e999}";

TEST(json_is_checked)
{
    DOES(bw_json_check(loan(TEXT)));
    DOES(bw_json_check(loan(" 1 ")));
    FAILS(BW_ERROR_INVALID_JSON, bw_json_check(loan("{")));
    FAILS(BW_ERROR_INVALID_JSON, bw_json_check(loan("")));
    FAILS(BW_ERROR_INVALID_JSON, bw_json_check(loan("{} {}")));
    FAILS(BW_ERROR_NOT_UTF8, bw_json_check(loan("\"\xff\"")));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_json_check(bw_none()));
}

TEST(values_have_types)
{
    bw_bytes json = loan(TEXT);
    CHECK(bw_json_get_type(json, "") == BW_JSON_OBJECT);
    CHECK(bw_json_get_type(json, "/a/b") == BW_JSON_ARRAY);
    CHECK(bw_json_get_type(json, "/a/b/3") == BW_JSON_NUMBER);
    CHECK(bw_json_get_type(json, "/s") == BW_JSON_STRING);
    CHECK(bw_json_get_type(json, "/t") == BW_JSON_BOOL);
    CHECK(bw_json_get_type(json, "/n") == BW_JSON_NULL);
    CHECK(bw_json_get_type(json, "/no") == BW_JSON_NONE);
    CHECK(bw_json_get_type(json, "no") == BW_JSON_NONE);
    CHECK(bw_json_get_type(loan("["), "") == BW_JSON_NONE);
}

TEST(a_value_is_a_part_of_the_text)
{
    bw_bytes json = loan(TEXT), value = bw_none();
    DOES(bw_json_get(json, "/a/b", &value));
    READS("[1,-2,1e1,2.5,\"x\"]", value);
    CHECK(value.data > json.data && value.data < json.data + json.length);
    DOES(bw_json_get(json, "/a~1b~0c", &value));
    READS("7", value);
    FAILS(BW_ERROR_NOT_FOUND, bw_json_get(json, "/a/b/5", &value));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_json_get(json, "a", &value));
    FAILS(BW_ERROR_INVALID_JSON, bw_json_get(loan("{\"a\":}"), "/a", &value));
    FAILS(BW_ERROR_NOT_UTF8, bw_json_get(loan("{\"\xff\":1}"), "/a", &value));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_json_get(json, NULL, &value));
    READS("7", value);
}

TEST(strings_are_decoded)
{
    bw_bytes json = loan(TEXT), string = bw_none();
    char buffer[4];
    DOES(bw_json_get_string(json, "/s", NULL, 0, &string));
    READS("plain", string);
    FAILS(BW_ERROR_BUFFER_TOO_SMALL, bw_json_get_string(json, "/e", NULL, 0, &string));
    CHECK(string.data == NULL && string.length == 4);
    FAILS(BW_ERROR_BUFFER_TOO_SMALL, bw_json_get_string(json, "/e", buffer, 3, &string));
    DOES(bw_json_get_string(json, "/e", buffer, 4, &string));
    READS("x\n\xc3\xa9", string);
    CHECK(string.data == (const uint8_t *)buffer);
    FAILS(BW_ERROR_WRONG_TYPE, bw_json_get_string(json, "/t", buffer, 4, &string));
    FAILS(BW_ERROR_NOT_UTF8, bw_json_get_string(json, "/l", buffer, 4, &string));
    DOES(bw_json_unescape(loan("a\\tb"), buffer, 4, &string));
    READS("a\tb", string);
    FAILS(BW_ERROR_INVALID_JSON, bw_json_unescape(loan("a\\"), buffer, 4, &string));
    FAILS(BW_ERROR_BUFFER_TOO_SMALL, bw_json_unescape(loan("abcd\\n"), buffer, 4, &string));
}

TEST(numbers_are_exact_or_refused)
{
    bw_bytes json = loan(TEXT);
    int64_t integer = 0;
    uint64_t natural = 0;
    double number = 0;
    bool truth = false;
    size_t length = 0;
    DOES(bw_json_get_i64(json, "/a/b/1", &integer));
    CHECK(integer == -2);
    DOES(bw_json_get_i64(json, "/a/b/2", &integer));
    CHECK(integer == 10);
    FAILS(BW_ERROR_OUT_OF_RANGE, bw_json_get_i64(json, "/a/b/3", &integer));
    FAILS(BW_ERROR_OUT_OF_RANGE, bw_json_get_i64(json, "/big", &integer));
    FAILS(BW_ERROR_WRONG_TYPE, bw_json_get_i64(json, "/s", &integer));
    DOES(bw_json_get_u64(json, "/big", &natural));
    CHECK(natural == UINT64_MAX);
    FAILS(BW_ERROR_OUT_OF_RANGE, bw_json_get_u64(json, "/a/b/1", &natural));
    FAILS(BW_ERROR_NOT_FOUND, bw_json_get_u64(json, "/no", &natural));
    DOES(bw_json_get_double(json, "/a/b/3", &number));
    CHECK(number > 2.4 && number < 2.6);
    FAILS(BW_ERROR_OUT_OF_RANGE, bw_json_get_double(json, "/long", &number));
    FAILS(BW_ERROR_OUT_OF_RANGE, bw_json_get_double(json, "/huge", &number));
    FAILS(BW_ERROR_WRONG_TYPE, bw_json_get_double(json, "/n", &number));
    DOES(bw_json_get_bool(json, "/t", &truth));
    CHECK(truth);
    FAILS(BW_ERROR_WRONG_TYPE, bw_json_get_bool(json, "/n", &truth));
    DOES(bw_json_get_length(json, "/a/b", &length));
    CHECK(length == 5);
    FAILS(BW_ERROR_WRONG_TYPE, bw_json_get_length(json, "/s", &length));
    CHECK(integer == 10 && natural == UINT64_MAX && length == 5);
}

TEST(arrays_and_objects_are_gone_through)
{
    bw_bytes json = loan("{\"k\\n\":[1, 2],\"m\":{}}"), key = bw_none(), value = bw_none();
    bw_json_iterator iterator;
    DOES(bw_json_iterate(json, "", &iterator));
    CHECK(bw_json_next(&iterator, &key, &value));
    READS("k\\n", key);
    READS("[1, 2]", value);
    CHECK(bw_json_next(&iterator, NULL, NULL));
    CHECK(!bw_json_next(&iterator, &key, &value));
    CHECK(!bw_json_next(&iterator, &key, &value));
    READS("k\\n", key);
    DOES(bw_json_iterate(value, "", &iterator));
    CHECK(bw_json_next(&iterator, &key, &value));
    READS(NULL, key);
    READS("1", value);
    FAILS(BW_ERROR_WRONG_TYPE, bw_json_iterate(loan("1"), "", &iterator));
    FAILS(BW_ERROR_INVALID_JSON, bw_json_iterate(loan("[1,"), "", &iterator));
    FAILS(BW_ERROR_NOT_FOUND, bw_json_iterate(loan("{}"), "/a", &iterator));
}

static void write_all(bw_json_writer *writer)
{
    bw_json_begin_object(writer);
    bw_json_put_key(writer, loan("k\""));
    bw_json_begin_array(writer);
    bw_json_put_string(writer, loan("x\n"));
    bw_json_put_i64(writer, INT64_MIN);
    bw_json_put_u64(writer, UINT64_MAX);
    bw_json_put_double(writer, 0.5);
    bw_json_put_bool(writer, true);
    bw_json_put_null(writer);
    bw_json_put_json(writer, loan("{\"a\": 1}"));
    bw_json_put_base64(writer, loan("foob"));
    bw_json_end_array(writer);
    bw_json_end_object(writer);
}

static const char WRITTEN[] =
    "{\"k\\\"\":[\"x\\n\",-9223372036854775808,18446744073709551615,0.5,true,null,{\"a\": 1},\"Zm9vYg==\"]}";

TEST(a_writer_grows)
{
    bw_json_writer writer;
    bw_bytes json = bw_none();
    DOES(bw_json_writer_init(&writer, NULL, 0));
    for (int round = 0; round < 2; ++round) {
        write_all(&writer);
        DOES(bw_json_finish(&writer, &json));
        READS(WRITTEN, json);
        bw_json_writer_free(&writer);
    }
    bw_json_writer_free(&writer);
}

TEST(a_writer_stays_in_its_buffer)
{
    char buffer[sizeof WRITTEN - 1];
    bw_json_writer writer;
    bw_bytes json = bw_none();
    DOES(bw_json_writer_init(&writer, buffer, sizeof buffer));
    write_all(&writer);
    DOES(bw_json_finish(&writer, &json));
    READS(WRITTEN, json);
    CHECK(json.data == (const uint8_t *)buffer);
    DOES(bw_json_writer_init(&writer, buffer, sizeof buffer - 1));
    write_all(&writer);
    FAILS(BW_ERROR_BUFFER_TOO_SMALL, bw_json_finish(&writer, &json));
    CHECK(json.data == NULL && json.length == sizeof buffer);
}

static bw_status finish(bw_json_writer *writer)
{
    bw_bytes json;
    bw_status status = bw_json_finish(writer, &json);
    bw_json_writer_free(writer);
    return status;
}

TEST(a_writer_tells_its_first_mistake)
{
    bw_json_writer writer;
    DOES(bw_json_writer_init(&writer, NULL, 0));
    FAILS(BW_ERROR_WRITER_MISUSED, finish(&writer));
    bw_json_begin_array(&writer);
    bw_json_end_object(&writer);
    bw_json_put_double(&writer, NAN);
    FAILS(BW_ERROR_WRITER_MISUSED, finish(&writer));
    bw_json_put_double(&writer, INFINITY);
    FAILS(BW_ERROR_OUT_OF_RANGE, finish(&writer));
    bw_json_put_json(&writer, loan("{]"));
    FAILS(BW_ERROR_INVALID_JSON, finish(&writer));
    bw_json_put_string(&writer, loan("\xc3"));
    FAILS(BW_ERROR_NOT_UTF8, finish(&writer));
    bw_json_put_null(&writer);
    DOES(finish(&writer));
    for (int depth = 0; depth < 65; ++depth)
        bw_json_begin_object(&writer);
    FAILS(BW_ERROR_WRITER_MISUSED, finish(&writer));
}
