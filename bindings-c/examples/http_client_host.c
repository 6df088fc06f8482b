#include "http_client_host.h"

#include "host.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

/* A request and its response. */
typedef struct exchange {
    http_client_host *host;
    struct exchange *next;
    uint64_t handle;
    CURL *transfer;
    struct curl_slist *fields; /* of the request */
    host_headers headers;      /* of the response */
    uint64_t generation;       /* of the token that went with it */
    bool has_head;
    bool is_paused;
} exchange;

struct http_client_host {
    bw_client *client;
    authorization *authorization;
    CURLM *transfers;
    exchange *exchanges;
    bool is_finished;
};

/* ---------------------------------------------------------------- responses */

/* Takes a line of the head, which an empty one ends. */
static size_t receive_field(char *line, size_t unit, size_t length, void *context)
{
    exchange *it = context;
    long status = 0;
    (void)unit;
    if (!host_headers_add_line(&it->headers, line, length)) {
        curl_easy_getinfo(it->transfer, CURLINFO_RESPONSE_CODE, &status);
        if (status >= 200 && !it->has_head) {
            it->has_head = true;
            if (it->host->authorization != NULL)
                authorization_hear(it->host->authorization, it->handle, it->generation, (uint16_t)status, &it->headers);
            bw_client_http_receive_head(it->host->client, host_now(), it->handle, (uint16_t)status, it->headers.pairs,
                                        it->headers.count);
        }
        host_headers_clear(&it->headers); /* of an interim head, or the trailers */
    }
    return length;
}

static size_t receive_body(char *data, size_t unit, size_t length, void *context)
{
    exchange *it = context;
    (void)unit;
    if (!bw_client_http_wants_input(it->host->client, it->handle)) {
        it->is_paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    bw_client_http_receive_body(it->host->client, host_now(), it->handle, bw_text(data, length));
    return length;
}

/* The exchange is over; nothing more is taken of it. */
static void drop(exchange *it)
{
    exchange **place = &it->host->exchanges;
    while (*place != it)
        place = &(*place)->next;
    *place = it->next;
    curl_multi_remove_handle(it->host->transfers, it->transfer);
    curl_easy_cleanup(it->transfer);
    curl_slist_free_all(it->fields);
    host_headers_clear(&it->headers);
    free(it);
}

static void finish(exchange *it, CURLcode code)
{
    bw_client *client = it->host->client;
    if (code == CURLE_OK)
        bw_client_http_receive_end(client, host_now(), it->handle);
    else if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY)
        bw_client_http_receive_failure(client, host_now(), it->handle, BW_EXCHANGE_NOT_SENT);
    else
        bw_client_http_receive_failure(client, host_now(), it->handle, BW_EXCHANGE_BROKEN);
    drop(it);
}

/* ---------------------------------------------------------------- requests */

static char *copy(bw_bytes text)
{
    return strndup((const char *)text.data, text.length);
}

/* Adds a field as libcurl wants it: one without a value ends with a semicolon. */
static bool add_field(exchange *it, bw_bytes name, bw_bytes value)
{
    size_t room = name.length + value.length + 3;
    char *line = malloc(room);
    struct curl_slist *fields = NULL;
    if (line != NULL) {
        memcpy(line, name.data, name.length);
        strcpy(line + name.length, value.length > 0 ? ": " : ";");
        if (value.length > 0)
            memcpy(line + name.length + 2, value.data, value.length), line[room - 1] = '\0';
        fields = curl_slist_append(it->fields, line);
        free(line);
    }
    if (fields != NULL)
        it->fields = fields;
    return fields != NULL;
}

/* Adds what authorizes the request. Whether it can be sent. */
static bool authorize(exchange *it, const bw_http_transmit *transmit)
{
    host_headers headers = {0};
    size_t at;
    bool is_set = it->host->authorization == NULL ||
                  authorization_prepare(it->host->authorization, transmit, &headers, &it->generation);
    for (at = 0; at < headers.count; at++)
        is_set = is_set && add_field(it, headers.pairs[at].name, headers.pairs[at].value);
    host_headers_clear(&headers);
    return is_set;
}

