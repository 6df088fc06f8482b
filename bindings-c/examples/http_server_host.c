#include "http_server_host.h"

#include "host.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Seconds after which a connection that says nothing while it should is closed. */
#define IDLE_SECONDS 120
/* The bytes of a body that are taken in although the answer is settled, so that the client comes to read it. */
#define REFUSED_BYTES (1024 * 1024)
/* The key of a principal. */
#define KEY_BYTES 64
/* The memory of a connection, which bounds heads and how much is moved at once. */
#define CONNECTION_BYTES (64 * 1024)
#define CHUNK_BYTES (16 * 1024)
#define BUCKETS 1024
#define EVENTS 64

/* A request and its response. It waits, suspended, while there is nothing to do for it. */
typedef struct exchange {
    http_server_host *host;
    struct MHD_Connection *connection;
    struct exchange *next; /* in its bucket */
    uint64_t handle;       /* 0 before the request has begun, and once it is over */
    char *target;          /* path and query, apart at `query` */
    char *query;           /* NULL: none */
    bool is_suspended;
    bool is_begun;    /* the head was taken in */
    bool is_answered; /* there is an answer, perhaps before the end of the request */
    bool is_held;     /* the body waits until the server wants input */
    bool is_ended;    /* the request is complete */
    bool is_last;     /* nothing follows `data` */
    bool is_aborted;
    unsigned int refusal; /* the status of what does not get as far as the server */
    bw_bytes document;    /* what anybody may read there, instead of the server's answer */
    bw_principal *principal;
    size_t ignored; /* bytes of the body that came after the answer */
    uint8_t *data;  /* of the body of the response */
    size_t length;
    size_t taken;
} exchange;

struct http_server_host {
    bw_server *server;
    const http_server_paths *paths;
    const http_server_guard *guard; /* NULL: everybody is let through */
    struct MHD_Daemon *daemon;
    int events;                 /* of the daemon, and of clients that hang up */
    bool is_resumed;            /* an exchange goes on, which the daemon notices only when it runs */
    size_t open;                /* exchanges there are */
    size_t held;                /* exchanges that wait until the server wants input */
    exchange *buckets[BUCKETS]; /* by handle: exchanges that have one */
};

/* ---------------------------------------------------------------- exchanges */

static exchange **find(http_server_host *host, uint64_t handle)
{
    exchange **place = &host->buckets[handle % BUCKETS];
    while (*place != NULL && (*place)->handle != handle)
        place = &(*place)->next;
    return place;
}

static void begin(exchange *it, uint64_t handle)
{
    exchange **place = &it->host->buckets[handle % BUCKETS];
    it->handle = handle;
    it->next = *place;
    *place = it;
}

/* The handle is of no use any more. */
static void over(exchange *it)
{
    if (it->handle != 0)
        *find(it->host, it->handle) = it->next;
    it->handle = 0;
}

static void abandon(exchange *it)
{
    it->is_aborted = true;
    if (it->handle != 0)
        bw_server_http_receive_abort(it->host->server, host_now(), it->handle);
    over(it);
}

/* Libmicrohttpd does not look at suspended connections. Here they are watched for clients that hang up. */
static void suspend(exchange *it)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(it->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct epoll_event wanted;
    wanted.events = EPOLLRDHUP;
    wanted.data.ptr = it;
    epoll_ctl(it->host->events, EPOLL_CTL_ADD, info->connect_fd, &wanted);
    it->is_suspended = true;
    MHD_suspend_connection(it->connection);
}

static void resume(exchange *it)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(it->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (!it->is_suspended)
        return;
    epoll_ctl(it->host->events, EPOLL_CTL_DEL, info->connect_fd, NULL);
    it->is_suspended = false;
    it->host->held -= it->is_held;
    it->is_held = false;
    it->host->is_resumed = true;
    MHD_resume_connection(it->connection);
}

/* ---------------------------------------------------------------- requests */

/* Called with the whole target, before the request is looked at. */
static void *receive_target(void *context, const char *target, struct MHD_Connection *connection)
{
    exchange *it = calloc(1, sizeof *it);
    if (it == NULL || (it->target = strdup(target)) == NULL) {
        free(it);
        return NULL;
    }
    it->host = context;
    it->host->open++;
    it->connection = connection;
    if ((it->query = strchr(it->target, '?')) != NULL)
        *it->query++ = '\0';
    return it;
}

