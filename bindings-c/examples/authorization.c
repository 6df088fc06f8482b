#include "authorization.h"

#include "token_store.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Seconds for an HTTP request. */
#define PATIENCE 30
#define PROOF_BYTES 8192

/* A request that was refused, until the event about it is answered. */
typedef struct refused {
    struct refused *next;
    uint64_t exchange;
    uint64_t generation;
} refused;

struct authorization {
    bw_authorization *machine;
    authorization_settings settings;
    token_store store;
    refused *refusals;
};

/* A response to a request of the machine's. */
typedef struct {
    host_headers headers;
    char *body;
    size_t length;
    size_t most;
    bool is_too_large;
} response;

/* ---------------------------------------------------------------- requests */

static size_t receive_field(char *line, size_t unit, size_t length, void *context)
{
    response *it = context;
    (void)unit;
    if (length > 5 && memcmp(line, "HTTP/", 5) == 0)
        host_headers_clear(&it->headers); /* of an interim head */
    else
        host_headers_add_line(&it->headers, line, length);
    return length;
}

/* Reads no further than the machine allows. */
static size_t receive_body(char *data, size_t unit, size_t length, void *context)
{
    response *it = context;
    char *body;
    (void)unit;
    it->is_too_large = length > it->most - it->length;
    if (it->is_too_large || (body = realloc(it->body, it->length + length + 1)) == NULL)
        return 0;
    memcpy(body + it->length, data, length);
    it->body = body;
    it->length += length;
    return length;
}

/* `name: value`; nothing but what the machine wrote. */
static struct curl_slist *with_field(struct curl_slist *fields, bw_bytes name, bw_bytes value)
{
    char *line = malloc(name.length + value.length + 3);
    struct curl_slist *longer = NULL;
    if (line != NULL) {
        memcpy(line, name.data, name.length);
        memcpy(line + name.length, ": ", 2);
        memcpy(line + name.length + 2, value.data, value.length);
        line[name.length + value.length + 2] = '\0';
        longer = curl_slist_append(fields, line);
        free(line);
    }
    return longer == NULL ? fields : longer;
}

