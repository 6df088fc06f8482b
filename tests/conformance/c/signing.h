/*
 * One key for ES256, on OpenSSL.
 */
#ifndef SIGNING_H
#define SIGNING_H

#include <barewire.h>

/* Takes a private key, in PEM, or makes one if that is NULL. Ends the program if it cannot be used. */
void signing_begin(const char *pem, size_t length);

/* The public key as a JWK object (RFC 7517), in `buffer` of SIGNING_JWK_BYTES. */
#define SIGNING_JWK_BYTES 256
bw_bytes signing_public_key(char *buffer);

/* `sign` of `authorization_settings`. */
bool signing_sign(const bw_signing_request *request, uint8_t *signature);

void signing_end(void);

#endif
