#include "protection.h"

#include "host.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

/* Seconds for an answer of the authorization server, and its bytes at most. */
#define PATIENCE 10
#define ANSWER_BYTES (256 * 1024)
#define SCOPES 16

struct protection {
    bw_resource_server *rules;
    const introspection *asked;
    http_server_guard guard;
    /* Needed for every request, with room for one more. */
    bw_bytes scopes[SCOPES + 1];
    size_t count;
};

typedef struct {
    char text[ANSWER_BYTES];
    size_t length;
} answer;

/* ---------------------------------------------------------------- the authorization server */

/* Whether tokens may be sent there: nobody can read along. */
static bool is_safe(const char *endpoint)
{
    CURLU *url = curl_url();
    char *scheme = NULL, *host = NULL;
    bool is_known = url != NULL && curl_url_set(url, CURLUPART_URL, endpoint, 0) == CURLUE_OK &&
                    curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                    curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK;
    bool is_here = is_known && (strcmp(host, "127.0.0.1") == 0 || strcmp(host, "[::1]") == 0);
    bool is_good = is_known && (strcmp(scheme, "https") == 0 || (strcmp(scheme, "http") == 0 && is_here));
    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(url);
    return is_good;
}

static size_t receive(char *data, size_t unit, size_t length, void *context)
{
    answer *it = context;
    (void)unit;
    if (length > sizeof it->text - it->length)
        return 0;
    memcpy(it->text + it->length, data, length);
    it->length += length;
    return length;
}

/* `token=…`, which is freed with curl_free; its length too. */
static char *make_form(CURL *transfer, bw_bytes token, size_t *length)
{
    static const char NAME[] = "token=";
    char *value = curl_easy_escape(transfer, (const char *)token.data, (int)token.length);
    char *form = value == NULL ? NULL : malloc(sizeof NAME + strlen(value));
    if (form != NULL) {
        memcpy(form, NAME, sizeof NAME);
        strcat(form, value);
        *length = strlen(form);
    }
    curl_free(value);
    return form;
}

/* Whether the authorization server said something of a token. */
static bool ask(const introspection *asked, bw_bytes token, answer *it)
{
    CURL *transfer = curl_easy_init();
    size_t length = 0;
    char *form = make_form(transfer, token, &length);
    /* Encoded before they are joined (RFC 6749, section 2.3.1). */
    char *name = curl_easy_escape(transfer, asked->client_id, 0),
         *secret = curl_easy_escape(transfer, asked->secret, 0);
    long status = 0;
    if (form != NULL && name != NULL && secret != NULL) {
        /* Redirects are not followed: that is how libcurl begins. */
        curl_easy_setopt(transfer, CURLOPT_URL, asked->endpoint);
        curl_easy_setopt(transfer, CURLOPT_TIMEOUT, (long)PATIENCE);
        curl_easy_setopt(transfer, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(transfer, CURLOPT_POSTFIELDSIZE, (long)length);
        curl_easy_setopt(transfer, CURLOPT_POSTFIELDS, form);
        curl_easy_setopt(transfer, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(transfer, CURLOPT_USERNAME, name);
        curl_easy_setopt(transfer, CURLOPT_PASSWORD, secret);
        curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, receive);
        curl_easy_setopt(transfer, CURLOPT_WRITEDATA, it);
        if (curl_easy_perform(transfer) == CURLE_OK)
            curl_easy_getinfo(transfer, CURLINFO_RESPONSE_CODE, &status);
    }
    curl_free(secret);
    curl_free(name);
    free(form);
    curl_easy_cleanup(transfer);
    return status == 200;
}

/* The answer with the issuer, which many leave out. */
static bw_status write_claims(bw_json_writer *writer, bw_bytes answer, const char *issuer, bw_bytes *claims)
{
    char buffer[256];
    bw_json_iterator members;
    bw_bytes key, name, value;
    bw_json_writer_init(writer, NULL, 0);
    if (bw_json_iterate(answer, "", &members) != BW_OK)
        return BW_ERROR_INVALID_JSON;
    bw_json_begin_object(writer);
    if (bw_json_get_type(answer, "/iss") == BW_JSON_NONE) {
        bw_json_put_key(writer, BW_LITERAL("iss"));
        bw_json_put_string(writer, bw_string(issuer));
    }
    while (bw_json_next(&members, &key, &value))
        if (bw_json_unescape(key, buffer, sizeof buffer, &name) == BW_OK) {
            bw_json_put_key(writer, name);
            bw_json_put_json(writer, value);
        }
    bw_json_end_object(writer);
    return bw_json_finish(writer, claims);
}

/* ---------------------------------------------------------------- the guard */

static bw_bytes document(void *context, bw_bytes path)
{
    const protection *it = context;
    bw_bytes one;
    size_t at;
    for (at = 0; bw_is_some(one = bw_resource_server_metadata_path(it->rules, at)); at++)
        if (bw_equals(one, path))
            return bw_resource_server_metadata(it->rules);
    return bw_none();
}

/* Judges what the authorization server said of a token. */
static bw_principal *judge(protection *it, bw_bytes said, bw_denial *denial)
{
    bw_json_writer writer;
    bw_principal *principal = NULL;
    bw_bytes claims;
    bool is_active = false;
    bw_json_get_bool(said, "/active", &is_active);
    if (!is_active) {
        bw_resource_server_deny_unknown(it->rules, BW_DENIAL_INVALID_TOKEN, denial);
        return NULL;
    }
    if (write_claims(&writer, said, it->asked->issuer, &claims) == BW_OK)
        bw_principal_new(it->rules, host_time(), claims, &principal, denial);
    bw_json_writer_free(&writer);
    if (principal != NULL &&
        bw_resource_server_authorize(it->rules, principal, it->scopes, it->count, NULL, NULL, denial) != BW_OK) {
        bw_principal_free(principal);
        return NULL;
    }
    return principal;
}

static bw_principal *admit(void *context, const bw_request_head *head, bw_bytes query, bw_denial *denial)
{
    protection *it = context;
    bw_principal *principal = NULL;
    answer *said;
    bw_bytes token;
    if (bw_resource_server_bearer(it->rules, head->headers, head->header_count, query, &token, denial) != BW_OK)
        return NULL;
    /* Until more is known: nothing can be said of the token now. */
    denial->status = 503;
    denial->challenge = bw_none();
    if ((said = calloc(1, sizeof *said)) != NULL && ask(it->asked, token, said))
        principal = judge(it, bw_text(said->text, said->length), denial);
    free(said);
    return principal;
}

const http_server_guard *protection_guard(protection *it)
{
    return &it->guard;
}

bool protection_allows(protection *it, const bw_principal *principal, bw_bytes scope, bw_denial *denial)
{
    it->scopes[it->count] = scope;
    return bw_resource_server_authorize(it->rules, principal, it->scopes, it->count + 1, NULL, NULL, denial) == BW_OK;
}

protection *protection_new(const bw_resource_server_config *config, const introspection *asked, const bw_bytes *scopes,
                           size_t count)
{
    protection *it = calloc(1, sizeof *it);
    if (it == NULL || count > SCOPES || !is_safe(asked->endpoint) ||
        bw_resource_server_new(config, &it->rules) != BW_OK) {
        free(it);
        return NULL;
    }
    it->asked = asked;
    it->guard.context = it;
    it->guard.document = document;
    it->guard.admit = admit;
    it->count = count;
    if (count > 0)
        memcpy(it->scopes, scopes, count * sizeof *scopes);
    return it;
}

void protection_free(protection *it)
{
    if (it != NULL)
        bw_resource_server_free(it->rules);
    free(it);
}
