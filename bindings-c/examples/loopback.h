/*
 * The user's browser, and the way back from it (RFC 8252, section 7.3).
 */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include <barewire.h>

/* Where the browser comes back to: always the same, so that a registration can be used again. */
#define LOOPBACK_PORT 53682
#define LOOPBACK_REDIRECT_URI "http://127.0.0.1:53682/callback"

/* Opens the browser at `url`, and waits for it to come back: `visit` of `authorization_settings`. */
void loopback_visit(bw_authorization *machine, bw_bytes url, bw_bytes redirect_uri);

#endif