static void complete(void *context, struct MHD_Connection *connection, void **slot,
                     enum MHD_RequestTerminationCode code)
{
    exchange *it = *slot;
    (void)context, (void)connection, (void)code;
    if (it == NULL)
        return;
    abandon(it);
    it->host->open--;
    bw_principal_free(it->principal);
    free(it->target);
    free(it->data);
    free(it);
}

static enum MHD_Result collect(void *context, enum MHD_ValueKind kind, const char *name, size_t name_length,
                               const char *value, size_t value_length)
{
    (void)kind;
    host_headers_add(context, bw_text(name, name_length), bw_text(value == NULL ? "" : value, value_length));
    return MHD_YES;
}

static bool is_path(const char *path, const exchange *it)
{
    return path != NULL && strcmp(path, it->target) == 0;
}

/* Hands in a head, if its sender is let through. */
static bw_status admit(exchange *it, bw_request_head *head, uint64_t *handle)
{
    http_server_host *host = it->host;
    char key[KEY_BYTES];
    bw_denial denial = {0};
    if (host->guard == NULL)
        return bw_server_http_receive_request(host->server, host_now(), head, handle);
    it->principal = host->guard->admit(host->guard->context, head, bw_string(it->query), &denial);
    if (it->principal == NULL)
        return bw_server_http_receive_denied(host->server, host_now(), head, &denial, handle);
    host_must(bw_principal_key(it->principal, key, sizeof key, &head->principal));
    return bw_server_http_receive_request(host->server, host_now(), head, handle);
}

/* Takes in the head. 0, or the status to refuse it with. */
static unsigned int receive_head(exchange *it, const char *method)
{
    http_server_host *host = it->host;
    host_headers headers = {0};
    bw_request_head head = {0};
    uint64_t handle = 0;
    if (is_path(host->paths->path, it)) {
        head.endpoint = BW_ENDPOINT_STREAMABLE;
    } else if (is_path(host->paths->stream_path, it)) {
        head.endpoint = BW_ENDPOINT_EVENT_STREAM;
        head.endpoint_detail = bw_string(host->paths->messages_path);
    } else if (is_path(host->paths->messages_path, it)) {
        head.endpoint = BW_ENDPOINT_MESSAGES;
        head.endpoint_detail = bw_string(it->query == NULL ? "" : it->query);
    } else {
        return MHD_HTTP_NOT_FOUND;
    }
    MHD_get_connection_values_n(it->connection, MHD_HEADER_KIND, collect, &headers);
    head.method = bw_string(method);
    head.headers = headers.pairs;
    head.header_count = headers.count;
    if (admit(it, &head, &handle) == BW_OK)
        begin(it, handle);
    host_headers_clear(&headers);
    return it->handle == 0 ? MHD_HTTP_INTERNAL_SERVER_ERROR : 0;
}

/* Wakes the exchanges that have something to send. */
static void wake_answered(http_server_host *host)
{
    uint64_t handle;
    while ((handle = bw_server_http_poll_ready(host->server)) != 0) {
        exchange *it = *find(host, handle);
        if (it != NULL) {
            it->is_answered = true;
            resume(it);
        }
    }
}

/* Wakes the exchanges whose body waits. */
static void wake_held(http_server_host *host)
{
    size_t at;
    exchange *it;
    for (at = 0; at < BUCKETS && host->held > 0; at++)
        for (it = host->buckets[at]; it != NULL; it = it->next)
            if (it->is_held)
                resume(it);
}

/* ---------------------------------------------------------------- responses */

/* Keeps the data of a part; what the library lends is good until it is asked for the next part, of whatever exchange. */
static bool keep(exchange *it, const bw_response_part *part)
{
    if (part->data.length > 0 && (it->data = malloc(part->data.length)) == NULL)
        return false;
    if (part->data.length > 0)
        memcpy(it->data, part->data.data, part->data.length);
    it->length = part->data.length;
    it->taken = 0;
    it->is_last = part->is_last;
    it->is_aborted = part->is_aborted;
    if (part->is_last)
        over(it);
    return true;
}

