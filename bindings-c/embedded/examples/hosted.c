/* The sessions in 16 KiB, on a machine with an operating system. */
#include "session.h"

#include <barewire_port.h>

#include <stdio.h>
#include <stdlib.h>

static unsigned char memory[16 << 10];

void bw_port_panic(void)
{
    fputs("the library has a defect, or memory ended\n", stderr);
    abort();
}

void say(const char *text, size_t length)
{
    fwrite(text, 1, length, stdout);
}
void say_number(const char *what, size_t number)
{
    printf("%zu %s\n", number, what);
}

int main(void)
{
    int failed = run_sessions(memory, sizeof memory);
    if (failed != 0)
        fprintf(stderr, "check %d failed\n", failed);
    return failed;
}
