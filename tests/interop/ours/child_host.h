/*
 * A host for a client whose server is a child process, spoken to over pipes, with poll(2).
 */
#ifndef CHILD_HOST_H
#define CHILD_HOST_H

#include <barewire.h>

typedef struct child_host child_host;

/*
 * Starts `command`, which ends with NULL, for `client`, which `bw_client_new` made of `config`. Both must live as long as
 * the host, which is freed with `child_host_free` before the client. NULL if there is no memory; a program that is not
 * there is found out later, as one that ends at once.
 */
child_host *child_host_new(bw_client *client, const bw_client_config *config, char *const *command);

/* Starts the program afresh, as RESTART_REQUIRED asks. */
void child_host_restart(child_host *host);

/*
 * Waits until the server has said or can take something, something of the client is due, or `descriptor`, unless it is -1,
 * can be read, and moves what there is. Poll events until NULL before each call. Whether `descriptor` can be read.
 */
bool child_host_step(child_host *host, int descriptor);

/* Ends the program, by force if need be, and frees the host. NULL is nothing to free. */
void child_host_free(child_host *host);

#endif
