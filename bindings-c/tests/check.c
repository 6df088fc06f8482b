#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct test *tests;
static const char *running = "";
const char *variant = "";

void add_test(struct test *test)
{
    test->next = tests;
    tests = test;
}

static void fail(const char *file, int line)
{
    fprintf(stderr, "  in %s %s, %s:%d\n", running, variant, file, line);
    exit(1);
}

void check_that(bool condition, const char *what, const char *file, int line)
{
    if (condition)
        return;
    fprintf(stderr, "not so: %s\n", what);
    fail(file, line);
}

void check_status(bw_status expected, bw_status status, const char *what, const char *file, int line)
{
    if (status == expected)
        return;
    fprintf(stderr, "%s, not %s: %s\n", bw_error_name(status), bw_error_name(expected), what);
    fail(file, line);
}

void check_text(const char *expected, bw_bytes text, const char *what, const char *file, int line)
{
    if (bw_is_some(text) == (expected != NULL) && bw_equals(bw_string(expected), text))
        return;
    fprintf(stderr, "%s is %.*s, not %s\n", what, (int)text.length, text.data == NULL ? "" : (const char *)text.data,
            expected == NULL ? "nothing" : expected);
    fail(file, line);
}

static char *loans[8];
static unsigned lent;

bw_bytes loan(const char *text)
{
    size_t length = strlen(text);
    char **place = &loans[lent++ % 8];
    free(*place);
    *place = malloc(length == 0 ? 1 : length);
    memcpy(*place, text, length);
    return bw_text(*place, length);
}

void end_loans(void)
{
    for (size_t at = 0; at < 8; ++at) {
        free(loans[at]);
        loans[at] = NULL;
    }
}

/* Runs the tests that are named, or all. */
int main(int count, char **names)
{
    int ran = 0;
    for (struct test *test = tests; test != NULL; test = test->next) {
        bool chosen = count == 1;
        for (int at = 1; at < count; ++at)
            chosen = chosen || strcmp(names[at], test->name) == 0;
        if (!chosen)
            continue;
        running = test->name;
        variant = "";
        test->body();
        end_loans();
        ++ran;
    }
    printf("%d ran\n", ran);
    return ran == 0;
}
