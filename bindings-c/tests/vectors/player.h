/* A player of tests/vectors in C. Their README describes what it does; JSON is read with the library itself. */
#ifndef PLAYER_H
#define PLAYER_H

#include <barewire.h>

/* ---- text.c: memory that is freed when a script ends, and JSON ---- */

/* Ends the script: what was expected is not what there is. */
_Noreturn void disagree(const char *format, ...);
/* Runs `play`; false if it disagreed, and `why` then says how. Frees what it took. */
bool plays(void play(void *argument), void *argument, char *why, size_t size);
void *take(size_t size);
bw_bytes joined(bw_bytes first, bw_bytes second);
/* The member of an object; nothing if there is none. */
bw_bytes member(bw_bytes object, const char *name);
/* The contents of a JSON string, decoded. */
bw_bytes string_of(bw_bytes json);
/* As `string_of` for a member; nothing if it is missing or null. */
bw_bytes string_member(bw_bytes object, const char *name);
/* A value to be handed over as JSON: as written, or what `$text` says. */
bw_bytes json_member(bw_bytes object, const char *name);
/* A number; `otherwise` if it is missing. */
double number_member(bw_bytes object, const char *name, double otherwise);
bool is_true(bw_bytes json);
bool is_null(bw_bytes json);

/* ---- names.c: what the names of a script stand for, and comparison ---- */

struct names {
    struct {
        bw_bytes name, value;
    } values[64];
    size_t value_count;
    struct {
        const char *kind;
        bw_bytes name;
        uint64_t handle;
    } handles[128];
    size_t handle_count;
};

void name_handle(struct names *names, const char *kind, bw_bytes name, uint64_t handle);
/* The handle that a member of a command names; 0 if it is missing. */
uint64_t handle_member(const struct names *names, bw_bytes command, const char *name);
/* The text with names replaced by JSON. */
bw_bytes filled(const struct names *names, bw_bytes text);
/* Disagrees unless the JSON is what is expected. */
void compare(struct names *names, bw_bytes expected, bw_bytes actual);
/* The same for an event, by the members that are expected. */
void compare_record(struct names *names, bw_bytes expected, bw_bytes actual);

/* ---- events.c and commands.c ---- */

struct player {
    bw_client *client; /* one of the two */
    bw_server *server;
    struct names names;
    uint64_t now;
};

/* An event as a JSON object with the members that scripts know. */
bw_bytes described(const bw_event *event, bool of_server);
/* Makes the machine that a script sets up. */
void set_up(struct player *player, bool is_client, bw_bytes config);
/* Carries out a command; `command` has its names replaced. */
void carry_out(struct player *player, bw_bytes command);

#endif
