/*
 * A host for an authorization, on libcurl: carries out what it asks for, one thing after another while the rest waits.
 */
#ifndef AUTHORIZATION_H
#define AUTHORIZATION_H

#include "host.h"

/* Bytes of a signature with ES256 (RFC 7518, section 3.4). */
#define AUTHORIZATION_SIGNATURE 64

typedef struct authorization authorization;

/* What only the application has. */
typedef struct {
    /* Leads the user to `url`, and gives what comes back to `bw_authorization_receive_callback`. */
    void (*visit)(bw_authorization *machine, bw_bytes url, bw_bytes redirect_uri);
    /* Signs with ES256. Whether it could. NULL if there is no key. */
    bool (*sign)(const bw_signing_request *request, uint8_t *signature);
    /* An assertion, where the grant needs one, or NULL. */
    const char *assertion;
    /* The file that keeps tokens, for one server and one user; NULL to forget them at the end. */
    const char *store;
} authorization_settings;

/*
 * Makes an authorization, which is freed with `authorization_free`; NULL if the configuration cannot be used. What the
 * settings point to has to live as long.
 */
authorization *authorization_new(const bw_authorization_config *config, const authorization_settings *settings);

/* Frees it. NULL is nothing to free. */
void authorization_free(authorization *it);

/*
 * Adds to `headers` what goes with a request, and gives the generation of its token. False if it must not be sent: there
 * may be a token, but not now.
 */
bool authorization_prepare(authorization *it, const bw_http_transmit *request, host_headers *headers,
                           uint64_t *generation);

/* The head of a response came to a request with the token of that generation. */
void authorization_hear(authorization *it, uint64_t exchange, uint64_t generation, uint16_t status,
                        const host_headers *headers);

/* Answers AUTHORIZATION_REQUIRED; shows why if there is no authorization. */
void authorization_answer(authorization *it, bw_client *client, const bw_event *event);

#endif
