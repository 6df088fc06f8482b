/*
 * What an authorization stores, in a file that processes share, or in memory.
 */
#ifndef TOKEN_STORE_H
#define TOKEN_STORE_H

#include <barewire.h>

/* Begin with all zero but `path`, which is NULL for memory. */
typedef struct {
    const char *path;
    char *text;             /* of the record that was read or written last */
    bw_stored_record found; /* its generation is 0 if there is none */
} token_store;

/* Reads what is stored. Whether that went well; there may be nothing. */
bool token_store_load(token_store *store);

/*
 * Writes a record if the store has the generation that is expected: `*conflicts` is true, and what it has is read, if not.
 * Whether that went well.
 */
bool token_store_save(token_store *store, uint64_t expected, const bw_stored_record *record, bool *conflicts);

/* Frees what was read. */
void token_store_clear(token_store *store);

#endif
