/*
 * A host for a server over HTTP, on libmicrohttpd and epoll(7): one thread, an exchange a request.
 */
#ifndef HTTP_SERVER_HOST_H
#define HTTP_SERVER_HOST_H

#include <barewire.h>

typedef struct http_server_host http_server_host;

/* Where a server is found. */
typedef struct {
    /* The endpoint of Streamable HTTP, such as "/mcp". */
    const char *path;
    /* The stream of HTTP+SSE, such as "/sse", and where that takes messages; NULL: not served. */
    const char *stream_path;
    const char *messages_path;
} http_server_paths;

/* What stands before a server that is not for everybody. */
typedef struct {
    void *context;
    /* JSON that anybody may read at `path`; nothing if there is none. It lasts as long as the guard. */
    bw_bytes (*document)(void *context, bw_bytes path);
    /* Who sends a request, which is freed with its exchange; NULL, and a denial, for one that is not let through. */
    bw_principal *(*admit)(void *context, const bw_request_head *head, bw_bytes query, bw_denial *denial);
} http_server_guard;

/*
 * Listens on a port of the loopback interface for `server`, which `bw_server_http_new` made. `paths` and `server` must
 * live as long as the host, which is freed with `http_server_host_free` before them. NULL, and errno set, if the port is
 * not to be had.
 */
http_server_host *http_server_host_new(bw_server *server, const http_server_paths *paths, uint16_t port);

/* Lets requests through only as `guard` says, which has to live as long as the host. */
void http_server_host_protect(http_server_host *host, const http_server_guard *guard);

/* Who sent the request of an exchange that is open; NULL if there is no guard. */
const bw_principal *http_server_host_principal(http_server_host *host, uint64_t exchange);

/*
 * Sends what is to be sent, waits until a client has something to say, something of the server is due, `due` has come or
 * a signal was caught, and takes in what there is. Signals that are blocked are let in while it waits. Poll events until
 * NULL, and answer them, before each call.
 */
void http_server_host_step(http_server_host *host, uint64_t due);

/* Whether no request is open. After `bw_server_http_shut_down` that comes, once all are answered. */
bool http_server_host_is_idle(const http_server_host *host);

/* Breaks off what is still open, and frees the host. NULL is nothing to free. */
void http_server_host_free(http_server_host *host);

#endif
