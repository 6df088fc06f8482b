/*
 * A host for a client over HTTP, on libcurl: all exchanges of one client in one thread.
 */
#ifndef HTTP_CLIENT_HOST_H
#define HTTP_CLIENT_HOST_H

#include "authorization.h"

typedef struct http_client_host http_client_host;

/*
 * Carries out what `client`, which `bw_client_http_new` made, asks for. The client must live as long as the host, which
 * is freed with `http_client_host_free` before it. NULL if there is no memory.
 */
http_client_host *http_client_host_new(bw_client *client);

/*
 * Sets what requests are authorized with, for a client that authorizes; it has to live as long as the host. Give it the
 * event AUTHORIZATION_REQUIRED.
 */
void http_client_host_set_authorization(http_client_host *host, authorization *authorization);

/*
 * Sends what is to be sent, waits until the server has something to say, something of the client is due, or `descriptor`,
 * unless it is -1, can be read, and takes in what there is. Poll events until NULL before each call. Whether `descriptor`
 * can be read.
 */
bool http_client_host_step(http_client_host *host, int descriptor);

/* Whether the client is closed and all that it said is sent. */
bool http_client_host_is_finished(const http_client_host *host);

/* Gives up what is under way, and frees the host. NULL is nothing to free. */
void http_client_host_free(http_client_host *host);

#endif
