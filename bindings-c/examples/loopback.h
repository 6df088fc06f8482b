/*
 * The user's browser, and the way back from it (RFC 8252, section 7.3).
 */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include <barewire.h>

/* The port that the browser comes back to where it is free: always the same, so that a registration can be used again. */
#define LOOPBACK_PORT 28417

/* Where the browser comes back to, chosen at the first call: any free port will do (RFC 8252, section 7.3). */
bw_bytes loopback_redirect_uri(void);

/*
 * Opens the browser at `url`, and waits for it to come back to `redirect_uri`, which is `loopback_redirect_uri`: `visit`
 * of `authorization_settings`. Without it the user cannot consent, and it is shown why.
 */
void loopback_visit(bw_authorization *machine, bw_bytes url, bw_bytes redirect_uri);

#endif
