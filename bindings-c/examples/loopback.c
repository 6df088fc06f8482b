#include "loopback.h"

#include "host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define REQUEST_BYTES 16384
/* Seconds for a request, and for each part of it. */
#define PATIENCE 5

/* The port that the browser comes back to, and all of it, as `loopback_redirect_uri` chose. */
static uint16_t chosen;
static char redirect[64];

/* A socket that listens on `port` for this machine alone, 0: on a free one. -1 if that cannot be. */
static int listen_on(uint16_t port)
{
    struct sockaddr_in address = {0};
    int yes = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener < 0)
        return -1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 4) == 0)
        return listener;
    close(listener);
    return -1;
}

static uint16_t port_of(int listener)
{
    struct sockaddr_in address = {0};
    socklen_t size = sizeof address;
    return getsockname(listener, (struct sockaddr *)&address, &size) == 0 ? ntohs(address.sin_port) : 0;
}

bw_bytes loopback_redirect_uri(void)
{
    int listener;
    if (chosen == 0) {
        if ((listener = listen_on(LOOPBACK_PORT)) < 0)
            listener = listen_on(0);
        chosen = listener < 0 ? LOOPBACK_PORT : port_of(listener);
        if (listener >= 0)
            close(listener); /* until somebody is awaited */
        snprintf(redirect, sizeof redirect, "http://127.0.0.1:%u/callback", (unsigned)chosen);
    }
    return bw_string(redirect);
}

/* A socket that listens where `redirect` says, or -1. */
static int listen_for_browser(void)
{
    int listener = listen_on(chosen);
    if (listener < 0)
        fprintf(stderr, "Nobody could come back to %s: %s\n", redirect, strerror(errno));
    return listener;
}

/* Starts the browser, never through a shell: the URL is the server's. */
static pid_t open_browser(char *url)
{
    char program[] = "xdg-open", *arguments[] = {program, url, NULL};
    pid_t child = -1;
    fprintf(stderr, "Open this page to go on: %s\n", url);
    return posix_spawnp(&child, program, NULL, NULL, arguments, environ) == 0 ? child : -1;
}

/* Whoever has gone by then must not end this program with a signal. */
static void respond(int connection, const char *status, const char *words)
{
    char text[512];
    int length = snprintf(text, sizeof text,
                          "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                          "Referrer-Policy: no-referrer\r\nConnection: close\r\n\r\n%s",
                          status, strlen(words), words);
    send(connection, text, (size_t)length, MSG_NOSIGNAL);
}

/* Reads the head of a request; its target, cut out of `buffer`, or NULL. Whoever takes long over it gets nowhere. */
static char *read_target(int connection, char *buffer, size_t size)
{
    uint64_t until = host_now() + PATIENCE * 1000;
    size_t length = 0;
    char *end;
    ssize_t count = 0;
    do {
        length += (size_t)count;
        buffer[length] = '\0';
        if (strstr(buffer, "\r\n\r\n") != NULL)
            break;
        count = recv(connection, buffer + length, size - 1 - length, 0);
    } while (count > 0 && host_now() < until);
    if (strncmp(buffer, "GET ", 4) != 0 || (end = strchr(buffer + 4, ' ')) == NULL)
        return NULL;
    *end = '\0';
    return buffer + 4;
}

/* One request. What is none of ours changes nothing. */
static void serve(bw_authorization *machine, int connection)
{
    struct timeval patience = {PATIENCE, 0};
    char buffer[REQUEST_BYTES];
    char *target;
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    target = read_target(connection, buffer, sizeof buffer);
    if (target == NULL || strncmp(target, "/callback?", 10) != 0)
        respond(connection, "404 Not Found", "There is nothing here.\n");
    else if (bw_authorization_receive_callback(machine, host_time(), bw_string(target)) == BW_OK)
        respond(connection, "200 OK", "Done. You can close this page.\n");
    else
        respond(connection, "400 Bad Request", "That did not work.\n");
}

static void wait_for_browser(bw_authorization *machine, int listener)
{
    struct pollfd watched = {listener, POLLIN, 0};
    while (bw_authorization_awaits_callback(machine)) {
        int connection = -1;
        if (poll(&watched, 1, 200) > 0)
            connection = accept(listener, NULL, NULL);
        if (connection >= 0) {
            serve(machine, connection);
            close(connection);
        }
        bw_authorization_handle_timeout(machine, host_time());
    }
}

void loopback_visit(bw_authorization *machine, bw_bytes url, bw_bytes redirect_uri)
{
    char *page = strndup((const char *)url.data, url.length);
    int listener = bw_equals(redirect_uri, bw_string(redirect)) ? listen_for_browser() : -1;
    pid_t browser;
    if (page != NULL && listener >= 0) {
        browser = open_browser(page);
        wait_for_browser(machine, listener);
        if (browser > 0)
            waitpid(browser, NULL, WNOHANG);
    }
    if (listener >= 0)
        close(listener);
    free(page);
}
