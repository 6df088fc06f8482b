/*
 * A server on standard input and output on libbarewire_embedded.a, with the memory of the C library. Built with musl it is
 * one small file that needs nothing else.
 */
#include "device.h"

#include <barewire_port.h>

#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

void *bw_port_allocate(size_t size)
{
    return malloc(size);
}
void *bw_port_reallocate(void *place, size_t size)
{
    return realloc(place, size);
}
void bw_port_free(void *place)
{
    free(place);
}
size_t bw_port_available(void)
{
    return (size_t)-1;
}
void bw_port_panic(void)
{
    abort();
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

void device_send(const void *data, size_t length)
{
    const char *next = data;
    while (length > 0) {
        ssize_t count = write(STDOUT_FILENO, next, length);
        if (count <= 0)
            exit(1);
        next += count;
        length -= (size_t)count;
    }
}

int main(void)
{
    static char buffer[4096];
    unsigned char seed[BW_SEED_BYTES];
    ssize_t count;
    if (getentropy(seed, sizeof seed) != 0 || device_start(seed, (size_t)1 << 20) != BW_OK)
        return 1;
    while ((count = read(STDIN_FILENO, buffer, sizeof buffer)) > 0)
        if (device_receive(now(), buffer, (size_t)count) != BW_OK)
            return 1;
    device_end(now());
    device_stop();
    return count < 0;
}
