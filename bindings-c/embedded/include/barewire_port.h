/*
 * What a program gives to libbarewire_embedded.a: memory, and where a defect ends. Each function below is to be defined
 * once, with exactly this type. Beyond them the library needs memcpy, memmove, memset and bcmp.
 *
 * The functions of barewire.h but for those over HTTP are there. A function of a server that has no room for its work answers
 * BW_ERROR_LIMIT_MEMORY and has changed nothing; a message that there is no room for is refused with an error that its
 * sender can read. For both the library asks bw_port_available first, so that bw_port_allocate never has to fail for a
 * server on a byte stream. Clients do not ask: give them memory to spare.
 */
#ifndef BAREWIRE_PORT_H
#define BAREWIRE_PORT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A block of at least `size` bytes, aligned to 8, or NULL. A NULL here ends in bw_port_panic. */
void *bw_port_allocate(size_t size);

/* The block at `place`, grown or shrunk to `size` bytes, where it was or elsewhere with its content, or NULL. */
void *bw_port_reallocate(void *place, size_t size);

/* Takes back a block that bw_port_allocate or bw_port_reallocate gave. */
void bw_port_free(void *place);

/* The bytes that one call of bw_port_allocate could give now: those of the longest free block, not of all together. Where
   memory has no end that matters, (size_t)-1. Blocks may cost up to 8 bytes more than their size and be rounded up to 8. */
size_t bw_port_available(void);

/* A defect of the library was found, or bw_port_allocate gave NULL. It must not return. */
void bw_port_panic(void);

#ifdef __cplusplus
}
#endif

#endif
