#include "signing.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>

/* Bytes of a coordinate, and of each half of a signature. */
#define HALF 32
#define DER_BYTES 128

static EVP_PKEY *key;

static void must(bool condition)
{
    if (condition)
        return;
    fprintf(stderr, "the key is of no use\n");
    exit(1);
}

void signing_begin(const char *pem, size_t length)
{
    BIO *source;
    if (pem == NULL) {
        key = EVP_EC_gen("P-256");
    } else {
        source = BIO_new_mem_buf(pem, (int)length);
        key = PEM_read_bio_PrivateKey(source, NULL, NULL, NULL);
        BIO_free(source);
    }
    must(key != NULL);
}

/* A coordinate in base64url, which needs no padding. */
static void write_coordinate(const char *name, char *text)
{
    BIGNUM *number = NULL;
    unsigned char bytes[HALF];
    must(EVP_PKEY_get_bn_param(key, name, &number) == 1 && BN_bn2binpad(number, bytes, HALF) == HALF);
    BN_free(number);
    EVP_EncodeBlock((unsigned char *)text, bytes, HALF);
    for (; *text != '\0'; text++)
        *text = *text == '+' ? '-' : *text == '/' ? '_' : *text == '=' ? '\0' : *text;
}

bw_bytes signing_public_key(char *buffer)
{
    char x[HALF * 2], y[HALF * 2];
    int length;
    write_coordinate(OSSL_PKEY_PARAM_EC_PUB_X, x);
    write_coordinate(OSSL_PKEY_PARAM_EC_PUB_Y, y);
    length = snprintf(buffer, SIGNING_JWK_BYTES, "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"}", x, y);
    return bw_text(buffer, (size_t)length);
}

/* OpenSSL writes signatures in DER; a JWT has the two numbers one after the other (RFC 7518, section 3.4). */
static bool write_halves(const unsigned char *der, size_t length, uint8_t *signature)
{
    ECDSA_SIG *parts = d2i_ECDSA_SIG(NULL, &der, (long)length);
    bool is_written = parts != NULL && BN_bn2binpad(ECDSA_SIG_get0_r(parts), signature, HALF) == HALF &&
                      BN_bn2binpad(ECDSA_SIG_get0_s(parts), signature + HALF, HALF) == HALF;
    ECDSA_SIG_free(parts);
    return is_written;
}

bool signing_sign(const bw_signing_request *request, uint8_t *signature)
{
    unsigned char der[DER_BYTES];
    size_t length = sizeof der;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool is_signed = bw_equals(request->algorithm, BW_LITERAL("ES256")) &&
                     EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
                     EVP_DigestSign(context, der, &length, request->input.data, request->input.length) == 1 &&
                     write_halves(der, length, signature);
    EVP_MD_CTX_free(context);
    return is_signed;
}

void signing_end(void)
{
    EVP_PKEY_free(key);
    key = NULL;
}
