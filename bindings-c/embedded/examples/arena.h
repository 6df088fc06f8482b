/* Memory for libbarewire_embedded.a: one fixed block. */
#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>

/* What arena_begin needs beside what is allocated: nothing but a header of four bytes at each block. */
void arena_begin(void *memory, size_t size);

/* Bytes in use, with headers; 0 if everything was given back. */
size_t arena_live(void);

/* The most bytes that were in use at once. */
size_t arena_peak(void);

#endif