static bool set_request(exchange *it, const bw_http_transmit *transmit)
{
    char *url = copy(transmit->url), *method = copy(transmit->method);
    bool is_set = url != NULL && method != NULL;
    size_t at;
    it->fields = curl_slist_append(NULL, "Expect:"); /* bodies go out without being asked for */
    for (at = 0; at < transmit->header_count; at++)
        is_set = is_set && add_field(it, transmit->headers[at].name, transmit->headers[at].value);
    is_set = is_set && authorize(it, transmit);
    is_set = is_set && curl_easy_setopt(it->transfer, CURLOPT_URL, url) == CURLE_OK;
    if (is_set && transmit->body.length > 0) {
        curl_easy_setopt(it->transfer, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)transmit->body.length);
        is_set = curl_easy_setopt(it->transfer, CURLOPT_COPYPOSTFIELDS, transmit->body.data) == CURLE_OK;
    }
    is_set = is_set && curl_easy_setopt(it->transfer, CURLOPT_CUSTOMREQUEST, method) == CURLE_OK;
    curl_easy_setopt(it->transfer, CURLOPT_HTTPHEADER, it->fields);
    free(url);
    free(method);
    return is_set;
}

static bool start(exchange *it, const bw_http_transmit *transmit)
{
    if (it->transfer == NULL || !set_request(it, transmit))
        return false;
    curl_easy_setopt(it->transfer, CURLOPT_PRIVATE, it);
    curl_easy_setopt(it->transfer, CURLOPT_HEADERFUNCTION, receive_field);
    curl_easy_setopt(it->transfer, CURLOPT_HEADERDATA, it);
    curl_easy_setopt(it->transfer, CURLOPT_WRITEFUNCTION, receive_body);
    curl_easy_setopt(it->transfer, CURLOPT_WRITEDATA, it);
    curl_easy_setopt(it->transfer, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(it->transfer, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(it->transfer, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(it->transfer, CURLOPT_NOSIGNAL, 1L);
    return curl_multi_add_handle(it->host->transfers, it->transfer) == CURLM_OK;
}

static void request(http_client_host *host, const bw_http_transmit *transmit)
{
    exchange *it = calloc(1, sizeof *it);
    if (it == NULL) {
        bw_client_http_receive_failure(host->client, host_now(), transmit->exchange, BW_EXCHANGE_NOT_SENT);
        return;
    }
    it->host = host;
    it->handle = transmit->exchange;
    it->next = host->exchanges;
    host->exchanges = it;
    it->transfer = curl_easy_init();
    if (!start(it, transmit))
        finish(it, CURLE_COULDNT_CONNECT);
}

static void give_up(http_client_host *host, uint64_t handle)
{
    exchange *it = host->exchanges;
    while (it != NULL && it->handle != handle)
        it = it->next;
    if (it != NULL)
        drop(it);
}

/* ---------------------------------------------------------------- the host */

http_client_host *http_client_host_new(bw_client *client)
{
    http_client_host *host = calloc(1, sizeof *host);
    if (host == NULL)
        return NULL;
    host->client = client;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if ((host->transfers = curl_multi_init()) == NULL) {
        free(host);
        curl_global_cleanup();
        return NULL;
    }
    return host;
}

void http_client_host_set_authorization(http_client_host *host, authorization *authorization)
{
    host->authorization = authorization;
}

static void transmit_all(http_client_host *host)
{
    bw_http_transmit transmit;
    while (bw_client_http_poll_transmit(host->client, host_now(), &transmit)) {
        if (transmit.kind == BW_TRANSMIT_REQUEST)
            request(host, &transmit);
        else if (transmit.kind == BW_TRANSMIT_ABORT)
            give_up(host, transmit.exchange);
        else
            host->is_finished = true;
    }
}

static void go_on(http_client_host *host)
{
    exchange *it;
    for (it = host->exchanges; it != NULL; it = it->next)
        if (it->is_paused && bw_client_http_wants_input(host->client, it->handle)) {
            it->is_paused = false;
            curl_easy_pause(it->transfer, CURLPAUSE_CONT);
        }
}

static void receive_ends(http_client_host *host)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(host->transfers, &left)) != NULL) {
        CURLcode code = message->data.result;
        exchange *it = NULL;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&it);
        finish(it, code);
    }
}

bool http_client_host_step(http_client_host *host, int descriptor)
{
    struct curl_waitfd watched = {0};
    int running, wait;
    transmit_all(host);
    go_on(host);
    wait = host_patience(bw_client_poll_timeout(host->client));
    watched.fd = descriptor;
    watched.events = CURL_WAIT_POLLIN;
    if (!host->is_finished)
        curl_multi_poll(host->transfers, &watched, descriptor >= 0, wait < 0 ? 60000 : wait, NULL);
    curl_multi_perform(host->transfers, &running);
    receive_ends(host);
    bw_client_handle_timeout(host->client, host_now());
    return watched.revents != 0;
}

bool http_client_host_is_finished(const http_client_host *host)
{
    return host->is_finished;
}

void http_client_host_free(http_client_host *host)
{
    if (host == NULL)
        return;
    while (host->exchanges != NULL)
        drop(host->exchanges);
    curl_multi_cleanup(host->transfers);
    curl_global_cleanup();
    free(host);
}
