/*
 * A guard for a server over HTTP, on libcurl: lets in whose tokens an authorization server vouches for. It is asked
 * about each token (RFC 7662) while the rest waits.
 */
#ifndef PROTECTION_H
#define PROTECTION_H

#include "http_server_host.h"

typedef struct protection protection;

/* Where tokens are asked about. */
typedef struct {
    /* An https URL, or an http one of this machine. */
    const char *endpoint;
    /* The authorization server there, for answers that do not name it. */
    const char *issuer;
    /* The protected server as the authorization server knows it. */
    const char *client_id;
    const char *secret;
} introspection;

/*
 * Protects what the configuration describes; scopes are needed for every request. NULL if the endpoint or the
 * configuration cannot be used. What `asked` points to has to live as long as the protection, which is freed with
 * `protection_free`.
 */
protection *protection_new(const bw_resource_server_config *config, const introspection *asked, const bw_bytes *scopes,
                           size_t count);

/* Frees it. NULL is nothing to free. */
void protection_free(protection *it);

/* The guard of a host. It is the protection's. */
const http_server_guard *protection_guard(protection *it);

/* Whether somebody may do what needs a scope more; if not, a denial, which is good until the next call. */
bool protection_allows(protection *it, const bw_principal *principal, bw_bytes scope, bw_denial *denial);

#endif
