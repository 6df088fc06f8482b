/*
 * What an authorization stores, in a file that processes share, or in memory.
 */
#ifndef TOKEN_STORE_H
#define TOKEN_STORE_H

#include <barewire.h>

/* Begin with `token_store_open`. */
typedef struct {
    const char *path;       /* NULL for memory */
    int lock;               /* a descriptor, or -1 */
    char *text;             /* of the record that was read or written last */
    bw_stored_record found; /* its generation is 0 if there is none */
} token_store;

token_store token_store_open(const char *path);

/*
 * Reads what is stored, and keeps other processes from it until `token_store_release`: many servers take the second use of a
 * refresh token for theft. Whether that went well; there may be nothing. */
bool token_store_load(token_store *store);

/* Lets other processes at the store. */
void token_store_release(token_store *store);

/*
 * Writes a record if the store has the generation that is expected: `*conflicts` is true, and what it has is read, if not.
 * Whether that went well.
 */
bool token_store_save(token_store *store, uint64_t expected, const bw_stored_record *record, bool *conflicts);

/* Frees what was read, and releases the store. */
void token_store_close(token_store *store);

#endif