/* Called when the connection has room for more of the body. */
static ssize_t take(void *context, uint64_t position, char *out, size_t room)
{
    exchange *it = context;
    bw_response_part part;
    size_t count;
    (void)position;
    while (it->taken == it->length && !it->is_last && !it->is_aborted) {
        free(it->data);
        it->data = NULL;
        if (!bw_server_http_poll_response(it->host->server, it->handle, &part)) {
            it->taken = it->length = 0;
            suspend(it);
            return 0;
        }
        if (!keep(it, &part))
            return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (it->is_aborted)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (it->taken == it->length && it->is_last)
        return MHD_CONTENT_READER_END_OF_STREAM;
    count = it->length - it->taken < room ? it->length - it->taken : room;
    memcpy(out, it->data + it->taken, count);
    it->taken += count;
    return (ssize_t)count;
}

/* The response whose first part was taken: a stream, unless its length is known. */
static struct MHD_Response *make_response(exchange *it, const bw_response_part *part)
{
    uint64_t length = part->is_last ? part->data.length : MHD_SIZE_UNKNOWN;
    struct MHD_Response *response;
    size_t at;
    for (at = 0; at < part->header_count; at++)
        if (bw_equals(part->headers[at].name, BW_LITERAL("content-length")))
            bw_json_get_u64(part->headers[at].value, "", &length); /* the digits of a JSON number */
    response = MHD_create_response_from_callback(length, CHUNK_BYTES, take, it, NULL);
    for (at = 0; response != NULL && at < part->header_count; at++) {
        const bw_pair *header = &part->headers[at];
        char *name = strndup((const char *)header->name.data, header->name.length);
        char *value = strndup((const char *)header->value.data, header->value.length);
        /* Libmicrohttpd writes the length itself. */
        if (name != NULL && value != NULL && strcmp(name, "content-length") != 0)
            MHD_add_response_header(response, name, value);
        free(name);
        free(value);
    }
    return response;
}

static enum MHD_Result queue(exchange *it, unsigned int status, struct MHD_Response *response)
{
    enum MHD_Result result = response == NULL ? MHD_NO : MHD_queue_response(it->connection, status, response);
    if (response != NULL)
        MHD_destroy_response(response);
    return result;
}

/* A document that lasts as long as the guard, for pages of any origin. */
static struct MHD_Response *make_document(bw_bytes document)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(document.length, (void *)document.data, MHD_RESPMEM_PERSISTENT);
    if (response != NULL) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
        MHD_add_response_header(response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    }
    return response;
}

/* Begins to respond, or waits until there is something to respond. */
static enum MHD_Result respond(exchange *it)
{
    bw_response_part part;
    struct MHD_Response *response;
    if (it->refusal != 0)
        return queue(it, it->refusal, MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT));
    if (bw_is_some(it->document))
        return queue(it, MHD_HTTP_OK, make_document(it->document));
    if (it->is_aborted)
        return MHD_NO;
    if (!bw_server_http_poll_response(it->host->server, it->handle, &part)) {
        suspend(it);
        return MHD_YES;
    }
    response = make_response(it, &part);
    if (!keep(it, &part) || it->is_aborted) {
        if (response != NULL)
            MHD_destroy_response(response);
        return MHD_NO;
    }
    return queue(it, part.status, response);
}

