/* The sessions in memory of every size, from none to plenty: nothing may fail, and everything is given back. */
#include "session.h"

#include <barewire_port.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t memory[(24 << 10) / 8];

void bw_port_panic(void)
{
    fputs("the library has a defect, or memory ended\n", stderr);
    abort();
}

void say(const char *text, size_t length)
{
    (void)text;
    (void)length;
}

void say_number(const char *what, size_t number)
{
    (void)what;
    (void)number;
}

int main(void)
{
    size_t size, served = 0, least = 0;
    for (size = 64; size <= sizeof memory; size += 8) {
        int failed = run_sessions(memory, size);
        if (failed == LEAKED) {
            fprintf(stderr, "in %zu bytes something is not given back\n", size);
            return 1;
        }
        served += failed == 0;
        if (failed != 0)
            least = 0;
        else if (least == 0)
            least = size;
    }
    printf("whole sessions in %zu sizes, in all from %zu bytes on\n", served, least);
    return served == 0;
}