static void set_options(CURL *transfer, const bw_oauth_request *request, response *answer)
{
    /* Redirects are not followed, and cookies not kept: that is how libcurl begins. */
    curl_easy_setopt(transfer, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(transfer, CURLOPT_TIMEOUT, (long)PATIENCE);
    curl_easy_setopt(transfer, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(transfer, CURLOPT_HEADERFUNCTION, receive_field);
    curl_easy_setopt(transfer, CURLOPT_HEADERDATA, answer);
    curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, receive_body);
    curl_easy_setopt(transfer, CURLOPT_WRITEDATA, answer);
    if (bw_equals(request->method, BW_LITERAL("POST"))) {
        curl_easy_setopt(transfer, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.length);
        curl_easy_setopt(transfer, CURLOPT_COPYPOSTFIELDS, (const char *)request->body.data);
    }
}

/* Carries out a request. Its status, or 0 if no response came. */
static uint16_t fetch(const bw_oauth_request *request, response *answer)
{
    CURL *transfer = curl_easy_init();
    char *url = strndup((const char *)request->url.data, request->url.length);
    struct curl_slist *fields = curl_slist_append(NULL, "Expect:");
    long status = 0;
    size_t at;
    for (at = 0; at < request->header_count; at++)
        fields = with_field(fields, request->headers[at].name, request->headers[at].value);
    if (transfer != NULL && url != NULL) {
        set_options(transfer, request, answer);
        curl_easy_setopt(transfer, CURLOPT_URL, url);
        curl_easy_setopt(transfer, CURLOPT_HTTPHEADER, fields);
        if (curl_easy_perform(transfer) == CURLE_OK)
            curl_easy_getinfo(transfer, CURLINFO_RESPONSE_CODE, &status);
    }
    curl_easy_cleanup(transfer);
    curl_slist_free_all(fields);
    free(url);
    return (uint16_t)status;
}

static void send_request(authorization *it, uint64_t action, const bw_oauth_request *request)
{
    response answer = {0};
    uint16_t status;
    answer.most = request->response_bytes;
    status = fetch(request, &answer);
    if (status != 0)
        bw_authorization_receive_response(it->machine, host_time(), action, status, answer.headers.pairs,
                                          answer.headers.count, bw_text(answer.body, answer.length));
    else
        bw_authorization_fail_action(it->machine, host_time(), action,
                                     answer.is_too_large ? BW_ACTION_TOO_LARGE : BW_ACTION_UNAVAILABLE);
    host_headers_clear(&answer.headers);
    free(answer.body);
}

/* ---------------------------------------------------------------- other actions */

static void load(authorization *it, uint64_t action)
{
    if (!token_store_load(&it->store))
        bw_authorization_fail_action(it->machine, host_time(), action, BW_ACTION_UNAVAILABLE);
    else
        bw_authorization_loaded(it->machine, host_time(), action,
                                it->store.found.generation == 0 ? NULL : &it->store.found);
}

static void save(authorization *it, uint64_t action, uint64_t expected, const bw_stored_record *record)
{
    bool conflicts = false;
    if (!token_store_save(&it->store, expected, record, &conflicts))
        bw_authorization_fail_action(it->machine, host_time(), action, BW_ACTION_UNAVAILABLE);
    else if (conflicts)
        bw_authorization_save_conflicted(it->machine, host_time(), action,
                                         it->store.found.generation == 0 ? NULL : &it->store.found);
    else
        bw_authorization_saved(it->machine, host_time(), action);
}

static bool sign(const authorization *it, const bw_signing_request *request, uint8_t *signature)
{
    return it->settings.sign != NULL && it->settings.sign(request, signature);
}

static void carry_out(authorization *it, const bw_action *action)
{
    uint64_t handle = bw_action_handle(action);
    uint8_t signature[AUTHORIZATION_SIGNATURE];
    bw_oauth_request request;
    bw_signing_request signing;
    bw_stored_record record;
    switch (bw_action_kind(action)) {
    case BW_ACTION_LOAD:
        load(it, handle);
        return;
    case BW_ACTION_SAVE:
        if (bw_action_record(action, &record))
            save(it, handle, bw_action_expected_generation(action), &record);
        return;
    case BW_ACTION_SEND:
        if (bw_action_request(action, &request))
            send_request(it, handle, &request);
        return;
    case BW_ACTION_OPEN_USER_AGENT:
        token_store_release(&it->store);
        if (it->settings.visit != NULL)
            it->settings.visit(it->machine, bw_action_url(action), bw_action_redirect_uri(action));
        if (bw_authorization_awaits_callback(it->machine))
            bw_authorization_fail_action(it->machine, host_time(), handle, BW_ACTION_DECLINED);
        return;
    case BW_ACTION_SIGN:
        if (bw_action_signing(action, &signing) && sign(it, &signing, signature)) {
            bw_authorization_signed(it->machine, host_time(), handle, bw_text((char *)signature, sizeof signature));
            return;
        }
        break;
    case BW_ACTION_PROVIDE_ASSERTION:
        if (it->settings.assertion != NULL) {
            bw_authorization_assertion_provided(it->machine, host_time(), handle, bw_string(it->settings.assertion));
            return;
        }
        break;
    default:
        break;
    }
    bw_authorization_fail_action(it->machine, host_time(), handle, BW_ACTION_UNAVAILABLE);
}

/* Does what is asked for until the one who waits is told. */
static bw_authorization_event wait_for(authorization *it)
{
    bw_authorization_event event = {0};
    const bw_action *action;
    while (!bw_authorization_poll_event(it->machine, &event)) {
        struct timespec pause = {0, 10000000};
        if ((action = bw_authorization_poll_action(it->machine)) != NULL) {
            carry_out(it, action);
        } else {
            nanosleep(&pause, NULL);
            bw_authorization_handle_timeout(it->machine, host_time());
        }
    }
    token_store_release(&it->store);
    return event;
}

/* ---------------------------------------------------------------- requests to the MCP server */

static bool add_proof(const authorization *it, const bw_signing_request *request, host_headers *headers)
{
    uint8_t signature[AUTHORIZATION_SIGNATURE];
    char buffer[PROOF_BYTES];
    bw_bytes proof;
    if (!sign(it, request, signature) || bw_dpop_proof(request->input, bw_text((char *)signature, sizeof signature),
                                                       buffer, sizeof buffer, &proof) != BW_OK)
        return false;
    host_headers_add(headers, BW_LITERAL("dpop"), proof);
    return true;
}

bool authorization_prepare(authorization *it, const bw_http_transmit *request, host_headers *headers,
                           uint64_t *generation)
{
    bw_credentials credentials;
    if (!bw_authorization_is_ready(it->machine, host_time())) {
        host_must(bw_authorization_acquire(it->machine, host_time(), request->exchange));
        if (wait_for(it).error != 0)
            return false;
    }
    host_must(bw_authorization_credentials(it->machine, host_time(), request->method, request->url, &credentials));
    *generation = credentials.generation;
    if (bw_is_some(credentials.authorization))
        host_headers_add(headers, BW_LITERAL("authorization"), credentials.authorization);
    return credentials.proof.key == 0 || add_proof(it, &credentials.proof, headers);
}

void authorization_hear(authorization *it, uint64_t exchange, uint64_t generation, uint16_t status,
                        const host_headers *headers)
{
    refused *refusal;
    size_t at;
    if (status != 401)
        bw_authorization_note_success(it->machine, generation);
    if (status == 401 || status == 403) {
        if ((refusal = calloc(1, sizeof *refusal)) == NULL)
            abort();
        refusal->exchange = exchange;
        refusal->generation = generation;
        refusal->next = it->refusals;
        it->refusals = refusal;
        return;
    }
    for (at = 0; at < headers->count; at++)
        if (headers->pairs[at].name.length == 10 &&
            strncasecmp((const char *)headers->pairs[at].name.data, "dpop-nonce", 10) == 0)
            bw_authorization_note_nonce(it->machine, headers->pairs[at].value);
}

/* The generation of the token that went with a request, which was refused. */
static uint64_t generation_of(authorization *it, uint64_t exchange)
{
    refused **place = &it->refusals, *found;
    uint64_t generation = 0;
    while (*place != NULL && (*place)->exchange != exchange)
        place = &(*place)->next;
    if ((found = *place) != NULL) {
        *place = found->next;
        generation = found->generation;
        free(found);
    }
    return generation;
}

void authorization_answer(authorization *it, bw_client *client, const bw_event *event)
{
    uint64_t exchange = bw_event_exchange(event);
    bw_refusal refusal = {0};
    bw_authorization_event told;
    bw_bytes *challenges;
    size_t at;
    refusal.challenge_count = bw_event_challenge_count(event);
    if ((challenges = calloc(refusal.challenge_count + 1, sizeof *challenges)) == NULL)
        abort();
    for (at = 0; at < refusal.challenge_count; at++)
        challenges[at] = bw_event_challenge(event, at);
    refusal.challenges = challenges;
    refusal.status = bw_event_http_status(event);
    refusal.dpop_nonce = bw_event_dpop_nonce(event);
    refusal.operation = bw_event_operation(event);
    refusal.generation = generation_of(it, exchange);
    host_must(bw_authorization_challenge(it->machine, host_time(), exchange, &refusal));
    free(challenges);
    told = wait_for(it);
    if (told.error == 0) {
        bw_client_http_authorized(client, host_now(), exchange);
    } else {
        fprintf(stderr, "not authorized: %.*s\n", (int)told.message.length, (const char *)told.message.data);
        bw_client_http_unauthorized(client, host_now(), exchange);
    }
}

/* ---------------------------------------------------------------- its life */

authorization *authorization_new(const bw_authorization_config *config, const authorization_settings *settings)
{
    authorization *it = calloc(1, sizeof *it);
    if (it == NULL)
        abort();
    it->settings = *settings;
    it->store = token_store_open(settings->store);
    if (bw_authorization_new(config, &it->machine) == BW_OK)
        return it;
    free(it);
    return NULL;
}

void authorization_free(authorization *it)
{
    if (it == NULL)
        return;
    while (it->refusals != NULL)
        generation_of(it, it->refusals->exchange);
    bw_authorization_free(it->machine);
    token_store_close(&it->store);
    free(it);
}
