/*
 * How the client of each authorization scenario comes by its tokens.
 */
#ifndef AUTHORIZING_H
#define AUTHORIZING_H

#include "authorization.h"

/* What goes with a scenario at `url`, which ends the program if it cannot be; NULL where nothing is protected. */
authorization *authorization_for(const char *scenario, const char *url);

#endif
