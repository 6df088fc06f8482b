/* A device that serves a client over a byte stream, whatever that is. */
#ifndef DEVICE_H
#define DEVICE_H

#include <barewire.h>

#include <stddef.h>

/* Starts the server in `memory` bytes. `seed` is BW_SEED_BYTES random bytes. */
bw_status device_start(const unsigned char *seed, size_t memory);

/* Takes bytes from the client, does all that follows from them, and sends what there is to send. */
bw_status device_receive(uint64_t now, const void *data, size_t length);

/* The client will send nothing more. */
bw_status device_end(uint64_t now);

/* Frees everything. */
void device_stop(void);

/* To be defined beside: sends bytes to the client. */
void device_send(const void *data, size_t length);

#endif
