/* A small test runner: TEST defines a case, CHECK and its like end the program at the first thing that is wrong. */
#ifndef CHECK_H
#define CHECK_H

#include <barewire.h>

struct test {
    const char *name;
    void (*body)(void);
    struct test *next;
};

void add_test(struct test *test);
void check_that(bool condition, const char *what, const char *file, int line);
void check_status(bw_status expected, bw_status status, const char *what, const char *file, int line);
void check_text(const char *expected, bw_bytes text, const char *what, const char *file, int line);

#define TEST(name)                                                                                                     \
    static void name(void);                                                                                            \
    static struct test name##_entry = {#name, name, NULL};                                                             \
    __attribute__((constructor)) static void name##_added(void)                                                        \
    {                                                                                                                  \
        add_test(&name##_entry);                                                                                       \
    }                                                                                                                  \
    static void name(void)

/* Which of several runs of a case this is, for people. */
extern const char *variant;

/* What must be true. */
#define CHECK(condition) check_that(condition, #condition, __FILE__, __LINE__)
/* What must go well. */
#define DOES(call) check_status(BW_OK, call, #call, __FILE__, __LINE__)
/* What must fail with that number. */
#define FAILS(number, call) check_status(number, call, #call, __FILE__, __LINE__)
/* What must be that text; NULL stands for nothing. */
#define READS(expected, bytes) check_text(expected, bytes, #bytes, __FILE__, __LINE__)

/* A copy of a text in memory of just its length, so that reading beyond it or after the call is noticed. It is given
 * to one call: the next `loan` but seven frees it. */
bw_bytes loan(const char *text);
/* Frees what is on loan now. */
void end_loans(void);

#endif
