/*
 * What hosts of either role need beside the library: the time, random bytes, and headers in UTF-8.
 */
#ifndef HOST_H
#define HOST_H

#include <barewire.h>

/* Milliseconds of a clock that never goes back. */
uint64_t host_now(void);

/* Milliseconds since 1970: the clock of authorization, by which tokens expire. */
uint64_t host_time(void);

/* How long to wait for what is due at `due`: milliseconds for poll(2), -1 for ever. */
int host_patience(uint64_t due);

/* Fills `seed`, of BW_SEED_BYTES, with random bytes; ends the program if there are none to be had. */
void host_seed(uint8_t *seed);

/* Ends the program if something that cannot fail has failed. */
void host_must(bw_status status);

/*
 * Notes SIGINT and SIGTERM from now on instead of ending the program. They are blocked, and let in only where a host waits,
 * so that none comes unnoticed between a look at `host_is_to_end` and the wait.
 */
void host_note_end(void);

/* Whether one of them came. */
bool host_is_to_end(void);

/* Headers as the library takes them. Begin with all zero; it owns copies of names and values. */
typedef struct {
    bw_pair *pairs;
    size_t count;
    size_t room;
} host_headers;

/* Adds a header; nothing if there is no memory. A value that is not UTF-8 counts as Latin-1, as HTTP once had it. */
void host_headers_add(host_headers *headers, bw_bytes name, bw_bytes value);

/*
 * Adds the header that stands in a line of a head; nothing if the line has no name. False for the empty line that ends a head.
 */
bool host_headers_add_line(host_headers *headers, const char *line, size_t length);

/* Frees all headers, and begins anew. */
void host_headers_clear(host_headers *headers);

#endif
