#include "token_store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

token_store token_store_open(const char *path)
{
    token_store store = {0};
    store.path = path;
    store.lock = -1;
    return store;
}

static void forget(token_store *store)
{
    free(store->text);
    store->text = NULL;
    memset(&store->found, 0, sizeof store->found);
}

/* Takes `text`, which is freed with the store. */
static void keep(token_store *store, uint64_t generation, char *text)
{
    forget(store);
    store->text = text;
    store->found.generation = generation;
    store->found.text = bw_string(text);
}

/* Reads the generation, a line, and the text behind it. */
static bool read_file(token_store *store, FILE *file)
{
    uint64_t generation = 0;
    char *text = NULL;
    size_t room = 0;
    bool is_record = fscanf(file, "%" SCNu64 "\n", &generation) == 1 && getdelim(&text, &room, '\0', file) > 0;
    if (is_record)
        keep(store, generation, text);
    else
        free(text);
    return is_record;
}

void token_store_release(token_store *store)
{
    if (store->lock >= 0)
        close(store->lock);
    store->lock = -1;
}

/* Locks a file of its own, because the other one is replaced. */
static bool hold(token_store *store)
{
    char path[4096];
    if (store->lock >= 0)
        return true;
    if (snprintf(path, sizeof path, "%s.lock", store->path) >= (int)sizeof path)
        return false;
    store->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    while (store->lock >= 0 && flock(store->lock, LOCK_EX) != 0)
        if (errno != EINTR)
            token_store_release(store); /* what is not locked is not held */
    return store->lock >= 0;
}

void token_store_close(token_store *store)
{
    token_store_release(store);
    forget(store);
}

bool token_store_load(token_store *store)
{
    FILE *file;
    bool is_read;
    if (store->path == NULL)
        return true;
    if (!hold(store))
        return false;
    forget(store);
    if ((file = fopen(store->path, "r")) == NULL)
        return errno == ENOENT;
    is_read = read_file(store, file);
    fclose(file);
    return is_read;
}

/* Puts a record in the place of the old one, which stands until the new one is complete. Nobody else may read it. */
static bool write_file(const char *path, const bw_stored_record *record)
{
    char fresh[4096];
    FILE *file;
    int descriptor;
    bool is_written;
    if (snprintf(fresh, sizeof fresh, "%s.new", path) >= (int)sizeof fresh)
        return false;
    unlink(fresh);
    if ((descriptor = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0)
        return false;
    if ((file = fdopen(descriptor, "w")) == NULL) {
        close(descriptor);
        return false;
    }
    fprintf(file, "%" PRIu64 "\n", record->generation);
    fwrite(record->text.data, 1, record->text.length, file);
    is_written = fflush(file) == 0 && fsync(descriptor) == 0;
    is_written = fclose(file) == 0 && is_written;
    return is_written && rename(fresh, path) == 0;
}

bool token_store_save(token_store *store, uint64_t expected, const bw_stored_record *record, bool *conflicts)
{
    char *text;
    if (!token_store_load(store))
        return false;
    *conflicts = store->found.generation != expected;
    if (*conflicts)
        return true;
    if (store->path != NULL)
        return write_file(store->path, record);
    if ((text = strndup((const char *)record->text.data, record->text.length)) == NULL)
        return false;
    keep(store, record->generation, text);
    return true;
}