/* Takes in the head, and answers at once if a long body need not be sent. */
static enum MHD_Result begin_request(exchange *it, const char *method)
{
    const char *length = MHD_lookup_connection_value(it->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    it->is_begun = true;
    if (it->host->guard != NULL)
        it->document = it->host->guard->document(it->host->guard->context, bw_string(it->target));
    if (!bw_is_some(it->document))
        it->refusal = receive_head(it, method);
    else if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        it->refusal = MHD_HTTP_METHOD_NOT_ALLOWED;
    wake_answered(it->host);
    it->is_answered |= it->refusal != 0 || bw_is_some(it->document);
    if (it->is_answered && length != NULL && strtoull(length, NULL, 10) > REFUSED_BYTES)
        return respond(it);
    return MHD_YES;
}

/* Takes in a piece of the body, unless it has to wait. */
static enum MHD_Result receive_body(exchange *it, const char *data, size_t *length)
{
    http_server_host *host = it->host;
    if (it->is_answered)
        it->ignored += *length;
    if (it->is_aborted || it->ignored > REFUSED_BYTES)
        return MHD_NO;
    if (!it->is_answered && !bw_server_wants_input(host->server)) {
        it->is_held = true;
        host->held++;
        suspend(it);
        return MHD_YES;
    }
    if (!it->is_answered)
        bw_server_http_receive_body(host->server, host_now(), it->handle, bw_text(data, *length));
    *length = 0;
    return MHD_YES;
}

/* Called with the head, then with each piece of the body, then at its end, and again whenever it is resumed. */
static enum MHD_Result receive(void *context, struct MHD_Connection *connection, const char *path, const char *method,
                               const char *version, const char *data, size_t *length, void **slot)
{
    exchange *it = *slot;
    (void)context, (void)connection, (void)path, (void)version;
    if (it == NULL)
        return MHD_NO;
    if (!it->is_begun)
        return begin_request(it, method);
    if (*length > 0)
        return receive_body(it, data, length);
    if (!it->is_ended && it->handle != 0)
        bw_server_http_receive_end(it->host->server, host_now(), it->handle);
    it->is_ended = true;
    return respond(it);
}

/* ---------------------------------------------------------------- the host */

static struct MHD_Daemon *listen_on(http_server_host *host, uint16_t port)
{
    struct sockaddr_in address = {0};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, port, NULL, NULL, receive, host,
                            MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_URI_LOG_CALLBACK,
                            receive_target, host, MHD_OPTION_NOTIFY_COMPLETED, complete, host,
                            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_SECONDS,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_END);
}

http_server_host *http_server_host_new(bw_server *server, const http_server_paths *paths, uint16_t port)
{
    http_server_host *host = calloc(1, sizeof *host);
    struct epoll_event wanted = {0};
    if (host == NULL)
        return NULL;
    host->server = server;
    host->paths = paths;
    host->events = epoll_create1(EPOLL_CLOEXEC);
    host->daemon = listen_on(host, port);
    if (host->events < 0 || host->daemon == NULL) {
        http_server_host_free(host);
        return NULL;
    }
    /* The daemon has a set of its own, which is readable whenever something happened to one of its connections. */
    wanted.events = EPOLLIN;
    epoll_ctl(host->events, EPOLL_CTL_ADD, MHD_get_daemon_info(host->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
              &wanted);
    return host;
}

void http_server_host_protect(http_server_host *host, const http_server_guard *guard)
{
    host->guard = guard;
}

const bw_principal *http_server_host_principal(http_server_host *host, uint64_t exchange)
{
    const struct exchange *it = *find(host, exchange);
    return it == NULL ? NULL : it->principal;
}

/* How long nothing has to be done, in milliseconds; -1 for ever. */
static int patience(http_server_host *host, uint64_t due)
{
    uint64_t server_due = bw_server_poll_timeout(host->server);
    int wait = host->is_resumed ? 0 : host_patience(server_due < due ? server_due : due);
    MHD_UNSIGNED_LONG_LONG daemon_wait;
    if (MHD_get_timeout(host->daemon, &daemon_wait) == MHD_YES && (wait < 0 || daemon_wait < (unsigned int)wait))
        wait = (int)daemon_wait;
    return wait;
}

void http_server_host_step(http_server_host *host, uint64_t due)
{
    struct epoll_event events[EVENTS];
    sigset_t none;
    int count, at;
    sigemptyset(&none);
    wake_answered(host);
    if (bw_server_wants_input(host->server))
        wake_held(host);
    count = epoll_pwait(host->events, events, EVENTS, patience(host, due), &none);
    for (at = 0; at < count; at++) {
        exchange *it = events[at].data.ptr;
        if (it != NULL) { /* the client has hung up */
            abandon(it);
            resume(it);
        }
    }
    host->is_resumed = false;
    MHD_run(host->daemon);
    bw_server_handle_timeout(host->server, host_now());
}

bool http_server_host_is_idle(const http_server_host *host)
{
    return host->open == 0;
}

void http_server_host_free(http_server_host *host)
{
    size_t at;
    if (host == NULL)
        return;
    for (at = 0; at < BUCKETS; at++)
        while (host->buckets[at] != NULL) {
            exchange *it = host->buckets[at];
            abandon(it);
            resume(it);
        }
    if (host->daemon != NULL)
        MHD_stop_daemon(host->daemon);
    if (host->events >= 0)
        close(host->events);
    free(host);
}
