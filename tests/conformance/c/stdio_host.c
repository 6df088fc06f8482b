#include "stdio_host.h"

#include "host.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

static void read_some(stdio_host *host)
{
    static char buffer[64 * 1024];
    ssize_t count = read(STDIN_FILENO, buffer, sizeof buffer);
    if (count > 0) {
        bw_server_receive_data(host->server, host_now(), bw_text(buffer, (size_t)count));
    } else if (count == 0) {
        host->is_at_end = true;
        bw_server_receive_eof(host->server, host_now());
    } else if (errno != EINTR) {
        host->is_at_end = true;
        bw_server_connection_lost(host->server, host_now());
    }
}

/* Writes no more than a pipe that is ready takes without blocking. */
static void write_some(stdio_host *host)
{
    bw_bytes data = bw_server_data_to_send(host->server);
    ssize_t count = write(STDOUT_FILENO, data.data, data.length < PIPE_BUF ? data.length : PIPE_BUF);
    if (count > 0)
        bw_server_consume(host->server, (size_t)count);
    else if (count < 0 && errno != EINTR && errno != EAGAIN)
        bw_server_connection_lost(host->server, host_now());
}

void stdio_host_step(stdio_host *host, uint64_t due)
{
    bool reads = !host->is_at_end && bw_server_wants_input(host->server);
    bool writes = bw_server_data_to_send(host->server).length > 0;
    uint64_t server_due = bw_server_poll_timeout(host->server);
    struct pollfd files[2] = {{reads ? STDIN_FILENO : -1, POLLIN, 0}, {writes ? STDOUT_FILENO : -1, POLLOUT, 0}};
    if (poll(files, 2, host_patience(server_due < due ? server_due : due)) > 0) {
        if (files[0].revents != 0)
            read_some(host);
        if (files[1].revents != 0)
            write_some(host);
    }
    bw_server_handle_timeout(host->server, host_now());
}
