/*
 * A host for a server on standard input and output, with poll(2).
 */
#ifndef STDIO_HOST_H
#define STDIO_HOST_H

#include <barewire.h>

/* Begin with the server, made by `bw_server_new`, and zero. */
typedef struct {
    bw_server *server;
    bool is_at_end; /* of the input */
} stdio_host;

/*
 * Waits until the client has said or can take something, something of the server is due, or `due` has come, and moves
 * what there is. Poll events until NULL, and answer them, before each call.
 */
void stdio_host_step(stdio_host *host, uint64_t due);

#endif
