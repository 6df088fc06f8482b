/* A client and a server in memory, joined as bytes or as exchanges over HTTP. The time stands unless a test moves it. */
#ifndef PAIR_H
#define PAIR_H

#include "check.h"

struct exchange {
    uint64_t client, server;
};

struct pair {
    bool is_http;
    int32_t revision;
    uint64_t now;
    bw_server_config *server_config;
    bw_client_config *client_config;
    bw_server *server;
    bw_client *client;
    struct exchange exchanges[64];
    size_t exchange_count;
};

extern const unsigned char SEED[BW_SEED_BYTES];

/* A case that runs over a byte stream and over HTTP, in the last legacy revision and in the modern one: its body takes
 * a `pair` that is configured. */
#define TEST_EVERYWHERE(name)                                                                                          \
    static void name##_of(struct pair *pair);                                                                          \
    TEST(name)                                                                                                         \
    {                                                                                                                  \
        run_everywhere(name##_of);                                                                                     \
    }                                                                                                                  \
    static void name##_of(struct pair *pair)

void run_everywhere(void body(struct pair *pair));
/* Configurations with everything offered. */
struct pair new_pair(bool is_http, int32_t revision);
/* Makes the machines of the configurations, which it frees; registers one of each kind; settles the connection. */
void join_pair(struct pair *pair);
/* Makes the machines of the configurations, and nothing more. */
void make_pair(struct pair *pair);
void free_pair(struct pair *pair);
/* Moves what each side has to send to the other, once. */
void carry(struct pair *pair);
/* The next event of the client or server, which has to be of that kind; what it takes is carried. */
const bw_event *client_tells(struct pair *pair, bw_kind kind);
const bw_event *server_tells(struct pair *pair, bw_kind kind);
/* Neither has an event, even after all was carried. */
void nothing_is_told(struct pair *pair);
bool is_legacy(const struct pair *pair);

#endif
